"""gensim reads ours, and we read gensim's."""

import numpy
import pytest
from gensim.models import KeyedVectors


def assert_same(keyed, vectors):
    assert keyed.index_to_key == vectors.words
    assert keyed.vectors.tobytes() == vectors.matrix.tobytes()


@pytest.mark.parametrize(
    "form, name",
    [
        ("word2vec-text", "v.txt"),
        ("word2vec-text", "v.txt.gz"),
        ("word2vec-text", "v.txt.bz2"),
    ],
)
def test_gensim_reads_our_text(skipstream, model, vectors, form, name):
    path = skipstream.export(model, form, name)
    assert_same(KeyedVectors.load_word2vec_format(path), vectors)


@pytest.mark.parametrize("name", ["v.bin", "v.bin.gz", "v.bin.xz"])
def test_gensim_reads_our_binary(skipstream, model, vectors, name):
    path = skipstream.export(model, "word2vec-binary", name)
    assert_same(KeyedVectors.load_word2vec_format(path, binary=True), vectors)


def test_gensim_finds_the_same_neighbors(skipstream, model):
    path = skipstream.export(model, "word2vec-binary", "neighbors.bin")
    keyed = KeyedVectors.load_word2vec_format(path, binary=True)
    words = keyed.index_to_key[:1000]
    ours = skipstream.neighbors(model, words)
    assert len(ours) == 1000
    for word, our in zip(words, ours):
        theirs = keyed.most_similar(word, topn=10)
        numpy.testing.assert_allclose(
            [near[1] for near in our], [near[1] for near in theirs], atol=2e-6
        )
        # Where two are as near as each other to the last bits, either may come first, or be the tenth.
        least = theirs[-1][1]
        for odd in {near[0] for near in our} ^ {near[0] for near in theirs}:
            assert abs(keyed.similarity(word, odd) - least) < 2e-6, (word, odd)


@pytest.mark.parametrize(
    "name, binary",
    [("g.txt", False), ("g.txt.gz", False), ("g.bin", True), ("g.bin.gz", True)],
)
def test_we_read_what_gensim_writes(skipstream, vectors, name, binary):
    keyed = KeyedVectors(vectors.matrix.shape[1])
    keyed.add_vectors(vectors.words, vectors.matrix)
    path = skipstream.folder / name
    # Without a sort by counts, which it does not know.
    keyed.save_word2vec_format(str(path), binary=binary, sort_attr=None)
    read = skipstream.vectors(path)
    assert read.words == vectors.words
    assert read.matrix.tobytes() == vectors.matrix.tobytes()


def test_we_refuse_its_pickle(skipstream, vectors):
    keyed = KeyedVectors(vectors.matrix.shape[1])
    keyed.add_vectors(vectors.words[:10], vectors.matrix[:10])
    keyed.save(str(skipstream.folder / "vectors.kv"))
    done = skipstream.run("neighbors", "--model", "vectors.kv", vectors.words[0])
    assert done.returncode == 2
    assert "save_word2vec_format" in done.stderr
