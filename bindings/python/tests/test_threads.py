"""Several threads and one trainer."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from skipstream import Progress, Trainer

SENTENCES = [[f"w{number % 50}" for number in range(start, start + 20)] for start in range(100)]


def small(**settings: Any) -> Trainer:
    batches = {"batch_words": 4000} if settings.get("strategy", "mini-batch") == "mini-batch" else {}
    return Trainer(**{"dimensions": 32, "subsample": 0, "max_vocabulary": 1000, **batches, **settings})


def saved(trainer: Trainer, path: Path) -> bytes:
    trainer.save(path)
    return path.read_bytes()


class Feed:
    """Endless sentences, until stopped."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self.taken = 0

    def __iter__(self) -> Iterator[list[str]]:
        while not self.stopped.is_set():
            self.taken += 1
            yield SENTENCES[self.taken % 100]


def test_others_ask_while_one_trains() -> None:
    trainer, feed = small(), Feed()
    with ThreadPoolExecutor() as pool:
        training = pool.submit(trainer.train, feed)
        while feed.taken < 1000:
            time.sleep(0.001)
        # Each answer comes back while the training goes on: nobody stops it but us.
        words = [trainer.stats().words for _ in range(20)]
        askers = [pool.submit(lambda: len(trainer.embeddings().most_similar("w1"))) for _ in range(2)]
        assert [asker.result() for asker in askers] == [10, 10]
        assert trainer.count("w1") > 0 and "w1" in trainer
        assert trainer.mean_vectors(["w1 w2"]).shape == (1, 32)
        assert not training.done()
        feed.stopped.set()
        assert training.result().words == 20 * feed.taken
    assert words == sorted(words) and words[0] < words[-1]


def test_who_asks_does_not_change_the_model(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("\n".join(" ".join(sentence) for sentence in SENTENCES) * 30)
    alone, asked = small(), small()
    alone.train_file(text)
    done = threading.Event()

    def ask() -> int:
        answers = 0
        while not done.is_set():
            asked.stats()
            asked.save(tmp_path / "meanwhile")
            answers += 1
        return answers

    with ThreadPoolExecutor() as pool:
        asker = pool.submit(ask)
        asked.train_file(text)
        done.set()
        assert asker.result() > 0
    assert saved(asked, tmp_path / "a") == saved(alone, tmp_path / "b")
    # What was saved meanwhile is a whole model.
    assert Trainer.load(tmp_path / "meanwhile").stats().words <= alone.stats().words


def test_python_runs_while_the_engine_works() -> None:
    trainer = small(replays=20)
    trainer.train(SENTENCES * 10)
    with ThreadPoolExecutor() as pool:
        finishing = pool.submit(trainer.finish)
        counted = 0
        while not finishing.done():
            counted += 1
        assert finishing.result().replayed > 0
    assert counted > 1000, "this thread would have stood still with Python's lock held"


def test_two_trainings_queue_up() -> None:
    trainer = small()
    with ThreadPoolExecutor(4) as pool:
        trainings = [pool.submit(trainer.train, iter(SENTENCES * 10)) for _ in range(4)]
        assert [training.result().words for training in trainings] == [20_000] * 4
    assert trainer.stats().words == 80_000


def test_a_generator_that_asks_its_own_trainer_is_told_and_nothing_hangs() -> None:
    trainer = small()
    for ask in (
        trainer.stats,
        trainer.embeddings,
        lambda: trainer.train(SENTENCES),
        trainer.finish,
        lambda: "w1" in trainer,
        lambda: trainer.mean_vectors(["w1"]),
    ):

        def asking(ask: Any = ask) -> Iterator[list[str]]:
            yield SENTENCES[0]
            ask()

        with pytest.raises(RuntimeError, match=r"this trainer is (already )?training"):
            trainer.train(asking())
    assert trainer.stats().words == 6 * 20


def test_finish_rests_for_others_and_tells_how_it_goes() -> None:
    trainer = small(replays=5)
    waiting = trainer.train(SENTENCES * 20).waiting
    told: list[Progress] = []
    asked: list[int] = []

    def callback(progress: Progress) -> None:
        told.append(progress)
        asked.append(trainer.stats().waiting)

    summary = trainer.finish(callback=callback, interval=0)
    assert summary.replayed == waiting > 0
    assert len(told) > 3
    assert asked == sorted(asked, reverse=True) and asked[-1] == 0


def test_a_trainer_can_be_dropped_while_others_wait() -> None:
    results = []
    for _ in range(20):
        trainer = small()
        with ThreadPoolExecutor(3) as pool:
            work = [
                pool.submit(trainer.train, SENTENCES),
                pool.submit(trainer.stats),
                pool.submit(trainer.finish),
            ]
            del trainer
            results.extend(future.result() for future in work)
    assert len(results) == 60


@pytest.mark.parametrize("strategy", ["mini-batch", "incremental"])
@pytest.mark.parametrize("sentence", [SENTENCES[0], " ".join(SENTENCES[0])])
def test_text_that_comes_slowly_does_not_keep_others_out(sentence: Any, strategy: str) -> None:
    trainer, stopped = small(strategy=strategy), threading.Event()
    taken = 0

    def live() -> Iterator[Any]:
        nonlocal taken
        # It would never fill a batch while we look on.
        while not stopped.wait(0.1):
            taken += 1
            yield sentence

    with ThreadPoolExecutor() as pool:
        training = pool.submit(trainer.train, live())
        try:
            while taken < 2:
                time.sleep(0.01)
            asking = pool.submit(trainer.stats)
            words = asking.result(timeout=30).words
            assert words > 0 and words % 20 == 0
            assert not training.done()
        finally:
            stopped.set()
        assert training.result().words == trainer.stats().words == 20 * taken
        assert training.result().sentences == taken


def test_nobody_waits_for_the_first_item() -> None:
    trainer, started, stopped = small(), threading.Event(), threading.Event()

    def late() -> Iterator[list[str]]:
        started.set()
        stopped.wait()
        yield SENTENCES[0]

    with ThreadPoolExecutor() as pool:
        training = pool.submit(trainer.train, late())
        try:
            started.wait()
            assert pool.submit(trainer.stats).result(timeout=30).words == 0
        finally:
            stopped.set()
        assert training.result().words == 20
