"""Word vectors as a river transformer that learns one text at a time. Requires river.

>>> from river import linear_model
>>> from skipstream.river import WordVectors
>>> model = WordVectors(on="text", dimensions=10, subsample=0) | linear_model.LogisticRegression()
>>> for _ in range(100):
...     model.learn_one({"text": "the cat sleeps"}, False)
...     model.learn_one({"text": "the ship sails"}, True)
>>> model.predict_one({"text": "the ship sails"}), model.predict_one({"text": "the cat sleeps"})
(True, False)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from skipstream._arguments import DEFAULT_VECTORS, WhichVectors
from skipstream._trainer import Trainer

try:
    from river import base
except ImportError:
    raise ImportError("skipstream.river needs river: pip install river") from None

__all__ = ["WordVectors"]


class WordVectors(base.MiniBatchTransformer):
    """Learns word vectors from a stream of texts, and maps a text to the mean of its word vectors.

    A text is a string, which is tokenized as by `skipstream.Trainer`, or a list of tokens. A text without a known word
    maps to zeros. Features are named `text_0`, `text_1`, …, or after the field instead of `text`.

    The underlying trainer uses the strategy `incremental` by default: it learns each word immediately, so a learned text
    affects the next prediction. `mini-batch` is faster for large amounts of text, but updates all counts per batch, and
    here every text would be a batch.

    In a pipeline, `learn_one` learns the text and then transforms it. Within
    `river.compose.learn_during_predict()`, the text is learned during prediction and not again by `learn_one`.

    Args:
        on: The field that holds the text. If None, `x` is the text itself.
        vectors: Which vectors: `"sum"`, `"target"`, `"context"` or `"joined"`, which has twice as many features. For
            `"joined"`, every call reads all vectors of the vocabulary, so transform many texts at once.
        settings: Settings of `skipstream.Trainer`, by name.

    >>> vectors = WordVectors(dimensions=3, subsample=0, seed=7)
    >>> vectors.learn_one("tea with milk")
    >>> vectors.learn_one(["coffee", "with", "sugar"])
    >>> sorted(vectors.transform_one("some tea"))
    ['text_0', 'text_1', 'text_2']
    >>> vectors.transform_one("unknown words")
    {'text_0': 0.0, 'text_1': 0.0, 'text_2': 0.0}
    >>> len(vectors.trainer.embeddings())
    5
    """

    def __init__(
        self, on: str | None = None, vectors: WhichVectors = DEFAULT_VECTORS, **settings: Any
    ) -> None:
        self.on = on
        self.vectors = vectors
        self.settings = settings
        #: The underlying trainer, for word vectors (`embeddings()`) and saving.
        self.trainer = Trainer(**{"strategy": "incremental", **settings})
        prefix = "text" if on is None else on
        length = self.trainer.mean_vectors([], vectors=vectors).shape[1]
        self._names = [f"{prefix}_{number}" for number in range(length)]

    def learn_one(self, x: Any) -> None:
        """Learns a text."""
        self.trainer.train([self._text(x)])

    def learn_many(self, X: Any) -> None:
        """Learns a column of texts, or the column `on` of a table; same as one by one."""
        self.trainer.train(self._texts(X))

    def transform_one(self, x: Any) -> dict[base.typing.FeatureName, Any]:
        """Returns the mean word vector of a text."""
        vector = self.trainer.mean_vectors([self._text(x)], vectors=self.vectors)[0]
        return dict(zip(self._names, vector.tolist()))

    def transform_many(self, X: Any) -> Any:
        """Returns the mean word vectors of many texts as a `pandas.DataFrame`, one row each."""
        vectors = self.trainer.mean_vectors(self._texts(X), vectors=self.vectors)
        index = X.index if hasattr(X, "iloc") else None
        return import_module("pandas").DataFrame(vectors, index, self._names)

    def _text(self, x: Any) -> Any:
        if self.on is not None:
            if not isinstance(x, Mapping):
                raise TypeError(
                    f"on is {self.on!r}, so x must be a mapping with that field; it is {_kind(x)}"
                )
            return x[self.on]
        if isinstance(x, Mapping):
            raise TypeError("x is a mapping: name the text field, as in WordVectors(on='text')")
        return x

    def _texts(self, X: Any) -> Any:
        if hasattr(X, "columns"):
            if self.on is None:
                raise TypeError("X is a table: name the text column, as in WordVectors(on='text')")
            return X[self.on]
        if isinstance(X, (list, tuple)):
            return [self._text(x) for x in X]
        if self.on is not None:
            raise TypeError(
                f"on is {self.on!r}, so X must be a table, or a list of mappings; it is {_kind(X)}"
            )
        return X

    def _more_tags(self) -> set[str]:
        return {base.tags.TEXT_INPUT}

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"dimensions": 4, "table_size": 1000, "max_vocabulary": 1000}


def _kind(x: object) -> str:
    return f"of type {type(x).__name__}"
