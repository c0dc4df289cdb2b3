"""Whatever is passed to the shapes people know, only Python's own kinds of errors come out."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from skipstream.compat import Word2Vec

SENTENCES = [["tea", "with", "milk"]] * 5


def junk() -> list[Any]:
    """Made anew each time: some can be read only once."""
    numbers: list[Any] = [-1, 0, 1, 2**70, -(2**70), float("nan"), float("inf"), -0.5, 1.5, np.float32(3), 1j]
    texts: list[Any] = ["x", "\ud800", "", b"x", b"\xff", "/nowhere/at/all"]
    things: list[Any] = [
        None,
        True,
        [],
        {},
        (),
        object(),
        len,
        [["a"]],
        iter([]),
        np.array([1, 2]),
        np.array("a"),
    ]
    cycle: list[Any] = []
    cycle.append(cycle)
    return [*numbers, *texts, *things, cycle]


def attempt(call: Callable[[], object]) -> None:
    try:
        call()
    except (
        TypeError,
        ValueError,
        KeyError,
        NotImplementedError,
        FileNotFoundError,
        PermissionError,
    ) as error:
        assert "internal error" not in str(error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", inspect.signature(Word2Vec).parameters)
def test_the_look_alike(name: str) -> None:
    for value in junk():
        settings: dict[str, Any] = {"sentences": SENTENCES, "vector_size": 4, "min_count": 1, "sg": 1}
        if name == "corpus_file":
            del settings["sentences"]
        settings[name] = value
        attempt(lambda settings=settings: Word2Vec(**settings).wv)  # type: ignore[misc]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", inspect.signature(Word2Vec.train).parameters)
def test_training_the_look_alike(name: str) -> None:
    model = Word2Vec(SENTENCES, vector_size=4, min_count=1, sg=1)
    for value in junk():
        arguments = {} if name == "corpus_file" else {"corpus_iterable": SENTENCES}
        arguments[name] = value
        attempt(lambda arguments=arguments: model.train(**arguments))  # type: ignore[misc]
        attempt(lambda value=value: model.predict_output_word(value))  # type: ignore[misc]
        attempt(lambda value=value: model.predict_output_word(["tea"], topn=value))  # type: ignore[misc]
    assert len(model.wv) >= 3


@pytest.mark.parametrize("method", ["fit", "partial_fit", "transform", "fit_transform"])
def test_the_transformer_of_scikit_learn(method: str) -> None:
    pytest.importorskip("sklearn")
    sklearn = importlib.import_module("skipstream.sklearn")
    trainer = sklearn.WordVectors(dimensions=4, max_vocabulary=100).fit(SENTENCES)
    for value in junk():
        for documents in (value, [value], [[value]], ["tea", value], [["tea"], value]):
            attempt(lambda documents=documents: getattr(trainer, method)(documents))  # type: ignore[misc]
        attempt(lambda value=value: trainer.set_output(transform=value))  # type: ignore[misc]
        trainer.set_output(transform="default")


@pytest.mark.parametrize("method", ["learn_one", "learn_many", "transform_one", "transform_many"])
def test_the_transformer_of_river(method: str) -> None:
    pytest.importorskip("river")
    river = importlib.import_module("skipstream.river")
    for on in (None, "text"):
        vectors = river.WordVectors(on, dimensions=4, max_vocabulary=100, table_size=1000)
        for value in junk():
            for x in (value, [value], {"text": value}, [{"text": value}]):
                attempt(lambda vectors=vectors, x=x: getattr(vectors, method)(x))  # type: ignore[misc]
