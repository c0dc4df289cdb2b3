"""The trainer: everything that changes while text arrives."""

from __future__ import annotations

import contextlib
import json
import operator
import os
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from skipstream import _engine
from skipstream._arguments import real
from skipstream._embeddings import Embeddings
from skipstream._estimator import Estimator
from skipstream._progress import Bar, Callback, listener
from skipstream._stats import Stats
from skipstream._summary import Summary

StrPath = Union[str, "os.PathLike[str]"]

_MAKING = threading.RLock()


class Trainer(Estimator):
    """Learns word vectors from text that keeps arriving, in one pass and in bounded memory.

    >>> from skipstream import Trainer
    >>> trainer = Trainer(dimensions=20, subsample=0)
    >>> summary = trainer.train([["tea", "with", "milk"], ["coffee", "with", "sugar"]] * 500)
    >>> summary.words, summary.sentences
    (3000, 1000)
    >>> trainer.train(["cocoa with milk"] * 500).words
    1500
    >>> "cocoa" in trainer, trainer.count("milk")
    (True, 1000)

    The settings are those of the engine and of the command line, under the same names. They are checked at once:

    >>> Trainer(window=-5)
    Traceback (most recent call last):
    ...
    ValueError: window is -5; it must be from 1 to 1000

    Several threads may use a trainer. One that trains lets the others in between two batches. Where its text comes
    slowly, a batch for which the iterator took more than about a second ends early for those who wait, as soon as the
    next item is there. So an iterator must not wait for a thread that waits for the trainer.

    Args:
        dimensions: Length of a vector.
        window: Words to each side that are a word's contexts, at the most.
        window_shape: `"shrinking"` draws the reach of each window from 1 to `window`; `"fixed"` does not.
        negatives: Noise words for each pair.
        noise_exponent: Noise words are drawn in proportion to their count to this power.
        subsample: Words more frequent than this share of the text are dropped at random; 0 keeps all.
        learning_rate: AdaGrad's rate, or the first rate of `word2vec`; None is 0.2 for rates by row, 0.1 for rates by
            dimension, 0.025 for `word2vec`.
        adagrad: What has a rate of its own, `"row"` or `"dimension"`; None is the row for `mini-batch`.
        max_vocabulary: Words that are kept, at the most; the rarest leave for new ones.
        table_size: Slots of the noise table of `incremental`.
        batch_words: Words that `mini-batch` trains together.
        blocks: Parts of the vocabulary that threads share out: a power of two, at least the threads.
        replays: How often each word is trained again later, from a buffer of past text; None is 1 for `mini-batch`.
        replay_words: Words in that buffer, at the most.
        passes: Passes over the text of `batch` and `word2vec`.
        strategy: `"mini-batch"` counts a batch of words and then trains it, on all threads; `"incremental"` does both
            word by word. `"batch"` and `"word2vec"` count all text first and then pass over it, and cannot learn more.
        tokenizer: What a token of a string is: `"whitespace"` or `"unicode"` (words without punctuation).
        lowercase: Whether strings are put in lower case.
        nfkc: Whether strings are brought into Unicode's normal form KC.
        min_token_len: A token of fewer characters is left out and counted.
        max_token_len: A token of more characters is left out and counted.
        max_sentence_words: A sentence of more tokens is cut into pieces.
        max_token_bytes: A token of more bytes is left out and counted.
        invalid_utf8: What becomes of text that is not UTF-8: `"replace"`, `"skip"` or `"error"`.
        memory: Memory that the engine never passes, in bytes or as `"2G"`: it decides on `max_vocabulary`.
        init: A file of vectors with which words start.
        threads: Threads that train; None is all cores. The model is the same for any number.
        seed: Every random number follows from it.
    """

    def __init__(
        self,
        *,
        dimensions: int = 100,
        window: int = 5,
        window_shape: str = "shrinking",
        negatives: int = 5,
        noise_exponent: float = 0.75,
        subsample: float = 1e-4,
        learning_rate: float | None = None,
        adagrad: str | None = None,
        max_vocabulary: int = 100_000,
        table_size: int = 1_000_000,
        batch_words: int = 400_000,
        blocks: int = 4,
        replays: int | None = None,
        replay_words: int = 2_000_000,
        passes: int = 1,
        strategy: str = "mini-batch",
        tokenizer: str = "whitespace",
        lowercase: bool = False,
        nfkc: bool = False,
        min_token_len: int = 1,
        max_token_len: int | None = None,
        max_sentence_words: int = 1000,
        max_token_bytes: int = 128,
        invalid_utf8: str = "replace",
        memory: str | int | None = None,
        init: StrPath | None = None,
        threads: int | None = None,
        seed: int = 1,
    ) -> None:
        self.dimensions = dimensions
        self.window = window
        self.window_shape = window_shape
        self.negatives = negatives
        self.noise_exponent = noise_exponent
        self.subsample = subsample
        self.learning_rate = learning_rate
        self.adagrad = adagrad
        self.max_vocabulary = max_vocabulary
        self.table_size = table_size
        self.batch_words = batch_words
        self.blocks = blocks
        self.replays = replays
        self.replay_words = replay_words
        self.passes = passes
        self.strategy = strategy
        self.tokenizer = tokenizer
        self.lowercase = lowercase
        self.nfkc = nfkc
        self.min_token_len = min_token_len
        self.max_token_len = max_token_len
        self.max_sentence_words = max_sentence_words
        self.max_token_bytes = max_token_bytes
        self.invalid_utf8 = invalid_utf8
        self.memory = memory
        self.init = init
        self.threads = threads
        self.seed = seed
        self._trainer: _engine.Trainer | None = None
        self._made_with: dict[str, Any] = {}
        self._settings()

    def train(
        self,
        sentences: Iterable[Any],
        *,
        progress: bool = False,
        callback: Callback | None = None,
        interval: float = 1.0,
    ) -> Summary:
        """Learns sentences.

        They are strings, which are cut into tokens as the settings say (a string may have several lines, and each is
        a sentence), or lists of tokens, which are taken as they are. Any iterable will do, also one that can be read
        only once; its first item tells which of the two it holds. Only the strategies `batch` and `word2vec` read it
        several times. A column of pandas, polars or pyarrow is read from its buffers where it has them, and its missing
        values are passed over.

        `progress=True` shows a bar (it needs tqdm). `callback` is called with a `Progress` about every `interval`
        seconds, and at the end. The trainer is at rest then, so that it may be asked for vectors, or saved; but not
        with `batch` and `word2vec`, which have no model before the end. A signal's handler cannot ask the trainer that
        its thread trains: it should set a flag, and the callback do the rest.

        Ctrl-C, or an error of the iterable or of the callback, ends the training: what was taken from the iterable is
        learned, and the trainer can be used, saved and trained further. (`batch` and `word2vec` learn all or nothing.)
        """
        trainer = self._ready()
        with self._listening(progress, callback, interval) as listening:
            return Summary._told(*trainer.train(sentences, *listening))

    def train_file(
        self,
        paths: StrPath | Iterable[StrPath],
        *,
        format: str | None = None,
        field: str | None = None,
        bad_records: str = "error",
        again: bool = False,
        progress: bool = False,
        callback: Callback | None = None,
        interval: float = 1.0,
    ) -> Summary:
        """Learns files, by the engine's own readers: Python has no part in it.

        A path may be that of a folder (all files in it and below it) or a pattern such as `news/**/*.txt.gz`. Files may
        be compressed by gzip, zstd, bzip2 or xz. A line is a sentence. `format` is `"text"`, `"jsonl"`, `"csv"`,
        `"tsv"` or `"parquet"`; all but text need the `field` that is text, and `bad_records="skip"` leaves out records
        without it.

        The model remembers what it has learned, and how far: a file that was learned is skipped, one that has grown is
        continued, and so is one whose training was interrupted. `again=True` learns it as new text.

        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "news.txt")
        >>> _ = path.write_text("tea with milk\\n" * 100)
        >>> trainer = Trainer(dimensions=20)
        >>> trainer.train_file(path).words
        300
        >>> len(trainer.train_file(path).skipped_files)
        1
        """
        trainer = self._ready()
        if isinstance(paths, (str, bytes, os.PathLike)):
            paths = [paths]
        elif not isinstance(paths, Iterable):
            raise TypeError(
                f"paths is of the type {type(paths).__name__}; it must be a path or a list of them"
            )
        named = [os.fsdecode(path) for path in paths]
        with self._listening(progress, callback, interval) as listening:
            return Summary._told(*trainer.train_file(named, format, field, bad_records, again, *listening))

    def finish(
        self, *, progress: bool = False, callback: Callback | None = None, interval: float = 1.0
    ) -> Summary:
        """Trains the old text that still waits for its replay: for a last look at the vectors.

        >>> trainer = Trainer(dimensions=20)
        >>> trainer.train([["tea", "with", "milk"]] * 500).waiting
        1500
        >>> trainer.finish().replayed
        1500
        """
        with self._listening(progress, callback, interval) as listening:
            return Summary._told(*self._ready().finish(*listening))

    def embeddings(self, vectors: str = "sum", top: int | None = None) -> Embeddings:
        """The vectors as they are now, which later training does not change.

        `vectors` is `"target"`, `"context"` or their `"sum"`. With `top`, only those of the most frequent words.
        """
        if top is not None:
            if operator.index(top) < 0:
                raise ValueError(f"top is {top}; it must be 0 or more")
            top = min(operator.index(top), sys.maxsize)
        return Embeddings(self._live().embeddings(vectors, top))

    def vector(self, word: str, vectors: str = "sum") -> NDArray[np.float32]:
        """The vector of one word as it is now, without a copy of all others. `KeyError` if the word is not known."""
        return self._live().vector(word, vectors)

    def vectors_of(self, words: Iterable[str], vectors: str = "sum") -> NDArray[np.float32]:
        """The vectors of words as they are now, a row each. `KeyError` if one of them is not known."""
        if isinstance(words, str):
            raise TypeError("words is one str; put it into a list")
        return self._live().vectors_of(list(words), vectors)

    def mean_vectors(self, texts: Iterable[Any], vectors: str = "sum") -> NDArray[np.float32]:
        """For each text the mean of the vectors of its known words, a row each; zeros where no word is known.

        A text is a string, which is cut into tokens as in training, or a list of tokens.

        >>> trainer = Trainer(dimensions=20, subsample=0)
        >>> _ = trainer.train(["tea with milk"] * 500)
        >>> trainer.mean_vectors(["milk tea", ["milk", "tea"], "nothing known"]).shape
        (3, 20)
        """
        return self._live().mean_vectors(texts, vectors)

    def count(self, word: str) -> int:
        """How often a word was seen; 0 if it is not known."""
        return self._count(word) or 0

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._count(word) is not None

    def _count(self, word: str) -> int | None:
        try:
            return self._live().count(word)
        except UnicodeEncodeError:
            # Half of a surrogate pair is in no word.
            return None

    def stats(self) -> Stats:
        """How far training has come.

        >>> trainer = Trainer(dimensions=20)
        >>> _ = trainer.train([["tea", "with", "milk"]] * 500)
        >>> trainer.stats().words, trainer.stats().vocabulary
        (1500, 3)
        """
        return Stats._from_json(self._live().stats())

    def save(self, path: StrPath) -> None:
        """Writes the whole state to a file, which the command line reads too: `Trainer.load` goes on from there."""
        self._live().save(path)

    @classmethod
    def load(cls, path: StrPath, threads: int | None = None) -> Trainer:
        """The trainer in a file, as if training had never stopped. `threads` is not a part of a model."""
        _engine.Settings(threads=threads)
        engine = _engine.Trainer.load(path, threads)
        settings = json.loads(engine.settings())
        trainer = cls(**settings.pop("text"), **settings, threads=threads)
        trainer._trainer = engine
        trainer._made_with = trainer._params()
        return trainer

    def __repr__(self) -> str:
        """The settings that are not the default. (What was learned would have to wait for a training.)"""
        changed = (f"{name}={getattr(self, name, None)!r}" for name in SETTINGS if not self._is_default(name))
        return f"{type(self).__name__}({', '.join(changed)})"

    def _is_default(self, name: str) -> bool:
        return _same(getattr(self, name, None), DEFAULTS[name])

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name != "_trainer"}
        if self._trainer is not None:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "trainer.safetensors")
                self._trainer.save(path)
                state["_bytes"] = path.read_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.pop("_bytes", None)
        self.__dict__.update(state)
        self._trainer = None
        if saved is not None:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "trainer.safetensors")
                path.write_bytes(saved)
                self._trainer = _engine.Trainer.load(path, self.threads)

    def set_replays(self, replays: int) -> None:
        """Changes how often text that comes from now on is trained again. No text may wait for it: see `finish`."""
        trainer = self._ready()
        _engine.Settings(replays=replays)
        trainer.set_replays(replays)
        self.replays = self._made_with["replays"] = replays

    def _notes(self) -> dict[str, str]:
        """What is kept beside the model in its file."""
        return self._live().notes()

    def _note(self, name: str, text: str) -> None:
        """Keeps something beside the model in its file."""
        self._live().set_note(name, text)

    def _params(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in SETTINGS}

    def _settings(self) -> _engine.Settings:
        params = self._params()
        if params["memory"] is not None:
            for name in ("max_vocabulary", "table_size"):
                if params.pop(name) != DEFAULTS[name]:
                    raise ValueError(f"memory decides on {name}; give one of the two")
        return _engine.Settings(**params)

    def _live(self) -> _engine.Trainer:
        """The engine's trainer, as it is."""
        if self._trainer is None:
            # Of several threads, one makes it; a handler of signals may come in between.
            with _MAKING:
                if self._trainer is None:
                    self._made_with = self._params()
                    self._trainer = _engine.Trainer(self._settings())
        return self._trainer

    def _ready(self) -> _engine.Trainer:
        """The engine's trainer, which must have the settings that are asked for now."""
        trainer = self._live()
        params = self._params()
        changed = [name for name in SETTINGS if not _same(params[name], self._made_with[name])]
        if not changed:
            return trainer
        settings = self._settings()
        if changed == ["threads"]:
            trainer.set_threads(self.threads)
        elif json.loads(trainer.stats())["words"] == 0:
            self._trainer = trainer = _engine.Trainer(settings)
        else:
            names = [name for name in changed if name != "threads"]
            differences = ", ".join(
                f"{name} is {params[name]!r}, the model's is {self._made_with[name]!r}" for name in names
            )
            raise ValueError(
                f"{differences}; settings are fixed once text was learned, only threads may change: "
                "set it back, or make a new Trainer"
            )
        self._made_with = params
        return trainer

    @contextlib.contextmanager
    def _listening(
        self, progress: bool, callback: Callback | None, interval: float
    ) -> Iterator[tuple[Any, float]]:
        """Who is told how it goes, and after how many seconds."""
        seconds = real("interval", interval)
        with contextlib.ExitStack() as stack:
            bar = stack.enter_context(Bar()) if progress else None
            yield listener(callback, bar), seconds

    def _wait_for_training(self) -> None:
        """Waits until nobody trains. A thread that does so itself cannot wait for it: that is an error."""
        if self._trainer is not None:
            self._trainer.wait_for_training()


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


DEFAULTS: dict[str, Any] = dict(Trainer.__init__.__kwdefaults__ or {})
"""The settings by name, with their defaults."""

SETTINGS = tuple(DEFAULTS)
"""The names of the settings."""
