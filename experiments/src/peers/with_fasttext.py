"""Trains fastText's skip-gram, without subwords, on a text file; writes a saved model as text."""

import argparse

import fasttext


def train(options):
    model = fasttext.train_unsupervised(
        options.text,
        model="skipgram",
        loss="ns",
        dim=options.dimensions,
        ws=options.window,
        neg=options.negatives,
        t=options.subsample,
        minCount=5,
        minn=0,
        maxn=0,
        bucket=0,
        epoch=options.passes,
        thread=options.threads,
        verbose=0,
    )
    model.save_model(options.output)


def export(options):
    model = fasttext.load_model(options.model)
    words = model.get_words()
    matrix = model.get_input_matrix()
    if options.vectors == "sum":
        matrix = matrix + model.get_output_matrix()
    with open(options.output, "w", encoding="utf-8") as file:
        file.write(f"{len(words)} {model.get_dimension()}\n")
        for word, row in zip(words, matrix):
            vector = " ".join(f"{value:.6g}" for value in row)
            file.write(f"{word} {vector}\n")


parser = argparse.ArgumentParser()
verbs = parser.add_subparsers(required=True)

verb = verbs.add_parser("train")
verb.set_defaults(run=train)
verb.add_argument("text")
verb.add_argument("output")
verb.add_argument("--dimensions", type=int, required=True)
verb.add_argument("--window", type=int, required=True)
verb.add_argument("--negatives", type=int, required=True)
verb.add_argument("--subsample", type=float, required=True)
verb.add_argument("--passes", type=int, required=True)
verb.add_argument("--threads", type=int, required=True)
verb.add_argument("--seed", type=int, help="ignored: the package does not take one")

verb = verbs.add_parser("export")
verb.set_defaults(run=export)
verb.add_argument("model")
verb.add_argument("output")
verb.add_argument("--vectors", choices=["target", "sum"], required=True)

options = parser.parse_args()
options.run(options)
