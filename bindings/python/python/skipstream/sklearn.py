"""Word vectors as a scikit-learn transformer. Requires scikit-learn.

>>> from sklearn.linear_model import LogisticRegression
>>> from sklearn.pipeline import make_pipeline
>>> from skipstream.sklearn import WordVectors
>>> texts = ["the cat sleeps", "the ship sails"] * 100
>>> model = make_pipeline(WordVectors(dimensions=8, subsample=0), LogisticRegression())
>>> model.fit(texts, ["animal", "ship"] * 100).predict(["a cat"]).tolist()
['animal']
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from skipstream._arguments import Weighting
from skipstream._trainer import Trainer

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise ImportError("skipstream.sklearn needs scikit-learn: pip install scikit-learn") from None

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["WordVectors"]


@dataclass(kw_only=True, repr=False, eq=False)
class WordVectors(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, Trainer):  # type: ignore[misc]
    """Learns word vectors from documents, and maps a document to a weighted mean of its word vectors.

    A `skipstream.Trainer` with the methods of scikit-learn, and the same settings. As in `CountVectorizer`, `X` is an
    iterable of documents (strings or token lists), or a text column of a table. In a `ColumnTransformer`, give the column
    as a string and not as a list.

    >>> texts = ["the cat sleeps", "the ship sails", "the cat purrs"] * 100
    >>> vectors = WordVectors(dimensions=8, subsample=0)
    >>> vectors.fit(texts).transform(["a cat", "a ship"]).shape
    (2, 8)
    >>> vectors.set_params(dimensions=4, weighting="sif").fit_transform(texts).shape
    (300, 4)

    Args:
        weighting: How much each word counts. `"none"` gives all the same weight; `"idf"` and `"sif"` give rare words more,
            as in `Trainer.mean_vectors`. `"sif"` also removes the component that is common to all documents that were
            fitted last. An iterator of documents is held in memory for it.
        subwords: Whether `transform` estimates words that are not in the vocabulary from their spelling, by the n-grams that
            `fit` and `partial_fit` fit to the vectors (`subwords_`, see `Embeddings.with_subwords`). Otherwise they are
            ignored.
    """

    weighting: Weighting = "none"
    subwords: bool = False

    def fit(self, X: Any, y: Any = None) -> Self:
        """Discards the model, learns the documents, and empties the replay buffer.

        Args:
            X: Documents: strings or token lists.
            y: Ignored; pipelines pass it.
        """
        # Check the current settings and create a new model. No other thread may be training the old one.
        if self._trainer is not None:
            self._trainer.wait_for_training()
        cast(Any, self).__init__(**self.get_params(deep=False))
        documents = self._documents(X)
        self.train(documents)
        if not self.__sklearn_is_fitted__():
            raise ValueError("the documents have no words")
        self.finish()
        return self._fit_vectors(documents)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learns more documents.

        Args:
            X: Documents: strings or token lists.
            y: Ignored; pipelines pass it.
        """
        documents = self._documents(X)
        self.train(documents)
        return self._fit_vectors(documents)

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Returns the mean word vector of each document: a float32 array with one row per document.

        A document without a known word gives a row of zeros, unless `subwords` estimates its words.
        """
        check_is_fitted(self)
        vectors = self._means(X)
        component = getattr(self, "common_component_", None) if self.weighting == "sif" else None
        return vectors if component is None else vectors - np.outer(vectors @ component, component)

    def _means(self, documents: Any) -> NDArray[np.float32]:
        subwords = self.subwords_ if self.subwords else None
        return self.mean_vectors(documents, weighting=self.weighting, subwords=subwords)

    def _documents(self, X: Any) -> Any:
        return list(X) if self.weighting == "sif" and isinstance(X, Iterator) else X

    def _fit_vectors(self, documents: Any) -> Self:
        """Fits what depends on the vectors: n-grams, and the direction in which the vectors of the documents are longest."""
        if self.subwords:
            self.subwords_ = self.embeddings().with_subwords()
        if self.weighting == "sif":
            # Their first singular vector.
            vectors = self._means(documents)
            _, directions = np.linalg.eigh(vectors.T @ vectors)
            self.common_component_ = directions[:, -1]
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Calls `fit`, then `transform` on the same documents. An iterator is held in memory for it."""
        return super().fit_transform(list(X) if isinstance(X, Iterator) else X, y)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The column names of `transform`: `wordvectors0`, `wordvectors1`, and so on."""
        check_is_fitted(self)
        names: NDArray[np.object_] = super().get_feature_names_out(input_features)
        return names

    @property
    def _n_features_out(self) -> int:
        # Changed settings take effect only with the next `fit`.
        return self.stats().dimensions

    def __sklearn_is_fitted__(self) -> bool:
        return self._trainer is not None and self.stats().words > 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
