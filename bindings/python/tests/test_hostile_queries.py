"""Whatever is passed, what comes out is an answer or an error of Python's own kinds.

A panic of the engine would be a `PanicException`, which `except Exception` does not catch, and a mistake that was caught
is a `RuntimeError`: neither may be reached by any argument.
"""

from __future__ import annotations

import inspect
import os  # noqa: F401  the sources below name it
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skipstream
from skipstream import Embeddings

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


class Planted(Exception):
    """Raised by an argument itself, so that it must come through."""


ALLOWED = (
    TypeError,
    ValueError,
    KeyError,
    OSError,
    AttributeError,
    ZeroDivisionError,
    OverflowError,
    MemoryError,
    Planted,
)

WORDS = ["tea", "coffee", "stone", "rock", "", "käse", "nothing", "a b"]
VECTORS = np.array(
    [
        [1, 0.1, 3],
        [1, 0.3, -1],
        [0.1, 1, 0],
        [0.2, 2, 1e30],
        [1, 1, 1e-30],
        [-1, 0, 2],
        [0, 0, 0],
        [3e38, 3e38, 3e38],
    ],
    dtype=np.float32,
)
WV = Embeddings.from_arrays(WORDS, VECTORS, counts=[9, 8, 7, 6, 5, 4, 3, 2**63 - 1])
NO_WORDS = Embeddings.from_arrays([], np.zeros((0, 3)))


class Word(str):
    """A word with manners of its own."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise Planted

    def __hash__(self) -> int:
        raise Planted


class Index:
    """A row that asks a question while it is read."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        WV.most_similar("tea")
        if self.value < 0:
            raise Planted
        return self.value


class Odd:
    """Everything about it raises."""

    def __getattr__(self, name: str) -> Any:
        raise Planted

    def __len__(self) -> int:
        raise Planted

    def __iter__(self) -> Iterator[Any]:
        raise Planted

    def __array__(self, *arguments: Any, **names: Any) -> Any:
        raise Planted


def stopping(values: list[Any]) -> Iterator[Any]:
    yield from values
    raise Planted


def without_end(values: list[Any]) -> list[Any]:
    values.append(values)
    return values


# Arguments are drawn as Python's source: what fails can be read and repeated, and Hypothesis need not touch objects that
# raise when they are looked at.
SOURCES = """
None  True  0  1  2  7  8  -1  2**31  2**63-1  2**63  2**64  -2**63  10**400  0.5  -1.0  1e300  1e-300
float("nan")  float("inf")  1j  np.int8(2)  np.uint64(2**64-1)  np.float32("nan")  np.bool_(True)
Index(3)  Index(99)  Index(-1)  Odd()  "tea"  "coffee"  "stone"  "rock"  ""  "käse"  "nothing"  "tae"
"\\0"  "\\ud800"  "tea\\udfff"  "x"*5000  Word("tea")  np.str_("tea")  b"tea"  bytearray(b"tea")
VECTORS[0]  VECTORS[3]  VECTORS  VECTORS[:2]  VECTORS[::2,::-1]  VECTORS.T  np.array(WORDS)
np.array(WORDS,dtype=object)  np.array([np.nan,1,1])  np.array([np.inf,1,1])  np.array([1e300,0,0])
np.array(3.0)  np.array(["tea","x"])  np.ma.masked_array(VECTORS[0],mask=[1,0,1])
np.broadcast_to(np.float32(1),(5,3))  np.ones(6)[::2]  [0.1,0.2,0.3]  []  ()  {}  iter(())  range(3)
range(10**12)[:3]  {"tea":1}.keys()  set()  object()  int  len  WV  memoryview(b"tea")
"""
LEAVES = SOURCES.split()
KINDS = ("f4", "f8", ">f4", "f2", "i8", "u1", "?", "c16", "O", "U3", "M8[s]", "longdouble")
SHAPES = ("()", "(0,)", "(3,)", "(4,)", "(2, 3)", "(0, 3)", "(3, 0)", "(9, 3)", "(1, 1, 3)")

leaves = st.one_of(
    st.sampled_from(LEAVES),
    st.builds("np.ones({}).astype({!r})".format, st.sampled_from(SHAPES), st.sampled_from(KINDS)),
    st.text(max_size=6).map(repr),
    st.floats().map("float('{!r}')".format),
)
hostile = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda items: f"[{', '.join(items)}]"),
        st.builds("({}, {})".format, inner, inner),
        st.builds("stopping([{}, {}])".format, inner, inner),
        st.builds("iter([{}])".format, inner),
        st.builds("without_end([{}])".format, inner),
        st.builds("{{'tea': {}}}".format, inner),
    ),
    max_leaves=5,
)
words = st.sampled_from(WORDS).map(repr)
likely = st.one_of(
    words,
    st.lists(words, max_size=5).map(lambda items: f"[{', '.join(items)}]"),
    st.integers(0, 9).map(repr),
    st.builds("[({}, float('{!r}'))]".format, words, st.floats()),
    st.sampled_from(["VECTORS[0]", "VECTORS[:2]", "None", "True"]),
)


