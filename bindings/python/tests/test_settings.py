"""The settings: their defaults, their limits, and what is refused."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
import skipstream
from skipstream import Trainer, _engine


def test_the_defaults_are_the_engines() -> None:
    trainer = Trainer()
    own = {name: value for name, value in asdict(trainer).items() if value is not None}
    asked = json.loads(_engine.Settings(**own).resolved())
    assert asked == json.loads(_engine.Settings().resolved())


def test_every_setting_of_the_engine_is_one_of_the_trainer() -> None:
    assert set(_engine.Settings.names()) == set(asdict(Trainer()))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("window", -5, "window is -5; it must be from 1 to 1000"),
        ("window", 10**30, f"window is {10**30}; it must be from 1 to 1000"),
        ("dimensions", 0, "dimensions is 0; it must be from 1 to 10000"),
        ("negatives", 101, "negatives is 101; it must be from 1 to 100"),
        ("noise_exponent", 1.5, "noise_exponent is 1.5; it must be from -1 to 1"),
        ("subsample", float("nan"), "subsample is NaN; it must be from 0 to 1"),
        ("subsample", float("-inf"), "subsample is -inf; it must be from 0 to 1"),
        ("learning_rate", 10**400, "learning_rate is inf; it must be from "),
        ("blocks", 3, "blocks is 3; it must be a power of two"),
        ("replays", -1, "replays is -1; it must be from 0 to 100"),
        ("passes", 2**40, f"passes is {2**40}; it must be from 1 to 10000"),
        (
            "passes",
            2,
            "passes is 2; it must be left out with the strategy mini-batch: it is for batch and word2vec",
        ),
        ("seed", -1, f"seed is -1; it must be from 0 to {2**64 - 1}"),
        ("seed", 2**64, f"seed is {2**64}; it must be from 0 to {2**64 - 1}"),
        ("threads", 0, "threads is 0; it must be from 1 to 1000"),
        ("min_token_len", 0, "min_token_len is 0; it must be from 1 to 65535"),
        ("strategy", "fast", 'strategy is "fast"; it must be mini-batch, incremental, batch or word2vec'),
        ("window_shape", "round", 'window_shape is "round"; it must be shrinking or fixed'),
        ("invalid_utf8", "", 'invalid_utf8 is ""; it must be replace, skip or error'),
        ("memory", "2X", "`2X` is not a size such as 2G"),
        ("memory", -1, "memory is -1; it must be a number of bytes"),
        ("memory", 1000, "memory is 1000 bytes; it must be at least "),
    ],
)
def test_a_value_outside_its_limits_is_named_with_them(name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        Trainer(**{name: value})
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("window", True),
        ("window", np.bool_(True)),
        ("window", 5.0),
        ("window", "5"),
        ("subsample", "0.1"),
        ("subsample", True),
        ("subsample", [0.1]),
        ("lowercase", 1),
        ("lowercase", "yes"),
        ("strategy", 1),
        ("strategy", b"batch"),
        ("memory", 1.5),
        ("memory", True),
        ("init", 5),
    ],
)
def test_a_value_of_another_type_is_named(name: str, value: Any) -> None:
    with pytest.raises(TypeError):
        Trainer(**{name: value})


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(TypeError, match="wndow"):
        Trainer(wndow=5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="wndow"):
        _engine.Settings(wndow=5)


def test_numbers_of_numpy_are_numbers() -> None:
    numbers: dict[str, Any] = {
        "dimensions": np.int32(7),
        "subsample": np.float32(0),
        "seed": np.uint64(2**64 - 1),
    }
    trainer = Trainer(**numbers)
    trainer.train([["one", "two"]])
    assert trainer.vector("one").shape == (7,)


def test_quality_stands_for_other_settings() -> None:
    trainer = Trainer(dimensions=5, quality="best", replays=3)
    trainer.train([["one", "two"]])
    settings = json.loads(trainer._live().settings())
    assert (settings["replays"], settings["replay_words"], settings["replay_start"]) == (
        3,
        10_000_000,
        "late",
    )
    with pytest.raises(ValueError, match="quality"):
        Trainer(quality="good")  # type: ignore[arg-type]


def test_a_half_life_is_a_number_of_words_or_a_time() -> None:
    for half_life in (20_000, "20k"):
        trainer = Trainer(dimensions=5, half_life=half_life)
        trainer.train([["one", "two"]])
        assert json.loads(trainer._live().settings())["half_life"] == 20_000
    with pytest.raises(ValueError, match="half_life is 0; it must be from 1 to 100000000000"):
        Trainer(half_life=0)
    with pytest.raises(ValueError, match="half_life: `long` is neither a number of words such as 20M nor"):
        Trainer(half_life="long")
    with pytest.raises(ValueError, match="half_life is 4000d; it must be from 1s to 3650d"):
        Trainer(half_life="4000d")
    with pytest.raises(
        ValueError, match="half_life is 30d; it must be a number of words, because the text has no"
    ):
        Trainer(half_life="30d").train([["one", "two"]])
    with pytest.raises(
        TypeError,
        match=r'half_life is 1\.5, of type float; it must be an int or a str such as "20M" or "30d"',
    ):
        Trainer(half_life=1.5)  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match="half_life is 20000; it must be left out with the strategy incremental"
    ):
        Trainer(half_life=20_000, strategy="incremental")


def test_memory_decides_on_the_vocabulary() -> None:
    small, large = (Trainer(dimensions=10, memory=memory).stats() for memory in ("200M", 400_000_000))
    assert small.memory_bound.total <= 200_000_000 < large.memory_bound.total <= 400_000_000
    assert small.max_vocabulary < large.max_vocabulary
    with pytest.raises(ValueError, match="memory determines max_vocabulary"):
        Trainer(memory="2G", max_vocabulary=7)


def test_words_start_from_given_vectors(tmp_path: Any) -> None:
    path = tmp_path / "start.txt"
    path.write_text("2 3\ntea 1 2 3\nstone 4 5 6\n")
    trainer = Trainer(dimensions=3, init=path, learning_rate=1e-6)
    trainer.train([["tea", "milk"]])
    np.testing.assert_allclose(trainer.vector("tea", "target"), [1, 2, 3], atol=1e-3)
    assert "stone" not in trainer
    with pytest.raises(ValueError, match=r"dimensions is 4; it must be 3, as in start\.txt"):
        Trainer(dimensions=4, init=path).train([["tea"]])
    with pytest.raises(FileNotFoundError):
        Trainer(dimensions=3, init=tmp_path / "none.txt").train([["tea"]])


def test_settings_are_fixed_once_text_was_learned() -> None:
    trainer = Trainer(dimensions=5)
    trainer.window = 3
    trainer.train([["one", "two"]])
    assert json.loads(trainer._live().settings())["window"] == 3
    trainer.window, trainer.seed = 4, 9
    with pytest.raises(
        ValueError, match="window is 4, the model's is 3, seed is 9, the model's is 1; settings"
    ):
        trainer.train([["three"]])
    with pytest.raises(ValueError, match="settings are fixed"):
        trainer.train_file("anything")
    trainer.window, trainer.seed, trainer.threads = 3, 1, 1
    trainer.train([["three"]])
    assert trainer.stats().words == 3
    assert trainer.stats().threads == 1


def test_a_wrong_setting_that_was_assigned_is_named_by_the_next_training() -> None:
    trainer = Trainer(dimensions=5)
    trainer.window = -1
    with pytest.raises(ValueError, match="window is -1"):
        trainer.train([["one"]])
    trainer.window = 2
    assert trainer.train([["one"]]).words == 1


def test_loading_restores_the_settings(tmp_path: Any) -> None:
    path = tmp_path / "model"
    trainer = Trainer(dimensions=5, window=2, lowercase=True, learning_rate=0.1, max_token_len=9)
    trainer.train(["One two"])
    trainer.save(path)
    loaded = Trainer.load(path, threads=1)
    assert isinstance(loaded, Trainer)
    changed = {name: value for name, value in asdict(loaded).items() if value != asdict(Trainer())[name]}
    assert changed == {
        "dimensions": 5,
        "window": 2,
        "lowercase": True,
        "learning_rate": pytest.approx(0.1),
        "max_token_len": 9,
        "tokenizer": "whitespace",
        "nfkc": False,
        "adagrad": "row",
        "batch_words": 400_000,
        "blocks": 16,
        "replays": 2,
        "replay_words": 2_000_000,
        "replay_start": "early",
        "threads": 1,
    }
    loaded.train(["THREE"])
    assert "three" in loaded
    for threads in (0, -1, 10**30):
        with pytest.raises(ValueError, match=f"threads is {threads}; it must be from 1 to 1000"):
            Trainer.load(path, threads=threads)
    with pytest.raises(TypeError, match="threads is '2', of type str; it must be an int"):
        Trainer.load(path, threads="2")  # type: ignore[arg-type]


def test_what_cannot_be_loaded_says_why(tmp_path: Any) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        skipstream.Trainer.load(tmp_path / "none")
    assert raised.value.filename == str(tmp_path / "none")
    (tmp_path / "text").write_text("not a model at all, but longer than eight bytes")
    with pytest.raises(ValueError, match="not a skipstream model"):
        skipstream.Trainer.load(tmp_path / "text")


def test_it_says_what_it_is() -> None:
    assert repr(Trainer()) == "Trainer()"
    assert repr(Trainer(window=3, lowercase=True)) == "Trainer(window=3, lowercase=True)"


def test_only_so_many_and_never_fewer_than_none() -> None:
    trainer = Trainer(dimensions=3)
    trainer.train([["one", "two", "one"]])
    assert [len(trainer.embeddings(top=top)) for top in (0, 1, 2, 10**30)] == [0, 1, 2, 2]
    with pytest.raises(ValueError, match="top is -1; it must be at least 0"):
        trainer.embeddings(top=-1)
    with pytest.raises(ValueError, match="replays is -1; it must be from 0 to 100"):
        trainer.set_replays(-1)


def test_replays_change_once_nothing_waits() -> None:
    trainer = Trainer(dimensions=3, batch_words=1000)
    assert trainer.train([["one", "two"]] * 20_000).waiting > 0
    with pytest.raises(ValueError, match="finish it first"):
        trainer.set_replays(3)
    assert trainer.replays is None
    trainer.finish()
    trainer.set_replays(3)
    assert trainer.train([["one", "two"]]).waiting == 6
    assert trainer.replays == 3


def test_phrases_are_found_and_given() -> None:
    trainer = Trainer(dimensions=5, phrases="npmi", phrase_min_count=3, phrase_connectors="english")
    assert trainer.add_phrases("city hall", "city hall") == 1
    text = [f"{n % 7} {n % 11} {n % 13}" for n in range(200)] + ["new york", "state of mind", "city hall"] * 5
    trainer.train(text)
    found = {phrase["word"]: phrase for phrase in trainer.phrase_list()}
    assert {"new_york", "state_of_mind", "city_hall"} <= found.keys()
    assert found["new_york"]["phrase"] == "new york"
    assert found["new_york"]["count"] == 5
    assert 0.5 < found["new_york"]["score"] <= 1
    assert found["new_york"]["found_at"] == 600 + 5 * 7
    assert found["city_hall"]["score"] is None or found["city_hall"]["score"] > 0.5
    trainer.train(["new york"] * 5)
    assert trainer.count("New York") == 0
    assert trainer.count("new york") == trainer.count("new_york") == 5
    assert trainer.embeddings()["new york"].shape == (5,)
    assert Trainer(dimensions=5).phrase_list() == []


def test_phrases_that_cannot_be_are_refused() -> None:
    with pytest.raises(
        ValueError, match="phrases is npmi; it must be left out with the strategy incremental"
    ):
        Trainer(phrases="npmi", strategy="incremental")
    with pytest.raises(ValueError, match="phrase_pairs is 1000; it must be left out where phrases is off"):
        Trainer(phrase_pairs=1000)
    with pytest.raises(ValueError, match="phrase is `york`; it must be two words or more"):
        Trainer().add_phrases("york")
    with pytest.raises(TypeError, match=r"add_phrases\(\) takes phrases, not list; unpack a list with \*"):
        Trainer().add_phrases(["new york"])  # type: ignore[arg-type]
