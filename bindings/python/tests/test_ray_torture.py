"""Attacks on trainings on Ray, which take minutes: run them with `cargo xtask torture ray`."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skipstream import Trainer

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.torture

SETTINGS: dict[str, Any] = {
    "dimensions": 32,
    "batch_words": 6_000,
    "max_vocabulary": 1_000,
    "subsample": 1e-3,
    "blocks": 8,
}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough for hundreds of batches."""
    generator = np.random.default_rng(2)
    numbers = np.minimum(generator.pareto(0.8, size=600_000) * 5, 3_000).astype(int)
    lines = [
        " ".join(f"w{number}" for number in numbers[start : start + 15]) for start in range(0, 600_000, 15)
    ]
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture(scope="module")
def expected(text: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    trainer = Trainer(**SETTINGS)
    assert trainer.train_file(text).evictions > 1_000
    path = tmp_path_factory.mktemp("expected") / "model"
    trainer.save(path)
    return path.read_bytes()


@pytest.fixture
def nodes() -> Iterator[Any]:
    """Four nodes on this machine: raylets of their own. Nothing runs on the first."""
    from ray.cluster_utils import Cluster

    small = {"object_store_memory": 200 << 20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **small})
    for _ in range(3):
        cluster.add_node(num_cpus=2, object_store_memory=200 << 20)
    yield cluster
    cluster.shutdown()


def start(model: Path, text: Path, address: str, workers: int) -> subprocess.Popen[bytes]:
    settings = [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()]
    command = [sys.executable, "-m", "skipstream.ray", "train", "--address", address, "--model", str(model)]
    options = [f"--workers={workers}", "--checkpoint-every=1", "--patience=20", "--quiet"]
    return subprocess.Popen([*command, *options, *settings, str(text)], stderr=subprocess.PIPE)


def joined(model: Path) -> bytes:
    from skipstream.ray import join

    join(model, model.parent / "joined")
    return (model.parent / "joined").read_bytes()


def wait_for_checkpoint(training: subprocess.Popen[bytes], model: Path) -> None:
    while not (model / "model.safetensors.index.json").exists():
        assert training.poll() is None, training.communicate()
        time.sleep(0.05)


def actors() -> list[int]:
    """The processes of workers, found by the name that Ray gives them."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cmdline").read_bytes().startswith(b"ray::_Worker"):
                found.append(int(folder.name))
        except OSError:
            pass
    return found


def test_a_node_dies(text: Path, tmp_path: Path, expected: bytes, nodes: Any) -> None:
    model = tmp_path / "model"
    training = start(model, text, nodes.address, 3)
    wait_for_checkpoint(training, model)
    nodes.remove_node(nodes.list_all_nodes()[-1], allow_graceful=False)
    _, message = training.communicate()
    assert training.returncode == 0, message.decode()
    assert "a worker was lost" in message.decode()
    assert joined(model) == expected


def test_a_worker_stops_for_30_seconds_and_answers_late(
    text: Path, tmp_path: Path, expected: bytes, nodes: Any
) -> None:
    model = tmp_path / "model"
    training = start(model, text, nodes.address, 2)
    wait_for_checkpoint(training, model)
    stopped = actors()[0]
    os.kill(stopped, signal.SIGSTOP)
    time.sleep(30)
    os.kill(stopped, signal.SIGCONT)
    _, message = training.communicate()
    assert training.returncode == 0, message.decode()
    assert "a worker was lost" in message.decode()
    assert joined(model) == expected


@pytest.mark.parametrize("seed", range(3))
def test_anything_is_killed_at_any_time(
    text: Path, tmp_path: Path, expected: bytes, nodes: Any, seed: int
) -> None:
    chance, model = random.Random(seed), tmp_path / "model"
    for workers in (2, 3, 4, 2, 1):
        training = start(model, text, nodes.address, workers)
        time.sleep(chance.uniform(3, 12))
        victims = actors()
        if victims and chance.random() < 0.6:
            os.kill(chance.choice(victims), signal.SIGKILL)
            time.sleep(chance.uniform(0, 5))
        training.kill()
        training.communicate()
    training = start(model, text, nodes.address, 3)
    _, message = training.communicate()
    assert training.returncode == 0, message.decode()
    assert joined(model) == expected
