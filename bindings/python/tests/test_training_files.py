"""Training from files: the engine's readers, and what the model remembers."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from skipstream import Progress, Trainer

TEXT = "tea with milk\ncoffee with sugar\n" * 50


def small(**settings: Any) -> Trainer:
    return Trainer(**{"dimensions": 8, "subsample": 0, "threads": 1, "max_vocabulary": 1000, **settings})


def saved(trainer: Trainer, path: Path) -> bytes:
    trainer.save(path)
    return path.read_bytes()


@pytest.fixture
def news(tmp_path: Path) -> Path:
    path = tmp_path / "news.txt"
    path.write_text(TEXT)
    return path


def test_files_folders_and_patterns_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "days"
    (folder / "may").mkdir(parents=True)
    for name in ("1.txt", "2.txt", "may/3.txt", ".hidden"):
        (folder / name).write_text(TEXT)
    for paths, files in [
        (folder, 3),
        (str(folder), 3),
        (folder / "*.txt", 2),
        (folder / "**" / "*.txt", 3),
        ([folder / "1.txt", str(folder / "may")], 2),
        ((path for path in [folder / "1.txt"]), 1),
        ([folder / "1.txt", folder / "1.txt"], 1),
    ]:
        assert small().train_file(paths).words == files * 300, paths


def test_an_open_file_is_refused_with_what_to_do(news: Path) -> None:
    trainer = small()
    with open(news) as text, open(news, "rb") as raw:
        for file in (text, raw, io.StringIO(f"{news}\n")):
            with pytest.raises(TypeError, match=r"an open file .*pass its path, or its lines to train"):
                trainer.train_file(file)  # type: ignore[arg-type]
        assert trainer.train(text).words == 300
    with pytest.raises(TypeError, match="paths is of the type dict"):
        trainer.train_file({str(news): 1})
    with pytest.raises(TypeError):
        trainer.train_file([open(news)])  # type: ignore[list-item]  # noqa: SIM115


def test_compressed_files_are_read(tmp_path: Path) -> None:
    for name, pack in [("a.gz", gzip.compress), ("a.bz2", bz2.compress), ("a.xz", lzma.compress)]:
        path = tmp_path / name
        path.write_bytes(pack(TEXT.encode()))
        assert small().train_file(path).words == 300


def test_what_was_learned_is_skipped_and_what_grew_is_continued(news: Path, tmp_path: Path) -> None:
    trainer = small()
    assert trainer.train_file(news).words == 300
    summary = trainer.train_file(news)
    assert summary.words == 0
    assert summary.skipped_files == (str(news),)
    assert "1 file learned before" in repr(summary)
    with news.open("a") as file:
        file.write("one more line\n")
    assert trainer.train_file(news).words == 3
    assert trainer.train_file(news, again=True).words == 303
    path = tmp_path / "model"
    trainer.save(path)
    assert Trainer.load(path).train_file(news).words == 0
    news.write_text("another text of the same name, and so on and so on")
    with pytest.raises(ValueError, match=r"has changed since.* use `again=True` to learn"):
        trainer.train_file(news)


def test_records_need_a_field(tmp_path: Path) -> None:
    path = tmp_path / "news.jsonl"
    path.write_text('{"text": "tea with milk", "user": {"name": "Ada L"}}\n{"text": 5}\n')
    trainer = small()
    with pytest.raises(ValueError, match='the name suggests jsonl; pass format="jsonl"'):
        trainer.train_file(path)
    with pytest.raises(ValueError, match='format="jsonl" needs field=NAME'):
        trainer.train_file(path, format="jsonl")
    with pytest.raises(ValueError, match="field, weight and bad_records need format"):
        trainer.train_file(path, field="text")
    with pytest.raises(ValueError, match='format is "xml"; it must be text, jsonl, csv, tsv or parquet'):
        trainer.train_file(path, format="xml", field="text")
    with pytest.raises(ValueError, match='bad_records is "drop"; it must be error or skip'):
        trainer.train_file(path, format="jsonl", field="text", bad_records="drop")
    assert trainer.stats().words == 0
    with pytest.raises(ValueError, match=r'line 2.*`bad_records="skip"`'):
        trainer.train_file(path, format="jsonl", field="text")
    assert trainer.stats().words == 3, "what came before is learned"
    summary = trainer.train_file(path, format="jsonl", field="text", bad_records="skip")
    assert (summary.words, summary.bad_records) == (0, 1)
    assert small().train_file(path, format="jsonl", field="user.name", bad_records="skip").words == 2
    assert small().train_file(path, format="text").words > 5


def test_tables_are_read_by_column(tmp_path: Path) -> None:
    table = tmp_path / "news.csv"
    table.write_text('id,text\n1,"tea, with\nmilk"\n2,coffee\n')
    assert small().train_file(table, format="csv", field="text").words == 4
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "news.parquet"
    parquet.write_table(pyarrow.table({"text": ["tea with milk", None, "coffee"]}), path)
    summary = small().train_file(path, format="parquet", field="text", bad_records="skip")
    assert summary.words == 4


def test_what_is_not_there_is_pythons_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        small().train_file(tmp_path / "none.txt")
    assert raised.value.filename == str(tmp_path / "none.txt")
    with pytest.raises(ValueError, match="no file matches"):
        small().train_file(tmp_path / "*.txt")
    with pytest.raises(ValueError, match="no files in this folder"):
        small().train_file(tmp_path)
    for paths in (5, [5], None, [None]):
        with pytest.raises(TypeError):
            small().train_file(paths)  # type: ignore[arg-type]
    assert small().train_file([]).words == 0


def test_a_training_that_an_error_ended_goes_on_exactly(tmp_path: Path) -> None:
    text = tmp_path / "long.txt"
    text.write_text(TEXT * 40)
    whole = small(batch_words=1000)
    whole.train_file(text)

    class Enough(Exception):
        pass

    def callback(progress: Progress) -> None:
        if progress.words < 3000:
            raise Enough

    trainer = small(batch_words=1000)
    interrupted = 0
    while True:
        try:
            trainer.train_file(text, callback=callback, interval=0)
            break
        except Enough:
            interrupted += 1
            # It goes on from the file of the model as it does in memory.
            trainer.save(tmp_path / "model")
            trainer = Trainer.load(tmp_path / "model", threads=1)
            if interrupted == 3:
                trainer.train_file(text)
                break
    assert interrupted == 3
    assert saved(trainer, tmp_path / "a") == saved(whole, tmp_path / "b")


def test_passes_read_files_again_and_pipes_not(news: Path, tmp_path: Path) -> None:
    trainer = small(strategy="word2vec", passes=3)
    assert trainer.train_file(news).words == 300
    assert trainer.train_file(news).skipped_files == (str(news),)
    with pytest.raises(ValueError, match="a pipe can be read only once"):
        small(strategy="word2vec").train_file("/dev/null")


def test_passes_over_files_that_an_error_ended_begin_anew(news: Path, tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def callback(progress: Progress) -> None:
        raise Enough

    news.write_text(TEXT * 100)
    whole = small(strategy="word2vec", passes=2)
    whole.train_file(news)
    trainer = small(strategy="word2vec", passes=2)
    with pytest.raises(Enough):
        trainer.train_file(news, callback=callback, interval=0)
    assert trainer.stats().words == 0
    assert trainer.train_file(news).words == 30_000
    assert saved(trainer, tmp_path / "a") == saved(whole, tmp_path / "b")


def test_files_without_words_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n")
    assert small().train_file(tmp_path / "empty.txt").files_without_words == (str(tmp_path / "empty.txt"),)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text there")
def test_a_name_need_not_be_utf_8(tmp_path: Path) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/news\xff.txt")
    empty = os.fsdecode(os.fsencode(tmp_path) + b"/empty\xff.txt")
    Path(name).write_text(TEXT)
    Path(empty).touch()
    trainer = small()
    summary = trainer.train_file([name, empty])
    assert (summary.words, summary.files_without_words) == (300, (empty,))
    trainer.save(tmp_path / "model")
    assert Trainer.load(tmp_path / "model").train_file(tmp_path / "n*.txt").skipped_files == (name,)


def test_a_save_in_the_middle_knows_how_far_the_file_was_learned(tmp_path: Path) -> None:
    text, middle = tmp_path / "text.txt", tmp_path / "middle"
    text.write_text(TEXT * 20)
    trainer = small(batch_words=500)
    seen: list[int] = []

    def callback(progress: Progress) -> None:
        seen.append(progress.words)
        if len(seen) == 3:
            trainer.save(middle)

    trainer.train_file(text, callback=callback, interval=0)
    resumed = Trainer.load(middle, threads=1)
    assert resumed.stats().words == seen[2] < 6000
    assert resumed.train_file(text).words == 6000 - seen[2]
    assert saved(resumed, tmp_path / "resumed") == saved(trainer, tmp_path / "whole")


def test_a_save_in_the_middle_of_strings_knows_them(tmp_path: Path) -> None:
    middle = tmp_path / "middle"
    trainer = small(batch_words=500)

    def callback(progress: Progress) -> None:
        if not middle.exists():
            trainer.save(middle)

    trainer.train(TEXT.splitlines() * 20, callback=callback, interval=0)
    words = Trainer.load(middle).stats().words
    assert 0 < words < 6000
    assert f'piped_words\\":{words}'.encode() in middle.read_bytes()


def test_a_file_that_goes_away_does_not_keep_the_others_from_being_learned(tmp_path: Path) -> None:
    first, second = tmp_path / "1.txt", tmp_path / "2.txt"
    for path in (first, second):
        path.write_text(TEXT * 10)
    trainer = small(batch_words=500)

    def callback(progress: Progress) -> None:
        if progress.words < 3000:
            first.unlink(missing_ok=True)

    with pytest.raises(FileNotFoundError):
        trainer.train_file([first, second], callback=callback, interval=0)
    assert trainer.stats().words == 6000
    assert len(trainer.train_file(second).skipped_files) == 1


def test_an_error_of_one_file_does_not_come_up_in_another_training(tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"tea with milk\n" * 100 + b"\xff\xfe\n")
    trainer = small(invalid_utf8="error")
    with pytest.raises(UnicodeError, match="line 101"):
        trainer.train_file(bad, callback=lambda _: None, interval=0)
    sentences = iter([["a", "b"], ["c", "d"]])
    assert trainer.train(sentences).words == 4
