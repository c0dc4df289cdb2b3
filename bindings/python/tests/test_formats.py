"""Files of vectors."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skipstream
from skipstream import Embeddings

WORDS = ["tea", "käse", "stone"]
VECTORS = np.array([[1, 0.1], [1, 0.3], [0.1, -1]], dtype=np.float32)


@pytest.fixture
def wv() -> Embeddings:
    return Embeddings.from_arrays(WORDS, VECTORS, counts=[9, 7, 4])


@pytest.mark.parametrize(
    "format", [None, "safetensors", "word2vec-text", "word2vec-binary", "npy", "projector"]
)
def test_what_is_saved_is_loaded(wv: Embeddings, tmp_path: Path, format: str) -> None:
    path = tmp_path / "vectors"
    wv.save(path, format)
    for named in (None, format):
        loaded = skipstream.load(path, format=named)
        assert loaded.index_to_key == WORDS
        np.testing.assert_array_equal(loaded.vectors, VECTORS)
        assert loaded.has_counts == (format not in ("word2vec-text", "word2vec-binary"))
    assert Embeddings.load(str(path)).index_to_key == WORDS


def test_parquet_is_for_data_frames(wv: Embeddings, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "v.parquet"
    wv.save(path, "parquet")
    table = parquet.read_table(path)
    assert table.column_names == ["word", "count", "vector"]
    assert table["word"].to_pylist() == WORDS
    assert table["count"].to_pylist() == [9, 7, 4]
    np.testing.assert_array_equal(table["vector"].to_pylist(), VECTORS)
    with pytest.raises(ValueError, match="parquet can be written but not read"):
        skipstream.load(path, format="parquet")  # type: ignore[arg-type]


@pytest.mark.parametrize(("quantize", "error"), [("f16", 2**-11), ("int8", 0.51 / 127)])
def test_quantized_vectors_are_float32_when_they_are_read(
    wv: Embeddings, tmp_path: Path, quantize: str, error: float
) -> None:
    path = tmp_path / "v.safetensors"
    wv.save(path, quantize=quantize)
    loaded = skipstream.load(path)
    assert "mapped from v.safetensors" in repr(loaded)
    assert loaded.vectors.dtype == loaded["tea"].dtype == np.float32
    np.testing.assert_allclose(loaded.vectors, VECTORS, atol=error)
    assert loaded.most_similar("tea", topn=2)[0][0] == "käse"
    assert loaded.similarity("tea", "tea") == 1
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(loaded)).vectors, loaded.vectors)
    loaded.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


def test_any_reader_of_safetensors_restores_the_bits(wv: Embeddings, tmp_path: Path) -> None:
    path = tmp_path / "v.safetensors"
    wv.save(path, quantize="int8")
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])

    def tensor(name: str, dtype: str) -> Any:
        start, end = header[name]["data_offsets"]
        return np.frombuffer(content[8 + length + start : 8 + length + end], dtype).reshape(
            header[name]["shape"]
        )

    vectors = tensor("vectors", "int8") * tensor("scales", "float32")[:, None]
    np.testing.assert_array_equal(vectors, skipstream.load(path).vectors)


def test_a_quantization_that_cannot_be_is_refused(wv: Embeddings, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="npy cannot be written quantized; safetensors can"):
        wv.save(tmp_path / "v.npy", "npy", quantize="int8")
    with pytest.raises(ValueError, match="quantize is `int4`; it must be f16 or int8"):
        wv.save(tmp_path / "v", quantize="int4")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_finalfusion_is_as_near_as_it_says(wv: Embeddings, tmp_path: Path) -> None:
    wv.save(tmp_path / "v.fifu", "finalfusion")
    np.testing.assert_allclose(skipstream.load(tmp_path / "v.fifu").vectors, VECTORS, rtol=2**-22)


def test_other_programs_open_them(wv: Embeddings, tmp_path: Path) -> None:
    wv.save(tmp_path / "v.npy", "npy")
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), VECTORS)
    wv.save_word2vec_format(tmp_path / "v.txt.gz")
    with gzip.open(tmp_path / "v.txt.gz", "rt", encoding="utf8") as file:
        assert file.read() == "3 2\ntea 1 0.1\nkäse 1 0.3\nstone 0.1 -1\n"


def test_our_file_is_mapped_and_others_are_read(wv: Embeddings, tmp_path: Path) -> None:
    wv.save(tmp_path / "v.safetensors")
    wv.save_word2vec_format(tmp_path / "v.txt")
    assert "mapped from v.safetensors" in repr(skipstream.load(tmp_path / "v.safetensors"))
    assert "read from v.txt" in repr(skipstream.load(tmp_path / "v.txt"))


def test_a_trained_model_has_four_kinds_of_vectors(tmp_path: Path) -> None:
    trainer = skipstream.Trainer(dimensions=8, subsample=0)
    trainer.train([["tea", "with", "milk"], ["coffee", "with", "sugar"]] * 100)
    path = tmp_path / "model.safetensors"
    trainer.save(path)
    by_kind = {kind: skipstream.load(path, vectors=kind) for kind in ("target", "context", "sum", "joined")}
    for kind, wv in by_kind.items():
        np.testing.assert_array_equal(wv.vectors, trainer.embeddings(kind).vectors)
        assert wv.vectors is wv.vectors and not wv.vectors.flags.writeable and "mapped" in repr(wv)
        assert wv.neighbors("tea") == trainer.embeddings(kind).neighbors("tea")
    np.testing.assert_allclose(
        by_kind["sum"].vectors, by_kind["target"].vectors + by_kind["context"].vectors, rtol=1e-6
    )
    halves = [
        by_kind[kind].vectors - 0.75 * by_kind[kind].vectors.mean(axis=0) for kind in ("target", "context")
    ]
    np.testing.assert_allclose(by_kind["joined"].vectors, np.hstack(halves), atol=1e-6)
    assert by_kind["joined"].vector_size == 16
    by_kind["joined"].save(tmp_path / "joined.safetensors")
    again = skipstream.load(tmp_path / "joined.safetensors", vectors="joined")
    np.testing.assert_array_equal(again.vectors, by_kind["joined"].vectors)
    assert again.neighbors("tea") == by_kind["joined"].neighbors("tea")
    assert np.shares_memory(by_kind["sum"].vectors, by_kind["sum"].vectors)
    np.testing.assert_array_equal(by_kind["sum"].top(2).vectors, by_kind["sum"].vectors[:2])


@pytest.mark.parametrize("binary", [None, False])
def test_word2vec_text_with_a_limit(wv: Embeddings, tmp_path: Path, binary: bool) -> None:
    wv.save_word2vec_format(tmp_path / "v.txt")
    loaded = Embeddings.load_word2vec_format(tmp_path / "v.txt", binary=binary, limit=2)
    assert loaded.index_to_key == ["tea", "käse"] and not loaded.has_counts
    assert Embeddings.load_word2vec_format(tmp_path / "v.txt", limit=10**30).index_to_key == WORDS


def test_counts_come_from_the_vocabulary_file(wv: Embeddings, tmp_path: Path) -> None:
    wv.save_word2vec_format(tmp_path / "v.bin", fvocab=tmp_path / "v.vocab", binary=True)
    assert (tmp_path / "v.vocab").read_text(encoding="utf8") == "tea 9\nkäse 7\nstone 4\n"
    loaded = Embeddings.load_word2vec_format(tmp_path / "v.bin", fvocab=tmp_path / "v.vocab")
    assert loaded.has_counts and loaded.counts.tolist() == [9, 7, 4]
    (tmp_path / "v.vocab").write_text("tea 9\n")
    with pytest.raises(ValueError, match="`käse` has no count"):
        Embeddings.load_word2vec_format(tmp_path / "v.bin", fvocab=tmp_path / "v.vocab")
    with pytest.raises(ValueError, match="the counts of the words are unknown"):
        Embeddings.from_arrays(WORDS, VECTORS).save_word2vec_format(tmp_path / "v", fvocab=tmp_path / "w")


@pytest.mark.parametrize("policy", ["replace", "skip"])
def test_words_that_are_not_utf8(tmp_path: Path, policy: str) -> None:
    (tmp_path / "v.txt").write_bytes(b"2 1\na\xff 1\nb 2\n")
    with pytest.raises(ValueError, match="line 2: a word is not valid UTF-8"):
        Embeddings.load_word2vec_format(tmp_path / "v.txt")
    loaded = Embeddings.load_word2vec_format(tmp_path / "v.txt", unicode_errors=policy)
    assert loaded.index_to_key == (["a\ufffd", "b"] if policy == "replace" else ["b"])


def test_what_cannot_be_done_is_refused(wv: Embeddings, tmp_path: Path) -> None:
    path = tmp_path / "v"
    for arguments, message in [
        ({"total_vec": 9}, "total_vec is 9; it must be the number of words, 3"),
        ({"append": True}, "append must be false"),
        ({"sort_attr": "length"}, "sort_attr is 'length'"),
        ({"binary": True, "write_header": False}, "write_header must be true"),
        ({"prefix": "a b"}, "prefix is `a b`; it must be without white space"),
    ]:
        with pytest.raises(ValueError, match=message):
            wv.save_word2vec_format(path, **arguments)  # type: ignore[arg-type]
    assert not path.exists()
    wv.save_word2vec_format(path, total_vec=3)
    for arguments, message in [
        ({"encoding": "latin1"}, "encoding is 'latin1'; it must be utf8"),
        ({"unicode_errors": "ignore"}, "unicode_errors is 'ignore'"),
        ({"datatype": np.float16}, "datatype is .*; it must be numpy.float32"),
        ({"no_header": True, "binary": True}, "no_header is for text"),
        ({"limit": -1}, "limit is -1; it must be at least 0"),
        ({"binary": True}, "v: byte"),
    ]:
        with pytest.raises(ValueError, match=message):
            Embeddings.load_word2vec_format(path, **arguments)  # type: ignore[arg-type]
    assert Embeddings.load_word2vec_format(path, encoding="UTF-8").index_to_key == WORDS
    with pytest.raises(ValueError, match="format is `hdf5`; it must be word2vec-text, "):
        wv.save(path, "hdf5")
    with pytest.raises(ValueError, match="glove can be read but not written"):
        wv.save(path, "glove")
    with pytest.raises(
        ValueError, match="this file has one kind of vectors only; it has no separate target vectors"
    ):
        skipstream.load(path, vectors="target")
    with pytest.raises(ValueError, match="vectors is `both`; it must be sum, joined, target or context"):
        skipstream.load(path, vectors="both")
    with pytest.raises(ValueError, match="mmap is 'c'"):
        Embeddings.load(path, mmap="c")


def test_files_that_are_not_there_or_are_something_else(wv: Embeddings, tmp_path: Path) -> None:
    missing = tmp_path / "none.safetensors"
    for read in (skipstream.load, Embeddings.load, Embeddings.load_word2vec_format):
        with pytest.raises(FileNotFoundError) as caught:
            read(missing)
        assert caught.value.filename == str(missing)
    with pytest.raises(FileNotFoundError):
        wv.save(tmp_path / "no" / "folder" / "v")
    for content, message in [
        (b"", "the file is empty"),
        (b"once upon a time\n", "not a model file"),
        (b"\x80\x04\x95", "is a pickle, gensim's own format"),
    ]:
        path = tmp_path / "other"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            skipstream.load(path)
    for wrong in (7, None, 1.5, ["v"]):
        with pytest.raises(TypeError):
            skipstream.load(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        wv.save(tmp_path / "v", 7)  # type: ignore[arg-type]


def test_a_damaged_file_is_refused(wv: Embeddings, tmp_path: Path) -> None:
    path = tmp_path / "v.safetensors"
    wv.save(path)
    content = path.read_bytes()
    for length in (9, 50, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError):
            skipstream.load(path)
