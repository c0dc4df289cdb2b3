"""Read-only word vectors."""

from __future__ import annotations

import importlib
import os
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from skipstream import _engine
from skipstream._arguments import (
    DEFAULT_VECTORS,
    FilePath,
    Key,
    Quantization,
    ReadableFormat,
    VectorsFormat,
    WhichVectors,
    array,
    keys,
    optional,
    whole,
)
from skipstream._drift import Drift
from skipstream._evaluation import Evaluation, check_encoding
from skipstream._queries import Queries

_FIXED = "embeddings are immutable; "

_ABSENT = {
    "add_vector": _FIXED + "create new ones with Embeddings.from_arrays, or continue training with a Trainer",
    "add_vectors": _FIXED
    + "create new ones with Embeddings.from_arrays, or continue training with a Trainer",
    "set_vecattr": _FIXED + "create new ones with Embeddings.from_arrays(words, vectors, counts)",
    "allocate_vecattrs": _FIXED + "create new ones with Embeddings.from_arrays(words, vectors, counts)",
    "resize_vectors": _FIXED + "create new ones with Embeddings.from_arrays",
    "unit_normalize_all": _FIXED + "normalized() returns a copy with unit vectors",
    "intersect_word2vec_format": _FIXED + "Trainer(init=path) initializes training from a vectors file",
    "wmdistance": "skipstream has no Word Mover's Distance; use to_gensim().wmdistance",
    "vectors_norm": "use get_normed_vectors()",
    "norms": "use numpy.linalg.norm(embeddings.vectors, axis=1)",
    "index2word": "use index_to_key",
    "index2entity": "use index_to_key",
    "vocab": "use key_to_index, and get_vecattr(word, 'count')",
    "expandos": "use counts, or get_vecattr(word, 'count')",
    "words_closer_than": "use closer_than",
    "word_vec": "use get_vector",
    "wv": "these are the vectors themselves: omit .wv",
}
"""Attributes of gensim's KeyedVectors that are absent here, with alternatives."""


