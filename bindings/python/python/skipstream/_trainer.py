"""The trainer: everything that changes while text arrives."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from skipstream import _engine
from skipstream._embeddings import Embeddings
from skipstream._estimator import Estimator


class Trainer(Estimator):
    """Learns word vectors from text that keeps arriving."""

    def __init__(
        self,
        *,
        dimensions: int = 100,
        window: int = 5,
        window_shape: str = "shrinking",
        negatives: int = 5,
        noise_exponent: float = 0.75,
        subsample: float = 1e-4,
        learning_rate: float | None = None,
        adagrad: str | None = None,
        max_vocabulary: int = 100_000,
        table_size: int = 1_000_000,
        batch_words: int = 400_000,
        blocks: int = 4,
        replays: int | None = None,
        replay_words: int = 2_000_000,
        passes: int = 1,
        strategy: str = "mini-batch",
        tokenizer: str = "whitespace",
        lowercase: bool = False,
        nfkc: bool = False,
        min_token_len: int = 1,
        max_token_len: int | None = None,
        max_sentence_words: int = 1000,
        max_token_bytes: int = 128,
        invalid_utf8: str = "replace",
        memory: str | int | None = None,
        init: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        seed: int = 1,
    ) -> None:
        params = {name: value for name, value in locals().items() if name != "self" and not name.startswith("__")}
        for name, value in params.items():
            setattr(self, name, value)
        self._settings = _engine.Settings(
            **{name: value for name, value in params.items() if name not in ("memory", "init") and value is not None}
        )
        self._trainer: _engine.Trainer | None = None

    def train(self, sentences: Iterable[Any]) -> None:
        """Learns sentences."""
        self._engine().train([list(sentence) for sentence in sentences])

    def finish(self) -> None:
        """Trains the old text that still waits for its replay."""
        self._engine().finish()

    def embeddings(self, vectors: str = "sum") -> Embeddings:
        """The vectors as they are now."""
        return Embeddings(self._engine().embeddings(vectors))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the whole state to a file."""
        self._engine().save(path)

    def _engine(self) -> _engine.Trainer:
        if self._trainer is None:
            self._trainer = _engine.Trainer(self._settings)
        return self._trainer
