"""Names of settings in other programs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_REPLAYS = "a stream is read once; use replays, which is the number of epochs - 1"
_COUNT = "use max_vocabulary; queries take min_count"
_RATE = "AdaGrad sets the rates; use learning_rate, which has another scale, or omit it"
_SKIP_GRAM = "skip-gram with negative sampling is all there is: omit it"
_SUBWORDS = "n-grams are fitted afterwards: use embeddings().with_subwords"
_TEXT = "pass the text to train, or its path to train_file"
_SAVED = "use save, or embeddings().save"

# The keywords of gensim and the flags of word2vec and fastText.
ELSEWHERE = {
    "size": "use dimensions",
    "vector_size": "use dimensions",
    "layer1_size": "use dimensions",
    "dim": "use dimensions",
    "ws": "use window",
    "shrink_windows": 'use window_shape="shrinking" or window_shape="fixed"',
    "negative": "use negatives",
    "neg": "use negatives",
    "ns_exponent": "use noise_exponent",
    "sample": "use subsample",
    "t": "use subsample",
    "alpha": _RATE,
    "min_alpha": _RATE,
    "lr": _RATE,
    "lrUpdateRate": _RATE,
    "min_count": _COUNT,
    "minCount": _COUNT,
    "minCountLabel": _COUNT,
    "trim_rule": _COUNT,
    "max_vocab_size": "use max_vocabulary",
    "max_final_vocab": "use max_vocabulary",
    "iter": _REPLAYS,
    "epoch": _REPLAYS,
    "epochs": _REPLAYS,
    "workers": "use threads",
    "thread": "use threads",
    "sg": _SKIP_GRAM,
    "cbow": _SKIP_GRAM,
    "cbow_mean": _SKIP_GRAM,
    "hs": _SKIP_GRAM,
    "loss": _SKIP_GRAM,
    "model": _SKIP_GRAM,
    "min_n": _SUBWORDS,
    "max_n": _SUBWORDS,
    "minn": _SUBWORDS,
    "maxn": _SUBWORDS,
    "bucket": _SUBWORDS,
    "word_ngrams": "there are no phrases: join them before training",
    "wordNgrams": "there are no phrases: join them before training",
    "classes": "there are no classes: cluster the vectors afterwards",
    "sentences": _TEXT,
    "corpus_file": _TEXT,
    "train": _TEXT,
    "input": _TEXT,
    "output": _SAVED,
    "binary": _SAVED,
    "save_vocab": _SAVED,
    "saveOutput": _SAVED,
    "read_vocab": "words enter and leave with the text: omit it",
    "pretrainedVectors": "use init",
    "batch_size": "use batch_words",
    "lower": "use lowercase",
    "hashfxn": "random numbers depend on seed alone: omit it",
    "null_word": "omit it",
    "sorted_vocab": "words are always sorted by frequency: omit it",
    "compute_loss": "train returns the loss: omit it",
    "callbacks": "pass callback to train",
    "comment": "omit it",
    "debug": "pass progress=True to train",
    "verbose": "pass progress=True to train",
}


def unknown(name: str, settings: Iterable[str]) -> str:
    """What to say about an unknown setting."""
    near = difflib.get_close_matches(name, settings, n=1)
    instead = ELSEWHERE.get(name) or (f"did you mean {near[0]}?" if near else "see help(skipstream.Trainer)")
    return f"there is no setting {name!r}; {instead}"
