"""A model of ours, its vectors as another library reads them, and the command.

Run by `cargo xtask compatibility`, which names the program in the variable SKIPSTREAM.
"""

import json
import os
import random
import subprocess
from typing import NamedTuple

import numpy
import pytest
from safetensors.numpy import load_file


class Vectors(NamedTuple):
    words: list[str]
    counts: list[int]
    matrix: numpy.ndarray


class Skipstream:
    """The command, in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, *arguments):
        program = os.environ["SKIPSTREAM"]
        command = [program, *map(str, arguments)]
        return subprocess.run(
            command, check=False, cwd=self.folder, capture_output=True, text=True
        )

    def __call__(self, *arguments):
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def export(self, model, form, name, *arguments):
        self("export", "--model", model, "--to", form, "--force", *arguments, name)
        return str(self.folder / name)

    def vectors(self, path, *arguments):
        """What the command reads from a file, by way of a model that safetensors can read."""
        model = self.folder / "imported.safetensors"
        self("import", path, "--model", model, "--force", *arguments)
        tensors = load_file(model)
        return Vectors(*words_and_counts(tensors), tensors["vectors"])

    def neighbors(self, model, words, n=10):
        """The neighbors of each word, with their similarities."""
        output = self("neighbors", "--model", model, "--json", "-n", n, *words)
        answers = []
        for line in output.splitlines():
            answer = json.loads(line)
            answers.extend(answer if isinstance(answer, list) else [answer])
        return [
            [(near["word"], near["similarity"]) for near in answer["neighbors"]]
            for answer in answers
        ]


def words_and_counts(tensors):
    text = bytes(tensors["words"])
    ends = tensors["word_ends"].tolist()
    words = [text[start:end].decode() for start, end in zip([0, *ends], ends)]
    return words, tensors["counts"].tolist()


@pytest.fixture(scope="session")
def skipstream(tmp_path_factory):
    return Skipstream(tmp_path_factory.mktemp("skipstream"))


@pytest.fixture(scope="session")
def model(skipstream):
    """A model of some 1,500 words that belong to topics, with letters from several scripts."""
    draw = random.Random(1)
    letters = "aeiouäßéкошка猫тè"
    words = sorted(
        {"".join(draw.choices(letters, k=draw.randint(2, 7))) for _ in range(1500)}
    )
    topics = [words[start::30] for start in range(30)]
    with open(skipstream.folder / "corpus.txt", "w", encoding="utf-8") as file:
        for _ in range(20_000):
            topic = topics[draw.randrange(30)]
            print(*draw.choices(topic, k=10), file=file)
    path = skipstream.folder / "model.safetensors"
    skipstream("train", "--model", path, "--dimensions", 50, "--quiet", "corpus.txt")
    return path


@pytest.fixture(scope="session")
def vectors(model):
    """The model's vectors, read without us: targets plus contexts, in the order of frequency."""
    tensors = load_file(model)
    words, counts = words_and_counts(tensors)
    assert len(words) > 1000
    assert counts == sorted(counts, reverse=True)
    return Vectors(words, counts, tensors["target"] + tensors["context"])
