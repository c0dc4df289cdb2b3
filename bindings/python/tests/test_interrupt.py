"""Ctrl-C, in a process of its own."""

from __future__ import annotations

import itertools
import operator
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import numpy as np
import pytest
import skipstream

PROLOGUE = """
import dataclasses, sys, time, threading
import skipstream

WORDS = [f"w{number}" for number in range(1000)]
SENTENCES = [WORDS[start:start + 20] for start in range(900)]
trainer = skipstream.Trainer(dimensions=50, subsample=0, batch_words=20_000, max_vocabulary=5000)

def ready():
    print("ready", flush=True)
"""


def interrupted(body: str, *arguments: str) -> str:
    """Runs a program, presses Ctrl-C once it says that it is ready, and gives what it printed."""
    program = PROLOGUE + textwrap.dedent(body)
    child = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n", child.communicate()[1]
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
        child.wait()
    assert child.returncode == 0, err
    return out


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to a child")


def test_in_a_generator() -> None:
    out = interrupted("""
        taken = 0
        def endless():
            global taken
            while True:
                taken += 1
                if taken == 5000:
                    ready()
                yield SENTENCES[taken % 900]
        try:
            trainer.train(endless())
        except KeyboardInterrupt:
            # The one that was being made when the signal came was not given out.
            words = trainer.stats().words
            assert 20 * (taken - 1) <= words <= 20 * taken, (words, taken)
            print(trainer.train(SENTENCES).words)
    """)
    assert out == "18000\n"


def test_between_batches_of_what_needs_no_python() -> None:
    out = interrupted("""
        # An iterator without any code of Python in it never looks for signals itself.
        import itertools
        threading.Timer(0.5, ready).start()
        try:
            trainer.train(itertools.repeat(SENTENCES[0]))
        except KeyboardInterrupt:
            words = trainer.stats().words
            assert words > 0 and words % 20 == 0
            print(trainer.train(SENTENCES).words)
    """)
    assert out == "18000\n"


@pytest.mark.parametrize("nothing", ["[]", "''", "['']"])
def test_of_text_without_any_words(nothing: str) -> None:
    out = interrupted(f"""
        import itertools
        threading.Timer(0.3, ready).start()
        try:
            trainer.train(itertools.repeat({nothing}))
        except KeyboardInterrupt:
            print(trainer.stats().words)
    """)
    assert out == "0\n"


