"""Settings under the names of other programs, and the types of choices."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import skipstream
import skipstream.compat
from skipstream import Trainer, _engine
from skipstream._keywords import ELSEWHERE


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("vector_size", "there is no setting 'vector_size'; use dimensions"),
        ("size", "use dimensions"),
        ("dim", "use dimensions"),
        ("min_count", "use max_vocabulary; queries take min_count"),
        ("epochs", "use replays, which is the number of epochs - 1"),
        ("workers", "use threads"),
        ("sg", "skip-gram with negative sampling is all there is"),
        ("sentences", "pass the text to train"),
        ("wndow", "did you mean window"),
        ("colour", "see help"),
    ],
)
def test_a_name_of_another_program_is_answered_with_ours(name: str, message: str) -> None:
    arguments: dict[str, Any] = {name: 5}
    with pytest.raises(TypeError, match=message):
        Trainer(**arguments)


def test_every_keyword_of_gensim_has_an_answer() -> None:
    models = pytest.importorskip("gensim.models")
    ours = {field.name for field in fields(Trainer)}
    for kind in (models.Word2Vec, models.FastText, skipstream.compat.Word2Vec):
        _, *theirs = inspect.signature(kind.__init__).parameters
        assert set(theirs) <= ours | ELSEWHERE.keys(), kind


def test_every_name_that_an_answer_names_exists() -> None:
    ours = {field.name for field in fields(Trainer)}
    assert not ours & ELSEWHERE.keys()
    for answer in ELSEWHERE.values():
        if answer.startswith("use "):
            assert answer.removeprefix("use ").split("=")[0].split(",")[0].split(";")[0] in ours | {"save"}


def test_the_types_of_choices_are_the_engines() -> None:
    hints = get_type_hints(Trainer)
    choices = json.loads(_engine.Settings.choices())
    assert "strategy" in choices
    for name, names in choices.items():
        literals = [kind for kind in (hints[name], *get_args(hints[name])) if get_args(kind)]
        assert any(set(get_args(kind)) == set(names) for kind in literals), name


def test_a_wrong_choice_is_an_error_of_the_type_checker(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    program = tmp_path / "program.py"
    program.write_text(
        "import skipstream\n"
        "trainer = skipstream.Trainer(strategy='fast')\n"
        "trainer = skipstream.Trainer(strategy='batch', wndow=3)\n"
        "wv = trainer.embeddings('both')\n"
        "wv.save('x', format='glove')\n"
        "wv.analogy('a', 'b', 'c', rule='multiply')\n"
    )
    report, _, _ = api.run(["--strict", "--cache-dir", str(tmp_path / "cache"), str(program)])
    wrong = {line.split(":")[1] for line in report.splitlines() if ": error:" in line}
    assert wrong == {"2", "3", "4", "5"}, report
