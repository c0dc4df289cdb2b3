"""How a training goes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class Progress:
    """How a training goes: what a callback is told about once in an interval."""

    words: int
    """Words learned since the call began."""
    words_per_second: float
    """Words learned in a second of this interval."""
    loss: float | None
    """The mean loss of the pairs of this interval; None where there were none."""
    vocabulary: int
    """Words that are known."""
    evictions: int
    """Words that had to leave for others, since the model was made."""
    seconds: float
    """How long the call has taken so far."""
    fraction: float | None
    """How much of the text was read, from 0 to 1; None where its length is not known."""


Callback = Callable[[Progress], Any]


def listener(callback: Callback | None, bar: Bar | None) -> Callable[[str], None] | None:
    """What the engine calls, if anybody wants to know."""
    if callback is None and bar is None:
        return None
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is {callback!r}; it must be a function that takes a Progress")

    def tell(figures: str) -> None:
        progress = Progress(**json.loads(figures))
        if bar is not None:
            bar.show(progress)
        if callback is not None:
            callback(progress)

    return tell


class Bar:
    """A bar of tqdm with words, words a second, loss and vocabulary."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("progress=True needs tqdm: pip install tqdm") from error
        self._bar = tqdm(unit=" words", unit_scale=True, dynamic_ncols=True)

    def show(self, progress: Progress) -> None:
        """Moves the bar."""
        if progress.fraction:
            # The number of words is not known before they are read.
            self._bar.total = max(progress.words, round(progress.words / progress.fraction))
        figures = {"vocabulary": f"{progress.vocabulary:,}"}
        if progress.loss is not None:
            figures["loss"] = f"{progress.loss:.3f}"
        self._bar.set_postfix(figures, refresh=False)
        self._bar.update(progress.words - self._bar.n)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()
