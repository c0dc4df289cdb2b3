"""After a panic in the engine, a trainer is dead: its model may be half updated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from skipstream import Trainer

SENTENCES = [["tea", "with", "milk"], ["coffee", "with", "sugar"]] * 50


def panic_in_the_engine(trainer: Trainer) -> None:
    """The engine reads text while it holds the model, and PyO3 turns this exception into the panic that it stands for."""
    with pytest.raises(ZeroDivisionError):
        Trainer(dimensions=2).train(1 / 0 for _ in range(1))
    kinds = [kind for kind in BaseException.__subclasses__() if kind.__name__ == "PanicException"]
    # Other packages that are written with PyO3 have exceptions of the same name, which are no panics here.
    (panic,) = [kind for kind in kinds if dies_of(Trainer(dimensions=2), kind)]
    assert dies_of(trainer, panic)


def dies_of(trainer: Trainer, panic: type[BaseException]) -> bool:
    """Whether the engine panics when its text raises this exception."""

    def text() -> Iterator[list[str]]:
        yield from SENTENCES
        raise panic("a mistake of ours")

    try:
        trainer.train(text())
    except RuntimeError as error:
        assert "internal error in skipstream, please report it: " in str(error) and "a mistake" in str(error)
        return True
    except panic:
        return False
    raise AssertionError("the text did not end early")


def test_every_later_call_says_so(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("tea with milk\n")
    trainer = Trainer(dimensions=4, subsample=0)
    trainer.train(SENTENCES)
    trainer.save(tmp_path / "model")
    panic_in_the_engine(trainer)
    calls: list[Callable[[], object]] = [
        lambda: trainer.train(SENTENCES),
        lambda: trainer.train([]),
        lambda: trainer.train_file(text),
        lambda: trainer.finish(),
        lambda: trainer.save(tmp_path / "model"),
        lambda: trainer.stats(),
        lambda: trainer.count("tea"),
        lambda: "tea" in trainer,
        lambda: trainer.vector("tea"),
        lambda: trainer.embeddings(),
        lambda: trainer.mean_vectors(["tea"]),
        lambda: trainer.pin("tea"),
        lambda: trainer.phrase_list(),
    ]
    for call in calls * 2:
        with pytest.raises(RuntimeError, match=r"this trainer is dead: .*Trainer\.load"):
            call()
    assert not (tmp_path / "model.partial").exists()
    loaded = Trainer.load(tmp_path / "model")
    assert loaded.stats().words == 300
    assert loaded.train(SENTENCES).words == 300


def test_other_trainers_live() -> None:
    trainer = Trainer(dimensions=4)
    panic_in_the_engine(Trainer(dimensions=4))
    assert trainer.train(SENTENCES).words == 300