class Embeddings(Queries, Evaluation):
    """Words with counts and vectors, with an API like gensim's `KeyedVectors`. Immutable.

    `Trainer.embeddings` returns them, `skipstream.load` reads them from a file, and `Embeddings.from_arrays` creates them
    from arrays. Words are sorted by frequency, the most frequent in row 0. A method that takes a word also takes its row
    number. The similarity to a zero vector is 0, never NaN.

    >>> import skipstream
    >>> wv = skipstream.Embeddings.from_arrays(
    ...     ["tea", "coffee", "stone"], [[1, 0.1], [1, 0.3], [0.1, 1]], counts=[9, 7, 4]
    ... )
    >>> wv
    <skipstream.Embeddings: 3 words of 2 dimensions>
    >>> wv.most_similar("tea", topn=1)[0][0]
    'coffee'
    """

    __slots__ = ()

    @classmethod
    def from_arrays(
        cls, words: Iterable[str], vectors: ArrayLike, counts: Iterable[int] | None = None
    ) -> Embeddings:
        """Creates embeddings from words, a matrix with one row per word, and optional counts.

        Rows are sorted by count. Without counts they keep their order, which should be by descending frequency. Vectors are
        copied as 32-bit floats.
        """
        given = keys("words", words)
        matrix = array("vectors", vectors, 2) if given else np.zeros((0, _width(vectors)), dtype=np.float32)
        numbers = None if counts is None else [_count(count) for count in counts]
        return cls(_engine.Embeddings.from_arrays(given, matrix, numbers))

    @classmethod
    def load(
        cls,
        path: FilePath,
        vectors: WhichVectors = DEFAULT_VECTORS,
        format: ReadableFormat | None = None,
        *,
        mmap: Literal["r"] | None = "r",
    ) -> Embeddings:
        """Loads vectors from a file; see `skipstream.load`. skipstream files are always memory-mapped."""
        if mmap not in (None, "r"):
            raise ValueError(f"mmap is {mmap!r}; it must be 'r' or None: vectors are read-only")
        if not isinstance(vectors, str):
            raise TypeError(f"vectors is of the type {type(vectors).__name__}; it must be str")
        refuse_pickle(path, "load that file")
        return cls(_engine.Embeddings.load(path, vectors, format), os.path.basename(os.fsdecode(path)))

    @classmethod
    def load_word2vec_format(
        cls,
        fname: FilePath,
        fvocab: FilePath | None = None,
        binary: bool | None = None,
        encoding: str = "utf8",
        unicode_errors: Literal["strict", "replace", "skip"] = "strict",
        limit: int | None = None,
        datatype: Any = np.float32,
        no_header: bool = False,
    ) -> Embeddings:
        """Loads a word2vec, fastText `.vec` or (with `no_header`) GloVe file, compressed or not.

        If `binary` is None, the format is detected. `fvocab` is word2vec's vocabulary file with counts. `unicode_errors` is
        the policy for words that are not UTF-8: `"strict"` raises an error, `"replace"` inserts replacement characters,
        `"skip"` leaves the words out. `limit` reads only the first words.
        """
        check_encoding(encoding)
        policies = {"strict": "error", "replace": "replace", "skip": "skip"}
        if unicode_errors not in policies:
            raise ValueError(
                f"unicode_errors is {unicode_errors!r}; it must be 'strict', 'replace' or 'skip'"
            )
        if np.dtype(datatype) != np.float32:
            raise ValueError(
                f"datatype is {datatype!r}; it must be numpy.float32: convert `vectors` afterwards"
            )
        if no_header and binary:
            raise ValueError("no_header is for text files; a binary file needs the sizes in its first line")
        format = "glove" if no_header else None
        if format is None and binary is not None:
            format = "word2vec-binary" if binary else "word2vec-text"
        engine = _engine.Embeddings.load(
            fname, DEFAULT_VECTORS, format, policies[unicode_errors], optional("limit", limit) or None, fvocab
        )
        return cls(engine, os.path.basename(os.fsdecode(fname)))

    def save(
        self, path: FilePath, format: VectorsFormat | None = None, quantize: Quantization | None = None
    ) -> None:
        """Writes words, counts and vectors to a file, atomically.

        `format` defaults to `"safetensors"`, the format that `skipstream.load` memory-maps. Other formats are
        `"word2vec-text"`, `"word2vec-binary"`, `"npy"`, `"finalfusion"`, `"projector"` and `"parquet"`. pandas, polars and
        DuckDB read `"parquet"`, and skipstream does not.

        `quantize` stores the vectors of a safetensors file in fewer bytes: `"f16"`, half the size, or `"int8"`, a quarter.
        The file is opened like any other; `vectors` and `wv[word]` are float32.

        >>> import skipstream, tempfile
        >>> wv = skipstream.Embeddings.from_arrays(["tea", "milk"], [[1, 0], [0, 1]], counts=[7, 5])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wv.save(f"{folder}/drinks.safetensors")
        ...     skipstream.load(f"{folder}/drinks.safetensors")
        <skipstream.Embeddings: 2 words of 2 dimensions, mapped from drinks.safetensors>
        """
        self._engine.save(path, "safetensors" if format is None else format, quantize)

    def save_word2vec_format(
        self,
        fname: FilePath,
        fvocab: FilePath | None = None,
        binary: bool = False,
        total_vec: int | None = None,
        write_header: bool = True,
        prefix: str = "",
        append: bool = False,
        sort_attr: str = "count",
    ) -> None:
        """Writes a word2vec file, and a vocabulary file with counts if `fvocab` is given.

        File name extensions select compression (`.gz`, `.zst`, `.bz2`, `.xz`). Files are written atomically.
        `write_header=False` omits the first line of a text file, as in GloVe. `prefix` is prepended to each word.
        """
        if total_vec is not None and whole("total_vec", total_vec) != len(self):
            raise ValueError(f"total_vec is {total_vec}; it must be the number of words, {len(self)}")
        if append:
            raise ValueError("append must be false: files are written atomically")
        if sort_attr != "count":
            raise ValueError(
                f"sort_attr is {sort_attr!r}; it must be 'count': words are always sorted by count"
            )
        if binary and not write_header:
            raise ValueError("write_header must be true for a binary file, which cannot be read without it")
        if fvocab is not None:
            self._engine.save_counts(fvocab, prefix)
        self._engine.save_word2vec(fname, bool(binary), bool(write_header), prefix)

    def to_gensim(self) -> Any:
        """Returns a copy as gensim's `KeyedVectors`, with counts."""
        try:
            models = importlib.import_module("gensim.models")
        except ImportError as error:
            message = "to_gensim needs gensim: pip install 'skipstream[gensim]', or pip install gensim"
            raise ImportError(message) from error
        copy = models.KeyedVectors(self.vector_size)
        copy.add_vectors(self._engine.words(), np.array(self.vectors))
        copy.allocate_vecattrs(["count"], [np.int64])
        copy.expandos["count"][:] = self.counts
        copy.next_index = len(self)
        return copy

    def diff(
        self,
        other: Embeddings,
        *,
        top: int = 20_000,
        min_count: int = 20,
        listed: int = 20,
        neighbors: int = 10,
    ) -> Drift:
        """Returns what changed from these embeddings to a later state of the same model.

        Compares the `top` most frequent shared words with a count of at least `min_count` in both. Lists up to `listed`
        moved, new and departed words, the moved ones with `neighbors` nearest words before and after.

        >>> import skipstream
        >>> monday = skipstream.Embeddings.from_arrays(["tea", "milk", "ink"], [[1, 0.1], [1, 0.2], [0, 1]], [90, 80, 70])
        >>> friday = skipstream.Embeddings.from_arrays(["tea", "milk", "jam"], [[0.1, 1], [0.2, 1], [1, 1]], [95, 85, 30])
        >>> monday.diff(friday)
        <skipstream.Drift: 3 → 3 words, 2 in both; 1 arrived, 1 left, 0 moved more than by chance
          arrived: jam
          left: ink
          warning: too little new text to tell movement from chance>
        """
        if not isinstance(other, Embeddings):
            raise TypeError(f"other is of the type {type(other).__name__}; it must be Embeddings")
        numbers = {"top": top, "min_count": min_count, "listed": listed, "neighbors": neighbors}
        checked = {name: whole(name, number) for name, number in numbers.items()}
        return Drift._from_json(_engine.drift(self._engine, other._engine, **checked))

    def top(self, n: int) -> Embeddings:
        """Returns the `n` most frequent words. Memory is shared."""
        return Embeddings(self._engine.top(whole("n", n)), self._source, self._min_count)

    def with_min_count(self, n: int) -> Embeddings:
        """Returns the words with a count of at least `n`. Memory is shared."""
        return Embeddings(self._engine.with_min_count(whole("n", n)), self._source, self._min_count)

    def normalized(self) -> Embeddings:
        """Returns a copy with unit vectors."""
        return Embeddings(self._engine.normalized())

    def with_subwords(
        self, *, buckets: int | None = None, min_n: int | None = None, max_n: int | None = None
    ) -> Embeddings:
        """Returns the same vectors, with estimates of unknown and rare words in every query and evaluation.

        Character n-grams are fitted to the vectors once, which takes a second or two per 100,000 words. An unknown word
        then gets a vector that is estimated from its spelling, and the vector of a word with fewer than 1,000 occurrences
        is blended with its estimate; `source` says which. Answers are always words of the vocabulary, and `in` and `len`
        are about the vocabulary only.

        `buckets` is the number of rows of the table (default: 200,000; more are better and slower). N-grams have from
        `min_n` to `max_n` characters (default: 3 to 6), including marks of the beginning and the end of the word.

        >>> import skipstream
        >>> wv = skipstream.Embeddings.from_arrays(
        ...     ["walking", "walked", "stone"], [[1, 0.1], [1, -0.1], [-0.1, 1]]
        ... ).with_subwords()
        >>> "walks" in wv, wv.source("walks"), wv.source("stone")
        (False, 'subwords', 'vocabulary')
        >>> wv.most_similar("walks", topn=2)[-1][0] == "stone"
        False
        """
        defaults = _engine.Embeddings.subword_defaults()
        names = ("buckets", "min_n", "max_n")
        given = (optional(name, value) for name, value in zip(names, (buckets, min_n, max_n)))
        options = (default if value is None else value for value, default in zip(given, defaults))
        return Embeddings(self._engine.with_subwords(*options), self._source, self._min_count)

    def source(self, key: Key) -> Literal["vocabulary", "blend", "subwords"]:
        """Returns where the vector of a word comes from.

        `"vocabulary"` is the word's own vector, `"subwords"` an estimate from its spelling, and `"blend"` a mean of both
        for a rare word. Without `with_subwords`, it is always `"vocabulary"`.
        """
        return self._engine.source(key)  # type: ignore[return-value]

    def save_floret(self, path: FilePath) -> None:
        """Writes the n-grams of `with_subwords` in floret's format, atomically.

        spaCy reads it with `spacy init vectors LANG FILE FOLDER --mode floret`, and computes a vector for every word.
        """
        self._engine.save_floret(path)

    def vectors_for_all(
        self, keys: Iterable[Key], allow_inference: bool = True, copy_vecattrs: bool = False
    ) -> Embeddings:
        """Returns a copy with only the given words that have a vector, in the given order.

        With `copy_vecattrs`, counts are kept and words are sorted by frequency. With `allow_inference` and
        `with_subwords`, out-of-vocabulary words are estimated; otherwise they are left out.
        """
        inferred = allow_inference and self._engine.subword_options is not None
        known = [
            key for key in keys if (self._engine.find(key) is not None if inferred else key in self._engine)
        ]
        return Embeddings(self._engine.select(known, bool(copy_vecattrs)))

    def plot(self, words: Iterable[Key] | None = None, ax: Any = None, **style: Any) -> Any:
        """Plots words on the first two principal components of their vectors at length 1, with matplotlib.

        `words` defaults to the fifty most frequent ones. `ax` defaults to matplotlib's current axes. Other arguments are
        passed to `Axes.scatter`.
        """
        rows = self._engine.rows(keys("words", range(min(len(self), 50)) if words is None else words))
        if not rows:
            raise ValueError("words is empty; name at least one word")
        if ax is None:
            try:
                ax = importlib.import_module("matplotlib.pyplot").gca()
            except ImportError as error:
                message = "plot needs matplotlib: pip install 'skipstream[plot]', or pip install matplotlib"
                raise ImportError(message) from error
        points = self._engine.project(rows)
        ax.scatter(points[:, 0], points[:, 1], **{"s": 12, **style})
        for word, point in zip(self._words_at(np.array(rows)), points):
            # A dollar sign in a word is not a formula.
            ax.annotate(word, point, xytext=(4, 3), textcoords="offset points", parse_math=False)
        # Leave space for the words, which are to the right of their points.
        ax.margins(x=0.15)
        ax.set_xlabel("first principal component")
        ax.set_ylabel("second principal component")
        return ax

    def fill_norms(self, force: bool = False) -> None:
        """Does nothing, with a warning, for programs written for gensim."""
        warnings.warn("fill_norms does nothing: queries need no preparation", stacklevel=2)

    def init_sims(self, replace: bool = False) -> None:
        """Does nothing, with a warning, for programs written for gensim."""
        warnings.warn("init_sims does nothing: use normalized() for unit vectors", stacklevel=2)

    def sort_by_descending_frequency(self) -> None:
        """Does nothing, with a warning, for programs written for gensim."""
        message = "sort_by_descending_frequency does nothing: words are always sorted by frequency"
        warnings.warn(message, stacklevel=2)

    def __repr__(self) -> str:
        words = "word" if len(self) == 1 else "words"
        dimensions = "dimension" if self.vector_size == 1 else "dimensions"
        place = (
            ""
            if self._source is None
            else f", {'mapped' if self._engine.is_mapped else 'read'} from {self._source}"
        )
        return f"<skipstream.Embeddings: {len(self):,} {words} of {self.vector_size:,} {dimensions}{place}>"

    def __copy__(self) -> Embeddings:
        return self

    def __deepcopy__(self, memo: object) -> Embeddings:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "embeddings.safetensors"
            self._engine.save(path, "safetensors")
            return _unpickled, (path.read_bytes(), self._engine.subword_options)

    def __setitem__(self, key: object, vector: object) -> NoReturn:
        raise TypeError(
            _FIXED + "create new ones with Embeddings.from_arrays, or continue training with a Trainer"
        )

    def __delitem__(self, key: object) -> NoReturn:
        raise TypeError(_FIXED + "use top, with_min_count or vectors_for_all for a subset")

    def __getattr__(self, name: str) -> NoReturn:
        message = f"'Embeddings' object has no attribute {name!r}"
        raise AttributeError(f"{message}: {_ABSENT[name]}" if name in _ABSENT else message)


