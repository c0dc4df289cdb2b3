"""The same text, settings and seed give the same model: from Python, from the command line, with any threads."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skipstream import Trainer

SETTINGS: dict[str, Any] = {
    "dimensions": 16,
    "batch_words": 5_000,
    "max_vocabulary": 300,
    "subsample": 1e-3,
    "seed": 5,
}


@pytest.fixture(scope="module")
def program() -> str:
    """The command line, which the environment names: it is built apart from the package."""
    path = os.environ.get("SKIPSTREAM")
    if not path:
        pytest.skip("SKIPSTREAM does not name the program to compare with")
    return path


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough for several batches and evictions, with lines that try the reader."""
    random = np.random.default_rng(1)
    numbers = np.minimum(random.pareto(0.8, size=30_000) * 5, 600).astype(int)
    lines = [
        " ".join(f"w{number}" for number in numbers[start : start + 15]) for start in range(0, 30_000, 15)
    ]
    lines[10:10] = [
        "",
        "  spaces  and\ttabs ",
        "naïve 日本 😀",
        "a" * 200 + " long",
        "with\rreturn",
        "Upper CASE",
    ]
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_bytes("\n".join(lines).encode() + b"\nlast line without end")
    return path


def settings_of(strategy: str) -> dict[str, Any]:
    """The settings that the strategy has a use for."""
    return {
        name: value for name, value in SETTINGS.items() if strategy == "mini-batch" or name != "batch_words"
    }


def command(
    program: str, model: Path, *arguments: str, strategy: str = "mini-batch", stdin: bytes | None = None
) -> bytes:
    named = {**settings_of(strategy), "strategy": strategy}
    settings = [f"--{name.replace('_', '-')}={value}" for name, value in named.items()]
    subprocess.run(
        [program, "train", "--quiet", "--model", str(model), *settings, *arguments],
        input=stdin,
        check=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("SKIPSTREAM")},
    )
    return model.read_bytes()


def saved(trainer: Trainer, path: Path) -> bytes:
    trainer.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("strategy", ["mini-batch", "incremental", "batch", "word2vec"])
def test_a_file_is_the_same_from_the_command_line(
    program: str, text: Path, tmp_path: Path, strategy: str
) -> None:
    trainer = Trainer(**settings_of(strategy), strategy=strategy, lowercase=True, tokenizer="unicode")
    trainer.train_file(text)
    options = ["--lowercase", "--tokenizer=unicode"]
    ours = saved(trainer, tmp_path / "python")
    assert ours == command(program, tmp_path / "command", *options, str(text), strategy=strategy)


def test_a_model_of_the_command_line_goes_on_in_python_and_back(
    program: str, text: Path, tmp_path: Path
) -> None:
    more = tmp_path / "more.txt"
    more.write_text("w1 w2 something new\n" * 500)
    command(program, tmp_path / "command", str(text))
    trainer = Trainer.load(tmp_path / "command")
    assert trainer.train_file([text, more]).words == 2000
    expected = command(program, tmp_path / "command", str(text), str(more))
    assert saved(trainer, tmp_path / "python") == expected


def test_a_model_that_forgets_is_the_same(program: str, text: Path, tmp_path: Path) -> None:
    trainer = Trainer(**SETTINGS, half_life="8k")
    trainer.train_file(text)
    ours = saved(trainer, tmp_path / "python")
    assert ours == command(program, tmp_path / "command", "--half-life=8k", str(text))
    assert ours != saved(Trainer(**SETTINGS), tmp_path / "other")


def test_finish_is_the_same(program: str, text: Path, tmp_path: Path) -> None:
    trainer = Trainer(**SETTINGS)
    trainer.train_file(text)
    trainer.finish()
    assert saved(trainer, tmp_path / "python") == command(
        program, tmp_path / "command", "--finish", str(text)
    )


@pytest.mark.parametrize("options", [{}, {"lowercase": True, "nfkc": True, "tokenizer": "unicode"}])
def test_strings_are_the_same_as_standard_input(
    program: str, text: Path, tmp_path: Path, options: dict[str, Any]
) -> None:
    lines = text.read_bytes() + b"\n"
    flags = [f"--{name}={str(value).lower()}" for name, value in options.items()]
    expected = command(program, tmp_path / "command", *flags, "-", stdin=lines)
    strings = lines.decode().split("\n")[:-1]
    ended = (f"{string}\n" for string in strings)
    for number, sentences in enumerate(([lines.decode()], strings, lines.split(b"\n")[:-1], ended)):
        trainer = Trainer(**SETTINGS, **options)
        trainer.train(sentences)
        assert saved(trainer, tmp_path / f"python{number}") == expected, number


def test_text_that_is_not_utf_8_is_the_same_as_standard_input(program: str, tmp_path: Path) -> None:
    lines = b"\xef\xbb\xbftea \xff milk\nno \x00 nul\n\xed\xa0\x80 half\n" * 20
    expected = command(program, tmp_path / "command", "--force-text", "-", stdin=lines)
    for number, sentences in enumerate((lines.split(b"\n")[:-1], [lines])):
        trainer = Trainer(**SETTINGS)
        trainer.train(sentences)
        assert saved(trainer, tmp_path / f"python{number}") == expected


def test_token_lists_are_the_same_as_the_text_they_come_from(text: Path, tmp_path: Path) -> None:
    lines = text.read_bytes().decode().split("\n")
    models = []
    for sentences in ((line.split() for line in lines), lines):
        trainer = Trainer(**SETTINGS)
        trainer.train(sentences)
        models.append(trainer)
    vectors = [trainer.embeddings().vectors for trainer in models]
    np.testing.assert_array_equal(*vectors)
    assert models[0].embeddings().index_to_key == models[1].embeddings().index_to_key


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_any_number_of_threads_gives_the_same(text: Path, tmp_path: Path, threads: int) -> None:
    one, several = Trainer(**SETTINGS, threads=1), Trainer(**SETTINGS, threads=threads)
    one.train_file(text)
    several.train_file(text)
    assert saved(one, tmp_path / "one") == saved(several, tmp_path / "several")


def test_threads_may_change_between_texts(text: Path, tmp_path: Path) -> None:
    one, several = Trainer(**SETTINGS, threads=1), Trainer(**SETTINGS, threads=4)
    for sentences in (["one two three"] * 2000, ["two three four"] * 2000):
        one.train(sentences)
        several.train(sentences)
        several.threads = 2
    assert saved(one, tmp_path / "one") == saved(several, tmp_path / "several")
