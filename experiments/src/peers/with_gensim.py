"""Trains gensim's skip-gram on a text file and saves the vectors in word2vec's binary format."""

import argparse

from gensim.models import KeyedVectors, Word2Vec

parser = argparse.ArgumentParser()
parser.add_argument("verb", choices=["train"])
parser.add_argument("text")
parser.add_argument("output")
parser.add_argument("--dimensions", type=int, required=True)
parser.add_argument("--window", type=int, required=True)
parser.add_argument("--negatives", type=int, required=True)
parser.add_argument("--subsample", type=float, required=True)
parser.add_argument("--rate", type=float, required=True)
parser.add_argument("--passes", type=int, required=True)
parser.add_argument("--threads", type=int, required=True)
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--sum", help="another file, for target plus context")
options = parser.parse_args()

model = Word2Vec(
    corpus_file=options.text,
    sg=1,
    hs=0,
    vector_size=options.dimensions,
    window=options.window,
    negative=options.negatives,
    sample=options.subsample,
    min_count=5,
    alpha=options.rate,
    epochs=options.passes,
    workers=options.threads,
    seed=options.seed,
)
model.wv.save_word2vec_format(options.output, binary=True)
if options.sum:
    sums = KeyedVectors(options.dimensions)
    sums.add_vectors(model.wv.index_to_key, model.wv.vectors + model.syn1neg)
    sums.save_word2vec_format(options.sum, binary=True)
