"""The trainer."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from skipstream import _engine
from skipstream._arguments import (
    DEFAULT_VECTORS,
    FilePath,
    TextFormat,
    Weighting,
    WhichVectors,
    optional,
)
from skipstream._embeddings import Embeddings
from skipstream._keywords import unknown
from skipstream._progress import Callback, listening
from skipstream._stats import Stats
from skipstream._summary import Summary

if TYPE_CHECKING:
    from typing_extensions import Self

_MAKING = threading.RLock()


@dataclass(kw_only=True, repr=False, eq=False)
class Trainer:
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

    The settings have the same names as in the engine and on the command line. They are checked immediately:

    >>> Trainer(window=-5)
    Traceback (most recent call last):
    ...
    ValueError: window is -5; it must be from 1 to 1000

    A trainer can be used from several threads. A training thread lets the others in between two batches. If the text
    arrives slowly, so that a batch takes more than about a second, the batch ends early as soon as the next item arrives
    and another thread is waiting. An iterator must therefore never wait for a thread that waits for the trainer.

    Args:
        dimensions: Length of a vector.
        window: Maximum distance between a word and its contexts.
        window_shape: `"shrinking"` draws the size of each window from 1 to `window`; `"fixed"` always uses `window`.
        negatives: Noise words per pair.
        noise_exponent: Noise words are drawn in proportion to their count to this power, from -1 to 1.
        subsample: Share of the text above which words are randomly dropped; 0 keeps all.
        learning_rate: AdaGrad rate, or the initial rate of `word2vec`. None means 0.26 / √(1 + `replays`),
            at most 0.2, for `mini-batch`, 0.025 for `word2vec`, and otherwise 0.2 per row or 0.1 per dimension.
        adagrad: Granularity of learning rates, `"row"` or `"dimension"`. None means row for `mini-batch`.
        max_vocabulary: Maximum vocabulary size; the rarest words make way for new ones.
        table_size: Size of the noise table of `incremental`. None means 1,000,000.
        warm_up_words: Words at the start that `incremental` counts before it trains any of them. None means 0. A call of
            `train` that ends earlier trains the words that it has read.
        batch_words: Batch size of `mini-batch` in words. None means 400,000.
        blocks: Vocabulary blocks that threads work on in parallel: a power of two, at least the number of threads. None
            means 4.
        quality: `"balanced"` or `"best"`, which sets the defaults of the next three settings to 4, 10,000,000 and
            `"late"`; call `finish()` at the end of the text. None means balanced.
        replays: How often each word is trained again from a buffer of past text. None means 2 for `mini-batch`.
        replay_words: Maximum size of that buffer in words. None means 2,000,000.
        replay_start: `"early"` lets at most a quarter of the text so far wait for its replay; `"late"` fills the buffer
            first, which gives better vectors after `finish()`. None means early for `mini-batch`.
        half_life: Number of words, such as `20_000_000` or `"20M"`, after which a token counts half in everything that a
            `mini-batch` model remembers. None means that nothing is forgotten. A time such as `"30d"` is for models of the
            service, whose text has times.
        phrases: Whether words that belong together become one, as *new york* becomes `new_york`, and how they are scored:
            `"npmi"` or `"original"`, the score of word2phrase. Only `mini-batch`. None means off.
        phrase_threshold: Score above which two words become a phrase. None means 0.5 for `npmi` and 100 for `original`.
        phrase_min_count: Minimum number of times that they occur next to each other. None means 10.
        phrase_pairs: Maximum number of word pairs that are counted at a time. None means 400,000.
        phrase_connectors: Words that a phrase may have inside, `"english"` or `"none"`. None means none.
        passes: Passes over the text for `batch` and `word2vec`. None means 1.
        strategy: `"mini-batch"` counts a batch of words and then trains it, on all threads; `"incremental"` does both
            word by word. `"batch"` and `"word2vec"` count all text first, then make passes over it, and cannot continue.
        text: What strings are: `"tokens"`, which are split at white space, or `"prose"`, which is split into sentences and
            words without punctuation, in lower case and normalization form KC, without URLs, e-mail addresses, emoji and
            long numbers. It sets the defaults of the next three settings.
        tokenizer: How strings are split: `"whitespace"` or `"unicode"` (words without punctuation).
        lowercase: Whether to convert strings to lower case.
        nfkc: Whether to apply Unicode normalization form KC.
        min_token_len: Minimum token length in characters; shorter tokens are left out and counted.
        max_token_len: Maximum token length in characters; longer tokens are left out and counted.
        max_sentence_words: Maximum sentence length in tokens; longer sentences are split.
        max_token_bytes: Maximum token length in bytes; longer tokens are left out and counted.
        invalid_utf8: Policy for invalid UTF-8: `"replace"`, `"skip"` or `"error"`.
        memory: Memory limit in bytes or as `"2G"`; `max_vocabulary` follows from it.
        init: Vectors file to initialize words from.
        threads: Number of training threads; None means all cores. The model is the same for any number.
        seed: Random seed.
    """

    dimensions: int = 100
    window: int = 5
    window_shape: Literal["shrinking", "fixed"] = "shrinking"
    negatives: int = 5
    noise_exponent: float = 0.75
    subsample: float = 1e-4
    learning_rate: float | None = None
    adagrad: Literal["row", "dimension"] | None = None
    max_vocabulary: int = 100_000
    table_size: int | None = None
    warm_up_words: int | None = None
    batch_words: int | None = None
    blocks: int | None = None
    quality: Literal["balanced", "best"] | None = None
    replays: int | None = None
    replay_words: int | None = None
    replay_start: Literal["early", "late"] | None = None
    half_life: str | int | None = None
    phrases: Literal["off", "npmi", "original"] | None = None
    phrase_threshold: float | None = None
    phrase_min_count: int | None = None
    phrase_pairs: int | None = None
    phrase_connectors: Literal["none", "english"] | None = None
    passes: int | None = None
    strategy: Literal["mini-batch", "incremental", "batch", "word2vec"] = "mini-batch"
    text: Literal["tokens", "prose"] = "tokens"
    tokenizer: Literal["whitespace", "unicode"] | None = None
    lowercase: bool | None = None
    nfkc: bool | None = None
    min_token_len: int = 1
    max_token_len: int | None = None
    max_sentence_words: int = 1000
    max_token_bytes: int = 128
    invalid_utf8: Literal["replace", "skip", "error"] = "replace"
    memory: str | int | None = None
    init: FilePath | None = None
    threads: int | None = None
    seed: int = 1

    def __new__(cls, **settings: Any) -> Self:
        """Refuses unknown settings, before `__init__` does, with what to write instead."""
        for name in settings:
            if name not in cls.__dataclass_fields__:
                raise TypeError(unknown(name, cls.__dataclass_fields__))
        return super().__new__(cls)

    def __post_init__(self) -> None:
        self._trainer: _engine.Trainer | None = None
        self._made_with: dict[str, Any] = {}
        self._settings()

    @classmethod
    def for_items(cls, **settings: Any) -> Self:
        """Returns a trainer for sequences of items: products of a session, tracks of a playlist, nodes of a walk.

        All items of a sequence are contexts of each other. `settings` go before those that this sets.

        >>> trainer = Trainer.for_items(dimensions=20)
        >>> trainer
        Trainer(dimensions=20, window=100, window_shape='fixed', noise_exponent=0.0, subsample=0.001, batch_words=50000, blocks=4)
        >>> _ = trainer.train([["cup", "saucer"], ["cup", "kettle"]] * 100, weights=[1, 2.5] * 100)
        >>> trainer.embeddings().most_similar("kettle", topn=1)[0][0]
        'cup'
        """
        return cls(**{**json.loads(_engine.Settings.for_items()), **settings})

    def train(
        self,
        sentences: Iterable[Any],
        *,
        weights: Iterable[float] | None = None,
        progress: bool = False,
        callback: Callback | None = None,
        interval: float = 1.0,
    ) -> Summary:
        """Learns sentences.

        A sentence is a string, which is tokenized according to the settings (each line of a multi-line string is a
        sentence), or a list of tokens, which is used as is. Any iterable will do, including a generator; its first item
        determines which of the two it holds. Only the strategies `batch` and `word2vec` read it several times. A pandas,
        polars or pyarrow column is read from its buffers where possible, and missing values are skipped.

        `weights` has a number from 0 to 10 for each list of tokens: how many times it is trained, on average, where others
        are trained once. Its tokens are counted once.

        `progress=True` shows a progress bar (requires tqdm). `callback` is called with a `Progress` about every `interval`
        seconds and at the end. Training is paused during the call, so it can read vectors or save the trainer; not with
        `batch` and `word2vec`, which have no model before the end. A signal handler cannot use the trainer that its own
        thread is training: set a flag there and act on it in the callback.

        Ctrl-C, or an exception in the iterable or the callback, ends the training. Everything taken from the iterable is
        learned, and the trainer can be used, saved and trained further. (`batch` and `word2vec` learn all or nothing.)
        """
        trainer = self._ready()
        with listening(progress, callback, interval) as listener:
            summary = Summary._from_engine(*trainer.train(sentences, weights, *listener))
        self._mention_prose(summary)
        return summary

    def train_file(
        self,
        paths: FilePath | Iterable[FilePath],
        *,
        format: TextFormat | None = None,
        field: str | None = None,
        weight: str | None = None,
        no_header: bool = False,
        bad_records: Literal["error", "skip"] = "error",
        again: bool = False,
        force_text: bool = False,
        finish: bool = False,
        progress: bool = False,
        callback: Callback | None = None,
        interval: float = 1.0,
    ) -> Summary:
        """Learns files, read by the engine without going through Python.

        A path may be a file, a folder (with its subfolders) or a glob pattern such as `news/**/*.txt.gz`. Files may be
        compressed with gzip, zstd, bzip2 or xz. Each line is a sentence. `format` is `"text"`, `"jsonl"`, `"csv"`,
        `"tsv"` or `"parquet"`; all but text need the name of the text `field`, and `bad_records="skip"` leaves out
        records without it. `weight` names a field with a number from 0 to 10: how many times a record is trained, on
        average, where others are trained once. A table without a header has `no_header=True`, and columns are numbered from 1. A file that is
        not text is an error, or is left out if a folder or pattern contains it; `force_text=True` reads it all the same.

        The model remembers how far it has read each file: a learned file is skipped, and a file that has grown or was
        interrupted is continued. `again=True` learns it as new text. `finish=True` then calls `finish`, and the summary is
        that of both.

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
        elif hasattr(paths, "read"):
            raise TypeError(
                f"paths is an open file ({type(paths).__name__}), whose lines would be taken for paths; pass its path, or its "
                "lines to train, as in train(file)"
            )
        elif isinstance(paths, Mapping) or not isinstance(paths, Iterable):
            raise TypeError(
                f"paths is of the type {type(paths).__name__}; it must be a path or a list of paths"
            )
        named = [os.fsdecode(path) for path in paths]
        options = {
            "format": format,
            "field": field,
            "weight": weight,
            "no_header": bool(no_header),
            "bad_records": bad_records,
            "again": bool(again),
            "force_text": bool(force_text),
        }
        with listening(progress, callback, interval) as listener:
            summary = Summary._from_engine(*trainer.train_file(named, options, *listener))
            self._mention_prose(summary)
            return summary._then(Summary._from_engine(*trainer.finish(*listener))) if finish else summary

    def finish(
        self, *, progress: bool = False, callback: Callback | None = None, interval: float = 1.0
    ) -> Summary:
        """Trains the text still waiting in the replay buffer, at a rate that falls to zero, before a final look at the vectors.

        >>> trainer = Trainer(dimensions=20)
        >>> trainer.train([["tea", "with", "milk"]] * 200_000).waiting
        290013
        >>> trainer.finish().replayed
        290013
        """
        with listening(progress, callback, interval) as listener:
            return Summary._from_engine(*self._ready().finish(*listener))

    def pin(self, *words: str) -> None:
        """Keeps words in the vocabulary for good. A word that has not occurred yet gets a vector now.

        At most half of `max_vocabulary` can be pinned. `unpin` undoes it. These and the following methods act between two
        batches, are saved with the model, and change words as the text settings do (such as `lowercase`). A call changes all
        of its words or none. Raises `ValueError` if a word is under another control.

        >>> trainer = Trainer(dimensions=20)
        >>> trainer.pin("cocoa")
        >>> "cocoa" in trainer, trainer.count("cocoa")
        (True, 0)
        """
        self._control("pin", words)

    def unpin(self, *words: str) -> None:
        """Lets pinned words leave again. A word that never occurred leaves now."""
        self._control("unpin", words)

    def block(self, *words: str) -> None:
        """Keeps words out of the vocabulary: a stop list. Text is learned as if the words were not in it.

        >>> trainer = Trainer(dimensions=20)
        >>> trainer.block("the", "with")
        >>> _ = trainer.train([["the", "tea", "with", "milk"]])
        >>> sorted(trainer.embeddings().index_to_key)
        ['milk', 'tea']
        """
        self._control("block", words)

    def unblock(self, *words: str) -> None:
        """Lets blocked words in again, from their next occurrence on."""
        self._control("unblock", words)

    def merge(self, *words: str, into: str) -> None:
        """Counts and trains further occurrences of words as the word `into`. They leave, with what was learned of them,
        and queries about them are about `into`.

        >>> trainer = Trainer(dimensions=20)
        >>> trainer.merge("colour", into="color")
        >>> _ = trainer.train([["colour", "or", "color"]])
        >>> trainer.count("color"), trainer.count("colour"), len(trainer.embeddings())
        (2, 2, 2)
        """
        self._control("merge", words, into=into)

    def unmerge(self, *words: str) -> None:
        """Undoes `merge`: further occurrences are words of their own again."""
        self._control("unmerge", words)

    def forget(self, *words: str, keep_out: bool = False) -> None:
        """Deletes words for good: vectors, counts, waiting text, initial vectors, and other controls of them.

        The vectors of other words keep what they learned from the text around them. A forgotten word is learned as a new one
        if it occurs again, unless `keep_out` is true; the model then has a hash of the word, which is not secret.

        >>> trainer = Trainer(dimensions=20)
        >>> _ = trainer.train([["jdoe", "likes", "tea"]])
        >>> trainer.forget("jdoe", keep_out=True)
        >>> _ = trainer.train([["jdoe", "likes", "coffee"]])
        >>> "jdoe" in trainer
        False
        """
        self._control("forget", words, keep_out=bool(keep_out))

    def controls(self) -> dict[str, Any]:
        """Returns the words under control: lists of `pinned` and `blocked` words, a dict of `merged` ones, and the hashes
        of forgotten words that are `kept_out`.

        >>> trainer = Trainer(dimensions=20)
        >>> trainer.pin("cocoa")
        >>> trainer.controls()["pinned"]
        ['cocoa']
        """
        empty: dict[str, Any] = {"pinned": [], "blocked": [], "merged": {}, "kept_out": []}
        return {**empty, **json.loads(self._live().controls())}

    def add_phrases(self, *phrases: str) -> int:
        """Adds phrases that are always learned as one word from now on, and returns how many are new.

        They are joined whether the setting `phrases` finds others or not. Only `mini-batch`.

        >>> trainer = Trainer(dimensions=20)
        >>> trainer.add_phrases("new york")
        1
        >>> _ = trainer.train(["new york is new"])
        >>> trainer.count("new york"), trainer.count("new_york"), trainer.count("new")
        (1, 1, 1)
        """
        for phrase in phrases:
            if not isinstance(phrase, str):
                raise TypeError(
                    f"add_phrases() takes phrases, not {type(phrase).__name__}; unpack a list with *"
                )
        return self._ready().add_phrases(list(phrases))

    def phrase_list(self) -> list[dict[str, Any]]:
        """Returns the phrases that are joined now, the most frequent first: each with its `phrase` and `word`, its `count`,
        its `score` and the number of words of the text before it was found (`found_at`). The last two are None for phrases
        that were given.

        >>> trainer = Trainer(dimensions=20, phrases="npmi", phrase_min_count=3)
        >>> others = [f"{n % 7} {n % 11} {n % 13}" for n in range(200)]
        >>> _ = trainer.train(others + ["new york"] * 5)
        >>> trainer.phrase_list()[0]["word"]
        'new_york'
        """
        phrases: list[dict[str, Any]] = json.loads(self._live().phrases())
        return phrases

    def _control(self, name: str, words: tuple[str, ...], **options: object) -> None:
        for word in words:
            if not isinstance(word, str):
                raise TypeError(f"{name}() takes words, not {type(word).__name__}; unpack a list with *")
        self._ready().control(json.dumps([{name: {"word": word, **options}} for word in words]))

    def embeddings(self, vectors: WhichVectors = DEFAULT_VECTORS, top: int | None = None) -> Embeddings:
        """Returns the current vectors. Later training does not change them.

        `vectors` is `"target"`, `"context"`, their `"sum"`, or `"joined"`: both, one after the other, each minus three
        quarters of its mean over the vocabulary, which keeps what analogies need and has twice the dimensions. `top`
        limits them to the most frequent words.

        >>> trainer = Trainer(dimensions=20)
        >>> _ = trainer.train([["tea", "with", "milk"]])
        >>> trainer.embeddings("joined").vector_size
        40
        """
        return Embeddings(self._live().embeddings(vectors, optional("top", top)))

    def vector(self, word: str, vectors: WhichVectors = DEFAULT_VECTORS) -> NDArray[np.float32]:
        """Returns the current vector of one word, without copying the others. Raises `KeyError` if it is unknown.

        The means of `"joined"` vectors depend on all words: for several words, `vectors_of` computes them once.
        """
        vector: NDArray[np.float32] = self._live().vectors_of([word], vectors)[0]
        return vector

    def vectors_of(
        self, words: Iterable[str], vectors: WhichVectors = DEFAULT_VECTORS
    ) -> NDArray[np.float32]:
        """Returns the current vectors of words, one row each. Raises `KeyError` if one is unknown."""
        if isinstance(words, str):
            raise TypeError("words is a str; pass a list")
        return self._live().vectors_of(list(words), vectors)

    def mean_vectors(
        self,
        texts: Iterable[Any],
        vectors: WhichVectors = DEFAULT_VECTORS,
        weighting: Weighting = "none",
        subwords: Embeddings | None = None,
        *,
        normalize: bool = False,
    ) -> NDArray[np.float32]:
        """Returns the mean word vector of each text, one row each; zeros if no word is known.

        A text is a string, which is tokenized as in training, or a list of tokens. Phrases are joined and merged words
        replaced. If no word of the vocabulary has an upper-case letter, texts are read in lower case. `weighting` gives
        words a weight by their share of the counts of all words: `"none"` gives all the same, `"idf"` ln(1 + 1 / share),
        and `"sif"` 0.001 / (0.001 + share), the smooth inverse frequency of Arora, Liang and Ma (2017). `normalize` scales
        the vectors to unit length.

        >>> trainer = Trainer(dimensions=20, subsample=0)
        >>> _ = trainer.train(["tea with milk"] * 500)
        >>> trainer.mean_vectors(["milk tea", ["milk", "tea"], "nothing known"]).shape
        (3, 20)

        `subwords` are vectors with `Embeddings.with_subwords`, of this or another model with the same vectors. Unknown words
        are then estimated from their spelling, and weigh as much as a word that occurred once.

        >>> subwords = trainer.embeddings().with_subwords()
        >>> trainer.mean_vectors(["milky"], subwords=subwords).any(axis=1).tolist()
        [True]
        """
        table = None if subwords is None else subwords._engine
        return self._live().mean_vectors(texts, vectors, weighting, bool(normalize), table)

    def count(self, word: str) -> int:
        """Returns the count of a word; 0 if it is unknown."""
        return self._count(word) or 0

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._count(word) is not None

    def _count(self, word: str) -> int | None:
        try:
            return self._live().count(word)
        except UnicodeEncodeError:
            # No word contains a lone surrogate.
            return None

    def stats(self) -> Stats:
        """Returns training statistics.

        >>> trainer = Trainer(dimensions=20)
        >>> _ = trainer.train([["tea", "with", "milk"]] * 500)
        >>> trainer.stats().words, trainer.stats().vocabulary
        (1500, 3)
        """
        return Stats._from_json(self._live().stats())

    def save(self, path: FilePath) -> None:
        """Writes the whole training state to a file. `Trainer.load` and the command line can resume from it."""
        self._live().save(path)

    @classmethod
    def load(cls, path: FilePath, threads: int | None = None) -> Trainer:
        """Loads a trainer from a file and resumes as if training had never stopped. `threads` is not part of a model."""
        _engine.Settings(threads=threads)
        engine = _engine.Trainer.load(path, threads)
        settings = json.loads(engine.settings())
        trainer = cls(**settings, threads=threads)
        trainer._trainer = engine
        trainer._made_with = trainer._params()
        return trainer

    def __repr__(self) -> str:
        """The settings that differ from the defaults. (Statistics would have to wait for running training.)"""
        values = {name: getattr(self, name, None) for name in SETTINGS}
        changed = [f"{name}={value!r}" for name, value in values.items() if not _same(value, DEFAULTS[name])]
        return f"{type(self).__name__}({', '.join(changed)})"

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
        """Changes the number of replays for new text. The replay buffer must be empty; see `finish`."""
        trainer = self._ready()
        _engine.Settings(replays=replays)
        trainer.set_replays(replays)
        self.replays = self._made_with["replays"] = replays

    def _mention_prose(self, summary: Summary) -> None:
        chosen = (self.text == "prose", self.tokenizer, self.lowercase, self.nfkc)
        if summary.looks_like_prose and not any(chosen) and self.stats().words == summary.words:
            message = "the text looks like prose, and was split at white space; Trainer(text='prose') finds its words"
            warnings.warn(message, stacklevel=3)

    def _params(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in SETTINGS}

    def _settings(self) -> _engine.Settings:
        params = self._params()
        if params["memory"] is not None:
            for name in ("max_vocabulary", "table_size"):
                if params.pop(name) != DEFAULTS[name]:
                    raise ValueError(f"memory determines {name}; give only one of them")
        return _engine.Settings(**params)

    def _live(self) -> _engine.Trainer:
        """The engine's trainer, created on first use."""
        if self._trainer is None:
            # Only one thread creates it; reentrant for signal handlers.
            with _MAKING:
                if self._trainer is None:
                    self._made_with = self._params()
                    self._trainer = _engine.Trainer(self._settings())
        return self._trainer

    def _ready(self) -> _engine.Trainer:
        """The engine's trainer, after checking that the settings still match."""
        trainer = self._live()
        params = self._params()
        changed = [name for name in SETTINGS if not _same(params[name], self._made_with[name])]
        if not changed:
            return trainer
        settings = self._settings()
        if changed == ["threads"]:
            trainer.set_threads(self.threads)
        elif json.loads(trainer.stats())["words"] == 0 and json.loads(trainer.controls()) == {}:
            self._trainer = trainer = _engine.Trainer(settings)
        else:
            names = [name for name in changed if name != "threads"]
            differences = ", ".join(
                f"{name} is {params[name]!r}, the model's is {self._made_with[name]!r}" for name in names
            )
            raise ValueError(
                f"{differences}; settings are fixed once text was learned, except threads: "
                "restore it, or create a new Trainer"
            )
        self._made_with = params
        return trainer


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


DEFAULTS: dict[str, Any] = dict(Trainer.__init__.__kwdefaults__ or {})
"""The settings by name, with their defaults."""

SETTINGS = tuple(DEFAULTS)
"""The names of the settings."""
