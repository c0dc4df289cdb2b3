"""How far a trainer has come."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class MemoryBound:
    """Bytes that a trainer takes at the most, whatever the stream brings. Python itself comes on top."""

    parameters: int
    """Rows and AdaGrad's sums."""
    vocabulary: int
    """Words and counts."""
    noise: int
    """Noise tables."""
    replay: int
    """Old text that waits."""
    batches: int
    """The batch that is trained and the one that is read."""
    saving: int
    """The copies that saving and loading make."""
    initial: int
    """Vectors with which words start."""
    program: int
    """The engine itself, its threads and buffers."""
    total: int
    """All of it."""


@dataclass(frozen=True, repr=False)
class Stats:
    """How far a trainer has come, since its first word.

    >>> import skipstream
    >>> trainer = skipstream.Trainer(dimensions=20, replays=0)
    >>> _ = trainer.train([["tea", "with", "milk"]] * 500)
    >>> trainer.stats()  # doctest: +ELLIPSIS
    <Stats: 1,500 words, 3 of 100,000 known, 0 evicted, ... pairs, loss ..., at most ... MB>
    """

    words: int
    """Words that were learned."""
    pairs: int
    """Pairs of a word and its context that were trained."""
    loss: float
    """The mean loss of all pairs; 0 where there were none."""
    vocabulary: int
    """Words that are known."""
    max_vocabulary: int
    """Words that are known at the most."""
    evictions: int
    """Words that had to leave for others."""
    replayed: int
    """Words of past text that were trained once more."""
    waiting: int
    """Words of past text that wait for it."""
    dimensions: int
    """Length of a vector."""
    threads: int
    """Threads that train."""
    kernel: str
    """The processor's instructions in use."""
    memory_bound: MemoryBound
    """Bytes that are never passed."""

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
