"""The result of a training call."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, repr=False)
class Summary:
    """The result of `train`, `train_file` or `finish`."""

    words: int
    """Words learned."""
    sentences: int
    """Sentences learned."""
    seconds: float
    """Duration."""
    words_per_second: float
    """Words per second; every pass counts."""
    loss: float
    """Mean loss of the trained pairs; 0 if there were none."""
    pairs: int
    """Trained pairs of a word and a context."""
    replayed: int
    """Words replayed."""
    waiting: int
    """Words waiting for replay, until more text arrives or `finish` is called."""
    evictions: int
    """Words evicted from the vocabulary."""
    short_tokens: int
    """Tokens left out: empty or shorter than `min_token_len`."""
    long_tokens: int
    """Tokens left out: longer than `max_token_len` or `max_token_bytes`."""
    cut_sentences: int
    """Sentences split: longer than `max_sentence_words`."""
    invalid_lines: int
    """Lines that are not valid UTF-8; see `invalid_utf8`."""
    nul_lines: int
    """Lines with NUL characters, which were read as spaces."""
    bad_records: int
    """Records left out because they could not be read."""
    missing: int
    """Missing values of a column, which were skipped."""
    urls: int
    """URLs left out of prose."""
    emails: int
    """E-mail addresses left out of prose."""
    emoji: int
    """Emoji left out of prose."""
    numbers: int
    """Numbers left out of prose."""
    looks_like_prose: bool
    """Whether text that was split at white space has the capitals and punctuation of prose."""
    skipped_files: tuple[str, ...]
    """Files skipped because they were learned before."""
    files_without_words: tuple[str, ...]
    """Files without words."""
    left_out_files: tuple[str, ...]
    """Files of a folder or pattern left out because they are not text."""

    @classmethod
    def _from_engine(
        cls, figures: str, skipped: list[str], without_words: list[str], left_out: list[str]
    ) -> Summary:
        """Builds a summary from the engine's JSON and file names, which need not be UTF-8."""
        return cls(
            **json.loads(figures),
            skipped_files=tuple(skipped),
            files_without_words=tuple(without_words),
            left_out_files=tuple(left_out),
        )

    def _then(self, later: Summary) -> Summary:
        """The summary of this training and of a later `finish`, which reads no text."""
        pairs, seconds = self.pairs + later.pairs, self.seconds + later.seconds
        return replace(
            self,
            seconds=seconds,
            words_per_second=self.words / max(seconds, 1e-9),
            loss=(self.loss * self.pairs + later.loss * later.pairs) / max(pairs, 1),
            pairs=pairs,
            replayed=self.replayed + later.replayed,
            waiting=later.waiting,
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
        for field in fields(self)[9:20]:
            value = getattr(self, field.name)
            if value:
                parts.append(f"{value:,} {field.name.replace('_', ' ')}")
        if self.skipped_files:
            parts.append(f"{_counted(len(self.skipped_files), 'file')} learned before")
        if self.files_without_words:
            parts.append(f"{_counted(len(self.files_without_words), 'file')} without words")
        if self.left_out_files:
            parts.append(f"{_counted(len(self.left_out_files), 'file')} not text")
        return f"<Summary: {', '.join(parts)}>"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
