"""Argument checking and conversion for the engine."""

from __future__ import annotations

import numbers
import operator
import os
import sys
from collections.abc import Iterable
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from skipstream import _engine

FilePath = str | os.PathLike[str]

Key = str | int | np.integer[Any]
"""A word, or its row."""

Vector = NDArray[np.float32]

WhichVectors = Literal["sum", "joined", "target", "context"]
"""The target vectors, the context vectors, their sum, or both centered and joined."""

DEFAULT_VECTORS = cast("WhichVectors", _engine.DEFAULT_VECTORS)

Weighting = Literal["none", "idf", "sif"]
"""How much each word of a text counts in the text's vector."""

TextFormat = Literal["text", "jsonl", "csv", "tsv", "parquet"]
VectorsFormat = Literal[
    "safetensors", "word2vec-text", "word2vec-binary", "npy", "finalfusion", "projector", "parquet"
]
Quantization = Literal["f16", "int8"]
"""Vectors in half precision, or in bytes with one scale per vector."""

ReadableFormat = Literal[
    "safetensors",
    "word2vec-text",
    "word2vec-binary",
    "npy",
    "finalfusion",
    "projector",
    "glove",
    "yskip",
]

Term = Key | Vector
"""A word, its row, or a vector."""

Terms = Key | NDArray[Any] | Iterable[Key | NDArray[Any] | tuple[Any, float]] | None
"""One term or several, with or without weights."""


def whole(name: str, value: Any, least: int = 0, most: int | None = None) -> int:
    """An int within limits. Without an upper limit, values beyond `sys.maxsize` are clamped to it."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is {value}; it must be an int")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {_kind(value)}; it must be an int") from None
    if number < least or (most is not None and number > most):
        limit = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} is {number}; it must be {limit}")
    return min(number, sys.maxsize)


def optional(name: str, value: Any, least: int = 0) -> int | None:
    """An int or None."""
    return None if value is None else whole(name, value, least)


def real(name: str, value: Any) -> float:
    """A number."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is {_kind(value)}; it must be a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is {value!r:.20}…; it must be a finite number") from None


def array(name: str, value: Any, dimensions: int) -> NDArray[np.float32]:
    """A float32 array with the given number of dimensions."""
    values = np.asarray(value)
    if values.dtype.kind not in "fiu" and values.size:
        raise TypeError(f"{name} has values of the type {values.dtype}; they must be real numbers")
    if values.ndim != dimensions:
        raise ValueError(f"{name} has {values.ndim} array dimensions; it must have {dimensions}")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, dtype=np.float32)


def is_key(value: Any) -> bool:
    """Whether the value names one word."""
    return isinstance(value, (str, int, np.integer))


def keys(name: str, value: Any) -> list[Any]:
    """A list of words. A single string is refused, because iterating it would give its letters."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"{name} is {_kind(value)}; it must be a list")
    return list(value)


def terms(name: str, value: Any) -> list[tuple[Term, float | None]]:
    """Words and vectors with weights, in the forms gensim accepts: a single term, a list, or pairs with a weight."""
    if value is None:
        return []
    if is_key(value):
        return [(value, None)]
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
        if value.ndim == 1:
            return [(array(name, value, 1), None)]
        return [(vector, None) for vector in array(name, value, 2)]
    return [_term(f"{name}[{place}]", item) for place, item in enumerate(keys(name, value))]


def _term(name: str, item: Any) -> tuple[Term, float | None]:
    if isinstance(item, (tuple, list)) and len(item) == 2 and not isinstance(item[0], float):
        return _unweighted(f"{name}[0]", item[0]), real(f"{name}[1]", item[1])
    return _unweighted(name, item), None


def _unweighted(name: str, item: Any) -> Term:
    if isinstance(item, np.ndarray):
        return array(name, item, 1)
    if is_key(item):
        return item  # type: ignore[no-any-return]
    raise TypeError(
        f"{name} is {_kind(item)}; it must be a word, a row, a vector (a NumPy array), or a pair of one of them and a weight"
    )


def _kind(value: Any) -> str:
    return "None" if value is None else f"of the type {type(value).__name__}"
