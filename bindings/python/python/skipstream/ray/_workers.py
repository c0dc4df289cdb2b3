"""The workers as Ray actors, and the messages of a batch between them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import ray
from numpy.typing import NDArray
from ray.exceptions import (
    GetTimeoutError,
    ObjectLostError,
    RayActorError,
    RaySystemError,
    RayTaskError,
    TaskCancelledError,
    WorkerCrashedError,
)

from skipstream import _engine

Bytes = NDArray[np.uint8]

_LOST = (
    GetTimeoutError,
    ObjectLostError,
    RayActorError,
    RaySystemError,
    TaskCancelledError,
    WorkerCrashedError,
)


# What a process of Ray takes by itself: Python, NumPy and Ray's libraries. About 110 MB were measured.
PROCESS_BYTES = 192 << 20

# A process takes seconds to start, and more on a busy machine; a model takes its time to be read.
_START = 600.0


class WorkerLost(RuntimeError):
    """A worker died or does not answer. Training starts again at the last checkpoint."""


class _Worker:
    """The actor: an engine's worker, whose calls Ray makes in the order in which they were submitted."""

    def __init__(self, *arguments: Any) -> None:
        self._worker = _engine.Worker(*arguments)
        self._sent = 0

    def load(self, model: str | None) -> None:
        if model is not None:
            self._worker.load(model)

    def begin(self, batch: Bytes, own: Bytes) -> Any:
        return self._returned(self._worker.begin(batch, own))

    def lend(self, *needs: Bytes) -> Any:
        return self._returned(self._worker.lend(list(needs)))

    def visit(self, lent: Bytes, passed: Bytes | None = None) -> Any:
        return self._returned(self._worker.visit(lent, passed))

    def finish(self, *returned: Bytes) -> Bytes:
        return self._worker.finish(list(returned))

    def save(self, folder: str, checkpoint: str) -> str:
        return self._worker.save(folder, checkpoint)

    def figures(self) -> dict[str, Any]:
        """What tests and measurements ask for."""
        # Pages of Ray's object store count for the process that has touched them, but are reserved apart.
        with open("/proc/self/status", encoding="ascii") as status:
            kilobytes = {
                line.split(":")[0]: int(line.split()[1]) for line in status if line.rstrip().endswith(" kB")
            }
        return {
            "pid": os.getpid(),
            "bytes_sent": self._sent,
            "peak_memory": 1024 * kilobytes["VmHWM"],
            "object_store": 1024 * kilobytes["RssShmem"],
        }

    def _returned(self, messages: list[Bytes]) -> Any:
        self._sent += sum(message.nbytes for message in messages)
        # One value is returned as such, several as separate objects.
        return messages[0] if len(messages) == 1 else messages


class Workers:
    """The workers of one attempt, as the engine's coordinator reaches them."""

    def __init__(
        self,
        n: int,
        settings: str,
        session: tuple[int, int],
        threads: int,
        memory: int,
        patience: float,
    ) -> None:
        # Whoever fails is replaced together with all others: Ray must neither restart nor repeat anything by itself.
        actor = ray.remote(
            max_restarts=0,
            max_task_retries=0,
            num_cpus=threads,
            memory=memory,
            scheduling_strategy="SPREAD",
        )(_Worker)
        self._patience = patience
        self._results: list[Any] = []
        self.actors: list[Any] = [actor.remote(settings, number, n, session, threads) for number in range(n)]

    def load(self, model: str | None) -> None:
        """Waits until all processes have started, and loads the rows of a model."""
        self._get([actor.load.remote(model) for actor in self.actors], max(self._patience, _START))

    def start(self, batch: Bytes, own: list[Bytes]) -> None:
        """Sends a batch, with all calls that train it. Rows go from worker to worker, through Ray's object store."""
        actors, n = self.actors, len(self.actors)
        shared = ray.put(batch)
        several = {"num_returns": n}
        begun = [actor.begin.options(**several).remote(shared, own[i]) for i, actor in enumerate(actors)]
        needs = [_list(refs) for refs in begun]
        lent = [
            _list(
                actor.lend.options(**several).remote(*(needs[other][i] for other in range(n) if other != i))
            )
            for i, actor in enumerate(actors)
        ]
        passed: list[Any] = [None] * n
        returned: list[dict[int, Any]] = [{} for _ in range(n)]
        for phase in range(1, n):
            following: list[Any] = [None] * n
            for i, actor in enumerate(actors):
                home = (i + phase) % n
                goes_on, goes_home = actor.visit.options(num_returns=2).remote(lent[home][i], passed[i])
                following[(i - 1) % n] = goes_on
                returned[home][i] = goes_home
            passed = following
        self._results = [
            actor.finish.remote(*(returned[i][other] for other in range(n) if other != i))
            for i, actor in enumerate(actors)
        ]

    def wait(self) -> list[Bytes]:
        """Waits for the results of the batch."""
        return self._get(self._results)

    def save(self, folder: str, checkpoint: str) -> list[str]:
        """Saves all rows, and returns the descriptions of the files."""
        return self._get([actor.save.remote(folder, checkpoint) for actor in self.actors])

    def figures(self) -> list[dict[str, Any]]:
        """What each worker has sent and taken."""
        return self._get([actor.figures.remote() for actor in self.actors])

    def stop(self) -> None:
        """Ends all workers. Those that do not answer are ended when they do."""
        for actor in self.actors:
            ray.kill(actor, no_restart=True)

    def _get(self, refs: list[Any], patience: float | None = None) -> list[Any]:
        try:
            return ray.get(refs, timeout=patience or self._patience)
        except Exception as error:
            if is_lost(error):
                raise WorkerLost(f"a worker was lost: {_first_line(error)}") from error
            # Ray's error has the traceback of the worker; what is wrong is its cause.
            cause = getattr(error, "cause", None)
            raise (cause if isinstance(cause, Exception) else error) from None


def is_lost(error: BaseException | None) -> bool:
    """Whether an error means that a worker is gone, be it the one that was called or one whose message was awaited."""
    if isinstance(error, _LOST):
        return True
    return isinstance(error, RayTaskError) and is_lost(error.cause)


def _list(refs: Any) -> list[Any]:
    return list(refs) if isinstance(refs, (list, tuple)) else [refs]


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0] or type(error).__name__
