"""Other processes: forks, and the end of this one."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

PROLOGUE = """
import atexit, itertools, os, sys, threading, time

# What is registered before the engine is imported is called after the engine has waited for its threads.
at_the_end = []
atexit.register(lambda: [work() for work in at_the_end])

import skipstream

SENTENCE = [f"w{number}" for number in range(20)]
trainer = skipstream.Trainer(dimensions=10, subsample=0, threads=1, max_vocabulary=1000)

def in_a_fork(work):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            print(work(), flush=True)
        except RuntimeError as error:
            print(type(error).__name__, "spawn" in str(error), flush=True)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
"""


def printed(body: str) -> str:
    """Runs a program, and gives what it printed."""
    program = PROLOGUE + textwrap.dedent(body)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return run.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_has_a_trainer_that_nobody_used() -> None:
    out = printed("""
        trainer.train([SENTENCE] * 10)
        in_a_fork(lambda: (trainer.stats().words, trainer.train([SENTENCE]).words))
        print(trainer.stats().words)
    """)
    assert out == "(200, 20)\n200\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_while_another_thread_trains_is_told_so() -> None:
    out = printed("""
        started, stop = threading.Event(), threading.Event()
        def live():
            yield SENTENCE
            started.set()
            stop.wait()
        training = threading.Thread(target=trainer.train, args=(live(),))
        training.start()
        started.wait()
        in_a_fork(lambda: trainer.stats())
        in_a_fork(lambda: trainer.train([SENTENCE]))
        stop.set()
        training.join()
        print(trainer.stats().words)
    """)
    assert out == "RuntimeError True\nRuntimeError True\n20\n"


@pytest.mark.parametrize(
    "train",
    [
        "trainer.train(slowly(SENTENCE))",
        "trainer.train(slowly('tea with milk'))",
        "trainer.train(itertools.repeat(SENTENCE), callback=lambda _: time.sleep(0.01), interval=0)",
        "trainer.mean_vectors(slowly(SENTENCE))",
        "in_passes.train([SENTENCE] * 100_000, callback=lambda _: time.sleep(0.01), interval=0)",
    ],
)
def test_python_may_end_while_a_daemon_works(train: str) -> None:
    out = printed(f"""
        at_the_end.append(lambda: print("it ends", flush=True))
        in_passes = skipstream.Trainer(strategy="batch", dimensions=10)
        def slowly(item):
            while True:
                time.sleep(0.001)
                yield item
        started = threading.Event()
        def work():
            started.set()
            while True:
                {train}
        for _ in range(2):
            threading.Thread(target=work, daemon=True).start()
        started.wait()
        time.sleep(0.2)

        class Slow:
            # While Python takes its modules apart, threads still come back to it.
            def __init__(self):
                self.sleep = time.sleep
            def __del__(self):
                self.sleep(0.2)
        sys.slow = Slow()
    """)
    assert out == "it ends\n"


def test_the_last_thread_may_still_use_a_trainer() -> None:
    out = printed("""
        def work():
            trainer.train(itertools.repeat(SENTENCE))
        training = threading.Thread(target=work, daemon=True)
        training.start()
        while trainer.stats().words == 0:
            time.sleep(0.01)
        def last():
            training.join()
            print(trainer.stats().words % 20, trainer.train([SENTENCE]).words, flush=True)
        at_the_end.append(last)
    """)
    assert out == "0 20\n"
