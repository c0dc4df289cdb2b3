"""Evaluates vectors with gensim and prints scores and times as JSON. Loading the vectors is not timed."""

import argparse
import json
import time

from gensim.models import KeyedVectors

parser = argparse.ArgumentParser()
parser.add_argument("vectors", help="in word2vec's binary format")
parser.add_argument("--pairs", nargs="*", default=[], help="files of word pairs, separated by tabs")
parser.add_argument("--analogies", nargs="*", default=[])
options = parser.parse_args()

vectors = KeyedVectors.load_word2vec_format(options.vectors, binary=True)
vectors.fill_norms()
report = {"pairs": [], "analogies": []}

start = time.perf_counter()
for path in options.pairs:
    pearson, spearman, _ = vectors.evaluate_word_pairs(path)
    report["pairs"].append({"pearson": float(pearson[0]), "spearman": float(spearman[0])})
for path in options.analogies:
    _, sections = vectors.evaluate_word_analogies(path)
    # The last one is the sum of all.
    counts = [
        {"name": section["section"], "correct": len(section["correct"]), "incorrect": len(section["incorrect"])}
        for section in sections[:-1]
    ]
    report["analogies"].append(counts)
report["seconds"] = time.perf_counter() - start
print(json.dumps(report))
