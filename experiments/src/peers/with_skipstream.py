"""Trains skipstream from Python on a text file, in one of several ways, and saves the model.

Arguments: `train`, the text, the output, the settings as JSON, and `lists`, `lines` or `file`; or `export`, the model, the
output and the vectors.
"""

import json
import sys

import skipstream

NAMES = ["dimensions", "window", "negatives", "max_vocabulary", "threads", "seed"]


def train(path, output, settings, way):
    settings = json.loads(settings)
    values = {name: settings[name] for name in NAMES}
    trainer = skipstream.Trainer(subsample=float(settings["subsample"]), **values)
    if way == "file":
        trainer.train_file(path)
    else:
        with open(path, encoding="utf-8") as text:
            trainer.train((line.split() for line in text) if way == "lists" else (line for line in text))
    trainer.save(output)


def export(model, output, vectors):
    skipstream.load(model, vectors).save_word2vec_format(output, binary=True)


verb, *arguments = sys.argv[1:]
{"train": train, "export": export}[verb](*arguments)
