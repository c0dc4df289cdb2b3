"""Word vectors as a transformer of river."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("river")

import pandas as pd
from river import checks, compose, evaluate, linear_model, metrics, preprocessing
from river import feature_extraction as fx
from skipstream import Trainer
from skipstream.river import WordVectors

TEXTS = ["the cat sleeps", "the ship sails", "a dog barks", "a boat on the water"]
SMALL: dict[str, Any] = {"dimensions": 6, "subsample": 0, "max_vocabulary": 500, "table_size": 10_000}


def test_learning_one_by_one_is_what_the_trainer_learns_at_once() -> None:
    vectors = WordVectors(**SMALL)
    for text in TEXTS * 5:
        vectors.learn_one(text)
    trainer = Trainer(strategy="incremental", **SMALL)
    trainer.train(TEXTS * 5)
    expected = trainer.mean_vectors(["the cat", "unheard"])
    for text, row in zip(["the cat", "unheard"], expected):
        np.testing.assert_array_equal(list(vectors.transform_one(text).values()), row)


def test_strings_tokens_fields_and_columns_are_the_same() -> None:
    expected = WordVectors(**SMALL)
    for text in TEXTS * 3:
        expected.learn_one(text)
    tokens = WordVectors(**SMALL)
    for text in TEXTS * 3:
        tokens.learn_one(text.split())
    field = WordVectors("title", **SMALL)
    for text in TEXTS * 3:
        field.learn_one({"title": text, "other": 1})
    column = WordVectors("title", **SMALL)
    column.learn_many(pd.DataFrame({"title": TEXTS * 3}))
    mappings = WordVectors("title", **SMALL)
    mappings.learn_many([{"title": text} for text in TEXTS * 3])
    series = WordVectors(**SMALL)
    series.learn_many(pd.Series(TEXTS * 3))
    found = [
        expected.transform_one("the cat").values(),
        tokens.transform_one(["the", "cat"]).values(),
        field.transform_one({"title": "the cat"}).values(),
        column.transform_one({"title": "the cat"}).values(),
        mappings.transform_one({"title": "the cat"}).values(),
        series.transform_one("the cat").values(),
    ]
    assert all(list(values) == list(found[0]) for values in found)
    assert list(field.transform_one({"title": "cat"})) == [f"title_{number}" for number in range(6)]


def test_transform_many_is_transform_one_row_by_row() -> None:
    vectors = WordVectors("text", **SMALL)
    table = pd.DataFrame({"text": [*TEXTS, "unheard"]}, index=[3, 1, 4, 1, 5])
    vectors.learn_many(table[:4])
    found = vectors.transform_many(table)
    assert list(found.index) == [3, 1, 4, 1, 5]
    for text, (_, row) in zip(table["text"], found.iterrows()):
        assert row.to_dict() == vectors.transform_one({"text": text})


def topics(number: int) -> list[tuple[dict[str, Any], bool]]:
    chance = np.random.default_rng(5)
    animals, ships = (
        ["cat", "dog", "mouse", "bird", "sleeps", "eats"],
        ["ship", "boat", "sea", "wave", "sails", "sinks"],
    )
    stream = []
    for _ in range(number):
        is_ship = bool(chance.integers(2))
        stream.append(({"text": " ".join(chance.choice(ships if is_ship else animals, 5))}, is_ship))
    return stream


def test_a_pipeline_learns_to_tell_topics() -> None:
    model = WordVectors("text", **SMALL) | preprocessing.StandardScaler() | linear_model.LogisticRegression()
    accuracy = evaluate.progressive_val_score(topics(500), model, metrics.Accuracy())
    assert accuracy.get() > 0.9
    assert len(model["WordVectors"].trainer.embeddings()) == 12


def test_learning_while_predicting_learns_each_text_once() -> None:
    model = WordVectors("text", **SMALL) | linear_model.LogisticRegression()
    with compose.learn_during_predict():
        for x, y in topics(20):
            model.predict_one(x)
            model.learn_one(x, y)
    assert model["WordVectors"].trainer.stats().words == 5 * 20


def test_a_union_with_a_bag_of_words() -> None:
    union = WordVectors("text", **SMALL) + fx.BagOfWords("text")
    union.learn_one({"text": "the cat sleeps"})
    found = union.transform_one({"text": "the cat"})
    assert {"text_0", "text_5", "cat"} <= set(found)


def test_joined_vectors_are_twice_as_many_features() -> None:
    vectors = WordVectors("text", vectors="joined", **SMALL)
    vectors.learn_one({"text": "the cat sleeps"})
    found = vectors.transform_one({"text": "the cat"})
    assert len(found) == 2 * vectors.trainer.dimensions and any(found.values())


def test_clones_have_the_settings_and_nothing_learned() -> None:
    vectors = WordVectors("text", vectors="target", window=3, **SMALL)
    vectors.learn_one({"text": "the cat sleeps"})
    clone = vectors.clone()
    assert (clone.on, clone.vectors, clone.settings) == ("text", "target", {"window": 3, **SMALL})
    assert clone.trainer.stats().words == 0
    assert vectors.clone({"window": 4}).trainer.window == 4
    assert "window" in repr(vectors)


def test_pickles_and_copies_go_on_alike() -> None:
    vectors = WordVectors(**SMALL)
    vectors.learn_many(TEXTS)
    others = [pickle.loads(pickle.dumps(vectors)), copy.deepcopy(vectors)]
    for model in [vectors, *others]:
        model.learn_one("the cat barks")
    for other in others:
        assert other.transform_one("the cat") == vectors.transform_one("the cat")


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="name the text field"):
        WordVectors(**SMALL).learn_one({"text": "the cat"})
    with pytest.raises(TypeError, match="on is 'text', so x must be a mapping"):
        WordVectors("text", **SMALL).learn_one("the cat")
    with pytest.raises(TypeError, match="name the text field"):
        WordVectors(**SMALL).learn_many([{"text": "the cat"}])
    with pytest.raises(TypeError, match="name the text column"):
        WordVectors(**SMALL).transform_many(pd.DataFrame({"text": ["the cat"]}))
    with pytest.raises(TypeError, match="X must be a table, or a list of mappings"):
        WordVectors("text", **SMALL).learn_many(pd.Series(TEXTS))
    with pytest.raises(TypeError):
        WordVectors(**SMALL).learn_many("the cat")
    with pytest.raises(KeyError):
        WordVectors("text", **SMALL).transform_one({"title": "the cat"})
    with pytest.raises(ValueError, match="window is 0"):
        WordVectors(window=0)
    with pytest.raises(TypeError):
        WordVectors(wrong=1)


@pytest.mark.parametrize(
    "check", list(checks.yield_checks(WordVectors(**SMALL))), ids=lambda check: check.__name__
)
def test_what_river_checks(check: Any) -> None:
    check(WordVectors(**SMALL))


# River's checks with data give numbers to what does not take text, and nothing to what does. Here they get text.
DATA_CHECKS = [
    "check_learn_one",
    "check_pickling",
    "check_shuffle_features_no_impact",
    "check_predict_one_pure",
    "check_predict_one_before_any_learn",
    "check_no_state_aliasing_with_input",
    "check_clone_is_independent",
    "check_transform_one",
    "check_transform_many_matches_transform_one",
    "check_bounded_memory_growth",
]


@pytest.mark.parametrize("name", DATA_CHECKS)
def test_what_river_checks_with_data(name: str) -> None:
    if not hasattr(checks.common, "check_predict_one_pure"):
        pytest.skip("this version of river checks only what predicts with data")
    check = getattr(checks.common, name)
    check(WordVectors("text", **SMALL), topics(60))
