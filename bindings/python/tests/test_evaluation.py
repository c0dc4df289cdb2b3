"""Scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from skipstream import Embeddings

WORDS = ["man", "woman", "king", "queen", "apple", "prince"]
VECTORS = [[1, 0.1, 0], [1, 0.1, 1], [1, 0.8, 0.1], [1, 0.8, 1], [-1, 0, 0.3], [0.9, 0.6, -0.4]]


@pytest.fixture
def wv() -> Embeddings:
    return Embeddings.from_arrays(WORDS, VECTORS)


def write(folder: Path, text: str) -> Path:
    path = folder / "set.txt"
    path.write_text(text, encoding="utf8")
    return path


def test_pairs_have_correlations_and_p_values(wv: Embeddings, tmp_path: Path) -> None:
    path = write(
        tmp_path, "# people\nMan\twoman\t8\nman\tking\t7\nman\tapple\t1\nking\tqueen\t7.5\nman\tpear\t3\n"
    )
    result = wv.evaluate_word_pairs(path)
    pearson, spearman, oov_ratio = result
    cosines = wv.similarity(["man", "man", "man", "king"], ["woman", "king", "apple", "queen"])
    assert pearson.statistic == pytest.approx(np.corrcoef([8, 7, 1, 7.5], cosines)[0, 1], abs=1e-5)
    assert oov_ratio == result.oov_ratio == 20
    assert -1 <= spearman[0] <= 1 and 0 <= spearman[1] <= 1 and 0 < pearson.pvalue < 0.1
    assert wv.evaluate_word_pairs(path, dummy4unknown=True).pearson != pearson
    assert wv.evaluate_word_pairs(path, case_insensitive=False).oov_ratio == 40
    assert wv.evaluate_word_pairs(path, restrict_vocab=3, delimiter="\t").oov_ratio == 60


def test_the_values_are_those_of_scipy(tmp_path: Path) -> None:
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(2)
    names = [f"w{number}" for number in range(60)]
    wv = Embeddings.from_arrays(names, random.normal(size=(60, 5)))
    pairs = [(names[first], names[second]) for first, second in random.integers(60, size=(80, 2))]
    people = np.round(random.uniform(0, 10, size=80), 1)
    lines = [f"{first} {second} {score}" for (first, second), score in zip(pairs, people)]
    found = wv.evaluate_word_pairs(write(tmp_path, "\n".join(lines)))
    cosines = [float(np.float64(wv.similarity(first, second))) for first, second in pairs]
    np.testing.assert_allclose(found.pearson, tuple(stats.pearsonr(people, cosines)), rtol=1e-4)
    np.testing.assert_allclose(found.spearman, tuple(stats.spearmanr(people, cosines)), rtol=1e-3)


def test_pairs_without_a_correlation_are_not_a_number(wv: Embeddings, tmp_path: Path) -> None:
    result = wv.evaluate_word_pairs(write(tmp_path, "man woman 5\nman king 5\nman apple 5\n"))
    assert np.isnan(result.pearson).all() and np.isnan(result.spearman).all()
    with pytest.raises(ValueError, match="no pair has both words in the vocabulary"):
        wv.evaluate_word_pairs(write(tmp_path, "man pear 5\n"))


def test_analogies_are_listed(wv: Embeddings, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        ": family\nman king woman queen\nman king woman apple\n: none\n: fruit\nman king woman pear\n",
    )
    score, sections = wv.evaluate_word_analogies(path)
    assert score == 0.5 and [section["section"] for section in sections] == [
        "family",
        "none",
        "fruit",
        "Total accuracy",
    ]
    assert sections[0] == {
        "section": "family",
        "correct": [("MAN", "KING", "WOMAN", "QUEEN")],
        "incorrect": [("MAN", "KING", "WOMAN", "APPLE")],
    }
    assert sections[1]["correct"] == sections[1]["incorrect"] == sections[2]["incorrect"] == []
    score, sections = wv.evaluate_word_analogies(path, dummy4unknown=True, case_insensitive=False)
    assert score == pytest.approx(1 / 3)
    assert (
        sections[2]["incorrect"] == [("man", "king", "woman", "pear")] and len(sections[-1]["incorrect"]) == 2
    )
    assert wv.evaluate_word_analogies(path, restrict_vocab=3)[0] == 0
    for method, rule in (("most_similar", "add"), ("most_similar_cosmul", "multiply")):
        right = wv.analogy("man", "king", "woman", n=1, rule=rule)[0][0].upper()
        sections = wv.evaluate_word_analogies(path, similarity_function=method)[1]
        assert [words[3] for words in sections[0]["correct"]] == [right]


def test_what_is_no_test_set_is_refused(wv: Embeddings, tmp_path: Path) -> None:
    pairs, analogies = "man woman 5\n", ": family\nman king woman queen\n"
    for evaluate, wrong, message in [
        (wv.evaluate_word_pairs, analogies, "expected word pairs, found analogies"),
        (wv.evaluate_word_analogies, pairs, "expected analogies, found word pairs"),
        (wv.evaluate_word_pairs, "", "the file has no word pairs and no analogies"),
        (wv.evaluate_word_pairs, pairs + "man woman\n", "line 2: expected two words and a score"),
        (wv.evaluate_word_analogies, analogies + "man king\n", "line 3: expected 4 words, found 2"),
    ]:
        with pytest.raises(ValueError, match=message):
            evaluate(write(tmp_path, wrong))  # type: ignore[operator]
        with pytest.raises(FileNotFoundError):
            evaluate(tmp_path / "none")  # type: ignore[operator]
    path = write(tmp_path, pairs)
    with pytest.raises(ValueError, match=r"delimiter is '\|'"):
        wv.evaluate_word_pairs(path, delimiter="|")
    with pytest.raises(ValueError, match="encoding is 'cp1252'"):
        wv.evaluate_word_pairs(path, encoding="cp1252")
    with pytest.raises(ValueError, match="restrict_vocab is -1; it must be at least 0"):
        wv.evaluate_word_pairs(path, restrict_vocab=-1)
    with pytest.raises(ValueError, match="similarity_function is 'cosadd'"):
        wv.evaluate_word_analogies(write(tmp_path, analogies), similarity_function="cosadd")
