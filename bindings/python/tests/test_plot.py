"""Words in the plane."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from skipstream import Embeddings

pytest.importorskip("matplotlib").use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture
def wv() -> Embeddings:
    random = np.random.default_rng(1)
    names = [f"w{number}" for number in range(60)]
    return Embeddings.from_arrays(["$tea_{x}$", *names], random.normal(size=(61, 10)))


def test_words_stand_where_their_principal_components_are(wv: Embeddings) -> None:
    figure, ax = pyplot.subplots()
    drawn = wv.plot(["$tea_{x}$", "w1", "w2", 4], ax=ax, color="red")
    assert drawn is ax
    assert [text.get_text() for text in ax.texts] == ["$tea_{x}$", "w1", "w2", "w3"]
    points = ax.collections[0].get_offsets()
    assert points.shape == (4, 2)
    # The first component has the largest spread, and the plane keeps no more than there is.
    spread = np.asarray(points).var(axis=0)
    vectors = wv[["$tea_{x}$", "w1", "w2", 4]]
    assert spread[0] >= spread[1] and spread.sum() <= vectors.var(axis=0).sum() * (1 + 1e-6)
    figure.canvas.draw()
    pyplot.close(figure)


def test_by_default_the_most_frequent_words_are_drawn(wv: Embeddings) -> None:
    pyplot.figure()
    assert len(wv.plot().texts) == 50
    pyplot.close("all")


def test_one_word_and_one_dimension_are_enough() -> None:
    _, ax = pyplot.subplots()
    assert len(Embeddings.from_arrays(["a", "b"], [[1], [2]]).plot(ax=ax).texts) == 2
    assert len(Embeddings.from_arrays(["a"], [[1, 2]]).plot(ax=ax).texts) == 3
    pyplot.close("all")


def test_nothing_to_draw_and_unknown_words_are_refused(wv: Embeddings) -> None:
    with pytest.raises(ValueError, match="words is empty"):
        wv.plot([])
    with pytest.raises(KeyError):
        wv.plot(["w1", "absent"])
    with pytest.raises(TypeError, match="words is of the type str"):
        wv.plot("w1")


def test_without_matplotlib_the_error_says_what_to_install(
    wv: Embeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install"):
        wv.plot(["w1"])


def test_without_gensim_the_error_says_what_to_install(
    wv: Embeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(ImportError, match="pip install"):
        wv.to_gensim()
