"""Which words may be answers, which words may be asked about, and expressions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import skipstream
from skipstream import Embeddings, Trainer, UnknownWord
from skipstream.compat import Word2Vec

WORDS = ["the", "king", "queen", "man", "woman", "kingg"]
VECTORS = [[1, 1, 0.1], [1, 0.8, 0.1], [1, 0.8, 1], [1, 0.1, 0], [1, 0.1, 1], [1, 0.81, 0.1]]
COUNTS = [3_999_000, 400, 300, 200, 20, 3]


@pytest.fixture
def wv() -> Embeddings:
    return Embeddings.from_arrays(WORDS, VECTORS, COUNTS)


def words(found: Any) -> list[str]:
    return [word for word, _ in found]


def test_rare_words_are_no_answers_by_default(wv: Embeddings) -> None:
    assert wv.default_min_count == 19
    for found in (
        wv.neighbors("king"),
        wv.most_similar("king"),
        wv.similar_by_word("king"),
        wv.similar_by_vector(wv["king"]),
        wv.most_similar_cosmul("king"),
        wv.analogy("man", "king", "woman"),
        wv.analogy("king - man"),
    ):
        assert "kingg" not in words(found) and "queen" in words(found)
    assert "kingg" not in wv.neighbors(["king", "man"], n=9).words
    assert "kingg" not in wv.similar_by_vector([wv["king"]]).words


def test_min_count_and_top_change_the_rule(wv: Embeddings) -> None:
    assert words(wv.neighbors("king", n=1, min_count=0)) == ["kingg"]
    assert words(wv.most_similar("king", topn=1, min_count=3)) == ["kingg"]
    assert set(words(wv.most_similar("king", top=3))) == {"the", "queen"}
    assert set(words(wv.neighbors("king", top=3, min_count=0))) == {"the", "queen"}
    assert words(wv.analogy("man", "king", "woman", min_count=0, n=9)).count("kingg") == 1
    assert words(wv.most_similar_cosmul("king", min_count=0, topn=1)) == ["kingg"]
    assert wv.neighbors(["king", "kingg"], n=9, min_count=0).words.shape == (2, 5)
    assert wv.neighbors(["king", "kingg"], n=9).words.shape == (2, 4)
    for name in ("min_count", "top"):
        wrong: dict[str, Any] = {name: -1}
        with pytest.raises(ValueError, match=f"{name} is -1"):
            wv.neighbors("king", **wrong)


def test_rare_words_can_be_asked_about(wv: Embeddings) -> None:
    assert words(wv.neighbors("kingg", n=1)) == ["king"]
    assert wv.similarity("king", "kingg") > 0.99
    assert len(wv.most_similar("king", topn=None)) == len(wv)


def test_all_are_answers_where_counts_are_unknown() -> None:
    wv = Embeddings.from_arrays(WORDS, VECTORS)
    assert wv.default_min_count == 0
    assert words(wv.neighbors("king", n=1)) == ["kingg"]


def test_words_that_compat_keeps_are_answers() -> None:
    text = [["tea", "with", "milk"]] * 150_000 + [["tea", "with", "sugar"]] * 2
    model = Word2Vec(text, sg=1, min_count=1, vector_size=4, epochs=1)
    assert model.trainer.embeddings().default_min_count == 2
    assert model.wv.default_min_count == 0
    assert "sugar" in words(model.wv.most_similar("tea"))


def test_expressions(wv: Embeddings) -> None:
    for expression in ("king - man + woman", "king -man +woman", "woman + king − man"):  # noqa: RUF001
        found, expected = wv.analogy(expression, n=2), wv.analogy("man", "king", "woman", n=2)
        assert words(found) == words(expected) and found[0][1] == pytest.approx(expected[0][1])
    assert wv.analogy("king - man + woman", rule="multiply") == wv.analogy(
        "man", "king", "woman", rule="multiply"
    )
    with pytest.raises(UnknownWord, match="'kign' is not in the vocabulary; did you mean 'king'"):
        wv.analogy("kign - man + woman")
    with pytest.raises(ValueError, match="words joined by"):
        wv.analogy("king queen")
    with pytest.raises(TypeError, match="one expression such as"):
        wv.analogy("man", "king")


def test_words_are_looked_up_as_the_models_text_has_them() -> None:
    trainer = Trainer(dimensions=4, text="prose")
    trainer.train(["The government met. The Government spoke!"] * 50)
    wv = trainer.embeddings()
    assert "Government" in wv and "Government" not in wv.index_to_key
    assert wv.neighbors("Government") == wv.neighbors("government")
    np.testing.assert_array_equal(trainer.vector("GOVERNMENT"), trainer.vector("government"))
    assert "Government" in trainer and trainer.count("GOVERNMENT") == trainer.count("government") == 100
    assert wv.analogy("The - MET + spoke") == wv.analogy("the - met + spoke")
    plain = Trainer(dimensions=4)
    plain.train(["the government"] * 50)
    assert "Government" not in plain.embeddings()
    assert "government" in skipstream.Embeddings.from_arrays(["government"], [[1]])
