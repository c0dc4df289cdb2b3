"""The command, the stores, and vectors to put there.

Run by `cargo xtask stores`, which names the program in the variable SKIPSTREAM.
"""

import os
import random
import subprocess
import tempfile
from pathlib import Path

import numpy
import pytest
from servers import Postgres, Qdrant


class Skipstream:
    """The command, in a folder of its own, with the passwords of one store."""

    def __init__(self, folder, environment):
        self.folder = folder
        self.environment = {**os.environ, **environment}

    def start(self, *arguments, **options):
        program = os.environ["SKIPSTREAM"]
        command = [program, *map(str, arguments)]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=pipe, stderr=pipe, text=True, **options
        )

    def run(self, *arguments):
        process = self.start(*arguments)
        process.out, process.err = process.communicate(timeout=60)
        return process

    def __call__(self, *arguments):
        done = self.run(*arguments)
        assert done.returncode == 0, done.err
        return done.out

    def train(self, model, text, *arguments):
        (self.folder / "text.txt").write_text(text, encoding="utf-8")
        settings = ["--dimensions", 16, "--strategy", "incremental", "--subsample", 0, "--again", "--quiet"]
        self("train", "--model", model, *settings, *arguments, "text.txt")

    def vectors(self, model, *arguments):
        """Words with their counts and vectors, by an export."""
        self("export", "--model", model, "--to", "npy", "--force", *arguments, "export.npy")
        matrix = numpy.load(self.folder / "export.npy")
        lines = (self.folder / "export.words.tsv").read_text(encoding="utf-8").splitlines()
        lines = [line.split("\t") for line in lines]
        if not lines[0][-1].isdigit():
            del lines[0]
        assert len(lines) == len(matrix)
        return {line[0]: (int(line[-1]), vector) for line, vector in zip(lines, matrix)}


def text(words, n, seed):
    """Lines of words of one topic. There are three topics."""
    draw = random.Random(seed)
    topics = [words[start::3] for start in range(3)]
    return "".join(" ".join(draw.choices(draw.choice(topics), k=10)) + "\n" for _ in range(n))


def many_words(path, n, dimensions):
    """A large vectors file."""
    vectors = numpy.random.default_rng(n).normal(size=(n, dimensions)).astype(numpy.float32)
    with open(path, "wb") as file:
        file.write(f"{n} {dimensions}\n".encode())
        for row, vector in enumerate(vectors):
            file.write(f"word{row} ".encode() + vector.tobytes() + b"\n")


@pytest.fixture(scope="session", params=[Postgres, Qdrant])
def store(request, tmp_path_factory):
    """A running store."""
    # Not in a folder of pytest: it is for its owner alone, and the server runs as another user if we are root.
    with tempfile.TemporaryDirectory() as folder:
        server = request.param(Path(folder))
        yield server
        server.stop()


@pytest.fixture
def skipstream(tmp_path, store):
    return Skipstream(tmp_path, store.environment)
