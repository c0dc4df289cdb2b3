"""Word embeddings that never stop learning.

A `Trainer` learns from text that keeps arriving, in one pass and in bounded memory. `Embeddings` are read-only word
vectors with an API like gensim's `KeyedVectors`.

>>> import skipstream
>>> trainer = skipstream.Trainer(dimensions=20, subsample=0)
>>> summary = trainer.train([["tea", "with", "milk"], ["coffee", "with", "sugar"]] * 500)
>>> wv = trainer.embeddings()
>>> len(wv), "tea" in wv
(5, True)
"""

from skipstream._client import Client
from skipstream._drift import Drift
from skipstream._embeddings import Embeddings, load
from skipstream._engine import __version__
from skipstream._errors import UnknownWord
from skipstream._progress import Progress
from skipstream._stats import MemoryBound, Stats
from skipstream._summary import Summary
from skipstream._trainer import Trainer

__all__ = [
    "Client",
    "Drift",
    "Embeddings",
    "MemoryBound",
    "Progress",
    "Stats",
    "Summary",
    "Trainer",
    "UnknownWord",
    "__version__",
    "load",
]
