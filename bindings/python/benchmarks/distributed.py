"""Measures `skipstream.ray`: the same bytes, time, traffic and memory; and makes the table of docs/guides/ray.md.

python benchmarks/distributed.py runs TEXT      # real workers on a local Ray cluster
python benchmarks/distributed.py traffic TEXT   # bytes per word for 2 to 64 workers, counted in one process
python benchmarks/distributed.py network TEXT   # two nodes in network namespaces, with limited links (as root, with iproute2)
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from skipstream import Trainer, _engine

FEW = 4

MESSAGES = ["batch", "needs", "lent", "passed", "returned"]


class InProcess:
    """Workers in this process, called one after the other, whose messages are counted."""

    def __init__(self, settings: str, n: int) -> None:
        self.workers = [_engine.Worker(settings, number, n, (1, 0), 1) for number in range(n)]
        self.bytes = dict.fromkeys(MESSAGES, 0)
        self.batches, self.rows = 0, 0

    def _counted(self, kind: str, messages: Any) -> Any:
        for message in messages:
            self.bytes[kind] += message.nbytes
            if kind in ("lent", "passed", "returned") and message.nbytes:
                self.rows += _rows(message, has_negatives=kind == "lent")
        return messages

    def start(self, batch: Any, own: Any) -> None:
        # Every machine but the coordinator's gets it.
        n = len(self.workers)
        self.bytes["batch"] += batch.nbytes * n + sum(message.nbytes for message in own)
        self.batch, self.own = batch, own

    def wait(self) -> list[Any]:
        self.batches += 1
        workers, n = self.workers, len(self.workers)
        needs = [
            self._counted("needs", worker.begin(self.batch, own)) for worker, own in zip(workers, self.own)
        ]
        lent = [
            self._counted("lent", worker.lend([needs[other][i] for other in range(n) if other != i]))
            for i, worker in enumerate(workers)
        ]
        passed: list[Any] = [None] * n
        returned: list[dict[int, Any]] = [{} for _ in range(n)]
        for phase in range(1, n):
            following: list[Any] = [None] * n
            for i, worker in enumerate(workers):
                home = (i + phase) % n
                goes_on, goes_home = worker.visit(lent[home][i], passed[i])
                self._counted("passed", [goes_on])
                self._counted("returned", [goes_home])
                following[(i - 1) % n], returned[home][i] = goes_on, goes_home
            passed = following
        return [
            worker.finish([returned[i][other] for other in range(n) if other != i])
            for i, worker in enumerate(workers)
        ]


def traffic(arguments: argparse.Namespace) -> None:
    """Counts bytes per word, and what they allow at 1, 10 and 25 Gb/s.

    Which rows a batch touches does not depend on the dimensions. So few are trained, and rows are counted as if they were long.
    """
    print(f"dimensions {arguments.dimensions}, batches of {arguments.batch_words} words")
    print("| workers | bytes a word | of rows | 1 Gb/s | 10 Gb/s | 25 Gb/s |\n|---|---|---|---|---|---|")
    for n in arguments.workers:
        settings = _engine.Settings(
            dimensions=FEW,
            max_vocabulary=arguments.max_vocabulary,
            batch_words=arguments.batch_words,
            blocks=64,
        )
        coordinator = _engine.Coordinator(settings, n, (1, 0))
        coordinator.open_files([arguments.text], FILES)
        cluster = InProcess(coordinator.settings(), n)
        # The first batches have many new words, and little old text.
        words, before, rows_before = 0, dict(cluster.bytes), 0
        while json.loads(coordinator.progress())["words"] < arguments.words:
            coordinator.step(cluster, 0.0)
            if cluster.batches == arguments.skip:
                words, before, rows_before = _words(coordinator), dict(cluster.bytes), cluster.rows
        words = _words(coordinator) - words
        sent = {kind: (cluster.bytes[kind] - before[kind]) / words for kind in MESSAGES}
        # A row has 4 bytes a dimension, its sum, and a key of 8 bytes. (Negatives, which are lent too, are counted apart.)
        n_rows = (cluster.rows - rows_before) / words
        rows = n_rows * (4 * arguments.dimensions + 12)
        total = sum(sent.values()) - n_rows * (4 * FEW + 12) + rows
        # Every link carries its share in both directions at once.
        limits = [gigabits * 1e9 / 8 / (total / n) for gigabits in (1, 10, 25)]
        shown = " | ".join(f"{limit / 1e6:.2f} M/s" for limit in limits)
        print(f"| {n} | {total:,.0f} | {rows:,.0f} | {shown} |", flush=True)


def runs(arguments: argparse.Namespace) -> None:
    """Trains with real workers, and compares with one process of as many threads as cores."""
    import ray
    from skipstream.ray import join, train
    from skipstream.ray._workers import PROCESS_BYTES

    settings, figures = _settings(arguments), _measured()
    warnings.simplefilter("error")
    print(
        "| training | words/s | SHA-256 | evictions | bytes a word | peak memory of a worker | of it object store | bound |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for threads in (1, os.cpu_count() or 1):
            trainer = Trainer(**settings, threads=threads)
            began = time.monotonic()
            summary = trainer.train_file(arguments.text)
            speed = summary.words / (time.monotonic() - began)
            trainer.save(Path(folder, "one"))
            row = f"| one process, {threads} threads | {speed:,.0f} | {_sha(Path(folder, 'one'))} | {summary.evictions:,}"
            print(f"{row} | | | | |", flush=True)
        ray.init(
            address="local",
            num_cpus=8,
            include_dashboard=False,
            log_to_driver=False,
            object_store_memory=2 << 30,
        )
        for n in arguments.workers:
            model = Path(folder, f"model-{n}")
            summary = train(arguments.text, model=model, workers=n, checkpoint_every=3600, **settings)
            join(model, Path(folder, "joined"))
            sent = sum(worker["bytes_sent"] for worker in figures) / summary.words
            largest = max(figures, key=lambda worker: worker["peak_memory"])
            peak, store = largest["peak_memory"], largest["object_store"]
            bound = _engine.Coordinator(_engine.Settings(**settings), n, (1, 0)).memory()[1] + PROCESS_BYTES
            print(
                f"| {n} workers | {summary.words_per_second:,.0f} | {_sha(Path(folder, 'joined'))} | {summary.evictions:,} "
                f"| {sent:,.0f} | {peak / 1e6:,.0f} MB | {store / 1e6:,.0f} MB | {bound / 1e6:,.0f} MB |",
                flush=True,
            )
        ray.shutdown()


def network(arguments: argparse.Namespace) -> None:
    """Trains with two workers on two nodes, whose link is limited to several bandwidths."""
    # Nobody else can reach the namespaces.
    os.environ["RAY_AUTH_MODE"] = "disabled"
    print("| link | words/s | bytes a word | limit by bandwidth |\n|---|---|---|---|")
    for gigabits in arguments.gigabits:
        with _two_nodes(gigabits) as (inside, address):
            command = [*inside, sys.executable, __file__, "node", "--address", address, arguments.text]
            for name in ("dimensions", "max_vocabulary", "batch_words"):
                command += [f"--{name.replace('_', '-')}", str(getattr(arguments, name))]
            speed, sent = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        # Both directions of the link carry half of it.
        limit = f"{gigabits * 1e9 / 8 / (sent / 2):,.0f}" if gigabits else "none"
        link = f"{gigabits:g} Gb/s" if gigabits else "not limited"
        print(f"| {link} | {speed:,.0f} | {sent:,.0f} | {limit} |", flush=True)


def node(arguments: argparse.Namespace) -> None:
    """The training on two nodes: prints words per second and bytes per word."""
    from skipstream.ray import train

    figures = _measured()
    with tempfile.TemporaryDirectory() as folder:
        summary = train(
            arguments.text,
            model=folder,
            workers=2,
            address=arguments.address,
            checkpoint_every=3600,
            **_settings(arguments),
        )
    sent = sum(worker["bytes_sent"] for worker in figures) / summary.words
    print(json.dumps([summary.words_per_second, sent]))


@contextlib.contextmanager
def _two_nodes(gigabits: float) -> Iterator[tuple[list[str], str]]:
    """Two nodes of Ray in network namespaces of their own; gives what runs a command on the first, and its address."""
    names, ips = ["skipstream-1", "skipstream-2"], ["10.9.0.1", "10.9.0.2"]

    def call(*command: str, check: bool = True) -> None:
        subprocess.run(command, check=check, stdout=subprocess.DEVNULL)

    inside = [["ip", "netns", "exec", name] for name in names]
    ray = [sys.executable, "-m", "ray.scripts.scripts"]
    running: list[subprocess.Popen[bytes]] = []
    try:
        for name in names:
            call("ip", "netns", "add", name)
        call(
            "ip",
            "link",
            "add",
            "link-1",
            "netns",
            names[0],
            "type",
            "veth",
            "peer",
            "link-2",
            "netns",
            names[1],
        )
        for i, (name, ip) in enumerate(zip(names, ips), start=1):
            call("ip", "-n", name, "addr", "add", f"{ip}/24", "dev", f"link-{i}")
            for device in ("lo", f"link-{i}"):
                call("ip", "-n", name, "link", "set", device, "up")
            if gigabits:
                rate = ["rate", f"{gigabits}gbit", "burst", "4mb", "latency", "50ms"]
                call("tc", "-n", name, "qdisc", "add", "dev", f"link-{i}", "root", "tbf", *rate)
        start = [*ray, "start", "--block", "--num-cpus=1", "--object-store-memory=2000000000"]
        address = f"{ips[0]}:6379"
        for i, role in enumerate(
            [["--head", "--port=6379", "--include-dashboard=false"], [f"--address={address}"]]
        ):
            command = [*inside[i], *start, *role, f"--node-ip-address={ips[i]}"]
            running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            time.sleep(10)
        yield inside[0], address
    finally:
        for process in running:
            process.terminate()
            process.wait()
        for name in names:
            call("ip", "netns", "delete", name, check=False)


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    names = ("dimensions", "max_vocabulary", "batch_words")
    return {**{name: getattr(arguments, name) for name in names}, "blocks": 8}


def _measured() -> list[Any]:
    """What the workers of a training have sent and taken, once it has ended."""
    from skipstream.ray import _train
    from skipstream.ray._workers import Workers

    figures: list[Any] = []

    class Measured(Workers):
        def stop(self) -> None:
            figures[:] = self.figures()
            super().stop()

    _train.Workers = Measured  # type: ignore[misc]
    return figures


FILES = {
    "format": None,
    "field": None,
    "weight": None,
    "no_header": False,
    "bad_records": "error",
    "again": False,
    "force_text": False,
}


def _rows(message: Any, has_negatives: bool) -> int:
    """The number of rows in a message: sections after a header of 48 bytes, each with its length in 8 bytes."""
    lengths, position = [], 48
    while position < len(message):
        lengths.append(int(message[position : position + 8].view(np.uint64)[0]))
        position += 8 + lengths[-1]
    # For each block: negatives if there are any, keys, sums, values.
    period, sums = (4, 2) if has_negatives else (3, 1)
    return sum(lengths[sums::period]) // 4


def _words(coordinator: _engine.Coordinator) -> int:
    return int(json.loads(coordinator.summary()[0])["words"])


def _sha(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("runs")
    command.set_defaults(run=runs, workers=[1, 2, 4, 8])
    command.add_argument("--dimensions", type=int, default=100)
    command.add_argument("--max-vocabulary", type=int, default=30_000)
    command.add_argument("--folder")
    other = commands.add_parser("traffic")
    other.set_defaults(run=traffic, workers=[2, 4, 8, 16, 32, 64])
    other.add_argument("--dimensions", type=int, default=300)
    other.add_argument("--max-vocabulary", type=int, default=1_000_000)
    other.add_argument("--words", type=int, default=1_500_000)
    other.add_argument("--skip", type=int, default=6, help="batches before counting")
    for each in (command, other):
        each.add_argument("--workers", type=int, nargs="+")
    limited = commands.add_parser("network")
    limited.set_defaults(run=network)
    limited.add_argument(
        "--gigabits", type=float, nargs="+", default=[0, 10, 1], help="bandwidths; 0 for no limit"
    )
    inner = commands.add_parser("node", help="used by `network`")
    inner.set_defaults(run=node)
    inner.add_argument("--address", required=True)
    for each in (limited, inner):
        each.add_argument("--dimensions", type=int, default=300)
        each.add_argument("--max-vocabulary", type=int, default=1_000_000)
    for each in (command, other, limited, inner):
        each.add_argument("text")
        each.add_argument("--batch-words", type=int, default=400_000)
    arguments = parser.parse_args()
    np.seterr(all="raise")
    arguments.run(arguments)


if __name__ == "__main__":
    main()
