"""Compares the vectors of some words in two files of vectors, whose spaces differ by a rotation.

Arguments: the two files (word2vec's text format, the same words) and the file of words to compare. The rotation is that
of orthogonal Procrustes over all other words. Prints the mean cosine.
"""

import sys

import numpy as np


def load(path):
    with open(path, encoding="utf-8") as file:
        next(file)
        rows = (line.rstrip("\n").split(" ") for line in file)
        return {row[0]: np.array(row[1:], dtype=np.float64) for row in rows}


first, second, compared = load(sys.argv[1]), load(sys.argv[2]), sys.argv[3]
with open(compared, encoding="utf-8") as file:
    compared = file.read().split()
anchors = sorted(first.keys() & second.keys() - set(compared))


def unit(vectors, words):
    matrix = np.array([vectors[word] for word in words])
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


left, _, right = np.linalg.svd(unit(second, anchors).T @ unit(first, anchors))
cosines = np.sum(unit(second, compared) @ (left @ right) * unit(first, compared), axis=1)
print(cosines.mean())
