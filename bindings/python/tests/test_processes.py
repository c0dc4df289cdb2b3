"""Other processes: forks, and the end of this one."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

PROLOGUE = """
import os, sys, threading, time
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
