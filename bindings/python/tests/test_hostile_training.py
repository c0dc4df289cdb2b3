"""Whatever is given to a trainer, only errors of Python's own kinds come back, and nothing hangs."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skipstream import Trainer

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

# RuntimeError is not among them: it would say that the engine internal error.
ERRORS = (TypeError, ValueError, KeyError, OSError, OverflowError, AttributeError)

often = settings(
    max_examples=150,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

letters = some.text(some.characters(exclude_categories=()), max_size=80)
texts = letters | some.binary(max_size=80)
atoms = (
    texts
    | some.none()
    | some.booleans()
    | some.integers()
    | some.floats()
    | some.just(object())
    | some.just(np.float32(1))
    | some.just(np.array(5))
    | some.just(datetime.date(2026, 11, 15))
)
anything = some.recursive(
    atoms,
    lambda inner: (
        some.lists(inner, max_size=6)
        | some.tuples(inner, inner)
        | some.dictionaries(some.text(max_size=5), inner, max_size=4)
        | some.frozensets(some.text(max_size=5), max_size=4)
        | some.lists(inner, max_size=4).map(iter)
        | some.lists(some.text(max_size=5), max_size=4).map(np.array)
    ),
    max_leaves=20,
)


def small(**given: Any) -> Trainer:
    return Trainer(
        **{
            "dimensions": 4,
            "subsample": 0,
            "threads": 1,
            "max_vocabulary": 50,
            **({"batch_words": 50} if given.get("strategy", "mini-batch") == "mini-batch" else {}),
            **given,
        }
    )


def attempt(work: Any) -> Any:
    """The result, or nothing where a fair error came back."""
    try:
        return work()
    except ERRORS as error:
        assert "internal error" not in str(error)
        return None


@often
@given(anything, some.sampled_from(["mini-batch", "incremental", "batch", "word2vec"]))
def test_sentences_of_any_kind(sentences: Any, strategy: str) -> None:
    trainer = small(strategy=strategy)
    summary = attempt(lambda: trainer.train(sentences))
    words = trainer.stats().words
    assert summary is None or summary.words == words
    assert attempt(lambda: trainer.train([["one", "two"]])) is not None or strategy in ("batch", "word2vec")
    assert len(trainer.embeddings()) == trainer.stats().vocabulary <= 50


@often
@given(
    some.lists(some.lists(letters, max_size=30), max_size=10),
    some.data(),
)
def test_tokens_of_any_letters(sentences: list[list[str]], data: Any) -> None:
    trainer = small(
        invalid_utf8=data.draw(some.sampled_from(["replace", "skip", "error"])),
        max_sentence_words=data.draw(some.integers(2, 5)),
        max_token_bytes=data.draw(some.integers(1, 20)),
    )
    summary = attempt(lambda: trainer.train(sentences))
    assert trainer.stats().words <= sum(map(len, sentences))
    if summary is not None and not summary.invalid_lines:
        left_out = summary.short_tokens + summary.long_tokens
        assert summary.words + left_out == sum(map(len, sentences))


@often
@given(some.lists(texts, max_size=10), some.data())
def test_text_of_any_letters(lines: list[Any], data: Any) -> None:
    options = {
        "invalid_utf8": data.draw(some.sampled_from(["replace", "skip", "error"])),
        "tokenizer": data.draw(some.sampled_from(["whitespace", "unicode"])),
        "lowercase": data.draw(some.booleans()),
        "nfkc": data.draw(some.booleans()),
        "max_sentence_words": data.draw(some.integers(2, 5)),
        "max_token_bytes": data.draw(some.integers(1, 20)),
    }
    trainer = small(**options)
    attempt(lambda: trainer.train(lines))
    means = attempt(lambda: trainer.mean_vectors(lines))
    assert means is None or (means.shape == (len(lines), 4) and np.isfinite(means).all())


@often
@given(some.dictionaries(some.sampled_from(sorted(asdict(Trainer()))), atoms, max_size=3))
def test_settings_of_any_value(given: dict[str, Any]) -> None:
    # Within the limits there are models that are larger than a test's memory.
    given = {
        name: value for name, value in given.items() if name not in ("max_vocabulary", "table_size", "memory")
    }
    trainer = attempt(lambda: small(**given))
    if trainer is not None and (trainer.dimensions or 0) < 1000 and trainer.init is None:
        attempt(lambda: trainer.train([["one", "two"]] * 5))


@often
@given(atoms, atoms)
def test_questions_of_any_kind(word: Any, vectors: Any) -> None:
    trainer = small()
    trainer.train([["one", "two"]])
    attempt(lambda: trainer.vector(word))
    attempt(lambda: trainer.vector("one", vectors))
    attempt(lambda: trainer.vectors_of([word], vectors))
    attempt(lambda: trainer.vectors_of(word))
    attempt(lambda: trainer.count(word))
    attempt(lambda: trainer.embeddings(vectors))
    attempt(lambda: trainer.embeddings(top=word))
    attempt(lambda: trainer.mean_vectors(word, vectors))
    attempt(lambda: trainer.set_replays(word))
    attempt(lambda: trainer.finish(callback=word))
    attempt(lambda: trainer.train([["one"]], interval=word))
    assert (word in trainer) is (isinstance(word, str) and word in ("one", "two"))


@often
@given(anything, atoms, atoms, atoms)
def test_files_of_any_name(paths: Any, format: Any, field: Any, bad_records: Any) -> None:
    trainer = small()
    # Not the files of this machine.
    for asked in (f"/nowhere/{paths!r}", ["/nowhere", paths], 5):
        options = {"format": format, "field": field, "bad_records": bad_records}
        attempt(partial(trainer.train_file, asked, **options))
    attempt(lambda: Trainer.load(f"/nowhere/{paths!r}"))
    attempt(lambda: trainer.save(f"/nowhere/{paths!r}"))
    assert trainer.stats().words == 0


def hostile() -> dict[str, Any]:
    class NoIterator:
        def __iter__(self) -> int:  # type: ignore[override]
            return 5

    class Raises:
        def __iter__(self) -> Iterator[str]:
            raise ValueError("mine")

        def __len__(self) -> int:
            raise ValueError("mine")

    class LongAndShort(list):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return -5  # noqa: PLE0303

    class Attributes:
        def __getattr__(self, name: str) -> Any:
            raise ValueError(name)

    class Shrinking:
        """Gives out a list and then empties it."""

        def __iter__(self) -> Iterator[Any]:
            tokens = ["one"] * 100_000
            yield tokens
            tokens.clear()
            yield ["two"]

    class Itself(list):  # type: ignore[type-arg]
        pass

    ring = Itself()
    ring.append(ring)
    deep: Any = "deep"
    for _ in range(10_000):
        deep = [deep]
    strided = np.array(["one", "two", "three"])[::-2]
    return {
        "no iterator": NoIterator(),
        "raises": Raises(),
        "lies about its length": LongAndShort([["one"]]),
        "attributes": Attributes(),
        "shrinking": Shrinking(),
        "ring": ring,
        "ring within": [ring],
        "deep": deep,
        "strided": strided,
        "zero dimensions": np.array("one"),
        "numbers": np.zeros((3, 3)),
        "a class": list,
        "a function": print,
        "a module": np,
        "a set": {"one two", "three"},
        "a huge range": range(10**18),
    }


@pytest.mark.parametrize("name", hostile())
def test_objects_that_mean_harm(name: str) -> None:
    trainer = small()
    attempt(lambda: trainer.train(hostile()[name]))
    attempt(lambda: trainer.mean_vectors(hostile()[name]))
    assert trainer.train([["one", "two"]]).words == 2


def test_a_list_that_changes_while_it_is_read() -> None:
    tokens = [f"w{number}" for number in range(10)]

    def growing() -> Iterator[Any]:
        for _ in range(1000):
            tokens.append("more")
            yield tokens
            del tokens[:2]

    trainer = small()
    assert trainer.train(growing()).words > 0


def test_errors_of_every_kind_come_through(tmp_path: Path) -> None:
    for error in (
        SystemExit(3),
        GeneratorExit(),
        StopIteration(),
        KeyboardInterrupt(),
        MemoryError(),
        RecursionError(),
    ):

        class Failing:
            number = 0
            cause: BaseException = error

            def __iter__(self) -> Any:
                return self

            def __next__(self) -> Any:
                self.number += 1
                if self.number > 3:
                    raise self.cause
                return ["one", "two"]

        trainer = small()
        if isinstance(error, StopIteration):
            trainer.train(Failing())
        else:
            with pytest.raises(type(error)) as raised:
                trainer.train(Failing())
            assert raised.value is error
        assert trainer.stats().words == 6
        trainer.save(tmp_path / "model")
