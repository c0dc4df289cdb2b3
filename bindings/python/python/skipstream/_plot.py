"""Words in the plane."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray


def plane(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """The two directions in which the vectors differ most, each vector taken at its length."""
    centered = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    left, scale, _ = np.linalg.svd(centered, full_matrices=False)
    points = np.zeros((len(vectors), 2))
    n_axes = min(2, len(scale))
    points[:, :n_axes] = left[:, :n_axes] * scale[:n_axes]
    return points


def plot(words: list[str], vectors: NDArray[np.float32], ax: Any, **style: Any) -> Any:
    """Draws words at their places in the plane."""
    if ax is None:
        try:
            pyplot = importlib.import_module("matplotlib.pyplot")
        except ImportError as error:
            message = "plot needs matplotlib: pip install 'skipstream[plot]', or pip install matplotlib"
            raise ImportError(message) from error
        ax = pyplot.gca()
    points = plane(vectors)
    ax.scatter(points[:, 0], points[:, 1], **{"s": 12, **style})
    for word, (x, y) in zip(words, points):
        # A word may have dollars in it, which are not meant as a formula.
        ax.annotate(word, (x, y), xytext=(4, 3), textcoords="offset points", parse_math=False)
    # Room for the words, which stand to the right of their points.
    ax.margins(x=0.15)
    ax.set_xlabel("first principal component")
    ax.set_ylabel("second principal component")
    return ax