def load(
    path: FilePath, vectors: WhichVectors = DEFAULT_VECTORS, format: ReadableFormat | None = None
) -> Embeddings:
    """Loads vectors from a skipstream, word2vec, fastText `.vec`, GloVe, NumPy, finalfusion, yskip or projector file.

    The format is detected from the content unless given. A skipstream file is memory-mapped: opening takes milliseconds
    at any size, and processes share the page cache. The file may be replaced or deleted while it is mapped, but not
    modified in place. For a trained model, `vectors` selects `"target"`, `"context"`, their `"sum"`, or `"joined"`; see
    `Trainer.embeddings`.
    """
    return Embeddings.load(path, vectors, format)


def refuse_pickle(path: FilePath, instead: str) -> None:
    """Says what to do with a file that gensim saved."""
    # A number would be taken for an open file, and closed.
    path = os.fspath(path)
    if os.path.isfile(path):
        with open(path, "rb") as file:
            start = file.read(9)
        # A model file starts with the length of its header, which may begin with the same byte.
        if start[:1] == b"\x80" and start[8:] != b"{":
            raise ValueError(
                f"{os.fsdecode(path)} is a pickle, gensim's own format, which skipstream cannot read. Load it with "
                f"gensim, save its vectors with save_word2vec_format, and {instead}"
            )


def _unpickled(contents: bytes, subwords: tuple[int, int, int] | None) -> Embeddings:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "embeddings.safetensors"
        path.write_bytes(contents)
        engine = _engine.Embeddings.load(path, DEFAULT_VECTORS, "safetensors", in_place=False)
    # Subwords are a function of the vectors, so they need not be in the pickle.
    return Embeddings(engine if subwords is None else engine.with_subwords(*subwords))


def _count(count: Any) -> int:
    number = whole("a count", count)
    if number != count:
        raise ValueError(f"a count is {count}; it must be at most {number}")
    return number


def _width(vectors: Any) -> int:
    shape = np.shape(vectors)
    return shape[1] if len(shape) == 2 else 0
