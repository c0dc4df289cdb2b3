"""Trains fastText's skip-gram, without subwords, on a text file; writes a saved model as text.

Arguments: `train`, the text, the output and the settings as JSON; or `export`, the model, the output, and `target` or `sum`.
"""

import json
import sys

import fasttext


def train(text, output, settings):
    settings = json.loads(settings)
    model = fasttext.train_unsupervised(
        text,
        model="skipgram",
        loss="ns",
        dim=settings["dimensions"],
        ws=settings["window"],
        neg=settings["negatives"],
        t=float(settings["subsample"]),
        minCount=settings["min_count"],
        minn=0,
        maxn=0,
        bucket=0,
        lr=float(settings["rate"]),
        epoch=settings["passes"],
        thread=settings["threads"],
        verbose=0,
    )
    model.save_model(output)


def export(path, output, vectors):
    model = fasttext.load_model(path)
    words = model.get_words()
    matrix = model.get_input_matrix()
    if vectors == "sum":
        matrix = matrix + model.get_output_matrix()
    with open(output, "w", encoding="utf-8") as file:
        file.write(f"{len(words)} {model.get_dimension()}\n")
        for word, row in zip(words, matrix):
            vector = " ".join(f"{value:.6g}" for value in row)
            file.write(f"{word} {vector}\n")


verb, *arguments = sys.argv[1:]
{"train": train, "export": export}[verb](*arguments)
