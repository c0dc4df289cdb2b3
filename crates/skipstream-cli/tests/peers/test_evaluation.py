"""gensim scores the same vectors as we do."""

import json
import random

import pytest
from gensim.models import KeyedVectors


@pytest.fixture(scope="module")
def keyed(skipstream, model):
    path = skipstream.export(model, "word2vec-binary", "evaluation.bin")
    return KeyedVectors.load_word2vec_format(path, binary=True)


def score(skipstream, model, path, *arguments):
    report = skipstream("eval", "--model", model, "--json", *arguments, path)
    return json.loads(report)["sets"][0]


def spelled(draw, word):
    """Some words have capitals that the vocabulary lacks, and some are not in it at all."""
    return draw.choice([word, word.capitalize(), word.upper(), word, word + "x"])


def test_word_pairs(skipstream, model, keyed):
    draw = random.Random(2)
    path = skipstream.folder / "pairs.tsv"
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(1000):
            first, second = draw.choices(keyed.index_to_key, k=2)
            people = round(keyed.similarity(first, second) + draw.gauss(0, 0.3), 1)
            print(spelled(draw, first), spelled(draw, second), people, sep="\t", file=file)
    ours = score(skipstream, model, path)
    pearson, spearman, unknown = keyed.evaluate_word_pairs(str(path))
    assert ours["spearman"] == pytest.approx(spearman[0], abs=1e-6)
    assert ours["pearson"] == pytest.approx(pearson[0], abs=1e-6)
    assert 100 * (1 - ours["used"] / ours["total"]) == pytest.approx(unknown)
    assert 0.2 < ours["spearman"] < 1


@pytest.mark.parametrize("restrict", [1000, 300_000])
def test_analogies(skipstream, model, keyed, restrict):
    draw = random.Random(3)
    path = skipstream.folder / "analogies.txt"
    with open(path, "w", encoding="utf-8") as file:
        for section in range(4):
            print(f": section {section}", file=file)
            for _ in range(200):
                a, b, c, expected = draw.choices(keyed.index_to_key, k=4)
                if draw.random() < 0.5:
                    [(expected, _)] = keyed.most_similar([b, c], [a], topn=1)
                print(*(spelled(draw, word) for word in (a, b, c, expected)), file=file)
    ours = score(skipstream, model, path, "--restrict", restrict)
    _, theirs = keyed.evaluate_word_analogies(str(path), restrict_vocab=restrict)
    assert len(ours["sections"]) == len(theirs) - 1
    for our, their in zip(ours["sections"], theirs):
        right, wrong = len(their["correct"]), len(their["incorrect"])
        assert our["name"] == their["section"]
        assert (our["score"]["add_correct"], our["score"]["used"]) == (right, right + wrong)
    assert ours["total"]["add_correct"] > 20
