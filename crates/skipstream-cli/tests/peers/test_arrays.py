"""numpy, safetensors and the projector's tables."""

import csv

import numpy
from conftest import words_and_counts
from safetensors import safe_open
from safetensors.numpy import load_file


def test_numpy_reads_our_array(skipstream, model, vectors):
    path = skipstream.export(model, "npy", "v.npy")
    for mapped in [None, "r"]:
        array = numpy.load(path, mmap_mode=mapped)
        assert array.dtype == numpy.dtype("<f4")
        assert array.tobytes() == vectors.matrix.tobytes()
    with open(
        skipstream.folder / "v.words.tsv", encoding="utf-8", newline="\n"
    ) as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    assert rows == [
        [word, str(count)] for word, count in zip(vectors.words, vectors.counts)
    ]
    assert skipstream.vectors(path).counts == vectors.counts


def test_we_read_arrays_of_numpy(skipstream, vectors):
    path = skipstream.folder / "theirs.npy"
    (skipstream.folder / "theirs.words.tsv").write_text(
        "\n".join(vectors.words) + "\n", encoding="utf-8"
    )
    for kind in ["<f4", "<f8"]:
        numpy.save(path, vectors.matrix.astype(kind))
        read = skipstream.vectors(path)
        assert read.words == vectors.words
        assert read.matrix.tobytes() == vectors.matrix.tobytes()
    numpy.save(path, numpy.asfortranarray(vectors.matrix))
    done = skipstream.run("neighbors", "--model", path, vectors.words[0])
    assert done.returncode == 2 and "ascontiguousarray" in done.stderr


def test_safetensors_reads_our_vectors(skipstream, model, vectors):
    path = skipstream.export(model, "safetensors", "v.safetensors")
    tensors = load_file(path)
    assert words_and_counts(tensors) == (vectors.words, vectors.counts)
    assert tensors["vectors"].tobytes() == vectors.matrix.tobytes()
    with safe_open(path, framework="numpy") as file:
        assert list(file.metadata()) == ["skipstream"]


def test_the_projector_can_parse_our_tables(skipstream, model, vectors):
    # The projector splits lines by tabs; metadata of more than one column begins with their names.
    folder = skipstream.folder / "projector"
    skipstream.export(model, "projector", "projector", "--top", "500")
    matrix = numpy.loadtxt(folder / "vectors.tsv", delimiter="\t", dtype=numpy.float32)
    assert matrix.tobytes() == vectors.matrix[:500].tobytes()
    with open(folder / "metadata.tsv", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    assert header == ["word", "count"]
    assert rows == [
        [word, str(count)] for word, count in zip(vectors.words[:500], vectors.counts)
    ]
    assert skipstream.vectors(folder).matrix.tobytes() == matrix.tobytes()


def test_targets_and_contexts_can_be_had_apart(skipstream, model, vectors):
    tensors = load_file(model)
    for kind in ["target", "context"]:
        path = skipstream.export(model, "npy", f"{kind}.npy", "--vectors", kind)
        assert numpy.load(path).tobytes() == tensors[kind].tobytes()
    unit = numpy.load(skipstream.export(model, "npy", "unit.npy", "--normalize"))
    numpy.testing.assert_allclose(numpy.linalg.norm(unit, axis=1), 1, rtol=1e-6)
