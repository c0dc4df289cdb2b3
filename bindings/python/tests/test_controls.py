"""Words that are pinned, blocked, merged and forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from skipstream import Trainer

TEXT = [["jdoe", "likes", "the", "colour", "of", "tea"], ["the", "color", "of", "milk"]] * 50


def test_controls_are_saved_and_resumed_with_the_same_bytes(tmp_path: Path) -> None:
    whole = Trainer(dimensions=10, max_vocabulary=50, threads=1)
    whole.pin("cocoa")
    whole.block("the", "of")
    whole.train(TEXT)
    whole.save(tmp_path / "m")
    resumed = Trainer.load(tmp_path / "m")
    for trainer in [whole, resumed]:
        trainer.merge("colour", into="color")
        trainer.forget("jdoe", keep_out=True)
        trainer.train(TEXT)
    whole.save(tmp_path / "a")
    resumed.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert b"jdoe" not in (tmp_path / "a").read_bytes()
    assert sorted(whole.embeddings().index_to_key) == ["cocoa", "color", "likes", "milk", "tea"]
    controls = whole.controls()
    assert controls["pinned"] == ["cocoa"]
    assert controls["blocked"] == ["of", "the"]
    assert controls["merged"] == {"colour": "color"}
    assert len(controls["kept_out"]) == 1
    whole.unpin("cocoa")
    whole.unblock("the", "of", "jdoe")
    whole.unmerge("colour")
    assert not any(whole.controls().values())
    assert "cocoa" not in whole


def test_what_cannot_be_done_is_refused_and_changes_nothing() -> None:
    trainer = Trainer(dimensions=10, max_vocabulary=4)
    trainer.pin("tea")
    with pytest.raises(ValueError, match="`tea` is pinned: unpin it first"):
        trainer.block("milk", "tea")
    with pytest.raises(ValueError, match="3 words would be pinned; at most 2"):
        trainer.pin("milk", "sugar")
    with pytest.raises(ValueError, match="not a single token"):
        trainer.block("two words")
    with pytest.raises(TypeError, match=r"unpack a list with \*"):
        trainer.block(["milk"])  # type: ignore[arg-type]
    assert trainer.controls() == {"pinned": ["tea"], "blocked": [], "merged": {}, "kept_out": []}


def test_settings_cannot_change_once_words_are_under_control() -> None:
    trainer = Trainer(dimensions=10)
    trainer.block("the")
    trainer.dimensions = 20
    with pytest.raises(ValueError, match="dimensions"):
        trainer.train(TEXT)
