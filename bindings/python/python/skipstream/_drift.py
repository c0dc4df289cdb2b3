"""What changed between two snapshots of a growing model."""

from __future__ import annotations

import json
from dataclasses import dataclass, field


@dataclass(frozen=True)
class MovedWord:
    """A word that both snapshots have, and that moved."""

    word: str
    """The word."""
    old_count: int | None
    """How often it was seen in the old snapshot, if that is known."""
    new_count: int | None
    """How often it was seen in the new snapshot, if that is known."""
    cosine: float
    """The cosine between its old vector and its new one, without the rotation that all words have in common."""
    surprise: float
    """How many standard deviations of chance it moved farther than words as frequent as it."""
    above_floor: bool
    """Whether that is more than chance gives to any word."""
    overlap: float
    """The share of its nearest words that stayed the same."""
    neighbors_before: list[str] = field(repr=False)
    """The words nearest to it in the old snapshot."""
    neighbors_after: list[str] = field(repr=False)
    """The words nearest to it in the new snapshot."""


@dataclass(frozen=True)
class Others:
    """Words that only one snapshot has."""

    total: int
    """How many there are."""
    words: list[tuple[str, int | None]]
    """The most frequent of them, with their counts, if these are known."""


@dataclass(frozen=True)
class FloorPoint:
    """How far words of one frequency move by chance."""

    count: float
    """How often such words were seen, in the snapshot that knows less of them."""
    median: float
    """Half of them move less than this cosine distance."""
    threshold: float
    """What moves farther is above the floor."""


@dataclass(frozen=True, repr=False)
class Drift:
    """What changed from one snapshot to another: words that came, words that left, words that moved.

    Shown at a prompt it is a summary; its fields hold all of it. Words are ranked by how far they moved for their
    frequency, because a rare word moves far by chance alone.
    """

    old_words: int
    """Words of the old snapshot."""
    new_words: int
    """Words of the new snapshot."""
    shared: int
    """Words that both have."""
    considered: int
    """Those of them that were looked at."""
    min_count: int | None
    """How often those were seen at least; nothing where neither snapshot has counts."""
    cosine_before_rotation: float | None
    """The median cosine of old and new vectors before the common rotation was taken out."""
    cosine: float | None
    """And after."""
    typical_overlap: float | None
    """The share of nearest words that stay the same, as a rule."""
    floor_deviations: float
    """A word is above the floor if it moved by more than so many standard deviations of chance."""
    floor: list[FloorPoint]
    """What chance does at each frequency, the most frequent words first."""
    above_floor: int
    """The words above the floor."""
    moved: list[MovedWord]
    """The words that moved most for their frequency, the first most."""
    came: Others
    """All words that came, and the most frequent of them."""
    left: Others
    """All words that left, and the most frequent of them."""

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
                f"{self.came.total:,} came, {self.left.total:,} left, {self.above_floor:,} moved more than by chance"
            )
        ]
        lines += [
            f"  {word.word}: cosine {word.cosine:.2f}, surprise {word.surprise:.1f}, "
            f"{_few(word.neighbors_before)} → {_few(word.neighbors_after)}"
            for word in self.moved[:5]
        ]
        for name, others in (("came", self.came), ("left", self.left)):
            if others.words:
                lines.append(f"  {name}: {_few([word for word, _ in others.words], 8)}")
        return "\n".join(lines) + ">"


def _few(words: list[str], n: int = 3) -> str:
    return ", ".join(words[:n]) + (", …" if len(words) > n else "") if words else "nothing"
