"""Opens vectors with gensim in place, asks for neighbors, and prints the fastest times.

Five numbers: milliseconds to open, bytes read, bytes mapped, milliseconds to the first answer and to a later one.
"""

import os
import statistics
import sys
import time

from gensim.models import KeyedVectors

binary, saved, rounds, *questions = sys.argv[1:]
if not os.path.exists(saved):
    KeyedVectors.load_word2vec_format(binary, binary=True).save(saved)


def number_in(path, key):
    with open(path) as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key))


def state():
    return number_in("/proc/self/io", "rchar:"), number_in("/proc/self/status", "RssFile:") * 1024


def milliseconds(work):
    start = time.perf_counter()
    result = work()
    return (time.perf_counter() - start) * 1e3, result


results = []
for _ in range(int(rounds)):
    before = state()
    opening, vectors = milliseconds(lambda: KeyedVectors.load(saved, mmap="r"))
    after = state()
    answers = [milliseconds(lambda: vectors.most_similar(question, topn=10))[0] for question in questions]
    results.append((opening, after[0] - before[0], after[1] - before[1], answers[0], statistics.median(answers[1:])))
    del vectors
opening, _, _, first, later = (min(column) for column in zip(*results))
print(opening, results[-1][1], max(results[-1][2], 0), first, later)
