"""Trains gensim's skip-gram on a text file and saves the vectors in word2vec's binary format.

Arguments: `train`, the text, the output, the settings as JSON, and optionally a file for target plus context.
"""

import json
import sys

from gensim.models import KeyedVectors, Word2Vec

_, text, output, settings, *sums_output = sys.argv[1:]
settings = json.loads(settings)
model = Word2Vec(
    corpus_file=text,
    sg=1,
    hs=0,
    vector_size=settings["dimensions"],
    window=settings["window"],
    negative=settings["negatives"],
    sample=float(settings["subsample"]),
    min_count=settings["min_count"],
    alpha=float(settings["rate"]),
    epochs=settings["passes"],
    workers=settings["threads"],
    seed=settings["seed"],
)
model.wv.save_word2vec_format(output, binary=True)
for path in sums_output:
    sums = KeyedVectors(settings["dimensions"])
    sums.add_vectors(model.wv.index_to_key, model.wv.vectors + model.syn1neg)
    sums.save_word2vec_format(path, binary=True)
