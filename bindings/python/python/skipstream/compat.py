"""A look-alike of gensim's `Word2Vec`, for code that only changes an import.

>>> from skipstream.compat import Word2Vec
>>> sentences = [["tea", "with", "milk"], ["coffee", "with", "sugar"]] * 200
>>> model = Word2Vec(sentences, vector_size=10, window=2, min_count=1, sg=1, seed=3)
>>> model.wv["tea"].shape, model.wv.get_vecattr("with", "count")
((10,), 400)
>>> model.train([["cocoa", "with", "milk"]] * 200, total_examples=200, epochs=5)[1]
3000
>>> "cocoa" in model.wv
True

What differs from gensim, because the engine learns from a stream:

- There is no pass that counts words first. `build_vocab` does nothing, and never reads its argument; new words come in
  whenever they are seen. A generator that can be read only once is enough for any number of epochs: each word is trained
  again later, from memory.
- Each `train` is more text of one stream. Where the same sentences are trained twice, their words are counted twice, and
  `min_count` is held against that; gensim keeps the counts of `build_vocab`. To train a text longer, pass `epochs`.
- `wv` never changes. gensim's is always up to date; here it is asked for again after more training: `model.wv`.
- Only skip-gram with negative sampling is there. AdaGrad sets the learning rates, so that `alpha` has no meaning.
- Words below `min_count` are not in `wv`. gensim drops them from the text before training; here they were contexts of
  their neighbours.
- At most `max_vocab_size` words are kept, 1,000,000 where none is given; where the text has more, the rarest are
  forgotten, and a warning says so.
- `sample` keeps a word with probability √(sample / frequency), as the paper of word2vec says; gensim, like the program
  word2vec, adds sample / frequency to it.

What cannot be honoured is an error that names the argument: nothing is ignored in silence.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skipstream._embeddings import Embeddings
from skipstream._gensim import ABSENT, FIXED, integer, only, replays_of, token_lists, trainer_by_gensim_names
from skipstream._trainer import Trainer

__all__ = ["Word2Vec"]

# What the vocabulary may hold where gensim has no bound.
_MAX_VOCABULARY = 1_000_000

# gensim, too, cuts sentences here.
_MAX_SENTENCE_WORDS = 10_000

# The most that the engine takes; gensim has no bound.
_MAX_TOKEN_BYTES = 65_535

# The name of the note in a model's file.
_NOTE = "gensim"


class Word2Vec:
    """Word vectors by skip-gram with negative sampling, with the arguments of gensim's class of this name.

    Args:
        sentences: Token lists, read once. Where none are given, call `train` later.
        corpus_file: A text with one sentence a line, instead of `sentences`; may be compressed.
        vector_size: Length of a vector (`dimensions` of `skipstream.Trainer`).
        alpha: Only gensim's default: AdaGrad sets the learning rates.
        window: Words to each side that are contexts.
        min_count: Words seen less often are not in `wv`.
        max_vocab_size: Words that are kept at the most (`max_vocabulary`).
        sample: Words more frequent than this share of the text are dropped at random (`subsample`).
        seed: Every random number follows from it; results are the same for any number of workers.
        workers: Threads (`threads`).
        min_alpha: Only gensim's default.
        sg: 1. CBOW, which is gensim's default, is not there: where `sg` is not given, a warning says so.
        hs: 0: there is no hierarchical softmax.
        negative: Noise words for each pair (`negatives`), at least 1.
        ns_exponent: The noise draws a word with probability ∝ count ^ `ns_exponent` (`noise_exponent`), from 0 to 1.
        cbow_mean: Only gensim's default.
        hashfxn: Only gensim's default.
        epochs: How often each word is trained: once when it comes, and `epochs - 1` times later (`replays`).
        null_word: Only gensim's default.
        trim_rule: None.
        sorted_vocab: 1: the words of `wv` are always in order of frequency.
        batch_words: Only gensim's default. `skipstream.Trainer` has a setting of this name with another meaning.
        compute_loss: Whether `get_latest_training_loss` has something to tell.
        callbacks: None: there are no epochs to call them at. `skipstream.Trainer.train` has a `callback`.
        comment: Kept, and saved with the model.
        max_final_vocab: Raises `min_count` so far that `wv` has no more words than this.
        shrink_windows: Whether a window's reach is drawn at random (`window_shape`).
    """

    def __init__(
        self,
        sentences: Iterable[Iterable[str]] | None = None,
        corpus_file: str | os.PathLike[str] | None = None,
        vector_size: int = 100,
        alpha: float = 0.025,
        window: int = 5,
        min_count: int = 5,
        max_vocab_size: int | None = None,
        sample: float = 1e-3,
        seed: int = 1,
        workers: int = 3,
        min_alpha: float = 0.0001,
        sg: int | None = None,
        hs: int = 0,
        negative: int = 5,
        ns_exponent: float = 0.75,
        cbow_mean: int = 1,
        hashfxn: Any = hash,
        epochs: int = 5,
        null_word: int = 0,
        trim_rule: None = None,
        sorted_vocab: int = 1,
        batch_words: int = 10_000,
        compute_loss: bool = False,
        callbacks: Iterable[Any] = (),
        comment: str | None = None,
        max_final_vocab: int | None = None,
        shrink_windows: bool = True,
    ) -> None:
        if sg is None:
            _warn(
                "training skip-gram; gensim's default is CBOW, which skipstream does not have. Pass sg=1 to say that "
                "skip-gram is meant"
            )
            sg = 1
        # Those that can have only one value are attributes, too, which refuse any other.
        self.sg, self.hs, self.cbow_mean, self.hashfxn = sg, hs, cbow_mean, hashfxn
        self.null_word, self.sorted_vocab, self.batch_words = null_word, sorted_vocab, batch_words
        rates = "AdaGrad sets the learning rates: leave it out, or use skipstream.Trainer(learning_rate=...)"
        only("alpha", alpha, 0.025, rates)
        only("min_alpha", min_alpha, 0.0001, rates)
        only("trim_rule", trim_rule, None, "use min_count, or leave words out of the sentences")
        only("callbacks", tuple(callbacks or ()), (), "use skipstream.Trainer.train(..., callback=...)")
        if negative == 0:
            raise ValueError(
                "negative is 0; it must be at least 1: there is no hierarchical softmax to take its place"
            )
        if comment is not None and not isinstance(comment, str):
            raise TypeError(f"comment is of type {type(comment).__name__}; it must be a string")
        self.min_count = min_count
        self.max_vocab_size = max_vocab_size
        self.max_final_vocab = max_final_vocab
        self.epochs = replays_of(epochs) + 1
        self._trainer = trainer_by_gensim_names(
            vector_size=vector_size,
            window=window,
            window_shape="shrinking" if shrink_windows else "fixed",
            negative=negative,
            ns_exponent=ns_exponent,
            sample=sample,
            max_vocab_size=self.max_vocab_size or _MAX_VOCABULARY,
            replays=self.epochs - 1,
            max_sentence_words=_MAX_SENTENCE_WORDS,
            max_token_bytes=_MAX_TOKEN_BYTES,
            workers=workers,
            seed=seed,
        )
        self.compute_loss = bool(compute_loss)
        self.comment = comment
        self.corpus_count = 0
        self.corpus_total_words = 0
        self.running_training_loss = 0.0
        self.total_train_time = 0.0
        self.train_count = 0
        self._wv: Embeddings | None = None
        if sentences is not None or corpus_file is not None:
            self.train(sentences, corpus_file=corpus_file, epochs=epochs, compute_loss=compute_loss)

    @property
    def vector_size(self) -> int:
        """Length of a vector."""
        return self._trainer.dimensions

    @property
    def layer1_size(self) -> int:
        """Length of a vector, by another name."""
        return self._trainer.dimensions

    @property
    def window(self) -> int:
        """Words to each side that are contexts."""
        return self._trainer.window

    @property
    def negative(self) -> int:
        """Noise words for each pair."""
        return self._trainer.negatives

    @property
    def ns_exponent(self) -> float:
        """The power of counts in the noise."""
        return self._trainer.noise_exponent

    @property
    def sample(self) -> float:
        """The share of the text from which on words are dropped."""
        return self._trainer.subsample

    @property
    def seed(self) -> int:
        """Every random number follows from it."""
        return self._trainer.seed

    @property
    def workers(self) -> int:
        """Threads that train."""
        threads = self._trainer.threads
        return self._trainer.stats().threads if threads is None else threads

    @workers.setter
    def workers(self, workers: int) -> None:
        self._trainer.threads = integer("workers", workers, 1, 1000)

    @property
    def shrink_windows(self) -> bool:
        """Whether a window's reach is drawn at random."""
        return self._trainer.window_shape == "shrinking"

    @property
    def wv(self) -> Embeddings:
        """The vectors as they are now: words seen at least `min_count` times, the most frequent first.

        They are gensim's: the vectors of words as centers (`vectors="target"`). What `skipstream.Trainer` gives by
        default, the sum with the vectors of words as contexts, is in `model.trainer.embeddings()`.

        The object never changes. After more training, ask for `wv` again.
        """
        if self._wv is None:
            self._wv = self._kept("target")
        return self._wv

    @property
    def syn1neg(self) -> NDArray[np.float32]:
        """The vectors of words as contexts, in the order of `wv`."""
        return self._kept("context").vectors

    @property
    def trainer(self) -> Trainer:
        """The trainer behind it, for all that gensim has no name for. Train by the model, so that `wv` is up to date."""
        return self._trainer

    @property
    def effective_min_count(self) -> int:
        """`min_count`, or what `max_final_vocab` makes of it."""
        if self.max_final_vocab is None:
            return self.min_count
        most = min(self.max_final_vocab, self._trainer.max_vocabulary)
        embeddings = self._trainer.embeddings(top=most + 1)
        if len(embeddings) <= most:
            return self.min_count
        # All words that are seen as often as the first one too many go with it.
        return max(self.min_count, int(embeddings.counts[most]) + 1)

    def _kept(self, vectors: str) -> Embeddings:
        return self._trainer.embeddings(vectors).with_min_count(self.effective_min_count)

    def build_vocab(
        self,
        corpus_iterable: Iterable[Iterable[str]] | None = None,
        corpus_file: str | os.PathLike[str] | None = None,
        update: bool = False,
        progress_per: int = 10_000,
        keep_raw_vocab: bool = False,
        trim_rule: None = None,
    ) -> None:
        """Does nothing: words come in while they are trained. The corpus is not read, so `wv` is as it was."""
        only(
            "keep_raw_vocab",
            keep_raw_vocab,
            False,
            "wv.get_vecattr(word, 'count') has the counts: leave it out",
        )
        only("trim_rule", trim_rule, None, "use min_count, or leave words out of the sentences")

    def train(
        self,
        corpus_iterable: Iterable[Iterable[str]] | None = None,
        corpus_file: str | os.PathLike[str] | None = None,
        total_examples: int | None = None,
        total_words: int | None = None,
        epochs: int | None = None,
        start_alpha: None = None,
        end_alpha: None = None,
        word_count: int = 0,
        queue_factor: int = 2,
        report_delay: float = 1.0,
        compute_loss: bool = False,
        callbacks: Iterable[Any] = (),
    ) -> tuple[int, int]:
        """Learns sentences, each word `epochs` times. New words come in.

        Args:
            corpus_iterable: Token lists, read once.
            corpus_file: A text with one sentence a line, instead.
            total_examples: Not needed; gensim's learning rate depends on it.
            total_words: Not needed.
            epochs: How often each word is trained; the model's own number where it is not given.
            start_alpha: None: AdaGrad sets the learning rates.
            end_alpha: None.
            word_count: 0.
            queue_factor: Only gensim's default: there is no queue.
            report_delay: Only gensim's default: nothing is logged. `skipstream.Trainer.train` has `progress`.
            compute_loss: Whether `get_latest_training_loss` has something to tell.
            callbacks: None.

        Returns:
            The words that were trained and those that were read, each counted `epochs` times. The first number does
            without what was dropped by `sample` in gensim; here both are the same.
        """
        rates = "AdaGrad sets the learning rates: leave it out"
        only("start_alpha", start_alpha, None, rates)
        only("end_alpha", end_alpha, None, rates)
        only("word_count", word_count, 0, "training goes on where it was: leave it out")
        only("queue_factor", queue_factor, 2, "there is no queue: leave it out")
        only("report_delay", report_delay, 1.0, "nothing is logged: leave it out")
        only("callbacks", tuple(callbacks or ()), (), "use skipstream.Trainer.train(..., callback=...)")
        if (corpus_iterable is None) == (corpus_file is None):
            raise TypeError("give either the sentences or corpus_file")
        replays = replays_of(self.epochs if epochs is None else epochs)
        if replays != self._trainer.replays:
            # Text that waits, because an error ended the training before, has the replays that it was to have.
            self._trainer.finish()
            self._trainer.set_replays(replays)
        self.epochs = replays + 1
        before = self._trainer.stats()
        start = time.perf_counter()
        try:
            if corpus_file is not None:
                # gensim learns a file as often as it is told to.
                summary = self._trainer.train_file(corpus_file, format="text", again=True)
            else:
                summary = self._trainer.train(token_lists(corpus_iterable))
            self._trainer.finish()
        finally:
            # After Ctrl-C, too: what was read is learned.
            self._wv = None
            self.total_train_time += time.perf_counter() - start
        after = self._trainer.stats()
        self.train_count += 1
        self.corpus_count = summary.sentences
        self.corpus_total_words = summary.words
        self.compute_loss = bool(compute_loss)
        # gensim adds up the loss of all pairs.
        self.running_training_loss = (
            after.loss * after.pairs - before.loss * before.pairs if compute_loss else 0.0
        )
        left_out = summary.short_tokens + summary.long_tokens
        if summary.words == 0:
            _warn("the corpus has no words, so nothing was learned; a generator can be read only once")
        elif len(self.wv) == 0:
            _warn(f"none of the words was seen min_count={self.effective_min_count} times, so wv is empty")
        if left_out:
            _warn(
                f"{left_out:,} tokens were left out: they are empty, or have more than {_MAX_TOKEN_BYTES:,} bytes"
            )
        if after.evictions > before.evictions and self.max_vocab_size is None:
            _warn(
                f"the text has more than {self._trainer.max_vocabulary:,} different words; the rarest were forgotten. "
                "Pass max_vocab_size to choose how many are kept"
            )
        words = summary.words * self.epochs
        return words, words

    def get_latest_training_loss(self) -> float:
        """The loss of the last training, summed over all pairs; 0 where `compute_loss` was not asked for."""
        return self.running_training_loss

    def predict_output_word(
        self, context_words_list: Iterable[str | int], topn: int = 10
    ) -> list[tuple[str, float]] | None:
        """The words that are most probably the center of the given contexts, with their probabilities.

        As in gensim: the mean of the given words' vectors, times each word's vector as a context, through a softmax.
        Where no given word is known, None.
        """
        topn = integer("topn", topn, 0)
        wv = self.wv
        known = [
            wv.get_index(word) if isinstance(word, str) else word for word in context_words_list if word in wv
        ]
        if not known:
            return None
        scores = self.syn1neg @ wv.vectors[known].mean(axis=0)
        weights = np.exp(scores - scores.max(), dtype=np.float64)
        probabilities = weights / weights.sum()
        best = np.argsort(-probabilities, kind="stable")[:topn]
        words = wv.index_to_key
        return [(words[row], float(probabilities[row])) for row in best]

    def save(self, fname: str | os.PathLike[str]) -> None:
        """Writes the whole state to one file, which skipstream's other programs read, too."""
        note = {name: getattr(self, name) for name in _NOTED}
        self._trainer._note(_NOTE, json.dumps(note))
        self._trainer.save(fname)

    @classmethod
    def load(cls, fname: str | os.PathLike[str], workers: int | None = None) -> Word2Vec:
        """The model in a file that `save` wrote, or any other model of skipstream (then `min_count` is 1)."""
        fname = os.fspath(fname)
        with open(fname, "rb") as file:
            if file.read(2)[:1] == b"\x80":
                raise ValueError(
                    f"{fname} is a pickle, as gensim saves its models; it cannot be trained further here. "
                    "Load it with gensim, save its vectors with model.wv.save_word2vec_format, and start from them "
                    "with skipstream.Trainer(init=...)"
                )
        model = cls.__new__(cls)
        model._trainer = Trainer.load(fname, threads=workers)
        try:
            note = dict(json.loads(model._trainer._notes().get(_NOTE, "{}")))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{fname}: what it says for gensim's look-alike cannot be read: {error}"
            ) from None
        for name, (value, _) in FIXED.items():
            setattr(model, name, value)
        for name, default in _NOTED.items():
            setattr(model, name, note.get(name, default))
        # A file has every setting spelled out.
        model.epochs = 1 + (model._trainer.replays or 0)
        model._wv = None
        return model

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_wv": None}

    def __getattr__(self, name: str) -> Any:
        if name in ABSENT:
            raise AttributeError(f"{name} of gensim's Word2Vec is not here: {ABSENT[name]}")
        # Says what is wrong, also where a property failed.
        return self.__getattribute__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        # gensim's names that mean nothing here must not be set in silence.
        if name in ABSENT:
            raise AttributeError(f"{name} of gensim's Word2Vec is not here: {ABSENT[name]}")
        if name in FIXED:
            only(name, value, *FIXED[name])
        if name in _LIMITS and not (value is None and name != "min_count"):
            value = integer(name, value, *_LIMITS[name])
        if name in ("min_count", "max_final_vocab"):
            super().__setattr__("_wv", None)
        super().__setattr__(name, value)

    def __str__(self) -> str:
        return f"{type(self).__name__}<vocab={len(self.wv)}, vector_size={self.vector_size}>"

    def __repr__(self) -> str:
        return f"<skipstream.compat.{self}>"


# The limits of what is an attribute too.
_LIMITS: dict[str, tuple[int, int | None]] = {
    "min_count": (0, 2**60),
    "max_vocab_size": (2, None),
    "max_final_vocab": (1, None),
}

# What a model's file keeps for this class, with the value where the file does not say.
_NOTED: dict[str, Any] = {
    "min_count": 1,
    "max_vocab_size": None,
    "max_final_vocab": None,
    "compute_loss": False,
    "comment": None,
    "corpus_count": 0,
    "corpus_total_words": 0,
    "running_training_loss": 0.0,
    "total_train_time": 0.0,
    "train_count": 0,
}


def _warn(message: str) -> None:
    """A warning that points to the line that called this module."""
    frame, depth = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, UserWarning, stacklevel=depth)
