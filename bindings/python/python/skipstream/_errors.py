"""Exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skipstream import _engine


class UnknownWord(KeyError):
    """An out-of-vocabulary word.

    A `KeyError` with suggestions of similar spellings. They are computed only when the message or `suggestions` is
    read, so that `except KeyError` is cheap.

    >>> import skipstream
    >>> wv = skipstream.Embeddings.from_arrays(["berlin", "paris"], [[1, 0], [0, 1]])
    >>> try:
    ...     wv["berlni"]
    ... except KeyError as error:
    ...     print(error)
    'berlni' is not in the vocabulary; did you mean 'berlin'?
    """

    def __init__(self, word: object, source: _engine.Embeddings | tuple[str, ...] = ()) -> None:
        super().__init__(word)
        self.word = word
        self._source = source

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Up to three words with a similar spelling, closest first."""
        if not isinstance(self._source, tuple):
            word = self.word
            self._source = tuple(self._source.suggestions(word, 3)) if isinstance(word, str) else ()
        return self._source

    def __str__(self) -> str:
        if not isinstance(self.word, str):
            return f"there is no row {self.word!r}"
        message = f"{self.word!r} is not in the vocabulary"
        if not self.suggestions:
            return message
        *others, last = [repr(word) for word in self.suggestions]
        return f"{message}; did you mean {', '.join(others) + ' or ' if others else ''}{last}?"

    def __reduce__(self) -> tuple[type[UnknownWord], tuple[object, tuple[str, ...]]]:
        # Pickle the suggestions, not the vectors.
        return UnknownWord, (self.word, self.suggestions)
