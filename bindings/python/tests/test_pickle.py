"""Pickles and copies, which go through the format of the model's file."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from skipstream import Trainer

SENTENCES = [["tea", "with", "milk"], ["coffee", "with", "sugar"]] * 50


def trained(**settings: Any) -> Trainer:
    batches = {} if "strategy" in settings else {"batch_words": 100}
    trainer = Trainer(**{"dimensions": 8, "subsample": 0, "max_vocabulary": 1000, **batches, **settings})
    trainer.train(SENTENCES)
    return trainer


def saved(trainer: Trainer, path: Path) -> bytes:
    trainer.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("strategy", ["mini-batch", "incremental", "word2vec"])
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_a_pickle_goes_on_as_if_nothing_had_been(strategy: str, protocol: int, tmp_path: Path) -> None:
    trainer = trained(strategy=strategy, threads=2)
    other = pickle.loads(pickle.dumps(trainer, protocol))
    assert saved(other, tmp_path / "a") == saved(trainer, tmp_path / "b")
    assert asdict(other) == asdict(trainer)
    assert other.stats() == trainer.stats()
    if strategy != "word2vec":
        other.train(SENTENCES)
        trainer.train(SENTENCES)
        assert saved(other, tmp_path / "a") == saved(trainer, tmp_path / "b")


def test_a_copy_is_apart_from_the_original() -> None:
    trainer = trained()
    for other in (copy.copy(trainer), copy.deepcopy(trainer)):
        other.train([["cocoa"]])
        assert "cocoa" in other and "cocoa" not in trainer
        assert asdict(other) == asdict(trainer)


def test_a_trainer_that_has_learned_nothing_is_its_settings() -> None:
    for trainer in (Trainer(window=3, memory="1G"), Trainer(dimensions=3)):
        other = pickle.loads(pickle.dumps(trainer))
        assert asdict(other) == asdict(trainer)
        assert other.train(SENTENCES).words == 300
    trainer = Trainer(dimensions=3)
    trainer.stats()
    other = copy.deepcopy(trainer)
    other.dimensions = 4
    other.train(SENTENCES)
    assert other.vector("tea").shape == (4,)


def test_settings_of_a_pickle_are_fixed_too() -> None:
    other = pickle.loads(pickle.dumps(trained()))
    other.window = 7
    with pytest.raises(ValueError, match="window is 7, the model's is 5"):
        other.train(SENTENCES)


def _words(trainer: Trainer) -> int:
    return trainer.train(SENTENCES).words + trainer.stats().words


def test_a_trainer_goes_to_another_process() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_words, (trained(),)) == 300 + 600


def test_a_damaged_pickle_is_an_error() -> None:
    state = trained().__getstate__()
    for bytes_ in (b"", state["_bytes"][:-1], b"x" * 1000):
        with pytest.raises(ValueError):
            Trainer().__setstate__({**state, "_bytes": bytes_})
