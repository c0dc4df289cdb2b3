"""Trains skipstream from Python on a text file, in one of several ways, and saves the model."""

import argparse

import skipstream


def lists(path):
    with open(path, encoding="utf-8") as text:
        for line in text:
            yield line.split()


def lines(path):
    with open(path, encoding="utf-8") as text:
        yield from text


parser = argparse.ArgumentParser()
verbs = parser.add_subparsers(dest="verb", required=True)
train = verbs.add_parser("train")
train.add_argument("text")
train.add_argument("output")
train.add_argument("--dimensions", type=int, required=True)
train.add_argument("--window", type=int, required=True)
train.add_argument("--negatives", type=int, required=True)
train.add_argument("--subsample", type=float, required=True)
train.add_argument("--max-vocabulary", type=int, required=True)
train.add_argument("--passes", type=int, choices=[1], required=True)
train.add_argument("--threads", type=int, required=True)
train.add_argument("--seed", type=int, required=True)
train.add_argument("--way", choices=["lists", "lines", "file"], required=True)
export = verbs.add_parser("export")
export.add_argument("model")
export.add_argument("output")
export.add_argument("--vectors", required=True)
options = parser.parse_args()

if options.verb == "train":
    trainer = skipstream.Trainer(
        dimensions=options.dimensions,
        window=options.window,
        negatives=options.negatives,
        subsample=options.subsample,
        max_vocabulary=options.max_vocabulary,
        threads=options.threads,
        seed=options.seed,
    )
    if options.way == "lists":
        trainer.train(lists(options.text))
    elif options.way == "lines":
        trainer.train(lines(options.text))
    else:
        trainer.train_file(options.text)
    trainer.save(options.output)
else:
    skipstream.load(options.model, options.vectors).save_word2vec_format(options.output, binary=True)
