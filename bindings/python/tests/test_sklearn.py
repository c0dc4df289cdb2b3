"""Word vectors as an estimator of scikit-learn."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import skipstream

pytest.importorskip("sklearn")

import pandas as pd
from skipstream.sklearn import WordVectors
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.validation import check_is_fitted

TEXTS = [
    "the cat sleeps in the house",
    "the ship sails on the sea",
    "a dog barks",
    "a boat on the water",
] * 50
LABELS = ["animal", "ship", "animal", "ship"] * 50


def small(**settings: Any) -> WordVectors:
    return WordVectors(**{"dimensions": 8, "subsample": 0, "threads": 1, "max_vocabulary": 1000, **settings})


def test_fit_starts_anew_and_partial_fit_goes_on() -> None:
    trainer = small().fit(["one two three"] * 10)
    trainer.fit(["four five six"] * 10)
    assert "one" not in trainer.embeddings()
    assert trainer.partial_fit(["seven eight"]) is trainer
    assert "four" in trainer.embeddings()
    assert "seven" in trainer.embeddings()


def test_fit_leaves_nothing_to_replay_and_is_what_train_and_finish_give() -> None:
    fitted = small().fit(TEXTS)
    assert fitted.stats().waiting == 0
    trained = small()
    trained.train(TEXTS)
    trained.finish()
    np.testing.assert_array_equal(fitted.embeddings().vectors, trained.embeddings().vectors)


def test_fit_in_passes_starts_anew_each_time() -> None:
    trainer = small(strategy="batch", passes=2).fit(TEXTS)
    first = trainer.transform(TEXTS)
    np.testing.assert_array_equal(trainer.fit(TEXTS).transform(TEXTS), first)
    with pytest.raises(ValueError, match="batch"):
        trainer.partial_fit(TEXTS)


def test_transform_gives_the_mean_of_the_known_words() -> None:
    trainer = small().fit(TEXTS)
    wv = trainer.embeddings()
    found = trainer.transform(["cat unheard dog", "unheard", ""])
    assert found.shape == (3, 8)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[0], (wv["cat"] + wv["dog"]) / 2, rtol=1e-5, atol=1e-6)
    assert not found[1:].any()


def test_weightings_give_rare_words_more_weight() -> None:
    trainer = small().fit(TEXTS)
    wv, total = trainer.embeddings(), trainer.stats().words
    shares = {word: wv.get_vecattr(word, "count") / total for word in ("the", "cat")}
    for weighting, weight in [
        ("idf", lambda share: np.log(1 + 1 / share)),
        ("sif", lambda share: 1e-3 / (1e-3 + share)),
    ]:
        the, cat = weight(shares["the"]), weight(shares["cat"])
        expected = (the * wv["the"] + cat * wv["cat"]) / (the + cat)
        found = trainer.mean_vectors(["the cat"], weighting=weighting)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match='weighting is "tfidf"; it must be none, idf or sif'):
        small(weighting="tfidf").fit(TEXTS).transform(TEXTS)


def test_with_subwords_unknown_words_are_estimated() -> None:
    vectors = small(subwords=True).fit(TEXTS)
    wv = vectors.embeddings().with_subwords()
    documents = ["catlike", "the catlike"]
    found = vectors.transform(documents)
    expected = [wv["catlike"], (wv["the"] + wv["catlike"]) / 2]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    assert not small().fit(TEXTS).transform(documents)[0].any()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(vectors)).transform(documents), found)
    assert clone(vectors).subwords
    more = vectors.partial_fit(["a catlike ship"] * 20)
    wv = more.embeddings().with_subwords()
    np.testing.assert_allclose(more.transform(["shiplike"])[0], wv["shiplike"], rtol=1e-4, atol=1e-6)
    sif = small(subwords=True, weighting="sif").fit(TEXTS)
    assert sif.transform(["catlike"]).any()
    with pytest.raises(ValueError, match="these have 8"):
        vectors.mean_vectors(["a"], subwords=small(dimensions=4).fit(TEXTS).embeddings().with_subwords())
    with pytest.raises(ValueError, match=r"with_subwords\(\) fits them"):
        vectors.mean_vectors(["a"], subwords=vectors.embeddings())


def test_sif_removes_what_all_documents_have_in_common() -> None:
    vectors = small(weighting="sif").fit(TEXTS)
    plain = vectors.mean_vectors(TEXTS, weighting="sif")
    _, _, directions = np.linalg.svd(plain.astype(np.float64), full_matrices=False)
    found = vectors.transform(TEXTS)
    np.testing.assert_allclose(found @ directions[0], 0, atol=1e-4)
    np.testing.assert_allclose(found, plain - np.outer(plain @ directions[0], directions[0]), atol=1e-4)
    assert found.dtype == np.float32
    same = pickle.loads(pickle.dumps(vectors))
    np.testing.assert_array_equal(same.transform(TEXTS), found)
    np.testing.assert_array_equal(small(weighting="sif").fit_transform(iter(TEXTS)), found)
    assert clone(vectors).weighting == "sif"
    assert vectors.partial_fit(iter(["some more text"] * 20)).transform(["more"]).shape == (1, 8)


def test_all_kinds_of_documents_give_the_same() -> None:
    expected = small().fit(TEXTS).transform(TEXTS)
    kinds: list[Any] = [
        [text.split() for text in TEXTS],
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        pd.Series(TEXTS, index=range(5, 5 + len(TEXTS))),
        tuple(TEXTS),
    ]
    for documents in kinds:
        np.testing.assert_array_equal(small().fit(documents).transform(documents), expected)
        np.testing.assert_array_equal(small().fit_transform(documents), expected)
    np.testing.assert_array_equal(small().fit_transform(text for text in TEXTS), expected)


def test_one_string_is_not_a_list_of_documents() -> None:
    with pytest.raises(TypeError):
        small().fit("the cat sleeps")
    with pytest.raises(TypeError):
        small().fit(TEXTS).transform("the cat sleeps")


def test_transform_before_fit_is_an_error_of_scikit_learn() -> None:
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        small().transform(TEXTS)
    with pytest.raises(NotFittedError):
        check_is_fitted(small())
    check_is_fitted(small().fit(TEXTS))


def test_get_params_are_what_was_given_and_a_clone_has_the_same() -> None:
    given = {"dimensions": np.int64(8), "learning_rate": 0.3, "lowercase": True}
    trainer = small(**given).fit(TEXTS)
    params = trainer.get_params()
    assert all(params[name] is value for name, value in given.items())
    copy = clone(trainer)
    assert copy.get_params() == params
    with pytest.raises(NotFittedError):
        check_is_fitted(copy)


def test_set_params_hold_from_the_next_fit_on() -> None:
    trainer = small().fit(TEXTS)
    assert trainer.set_params(dimensions=5) is trainer
    assert trainer.fit(TEXTS).transform(["cat"]).shape == (1, 5)
    with pytest.raises(ValueError, match="Invalid parameter 'dimension'"):
        trainer.set_params(dimension=5)
    trainer.set_params(window=0)
    with pytest.raises(ValueError, match="window is 0; it must be from 1 to 1000"):
        trainer.fit(TEXTS)


def test_it_is_a_real_estimator_and_a_trainer() -> None:
    assert isinstance(small(), (BaseEstimator, TransformerMixin))
    assert isinstance(small(), skipstream.Trainer)
    assert skipstream.Trainer().dimensions == WordVectors().dimensions


def test_pipeline_learns_to_tell_topics() -> None:
    model = make_pipeline(small(), StandardScaler(), LogisticRegression())
    model.fit(TEXTS, LABELS)
    assert list(model.predict(["the dog sleeps", "a ship on the sea"])) == ["animal", "ship"]
    assert cross_val_score(model, TEXTS, LABELS, cv=3).mean() > 0.95
    assert "wordvectors" in repr(model)
    assert "WordVectors" in model._repr_html_()
    same = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(same.predict_proba(TEXTS), model.predict_proba(TEXTS))


def test_grid_search_tries_settings_in_processes_too() -> None:
    model = Pipeline([("vectors", small()), ("classes", LogisticRegression())])
    search = GridSearchCV(model, {"vectors__dimensions": [2, 6], "vectors__window": [1, 0]}, cv=2, n_jobs=2)
    with pytest.warns(Warning, match="window is 0"):
        search.fit(TEXTS, LABELS)
    assert search.best_params_["vectors__window"] == 1
    assert search.best_score_ > 0.95


def test_union_with_tfidf() -> None:
    union = FeatureUnion([("vectors", small()), ("tfidf", TfidfVectorizer())])
    found = union.fit_transform(TEXTS)
    assert found.shape[1] == 8 + len(union.transformer_list[1][1].vocabulary_)
    assert list(union.get_feature_names_out())[:2] == ["vectors__wordvectors0", "vectors__wordvectors1"]


def test_column_transformer_takes_a_text_column() -> None:
    table = pd.DataFrame(
        {"text": TEXTS, "length": [len(text) for text in TEXTS]}, index=range(7, 7 + len(TEXTS))
    )
    columns = ColumnTransformer([("words", small(), "text"), ("numbers", StandardScaler(), ["length"])])
    assert columns.fit_transform(table).shape == (len(TEXTS), 9)
    columns.set_output(transform="pandas")
    found = columns.fit_transform(table)
    assert list(found.columns[:2]) == ["words__wordvectors0", "words__wordvectors1"]
    assert (found.index == table.index).all()


def test_a_list_of_columns_is_not_text() -> None:
    table = pd.DataFrame({"text": TEXTS, "more": TEXTS})
    columns = ColumnTransformer([("words", small(), ["text", "more"])])
    with pytest.raises((TypeError, ValueError), match="column"):
        columns.fit_transform(table)


def test_tables_where_they_are_asked_for() -> None:
    import polars
    import sklearn

    trainer = small().fit(TEXTS)
    names = [f"wordvectors{number}" for number in range(8)]
    assert trainer.set_output() is trainer
    assert isinstance(trainer.transform(TEXTS), np.ndarray)
    assert list(trainer.set_output(transform="pandas").transform(TEXTS).columns) == names
    found = trainer.set_output(transform="polars").transform(TEXTS)
    assert isinstance(found, polars.DataFrame)
    assert found.columns == names
    assert isinstance(trainer.set_output(transform="default").transform(TEXTS), np.ndarray)
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(small().fit_transform(TEXTS), pd.DataFrame)


def test_a_missing_text_is_no_words() -> None:
    column = pd.Series(["the cat", None, "the ship"], dtype=object)
    found = small().fit(column).transform(column)
    assert found.shape == (3, 8)
    assert found[0].any() and not found[1].any() and found[2].any()
    assert small().fit(column).transform(column[1:]).shape == (2, 8)


def test_scikit_learn_is_not_imported_for_nothing() -> None:
    code = (
        "import sys, skipstream\n"
        "trainer = skipstream.Trainer(dimensions=4)\n"
        "trainer.train(['a b c'])\n"
        "trainer.mean_vectors(['a'])\n"
        "assert 'sklearn' not in sys.modules and 'pandas' not in sys.modules and 'river' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# The checks of scikit-learn that need no table of numbers. `check_estimator` itself runs only the first of them for what
# takes text, and does the same for scikit-learn's own `CountVectorizer`.
#
# One is left out on purpose: `check_do_not_raise_errors_in_init_or_set_params`, because a trainer says at once that a setting
# is wrong, and not hours later. All others fit or transform numbers, or pass weights of samples.
CHECKS = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_unfitted",
    "check_get_feature_names_out_error",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.mark.parametrize("name", CHECKS)
def test_what_scikit_learn_checks(name: str) -> None:
    if not hasattr(estimator_checks, name):
        pytest.skip("this version of scikit-learn has no such check")
    getattr(estimator_checks, name)("WordVectors", small())


@pytest.mark.filterwarnings("ignore:Can't test estimator")
def test_the_official_check_passes() -> None:
    estimator_checks.check_estimator(small())


@pytest.mark.parametrize("documents", [[], [""], [[]], [" ", "\n"]])
def test_documents_without_words_are_refused(documents: Any) -> None:
    with pytest.raises(ValueError, match="the documents have no words"):
        small().fit(documents)


def test_settings_that_were_changed_hold_from_the_next_fit_on() -> None:
    trainer = WordVectors(dimensions=3).fit(["tea with milk"] * 10)
    trainer.set_params(dimensions=7)
    assert trainer._n_features_out == len(trainer.get_feature_names_out()) == 3
    assert trainer.transform(["tea"]).shape == (1, 3)
    assert trainer.fit(["tea with milk"] * 10).transform(["tea"]).shape == (1, 7)


def test_a_model_that_is_being_trained_is_not_thrown_away() -> None:
    trainer = WordVectors(dimensions=3)
    with pytest.raises(RuntimeError):
        trainer.train([["a", "b"]] * 5, callback=lambda _: trainer.fit([["q", "r"]]) and None, interval=0)
    assert "a" in trainer
