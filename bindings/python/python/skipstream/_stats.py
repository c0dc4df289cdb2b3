"""Training statistics."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class MemoryBound:
    """The memory bound of a trainer in bytes, for any stream. Excludes Python itself."""

    parameters: int
    """Vectors and AdaGrad accumulators."""
    vocabulary: int
    """Words and counts."""
    phrases: int
    """Parts and pairs of words that may be phrases."""
    noise: int
    """Noise tables."""
    replay: int
    """The replay buffer."""
    batches: int
    """The batch being trained and the one being read."""
    saving: int
    """Copies made by saving and loading."""
    initial: int
    """Vectors that words are initialized from."""
    program: int
    """The engine, its threads and buffers."""
    total: int
    """The sum."""


@dataclass(frozen=True, repr=False)
class Stats:
    """Statistics since the first word.

    >>> import skipstream
    >>> trainer = skipstream.Trainer(dimensions=20, replays=0)
    >>> _ = trainer.train([["tea", "with", "milk"]] * 500)
    >>> trainer.stats()  # doctest: +ELLIPSIS
    <Stats: 1,500 words, 3 of 100,000 known, 0 evicted, ... pairs, loss ..., at most ... MB>
    """

    words: int
    """Words learned."""
    pairs: int
    """Trained pairs of a word and a context."""
    loss: float
    """Mean loss of all pairs; 0 if there were none."""
    vocabulary: int
    """Vocabulary size."""
    max_vocabulary: int
    """Maximum vocabulary size."""
    evictions: int
    """Words evicted."""
    replayed: int
    """Words replayed."""
    waiting: int
    """Words waiting for replay."""
    dimensions: int
    """Length of a vector."""
    threads: int
    """Number of training threads."""
    kernel: str
    """The instruction set in use."""
    memory_bound: MemoryBound
    """The memory bound."""

    @classmethod
    def _from_json(cls, text: str) -> Stats:
        values = json.loads(text)
        total = values.pop("memory_bound_total")
        values["memory_bound"] = MemoryBound(**values["memory_bound"], total=total)
        return cls(**values)

    def __repr__(self) -> str:
        parts = [f"{self.words:,} words", f"{self.vocabulary:,} of {self.max_vocabulary:,} known"]
        parts += [f"{self.evictions:,} evicted", f"{self.pairs:,} pairs", f"loss {self.loss:.4f}"]
        if self.replayed or self.waiting:
            parts.append(f"{self.replayed:,} replayed, {self.waiting:,} waiting")
        parts.append(f"at most {self.memory_bound.total / 1e6:,.0f} MB")
        return f"<Stats: {', '.join(parts)}>"