def test_of_files_and_the_training_goes_on_exactly(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    words = [f"w{number}" for number in range(1000)]
    lines = (" ".join(words[start % 900 :][:20]) for start in range(40_000))
    text.write_text("\n".join(lines))
    out = interrupted(
        """
        model = sys.argv[1] + ".model"
        whole = skipstream.Trainer(**dataclasses.asdict(trainer))
        def callback(progress):
            if progress.words < 100_000:
                ready() if not said else None
                said.append(1)
        said = []
        try:
            trainer.train_file(sys.argv[1], callback=callback, interval=0)
            print("it was too fast")
        except KeyboardInterrupt:
            learned = trainer.stats().words
            assert 0 < learned < 800_000, learned
            trainer.save(model)
            trainer = skipstream.Trainer.load(model)
            assert trainer.train_file(sys.argv[1]).words == 800_000 - learned
            trainer.save(model)
            whole.train_file(sys.argv[1])
            whole.save(model + "2")
            print(open(model, "rb").read() == open(model + "2", "rb").read())
        """,
        str(text),
    )
    assert out == "True\n"


@pytest.mark.parametrize("has_writer", [False, True])
def test_while_a_pipe_is_silent(has_writer: bool, tmp_path: Path) -> None:
    out = interrupted(
        f"""
        import os
        path = sys.argv[1]
        os.mkfifo(path)
        def write():
            global writer
            writer = open(path, "w")
            writer.write("one two three\\nfour fi")
            writer.flush()
        if {has_writer}:
            threading.Thread(target=write).start()
        threading.Timer(0.5, ready).start()
        began = time.monotonic()
        try:
            trainer.train_file(path)
        except KeyboardInterrupt:
            # What came in whole lines is learned.
            print(time.monotonic() - began < 20, trainer.stats().words, trainer.train(SENTENCES).words)
        """,
        str(tmp_path / "pipe"),
    )
    assert out == f"True {3 if has_writer else 0} 18000\n"


def test_in_a_callback() -> None:
    out = interrupted("""
        import itertools
        def callback(progress):
            ready()
            time.sleep(60)
        try:
            trainer.train(itertools.repeat(SENTENCES[0]), callback=callback, interval=0)
        except KeyboardInterrupt:
            print(trainer.train(SENTENCES).words)
    """)
    assert out == "18000\n"


def test_while_waiting_for_another_thread() -> None:
    out = interrupted("""
        stop = threading.Event()
        def slow():
            yield SENTENCES[0]
            started.set()
            stop.wait()
        started = threading.Event()
        other = threading.Thread(target=trainer.train, args=(slow(),))
        other.start()
        started.wait()
        threading.Timer(0.5, ready).start()
        try:
            trainer.embeddings()
        except KeyboardInterrupt:
            stop.set()
            other.join()
            print(trainer.stats().words)
    """)
    assert out == "20\n"


def test_in_passes_nothing_is_learned() -> None:
    out = interrupted("""
        trainer = skipstream.Trainer(dimensions=50, subsample=0, strategy="word2vec", passes=1000)
        threading.Timer(0.5, ready).start()
        try:
            trainer.train(SENTENCES)
        except KeyboardInterrupt:
            print(trainer.stats().words)
    """)
    assert out == "0\n"


def test_a_handler_that_raises_something_else() -> None:
    out = interrupted("""
        import itertools, signal
        class Stop(Exception): pass
        error = Stop()
        def handler(*_):
            raise error
        signal.signal(signal.SIGINT, handler)
        threading.Timer(0.3, ready).start()
        try:
            trainer.train(itertools.repeat("a b c"))
        except Stop as raised:
            print(raised is error, trainer.stats().words % 3)
    """)
    assert out == "True 0\n"


def test_the_first_array_looks_for_nothing() -> None:
    program = """
        import builtins
        import numpy, skipstream
        trainer = skipstream.Trainer(dimensions=4)
        trainer.train(["tea with milk"])
        one, two = numpy.ones(4, numpy.float32), numpy.ones((2, 4), numpy.float32)
        def interrupt(*_):
            raise KeyboardInterrupt
        # Where Python code runs, Ctrl-C may come.
        builtins.__import__ = interrupt
        print(trainer.vector("tea").shape, skipstream._engine.cosines(one, two).shape)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.stdout == "(4,) (2,)\n", run.stderr


def test_a_handler_that_asks_while_its_thread_waits_for_another() -> None:
    out = interrupted("""
        import signal
        stop = threading.Event()
        def slow():
            yield SENTENCES[0]
            started.set()
            stop.wait()
        started = threading.Event()
        other = threading.Thread(target=trainer.train, args=(slow(),))
        other.start()
        started.wait()
        asked = []
        def handler(*_):
            threading.Timer(0.2, stop.set).start()
            asked.append(trainer.stats().words)
        signal.signal(signal.SIGINT, handler)
        threading.Timer(0.3, ready).start()
        print(trainer.stats().words, asked)
        other.join()
    """)
    assert out == "20 [20]\n"


def test_a_handler_that_asks_the_trainer_of_its_own_thread_is_told_what_to_do() -> None:
    out = interrupted("""
        import itertools, signal
        signal.signal(signal.SIGINT, lambda *_: trainer.stats())
        threading.Timer(0.3, ready).start()
        try:
            trainer.train(itertools.repeat(SENTENCES[0]))
        except RuntimeError as error:
            print("set a flag" in str(error), trainer.stats().words % 20)
    """)
    assert out == "True 0\n"


class HeardThrice(Exception):
    """Two signals may be heard on the way into a call and out of it, the third one only within."""


@pytest.fixture
def signals() -> Iterator[Callable[[], None]]:
    """Sends signals all the time, of which the third is an error."""
    heard = []

    def handler(_number: int, _frame: FrameType | None) -> None:
        heard.append(1)
        if len(heard) == 3:
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise HeardThrice

    before = signal.signal(signal.SIGALRM, handler)
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005) and None
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_means_of_texts(signals: Callable[[], None]) -> None:
    trainer = skipstream.Trainer(dimensions=4)
    trainer.train(["tea with milk"])
    texts = itertools.repeat("tea", 10_000_000)
    signals()
    with pytest.raises(HeardThrice):
        trainer.mean_vectors(texts)
    assert operator.length_hint(texts) > 0


@pytest.mark.parametrize("asked", ["rows", "vectors"])
def test_many_questions(asked: str, signals: Callable[[], None]) -> None:
    vectors = np.random.default_rng(1).normal(size=(60_000, 50)).astype(np.float32)
    engine = skipstream.Embeddings.from_arrays([f"w{row}" for row in range(60_000)], vectors)._engine
    rows = list(range(60_000))
    signals()
    with pytest.raises(HeardThrice):
        if asked == "rows":
            engine.neighbors_of_rows(rows, 1, len(rows))
        else:
            engine.neighbors_of_vectors(vectors, 1, len(rows))
