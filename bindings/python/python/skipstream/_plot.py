"""Words on a plane."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray


def plot(words: list[str], points: NDArray[np.float64], ax: Any, **style: Any) -> Any:
    """Draw words at their points."""
    if ax is None:
        try:
            pyplot = importlib.import_module("matplotlib.pyplot")
        except ImportError as error:
            message = "plot needs matplotlib: pip install 'skipstream[plot]', or pip install matplotlib"
            raise ImportError(message) from error
        ax = pyplot.gca()
    ax.scatter(points[:, 0], points[:, 1], **{"s": 12, **style})
    for word, (x, y) in zip(words, points):
        # A dollar sign in a word is not a formula.
        ax.annotate(word, (x, y), xytext=(4, 3), textcoords="offset points", parse_math=False)
    # Leave space for the words, which are to the right of their points.
    ax.margins(x=0.15)
    ax.set_xlabel("first principal component")
    ax.set_ylabel("second principal component")
    return ax
