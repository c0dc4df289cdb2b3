"""Prose, files that are not text, and tables without a header."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from skipstream import Trainer

PROSE = "The cat sleeps. It\u2019s happy! See https://example.org, or write to me@example.org 🙂 in 1999.\n"


def test_prose_has_words_without_punctuation() -> None:
    trainer = Trainer(dimensions=4, text="prose")
    summary = trainer.train([PROSE] * 20)
    assert {"the", "cat", "sleeps", "happy", "1999"} <= set(trainer.embeddings().index_to_key)
    assert not any(word[-1] in ".,!?" for word in trainer.embeddings().index_to_key)
    assert summary.urls == summary.emails == summary.emoji == 20
    assert "20 urls, 20 emails, 20 emoji" in repr(summary)


def test_a_setting_overrides_the_kind_of_text() -> None:
    trainer = Trainer(dimensions=4, text="prose", lowercase=False)
    trainer.train([PROSE] * 5)
    assert "The" in trainer and "the" not in trainer.embeddings().index_to_key


def test_prose_that_is_split_at_white_space_is_mentioned_once() -> None:
    text = [PROSE] * 300
    trainer = Trainer(dimensions=4)
    with pytest.warns(UserWarning, match=r"Trainer\(text='prose'\)"):
        summary = trainer.train(text)
    assert summary.looks_like_prose
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trainer.train(text)
        for settings in ({"text": "prose"}, {"lowercase": True}, {"tokenizer": "whitespace"}):
            Trainer(dimensions=4, **settings).train(text)  # type: ignore[arg-type]
        Trainer(dimensions=4).train([line.split() for line in text])
        Trainer(dimensions=4).train(["plain words only"] * 300)


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    model = tmp_path / "model.safetensors"
    Trainer(dimensions=4).save(model)
    (tmp_path / "text.txt").write_text("one two three\n")
    trainer = Trainer(dimensions=4)
    with pytest.raises(ValueError, match=r"model\.safetensors.*this is not text.*`force_text=True`"):
        trainer.train_file(model)
    summary = trainer.train_file(tmp_path)
    assert summary.words == 3
    assert summary.left_out_files == (str(model),)
    assert "1 file not text" in repr(summary)
    assert trainer.train_file(model, force_text=True).words > 0


def test_tables_without_a_header(tmp_path: Path) -> None:
    table = tmp_path / "table.tsv"
    table.write_text("1\tone two three\n2\tfour five six\n")
    with pytest.raises(ValueError, match="no_header=True"):
        Trainer(dimensions=4).train_file(table, format="tsv", field="2")
    trainer = Trainer(dimensions=4)
    assert trainer.train_file(table, format="tsv", field="2", no_header=True).words == 6
    assert "one" in trainer


def test_train_file_can_finish(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("tea with milk\n" * 500)
    one, other = Trainer(dimensions=4, threads=1), Trainer(dimensions=4, threads=1)
    summary = one.train_file(path, finish=True)
    first, second = other.train_file(path), other.finish()
    assert (summary.words, summary.sentences, summary.waiting) == (1500, 500, 0)
    assert summary.replayed == first.replayed + second.replayed == 3000
    assert summary.pairs == first.pairs + second.pairs
    assert (one.embeddings().vectors == other.embeddings().vectors).all()
