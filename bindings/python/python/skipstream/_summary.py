"""What came of a training."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields


@dataclass(frozen=True, repr=False)
class Summary:
    """What came of a call of `train`, `train_file` or `finish`."""

    words: int
    """Words that were learned."""
    sentences: int
    """Sentences that they stood in."""
    seconds: float
    """How long it took."""
    words_per_second: float
    """Words learned in a second; of several passes, each of them counts."""
    loss: float
    """The mean loss of the pairs that were trained; 0 where there were none."""
    pairs: int
    """Pairs of a word and its context that were trained."""
    replayed: int
    """Words of past text that were trained once more."""
    waiting: int
    """Words of past text that wait for it, until more text comes or `finish` is called."""
    evictions: int
    """Words that had to leave the vocabulary."""
    short_tokens: int
    """Tokens left out because they are empty or have fewer than `min_token_len` characters."""
    long_tokens: int
    """Tokens left out because they have more than `max_token_len` characters or `max_token_bytes` bytes."""
    cut_sentences: int
    """Sentences cut into pieces because they have more than `max_sentence_words` tokens."""
    invalid_lines: int
    """Lines with text that is not UTF-8, which `invalid_utf8` decides on."""
    nul_lines: int
    """Lines with NUL characters, which were taken for spaces."""
    bad_records: int
    """Records left out because they cannot be read."""
    missing: int
    """Missing values of a column, which were passed over."""
    skipped_files: tuple[str, ...]
    """Files that were learned before."""
    files_without_words: tuple[str, ...]
    """Files that were read to their end and have no words in them."""

    @classmethod
    def _told(cls, figures: str, skipped: list[str], without_words: list[str]) -> Summary:
        """What the engine tells: JSON, and beside it the names of files, which need not be UTF-8."""
        return cls(
            **json.loads(figures), skipped_files=tuple(skipped), files_without_words=tuple(without_words)
        )

    def __repr__(self) -> str:
        parts = [f"{_counted(self.words, 'word')} in {_counted(self.sentences, 'sentence')}"]
        parts.append(f"{self.seconds:.1f} s ({self.words_per_second:,.0f} words/s)")
        if self.pairs:
            parts.append(f"loss {self.loss:.4f}")
        if self.replayed:
            parts.append(f"{self.replayed:,} replayed")
        if self.waiting:
            parts.append(f"{self.waiting:,} waiting")
        for field in fields(self)[9:16]:
            value = getattr(self, field.name)
            if value:
                parts.append(f"{value:,} {field.name.replace('_', ' ')}")
        if self.skipped_files:
            parts.append(f"{_counted(len(self.skipped_files), 'file')} learned before")
        if self.files_without_words:
            parts.append(f"{_counted(len(self.files_without_words), 'file')} without words")
        return f"<Summary: {', '.join(parts)}>"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