def value(source: str) -> Any:
    return eval(source, globals())


WRITERS = ("save", "save_word2vec_format")
READERS = ("load", "load_word2vec_format", "evaluate_word_pairs", "evaluate_word_analogies")
SPECIAL = ("__getitem__", "__contains__", "__setitem__", "__delitem__", "__iter__", "__len__")
METHODS = [
    name
    for name, _ in inspect.getmembers(Embeddings, callable)
    if (not name.startswith("_") or name in SPECIAL) and name not in (*WRITERS, "plot", "to_gensim")
]


def attempt(function: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    """Calls a function, whose errors must be of Python's own kinds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*arguments, **named)
        except ALLOWED as error:
            assert "internal error" not in str(error)
            repr(error)
        except RecursionError:
            # NumPy and Python give up on lists that hold themselves.
            pass


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=60, deadline=None, database=None)
@given(data=st.data())
def test_queries(method: str, data: st.DataObject) -> None:
    wv = data.draw(st.sampled_from([WV, WV, WV, NO_WORDS, WV.top(1)]))
    function = getattr(wv, method)
    names = list(inspect.signature(function).parameters)
    if not names:
        return attempt(function)
    sources = data.draw(st.dictionaries(st.sampled_from(names), st.one_of(hostile, likely)))
    if method in READERS:
        sources[names[0]] = data.draw(
            st.one_of(hostile, st.sampled_from(["'/'", "os.devnull", "'/none'", "Path('.')"]))
        )
    attempt(lambda: function(**{name: value(source) for name, source in sources.items()}))


@settings(max_examples=100, deadline=None, database=None)
@given(words=hostile, vectors=hostile, counts=hostile)
def test_arrays(words: str, vectors: str, counts: str) -> None:
    attempt(lambda: Embeddings.from_arrays(value(words), value(vectors), value(counts)))
    attempt(lambda: Embeddings.from_arrays(WORDS, value(vectors), value(counts)))
    attempt(lambda: Embeddings.from_arrays(value(words), VECTORS))
    attempt(lambda: Embeddings.from_arrays(WORDS, VECTORS, value(counts)))


NAMES = ("binary", "prefix", "total_vec", "write_header", "append", "sort_attr")


@settings(
    max_examples=60, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sources=st.dictionaries(st.sampled_from(NAMES), hostile), format=hostile)
def test_written_files(sources: dict[str, str], format: str, tmp_path: Path) -> None:
    attempt(
        lambda: WV.save_word2vec_format(
            tmp_path / "v", **{name: value(text) for name, text in sources.items()}
        )
    )
    attempt(lambda: WV.save(tmp_path / "w", value(format)))


@settings(
    max_examples=150,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    content=st.one_of(st.binary(max_size=200), st.text("0123456789 .-ab\n:\t", max_size=80).map(str.encode))
)
def test_files(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    attempt(skipstream.load, path)
    for format in (
        "word2vec-text",
        "word2vec-binary",
        "glove",
        "npy",
        "finalfusion",
        "yskip",
        "safetensors",
        "projector",
    ):
        attempt(skipstream.load, path, format=format)
    attempt(Embeddings.load_word2vec_format, path, fvocab=path, unicode_errors="replace")
    attempt(WV.evaluate_word_pairs, path)
    attempt(WV.evaluate_word_analogies, path)


@settings(
    max_examples=100,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_a_model_with_changed_bytes(data: st.DataObject, tmp_path: Path) -> None:
    path = tmp_path / "v.safetensors"
    WV.save(path)
    content = bytearray(path.read_bytes())
    for place, byte in data.draw(
        st.lists(st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255)), max_size=5)
    ):
        content[place] = byte
    path.write_bytes(bytes(content))

    def ask() -> None:
        wv = skipstream.load(path)
        for word in wv.index_to_key:
            for question in (
                wv.most_similar,
                wv.most_similar_cosmul,
                wv.neighbors,
                wv.__getitem__,
                wv.distances,
            ):
                attempt(question, word)
        attempt(wv.neighbors, list(wv))
        attempt(wv.diff, wv)
        attempt(wv.normalized)
        attempt(lambda: wv.vectors.sum())

    attempt(ask)


def test_a_list_that_changes_while_it_is_read() -> None:
    keys: list[Any] = ["tea", "coffee"]

    class Growing:
        def __index__(self) -> int:
            if len(keys) < 1000:
                keys.extend(["tea"] * 100)
            keys.pop()
            return 1

    keys.insert(1, Growing())
    attempt(WV.neighbors, keys)
    attempt(WV.similarity, keys, keys)
    attempt(lambda: WV[keys])
