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


@dataclass(frozen=True)
class Stats:
    """How far a trainer has come, since its first word."""

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
