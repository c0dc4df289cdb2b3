"""Trains fastText's skip-gram with subwords, at its defaults, and writes the vectors of the words of word pairs as text.

Arguments: the text, the file of pairs, the output, the dimensions, the number of passes, and the number of threads.
Prints the seconds that training took.
"""

import sys
import time

import fasttext

text, pairs, output, dimensions, passes, threads = sys.argv[1:]
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
with open(pairs, encoding="utf-8") as file:
    lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
words = sorted({word.lower() for line in lines for word in line[:2]})
with open(output, "w", encoding="utf-8") as file:
    print(len(words), dimensions, file=file)
    for word in words:
        print(word, *model.get_word_vector(word).tolist(), file=file)
