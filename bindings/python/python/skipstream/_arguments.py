"""What people pass, in the one form that the engine takes."""

from __future__ import annotations

import numbers
import operator
import os
import sys
from collections.abc import Iterable
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

FilePath = Union[str, "os.PathLike[str]"]

Key = Union[str, int, "np.integer[Any]"]
"""A word, or its row."""

Vector = NDArray[np.float32]

Term = Union[Key, Vector]
"""A word, its row, or a vector."""

Terms = Union[Key, NDArray[Any], Iterable[Union[Key, NDArray[Any], "tuple[Any, float]"]], None]
"""One of them, or several, with weights or without."""


def whole(name: str, value: Any, least: int = 0) -> int:
    """A whole number that is not too small. One that is too large for any machine is as good as the largest."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is {value}; it must be an int")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {_kind(value)}; it must be an int") from None
    if number < least:
        raise ValueError(f"{name} is {number}; it must be at least {least}")
    return min(number, sys.maxsize)


def optional(name: str, value: Any, least: int = 0) -> int | None:
    """A whole number, or nothing."""
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
    """Numbers in so many dimensions of an array."""
    values = np.asarray(value)
    if values.dtype.kind not in "fiu" and values.size:
        raise TypeError(f"{name} has values of the type {values.dtype}; they must be real numbers")
    if values.ndim != dimensions:
        raise ValueError(f"{name} has {values.ndim} dimensions of an array; it must have {dimensions}")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, dtype=np.float32)


def is_key(value: Any) -> bool:
    """Whether something names one word."""
    return isinstance(value, (str, int, np.integer))


def keys(name: str, value: Any) -> list[Any]:
    """Words of any iterable. A string would be taken for its letters, which nobody means."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"{name} is {_kind(value)}; it must be a list")
    return list(value)


def terms(name: str, value: Any) -> list[tuple[Term, float | None]]:
    """Words and vectors with their weights, as gensim takes them: one of them, or a list, or pairs with a weight."""
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
