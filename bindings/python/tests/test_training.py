"""Training: from what, how it ends, and what it tells."""

from __future__ import annotations

import collections
import dataclasses
import types
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skipstream import Progress, Summary, Trainer

SENTENCES = [["tea", "with", "milk"], ["coffee", "with", "sugar"]] * 50


def small(**settings: Any) -> Trainer:
    return Trainer(**{"dimensions": 8, "subsample": 0, "threads": 1, "max_vocabulary": 1000, **settings})


def saved(trainer: Trainer, path: Path) -> bytes:
    trainer.save(path)
    return path.read_bytes()


class Again:
    """Starts anew each time."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self.started = 0

    def __iter__(self) -> Iterator[Any]:
        self.started += 1
        return iter(self.items)


class Letters(str):
    """A string of another class."""


@pytest.mark.parametrize(
    "sentences",
    [
        SENTENCES,
        tuple(SENTENCES),
        iter(SENTENCES),
        (sentence for sentence in SENTENCES),
        map(tuple, SENTENCES),
        map(iter, SENTENCES),
        (np.array(sentence) for sentence in SENTENCES),
        ({word: 1 for word in sentence} for sentence in SENTENCES),
        ([Letters(word) for word in sentence] for sentence in SENTENCES),
        Again(SENTENCES),
    ],
    ids=lambda value: type(value).__name__,
)
def test_token_lists_come_in_any_form(sentences: Any, tmp_path: Path) -> None:
    trainer = small()
    summary = trainer.train(sentences)
    assert (summary.words, summary.sentences) == (300, 100)
    assert trainer.count("with") == 100
    expected = small()
    expected.train(SENTENCES)
    assert saved(trainer, tmp_path / "a") == saved(expected, tmp_path / "b")


@pytest.mark.parametrize(
    "sentences",
    [
        ["tea with milk", "coffee with sugar"] * 50,
        [b"tea with milk", b"coffee with sugar"] * 50,
        [bytearray(b"tea with milk"), bytearray(b"coffee with sugar")] * 50,
        ["tea with milk\ncoffee with sugar\n"] * 50,
        np.array(["tea with milk", "coffee with sugar"] * 50),
        np.array(["tea with milk", b"coffee with sugar"] * 50, dtype=object),
        (Letters(line) for line in ["tea with milk", "coffee with sugar"] * 50),
    ],
    ids=["str", "bytes", "bytearray", "lines", "numpy", "objects", "subclass"],
)
def test_strings_come_in_any_form(sentences: Any, tmp_path: Path) -> None:
    trainer, expected = small(), small()
    trainer.train(sentences)
    expected.train("tea with milk\ncoffee with sugar\n" * 50 for _ in range(1))
    assert saved(trainer, tmp_path / "a") == saved(expected, tmp_path / "b")


def test_nothing_is_nothing() -> None:
    trainer = small()
    for sentences in ([], iter([]), [[]], [[], [""]], [""], ["  \n"]):
        assert trainer.train(sentences).words == 0
    assert trainer.stats().words == 0
    assert len(trainer.embeddings()) == 0


@pytest.mark.parametrize("whole", ["tea with milk", b"tea", bytearray(b"tea")])
def test_one_string_is_refused_with_what_to_do(whole: Any) -> None:
    with pytest.raises(TypeError, match=r"put it into a list, as in train\(\[text\]\)"):
        small().train(whole)


def test_a_dictionary_is_refused_with_what_to_do() -> None:
    posts = {"first": "tea with milk", "second": "coffee with sugar"}
    for wrong in (posts, types.MappingProxyType(posts), collections.ChainMap(posts)):
        trainer = small()
        with pytest.raises(
            TypeError, match=r"iterating over it gives its keys; pass the text, as in train\(.*\.values\(\)\)"
        ):
            trainer.train(wrong)
        with pytest.raises(TypeError, match="gives its keys"):
            trainer.mean_vectors(wrong)
        assert trainer.stats().words == 0
        assert trainer.train(wrong.values()).words == 6


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        (5, "sentences is int; it must be an iterable"),
        (None, "sentences is NoneType"),
        ([5], "item 1 of sentences is int; it must be a string or a list of tokens"),
        ([None], "item 1 of sentences is NoneType"),
        (["a", ["b"]], "item 2 of sentences is list; those before it are strings"),
        ([["a"], ["b"], "c"], "item 3 of sentences is str; those before it are lists of tokens"),
        ([["a"], ["b", 5]], "token 2 of item 2 of sentences is int; it must be str"),
        ([["a", b"b"]], "token 2 of item 1 of sentences is bytes"),
        ([["a", None]], "token 2 of item 1 of sentences is NoneType"),
        ([["a", ["b"]]], "token 2 of item 1 of sentences is list"),
    ],
)
def test_what_is_no_sentence_is_named_by_its_number(sentences: Any, message: str) -> None:
    with pytest.raises(TypeError) as raised:
        small().train(sentences)
    assert message in str(raised.value)


def test_what_came_before_an_error_is_learned_and_the_error_is_the_same_object() -> None:
    for items in (["tea milk"] * 10, [["tea", "milk"]] * 10):
        error = KeyError("mine")

        def failing(items: Any = items, error: KeyError = error) -> Iterator[Any]:
            yield from items
            raise error

        trainer = small()
        with pytest.raises(KeyError) as raised:
            trainer.train(failing())
        assert raised.value is error
        assert trainer.stats().words == 20
        assert trainer.train(items).words == 20


def test_an_error_within_a_sentence_drops_that_sentence() -> None:
    def failing() -> Iterator[str]:
        yield "lost"
        raise ZeroDivisionError

    trainer = small()
    with pytest.raises(ZeroDivisionError):
        trainer.train([["tea"], failing()])
    assert trainer.count("tea") == 1
    assert "lost" not in trainer


def test_a_sentence_without_end_is_learned_in_pieces() -> None:
    class Enough(Exception):
        pass

    def endless() -> Iterator[str]:
        for number in range(1_000_000):
            if number == 300_000:
                raise Enough
            yield f"w{number % 100}"

    trainer = small(batch_words=10_000)
    with pytest.raises(Enough):
        trainer.train([endless()])
    assert 299_000 <= trainer.stats().words <= 300_000


def test_counts_are_those_of_the_text() -> None:
    random = np.random.default_rng(1)
    words = [f"w{number}" for number in range(50)]
    sentences = [list(random.choice(words, size=random.integers(1, 9))) for _ in range(500)]
    trainer = small()
    trainer.train(sentences)
    counts = Counter(word for sentence in sentences for word in sentence)
    assert {word: trainer.count(str(word)) for word in counts} == counts
    assert trainer.stats().words == sum(counts.values())


def test_the_limits_hold_for_token_lists_and_all_is_counted() -> None:
    trainer = small(max_sentence_words=3, max_token_bytes=8, min_token_len=2, max_token_len=4)
    summary = trainer.train([["aa", "b", "", "ccccc", "日日日", "dd", "éé", "ff", "gg"]])
    assert summary.words == 5
    assert summary.sentences == 2
    assert (summary.short_tokens, summary.long_tokens, summary.cut_sentences) == (2, 2, 1)
    assert "2 short tokens, 2 long tokens, 1 cut sentences" in repr(summary)


def test_tokens_are_taken_as_they_are() -> None:
    trainer = small(lowercase=True, nfkc=True, tokenizer="unicode")
    trainer.train([["New York", "ﬁne", "a\nb", "\x00", "don't!"]])
    assert all(word in trainer for word in ["New York", "ﬁne", "a\nb", "\x00", "don't!"])
    trainer.train(["New ﬁne don't!"])
    assert all(word in trainer for word in ["new", "fine", "don't"])


def test_long_words_of_every_width_arrive() -> None:
    words = ["a" * 63, "a" * 64, "a" * 65, "é" * 40, "日" * 40, "😀" * 31, "a" * 127 + "é", "x" * 128]
    trainer = small()
    trainer.train([words])
    assert [word for word in words if word in trainer] == words[:6] + words[7:]


@pytest.mark.parametrize("form", [lambda word: f"tea {word}", lambda word: ["tea", word]])
def test_half_of_a_surrogate_pair_is_not_utf_8(form: Any) -> None:
    bad = "m\ud800k"
    trainer = small()
    assert trainer.train([form(bad)]).invalid_lines == 1
    assert "m\N{REPLACEMENT CHARACTER}" * 1 in "".join(trainer.embeddings().index_to_key)
    skipping = small(invalid_utf8="skip")
    skipping.train([form(bad), form("milk")])
    assert (skipping.count("tea"), skipping.count("milk")) == (1, 1)
    refusing = small(invalid_utf8="error")
    with pytest.raises(UnicodeError, match="not valid UTF-8"):
        refusing.train([form("milk"), form(bad)])
    assert refusing.count("milk") == 1


@pytest.mark.parametrize("strategy", ["batch", "word2vec"])
def test_passes_read_sentences_again(strategy: str) -> None:
    for items in (SENTENCES, [" ".join(sentence) for sentence in SENTENCES]):
        sentences = Again(items)
        trainer = small(strategy=strategy, passes=3)
        assert trainer.train(sentences).words == 300
        assert sentences.started == 4
        with pytest.raises(ValueError, match="cannot learn more text"):
            trainer.train(sentences)
        assert trainer.stats().words == 300


def test_passes_refuse_what_can_be_read_only_once() -> None:
    trainer = small(strategy="batch")
    with pytest.raises(ValueError, match="can be read only once"):
        trainer.train(iter(SENTENCES))
    assert trainer.train(SENTENCES).words == 300


@pytest.mark.parametrize("strategy", ["batch", "word2vec"])
@pytest.mark.parametrize("items", [SENTENCES, [" ".join(sentence) for sentence in SENTENCES]])
def test_a_last_pass_without_text_is_an_error(strategy: str, items: list[Any]) -> None:
    class Once:
        def __init__(self) -> None:
            self.iterator = iter(items)

        def __iter__(self) -> Iterator[Any]:
            return self.iterator

    trainer = small(strategy=strategy)
    with pytest.raises(ValueError, match="there were 100 at first and 0 later"):
        trainer.train(Once())
    assert trainer.stats().words == 0
    assert trainer.train(items).pairs > 0


def test_passes_learn_all_or_nothing() -> None:
    class Failing(Again):
        def __iter__(self) -> Iterator[Any]:
            yield from super().__iter__()
            if self.started == 2:
                raise ZeroDivisionError

    trainer = small(strategy="word2vec", passes=2)
    with pytest.raises(ZeroDivisionError):
        trainer.train(Failing(SENTENCES))
    assert trainer.stats().words == 0
    changing = Again(SENTENCES)

    class Shrinking(Again):
        def __iter__(self) -> Iterator[Any]:
            self.items = self.items[:-1]
            return super().__iter__()

    with pytest.raises(
        ValueError, match="must be the same in each pass; there were 99 at first and 98 later"
    ):
        trainer.train(Shrinking(changing.items))
    assert trainer.stats().words == 0
    assert trainer.train(SENTENCES).words == 300


def test_a_callback_is_told_how_it_goes_and_may_use_the_trainer(tmp_path: Path) -> None:
    trainer = small(batch_words=200)
    told: list[Progress] = []

    def callback(progress: Progress) -> None:
        told.append(progress)
        assert trainer.stats().words >= progress.words
        assert len(trainer.embeddings()) == progress.vocabulary
        trainer.save(tmp_path / "model")
        with pytest.raises(RuntimeError, match=r"is (already )?training"):
            trainer.train(SENTENCES)

    summary = trainer.train(SENTENCES * 10, callback=callback, interval=0)
    assert len(told) >= 10
    assert told[-1].words == summary.words == 3000
    assert told[-1].fraction == 1.0
    assert [progress.words for progress in told] == sorted(progress.words for progress in told)
    assert all(0 <= progress.fraction <= 1 for progress in told if progress.fraction is not None)
    assert any(progress.loss is not None and progress.loss > 0 for progress in told)
    assert dataclasses.is_dataclass(told[0])
    generator = (sentence for sentence in SENTENCES)
    fractions: list[Any] = []
    trainer.train(generator, callback=lambda progress: fractions.append(progress.fraction), interval=0)
    assert set(fractions) == {None}


@pytest.mark.parametrize("strategy", ["batch", "word2vec"])
def test_a_callback_within_passes_is_told_that_there_is_no_model_yet(strategy: str, tmp_path: Path) -> None:
    trainer = small(strategy=strategy, passes=3)
    refused = 0

    def callback(progress: Progress) -> None:
        nonlocal refused
        if progress.fraction != 1.0:
            with pytest.raises(RuntimeError, match="only after training returns"):
                trainer.save(tmp_path / "model")
            refused += 1

    trainer.train(SENTENCES * 200, callback=callback, interval=0)
    assert refused > 0


def test_callbacks_do_not_change_the_model(tmp_path: Path) -> None:
    models = []
    for callback in (None, lambda progress: None):
        trainer = small(batch_words=200)
        trainer.train(SENTENCES * 5, callback=callback, interval=0)
        models.append(saved(trainer, tmp_path / "model"))
    assert models[0] == models[1]


def test_an_error_of_the_callback_comes_back_and_what_was_taken_is_learned() -> None:
    taken = 0

    def sentences() -> Iterator[list[str]]:
        nonlocal taken
        for sentence in SENTENCES * 1000:
            taken += 1
            yield sentence

    def callback(progress: Progress) -> None:
        raise error

    error = LookupError("mine")
    trainer = small(batch_words=200)
    with pytest.raises(LookupError) as raised:
        trainer.train(sentences(), callback=callback, interval=0)
    assert raised.value is error
    assert 0 < taken < 100_000
    assert trainer.stats().words == 3 * taken
    assert trainer.train(SENTENCES).words == 300


def test_a_callback_in_passes_is_called_while_the_trainer_works() -> None:
    trainer = small(strategy="word2vec", passes=2)
    busy: list[str] = []

    def callback(progress: Progress) -> None:
        try:
            trainer.stats()
        except RuntimeError as error:
            busy.append(str(error))

    trainer.train(SENTENCES * 500, callback=callback, interval=0)
    assert busy and "this trainer is training" in busy[0]


@pytest.mark.parametrize("interval", [-1, float("nan"), float("inf"), 1e300])
def test_an_interval_that_is_none_is_refused(interval: float) -> None:
    with pytest.raises(ValueError, match="interval is"):
        small().train(SENTENCES, interval=interval)


def test_what_cannot_be_called_is_no_callback() -> None:
    with pytest.raises(TypeError, match="callback is 5"):
        small().train(SENTENCES, callback=5)  # type: ignore[arg-type]


def test_a_bar_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    small().train(SENTENCES * 20, progress=True, interval=0)
    shown = capsys.readouterr().err
    assert "6.00k" in shown and "vocabulary=5" in shown


def test_a_bar_needs_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="pip install tqdm"):
        small().train(SENTENCES, progress=True)


def test_the_summary_and_the_stats_tell_what_happened() -> None:
    trainer = small(batch_words=200)
    summary = trainer.train(SENTENCES)
    assert isinstance(summary, Summary)
    assert summary.pairs > 0 and summary.loss > 0 and summary.seconds > 0
    assert summary.words_per_second == pytest.approx(300 / summary.seconds, rel=1e-3)
    assert repr(summary).startswith("<Summary: 300 words in 100 sentences, ")
    stats = trainer.stats()
    assert (stats.words, stats.vocabulary, stats.max_vocabulary) == (300, 5, 1000)
    assert stats.waiting + stats.replayed == 600
    assert (stats.replayed, stats.pairs) == (summary.replayed, summary.pairs)
    assert stats.memory_bound.total == sum(dataclasses.astuple(stats.memory_bound)[:-1])
    finished = trainer.finish()
    assert (finished.words, finished.replayed, finished.waiting) == (0, stats.waiting, 0)
    assert trainer.stats().replayed == 600
    with pytest.raises(dataclasses.FrozenInstanceError):
        summary.words = 5  # type: ignore[misc]


def test_evictions_are_counted() -> None:
    trainer = small(max_vocabulary=10)
    summary = trainer.train([[f"w{number}"] for number in range(100)])
    assert summary.evictions > 0
    assert trainer.stats().evictions == summary.evictions
    assert trainer.stats().vocabulary <= 10


def test_single_vectors_are_those_of_the_embeddings() -> None:
    trainer = small()
    trainer.train(SENTENCES)
    for vectors in ("sum", "joined", "target", "context"):
        embeddings = trainer.embeddings(vectors)
        np.testing.assert_array_equal(trainer.vector("tea", vectors), embeddings["tea"])
        rows = trainer.vectors_of(["milk", "tea"], vectors)
        np.testing.assert_array_equal(rows, [embeddings["milk"], embeddings["tea"]])
    assert trainer.vectors_of([]).shape == (0, 8)
    assert trainer.embeddings(top=2).index_to_key == ["with", "coffee"]
    for ask in (lambda: trainer.vector("cocoa"), lambda: trainer.vectors_of(["tea", "cocoa"])):
        with pytest.raises(KeyError, match="cocoa"):
            ask()
    with pytest.raises(ValueError, match="it must be sum, joined, target or context"):
        trainer.vector("tea", "both")
    with pytest.raises(TypeError):
        trainer.vectors_of("tea")
    assert 5 not in trainer and "tea" in trainer
    assert "\ud800" not in trainer and trainer.count("\ud800") == 0


def test_means_are_of_the_known_words() -> None:
    trainer = small(lowercase=True)
    trainer.train(SENTENCES)
    texts = ["Tea\nMILK cocoa", ["tea", "milk", "cocoa"], b"tea milk", "cocoa", [], ""]
    means = trainer.mean_vectors(texts)
    assert means.shape == (6, 8) and means.dtype == np.float32
    expected = trainer.vectors_of(["tea", "milk"]).mean(axis=0)
    for row in means[:3]:
        np.testing.assert_allclose(row, expected, rtol=1e-5)
    assert not means[3:].any()
    assert trainer.mean_vectors([]).shape == (0, 8)
    many = trainer.mean_vectors(["tea"] * 2500)
    np.testing.assert_array_equal(many, np.tile(trainer.vector("tea"), (2500, 1)))
    for texts in ("tea", [5], [["tea", 5]], 5):
        with pytest.raises(TypeError):
            trainer.mean_vectors(texts)
