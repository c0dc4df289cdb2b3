"""Training on a real local Ray cluster: the same bytes as on one machine, whoever dies meanwhile."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skipstream
from skipstream import Trainer

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.ray

from skipstream.ray import WorkerLost, _train, join, train
from skipstream.ray._workers import Workers

SETTINGS: dict[str, Any] = {
    "dimensions": 16,
    "batch_words": 5_000,
    "max_vocabulary": 300,
    "subsample": 1e-3,
    "seed": 5,
    "blocks": 8,
}


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """One local cluster for all tests, with more workers than cores."""
    ray.init(
        address="local", num_cpus=8, include_dashboard=False, log_to_driver=False, configure_logging=False
    )
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Several batches, with evictions."""
    random = np.random.default_rng(1)
    numbers = np.minimum(random.pareto(0.8, size=60_000) * 5, 600).astype(int)
    lines = [
        " ".join(f"w{number}" for number in numbers[start : start + 15]) for start in range(0, 60_000, 15)
    ]
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture(scope="module")
def expected(text: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    trainer = Trainer(**SETTINGS)
    assert trainer.train_file(text).evictions > 100
    path = tmp_path_factory.mktemp("expected") / "model"
    trainer.save(path)
    return path.read_bytes()


def joined(model: Path) -> bytes:
    path = model.parent / "joined"
    join(model, path)
    return path.read_bytes()


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_model_is_that_of_one_machine(text: Path, tmp_path: Path, expected: bytes, workers: int) -> None:
    seen = []
    summary = train(
        text,
        model=tmp_path / "model",
        workers=workers,
        callback=seen.append,
        interval=0.1,
        publish=tmp_path / "vectors",
        publish_top=10,
        **SETTINGS,
    )
    assert joined(tmp_path / "model") == expected
    assert summary.words == 60_000 and seen[-1].words == 60_000
    assert len(skipstream.load(tmp_path / "vectors")) == 10
    whole, sharded = skipstream.load(tmp_path / "joined"), skipstream.load(tmp_path / "model")
    assert whole.most_similar("w1") == sharded.most_similar("w1")
    again = train(text, model=tmp_path / "model", workers=2)
    assert again.words == 0 and len(again.skipped_files) == 1
    assert joined(tmp_path / "model") == expected


def test_a_model_continues_from_and_on_one_machine(text: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.txt"
    more.write_text("w1 w2 something new\n" * 500)
    trainer = Trainer(**SETTINGS)
    trainer.train_file(text)
    trainer.save(tmp_path / "one")
    train(more, model=tmp_path / "model", workers=2, start_from=tmp_path / "one", finish=True)
    trainer.train_file(more, finish=True)
    trainer.save(tmp_path / "one")
    assert joined(tmp_path / "model") == (tmp_path / "one").read_bytes()


def test_sentences_are_learned_as_by_a_trainer(tmp_path: Path) -> None:
    sentences = [["tea", "with", "milk"], ["coffee", "with", "sugar"]] * 3_000
    trainer = Trainer(**SETTINGS)
    trainer.train(sentences)
    trainer.save(tmp_path / "one")
    train(sentences=iter(sentences), model=tmp_path / "model", workers=2, **SETTINGS)
    assert joined(tmp_path / "model") == (tmp_path / "one").read_bytes()


def test_wrong_calls_say_what_is_wrong(text: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    with pytest.raises(ValueError, match="workers is 9; it must be from 1 to 8, the number of `blocks`"):
        train(text, model=model, workers=9, **SETTINGS)
    with pytest.raises(TypeError, match="either paths or sentences"):
        train(model=model)
    with pytest.raises(TypeError, match=r"vector_size.*use dimensions"):
        train(text, model=model, vector_size=100)
    with pytest.raises(MemoryError, match="do not fit into the cluster"):
        train(text, model=model, workers=2, max_vocabulary=100_000_000)
    with pytest.raises(FileNotFoundError):
        train(tmp_path / "absent.txt", model=model, workers=2, **SETTINGS)
    train(text, model=model, workers=2, **SETTINGS)
    with pytest.raises(ValueError, match=r"dimensions is 17, but the model .* has 16"):
        train(text, model=model, workers=2, dimensions=17)


class Saboteur(Workers):
    """Workers of which one is attacked at a certain call."""

    attack: Callable[[Saboteur], None] | None = None
    place = ("start", 3)
    calls: dict[str, int]

    def _count(self, name: str) -> None:
        kind = type(self)
        kind.calls[name] = kind.calls.get(name, 0) + 1
        if kind.attack is not None and (name, kind.calls[name]) == kind.place:
            attack, kind.attack = kind.attack, None
            attack(self)

    def start(self, batch: Any, own: Any) -> None:
        self._count("before")
        super().start(batch, own)
        self._count("start")

    def wait(self) -> Any:
        results = super().wait()
        self._count("wait")
        return results

    def save(self, folder: str, checkpoint: str) -> Any:
        self._count("save")
        saved = super().save(folder, checkpoint)
        self._count("saved")
        return saved

    def pid(self, number: int) -> int:
        return int(self.figures()[number]["pid"])


def sabotage(
    monkeypatch: pytest.MonkeyPatch, place: tuple[str, int], attack: Callable[[Saboteur], None]
) -> type[Saboteur]:
    class Attacked(Saboteur):
        pass

    Attacked.calls, Attacked.place, Attacked.attack = {}, place, staticmethod(attack)
    monkeypatch.setattr(_train, "Workers", Attacked)
    monkeypatch.setattr(_train, "_STEP", 0.0)
    return Attacked


def kill(number: int) -> Callable[[Saboteur], None]:
    """Kills a worker as the kernel does when memory runs out."""
    return lambda workers: os.kill(workers.pid(number), signal.SIGKILL)


@pytest.mark.filterwarnings("ignore:a worker was lost")
@pytest.mark.parametrize(
    "place",
    [("before", 1), ("before", 8), ("wait", 5), ("save", 2), ("saved", 2)],
    ids=["first batch", "before a batch", "after a batch", "before saving", "before the index"],
)
def test_a_killed_worker_changes_nothing(
    text: Path, tmp_path: Path, expected: bytes, monkeypatch: pytest.MonkeyPatch, place: tuple[str, int]
) -> None:
    attacked = sabotage(monkeypatch, place, kill(1))
    train(text, model=tmp_path / "model", workers=2, checkpoint_every=0.2, **SETTINGS)
    assert attacked.attack is None, "it was attacked"
    assert joined(tmp_path / "model") == expected


@pytest.mark.filterwarnings("ignore:a worker was lost")
def test_a_worker_that_dies_within_a_batch_changes_nothing(
    text: Path, tmp_path: Path, expected: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids: list[int] = []
    attacked = sabotage(monkeypatch, ("before", 4), lambda workers: pids.append(workers.pid(0)))
    start = attacked.start

    def start_and_kill(workers: Saboteur, batch: Any, own: Any) -> None:
        start(workers, batch, own)
        if pids:
            os.kill(pids.pop(), signal.SIGKILL)

    monkeypatch.setattr(attacked, "start", start_and_kill)
    train(text, model=tmp_path / "model", workers=3, checkpoint_every=0.2, **SETTINGS)
    assert attacked.attack is None and joined(tmp_path / "model") == expected


@pytest.mark.filterwarnings("ignore:a worker was lost")
def test_a_worker_that_answers_late_changes_nothing(
    text: Path, tmp_path: Path, expected: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def attack(workers: Saboteur) -> None:
        pid = workers.pid(1)
        os.kill(pid, signal.SIGSTOP)
        threading.Timer(5, os.kill, (pid, signal.SIGCONT)).start()

    attacked = sabotage(monkeypatch, ("before", 3), attack)
    train(text, model=tmp_path / "model", workers=2, checkpoint_every=0.2, patience=3, **SETTINGS)
    assert attacked.attack is None and joined(tmp_path / "model") == expected


def test_sentences_cannot_be_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage(monkeypatch, ("before", 2), kill(0))
    with pytest.raises(WorkerLost, match="cannot be read again"):
        train(
            sentences=iter([["tea", "with", "milk"]] * 20_000),
            model=tmp_path / "model",
            workers=2,
            **SETTINGS,
        )


def run(
    model: Path,
    text: Path,
    *arguments: str,
    address: str | None = None,
    environment: dict[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """The program, in a process of its own, and without an address in a cluster of its own."""
    settings = [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()]
    where = [] if address is None else ["--address", address]
    command = [sys.executable, "-m", "skipstream.ray", "train", "--model", str(model), "--workers=2"]
    command += [*where, *settings, *arguments, str(text)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, env=environment)


def test_a_killed_coordinator_and_ctrl_c_change_nothing(text: Path, tmp_path: Path, expected: bytes) -> None:
    address = ray.get_runtime_context().gcs_address
    model = tmp_path / "model"
    killed = run(model, text, "--checkpoint-every=0", address=address)
    while not (model / "model.safetensors.index.json").exists():
        assert killed.poll() is None, killed.communicate()
        time.sleep(0.05)
    killed.kill()
    killed.wait()
    stopped = run(model, text, "--checkpoint-every=0", address=address)
    # It says how far it is once a second, so it is learning by then.
    assert stopped.stderr is not None
    stopped.stderr.readline()
    stopped.send_signal(signal.SIGINT)
    assert stopped.wait() in (0, 130)
    finished = run(model, text, "--quiet", address=address)
    _, message = finished.communicate()
    assert finished.returncode == 0, message
    assert joined(model) == expected


class Shim:
    """The library of the torture tests, which kills a process at one of its file calls (torture/shim)."""

    KILL_INSIDE = 2

    def __init__(self, folder: Path, root: Path) -> None:
        self._control, self._journal, self._root = folder / "control", folder / "journal", root
        self._library = Path(os.environ["SKIPSTREAM"]).with_name("libtorture_shim.so")
        assert self._library.exists(), "build it with `cargo build --package torture-shim`"

    def environment(self, action: int = 0, call: int = 0) -> dict[str, str]:
        """Variables for a process that records its calls, and has this happen at one of them."""
        every_kind, no_argument = 2**64 - 1, 0
        self._control.write_bytes(struct.pack("=6Q", 0, action, call, call, every_kind, no_argument))
        self._journal.unlink(missing_ok=True)
        return {
            **os.environ,
            "LD_PRELOAD": str(self._library),
            "TORTURE_ROOT": str(self._root),
            "TORTURE_CONTROL": str(self._control),
            "TORTURE_JOURNAL": str(self._journal),
        }

    def calls(self) -> list[tuple[int, int, str]]:
        """The number, the kind and the path of each recorded call."""
        recorded, found = self._journal.read_bytes(), []
        position = 0
        while position < len(recorded):
            call, kind, _, _, *lengths = struct.unpack_from("=6Q", recorded, position)
            path = recorded[position + 48 :][: lengths[0]].decode()
            found.append((call, kind, path))
            position += 48 + sum(lengths)
        return found


def test_a_coordinator_that_is_killed_at_any_call_of_the_index_changes_nothing(tmp_path: Path) -> None:
    address = ray.get_runtime_context().gcs_address
    paths = [tmp_path / "monday.txt", tmp_path / "tuesday.txt"]
    for path in paths:
        path.write_text(f"tea with milk on {path.stem}\n" * 3_000)
    trainer = Trainer(**SETTINGS)
    for path in paths:
        trainer.train_file(path)
    trainer.save(tmp_path / "expected")
    expected = (tmp_path / "expected").read_bytes()
    model, monday = tmp_path / "model", tmp_path / "model-of-monday"
    train(paths[0], model=monday, workers=2, **SETTINGS)
    shim = Shim(tmp_path, model)

    def attempt(action: int = 0, call: int = 0) -> int:
        # Tuesday is learned in less time than there is between two looks at the clock, so there is one checkpoint, at the end.
        environment = shim.environment(action, call)
        training = run(model, paths[1], "--quiet", address=address, environment=environment)
        _, message = training.communicate()
        assert training.returncode in (0, -signal.SIGKILL), message.decode()
        return training.returncode

    shutil.copytree(monday, model)
    assert attempt() == 0
    assert joined(model) == expected
    calls = shim.calls()
    first = next(i for i, (_, _, path) in enumerate(calls) if "index" in Path(path).name)
    # From the creation of the new index to the deletion of the old files.
    attacked = [number for number, _, _ in calls[first:]]
    assert len(attacked) >= 6
    for call in attacked:
        shutil.rmtree(model)
        shutil.copytree(monday, model)
        assert attempt(Shim.KILL_INSIDE, call) == -signal.SIGKILL, call
        assert attempt() == 0
        assert joined(model) == expected, call
