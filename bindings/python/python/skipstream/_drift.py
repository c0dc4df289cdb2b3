"""What changed between two states of a model."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Literal

DriftWarning = Literal["too-little-text", "not-one-model", "swapped"]

_WARNINGS = {
    "too-little-text": "too little new text to tell movement from chance",
    "not-one-model": "these do not look like two states of one model, so every difference counts as movement",
    "swapped": "most counts are lower in the second state; are the two swapped?",
}


@dataclass(frozen=True)
class MovedWord:
    """A word in both states that moved."""

    word: str
    """The word."""
    old_count: int | None
    """Count in the old state, if known."""
    new_count: int | None
    """Count in the new state, if known."""
    new_occurrences: int | None
    """Occurrences since the old state, if known."""
    cosine: float
    """Cosine between its old and new vectors, after removing the rotation common to all words."""
    surprise: float
    """Movement beyond that of equally frequent words, in standard deviations."""
    above_floor: bool
    """Whether it moved farther than chance would explain."""
    overlap: float
    """Share of its nearest words that stayed the same."""
    neighbors_before: list[str] = field(repr=False)
    """Nearest words in the old state."""
    neighbors_after: list[str] = field(repr=False)
    """Nearest words in the new state."""


@dataclass(frozen=True)
class Others:
    """Words in only one of the two states."""

    total: int
    """Number of such words."""
    words: list[tuple[str, int | None]]
    """The most frequent of them, with counts if known."""


@dataclass(frozen=True)
class FloorPoint:
    """How far words of a given frequency move by chance."""

    count: float
    """Count of such words, the smaller of the two states."""
    median: float
    """Median cosine distance."""
    threshold: float
    """Distance above which a word is above the noise floor."""


@dataclass(frozen=True, repr=False)
class Drift:
    """What changed from one state of a model to another: words that arrived, left or moved.

    Its `repr` is a summary; the fields hold all details. Words are ranked by how far they moved relative to their
    frequency, because rare words move far by chance alone.
    """

    old_words: int
    """Number of words in the old state."""
    new_words: int
    """Number of words in the new state."""
    shared: int
    """Number of shared words."""
    considered: int
    """Number of shared words that were compared."""
    min_count: int | None
    """Minimum count of a compared word; None if neither state has counts."""
    ranked: int
    """Number of compared words with at least five new occurrences; only these can have moved."""
    warnings: list[DriftWarning]
    """Reasons not to trust the comparison."""
    cosine_before_rotation: float | None
    """Median cosine of old and new vectors before removing the common rotation."""
    cosine: float | None
    """Median cosine after removing it."""
    typical_overlap: float | None
    """Typical share of nearest words that stay the same."""
    floor_deviations: float
    """The noise floor in standard deviations."""
    floor: list[FloorPoint]
    """The noise floor by frequency, most frequent words first."""
    above_floor: int
    """Number of words above the noise floor."""
    moved: list[MovedWord]
    """The words that moved most for their frequency, most first."""
    came: Others
    """Words that arrived."""
    left: Others
    """Words that left."""

    @classmethod
    def _from_json(cls, text: str) -> Drift:
        fields = json.loads(text)
        fields["floor"] = [FloorPoint(**point) for point in fields["floor"]]
        fields["moved"] = [MovedWord(**word) for word in fields["moved"]]
        for name in ("came", "left"):
            words = [(word, count) for word, count in fields[name]["words"]]
            fields[name] = Others(fields[name]["total"], words)
        return cls(**fields)

    def __repr__(self) -> str:
        lines = [
            (
                f"<skipstream.Drift: {self.old_words:,} → {self.new_words:,} words, {self.shared:,} in both; "
                f"{self.came.total:,} arrived, {self.left.total:,} left, {self.above_floor:,} moved more than by chance"
            )
        ]
        lines += [
            f"  {word.word}: cosine {word.cosine:.2f}, surprise {word.surprise:.1f}, "
            f"{_few(word.neighbors_before)} → {_few(word.neighbors_after)}"
            for word in self.moved[:5]
        ]
        for name, others in (("arrived", self.came), ("left", self.left)):
            if others.words:
                lines.append(f"  {name}: {_few([word for word, _ in others.words], 8)}")
        lines += [f"  warning: {_WARNINGS.get(warning, warning)}" for warning in self.warnings]
        return "\n".join(lines) + ">"


def _few(words: list[str], n: int = 3) -> str:
    return ", ".join(words[:n]) + (", …" if len(words) > n else "") if words else "nothing"
