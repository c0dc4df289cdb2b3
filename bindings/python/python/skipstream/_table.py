"""Words with their rows, counts and vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from skipstream import _engine
from skipstream._arguments import Key, Term, Vector, array, is_key, real, whole
from skipstream._arguments import keys as listed


class Table:
    """What is read of embeddings without comparing anything."""

    __slots__ = (
        "__weakref__",
        "_counts",
        "_engine",
        "_key_to_index",
        "_source",
        "_vectors",
        "_words",
        "_words_array",
    )

    def __init__(self, engine: _engine.Embeddings, source: str | None = None) -> None:
        if not isinstance(engine, _engine.Embeddings):
            raise TypeError(
                "embeddings are made by skipstream.load, Trainer.embeddings or Embeddings.from_arrays"
            )
        self._engine = engine
        self._source = source
        self._words: list[str] | None = None
        self._words_array: NDArray[np.object_] | None = None
        self._key_to_index: dict[str, int] | None = None
        self._counts: NDArray[np.int64] | None = None
        self._vectors: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self._engine)

    def __contains__(self, key: object) -> bool:
        return key in self._engine

    def __iter__(self) -> Iterator[str]:
        """The words, the most frequent first: what `in` finds."""
        return iter(self._engine.words())

    def __getitem__(self, key_or_keys: Key | Iterable[Key]) -> Vector:
        """The vector of a word, or a matrix with a row for each of several words.

        >>> import skipstream
        >>> wv = skipstream.Embeddings.from_arrays(["tea", "milk"], [[1, 0], [0, 1]])
        >>> wv["tea"]
        array([1., 0.], dtype=float32)
        >>> wv[["milk", "tea", "milk"]].shape
        (3, 2)
        """
        if is_key(key_or_keys):
            return self._engine.vector(key_or_keys)
        return self._engine.vectors_of(listed("the key", cast("Iterable[Key]", key_or_keys)))

    @property
    def vector_size(self) -> int:
        """The number of dimensions."""
        return self._engine.dimensions

    @property
    def vectors(self) -> NDArray[np.float32]:
        """All vectors, one row for each word: an array that nobody can write into and that copies nothing.

        It keeps the embeddings alive. Where they were loaded from a file of skipstream, it looks at the file in place, so
        that a matrix larger than memory costs only the rows that are read. One matrix is not in any file: the sum of
        targets and contexts of a trained model. It is made when it is first asked for and kept; `vectors="target"` in
        `skipstream.load` gives rows that lie in the file.
        """
        if self._vectors is None:
            self._vectors = self._engine.vectors()
        return self._vectors

    @property
    def index_to_key(self) -> list[str]:
        """The words, the most frequent first."""
        if self._words is None:
            self._words = self._engine.words()
        return self._words

    @property
    def key_to_index(self) -> dict[str, int]:
        """The row of each word."""
        if self._key_to_index is None:
            self._key_to_index = {word: row for row, word in enumerate(self._engine.words())}
        return self._key_to_index

    @property
    def has_counts(self) -> bool:
        """Whether it is known how often words were seen. Most files of other programs do not say it."""
        return self._engine.has_counts

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each word was seen. Where that is not known, numbers that keep the order: the last word has 1."""
        if self._counts is None:
            self._counts = self._engine.counts()
        return self._counts

    def get_index(self, key: Key, default: int | None = None) -> int:
        """The row of a word; a number that is a row stands for itself.

        A word that is not known gives `default`, or a `KeyError` where there is none.
        """
        if default is None:
            return self._engine.row(key)
        row = self._engine.find(key)
        return default if row is None else row

    def has_index_for(self, key: Key) -> bool:
        """Whether there is a vector for this word."""
        return key in self

    def get_vector(self, key: Key, norm: bool = False) -> Vector:
        """The vector of a word, at length 1 if `norm` is true."""
        return self._engine.vector(key, bool(norm))

    def get_normed_vectors(self) -> NDArray[np.float32]:
        """A copy of all vectors, each at length 1. A vector without direction is all zeros."""
        return self._engine.unit_vectors()

    def get_vecattr(self, key: Key, attr: str) -> int:
        """How often a word was seen, if `attr` is `"count"`; nothing else is kept of a word."""
        if attr != "count":
            raise ValueError(f"attr is {attr!r}; it must be 'count', which is all that is kept of a word")
        return self._engine.count(key)

    def get_mean_vector(
        self,
        keys: Iterable[Term],
        weights: Iterable[float] | None = None,
        pre_normalize: bool = True,
        post_normalize: bool = False,
        ignore_missing: bool = True,
    ) -> Vector:
        """The weighted mean of words (or vectors, which are taken as they are).

        `pre_normalize` takes each word at length 1, `post_normalize` brings the mean to length 1. Words that are not known
        are left out, or a `KeyError` if `ignore_missing` is false. Weights are divided by their sum without signs.

        >>> import skipstream
        >>> wv = skipstream.Embeddings.from_arrays(["east", "north"], [[2, 0], [0, 4]])
        >>> wv.get_mean_vector(["east", "north", "up"], weights=[3, 1, 9])
        array([0.75, 0.25], dtype=float32)
        """
        is_matrix = isinstance(keys, np.ndarray) and keys.dtype.kind in "fiu"
        items: list[Any] = list(array("keys", keys, 2)) if is_matrix else listed("keys", keys)
        if not items:
            raise ValueError("keys is empty; a mean needs at least one word or vector")
        weights = [1.0] * len(items) if weights is None else listed("weights", weights)
        numbers = [real(f"weights[{place}]", weight) for place, weight in enumerate(weights)]
        if len(numbers) != len(items):
            raise ValueError(
                f"there are {len(items)} keys and {len(numbers)} weights; there must be as many of both"
            )
        used: list[tuple[Term, float]] = []
        for place, (item, weight) in enumerate(zip(items, numbers)):
            if isinstance(item, np.ndarray):
                used.append((array(f"keys[{place}]", item, 1), weight))
            elif not ignore_missing or self._engine.find(item) is not None:
                used.append((item, weight))
        mean = self._engine.mean(used, bool(pre_normalize))
        norm = float(np.linalg.norm(mean.astype(np.float64)))
        return (mean / norm).astype(np.float32) if post_normalize and norm > 0 else mean

    def suggestions(self, word: str, n: int = 5) -> list[str]:
        """Words that are spelled nearly like this one, the nearest first and of those the most frequent.

        >>> import skipstream
        >>> wv = skipstream.Embeddings.from_arrays(["berlin", "paris", "Berlin"], [[1], [2], [3]])
        >>> wv.suggestions("berlni")
        ['berlin', 'Berlin']
        """
        if not isinstance(word, str):
            raise TypeError(f"word is of the type {type(word).__name__}; it must be str")
        return self._engine.suggestions(word, whole("n", n))

    def _words_at(self, rows: NDArray[np.int64]) -> NDArray[np.object_]:
        """The words of rows, as an array of the same shape."""
        if self._words_array is None:
            self._words_array = np.array([*self._engine.words(), ""], dtype=object)
        return self._words_array[rows]
