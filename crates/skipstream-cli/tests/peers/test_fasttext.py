"""We read what fastText learned."""

import fasttext
import numpy
import pytest


@pytest.fixture(scope="module")
def learned(skipstream, model):
    """A model of fastText's own, over the text of ours (which is there when the model is)."""
    text = str(skipstream.folder / "corpus.txt")
    return fasttext.train_unsupervised(
        text, dim=20, epoch=1, minCount=1, bucket=1000, thread=1, verbose=0
    )


def test_we_read_a_vec_file(skipstream, learned):
    # As its program writes it: five digits, and a space behind each value. Its Python package does not write it.
    path = skipstream.folder / "wiki.vec"
    words = learned.get_words()
    with open(path, "w", encoding="utf-8") as file:
        print(len(words), learned.get_dimension(), file=file)
        for word in words:
            print(
                word,
                *(f"{value:.5g}" for value in learned.get_word_vector(word)),
                "",
                file=file,
            )
    read = skipstream.vectors(path)
    assert read.words == words
    assert "</s>" in read.words
    expected = numpy.array([learned.get_word_vector(word) for word in words])
    numpy.testing.assert_allclose(read.matrix, expected, rtol=1e-4, atol=1e-7)
    ours = [word for word, _ in skipstream.neighbors(path, [words[1]])[0]]
    unit = expected / numpy.linalg.norm(expected, axis=1, keepdims=True)
    theirs = [words[row] for row in numpy.argsort(-(unit @ unit[1])) if row != 1][:10]
    assert ours[:5] == theirs[:5]


def test_we_refuse_its_binary_model(skipstream, learned):
    learned.save_model(str(skipstream.folder / "wiki.bin"))
    done = skipstream.run("neighbors", "--model", "wiki.bin", "word")
    assert done.returncode == 2
    assert "use the .vec file" in done.stderr
