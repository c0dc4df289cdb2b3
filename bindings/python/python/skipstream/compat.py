"""Drop-in replacements for gensim's `Word2Vec`, `KeyedVectors`, `LineSentence` and `CallbackAny2Vec`.

>>> from skipstream.compat import Word2Vec
>>> sentences = [["tea", "with", "milk"], ["coffee", "with", "sugar"]] * 200
>>> model = Word2Vec(sentences, vector_size=10, window=2, min_count=1, sg=1, seed=3)
>>> model.wv["tea"].shape, model.wv.get_vecattr("with", "count")
((10,), 400)
>>> model.train([["cocoa", "with", "milk"]] * 200, total_examples=200, epochs=5)[1]
3000
>>> "cocoa" in model.wv
True

Differences from gensim, because the engine learns from a stream:

- There is no counting pass. `build_vocab` does nothing and never reads its argument; new words enter when they are seen.
  A one-shot generator is enough for any number of epochs: words are trained again later, from a replay buffer.
- Each `train` call continues one stream. Training on the same sentences twice counts their words twice, which affects
  `min_count`; gensim keeps the counts of `build_vocab`. To train longer on the same text, pass `epochs`.
- `wv` is a snapshot. gensim's is always current; here, read `model.wv` again after more training.
- Only skip-gram with negative sampling is supported. AdaGrad sets the learning rates, so `alpha` has no meaning.
- Words below `min_count` are not in `wv`. gensim drops them before training; here they still serve as contexts.
- At most `max_vocab_size` words are kept (default 1,000,000). If the text has more, the rarest are evicted, with a
  warning.

An unsupported argument raises an error that names it. Nothing is ignored silently.

A program that uses gensim's modules by name needs one other line, `import skipstream.compat as gensim`:

>>> import skipstream.compat as gensim
>>> gensim.models.Word2Vec is gensim.Word2Vec and gensim.models.word2vec.LineSentence is gensim.LineSentence
True
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

from skipstream._arguments import WhichVectors, whole
from skipstream._embeddings import Embeddings, refuse_pickle
from skipstream._gensim import (
    ABSENT,
    ABSENT_NAMES,
    FIXED,
    CallbackAny2Vec,
    Events,
    LineSentence,
    only,
    replays_of,
    token_lists,
    trainer_by_gensim_names,
)
from skipstream._trainer import Trainer

__all__ = ["CallbackAny2Vec", "KeyedVectors", "LineSentence", "Word2Vec"]

KeyedVectors = Embeddings

# gensim.models.word2vec.LineSentence is LineSentence here.
models = word2vec = keyedvectors = callbacks = sys.modules[__name__]

# gensim has no default limit.
_MAX_VOCABULARY = 1_000_000

# gensim's limit.
_MAX_SENTENCE_WORDS = 10_000

# The engine's maximum; gensim has no limit.
_MAX_TOKEN_BYTES = 65_535

# The name of the note in the model file.
_NOTE = "gensim"


class Word2Vec:
    """Skip-gram with negative sampling, with the arguments of gensim's class.

    Args:
        sentences: Token lists, read once. If omitted, call `train` later.
        corpus_file: A text file with one sentence per line, instead of `sentences`; may be compressed.
        vector_size: Length of a vector (`dimensions` of `skipstream.Trainer`).
        alpha: Only gensim's default: AdaGrad sets the learning rates.
        window: Maximum distance between a word and its contexts.
        min_count: Words seen less often are not in `wv`.
        max_vocab_size: Maximum vocabulary size (`max_vocabulary`).
        sample: Share of the text above which words are randomly dropped (`subsample`).
        seed: Random seed; results are the same for any number of workers.
        workers: Threads (`threads`).
        min_alpha: Only gensim's default.
        sg: Must be 1. CBOW, gensim's default, is not supported; omitting `sg` gives a warning.
        hs: Must be 0: hierarchical softmax is not supported.
        negative: Noise words per pair (`negatives`), at least 1.
        ns_exponent: Noise words are drawn in proportion to count ^ `ns_exponent` (`noise_exponent`), from -1 to 1.
        cbow_mean: Only gensim's default.
        hashfxn: Only gensim's default.
        epochs: How often each word is trained: once on arrival and `epochs - 1` times later (`replays`).
        null_word: Only gensim's default.
        trim_rule: Must be None.
        sorted_vocab: Must be 1: words of `wv` are always sorted by frequency.
        batch_words: Only gensim's default. `skipstream.Trainer` has a setting of this name with a different meaning.
        compute_loss: Whether to record the loss for `get_latest_training_loss`.
        callbacks: Objects like `CallbackAny2Vec`; see `train`.
        comment: Saved with the model.
        max_final_vocab: Maximum number of words in `wv`; raises `min_count` accordingly.
        shrink_windows: Whether to draw window sizes at random (`window_shape`).
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
                "training skip-gram: gensim's default, CBOW, is not supported. Pass sg=1 to silence this warning"
            )
            sg = 1
        # Settings with a single supported value are attributes that refuse any other.
        self.sg, self.hs, self.cbow_mean, self.hashfxn = sg, hs, cbow_mean, hashfxn
        self.null_word, self.sorted_vocab, self.batch_words = null_word, sorted_vocab, batch_words
        rates = "AdaGrad sets the learning rates: omit it, or use skipstream.Trainer(learning_rate=...)"
        only("alpha", alpha, 0.025, rates)
        only("min_alpha", min_alpha, 0.0001, rates)
        only("trim_rule", trim_rule, None, "use min_count, or filter the sentences")
        if negative == 0:
            raise ValueError("negative is 0; it must be at least 1: hierarchical softmax is not supported")
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
            self.train(
                sentences,
                corpus_file=corpus_file,
                epochs=epochs,
                compute_loss=compute_loss,
                callbacks=callbacks,
            )
        elif callbacks:
            _warn("callbacks are not used without sentences; pass them to train")

    @property
    def vector_size(self) -> int:
        """Length of a vector."""
        return self._trainer.dimensions

    @property
    def layer1_size(self) -> int:
        """Alias of `vector_size`."""
        return self._trainer.dimensions

    @property
    def window(self) -> int:
        """Maximum distance between a word and its contexts."""
        return self._trainer.window

    @property
    def negative(self) -> int:
        """Noise words per pair."""
        return self._trainer.negatives

    @property
    def ns_exponent(self) -> float:
        """Exponent of counts in the noise distribution."""
        return self._trainer.noise_exponent

    @property
    def sample(self) -> float:
        """Share of the text above which words are randomly dropped."""
        return self._trainer.subsample

    @property
    def seed(self) -> int:
        """Random seed."""
        return self._trainer.seed

    @property
    def workers(self) -> int:
        """Number of training threads."""
        threads = self._trainer.threads
        return self._trainer.stats().threads if threads is None else threads

    @workers.setter
    def workers(self, workers: int) -> None:
        self._trainer.threads = whole("workers", workers, 1, 1000)

    @property
    def shrink_windows(self) -> bool:
        """Whether window sizes are drawn at random."""
        return self._trainer.window_shape == "shrinking"

    @property
    def wv(self) -> Embeddings:
        """The current vectors of words seen at least `min_count` times, most frequent first.

        As in gensim, these are target vectors (`vectors="target"`). `model.trainer.embeddings()` returns skipstream's default
        vectors, which are made of target and context vectors.

        The object is immutable. After more training, read `wv` again.
        """
        if self._wv is None:
            self._wv = self._kept("target")
        return self._wv

    @property
    def syn1neg(self) -> NDArray[np.float32]:
        """Context vectors, in the order of `wv`."""
        return self._kept("context").vectors

    @property
    def trainer(self) -> Trainer:
        """The underlying trainer, for features gensim lacks. Train through the model, so that `wv` stays current."""
        return self._trainer

    @property
    def effective_min_count(self) -> int:
        """`min_count`, or the higher value required by `max_final_vocab`."""
        if self.max_final_vocab is None:
            return self.min_count
        most = min(self.max_final_vocab, self._trainer.max_vocabulary)
        embeddings = self._trainer.embeddings(top=most + 1)
        if len(embeddings) <= most:
            return self.min_count
        # Words tied with the first excess word are excluded too.
        return max(self.min_count, int(embeddings.counts[most]) + 1)

    def _kept(self, vectors: WhichVectors) -> Embeddings:
        kept = self._trainer._live().embeddings(vectors).with_min_count(self.effective_min_count)
        # As in gensim, all words of `wv` may be answers.
        return Embeddings(kept, min_count=0)

    def build_vocab(
        self,
        corpus_iterable: Iterable[Iterable[str]] | None = None,
        corpus_file: str | os.PathLike[str] | None = None,
        update: bool = False,
        progress_per: int = 10_000,
        keep_raw_vocab: bool = False,
        trim_rule: None = None,
    ) -> None:
        """Does nothing: words enter the vocabulary during training. Does not read the corpus."""
        only(
            "keep_raw_vocab",
            keep_raw_vocab,
            False,
            "wv.get_vecattr(word, 'count') has the counts: omit it",
        )
        only("trim_rule", trim_rule, None, "use min_count, or filter the sentences")

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
        """Learns sentences, training each word `epochs` times. New words enter the vocabulary.

        Args:
            corpus_iterable: Token lists, read once.
            corpus_file: A text file with one sentence per line, instead.
            total_examples: Ignored; gensim's learning rate depends on it.
            total_words: Ignored.
            epochs: How often to train each word; defaults to the model's setting.
            start_alpha: Must be None: AdaGrad sets the learning rates.
            end_alpha: Must be None.
            word_count: Must be 0.
            queue_factor: Only gensim's default: there is no queue.
            report_delay: Only gensim's default: nothing is logged. Use `progress` of `skipstream.Trainer.train`.
            compute_loss: Whether to record the loss for `get_latest_training_loss`.
            callbacks: Objects with the methods of `CallbackAny2Vec`, which may read or save the model. The first epoch
                ends when the text was read, the others while the replay buffer empties; with little text, all together.

        Returns:
            The number of words trained and the number of words read, each times `epochs`. In gensim, the first excludes
            words dropped by `sample`; here both are equal.
        """
        rates = "AdaGrad sets the learning rates: omit it"
        only("start_alpha", start_alpha, None, rates)
        only("end_alpha", end_alpha, None, rates)
        only("word_count", word_count, 0, "training always continues: omit it")
        only("queue_factor", queue_factor, 2, "there is no queue: omit it")
        only("report_delay", report_delay, 1.0, "nothing is logged: omit it")
        if (corpus_iterable is None) == (corpus_file is None):
            raise TypeError("pass either sentences or corpus_file")
        replays = replays_of(self.epochs if epochs is None else epochs)
        if replays != self._trainer.replays:
            # Text left in the replay buffer by an interrupted training keeps its old number of replays.
            self._trainer.finish()
            self._trainer.set_replays(replays)
        self.epochs = replays + 1
        self.compute_loss = bool(compute_loss)
        before = self._trainer.stats()
        start = time.perf_counter()
        events = Events(self, callbacks, before)
        try:
            if corpus_file is not None:
                # gensim learns a file every time it is passed.
                summary = self._trainer.train_file(corpus_file, format="text", again=True)
            else:
                summary = self._trainer.train(token_lists(corpus_iterable))
            events.finish()
        finally:
            # Also after Ctrl-C: everything read is learned.
            self._wv = None
            self.total_train_time += time.perf_counter() - start
        after = self._trainer.stats()
        self.train_count += 1
        self.corpus_count = summary.sentences
        self.corpus_total_words = summary.words
        left_out = summary.short_tokens + summary.long_tokens
        if summary.words == 0:
            _warn(
                "the corpus has no words, so nothing was learned; was it a generator that is already exhausted?"
            )
        elif len(self.wv) == 0:
            _warn(f"no word was seen min_count={self.effective_min_count} times, so wv is empty")
        if left_out:
            _warn(f"{left_out:,} tokens were left out: empty, or longer than {_MAX_TOKEN_BYTES:,} bytes")
        if after.evictions > before.evictions and self.max_vocab_size is None:
            _warn(
                f"the text has more than {self._trainer.max_vocabulary:,} distinct words; the rarest were evicted. "
                "Pass max_vocab_size to set the limit"
            )
        words = summary.words * self.epochs
        return words, words

    def get_latest_training_loss(self) -> float:
        """Returns the loss of the last training, summed over all pairs; 0 without `compute_loss`."""
        return self.running_training_loss

    def predict_output_word(
        self, context_words_list: Iterable[str | int], topn: int = 10
    ) -> list[tuple[str, float]] | None:
        """Returns the most probable center words for the given contexts, with probabilities.

        As in gensim: a softmax over the products of the mean vector with each context vector. Returns None if no given
        word is known.
        """
        topn = whole("topn", topn, 0)
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

    def init_sims(self, replace: bool = False) -> None:
        """Does nothing, with a warning: queries need no preparation."""
        _warn("init_sims does nothing: queries need no preparation. wv.normalized() has unit vectors")

    def save(self, fname: str | os.PathLike[str]) -> None:
        """Writes the whole state to one file, which all of skipstream's programs read."""
        note = {name: getattr(self, name) for name in _NOTED}
        self._trainer._live().set_note(_NOTE, json.dumps(note))
        self._trainer.save(fname)

    @classmethod
    def load(cls, fname: str | os.PathLike[str], workers: int | None = None) -> Word2Vec:
        """Loads a model written by `save`, or any other skipstream model (with `min_count` 1)."""
        refuse_pickle(fname, "pass that file to skipstream.Trainer(init=...)")
        model = cls.__new__(cls)
        model._trainer = Trainer.load(fname, threads=workers)
        try:
            note = dict(json.loads(model._trainer._live().notes().get(_NOTE, "{}")))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{fname}: invalid compat.Word2Vec note: {error}") from None
        for name, (value, _) in FIXED.items():
            setattr(model, name, value)
        for name, default in _NOTED.items():
            setattr(model, name, note.get(name, default))
        # A model file stores every setting explicitly.
        model.epochs = 1 + (model._trainer.replays or 0)
        model._wv = None
        return model

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_wv": None}

    def __getattr__(self, name: str) -> Any:
        if name in ABSENT:
            raise AttributeError(f"gensim's {name} is not supported: {ABSENT[name]}")
        # Raises the original error, also if a property failed.
        return self.__getattribute__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        # Unsupported gensim attributes must not be set silently.
        if name in ABSENT:
            raise AttributeError(f"gensim's {name} is not supported: {ABSENT[name]}")
        if name in FIXED:
            only(name, value, *FIXED[name])
        if name in _LIMITS and not (value is None and name != "min_count"):
            value = whole(name, value, *_LIMITS[name])
        if name in ("min_count", "max_final_vocab"):
            super().__setattr__("_wv", None)
        super().__setattr__(name, value)

    def __str__(self) -> str:
        return f"{type(self).__name__}<vocab={len(self.wv)}, vector_size={self.vector_size}>"

    def __repr__(self) -> str:
        return f"<skipstream.compat.{self}>"


# Limits of settable attributes.
_LIMITS: dict[str, tuple[int, int | None]] = {
    "min_count": (0, 2**60),
    "max_vocab_size": (2, None),
    "max_final_vocab": (1, None),
}

# What the note in a model file holds, with defaults.
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


def __getattr__(name: str) -> Any:
    if name in ABSENT_NAMES:
        # Not an AttributeError, which `from … import` would replace.
        raise ImportError(f"skipstream.compat has no {name}: {ABSENT_NAMES[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _warn(message: str) -> None:
    """Warns at the line that called this module."""
    frame, depth = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, UserWarning, stacklevel=depth)
