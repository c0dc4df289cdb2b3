"""Columns of tables: pandas, polars, and all that speaks Arrow."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skipstream import Trainer

pa = pytest.importorskip("pyarrow")

TEXTS = ["tea with milk", None, "coffee\nwith sugar", "", "naïve 日本 😀"]


def small(**settings: Any) -> Trainer:
    return Trainer(**{"dimensions": 8, "subsample": 0, "threads": 1, "max_vocabulary": 1000, **settings})


def saved(trainer: Trainer, path: Path) -> bytes:
    trainer.save(path)
    return path.read_bytes()


def only(name: str, column: Any) -> Any:
    """Something that has nothing but one method of the interface."""
    return type("Only", (), {name: lambda self, schema=None: getattr(column, name)()})()


STRINGS = {
    "string": lambda: pa.array(TEXTS),
    "large": lambda: pa.array(TEXTS, pa.large_string()),
    "view": lambda: pa.array(TEXTS, pa.string_view()),
    "dictionary": lambda: pa.array(TEXTS).dictionary_encode(),
    "chunks": lambda: pa.chunked_array([TEXTS[:2], [], TEXTS[2:]], pa.string()),
    "slice": lambda: pa.array(["before", *TEXTS, "behind"])[1:-1],
    "dictionary slice": lambda: pa.array(["before", *TEXTS, "behind"]).dictionary_encode()[1:-1],
    "column": lambda: pa.table({"number": range(5), "text": TEXTS})["text"],
    "one array": lambda: only("__arrow_c_array__", pa.array(TEXTS)),
    "one stream": lambda: only("__arrow_c_stream__", pa.chunked_array([TEXTS])),
}


@pytest.mark.parametrize("name", STRINGS)
def test_every_layout_of_strings_is_the_same_text(name: str, tmp_path: Path) -> None:
    trainer, expected = small(), small()
    summary = trainer.train(STRINGS[name]())
    expected.train([text for text in TEXTS if text is not None])
    assert (summary.words, summary.missing) == (9, 1)
    assert saved(trainer, tmp_path / "a") == saved(expected, tmp_path / "b")


LISTS = [["tea", "with", "milk"], None, [], ["coffee", None, ""], ["New York"]]


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.string()),
        pa.large_list(pa.string()),
        pa.list_(pa.large_string()),
        pa.list_(pa.string_view()),
        pa.list_(pa.dictionary(pa.int32(), pa.string())),
    ],
    ids=str,
)
def test_every_layout_of_lists_is_the_same_tokens(kind: Any, tmp_path: Path) -> None:
    trainer, expected = small(), small()
    # Not by a cast: pyarrow 21 makes views of it whose buffers it cannot give out without a crash.
    column = pa.array([["before"], *LISTS], kind)
    summary = trainer.train(column[1:])
    expected.train([["tea", "with", "milk"], [], ["coffee", ""], ["New York"]])
    assert (summary.words, summary.missing, summary.short_tokens) == (5, 2, 1)
    assert saved(trainer, tmp_path / "a") == saved(expected, tmp_path / "b")


def test_a_long_column_comes_in_pieces(tmp_path: Path) -> None:
    lines = [f"w{number % 91} w{number % 13} w{number % 7}" for number in range(60_000)]
    trainer, lists, expected = small(), small(), small()
    fractions: list[Any] = []
    summary = trainer.train(
        pa.array(lines), callback=lambda progress: fractions.append(progress.fraction), interval=0
    )
    lists.train(pa.array([line.split() for line in lines]))
    encoded = small()
    encoded.train(
        pa.array([line.split() for line in lines], pa.list_(pa.dictionary(pa.int32(), pa.string())))
    )
    expected.train(lines)
    assert summary.words == 180_000
    assert saved(encoded, tmp_path / "a") == saved(lists, tmp_path / "b")
    assert fractions[-1] == 1.0 and all(0 < fraction <= 1 for fraction in fractions)
    assert saved(trainer, tmp_path / "a") == saved(expected, tmp_path / "b")
    np.testing.assert_array_equal(lists.vectors_of(["w1", "w90"]), expected.vectors_of(["w1", "w90"]))


@pytest.mark.parametrize(
    "column",
    [
        pa.array([], pa.string()),
        pa.array([None, None]),
        pa.array([None], pa.dictionary(pa.int8(), pa.string())),
    ],
    ids=["empty", "nothing", "no values"],
)
def test_nothing_is_nothing(column: Any) -> None:
    summary = small().train(column)
    assert (summary.words, summary.missing) == (0, len(column))


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2]),
        pa.array([b"bytes"]),
        pa.array([[1]]),
        pa.array([[["deep"]]]),
        pa.array([True]),
        pa.array([1.5]),
    ],
    ids=lambda column: str(column.type),
)
def test_other_columns_are_refused_by_name(column: Any) -> None:
    with pytest.raises(TypeError, match=r"sentences is a column of .*; it must be one of strings"):
        small().train(column)


def test_a_whole_table_is_refused() -> None:
    with pytest.raises(ValueError, match=r'choose the column that is text, as in train\(table\["text"\]\)'):
        small().train(pa.table({"a": TEXTS, "b": TEXTS}))
    for name in ("pandas", "polars"):
        library = pytest.importorskip(name)
        with pytest.raises(ValueError, match="choose the column"):
            small().train(library.DataFrame({"a": TEXTS, "b": TEXTS}))


def test_pandas(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    expected = small()
    expected.train([text for text in TEXTS if text is not None])
    model = saved(expected, tmp_path / "expected")
    frame = pandas.DataFrame({"text": TEXTS})
    missing = [*TEXTS[:1], float("nan"), *TEXTS[2:]]
    for number, column in enumerate(
        [
            frame["text"],
            pandas.Series(TEXTS, dtype=object),
            pandas.Series(missing, dtype=object),
            pandas.Series([*TEXTS[:1], pandas.NA, *TEXTS[2:]], dtype=object),
            pandas.Series(TEXTS, dtype="string"),
            pandas.Series(TEXTS, dtype="category"),
            pandas.Series(TEXTS, dtype=pandas.ArrowDtype(pa.string())),
            pandas.Index(TEXTS),
        ]
    ):
        trainer = small()
        assert trainer.train(column).missing == 1, number
        assert saved(trainer, tmp_path / str(number)) == model, number
        assert trainer.mean_vectors(column).shape == (5, 8)
        assert not trainer.mean_vectors(column)[1].any()
    tokens = pandas.Series([["tea"], None, ["milk", "tea"]])
    assert small().train(tokens).words == 3
    assert small().train(frame["text"].iloc[2:]).words == 6
    with pytest.raises(TypeError, match="item 1 of sentences is int"):
        small().train(pandas.Series([1, "a"], dtype=object))


def test_pandas_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(TEXTS, dtype="string[python]" if pandas.__version__ < "3" else "str")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    summary = small().train(column)
    assert (summary.words, summary.missing) == (9, 1)


def test_polars(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    expected = small()
    expected.train([text for text in TEXTS if text is not None])
    for column in (
        polars.Series(TEXTS),
        polars.DataFrame({"text": TEXTS})["text"],
        polars.Series(TEXTS, dtype=polars.Categorical),
    ):
        trainer = small()
        assert trainer.train(column).missing == 1
        assert saved(trainer, tmp_path / "a") == saved(expected, tmp_path / "b")
        assert trainer.mean_vectors(column).shape == (5, 8)
    assert small().train(polars.Series([["tea", "milk"], None])).words == 2


def test_passes_read_a_column_again_and_a_reader_only_once() -> None:
    trainer = small(strategy="word2vec", passes=3)
    assert trainer.train(pa.chunked_array([TEXTS])).words == 9
    reader = pa.RecordBatchReader.from_batches(pa.schema([("text", pa.string())]), [])
    with pytest.raises(ValueError):
        small(strategy="word2vec").train(reader)


@pytest.mark.parametrize("given", [None, 5, (), (1, 2), "stream"])
def test_what_only_looks_like_a_column_is_refused(given: Any) -> None:
    for name in ("__arrow_c_stream__", "__arrow_c_array__"):
        lying = type("Lying", (), {name: lambda self, schema=None: given})()
        with pytest.raises((TypeError, ValueError, IndexError)):
            small().train(lying)
    with pytest.raises((TypeError, ValueError)):
        wrong = type("Wrong", (), {"__arrow_c_stream__": lambda self: pa.array(TEXTS).__arrow_c_array__()[1]})
        small().train(wrong())


@pytest.mark.parametrize("name", ["__arrow_c_stream__", "__arrow_c_array__"])
def test_buffers_can_be_given_out_only_once(name: str) -> None:
    column = pa.chunked_array([TEXTS]) if name == "__arrow_c_stream__" else pa.array(TEXTS)
    given = getattr(column, name)()
    trainer = small()
    again = type("Again", (), {name: lambda self, schema=None: given})()
    assert trainer.train(again).words == 9
    with pytest.raises(ValueError, match=r"sentences: .*(released|exported before)"):
        trainer.train(again)


@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_column_is_two_capsules(number: int) -> None:
    given = (pa.array(TEXTS).__arrow_c_array__() * 2)[:number]
    with pytest.raises(ValueError, match="length 2"):
        small().train(type("Other", (), {"__arrow_c_array__": lambda self, schema=None: given})())


@pytest.mark.parametrize(
    ("named", "is_really"),
    [
        (pa.array(TEXTS), pa.array([1, 2, 3])),
        (pa.array(TEXTS), pa.array([["tea"], ["milk"]])),
        (pa.array(TEXTS, pa.string_view()), pa.array([1, 2])),
        (pa.array([["tea"], ["milk"]]), pa.array(TEXTS)),
        (pa.array([["tea"], ["milk"]]), pa.array([[1], [2]])),
        (pa.array(TEXTS).dictionary_encode(), pa.array([1, 2])),
        (pa.array(TEXTS), pa.array(TEXTS).dictionary_encode()),
    ],
    ids=lambda column: str(column.type),
)
def test_a_column_of_another_type_than_it_says_is_refused(named: Any, is_really: Any) -> None:
    given = (named.__arrow_c_array__()[0], is_really.__arrow_c_array__()[1])
    with pytest.raises(ValueError, match=r"sentences: .*the array is not one of"):
        small().train(type("Lying", (), {"__arrow_c_array__": lambda self, schema=None: given})())


def test_bytes_that_are_not_utf_8_are_not_believed() -> None:
    offsets, text = pa.py_buffer(np.array([0, 2, 4], np.int32)), pa.py_buffer(b"\xff\xfe\xfd\xfc")
    column = pa.Array.from_buffers(pa.string(), 2, [None, offsets, text])
    with pytest.raises(ValueError, match=r"(?i)utf-?8"):
        small().train(column)
