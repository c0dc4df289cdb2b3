"""Word vectors to read."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from skipstream import _engine


class Embeddings:
    """Words with their counts and vectors, shaped like gensim's `KeyedVectors`; never changes."""

    def __init__(self, engine: _engine.Embeddings) -> None:
        self._engine = engine

    def __len__(self) -> int:
        return len(self._engine)

    def __contains__(self, word: str) -> bool:
        return word in self._engine

    def __getitem__(self, word: str) -> NDArray[np.float32]:
        return self._engine.vector(word)

    @property
    def index_to_key(self) -> list[str]:
        """The words, the most frequent first."""
        return self._engine.words()

    def most_similar(self, positive: str, *, topn: int = 10) -> list[tuple[str, float]]:
        """The words nearest to a word."""
        return self._engine.neighbors(positive, topn)


def load(path: str | os.PathLike[str], vectors: str = "sum") -> Embeddings:
    """The vectors in a file, which are looked at in place."""
    return Embeddings(_engine.Embeddings.open(path, vectors))
