"""A training on a cluster: checkpoints, recovery and the end."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

import ray

from skipstream import _engine
from skipstream._arguments import DEFAULT_VECTORS, FilePath, TextFormat, WhichVectors
from skipstream._keywords import unknown
from skipstream._progress import Callback, listening
from skipstream._summary import Summary
from skipstream._trainer import Trainer
from skipstream.ray._workers import PROCESS_BYTES, WorkerLost, Workers

_SETTINGS = {field.name: field for field in fields(Trainer)}

# Failures without a checkpoint between them after which something must be wrong that does not go away.
_MAX_FAILURES = 5

# How often to look at the clock and for Ctrl-C, in seconds.
_STEP = 0.5


def train(
    paths: FilePath | Iterable[FilePath] | None = None,
    *,
    model: FilePath,
    workers: int = 4,
    address: str | None = None,
    sentences: Iterable[Any] | None = None,
    start_from: FilePath | None = None,
    threads: int = 1,
    checkpoint_every: float = 60.0,
    patience: float = 600.0,
    publish: FilePath | None = None,
    publish_every: float = 3600.0,
    publish_vectors: WhichVectors = DEFAULT_VECTORS,
    publish_top: int | None = None,
    format: TextFormat | None = None,
    field: str | None = None,
    weight: str | None = None,
    no_header: bool = False,
    bad_records: Literal["error", "skip"] = "error",
    again: bool = False,
    force_text: bool = False,
    finish: bool = False,
    progress: bool = False,
    callback: Callback | None = None,
    interval: float = 1.0,
    **settings: Any,
) -> Summary:
    """Learns text on the workers of a Ray cluster, and saves the model in a folder.

    The model is the one that `Trainer(**settings).train_file(paths)` gives, byte for byte once it is `join`ed, for any number
    of workers. If `model` exists already, it is continued, with any number of workers; settings may then be left out.

    Ctrl-C saves at the next batch boundary and raises `KeyboardInterrupt`; the same call goes on from there. A worker that
    dies is replaced, and training starts again at the last checkpoint, without any difference to the result. So does the same
    call after the death of this process.

    Args:
        paths: Files, folders or patterns, read by this process as `Trainer.train_file` reads them. What the model has
            learned before is skipped.
        model: Folder of the model. All machines must see it under this path.
        workers: Number of workers, at most `blocks`. Each holds about 1/`workers` of the rows.
        address: Address of a Ray cluster; `"auto"` for the one of this machine. None uses the connection that there is, or
            starts a local cluster.
        sentences: An iterable of sentences instead of `paths`, as `Trainer.train` takes it. It cannot be read a second time,
            so the loss of a worker ends the call with `WorkerLost`, and the model is at the last checkpoint.
        start_from: A model file of one machine to start from, if `model` does not exist yet.
        threads: Threads of each worker, and the cores that Ray reserves for it.
        checkpoint_every: Seconds between checkpoints.
        patience: Seconds to wait for workers during a batch or a checkpoint before they count as lost.
        publish: Path of a vectors file to write at intervals and at the end.
        publish_every: Seconds between these.
        publish_vectors: Which vectors to publish, as for `Trainer.embeddings`.
        publish_top: Number of the most frequent words to publish; None means all.
        format: As for `Trainer.train_file`, and so are the arguments up to `force_text`.
        field: See there.
        weight: See there.
        no_header: See there.
        bad_records: See there.
        again: See there.
        force_text: See there.
        finish: Whether to train the text that still waits for its replay at the end.
        progress: Whether to show a progress bar (requires tqdm).
        callback: Called with a `Progress` about every `interval` seconds.
        interval: See there.
        **settings: The settings of a new model, as for `Trainer`.
    """
    for name in settings:
        if name not in _SETTINGS:
            raise TypeError(unknown(name, _SETTINGS))
    if (paths is None) == (sentences is None):
        raise TypeError("train takes either paths or sentences")
    if isinstance(paths, (str, bytes, os.PathLike)):
        paths = [paths]
    named = [os.fsdecode(path) for path in paths or ()]
    options = {
        "format": format,
        "field": field,
        "weight": weight,
        "no_header": bool(no_header),
        "bad_records": bad_records,
        "again": bool(again),
        "force_text": bool(force_text),
    }
    folder = str(Path(os.fsdecode(model)).absolute())
    checked = _engine.Settings(**settings)
    lock = _engine.Lock(folder)
    if not lock.is_held:
        raise RuntimeError(f"{folder}: another process is training this model; wait for it or stop it")
    try:
        with (
            _connected(address, workers * threads),
            listening(progress, callback, interval) as (tell, seconds),
        ):
            _engine.clean_shards(folder)

            def open_text(coordinator: _engine.Coordinator) -> None:
                if sentences is not None:
                    coordinator.open_sentences(sentences)
                else:
                    coordinator.open_files(named, options)

            training = _Training(
                open_text=open_text,
                can_repeat=sentences is None,
                folder=folder,
                start_from=None if start_from is None else os.fsdecode(start_from),
                settings=checked,
                given=settings,
                workers=workers,
                threads=threads,
                patience=patience,
            )
            publisher = _Publisher(folder, publish, publish_every, publish_vectors, publish_top)
            return training.run(checkpoint_every, finish, publisher, tell, seconds)
    finally:
        lock.release()


def join(model: FilePath, path: FilePath) -> None:
    """Writes the model of a folder as one model file, which `Trainer.load` and the command line read.

    It is the file that training on one machine gives. It needs no cluster, and memory for the vocabulary but not for the rows.
    """
    _engine.join_shards(os.fsdecode(model), os.fsdecode(path))


class _Training:
    """A coordinator with its workers, and how to get new ones."""

    def __init__(
        self,
        open_text: Callable[[_engine.Coordinator], None],
        can_repeat: bool,
        folder: str,
        start_from: str | None,
        settings: _engine.Settings,
        given: dict[str, Any],
        workers: int,
        threads: int,
        patience: float,
    ) -> None:
        self._open_text, self._can_repeat = open_text, can_repeat
        self._folder, self._start_from, self._settings, self._given = folder, start_from, settings, given
        self._n, self._threads, self._patience = workers, threads, patience
        # Another training of the same model has another number, and so have the files of its checkpoints.
        self._epoch, self._attempt = secrets.randbits(63), 0
        self._failures = 0
        self._workers: Workers | None = None

    def run(
        self,
        checkpoint_every: float,
        finish: bool,
        publisher: _Publisher,
        tell: Callable[[str], None] | None,
        interval: float,
    ) -> Summary:
        with _interrupts() as interrupted:
            while True:
                try:
                    self._start()
                    self._learn(checkpoint_every, finish, publisher, tell, interval, interrupted)
                    self._check(publisher, at_end=True)
                    if interrupted():
                        raise KeyboardInterrupt
                    return Summary._from_engine(*self._coordinator.summary())
                except WorkerLost as error:
                    self._failures += 1
                    if not self._can_repeat:
                        error.args = (
                            f"{error}; the sentences cannot be read again, so the model is at its last checkpoint",
                        )
                        raise
                    if self._failures >= _MAX_FAILURES:
                        raise
                    self._attempt += 1
                    warnings.warn(f"{error}; going back to the last checkpoint", stacklevel=3)
                finally:
                    if self._workers is not None:
                        self._workers.stop()

    def _start(self) -> None:
        """Makes a coordinator and workers at the last checkpoint, or at the beginning."""
        self._workers = None
        session = (self._epoch, self._attempt)
        source = self._folder if _engine.is_sharded(self._folder) else self._start_from
        if source is None:
            self._coordinator = _engine.Coordinator(self._settings, self._n, session)
        else:
            self._coordinator = _engine.Coordinator.load(source, self._n, session)
            _compare(source, json.loads(self._coordinator.settings()), self._settings, self._given)
        self._open_text(self._coordinator)
        memory = self._coordinator.memory()[1] + PROCESS_BYTES
        if self._attempt == 0:
            _refuse_without_room(self._n, self._threads, memory)
        settings = self._coordinator.settings()
        self._workers = Workers(self._n, settings, session, self._threads, memory, self._patience)
        self._workers.load(source)

    def _learn(
        self,
        checkpoint_every: float,
        finish: bool,
        publisher: _Publisher,
        tell: Callable[[str], None] | None,
        interval: float,
        interrupted: Callable[[], bool],
    ) -> None:
        assert self._workers is not None
        saved = told = time.monotonic()
        steps = [self._coordinator.step] + ([self._coordinator.finish] if finish else [])
        for step in steps:
            while not interrupted():
                is_done = step(self._workers, min(_STEP, interval))
                now = time.monotonic()
                if tell is not None and (is_done or now - told >= interval):
                    tell(self._coordinator.progress())
                    told = now
                if is_done:
                    break
                if now - saved >= checkpoint_every:
                    self._check(publisher)
                    saved = time.monotonic()

    def _check(self, publisher: _Publisher, at_end: bool = False) -> None:
        """Writes a checkpoint: first the files, then the index that names them."""
        assert self._workers is not None
        name = f"{self._coordinator.batches():08}-{self._epoch:016x}-{self._attempt}"
        rows = self._workers.save(self._folder, name)
        _engine.commit_shards(self._folder, [self._coordinator.save(self._folder, name), *rows])
        self._failures = 0
        publisher.publish_if_due(at_end)


class _Publisher:
    """Writes vectors at intervals, from the last checkpoint."""

    def __init__(
        self, folder: str, path: FilePath | None, every: float, vectors: str, top: int | None
    ) -> None:
        self._folder, self._path, self._every = folder, path, every
        self._vectors, self._top = vectors, top
        self._last = time.monotonic()

    def publish_if_due(self, at_end: bool) -> None:
        if self._path is None or not (at_end or time.monotonic() - self._last >= self._every):
            return
        _engine.publish_shards(self._folder, os.fsdecode(self._path), self._vectors, self._top)
        self._last = time.monotonic()


def _compare(source: str, model: dict[str, Any], settings: _engine.Settings, given: dict[str, Any]) -> None:
    """Refuses settings that differ from those of the model that is continued."""
    wanted = json.loads(settings.resolved())
    for name, value in given.items():
        if value is None or name == "memory":
            continue
        has, wants = _named(model, name), _named(wanted, name)
        if has != wants:
            raise ValueError(
                f"{name} is {wants!r}, but the model in {source} has {has!r}; leave it out to continue"
            )


def _named(settings: Any, name: str) -> Any:
    """The value of a setting, wherever it is."""
    if isinstance(settings, dict):
        if name in settings:
            value = settings[name]
            # `text` is a group of settings in the engine.
            return sorted(value.items()) if isinstance(value, dict) else value
        found = (_named(value, name) for value in settings.values())
        return next((value for value in found if value is not None), None)
    return None


@contextlib.contextmanager
def _connected(address: str | None, cpus: int) -> Iterator[None]:
    """A connection to the cluster, which is ended only if it was made here."""
    if ray.is_initialized():
        yield
        return
    if address is None:
        # To try it, a machine may have fewer cores than workers.
        context = ray.init(address="local", num_cpus=max(cpus, os.cpu_count() or 1), log_to_driver=False)
    else:
        context = ray.init(address=address, log_to_driver=False)
    if context.dashboard_url:
        print(f"Ray dashboard: http://{context.dashboard_url}", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        ray.shutdown()


def _refuse_without_room(workers: int, threads: int, memory: int) -> None:
    """Checks that the nodes have room for all workers, before any of them starts."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    room = 0
    for resources in nodes:
        by_memory = int(resources.get("memory", 0) // max(memory, 1))
        by_cpus = int(resources.get("CPU", 0) // max(threads, 1))
        room += min(by_memory, by_cpus)
    if room < workers:
        raise MemoryError(
            f"{workers} workers with {memory / 1e9:.2f} GB and {threads} cores each do not fit into the cluster, whose "
            f"{len(nodes)} nodes have room for {room}; add nodes, take more workers (which then need less memory each), or "
            "lower max_vocabulary"
        )


@contextlib.contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed, or SIGTERM received. A second time ends the process as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    received = False

    def receive(number: int, frame: Any) -> None:
        nonlocal received
        received = True
        for which, handler in before.items():
            signal.signal(which, handler)

    before = {which: signal.getsignal(which) for which in (signal.SIGINT, signal.SIGTERM)}
    for which in before:
        signal.signal(which, receive)
    try:
        yield lambda: received
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)
