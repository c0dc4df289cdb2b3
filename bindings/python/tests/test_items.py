"""Items as words: weights, and the example."""

import importlib.util
import math
from pathlib import Path
from typing import Any

import pytest
import skipstream

EXAMPLE = Path(__file__).parent.parent / "examples" / "shop.py"


def example() -> Any:
    """The example, as a module."""
    specification = importlib.util.spec_from_file_location("shop", EXAMPLE)
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_example_is_at_least_as_good_as_gensim() -> None:
    alike, ours, theirs, counts = example().live(days=10, sessions=1500, products=1000, new_products=10)
    assert alike.rate > 0.3
    assert alike.rate >= theirs.rate - math.hypot(alike.error, theirs.error)
    # What comes next is not what is alike, and only vectors tell of pairs that have not met.
    assert ours.rate > alike.rate + 2 * math.hypot(ours.error, alike.error)
    assert counts.apart == 0.0 < ours.apart


def test_what_comes_next_occurs_together_and_needs_both_vectors() -> None:
    # The lefts of a group meet all its rights, and never one another.
    groups = range(5)
    pairs = [
        [f"left{g}{left}", f"right{g}{right}"] for left in range(8) for right in range(8) for g in groups
    ]
    trainer = skipstream.Trainer.for_items(dimensions=16, subsample=0)
    trainer.train(pairs * 60)
    wv = trainer.embeddings("joined")
    for group in groups:
        for items in ([f"left{group}1"], [f"left{group}1", f"left{group}2"]):
            assert {item[:-1] for item, _ in wv.predict_next(items, 5)} == {f"right{group}"}
    assert len(wv.predict_next("left31", 99, top=5)) in (4, 5)
    with pytest.raises(KeyError, match="none"):
        wv.predict_next(["left31", "none"])
    with pytest.raises(ValueError, match="the number of words is 0; it must be at least 1"):
        wv.predict_next([])
    with pytest.raises(ValueError, match=r"do not have both; use `trainer.embeddings\(\"joined\"\)`"):
        trainer.embeddings().predict_next("left31")


def test_new_items_are_found_after_an_update() -> None:
    trainer = skipstream.Trainer.for_items(dimensions=20)
    trainer.train([["cup", "saucer", "kettle"], ["nail", "hammer", "saw"]] * 300)
    assert "teapot" not in trainer.embeddings()
    trainer.train([["teapot", "cup", "saucer"]] * 50)
    nearest = [item for item, _ in trainer.embeddings().most_similar("teapot", topn=3, min_count=0)]
    assert set(nearest) == {"cup", "saucer", "kettle"}


def test_a_weight_is_the_mean_number_of_trainings() -> None:
    lists = [["a", "b", "c", "d"]] * 1000

    def pairs(weights: list[float] | None) -> int:
        trainer = skipstream.Trainer(dimensions=4, subsample=0, window_shape="fixed", replays=0)
        trainer.train(lists, weights=weights)
        assert trainer.stats().words == 4000
        return trainer.stats().pairs

    once = pairs(None)
    assert pairs([1] * 1000) == once
    assert pairs([3] * 1000) == 3 * once
    assert pairs([0.0] * 1000) == 0
    assert abs(pairs([0.5, 2] * 500) / once - 1.25) < 0.05


@pytest.mark.parametrize(
    ("sentences", "weights", "error", "message"),
    [
        ([["a"], ["b"]], [1], ValueError, "there is no weight for item 2 of sentences"),
        ([["a"]], [1, 2], ValueError, "there are more weights than sentences, which are 1"),
        ([["a"]], [-1], ValueError, "weight 1 is -1.0; it must be from 0 to 10"),
        ([["a"]], [math.nan], ValueError, "weight 1 is NaN; it must be from 0 to 10"),
        ([["a"]], ["x"], TypeError, "weight 1 is str; it must be a number"),
        ([["a"]], 3, TypeError, "weights is int; it must be an iterable of numbers"),
        (["a b"], [1], TypeError, "weights are for lists of tokens, and sentences are strings"),
    ],
)
def test_wrong_weights_are_named(sentences: Any, weights: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        skipstream.Trainer(dimensions=4).train(sentences, weights=weights)


def test_a_field_of_a_file_is_the_weight(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a b", "w": 0}\n{"text": "a b", "w": 2}\n')
    trainer = skipstream.Trainer(dimensions=4, subsample=0, replays=0)
    trainer.train_file(path, format="jsonl", field="text", weight="w")
    assert (trainer.stats().words, trainer.stats().pairs) == (4, 4)
