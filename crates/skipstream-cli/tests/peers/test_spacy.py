"""spaCy computes our vectors from the table that we export."""

import random

import numpy
import pytest
from spacy.lang.xx import MultiLanguage
from spacy.training.initialize import convert_vectors


@pytest.fixture(scope="module")
def words(vectors):
    """Words in and out of the vocabulary, with letters from several scripts, and of many lengths."""
    draw = random.Random(2)
    letters = "aeiouäßéкошка猫тèxyz🧀"
    found = set(vectors.words[:1000])
    while len(found) < 10_000:
        found.add("".join(draw.choices(letters, k=draw.randint(1, 30))))
    return sorted(found)


def test_spacy_has_our_vectors_for_any_word(skipstream, model, vectors, words):
    path = skipstream.export(model, "floret", "table.floret", "--subword-buckets", 5000)
    pipeline = MultiLanguage()
    convert_vectors(
        pipeline, skipstream.folder / path, truncate=-1, prune=-1, mode="floret"
    )
    theirs = pipeline.vocab.vectors.get_batch(words)

    with open(skipstream.folder / "words.txt", "w", encoding="utf-8") as file:
        print(*words, sep="\n", file=file)
    ours = exported(skipstream, model)
    unknown = [place for place, word in enumerate(words) if word not in vectors.words]
    assert len(unknown) > 8000
    for place in unknown:
        numpy.testing.assert_allclose(
            theirs[place], ours[words[place]], rtol=1e-4, atol=1e-6
        )
    # The table was fitted to the words of the vocabulary.
    known = [place for place, word in enumerate(words) if word in vectors.words]
    own = {word: row for word, row in zip(vectors.words, vectors.matrix)}
    cosines = [cosine(theirs[place], own[words[place]]) for place in known]
    assert numpy.mean(cosines) > 0.5


def exported(skipstream, model):
    skipstream.export(
        model,
        "word2vec-text",
        "estimates.txt",
        *("--words", "words.txt", "--subwords", "--subword-buckets", 5000),
    )
    with open(skipstream.folder / "estimates.txt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(" ") for line in file][1:]
    return {word: numpy.array(values, dtype="f") for word, *values in lines}


def cosine(left, right):
    return left @ right / (numpy.linalg.norm(left) * numpy.linalg.norm(right))
