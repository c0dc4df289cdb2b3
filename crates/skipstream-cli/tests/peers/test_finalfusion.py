"""finalfusion reads ours, and we read finalfusion's."""

import finalfusion
import numpy
from finalfusion.norms import Norms
from finalfusion.storage import NdArray
from finalfusion.vocab import SimpleVocab


def test_finalfusion_reads_ours(skipstream, model, vectors):
    path = skipstream.export(model, "finalfusion", "v.fifu")
    for mapped in [False, True]:
        embeddings = finalfusion.load_finalfusion(path, mmap=mapped)
        assert embeddings.vocab.words == vectors.words
        norms = numpy.linalg.norm(vectors.matrix, axis=1)
        numpy.testing.assert_allclose(embeddings.norms, norms, rtol=1e-6)
        numpy.testing.assert_allclose(
            embeddings.storage, vectors.matrix / norms[:, None], rtol=1e-5, atol=1e-8
        )
        word, norm = embeddings.embedding_with_norm(vectors.words[7])
        numpy.testing.assert_allclose(word * norm, vectors.matrix[7], rtol=2.0**-22)


def test_finalfusion_finds_the_same_neighbors(skipstream, model, vectors):
    path = skipstream.export(model, "finalfusion", "n.fifu")
    embeddings = finalfusion.load_finalfusion(path)
    words = vectors.words[:50]
    for word, ours in zip(words, skipstream.neighbors(path, words)):
        theirs = [
            (near.word, near.similarity)
            for near in embeddings.word_similarity(word, k=10)
        ]
        numpy.testing.assert_allclose(
            [near[1] for near in ours], [near[1] for near in theirs], atol=1e-5
        )
        assert ours[0][0] == theirs[0][0]


def test_what_we_read_of_ours_is_within_a_rounding(skipstream, model, vectors):
    read = skipstream.vectors(skipstream.export(model, "finalfusion", "r.fifu"))
    assert read.words == vectors.words
    numpy.testing.assert_allclose(read.matrix, vectors.matrix, rtol=2.0**-22)


def test_we_read_what_finalfusion_writes(skipstream, vectors):
    norms = numpy.linalg.norm(vectors.matrix, axis=1).astype(numpy.float32)
    unit = (vectors.matrix / norms[:, None]).astype(numpy.float32)
    metadata = finalfusion.Metadata({"by": "a test", "seed": 1})
    embeddings = finalfusion.Embeddings(
        NdArray(unit), SimpleVocab(vectors.words), norms=Norms(norms), metadata=metadata
    )
    path = skipstream.folder / "theirs.fifu"
    embeddings.write(str(path))
    read = skipstream.vectors(path)
    assert read.words == vectors.words
    assert read.matrix.tobytes() == (unit * norms[:, None]).tobytes()
