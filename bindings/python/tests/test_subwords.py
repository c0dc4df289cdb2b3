"""Vectors of words that are estimated from their spelling."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
import skipstream
from skipstream import Embeddings

WORDS = ["walking", "talking", "walked", "talked", "stone", "stones"]
# Their mean is zero.
VECTORS = np.array(
    [[1, 1, -0.5], [0.4, 1, -0.5], [1, -1, -0.5], [0.4, -1, -0.5], [-1.4, 0.1, 1], [-1.4, -0.1, 1]],
    dtype=np.float32,
)


@pytest.fixture
def plain() -> Embeddings:
    return Embeddings.from_arrays(WORDS, VECTORS, counts=[3000, 2000, 1500, 1200, 1100, 5])


@pytest.fixture
def wv(plain: Embeddings) -> Embeddings:
    return plain.with_subwords(buckets=2000, min_n=3, max_n=5)


def test_an_unknown_word_has_a_vector_in_every_query(wv: Embeddings) -> None:
    vector = wv["stalking"]
    assert vector.shape == (3,) and vector[1] > 0.3
    np.testing.assert_array_equal(wv.get_vector("stalking"), vector)
    np.testing.assert_array_equal(wv[["stalking", "walking"]], [vector, VECTORS[0]])
    assert wv.most_similar("stalking", topn=1)[0][0] == "talking"
    [talking], [stone] = wv.neighbors(["stalking", "stonework"], n=1).words.tolist()
    # The vectors of the two stones are nearly the same.
    assert talking == "talking" and stone in ("stone", "stones")
    cosine = vector @ VECTORS[1] / np.linalg.norm(vector) / np.linalg.norm(VECTORS[1])
    assert wv.similarity("stalking", "talking") == pytest.approx(cosine, abs=1e-6)
    assert wv.doesnt_match(["stalking", "walking", "stone"]) == "stone"
    assert wv.analogy("walking", "walked", "stalking", n=1)[0][0] == "talked"
    assert wv.analogy("stalking - walking + walked", n=1)[0][0] == "talked"
    np.testing.assert_allclose(wv.get_mean_vector(["stalking"], pre_normalize=False), vector, atol=1e-6)
    assert "stone" not in wv.closer_than("stalking", "stone")


def test_a_pickle_estimates_the_same(wv: Embeddings, plain: Embeddings) -> None:
    for copied in (pickle.loads(pickle.dumps(wv)), copy.deepcopy(wv)):
        np.testing.assert_array_equal(copied["stalking"], wv["stalking"])
        assert copied.source("stalking") == "subwords"
    with pytest.raises(KeyError):
        pickle.loads(pickle.dumps(plain))["stalking"]


def test_estimates_are_marked_and_are_not_a_part_of_the_vocabulary(wv: Embeddings, plain: Embeddings) -> None:
    assert [wv.source(word) for word in ("stalking", "stones", "stone", 0)] == [
        "subwords",
        "blend",
        "vocabulary",
        "vocabulary",
    ]
    assert "stalking" not in wv and len(wv) == 6 and list(wv) == WORDS
    assert wv.get_vecattr("stalking", "count") == 0 and wv.get_vecattr("stones", "count") == 5
    np.testing.assert_array_equal(wv.vectors, VECTORS)
    np.testing.assert_array_equal(wv["stone"], VECTORS[4])
    assert plain.source("stones") == "vocabulary"
    with pytest.raises(KeyError):
        plain["stalking"]
    for unknown in ("", "\ud800"):
        with pytest.raises(KeyError):
            wv[unknown]


def test_the_same_vectors_as_the_table_of_floret(wv: Embeddings, tmp_path: Path) -> None:
    wv.save_floret(tmp_path / "table.floret")
    header, *rows = (tmp_path / "table.floret").read_text().splitlines()
    assert header == "2000 3 3 5 1 2166136261 < >" and len(rows) == 2000
    again = wv.with_subwords(buckets=2000, min_n=3, max_n=5)
    np.testing.assert_array_equal(again["stalking"], wv["stalking"])


def test_evaluation_scores_every_pair(wv: Embeddings, plain: Embeddings, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("stalking,talking,9\nstone,stonework,8\nwalked,stone,1\n")
    assert plain.evaluate_word_pairs(path).oov_ratio == pytest.approx(200 / 3)
    result = wv.evaluate_word_pairs(path)
    assert result.oov_ratio == 0 and result.spearman.statistic >= 0.5


def test_all_words_of_a_list_have_vectors_if_they_may_be_inferred(wv: Embeddings) -> None:
    words = ["stalking", "stone", 4, "stalking"]
    assert wv.vectors_for_all(words).index_to_key == ["stalking", "stone"]
    np.testing.assert_array_equal(wv.vectors_for_all(words)["stalking"], wv["stalking"])
    assert wv.vectors_for_all(words, allow_inference=False).index_to_key == ["stone"]


def test_options_out_of_range_are_refused(plain: Embeddings) -> None:
    with pytest.raises(ValueError, match="subword_buckets is 0; it must be from 1 to"):
        plain.with_subwords(buckets=0)
    with pytest.raises(ValueError, match="subword_min is 7"):
        plain.with_subwords(min_n=7)
    with pytest.raises(TypeError, match="buckets"):
        plain.with_subwords(buckets=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="with_subwords"):
        plain.save_floret("table.floret")
    empty = skipstream.Embeddings.from_arrays([], np.zeros((0, 3))).with_subwords(buckets=10)
    assert empty["tea"].tolist() == [0, 0, 0]
