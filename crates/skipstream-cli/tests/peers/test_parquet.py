"""Parquet: pandas, pyarrow, polars and DuckDB."""

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest


@pytest.fixture(scope="module")
def path(skipstream, model):
    return skipstream.export(model, "parquet", "v.parquet")


def test_pyarrow_reads_arrays_of_a_fixed_length(path, vectors):
    table = pyarrow.parquet.read_table(path)
    element = pyarrow.field("element", pyarrow.float32(), nullable=False)
    kinds = [
        ("word", pyarrow.string()),
        ("count", pyarrow.uint64()),
        ("vector", pyarrow.list_(element, 50)),
    ]
    assert [(field.name, field.type) for field in table.schema] == kinds
    assert table["word"].to_pylist() == vectors.words
    assert table["count"].to_pylist() == vectors.counts
    values = table["vector"].combine_chunks().flatten().to_numpy()
    assert values.tobytes() == vectors.matrix.tobytes()
    metadata = pyarrow.parquet.read_metadata(path)
    assert metadata.created_by.startswith("skipstream ")
    assert metadata.row_group(0).column(2).compression == "ZSTD"


def test_pandas_reads_a_frame(path, vectors):
    frame = pandas.read_parquet(path)
    assert frame["word"].tolist() == vectors.words
    assert frame["count"].dtype == numpy.uint64
    assert frame["count"].tolist() == vectors.counts
    assert numpy.stack(frame["vector"]).tobytes() == vectors.matrix.tobytes()


def test_polars_reads_arrays(path, vectors):
    for frame in [polars.read_parquet(path), polars.scan_parquet(path).collect()]:
        assert frame.schema == {
            "word": polars.String,
            "count": polars.UInt64,
            "vector": polars.Array(polars.Float32, 50),
        }
        assert frame["word"].to_list() == vectors.words
        assert frame["count"].to_list() == vectors.counts
        assert frame["vector"].to_numpy().tobytes() == vectors.matrix.tobytes()


def test_duckdb_finds_neighbors(skipstream, model, path, vectors):
    kinds = duckdb.sql(f"DESCRIBE SELECT * FROM '{path}'").fetchall()
    assert [kind[:2] for kind in kinds] == [
        ("word", "VARCHAR"),
        ("count", "UBIGINT"),
        ("vector", "FLOAT[]"),
    ]
    word = vectors.words[3]
    found = duckdb.execute(
        "WITH words AS (SELECT word, vector::FLOAT[50] AS vector FROM read_parquet($path)) "
        "SELECT word FROM words WHERE word <> $word ORDER BY array_cosine_similarity("
        "vector, (SELECT vector FROM words WHERE word = $word)) DESC LIMIT 5",
        {"path": path, "word": word},
    ).fetchall()
    [expected] = skipstream.neighbors(model, [word], 5)
    assert [near for (near,) in found] == [near for near, _ in expected]


def test_every_reader_reads_many_row_groups_and_other_options(skipstream, model, vectors):
    # 1,000 dimensions make row groups of 262 words.
    wide = skipstream.folder / "wide.npy"
    matrix = numpy.tile(vectors.matrix, 20)
    numpy.save(wide, matrix)
    (skipstream.folder / "wide.words.tsv").write_text("\n".join(vectors.words) + "\n", encoding="utf-8")
    path = skipstream.export(wide, "parquet", "wide.parquet", "--top", 1000)
    assert pyarrow.parquet.read_metadata(path).num_row_groups == 4
    for values in [
        pyarrow.parquet.read_table(path)["vector"].combine_chunks().flatten().to_numpy(),
        polars.read_parquet(path)["vector"].to_numpy(),
        duckdb.sql(f"SELECT unnest(vector) AS value FROM '{path}'").fetchnumpy()["value"],
    ]:
        assert values.tobytes() == matrix[:1000].tobytes()
    unit = skipstream.export(model, "parquet", "unit.parquet", "--normalize", "--min-count", 20)
    norms = numpy.linalg.norm(numpy.stack(pandas.read_parquet(unit)["vector"]), axis=1)
    numpy.testing.assert_allclose(norms, 1, rtol=1e-6)


def test_a_vectors_file_is_not_read_from_parquet(skipstream, path):
    done = skipstream.run("neighbors", "--model", path, "word")
    assert done.returncode == 2
