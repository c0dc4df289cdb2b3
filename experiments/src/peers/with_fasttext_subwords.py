"""Trains fastText's skip-gram with subwords, at its defaults, and writes the vectors of some words as text.

Arguments: the text, the file of words (one per line), the output, the dimensions, the number of passes, and the number
of threads. Prints the seconds that training took.
"""

import sys
import time

import fasttext

text, words, output, dimensions, passes, threads = sys.argv[1:]
start = time.perf_counter()
model = fasttext.train_unsupervised(
    text,
    model="skipgram",
    dim=int(dimensions),
    epoch=int(passes),
    thread=int(threads),
    verbose=0,
)
print(time.perf_counter() - start)
with open(words, encoding="utf-8") as file:
    words = file.read().split()
with open(output, "w", encoding="utf-8") as file:
    print(len(words), dimensions, file=file)
    for word in words:
        print(word, *model.get_word_vector(word).tolist(), file=file)
