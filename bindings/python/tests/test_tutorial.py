"""The tutorial, run in small."""

from __future__ import annotations

import importlib.util
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "tutorial" / "ten_days.py"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> dict[str, Any]:
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
    return runpy.run_path(str(SCRIPT))


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_a_word_arrives_and_a_word_moves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, seed: str) -> None:
    if seed != "1":
        # As if it were not installed: it takes most of the time.
        monkeypatch.setitem(sys.modules, "gensim.models", None)
    picture = tmp_path / "ten_days.png"
    draws = seed == "1" and importlib.util.find_spec("matplotlib") is not None
    arguments = ["--plot", str(picture)] if draws else []
    story = run(monkeypatch, "--words-a-day", "12000", "--seed", seed, *arguments)
    topics = story["TOPICS"]

    assert story["arrived"] == "drone"
    assert story["company"][3] == []
    for day in range(5, 11):
        assert set(story["company"][day]) <= {*topics["sky"], *story["rare"]["sky"]}, day

    assert story["moved"] == "stream"
    assert set(story["paths"][3]) <= {*topics["water"], *story["rare"]["water"]}
    assert set(story["paths"][10]) <= {*topics["media"], *story["rare"]["media"]}
    assert story["to_old"][2] > story["to_new"][2]
    assert story["to_old"][9] < story["to_new"][9]
    assert "drone" in [word for word, _ in story["drift"].came.words]

    assert len(story["evenings"]) == 10
    assert "tomorrow" in story["tomorrow"].embeddings()
    assert picture.exists() == draws
    if seed != "1":
        assert story["agreement"] is None
    elif story["agreement"] is not None:
        assert len(story["retrained_seconds"]) == 10
        assert story["agreement"] > 0.5


def test_a_text_of_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines = [
        f"the {'cat' if number % 2 else 'dog'} sleeps in house {number // 100}" for number in range(1000)
    ]
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    story = run(monkeypatch, "--text", str(path))
    assert story["arrived"] == "1"
    assert len(story["evenings"][10]) == 6 + 10


def test_a_text_without_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.write_text(" \n", encoding="utf-8")
    with pytest.raises(SystemExit, match="there are no words"):
        run(monkeypatch, "--text", str(path))


def test_a_text_in_which_nothing_happens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "short.txt"
    path.write_text("one word after the other\n", encoding="utf-8")
    story = run(monkeypatch, "--text", str(path))
    assert story["drift"].moved == []
