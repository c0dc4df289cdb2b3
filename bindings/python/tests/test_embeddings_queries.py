"""Neighbors, similarities and analogies."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest
import skipstream
from skipstream import Embeddings

WORDS = ["man", "woman", "king", "queen", "apple", "prince", "nothing"]
VECTORS = np.array(
    [[1, 0.1, 0], [1, 0.1, 1], [1, 0.8, 0.1], [1, 0.8, 1], [-1, 0, 0.3], [0.9, 0.6, -0.4], [0, 0, 0]],
    dtype=np.float32,
)


@pytest.fixture
def wv() -> Embeddings:
    return Embeddings.from_arrays(WORDS, VECTORS)


def words(found: list[tuple[str, float]]) -> list[str]:
    return [word for word, _ in found]


def random_embeddings(n_words: int, dimensions: int) -> Embeddings:
    random = np.random.default_rng(7)
    return Embeddings.from_arrays(map(str, range(n_words)), random.normal(size=(n_words, dimensions)))


def test_neighbors_of_one_word(wv: Embeddings) -> None:
    found = wv.neighbors("king", n=2)
    assert words(found) == ["prince", "man"] and isinstance(found[0][1], float)
    assert wv.neighbors(2, n=2) == found
    assert len(wv.neighbors("king", n=10**30)) == 6 and wv.neighbors("king", n=0) == []


def test_neighbors_of_many_words_are_those_of_each() -> None:
    wv = random_embeddings(300, 20)
    asked = [str(number * 11 % 300) for number in range(50)]
    found = wv.neighbors(asked, n=7)
    assert found.words.shape == found.similarities.shape == (50, 7)
    assert found.words.dtype == object and found.similarities.dtype == np.float32
    for word, row, similarities in zip(asked, found.words, found.similarities):
        alone = wv.neighbors(word, n=7)
        assert words(alone) == row.tolist()
        np.testing.assert_array_equal([similarity for _, similarity in alone], similarities)


def test_questions_that_are_asked_in_pieces_have_the_same_answers() -> None:
    wv = random_embeddings(30, 5)
    expected = np.resize(wv.neighbors(list(wv), n=2).words, (2500, 2))
    asked = np.resize(list(wv), 2500).tolist()
    np.testing.assert_array_equal(wv.neighbors(asked, n=2).words, expected)
    by_vector = wv.similar_by_vector(wv[asked], topn=3).words
    np.testing.assert_array_equal(by_vector[:, 0], asked)
    np.testing.assert_array_equal(by_vector[:, 1:], expected)


def test_many_words_have_no_more_columns_than_others(wv: Embeddings) -> None:
    assert wv.neighbors(["man", "king"], n=99).words.shape == (2, 6)
    assert wv.neighbors(["man"], n=0).words.shape == (1, 0)
    assert wv.neighbors([], n=3).words.shape == (0, 3)
    assert wv.top(1).neighbors(["man"], n=3).similarities.shape == (1, 0)
    with pytest.raises(KeyError, match=r"'kin' is not in the vocabulary; did you mean 'king'\?"):
        wv.neighbors(["man", "kin"])


def test_most_similar_takes_words_weights_and_vectors(wv: Embeddings) -> None:
    expected = wv.most_similar(["king", "woman"], ["man"])
    assert words(expected)[:2] == ["queen", "prince"] and len(expected) == 4
    assert wv.most_similar([("king", 1.0), ("woman", 1)], [("man", -1.0)]) == expected
    assert wv.most_similar((2, np.int64(1)), 0) == expected
    units = wv.get_normed_vectors()
    by_vectors = wv.most_similar([units[2], (units[1], 1)], [units[0]], topn=7)
    assert words(by_vectors)[0] == "queen" and {"king", "woman", "man"} <= set(words(by_vectors))
    assert words(wv.most_similar(["king", units[1]], ["man"]))[0] == "queen"
    assert set(words(wv.most_similar(units[2:4], topn=2))) == {"queen", "king"}
    assert words(wv.most_similar(negative="man", topn=1)) == ["apple"]
    heavier = wv.most_similar([("king", 1), ("woman", 0.01)], topn=1)
    assert words(heavier) == ["prince"]


def test_some_rows_are_searched(wv: Embeddings) -> None:
    everything = wv.most_similar("king", topn=None)
    assert everything.shape == (7,) and everything.dtype == np.float32
    np.testing.assert_allclose(everything, wv.cosine_similarities(wv["king"], wv.vectors), atol=1e-6)
    np.testing.assert_array_equal(
        wv.most_similar("king", topn=None, clip_start=2, clip_end=4), everything[2:4]
    )
    np.testing.assert_array_equal(wv.most_similar("king", topn=None, restrict_vocab=3), everything[:3])
    assert words(wv.most_similar("king", clip_start=3, clip_end=5)) == ["queen", "apple"]
    assert words(wv.most_similar("king", clip_start=99)) == []
    assert words(wv.similar_by_word("king", restrict_vocab=2)) == ["man", "woman"]


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({}, ValueError, "positive and negative are empty"),
        ({"positive": []}, ValueError, "positive and negative are empty"),
        ({"positive": "kin"}, KeyError, "did you mean 'king'"),
        ({"positive": ["king", 1.5]}, TypeError, r"positive\[1\] is of the type float"),
        (
            {"positive": [("king", "much")]},
            TypeError,
            r"positive\[0\]\[1\] is of the type str; it must be a number",
        ),
        ({"negative": [None]}, TypeError, r"negative\[0\] is None"),
        ({"positive": [("king", float("inf"))]}, ValueError, "weight is inf; it must be a finite number"),
        ({"positive": [("king", 10**400)]}, ValueError, "must be a finite number"),
        (
            {"positive": np.ones(4)},
            ValueError,
            "the query vector has 4 values; the embeddings have 3 dimensions",
        ),
        ({"positive": np.array([1, np.nan, 0])}, ValueError, "value 2 of the query vector is NaN"),
        ({"positive": np.ones((1, 1, 3))}, ValueError, "has 3 array dimensions"),
        ({"positive": b"king"}, TypeError, "positive is of the type bytes"),
        ({"positive": 5.0}, TypeError, "positive is of the type float"),
        ({"positive": "king", "topn": 2.0}, TypeError, "topn is of the type float; it must be an int"),
        ({"positive": "king", "clip_start": -1}, ValueError, "clip_start is -1; it must be at least 0"),
        ({"positive": "king", "indexer": object()}, ValueError, "indexer must be None"),
    ],
)
def test_questions_that_make_no_sense_are_refused(wv: Embeddings, arguments, kind, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(kind, match=message):
        wv.most_similar(**arguments)


def test_products_of_cosines(wv: Embeddings) -> None:
    units = wv.get_normed_vectors().astype(np.float64)
    shifted = (1 + units @ units.T) / 2
    expected = shifted[2] * shifted[1] / (shifted[0] + 1e-6)
    scores = wv.most_similar_cosmul(["king", "woman"], ["man"], topn=None)
    np.testing.assert_allclose(scores, expected, rtol=1e-5)
    assert len(wv.most_similar_cosmul(["king", "woman"], ["man"], topn=None, restrict_vocab=4)) == 4
    found = wv.most_similar_cosmul(["king", units[1]], "man", topn=9, restrict_vocab=5)
    assert set(words(found)) == {"woman", "queen", "apple"}, "a vector is no word to be left out"
    levy = wv.most_similar_cosmul(["king", "woman"], ["man"], topn=3, epsilon=0.001)
    for (word, score), (other, same) in zip(levy, wv.analogy("man", "king", "woman", n=3, rule="multiply")):
        assert word == other and score == pytest.approx(same, rel=1e-4)
    for arguments, message in [
        ({}, "positive is empty"),
        ({"negative": "king"}, "positive is empty"),
        ({"positive": [("king", 2.0)]}, "no weights"),
        ({"positive": "king", "epsilon": 0}, "epsilon is 0; it must be from"),
        ({"positive": "king", "epsilon": float("nan")}, "epsilon is NaN"),
    ]:
        with pytest.raises(ValueError, match=message):
            wv.most_similar_cosmul(**arguments)  # type: ignore[arg-type]


def test_analogies(wv: Embeddings) -> None:
    assert wv.analogy("man", "king", "woman", n=1)[0][0] == "queen"
    with pytest.raises(ValueError, match="rule is 'divide'; it must be 'add' or 'multiply'"):
        wv.analogy("man", "king", "woman", rule="divide")
    with pytest.raises(KeyError):
        wv.analogy("man", "king", "women")


def test_neighbors_of_vectors(wv: Embeddings) -> None:
    one = wv.similar_by_vector([1, 0.8, 0.1], topn=2)
    assert words(one) == ["king", "prince"]
    many = wv.similar_by_vector(wv.vectors[2:5], topn=2)
    assert many.words[:, 0].tolist() == ["king", "queen", "apple"]
    assert many.words[0].tolist() == ["king", "prince"]
    assert wv.similar_by_vector(np.zeros((0, 3))).words.shape == (0, 7)
    assert wv.similar_by_vector(wv.vectors[:2], restrict_vocab=3).words.shape == (2, 3)
    everything = wv.similar_by_vector(wv.vectors[:2], topn=None)
    np.testing.assert_array_equal(everything[0], wv.most_similar([wv.vectors[0]], topn=None))
    with pytest.raises(ValueError, match="the vectors have 2 values; the embeddings have 3 dimensions"):
        wv.similar_by_vector(np.ones((4, 2)))


def test_similarities(wv: Embeddings) -> None:
    pairs = wv.similarity(["man", "king", "apple"], ["woman", "queen", "apple"])
    assert pairs.tolist() == [wv.similarity("man", "woman"), wv.similarity("king", "queen"), 1.0]
    assert (
        wv.similarity("man", ["woman", "king"]).tolist() == wv.similarity(["woman", "king"], "man").tolist()
    )
    assert wv.similarity("nothing", "nothing") == 0 and wv.distance("man", "man") == 0
    assert wv.distance(["man"], ["man"]).tolist() == [0]
    assert wv.similarity([], []).shape == (0,)
    with pytest.raises(ValueError, match="w1 has 1 words and w2 2"):
        wv.similarity(["man"], ["man", "woman"])
    np.testing.assert_allclose(wv.distances("king"), 1 - wv.most_similar("king", topn=None), atol=1e-6)
    np.testing.assert_allclose(
        wv.distances("king", ["queen", "man"]), wv.distances("king")[[3, 0]], atol=1e-6
    )
    np.testing.assert_allclose(
        wv.distances(wv["king"], iter(["queen"])), wv.distances("king")[[3]], atol=1e-6
    )


def test_means_of_two_lists(wv: Embeddings) -> None:
    first, second = VECTORS[[0, 2]].mean(axis=0), VECTORS[[1, 3]].mean(axis=0)
    expected = float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))
    assert wv.n_similarity(["man", "king"], ["woman", "queen", "absent"]) == pytest.approx(expected, abs=1e-6)
    assert wv.n_similarity(["absent"], ["man"]) == 0
    with pytest.raises(ZeroDivisionError):
        wv.n_similarity([], ["man"])


def test_ranks(wv: Embeddings) -> None:
    nearest = words(wv.neighbors("king", n=6))
    for place, word in enumerate(nearest[:5]):
        assert wv.rank("king", word) == place + 1
        assert set(wv.closer_than("king", word)) == set(nearest[:place])
    assert wv.rank("king", "king") == 1 and wv.closer_than("king", "king") == []
    assert wv.most_similar_to_given("king", ["apple", "prince", "man"]) == "prince"
    total = sum(similarity for _, similarity in wv.neighbors("king", n=3))
    expected = wv.similarity("king", "man") / total
    assert wv.relative_cosine_similarity("king", "man", topn=3) == pytest.approx(expected)
    with pytest.raises(ValueError, match="topn is 0"):
        wv.relative_cosine_similarity("king", "man", topn=0)
    with pytest.raises(ValueError, match="keys_list is empty"):
        wv.most_similar_to_given("king", [])


def test_the_odd_one(wv: Embeddings) -> None:
    assert wv.doesnt_match(["king", "apple", "queen", "prince"]) == "apple"
    with pytest.warns(UserWarning, match="not in the vocabulary: \\['absent'\\]"):
        assert wv.doesnt_match(["king", "apple", "queen", "absent"]) == "apple"
    ranked = wv.rank_by_centrality(["king", "apple", "queen"])
    assert [word for _, word in ranked][-1] == "apple" and ranked == sorted(ranked, reverse=True)
    with pytest.raises(ValueError, match="at least 3"):
        wv.doesnt_match(["king", "queen"])
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="no known word"):
        wv.doesnt_match(["absent"])
    with pytest.raises(TypeError, match="words is of the type str"):
        wv.doesnt_match("king apple queen")


def test_a_query_lets_other_threads_run() -> None:
    wv = random_embeddings(20_000, 100)
    asked = wv.index_to_key[:1_000]
    started, finished = threading.Event(), threading.Event()

    def query() -> None:
        started.set()
        wv.neighbors(asked)
        finished.set()

    # No thread is made to give way: this one runs before the other has finished only if that lets go by itself.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1_000)
    try:
        thread = threading.Thread(target=query)
        thread.start()
        started.wait()
        was_finished = finished.is_set()
    finally:
        sys.setswitchinterval(interval)
    thread.join()
    assert not was_finished


def test_threads_query_while_one_trains() -> None:
    trainer = skipstream.Trainer(dimensions=20, subsample=0, threads=1)
    text = [["tea", "with", "milk"], ["coffee", "with", "sugar"]] * 2_000
    trainer.train(text)
    wv = trainer.embeddings()
    expected, stop = wv.neighbors(list(wv), n=3), threading.Event()
    answers: list[int] = [0, 0]
    wrong: list[object] = []

    def query(place: int) -> None:
        while not stop.is_set():
            found = wv.neighbors(list(wv), n=3)
            same = (found.words == expected.words).all() and (
                found.similarities == expected.similarities
            ).all()
            answers[place] += 1
            if not same or wv.most_similar("tea", topn=1)[0][0] != expected.words[wv.get_index("tea")][0]:
                wrong.append(found)

    threads = [threading.Thread(target=query, args=(place,)) for place in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        trainer.train(text)
        trainer.embeddings()
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong and min(answers) > 0
