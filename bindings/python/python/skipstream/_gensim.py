"""What gensim's names mean here, and what to say where they mean nothing."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from itertools import chain
from typing import Any

from skipstream._trainer import Trainer

# Names of gensim, with ours.
NAMES = {
    "vector_size": "dimensions",
    "negative": "negatives",
    "ns_exponent": "noise_exponent",
    "sample": "subsample",
    "max_vocab_size": "max_vocabulary",
    "workers": "threads",
}

# Settings of gensim that can have only one value, with what to say of others.
FIXED: dict[str, tuple[Any, str]] = {
    "sg": (1, "there is no CBOW: pass sg=1, or stay with gensim"),
    "hs": (0, "there is no hierarchical softmax: leave it out and set negative"),
    "cbow_mean": (1, "there is no CBOW: leave it out"),
    "hashfxn": (hash, "random numbers follow from seed alone: leave it out"),
    "null_word": (0, "there is no null word: leave it out"),
    "sorted_vocab": (1, "words are always in order of frequency: leave it out"),
    "batch_words": (10_000, "batches of the engine mean something else: leave it out"),
}

# Parts of gensim's class that have no counterpart, with what to do instead.
ABSENT = {
    "add_lifecycle_event": "nothing is logged",
    "lifecycle_events": "nothing is logged",
    "alpha": "AdaGrad sets the learning rates",
    "min_alpha": "AdaGrad sets the learning rates",
    "add_null_word": "there is no null word",
    "build_vocab_from_freq": "counts come from the text alone",
    "create_binary_tree": "there is no hierarchical softmax",
    "cum_table": "noise words are drawn from the counts of the stream",
    "estimate_memory": "skipstream.Trainer(...).stats() tells the memory that is never passed",
    "init_sims": "most_similar needs no preparation; wv.get_normed_vectors() gives vectors of length 1",
    "init_weights": "a word's vector begins when the word is first seen",
    "make_cum_table": "noise words are drawn from the counts of the stream",
    "min_alpha_yet_reached": "AdaGrad sets the learning rates",
    "prepare_vocab": "the vocabulary follows the text",
    "prepare_weights": "the vocabulary follows the text",
    "random": "every random number follows from `seed`",
    "raw_vocab": "wv.get_vecattr(word, 'count') has the counts",
    "reset_from": "make a new model",
    "scan_vocab": "the vocabulary follows the text",
    "score": "it needs hierarchical softmax",
    "seeded_vector": "every random number follows from `seed`",
    "syn1": "there is no hierarchical softmax",
    "update_weights": "the vocabulary follows the text",
}


def only(name: str, value: Any, allowed: Any, instead: str) -> None:
    """Refuses what cannot be honoured."""
    try:
        differs = bool(value != allowed)
    except (TypeError, ValueError):
        # What cannot even be compared, as an array, is another value.
        differs = True
    if differs:
        raise NotImplementedError(f"{name} is {value!r}; here it can only be {allowed!r} ({instead})")


def trainer_by_gensim_names(**settings: Any) -> Trainer:
    """A trainer by gensim's names, which errors should have, too."""
    try:
        return Trainer(**{NAMES.get(name, name): value for name, value in settings.items()})
    except (TypeError, ValueError) as error:
        message = str(error)
        for theirs, ours in NAMES.items():
            if message.startswith(ours):
                raise type(error)(theirs + message[len(ours) :]) from None
        raise


def replays_of(epochs: int) -> int:
    """How often a word is trained again."""
    return integer("epochs", epochs, 1, 101) - 1


def integer(name: str, value: Any, least: int, most: int | None = None) -> int:
    """A plain integer within its limits, or an error that names them."""
    limit = f"at least {least}" if most is None else f"from {least} to {most}"
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; it must be an integer {limit}") from None
    if number < least or (most is not None and number > most):
        raise ValueError(f"{name} is {number}; it must be {limit}")
    return number


def token_lists(sentences: Any) -> Iterator[Any]:
    """Refuses text that is not in words: gensim would take each letter for one."""
    if isinstance(sentences, (str, bytes)):
        raise TypeError("the sentences are one string; they must be an iterable of token lists")
    rest = iter(sentences)
    for first in rest:
        if isinstance(first, (str, bytes)):
            raise TypeError(
                "a sentence is a string; it must be a list of tokens, as sentence.split() gives. "
                "skipstream.Trainer.train takes strings"
            )
        return chain([first], rest)
    return iter(())
