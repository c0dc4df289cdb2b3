"""Training progress."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self


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


def listener(callback: Callback | None, bar: Bar | None) -> Callable[[str], None] | None:
    """The function for the engine to call, if there is a callback or a bar."""
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
    """A tqdm progress bar with words, words per second, loss and vocabulary size."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("progress=True needs tqdm: pip install tqdm") from error
        self._bar = tqdm(unit=" words", unit_scale=True, dynamic_ncols=True)

    def show(self, progress: Progress) -> None:
        """Updates the bar."""
        if progress.fraction:
            # The total number of words can only be estimated.
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
