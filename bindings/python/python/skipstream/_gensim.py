"""gensim's names: their equivalents here, and errors for those without one."""

from __future__ import annotations

import bz2
import gzip
import os
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from skipstream._arguments import FilePath, whole
from skipstream._progress import Progress
from skipstream._stats import Stats
from skipstream._trainer import Trainer

# gensim's names and ours.
NAMES = {
    "vector_size": "dimensions",
    "negative": "negatives",
    "ns_exponent": "noise_exponent",
    "sample": "subsample",
    "max_vocab_size": "max_vocabulary",
    "workers": "threads",
}

# gensim settings that support only one value, with the reason.
FIXED: dict[str, tuple[Any, str]] = {
    "sg": (1, "CBOW is not supported: pass sg=1, or use gensim"),
    "hs": (0, "hierarchical softmax is not supported: omit it and set negative"),
    "cbow_mean": (1, "CBOW is not supported: omit it"),
    "hashfxn": (hash, "random numbers depend on seed alone: omit it"),
    "null_word": (0, "null words are not supported: omit it"),
    "sorted_vocab": (1, "words are always sorted by frequency: omit it"),
    "batch_words": (10_000, "batches have a different meaning here: omit it"),
}

# Attributes of gensim's class without an equivalent, with the alternative.
ABSENT = {
    "add_lifecycle_event": "nothing is logged",
    "lifecycle_events": "nothing is logged",
    "alpha": "AdaGrad sets the learning rates",
    "min_alpha": "AdaGrad sets the learning rates",
    "add_null_word": "null words are not supported",
    "build_vocab_from_freq": "counts come from the text alone",
    "create_binary_tree": "hierarchical softmax is not supported",
    "cum_table": "noise words are drawn from the counts of the stream",
    "estimate_memory": "skipstream.Trainer(...).stats() has the memory bound",
    "init_weights": "a word's vector is initialized when the word is first seen",
    "make_cum_table": "noise words are drawn from the counts of the stream",
    "min_alpha_yet_reached": "AdaGrad sets the learning rates",
    "prepare_vocab": "the vocabulary follows the text",
    "prepare_weights": "the vocabulary follows the text",
    "random": "all random numbers derive from `seed`",
    "raw_vocab": "wv.get_vecattr(word, 'count') has the counts",
    "reset_from": "create a new model",
    "scan_vocab": "the vocabulary follows the text",
    "score": "it requires hierarchical softmax",
    "seeded_vector": "all random numbers derive from `seed`",
    "syn1": "hierarchical softmax is not supported",
    "update_weights": "the vocabulary follows the text",
}

# Names of gensim's modules without an equivalent, with the alternative.
ABSENT_NAMES = {
    "BrownCorpus": "pass token lists, or a text file to skipstream.Trainer.train_file",
    "Doc2Vec": "skipstream.sklearn.WordVectors maps a text to a weighted mean of its word vectors",
    "FastText": "skipstream.Embeddings.with_subwords estimates unknown words; KeyedVectors.load_word2vec_format reads .vec files",
    "PathLineSentences": "pass the folder to skipstream.Trainer.train_file",
    "Phrases": "join phrases with gensim.models.Phrases before training, or use Trainer(phrases=...)",
    "Text8Corpus": "pass the file to skipstream.Trainer.train_file, which splits long lines",
    "corpora": "import it from gensim",
    "downloader": "import it from gensim, and save what it loads with save_word2vec_format for KeyedVectors",
    "phrases": "join phrases with gensim.models.Phrases before training, or use Trainer(phrases=...)",
    "test": "import it from gensim",
    "utils": "import it from gensim; skipstream.Trainer tokenizes text itself",
}


class CallbackAny2Vec:
    """The base of callbacks. Each method gets the model; override those you need."""

    def on_train_begin(self, model: Any) -> None:
        """Is called before training."""

    def on_epoch_begin(self, model: Any) -> None:
        """Is called before each epoch."""

    def on_epoch_end(self, model: Any) -> None:
        """Is called after each epoch."""

    def on_train_end(self, model: Any) -> None:
        """Is called after training."""


