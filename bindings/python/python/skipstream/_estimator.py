"""scikit-learn's estimator API."""

from __future__ import annotations

import difflib
import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing_extensions import Self

_CONTAINERS = ("default", "pandas", "polars")


class Estimator(ABC):
    """scikit-learn's estimator API for a trainer.

    A trainer converts documents to vectors, like scikit-learn's `CountVectorizer`: `X` is an iterable of documents
    (strings or token lists), or a text column of a table. It works as a step of a `Pipeline`, in `GridSearchCV`, and in a
    `ColumnTransformer` for one column, given as a string and not as a list. scikit-learn is imported only when needed.

    >>> import skipstream
    >>> texts = ["the cat sleeps", "the ship sails", "the cat purrs"] * 100
    >>> vectorizer = skipstream.Trainer(dimensions=8, subsample=0)
    >>> vectorizer.fit(texts).transform(["a cat", "a ship"]).shape
    (2, 8)
    >>> vectorizer.get_params()["dimensions"]
    8
    >>> vectorizer.set_params(dimensions=4).fit_transform(texts).shape
    (300, 4)
    """

    dimensions: int
    _trainer: Any

    @abstractmethod
    def train(self, sentences: Any) -> Any:
        """Learns sentences."""

    @abstractmethod
    def finish(self) -> Any:
        """Trains the text waiting in the replay buffer."""

    @abstractmethod
    def stats(self) -> Any:
        """Training statistics."""

    @abstractmethod
    def mean_vectors(self, texts: Any, vectors: str = "sum") -> NDArray[np.float32]:
        """The mean word vector of each text."""

    @abstractmethod
    def _wait_for_training(self) -> None:
        """Waits for running training to end."""

    @classmethod
    def _param_names(cls) -> list[str]:
        """The names of the settings."""
        _, *parameters = inspect.signature(cls.__init__).parameters
        return parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name, as they were given.

        Args:
            deep: Ignored; no setting is an estimator.
        """
        return {name: getattr(self, name) for name in self._param_names()}

    def set_params(self, **params: Any) -> Self:
        """Changes settings. They take effect with the next `fit`, which starts from scratch.

        >>> import skipstream
        >>> skipstream.Trainer().set_params(size=10)
        Traceback (most recent call last):
        ValueError: size is not a setting of Trainer; the nearest is table_size
        """
        names = self._param_names()
        for name in params:
            if name not in names:
                raise ValueError(f"{name} is not a setting of {type(self).__name__}; {_nearest(name, names)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Discards the model, learns the documents, and empties the replay buffer.

        Args:
            X: Documents: strings or token lists.
            y: Ignored; pipelines pass it.
        """
        # Check the current settings and create a new model. No other thread may be training the old one.
        self._wait_for_training()
        cast(Any, self).__init__(**self.get_params(deep=False))
        self.train(X)
        if not self.__sklearn_is_fitted__():
            raise ValueError("the documents have no words")
        self.finish()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learns more documents.

        Args:
            X: Documents: strings or token lists.
            y: Ignored; pipelines pass it.
        """
        self.train(X)
        return self

    def transform(self, X: Any) -> Any:
        """Returns the mean word vector of each document: a float32 array with one row per document.

        A document without a known word gives a row of zeros. `set_output` selects a table instead of an array.
        """
        self._check_fitted()
        vectors = self.mean_vectors(X)
        container = self._container()
        if container == "pandas":
            index = X.index if hasattr(X, "iloc") else None
            return import_module("pandas").DataFrame(vectors, index, self.get_feature_names_out())
        if container == "polars":
            return import_module("polars").DataFrame(vectors, list(self.get_feature_names_out()))
        return vectors

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Calls `fit`, then `transform` on the same documents. An iterator is held in memory for it."""
        documents = list(X) if isinstance(X, Iterator) else X
        return self.fit(documents).transform(documents)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The column names of `transform`: `trainer0`, `trainer1`, and so on."""
        self._check_fitted()
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{number}" for number in range(self.n_features_out)], dtype=object)

    @property
    def n_features_out(self) -> int:
        """The number of columns of `transform`."""
        # Changed settings take effect only with the next `fit`.
        return int(self.stats().dimensions)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Selects the output of `transform`: `"default"` (an array), `"pandas"` or `"polars"`. None keeps the current one."""
        if transform is not None:
            if transform not in _CONTAINERS:
                raise ValueError(f"transform is {transform!r}; it must be one of {', '.join(_CONTAINERS)}")
            self._sklearn_output_config = {"transform": transform}
        return self

    def _container(self) -> str:
        config: dict[str, str] = getattr(self, "_sklearn_output_config", {})
        if "transform" in config:
            return config["transform"]
        sklearn = sys.modules.get("sklearn")
        return str(sklearn.get_config().get("transform_output", "default")) if sklearn else "default"

    def _check_fitted(self) -> None:
        """Raises scikit-learn's NotFittedError if it is in use, otherwise ValueError."""
        if not self.__sklearn_is_fitted__():
            sklearn = sys.modules.get("sklearn.exceptions")
            kind = sklearn.NotFittedError if sklearn else ValueError
            raise kind(f"this {type(self).__name__} has learned no words yet: call fit or partial_fit first")

    def __sklearn_is_fitted__(self) -> bool:
        return self._trainer is not None and bool(self.stats().words > 0)

    def __sklearn_tags__(self) -> Any:
        kinds = import_module("sklearn.utils")
        return kinds.Tags(
            estimator_type="transformer",
            target_tags=kinds.TargetTags(required=False),
            transformer_tags=kinds.TransformerTags(preserves_dtype=["float32"]),
            input_tags=kinds.InputTags(two_d_array=False, string=True),
        )


def _nearest(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    return f"the nearest is {near[0]}" if near else f"its settings are {', '.join(names)}"
