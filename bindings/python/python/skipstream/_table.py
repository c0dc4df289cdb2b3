"""Words with their rows, counts and vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from skipstream import _engine
from skipstream._arguments import Key, Term, Vector, Weighting, array, is_key, optional, real, whole
from skipstream._arguments import keys as listed


class Table:
    """Access to words, counts and vectors, without comparisons."""

    __slots__ = (
        "__weakref__",
        "_counts",
        "_engine",
        "_key_to_index",
        "_min_count",
        "_source",
        "_vectors",
        "_words",
        "_words_array",
    )

    def __init__(
        self, engine: _engine.Embeddings, source: str | None = None, min_count: int | None = None
    ) -> None:
        if not isinstance(engine, _engine.Embeddings):
            raise TypeError(
                "create embeddings with skipstream.load, Trainer.embeddings or Embeddings.from_arrays"
            )
        self._engine = engine
        self._source = source
        self._min_count = min_count
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
        """Iterates over the words, most frequent first."""
        return iter(self._engine.words())

    def __getitem__(self, key_or_keys: Key | Iterable[Key]) -> Vector:
        """Returns the vector of a word, or a matrix with a row per word.

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
        """All vectors, one row per word, as a read-only array without a copy.

        It keeps the embeddings alive. For a memory-mapped file, only the rows you read are loaded, so a matrix may be
        larger than memory. The exception are the `"sum"` and the `"joined"` vectors of a trained model, which no file
        holds: the array is computed on first use and cached. Pass `vectors="target"` to `skipstream.load` to avoid that, or
        load a file that `save` wrote.
        """
        if self._vectors is None:
            self._vectors = self._engine.vectors()
        return self._vectors

    @property
    def index_to_key(self) -> list[str]:
        """The words, most frequent first."""
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
        """Whether counts are known. Most other programs' files have none."""
        return self._engine.has_counts

    @property
    def counts(self) -> NDArray[np.int64]:
        """The count of each word. If unknown, descending numbers that end with 1."""
        if self._counts is None:
            self._counts = self._engine.counts()
        return self._counts

    @property
    def default_min_count(self) -> int:
        """The minimum count of answers to queries, unless `min_count` is given.

        One occurrence per 200,000 tokens, at least 1 and at most 20; 0 if counts are unknown.
        """
        return self._engine.default_min_count if self._min_count is None else self._min_count

    def _candidates(self, min_count: int | None, top: int | None) -> int:
        """The number of rows that may be answers: the most frequent words."""
        least = optional("min_count", self._min_count if min_count is None else min_count)
        return self._engine.candidates(least, optional("top", top))

    def get_index(self, key: Key, default: int | None = None) -> int:
        """Returns the row of a word. A valid row number is returned as is.

        For an unknown word, returns `default`, or raises `KeyError` if there is none.
        """
        if default is None:
            return self._engine.row(key)
        row = self._engine.find(key)
        return default if row is None else row

    def has_index_for(self, key: Key) -> bool:
        """Whether the word has a vector."""
        return key in self

    def get_vector(self, key: Key, norm: bool = False) -> Vector:
        """Returns the vector of a word, normalized if `norm` is true."""
        return self._engine.vector(key, bool(norm))

    def get_normed_vectors(self) -> NDArray[np.float32]:
        """Returns a copy of all vectors, normalized. Zero vectors stay zero."""
        return self._engine.unit_vectors()

    def get_vecattr(self, key: Key, attr: str) -> int:
        """Returns the count of a word. `attr` must be `"count"`."""
        if attr != "count":
            raise ValueError(f"attr is {attr!r}; it must be 'count', the only attribute")
        return self._engine.count(key)

    def get_mean_vector(
        self,
        keys: Iterable[Term],
        weights: Iterable[float] | None = None,
        pre_normalize: bool = True,
        post_normalize: bool = False,
        ignore_missing: bool = True,
    ) -> Vector:
        """Returns the weighted mean of words or vectors.

        `pre_normalize` normalizes each word first (vectors are used as given); `post_normalize` normalizes the mean.
        Unknown words are ignored, or raise `KeyError` if `ignore_missing` is false. Weights are divided by the sum of
        their absolute values.

        >>> import skipstream
        >>> wv = skipstream.Embeddings.from_arrays(["east", "north"], [[2, 0], [0, 4]])
        >>> wv.get_mean_vector(["east", "north", "up"], weights=[3, 1, 9])
        array([0.75, 0.25], dtype=float32)
        """
        is_matrix = isinstance(keys, np.ndarray) and keys.dtype.kind in "fiu"
        items: list[Any] = list(array("keys", keys, 2)) if is_matrix else listed("keys", keys)
        if not items:
            raise ValueError("keys is empty; name at least one word or vector")
        weights = [1.0] * len(items) if weights is None else listed("weights", weights)
        numbers = [real(f"weights[{place}]", weight) for place, weight in enumerate(weights)]
        if len(numbers) != len(items):
            raise ValueError(
                f"there are {len(items)} keys and {len(numbers)} weights; they must have the same length"
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

    def mean_vectors(
        self, texts: Iterable[Any], weighting: Weighting = "none", *, normalize: bool = False
    ) -> NDArray[np.float32]:
        """Returns the mean word vector of each text, one row each; zeros if no word is known.

        The same as `Trainer.mean_vectors`: texts are split into words as the text of the model, which a model file and a
        vectors file of skipstream know. Unknown words are estimated after `with_subwords`. `weighting` needs counts.

        >>> import skipstream
        >>> wv = skipstream.Embeddings.from_arrays(["east", "north"], [[2, 0], [0, 4]], counts=[9, 1])
        >>> wv.mean_vectors(["East north", ["up"]])
        array([[1., 2.],
               [0., 0.]], dtype=float32)
        >>> wv.mean_vectors(["east north"], "sif", normalize=True).round(2)
        array([[0.06, 1.  ]], dtype=float32)
        """
        return self._engine.mean_vectors(texts, weighting, bool(normalize))

    def suggestions(self, word: str, n: int = 5) -> list[str]:
        """Returns words with a similar spelling, closest first, then most frequent first.

        >>> import skipstream
        >>> wv = skipstream.Embeddings.from_arrays(["berlin", "paris", "Berlin"], [[1], [2], [3]])
        >>> wv.suggestions("berlni")
        ['berlin', 'Berlin']
        """
        if not isinstance(word, str):
            raise TypeError(f"word is of the type {type(word).__name__}; it must be str")
        return self._engine.suggestions(word, whole("n", n))

    def _words_at(self, rows: NDArray[np.int64]) -> NDArray[np.object_]:
        """The words at the given rows, as an array of the same shape."""
        if self._words_array is None:
            self._words_array = np.array([*self._engine.words(), ""], dtype=object)
        return self._words_array[rows]
