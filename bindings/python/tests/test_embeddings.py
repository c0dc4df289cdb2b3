"""Words, rows, counts and vectors."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from pathlib import Path

import numpy as np
import pytest
import skipstream
from skipstream import Embeddings, UnknownWord

WORDS = ["tea", "coffee", "stone", "rock", "nothing"]
VECTORS = np.array([[1, 0.1], [1, 0.3], [0.1, 1], [0.2, 2], [0, 0]], dtype=np.float32)


@pytest.fixture
def wv() -> Embeddings:
    return Embeddings.from_arrays(WORDS, VECTORS, counts=[50, 40, 30, 20, 10])


def test_words_have_vectors_rows_and_counts(wv: Embeddings) -> None:
    assert len(wv) == 5 and wv.vector_size == 2 and wv.has_counts
    assert wv.index_to_key == WORDS and list(wv) == WORDS
    assert wv.key_to_index == {word: row for row, word in enumerate(WORDS)}
    assert wv.counts.tolist() == [50, 40, 30, 20, 10] and wv.counts.dtype == np.int64
    np.testing.assert_array_equal(wv.vectors, VECTORS)
    np.testing.assert_array_equal(wv["rock"], VECTORS[3])
    np.testing.assert_array_equal(wv[3], VECTORS[3])
    np.testing.assert_array_equal(wv[np.int16(3)], VECTORS[3])
    np.testing.assert_array_equal(wv[["rock", 0]], VECTORS[[3, 0]])
    np.testing.assert_array_equal(wv[np.array(["rock", "tea"])], VECTORS[[3, 0]])
    assert wv[[]].shape == (0, 2)
    assert wv.get_vecattr("coffee", "count") == 40
    assert wv.index_to_key is wv.index_to_key and wv.key_to_index is wv.key_to_index


def test_rows_are_sorted_by_counts_and_keep_their_order_without() -> None:
    sorted_ = Embeddings.from_arrays(["a", "b", "c"], [[1], [2], [3]], counts=[1, 9, 5])
    assert sorted_.index_to_key == ["b", "c", "a"] and sorted_.vectors.ravel().tolist() == [2, 3, 1]
    kept = Embeddings.from_arrays(iter(["z", "a"]), [[1.0], [2.0]])
    assert kept.index_to_key == ["z", "a"] and not kept.has_counts and kept.counts.tolist() == [2, 1]


def test_any_array_of_numbers_is_taken() -> None:
    for vectors in (
        VECTORS.astype(np.float64),
        VECTORS.astype(">f4"),
        np.asfortranarray(VECTORS),
        VECTORS.tolist(),
    ):
        np.testing.assert_array_equal(Embeddings.from_arrays(WORDS, vectors).vectors, VECTORS)
    every_second = np.repeat(VECTORS, 2, axis=0)[::2]
    np.testing.assert_array_equal(Embeddings.from_arrays(WORDS, every_second).vectors, VECTORS)
    assert Embeddings.from_arrays(["a"], [[2]]).vectors.tolist() == [[2.0]]
    assert Embeddings.from_arrays([], np.zeros((0, 7))).vector_size == 7


@pytest.mark.parametrize(
    ("words", "vectors", "counts", "kind", "message"),
    [
        (["a", "a"], [[1], [2]], None, ValueError, "`a` occurs twice, as words 1 and 2"),
        (["a"], [[np.nan]], None, ValueError, "value 1 of `a` .* is NaN; it must be finite"),
        (["a"], [[1e300]], None, ValueError, "must be finite"),
        (["a"], [[1], [2]], None, ValueError, "there are 1 words and 2 vectors"),
        (["a"], [[1]], [1, 2], ValueError, "there are 1 words and 2 counts"),
        (["a"], [[1]], [-1], ValueError, "a count is -1; it must be at least 0"),
        (["a"], [[1]], [2**63], ValueError, "it must be at most"),
        (["a"], [[1]], [1.5], TypeError, "a count is of the type float"),
        (["a"], [1], None, ValueError, "vectors has 1 array dimensions; it must have 2"),
        (["a"], [["x"]], None, TypeError, "must be real numbers"),
        (["a"], [[1j]], None, TypeError, "must be real numbers"),
        (["a"], [[]], None, ValueError, "at least 1"),
        ([7], [[1]], None, TypeError, r"words\[0\] is int; it must be str"),
        (["\ud800"], [[1]], None, UnicodeEncodeError, "surrogates"),
        ("a", [[1]], None, TypeError, "words is of the type str"),
        (None, [[1]], None, TypeError, "words is None"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(words, vectors, counts, kind, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(kind, match=message):
        Embeddings.from_arrays(words, vectors, counts)


def test_in_and_index(wv: Embeddings) -> None:
    assert "tea" in wv and 4 in wv and wv.has_index_for("tea")
    for absent in ("cocoa", 5, -1, 10**30, None, ["tea"], b"tea", "\ud800", True, 1.0, object()):
        assert absent not in wv
    assert wv.get_index("rock") == 3 and wv.get_index(2) == 2
    assert wv.get_index("cocoa", -1) == -1 and wv.get_index("tea", -1) == 0
    with pytest.raises(KeyError):
        wv.get_index("cocoa")
    with pytest.raises(TypeError, match=r"a key is a word \(str\) or a row \(int\), not NoneType"):
        wv.get_index(None)  # type: ignore[arg-type]


def test_an_unknown_word_is_a_key_error_with_suggestions(wv: Embeddings) -> None:
    with pytest.raises(KeyError) as caught:
        wv["coffe"]
    error = caught.value
    assert isinstance(error, UnknownWord) and error.word == "coffe" and error.args == ("coffe",)
    assert error.suggestions == ("coffee",)
    assert str(error) == "'coffe' is not in the vocabulary; did you mean 'coffee'?"
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, UnknownWord) and str(again) == str(error)
    unknown: list[tuple[str | int, str]] = [
        ("zzzzzz", "'zzzzzz' is not in the vocabulary"),
        (7, "there is no row 7"),
    ]
    for key, message in unknown:
        with pytest.raises(UnknownWord) as caught:
            wv[key]
        assert str(caught.value) == message
    with pytest.raises(UnknownWord, match="is not in the vocabulary"):
        wv["\ud800"]


def test_suggestions(wv: Embeddings) -> None:
    assert wv.suggestions("Rcok") == ["rock"] and wv.suggestions("rok", n=0) == []
    assert wv.suggestions("\udfff") == []


def test_vectors_cannot_be_written(wv: Embeddings, tmp_path: Path) -> None:
    wv.save(tmp_path / "v.safetensors")
    for embeddings in (wv, skipstream.load(tmp_path / "v.safetensors")):
        for array in (embeddings.vectors, embeddings["tea"], embeddings.vectors[1:], embeddings.counts):
            assert not array.flags.writeable
            with pytest.raises(ValueError):
                array[0] = 1
        with pytest.raises(ValueError):
            embeddings.vectors.setflags(write=True)
        with pytest.raises(AttributeError):
            embeddings.vectors = VECTORS  # type: ignore[misc]


def test_the_view_copies_nothing_and_outlives_the_embeddings(wv: Embeddings, tmp_path: Path) -> None:
    assert wv.vectors is wv.vectors
    assert np.shares_memory(wv.vectors, wv.top(2).vectors)
    wv.save(tmp_path / "v.safetensors")
    opened = skipstream.load(tmp_path / "v.safetensors")
    view, gone = opened.vectors, weakref.ref(opened)
    del opened
    gc.collect()
    assert gone() is None
    (tmp_path / "v.safetensors").unlink()
    np.testing.assert_array_equal(view, VECTORS)


def test_lengths(wv: Embeddings) -> None:
    units = wv.get_normed_vectors()
    np.testing.assert_allclose(np.linalg.norm(units, axis=1), [1, 1, 1, 1, 0], atol=1e-6)
    np.testing.assert_array_equal(wv.get_vector("rock", norm=True), units[3])
    np.testing.assert_allclose(wv.normalized().vectors, units, atol=1e-6)
    assert wv.normalized().counts.tolist() == wv.counts.tolist()


def test_a_mean_takes_weights_vectors_and_lengths(wv: Embeddings) -> None:
    units = wv.get_normed_vectors().astype(np.float64)
    np.testing.assert_allclose(wv.get_mean_vector(["tea", "rock"]), (units[0] + units[3]) / 2, atol=1e-6)
    np.testing.assert_allclose(
        wv.get_mean_vector(["tea", "rock", "absent"], [1, -3, 7]), (units[0] - 3 * units[3]) / 4, atol=1e-6
    )
    np.testing.assert_allclose(
        wv.get_mean_vector(["tea", "rock"], pre_normalize=False), (VECTORS[0] + VECTORS[3]) / 2, atol=1e-6
    )
    np.testing.assert_allclose(wv.get_mean_vector([np.array([3, 4]), "nothing"]), [1.5, 2])
    np.testing.assert_allclose(
        wv.get_mean_vector(np.array([[3, 4], [3, 4]]), post_normalize=True), [0.6, 0.8]
    )
    assert wv.get_mean_vector(["absent"], post_normalize=True).tolist() == [0, 0]
    with pytest.raises(KeyError):
        wv.get_mean_vector(["tea", "absent"], ignore_missing=False)
    with pytest.raises(ValueError, match="keys is empty"):
        wv.get_mean_vector([])
    with pytest.raises(ValueError, match="2 keys and 1 weights"):
        wv.get_mean_vector(["tea", "rock"], [1])
    with pytest.raises(ValueError, match="weight is NaN; it must be a finite number"):
        wv.get_mean_vector(["tea"], [float("nan")])


def test_fewer_words(wv: Embeddings) -> None:
    assert wv.top(2).index_to_key == ["tea", "coffee"] and "rock" not in wv.top(2)
    assert wv.top(10**30).index_to_key == WORDS
    assert wv.with_min_count(25).index_to_key == ["tea", "coffee", "stone"]
    assert len(wv.with_min_count(10**30)) == 0
    some = wv.vectors_for_all(["rock", "absent", "tea", "rock"])
    assert some.index_to_key == ["rock", "tea"] and not some.has_counts
    some = wv.vectors_for_all(["rock", "absent", "tea"], copy_vecattrs=True)
    assert some.index_to_key == ["tea", "rock"] and some.counts.tolist() == [50, 20]
    with pytest.raises(ValueError, match="n is -1; it must be at least 0"):
        wv.top(-1)


def test_nothing_can_be_changed_and_the_error_says_what_to_do(wv: Embeddings) -> None:
    with pytest.raises(
        TypeError, match=r"embeddings are immutable; create new ones with Embeddings\.from_arrays"
    ):
        wv["tea"] = VECTORS[0]
    with pytest.raises(TypeError, match="are immutable"):
        del wv["tea"]
    for name, message in [
        ("add_vector", "from_arrays"),
        ("index2word", "use index_to_key"),
        ("vocab", "key_to_index"),
        ("wmdistance", "to_gensim"),
    ]:
        assert not hasattr(wv, name)
        with pytest.raises(AttributeError, match=message):
            getattr(wv, name)
    with pytest.raises(AttributeError):
        wv.anything = 1  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="attr is 'sample_int'; it must be 'count'"):
        wv.get_vecattr("tea", "sample_int")
    with pytest.raises(TypeError, match=r"create embeddings with skipstream\.load"):
        Embeddings(VECTORS)  # type: ignore[arg-type]


def test_copies_share_and_pickles_are_whole(wv: Embeddings, tmp_path: Path) -> None:
    assert copy.copy(wv) is wv and copy.deepcopy(wv) is wv
    wv.save(tmp_path / "v.safetensors")
    uncounted = Embeddings.from_arrays(WORDS, VECTORS)
    for embeddings in (wv, uncounted, wv.top(2), skipstream.load(tmp_path / "v.safetensors"), wv.top(0)):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            again = pickle.loads(pickle.dumps(embeddings, protocol))
            assert again.index_to_key == embeddings.index_to_key
            assert again.counts.tolist() == embeddings.counts.tolist()
            assert again.has_counts == embeddings.has_counts
            np.testing.assert_array_equal(again.vectors, embeddings.vectors)


def test_how_they_are_shown(wv: Embeddings, tmp_path: Path) -> None:
    assert repr(wv) == "<skipstream.Embeddings: 5 words of 2 dimensions>"
    many = Embeddings.from_arrays(map(str, range(1234)), np.ones((1234, 1)))
    assert repr(many) == "<skipstream.Embeddings: 1,234 words of 1 dimension>"
    wv.save(tmp_path / "news.safetensors")
    mapped = skipstream.load(tmp_path / "news.safetensors")
    assert (
        repr(mapped.top(1)) == "<skipstream.Embeddings: 1 word of 2 dimensions, mapped from news.safetensors>"
    )
    wv.save_word2vec_format(tmp_path / "news.txt")
    assert repr(skipstream.load(str(tmp_path / "news.txt"))).endswith(", read from news.txt>")


def test_vectors_of_texts_are_those_of_the_trainer(tmp_path: Path) -> None:
    trainer = skipstream.Trainer(dimensions=8, subsample=0, threads=1)
    trainer.add_phrases("new york")
    trainer.merge("colour", into="color")
    trainer.train(["new york has a color", "a new colour has york"] * 50)
    trainer.pin("unheard")
    wv = trainer.embeddings()
    wv.save(tmp_path / "vectors")
    trainer.save(tmp_path / "model")
    texts = ["New York", "a colour", ["new", "york"], "unheard", "nothing known"]
    places = [
        wv,
        skipstream.load(tmp_path / "vectors"),
        skipstream.load(tmp_path / "model"),
        pickle.loads(pickle.dumps(wv)),
    ]
    for weighting in ("none", "idf", "sif"):
        raw = trainer.mean_vectors(texts, weighting=weighting)
        unit = trainer.mean_vectors(texts, weighting=weighting, normalize=True)
        assert np.isfinite(raw).all() and not raw[4].any() and not unit[4].any()
        np.testing.assert_allclose(np.linalg.norm(unit[:4], axis=1), 1, atol=1e-6)
        np.testing.assert_array_equal(raw[0], wv["new_york"])
        np.testing.assert_array_equal(raw[1], trainer.mean_vectors(["a color"], weighting=weighting)[0])
        for place in places:
            np.testing.assert_array_equal(place.mean_vectors(texts, weighting), raw)
            np.testing.assert_array_equal(place.mean_vectors(texts, weighting, normalize=True), unit)


def test_vectors_of_texts_without_counts_and_with_estimates(wv: Embeddings) -> None:
    uncounted = Embeddings.from_arrays(WORDS, VECTORS)
    np.testing.assert_allclose(uncounted.mean_vectors(["Tea rock"]), [(VECTORS[0] + VECTORS[3]) / 2])
    with pytest.raises(ValueError, match="no counts"):
        uncounted.mean_vectors(["tea"], "sif")
    with pytest.raises(ValueError, match='weighting is "mean"; it must be none, idf or sif'):
        wv.mean_vectors(["tea"], "mean")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        wv.mean_vectors("tea")
    assert not wv.mean_vectors(["rocky"]).any()
    assert wv.with_subwords().mean_vectors(["rocky"]).any()
