"""What gensim's own tests expect of `KeyedVectors`, and its answers to the same questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skipstream
from skipstream import Embeddings

KeyedVectors = pytest.importorskip("gensim.models").KeyedVectors
datapath = pytest.importorskip("gensim.test.utils").datapath

# Of methods that gensim itself calls.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:Adding single vectors")

EUCLIDEAN = datapath("euclidean_vectors.bin")


@pytest.fixture(scope="module")
def vectors() -> Embeddings:
    return Embeddings.load_word2vec_format(EUCLIDEAN, binary=True)


@pytest.fixture(scope="module")
def theirs() -> Any:
    return KeyedVectors.load_word2vec_format(EUCLIDEAN, binary=True)


def words(found: list[tuple[str, float]]) -> list[str]:
    return [word for word, _ in found]


# The expectations of gensim's test_keyedvectors.py.


def test_the_words_nearest_to_war(vectors: Embeddings) -> None:
    expected = ["conflict", "administration", "terrorism", "call", "israel"]
    assert words(vectors.most_similar("war", topn=5)) == expected
    assert words(vectors.similar_by_word("war", topn=5)) == expected
    assert words(vectors.similar_by_key("war", topn=5)) == expected
    assert words(vectors.neighbors("war", n=5)) == expected


def test_a_vector_has_its_own_word_nearest(vectors: Embeddings) -> None:
    expected = ["war", "conflict", "administration", "terrorism", "call"]
    assert words(vectors.most_similar([vectors["war"]], topn=5)) == expected
    assert words(vectors.similar_by_vector(vectors["war"], topn=5)) == expected
    assert len(vectors.most_similar(positive=vectors.vectors[0:5])) == 10


@pytest.mark.parametrize("method", ["most_similar", "most_similar_cosmul"])
def test_one_word_is_a_list_of_one(vectors: Embeddings, method: str) -> None:
    ask = getattr(vectors, method)
    expected = ask("war", "peace", topn=5)
    assert len(expected) == 5
    assert ask(["war"], ["peace"], topn=5) == expected
    assert ask(positive="war", negative="peace", topn=5) == expected
    assert ask(positive=["war"], negative=["peace"], topn=5) == expected


def test_so_many_answers(vectors: Embeddings) -> None:
    assert len(vectors.most_similar("war", topn=5)) == 5
    assert len(vectors.most_similar("war")) == 10
    assert len(vectors.most_similar("war", topn=None)) == len(vectors)
    assert vectors.most_similar("war", topn=0) == [] and vectors.most_similar("war", topn=np.uint8(0)) == []  # type: ignore[call-overload]
    assert vectors.most_similar("war", topn=-3) == []


def test_an_unknown_word_is_a_key_error(vectors: Embeddings) -> None:
    for ask in (vectors.most_similar, vectors.most_similar_cosmul, vectors.get_vector, vectors.__getitem__):
        with pytest.raises(KeyError):
            ask("not_in_vocab")


def test_the_first_words_alone(vectors: Embeddings) -> None:
    found = vectors.most_similar("war", topn=5, restrict_vocab=5)
    assert set(words(found)) == set(vectors.index_to_key[:5])


def test_distances_and_similarities(vectors: Embeddings) -> None:
    assert vectors.distance("war", "conflict") == pytest.approx(0.06694602, abs=1e-6)
    assert vectors.distance("war", "war") == 0
    assert vectors.similarity("war", "war") == 1
    assert vectors.similarity("war", "conflict") == pytest.approx(0.93305397, abs=1e-6)
    assert vectors.most_similar_to_given("war", ["terrorism", "call", "waging"]) == "terrorism"


def test_ranks(vectors: Embeddings) -> None:
    assert vectors.closer_than("war", "war") == [] and vectors.rank("war", "war") == 1
    assert set(vectors.closer_than("war", "terrorism")) == {"conflict", "administration"}
    assert vectors.rank("war", "terrorism") == 3


def test_relative_similarity(vectors: Embeddings) -> None:
    assert vectors.relative_cosine_similarity("good", "worst", 10) < 0.10


def test_vectors_for_all(vectors: Embeddings) -> None:
    some = vectors.vectors_for_all(
        ["conflict", "administration", "terrorism", "an unknown word", "another unknown word"]
    )
    assert len(some) == 3
    np.testing.assert_array_equal(some["conflict"], vectors["conflict"])
    counted = vectors.vectors_for_all(["conflict"], copy_vecattrs=True)
    assert counted.get_vecattr("conflict", "count") == vectors.get_vecattr("conflict", "count")
    uncounted = vectors.vectors_for_all(["conflict"], copy_vecattrs=False)
    assert uncounted.get_vecattr("conflict", "count") != vectors.get_vecattr("conflict", "count")


def test_words_that_were_cut_within_a_letter() -> None:
    model, vocabulary = (
        datapath("w2v_keyedvectors_load_test.modeldata"),
        datapath("w2v_keyedvectors_load_test.vocab"),
    )
    with pytest.raises(ValueError, match="not valid UTF-8"):
        Embeddings.load_word2vec_format(model, fvocab=vocabulary, binary=False)
    replaced = Embeddings.load_word2vec_format(
        model, fvocab=vocabulary, binary=False, unicode_errors="replace"
    )
    first, second = "ありがとう\ufffd", "どういたしまして\ufffd"
    # In the order of counts; gensim keeps the order of the file.
    assert {first: 123, second: 789} == {word: replaced.get_vecattr(word, "count") for word in replaced}
    np.testing.assert_array_equal(replaced[first], np.array([0.6, 0.6, 0.6], dtype=np.float32))
    np.testing.assert_array_equal(replaced[second], np.array([0.1, 0.2, 0.3], dtype=np.float32))
    with pytest.raises(ValueError, match="unicode_errors is 'ignore'"):
        Embeddings.load_word2vec_format(model, unicode_errors="ignore")


def test_line_feeds_before_words(tmp_path: Path) -> None:
    path = tmp_path / "w2v"
    content = b"3 3\n"
    for word in (b"\nabc", b"cdefdg", b"\n\ndef"):
        content += word + b" " + np.arange(3, dtype="<f4").tobytes()
    path.write_bytes(content)
    assert Embeddings.load_word2vec_format(path, binary=True).index_to_key == ["abc", "cdefdg", "def"]
    assert Embeddings.load_word2vec_format(path, binary=True, limit=1).index_to_key == ["abc"]


# Its answers.


@pytest.fixture(scope="module")
def pair() -> tuple[Embeddings, Any]:
    random = np.random.default_rng(3)
    names = [f"w{number}" for number in range(400)]
    matrix = (random.normal(size=(400, 60)) * random.uniform(0.1, 5, size=(400, 1))).astype(np.float32)
    counts = list(range(4000, 0, -10))
    ours = Embeddings.from_arrays(names, matrix, counts)
    return ours, ours.to_gensim()


def assert_same(
    ours: list[tuple[str, float]], theirs: list[tuple[str, float]], tolerance: float = 1e-6
) -> None:
    assert words(ours) == words(theirs)
    np.testing.assert_allclose(
        [score for _, score in ours], [score for _, score in theirs], rtol=0, atol=tolerance
    )


def test_to_gensim_keeps_words_vectors_and_counts(pair: tuple[Embeddings, Any]) -> None:
    ours, theirs = pair
    assert isinstance(theirs, KeyedVectors)
    assert theirs.index_to_key == ours.index_to_key and theirs.key_to_index == ours.key_to_index
    np.testing.assert_array_equal(theirs.vectors, ours.vectors)
    assert theirs.get_vecattr("w7", "count") == ours.get_vecattr("w7", "count")
    theirs.add_vector("another", np.ones(60))
    assert "another" in theirs and "another" not in ours
    theirs.vectors[0, 0] += 0
    back = Embeddings.from_arrays(theirs.index_to_key, theirs.vectors)
    assert back.index_to_key[-1] == "another"


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(5)


def test_the_same_neighbors_and_scores(pair: tuple[Embeddings, Any], random: np.random.Generator) -> None:
    ours = pair[0]
    theirs = ours.to_gensim()
    for _ in range(40):
        names = random.choice(ours.index_to_key, size=6, replace=False).tolist()
        vector = random.normal(size=60).astype(np.float32)
        weights = random.normal(size=6).tolist()
        questions: list[dict[str, Any]] = [
            {"positive": names[0]},
            {"positive": names[:2], "negative": names[2:3]},
            {"positive": list(zip(names[:3], weights)), "negative": list(zip(names[3:], weights[3:]))},
            {"positive": [vector, names[0]], "negative": [(vector[::-1].copy(), 0.5)]},
            {"positive": names[0], "restrict_vocab": 50},
            {"positive": names[0], "clip_start": 100, "clip_end": 150},
            {"positive": [int(random.integers(400))], "topn": 399},
        ]
        for question in questions:
            assert_same(ours.most_similar(**question), theirs.most_similar(**question))
            np.testing.assert_allclose(
                ours.most_similar(**{**question, "topn": None}),
                theirs.most_similar(**{**question, "topn": None}),
                rtol=0,
                atol=1e-6,
            )
        assert_same(
            ours.most_similar_cosmul(names[:2], names[2:4]),
            theirs.most_similar_cosmul(names[:2], names[2:4]),
            3e-6,
        )
        assert_same(ours.similar_by_vector(vector), theirs.similar_by_vector(vector))
        assert ours.doesnt_match(names) == theirs.doesnt_match(names)
        ranked = zip(ours.rank_by_centrality(names), theirs.rank_by_centrality(names))
        assert all(mine[1] == other[1] and abs(mine[0] - other[0]) < 1e-6 for mine, other in ranked)
        assert ours.rank(*names[:2]) == theirs.rank(*names[:2])
        assert ours.closer_than(*names[:2]) == theirs.closer_than(*names[:2])
        assert ours.most_similar_to_given(names[0], names[1:]) == theirs.most_similar_to_given(
            names[0], names[1:]
        )


def test_the_same_numbers(pair: tuple[Embeddings, Any], random: np.random.Generator) -> None:
    ours = pair[0]
    theirs = ours.to_gensim()
    for _ in range(20):
        names = random.choice(ours.index_to_key, size=6, replace=False).tolist()
        weights = random.normal(size=6).tolist()
        vector = random.normal(size=60).astype(np.float32)
        for method, arguments in [
            ("similarity", names[:2]),
            ("distance", names[:2]),
            ("n_similarity", [names[:2], names[2:]]),
            ("distances", [names[0]]),
            ("distances", [vector, names]),
            ("relative_cosine_similarity", names[:2]),
            ("get_mean_vector", [names]),
            ("get_mean_vector", [[*names, "absent"], [*weights, 3.0]]),
            ("get_mean_vector", [[vector, *names[1:]], weights, False, True]),
            ("cosine_similarities", [vector, ours.vectors]),
            ("get_normed_vectors", []),
            ("get_vector", [names[0], True]),
        ]:
            mine, other = (getattr(wv, method)(*arguments) for wv in (ours, theirs))
            np.testing.assert_allclose(mine, other, rtol=0, atol=1e-6, err_msg=method)


def test_the_same_on_their_own_vectors(vectors: Embeddings, theirs: Any) -> None:
    assert vectors.index_to_key == theirs.index_to_key
    np.testing.assert_array_equal(vectors.vectors, theirs.vectors)
    assert vectors.get_vecattr("war", "count") == theirs.get_vecattr("war", "count")
    for word in vectors.index_to_key[:50]:
        # Some of these vectors are near to one another in a float's last digits.
        mine, other = vectors.most_similar(word, topn=5), theirs.most_similar(word, topn=5)
        np.testing.assert_allclose(
            [score for _, score in mine], [score for _, score in other], rtol=0, atol=1e-6
        )


def test_the_same_scores_of_test_sets(vectors: Embeddings, theirs: Any) -> None:
    pairs: list[tuple[str, dict[str, Any]]] = [
        ("wordsim353.tsv", {}),
        ("wordsim353.tsv", {"dummy4unknown": True}),
        ("wordsim353.tsv", {"case_insensitive": False, "restrict_vocab": 500}),
        ("simlex999.txt", {}),
    ]
    for path, arguments in pairs:
        mine = vectors.evaluate_word_pairs(datapath(path), **arguments)
        other = theirs.evaluate_word_pairs(datapath(path), **arguments)
        for place in (0, 1):
            np.testing.assert_allclose(mine[place], tuple(other[place]), rtol=1e-4, atol=1e-6)
        assert mine.oov_ratio == pytest.approx(other[2])
    options: list[dict[str, Any]] = [
        {},
        {"dummy4unknown": True},
        {"case_insensitive": False},
        {"restrict_vocab": 400},
    ]
    for arguments in options:
        mine_score, mine_sections = vectors.evaluate_word_analogies(
            datapath("questions-words.txt"), **arguments
        )
        score, sections = theirs.evaluate_word_analogies(datapath("questions-words.txt"), **arguments)
        assert mine_score == pytest.approx(score) and len(mine_sections) == len(sections)
        for mine_section, section in zip(mine_sections, sections):
            assert mine_section == section


@pytest.mark.parametrize("binary", [False, True])
def test_files_go_both_ways(pair: tuple[Embeddings, Any], tmp_path: Path, binary: bool) -> None:
    ours = pair[0]
    mine, other, counts = tmp_path / "mine", tmp_path / "other", tmp_path / "counts"
    ours.save_word2vec_format(mine, fvocab=counts, binary=binary)
    read = KeyedVectors.load_word2vec_format(str(mine), fvocab=str(counts), binary=binary)
    assert read.index_to_key == ours.index_to_key and read.get_vecattr("w3", "count") == 3970
    np.testing.assert_array_equal(read.vectors, ours.vectors)
    ours.to_gensim().save_word2vec_format(str(other), fvocab=str(tmp_path / "their-counts"), binary=binary)
    for loaded in (
        Embeddings.load_word2vec_format(other, fvocab=tmp_path / "their-counts", binary=binary),
        skipstream.load(other),
    ):
        assert loaded.index_to_key == ours.index_to_key
        np.testing.assert_array_equal(loaded.vectors, ours.vectors)
    assert counts.read_text() == (tmp_path / "their-counts").read_text()


def test_no_header(pair: tuple[Embeddings, Any], tmp_path: Path) -> None:
    ours = pair[0]
    ours.save_word2vec_format(tmp_path / "mine.txt", write_header=False, prefix="*")
    read = KeyedVectors.load_word2vec_format(str(tmp_path / "mine.txt"), no_header=True)
    assert read.index_to_key == ["*" + word for word in ours.index_to_key]
    ours.to_gensim().save_word2vec_format(str(tmp_path / "other.txt"), write_header=False)
    read = Embeddings.load_word2vec_format(tmp_path / "other.txt", no_header=True, limit=7)
    assert read.index_to_key == ours.index_to_key[:7]
