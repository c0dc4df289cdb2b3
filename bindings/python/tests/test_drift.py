"""What changed between two snapshots."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from skipstream import Drift, Embeddings


@pytest.fixture
def old() -> Embeddings:
    random = np.random.default_rng(4)
    return Embeddings.from_arrays(
        [f"w{number}" for number in range(300)], random.normal(size=(300, 8)), range(1000, 700, -1)
    )


def changed(old: Embeddings, moved: str) -> Embeddings:
    """The same after more text, with another place for one word, one word gone and one new."""
    vectors = np.array(old.vectors)
    vectors[old.get_index(moved)] *= [-1, 1, -1, 1, -1, 1, -1, 1]
    return Embeddings.from_arrays(
        ["new" if word == "w299" else word for word in old], vectors, old.counts + 100
    )


def test_what_moved_came_and_left_is_named(old: Embeddings) -> None:
    drift = old.diff(changed(old, "w7"))
    assert isinstance(drift, Drift) and (drift.old_words, drift.new_words, drift.shared) == (300, 300, 299)
    assert drift.above_floor == 1 and drift.moved[0].word == "w7" and drift.moved[0].above_floor
    assert drift.came.words == [("new", 801)] and drift.left.words == [("w299", 701)]
    assert drift.came.total == drift.left.total == 1
    assert (
        len(drift.moved[0].neighbors_before) == 10
        and drift.moved[0].neighbors_before != drift.moved[0].neighbors_after
    )
    assert drift.cosine is not None and drift.cosine > 0.999
    assert drift.floor[0].threshold > drift.floor[0].median
    assert dataclasses.asdict(drift)["min_count"] == 20
    assert drift.ranked == drift.considered == 299 and drift.warnings == []


def test_comparisons_that_mean_little_say_so(old: Embeddings) -> None:
    new = changed(old, "w7")
    mirrored = Embeddings.from_arrays(new.index_to_key, new.vectors[:, ::-1], new.counts)
    one_line = Embeddings.from_arrays(old.index_to_key, new.vectors, old.counts + 1)
    for drift, warning, message in [
        (new.diff(old), "swapped", "are the two swapped"),
        (old.diff(mirrored), "not-one-model", "do not look like two states of one model"),
        (old.diff(one_line), "too-little-text", "too little new text"),
    ]:
        assert warning in drift.warnings and message in repr(drift)
    assert old.diff(one_line).moved == []


def test_nothing_moved(old: Embeddings) -> None:
    drift = old.diff(old)
    assert drift.moved == [] and drift.typical_overlap == 1
    assert (
        repr(drift)
        == "<skipstream.Drift: 300 → 300 words, 300 in both; 0 arrived, 0 left, 0 moved more than by chance>"
    )


def test_how_it_is_shown(old: Embeddings) -> None:
    lines = repr(old.diff(changed(old, "w7"), listed=1, neighbors=2)).splitlines()
    assert lines[0].endswith("1 arrived, 1 left, 1 moved more than by chance")
    assert lines[1].startswith("  w7: cosine ") and "surprise" in lines[1] and " → " in lines[1]
    assert lines[2:] == ["  arrived: new", "  left: w299>"]


def test_options_are_kept_and_checked(old: Embeddings) -> None:
    assert old.diff(old, top=10).considered == 10
    assert old.diff(old, min_count=950).considered == 51
    assert old.diff(old, top=10**30, listed=10**30, neighbors=10**30).considered == 300
    with pytest.raises(ValueError, match="top is -1; it must be at least 0"):
        old.diff(old, top=-1)
    with pytest.raises(TypeError, match="other is of the type str; it must be Embeddings"):
        old.diff("old")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="only snapshots of one model can be compared"):
        old.diff(Embeddings.from_arrays(["a"], [[1]]))


def test_without_counts_nothing_is_rare() -> None:
    wv = Embeddings.from_arrays(["a", "b", "c"], np.eye(3))
    drift = wv.top(2).diff(wv)
    assert drift.min_count is None and drift.considered == 2 and drift.came.words == [("c", None)]
    assert wv.top(0).diff(wv).cosine is None
