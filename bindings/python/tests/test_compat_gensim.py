"""compat.Word2Vec next to the real gensim."""

from __future__ import annotations

import inspect
import random
from pathlib import Path
from typing import Any

import pytest

gensim = pytest.importorskip("gensim")

from skipstream.compat import Word2Vec

GROUPS = [[f"{letter}{number}" for number in range(10)] for letter in "abcdefghijkl"]
COMMON = [f"common{number}" for number in range(10)]


def planted(seed: int, sentences: int = 1500) -> list[list[str]]:
    """Sentences in which words of one group stand together, between words that stand anywhere."""
    chance = random.Random(seed)
    text = []
    for _ in range(sentences):
        group = chance.choice(GROUPS)
        text.append([chance.choice(group if chance.random() < 0.6 else COMMON) for _ in range(10)])
    return text


def found(wv: Any) -> float:
    """The share of the five nearest words that are of the word's own group."""
    hits = 0
    for group in GROUPS:
        for word in group:
            hits += sum(other in group for other, _ in wv.most_similar(word, topn=5))
    return hits / (5 * 10 * len(GROUPS))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("window", [2, 5])
def test_both_find_planted_neighbors(seed: int, window: int) -> None:
    text = planted(seed)
    settings: dict[str, Any] = {"vector_size": 30, "window": window, "min_count": 1, "sg": 1, "seed": seed}
    ours = found(Word2Vec(text, **settings, workers=1).wv)
    theirs = found(gensim.models.Word2Vec(text, **settings, workers=1).wv)
    assert ours > 0.95, ours
    assert ours > theirs - 0.02, (ours, theirs)


@pytest.mark.parametrize(
    "settings", [{"min_count": 1}, {"min_count": 3}, {"min_count": 5}, {"max_final_vocab": 40}]
)
def test_words_and_counts_are_the_same(settings: dict[str, Any]) -> None:
    text = planted(4, sentences=40)
    ours = Word2Vec(text, vector_size=5, sg=1, epochs=1, **settings)
    theirs = gensim.models.Word2Vec(text, vector_size=5, sg=1, epochs=1, **settings)
    counts = {word: theirs.wv.get_vecattr(word, "count") for word in theirs.wv.index_to_key}
    assert {word: ours.wv.get_vecattr(word, "count") for word in ours.wv.index_to_key} == counts
    assert ours.wv.vectors.shape == theirs.wv.vectors.shape
    in_order = [counts[word] for word in ours.wv.index_to_key]
    assert in_order == sorted(in_order, reverse=True)
    assert ours.corpus_count == theirs.corpus_count
    assert ours.corpus_total_words == theirs.corpus_total_words
    assert ours.effective_min_count == theirs.effective_min_count


def test_the_arguments_are_the_same_with_the_same_defaults() -> None:
    different = {"Word2Vec.sg", "train.epochs"}
    for name in ["__init__", "train", "build_vocab", "predict_output_word", "get_latest_training_loss"]:
        ours = inspect.signature(getattr(Word2Vec, name)).parameters
        theirs = inspect.signature(getattr(gensim.models.Word2Vec, name)).parameters
        names = [parameter for parameter in theirs if parameter not in ("args", "kwargs")]
        assert list(ours) == names, name
        for parameter in names:
            if f"{name.replace('__init__', 'Word2Vec')}.{parameter}" not in different:
                assert ours[parameter].default == theirs[parameter].default, f"{name}: {parameter}"


def test_every_public_part_is_there_or_says_why_not() -> None:
    text = planted(1, sentences=20)
    ours = Word2Vec(text, vector_size=5, min_count=1, sg=1)
    theirs = gensim.models.Word2Vec(text, vector_size=5, min_count=1, sg=1)
    for name in dir(theirs):
        if name.startswith("_"):
            continue
        try:
            getattr(ours, name)
        except AttributeError as error:
            assert str(error).startswith(f"gensim's {name} is not supported: "), name
    same = [
        "vector_size",
        "window",
        "negative",
        "ns_exponent",
        "sample",
        "seed",
        "workers",
        "epochs",
        "min_count",
    ]
    same += ["sg", "hs", "cbow_mean", "null_word", "sorted_vocab", "batch_words", "hashfxn", "shrink_windows"]
    same += ["layer1_size", "max_vocab_size", "max_final_vocab", "comment", "compute_loss", "train_count"]
    for name in same:
        assert getattr(ours, name) == getattr(theirs, name), name


def test_prediction_of_a_center_is_computed_alike() -> None:
    text = planted(1, sentences=200)
    ours = Word2Vec(text, vector_size=8, min_count=1, sg=1)
    theirs = gensim.models.Word2Vec(text, vector_size=8, min_count=1, sg=1, epochs=1)
    # gensim's computation on our numbers.
    theirs.wv = ours.wv.to_gensim()
    theirs.syn1neg = ours.syn1neg
    expected = theirs.predict_output_word(["a1", "a2", "unheard"], topn=5)
    predicted = ours.predict_output_word(["a1", "a2", "unheard"], topn=5)
    assert predicted is not None
    assert [word for word, _ in predicted] == [word for word, _ in expected]
    assert [value for _, value in predicted] == pytest.approx([value for _, value in expected], rel=1e-4)


def test_a_model_of_gensim_is_not_loaded_by_mistake(tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    gensim.models.Word2Vec([["a", "b"]], vector_size=5, min_count=1).save(path)
    with pytest.raises(ValueError, match="is a pickle, gensim's own format"):
        Word2Vec.load(path)
