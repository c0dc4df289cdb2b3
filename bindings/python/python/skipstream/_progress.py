"""Training progress."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from skipstream._arguments import real


@dataclass(frozen=True)
class Progress:
    """Training progress, as passed to a callback."""

    words: int
    """Words learned since the call started."""
    words_per_second: float
    """Words learned per second in this interval."""
    loss: float | None
    """Mean loss of the pairs in this interval; None if there were none."""
    vocabulary: int
    """Vocabulary size."""
    evictions: int
    """Words evicted since the model was created."""
    seconds: float
    """Seconds since the call started."""
    fraction: float | None
    """Share of the text read, from 0 to 1; None if its length is unknown."""


Callback = Callable[[Progress], Any]


@contextlib.contextmanager
def listening(
    progress: bool, callback: Callback | None, interval: float
) -> Iterator[tuple[Callable[[str], None] | None, float]]:
    """The function for the engine to call, if there is a callback or a bar, and its interval in seconds."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is {callback!r}; it must be a function that takes a Progress")
    seconds = real("interval", interval)
    with _bar() if progress else contextlib.nullcontext() as bar:

        def tell(figures: str) -> None:
            now = Progress(**json.loads(figures))
            if bar is not None:
                _show(bar, now)
            if callback is not None:
                callback(now)

        yield (None if callback is None and bar is None else tell), seconds


def _bar() -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("progress=True needs tqdm: pip install tqdm") from error
    return tqdm(unit=" words", unit_scale=True, dynamic_ncols=True)


def _show(bar: Any, now: Progress) -> None:
    if now.fraction:
        # The total number of words can only be estimated.
        bar.total = max(now.words, round(now.words / now.fraction))
    figures = {"vocabulary": f"{now.vocabulary:,}"}
    if now.loss is not None:
        figures["loss"] = f"{now.loss:.3f}"
    bar.set_postfix(figures, refresh=False)
    bar.update(now.words - bar.n)