class Events:
    """Calls the callbacks of one training."""

    def __init__(self, model: Any, callbacks: Any, before: Stats) -> None:
        self._model = model
        self._callbacks = list(callbacks or ())
        for callback in self._callbacks:
            if not all(hasattr(callback, name) for name in vars(CallbackAny2Vec) if name.startswith("on_")):
                kind = type(callback).__name__
                raise TypeError(
                    f"a callback is of the type {kind}; it must have the methods of CallbackAny2Vec"
                )
        self._before = before
        self._epoch = 1
        self._tell("train_begin", "epoch_begin")

    def finish(self) -> None:
        """Empties the replay buffer."""
        trainer, epochs = self._model.trainer, self._model.epochs
        waiting = trainer.stats().waiting

        def progress(_: Progress) -> None:
            done = 1 - trainer.stats().waiting / waiting
            while self._epoch < min(2 + int(done * (epochs - 1)), epochs):
                self._begin_next()

        if epochs > 1:
            self._begin_next()
        trainer.finish(callback=progress if self._callbacks and waiting else None, interval=0)
        while self._epoch < epochs:
            self._begin_next()
        self._tell("epoch_end", "train_end")

    def _begin_next(self) -> None:
        self._epoch += 1
        self._tell("epoch_end", "epoch_begin")

    def _tell(self, *events: str) -> None:
        model, now = self._model, self._model.trainer.stats()
        model._wv = None
        # gensim reports the sum over all pairs.
        loss = now.loss * now.pairs - self._before.loss * self._before.pairs
        model.running_training_loss = loss if model.compute_loss else 0.0
        for event in events:
            for callback in self._callbacks:
                getattr(callback, f"on_{event}")(model)


class LineSentence:
    """The lines of a file as lists of tokens, which are separated by white space.

    Args:
        source: Path of a file, which may end with `.gz` or `.bz2`; or an open file with `seek`.
        max_sentence_length: Longer lines are split.
        limit: Number of lines to read; None means all.
    """

    def __init__(self, source: Any, max_sentence_length: int = 10_000, limit: int | None = None) -> None:
        self.source = source
        self.max_sentence_length = whole("max_sentence_length", max_sentence_length, 1)
        self.limit = limit

    def __iter__(self) -> Iterator[list[str]]:
        """Starts at the first line each time."""
        if hasattr(self.source, "seek"):
            self.source.seek(0)
            yield from self._sentences(self.source)
        else:
            with _open(self.source) as file:
                yield from self._sentences(file)

    def _sentences(self, lines: Any) -> Iterator[list[str]]:
        for line in islice(lines, self.limit):
            tokens = (line.decode("utf-8") if isinstance(line, bytes) else line).split()
            for start in range(0, len(tokens), self.max_sentence_length):
                yield tokens[start : start + self.max_sentence_length]


def _open(path: FilePath) -> Any:
    name = os.fspath(path)
    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
    return openers.get(os.path.splitext(name)[1], open)(name, "rb")


def only(name: str, value: Any, allowed: Any, instead: str) -> None:
    """Raises an error for a value that is not supported."""
    try:
        differs = bool(value != allowed)
    except (TypeError, ValueError):
        # A value that cannot be compared, such as an array, differs.
        differs = True
    if differs:
        raise NotImplementedError(f"{name} is {value!r}; only {allowed!r} is supported ({instead})")


def trainer_by_gensim_names(**settings: Any) -> Trainer:
    """Creates a trainer from gensim's names, which errors then use too."""
    try:
        return Trainer(**{NAMES.get(name, name): value for name, value in settings.items()})
    except (TypeError, ValueError) as error:
        message = str(error)
        for theirs, ours in NAMES.items():
            if message.startswith(ours):
                raise type(error)(theirs + message[len(ours) :]) from None
        raise


def replays_of(epochs: int) -> int:
    """The number of replays for a number of epochs."""
    return whole("epochs", epochs, 1, 101) - 1


def token_lists(sentences: Any) -> Iterator[Any]:
    """Refuses strings: gensim would take each letter for a word."""
    if isinstance(sentences, (str, bytes)):
        raise TypeError("sentences is a string; it must be an iterable of token lists")
    rest = iter(sentences)
    for first in rest:
        if isinstance(first, (str, bytes)):
            raise TypeError(
                "a sentence is a string; it must be a list of tokens, such as sentence.split(). "
                "skipstream.Trainer.train accepts strings"
            )
        return chain([first], rest)
    return iter(())
