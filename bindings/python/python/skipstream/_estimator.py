"""What scikit-learn expects of an estimator."""

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
    """The conventions of scikit-learn, for a trainer.

    A trainer turns documents into vectors, as scikit-learn's own `CountVectorizer` does: `X` is an iterable of
    documents (strings, or token lists), or a text column of a table. It works as a step of a `Pipeline`, in
    `GridSearchCV`, and in a `ColumnTransformer` for one column, named by a string and not by a list. scikit-learn is
    never imported before it is needed.

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
        """Trains the old text that still waits for its replay."""

    @abstractmethod
    def stats(self) -> Any:
        """How far training has come."""

    @abstractmethod
    def mean_vectors(self, texts: Any, vectors: str = "sum") -> NDArray[np.float32]:
        """For each text the mean of the vectors of its known words."""

    @abstractmethod
    def _wait_for_training(self) -> None:
        """Waits until nobody trains."""

    @classmethod
    def _param_names(cls) -> list[str]:
        """The names of the settings."""
        _, *parameters = inspect.signature(cls.__init__).parameters
        return parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name, as they were given.

        Args:
            deep: Nothing: no setting is an estimator.
        """
        return {name: getattr(self, name) for name in self._param_names()}

    def set_params(self, **params: Any) -> Self:
        """Changes settings. They hold from the next `fit` on, which starts anew.

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
        """Forgets what was learned, learns documents, and trains all that waits for its replay.

        Args:
            X: Documents: strings or token lists.
            y: Nothing; pipelines pass it.
        """
        # What was set since the last time is checked here, and a new model begins. Nobody may train the old one meanwhile.
        self._wait_for_training()
        cast(Any, self).__init__(**self.get_params(deep=False))
        self.train(X)
        if not self.__sklearn_is_fitted__():
            raise ValueError("there is no word in the documents")
        self.finish()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learns more documents.

        Args:
            X: Documents: strings or token lists.
            y: Nothing; pipelines pass it.
        """
        self.train(X)
        return self

    def transform(self, X: Any) -> Any:
        """The mean of the vectors of each document's known words: a float32 array with a row for each document.

        A document without a known word is a row of zeros. `set_output` makes it a table instead.
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
        """`fit`, then `transform` of the same documents. What can be read only once is held in memory for it."""
        documents = list(X) if isinstance(X, Iterator) else X
        return self.fit(documents).transform(documents)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns that `transform` gives: `trainer0`, `trainer1`, and so on."""
        self._check_fitted()
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{number}" for number in range(self.n_features_out)], dtype=object)

    @property
    def n_features_out(self) -> int:
        """How many columns `transform` gives."""
        # Settings that were changed since hold from the next `fit` on.
        return int(self.stats().dimensions)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Chooses what `transform` gives: `"default"` (an array), `"pandas"` or `"polars"`; None changes nothing."""
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
        """scikit-learn's own kind of error where it is in use; its base otherwise."""
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
