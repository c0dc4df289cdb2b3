"""compat.Word2Vec by itself."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skipstream import Trainer
from skipstream.compat import Word2Vec

SENTENCES = [["tea", "with", "milk"], ["coffee", "with", "sugar"]] * 50
SMALL: dict[str, Any] = {"vector_size": 8, "min_count": 1, "sg": 1, "workers": 1, "max_vocab_size": 1000}


def test_skip_gram_must_be_meant() -> None:
    with pytest.warns(UserWarning, match="gensim's default, CBOW.*Pass sg=1") as caught:
        Word2Vec(SENTENCES, vector_size=8)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Word2Vec(SENTENCES, **SMALL)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sg", 0),
        ("hs", 1),
        ("alpha", 0.05),
        ("min_alpha", 0.001),
        ("cbow_mean", 0),
        ("hashfxn", len),
        ("null_word", 1),
        ("trim_rule", lambda word, count, min_count: 0),
        ("sorted_vocab", 0),
        ("batch_words", 5000),
    ],
)
def test_what_cannot_be_honored_is_named(name: str, value: Any) -> None:
    with pytest.raises(NotImplementedError, match=f"^{name} is .*; only"):
        Word2Vec(SENTENCES, **{**SMALL, name: value})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"negative": 0}, "negative is 0; it must be at least 1"),
        ({"ns_exponent": -1.5}, "ns_exponent is -1.5; it must be from -1 to 1"),
        ({"window": 0}, "window is 0; it must be from 1 to 1000"),
        ({"vector_size": 0}, "vector_size is 0; it must be from 1 to 10000"),
        ({"workers": 0}, "workers is 0; it must be from 1 to 1000"),
        ({"max_vocab_size": 1}, "max_vocab_size is 1; it must be at least 2"),
        ({"sample": 2}, "sample is 2; it must be from 0 to 1"),
        ({"epochs": 0}, "epochs is 0; it must be from 1 to 101"),
        ({"epochs": 102}, "epochs is 102; it must be from 1 to 101"),
        ({"min_count": -1}, "min_count is -1; it must be from 0 to"),
        ({"min_count": 2**70}, f"min_count is {2**70}; it must be from 0 to"),
        ({"max_final_vocab": 0}, "max_final_vocab is 0; it must be at least 1"),
    ],
)
def test_values_outside_their_limits(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        Word2Vec(SENTENCES, **{**SMALL, **settings})


def test_wrong_kinds_are_type_errors() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
        Word2Vec(SENTENCES, size=8, sg=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="epochs is of the type str; it must be an int"):
        Word2Vec(SENTENCES, **{**SMALL, "epochs": "five"})
    with pytest.raises(TypeError, match="a sentence is a string"):
        Word2Vec(["tea with milk"], **SMALL)
    with pytest.raises(TypeError, match="sentences is a string"):
        Word2Vec("tea with milk", **SMALL)
    with pytest.raises(TypeError, match="either sentences or corpus_file"):
        Word2Vec(SENTENCES, "corpus.txt", **SMALL)
    with pytest.raises(TypeError, match="either sentences or corpus_file"):
        Word2Vec(**SMALL).train(epochs=1)


def test_every_setting_reaches_the_engine() -> None:
    model = Word2Vec(
        SENTENCES,
        vector_size=9,
        window=3,
        min_count=1,
        max_vocab_size=77,
        sample=1e-2,
        seed=5,
        workers=2,
        sg=1,
        negative=7,
        ns_exponent=0.5,
        epochs=3,
        shrink_windows=False,
    )
    found = asdict(model.trainer)
    expected = {
        "dimensions": 9,
        "window": 3,
        "window_shape": "fixed",
        "negatives": 7,
        "noise_exponent": 0.5,
        "subsample": 1e-2,
        "max_vocabulary": 77,
        "replays": 2,
        "threads": 2,
        "seed": 5,
    }
    assert {name: found[name] for name in expected} == expected
    assert (model.vector_size, model.layer1_size, model.window, model.negative) == (9, 9, 3, 7)
    assert (model.ns_exponent, model.sample, model.seed, model.workers) == (0.5, 1e-2, 5, 2)
    assert (model.epochs, model.shrink_windows, model.max_vocab_size) == (3, False, 77)


@pytest.mark.parametrize("epochs", [1, 2, 5])
def test_each_word_is_trained_as_often_as_there_are_epochs(epochs: int) -> None:
    model = Word2Vec(SENTENCES, **SMALL, epochs=epochs)
    stats = model.trainer.stats()
    assert stats.words == 300
    assert stats.replayed == 300 * (epochs - 1)
    assert stats.waiting == 0


def test_it_is_the_trainer_with_other_names() -> None:
    model = Word2Vec(SENTENCES, **SMALL, sample=0, epochs=3, seed=9)
    trainer = Trainer(
        dimensions=8,
        max_vocabulary=1000,
        subsample=0,
        replays=2,
        seed=9,
        threads=1,
        max_sentence_words=10_000,
    )
    trainer.train(SENTENCES)
    trainer.finish()
    expected = trainer.embeddings("target")
    assert model.wv.index_to_key == expected.index_to_key
    np.testing.assert_array_equal(model.wv.vectors, expected.vectors)
    np.testing.assert_array_equal(model.syn1neg, trainer.embeddings("context").vectors)


def test_train_goes_on_with_other_epochs_and_new_words() -> None:
    model = Word2Vec(SENTENCES, **SMALL, epochs=5)
    before = model.wv
    assert model.wv is before
    more = [["cocoa", "with", "milk"]] * 50
    assert model.train(more, total_examples=len(more), epochs=1) == (150, 150)
    assert model.epochs == 1
    assert model.trainer.stats().replayed == 300 * 4
    assert "cocoa" in model.wv and "cocoa" not in before
    assert model.train(more, total_examples=model.corpus_count, epochs=3) == (450, 450)
    assert model.trainer.stats().replayed == 300 * 4 + 150 * 2
    assert (model.corpus_count, model.corpus_total_words, model.train_count) == (50, 150, 3)


def test_build_vocab_reads_nothing() -> None:
    def never() -> Iterator[list[str]]:
        raise AssertionError("the corpus was read")
        yield []

    model = Word2Vec(**SMALL)
    model.build_vocab(never())
    model.build_vocab(never(), update=True)
    assert len(model.wv) == 0
    model.train(SENTENCES, total_examples=model.corpus_count, epochs=model.epochs)
    model.build_vocab(corpus_iterable=never(), update=True, progress_per=5)
    assert len(model.wv) == 5
    with pytest.raises(NotImplementedError, match="keep_raw_vocab"):
        model.build_vocab(never(), keep_raw_vocab=True)


@pytest.mark.parametrize("name", ["start_alpha", "end_alpha", "word_count", "queue_factor", "report_delay"])
def test_what_train_cannot_honor_is_named(name: str) -> None:
    model = Word2Vec(**SMALL)
    with pytest.raises(NotImplementedError, match=f"^{name} is "):
        model.train(SENTENCES, epochs=1, **{name: 0.5})
    assert model.trainer.stats().words == 0


def test_a_generator_is_enough_for_all_epochs() -> None:
    model = Word2Vec((sentence for sentence in SENTENCES), **SMALL, epochs=4)
    same = Word2Vec(SENTENCES, **SMALL, epochs=4)
    np.testing.assert_array_equal(model.wv.vectors, same.wv.vectors)


def test_a_file_is_the_same_as_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "corpus.csv"  # Whatever its name says, it is text.
    path.write_text("".join(" ".join(sentence) + "\n" for sentence in SENTENCES), encoding="utf-8")
    model = Word2Vec(corpus_file=path, **SMALL)
    same = Word2Vec(SENTENCES, **SMALL)
    np.testing.assert_array_equal(model.wv.vectors, same.wv.vectors)
    model.train(corpus_file=str(path), total_words=300, epochs=5)
    assert model.trainer.stats().words == 600
    with pytest.raises(FileNotFoundError):
        Word2Vec(corpus_file=tmp_path / "missing", **SMALL)


@pytest.mark.filterwarnings("ignore:none of the words")
def test_min_count_and_max_final_vocab_decide_what_is_shown() -> None:
    sentences = [["a"] * 6 + ["b"] * 5 + ["c"] * 4 + ["d"] * 3 + ["e"] * 3 + ["f"]]

    def shown(**settings: Any) -> list[str]:
        return Word2Vec(sentences, **{**SMALL, **settings}).wv.index_to_key

    assert shown(min_count=1) == ["a", "b", "c", "d", "e", "f"]
    assert shown(min_count=0) == ["a", "b", "c", "d", "e", "f"]
    assert shown(min_count=4) == ["a", "b", "c"]
    assert shown(min_count=100) == []
    assert shown(max_final_vocab=2) == ["a", "b"]
    assert shown(max_final_vocab=4) == ["a", "b", "c"], "d and e are seen equally often"
    assert shown(max_final_vocab=2**70) == ["a", "b", "c", "d", "e", "f"]
    assert shown(max_final_vocab=6) == ["a", "b", "c", "d", "e", "f"]
    assert Word2Vec(sentences, **SMALL, max_final_vocab=2).effective_min_count == 5


def test_forgotten_words_are_not_forgotten_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skipstream.compat._MAX_VOCABULARY", 10)
    sentences = [[f"word{number}", f"word{number + 1}"] for number in range(100)]
    with pytest.warns(UserWarning, match="more than 10 distinct words; the rarest were evicted"):
        Word2Vec(sentences, **{**SMALL, "max_vocab_size": None})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Word2Vec(sentences, **{**SMALL, "max_vocab_size": 10})


def test_an_empty_corpus_is_not_learned_in_silence() -> None:
    sentences = iter(SENTENCES)
    model = Word2Vec(sentences, **SMALL)
    with pytest.warns(UserWarning, match="the corpus has no words"):
        assert model.train(sentences, epochs=5) == (0, 0)


def test_tokens_that_are_left_out_are_not_left_out_in_silence() -> None:
    long = "x" * 65_535
    with pytest.warns(UserWarning, match="2 tokens were left out") as caught:
        model = Word2Vec([["tea", "", long, long + "x"]], **SMALL)
    assert caught[0].filename == __file__
    assert sorted(model.wv.index_to_key) == ["tea", long]


def test_loss_where_it_is_asked_for() -> None:
    model = Word2Vec(SENTENCES, **SMALL, sample=0, compute_loss=True)
    first = model.get_latest_training_loss()
    stats = model.trainer.stats()
    assert first == pytest.approx(stats.loss * stats.pairs)
    model.train(SENTENCES, epochs=5, compute_loss=True)
    assert 0 < model.get_latest_training_loss() < first
    model.train(SENTENCES, epochs=5)
    assert model.get_latest_training_loss() == 0


def test_predict_output_word() -> None:
    model = Word2Vec(SENTENCES, **SMALL, sample=0, epochs=20)
    found = model.predict_output_word(["tea", "with", "unheard"], topn=3)
    assert found is not None
    assert len(found) == 3
    everything = model.predict_output_word(["tea", "with"], topn=100)
    assert everything is not None
    assert found == everything[:3]
    assert sum(probability for _, probability in everything) == pytest.approx(1)
    hidden = model.wv[["tea", "with"]].mean(axis=0)
    expected = np.exp(model.syn1neg @ hidden)
    expected /= expected.sum()
    for word, probability in everything:
        assert probability == pytest.approx(expected[model.wv.get_index(word)], rel=1e-4)
    assert model.predict_output_word(["unheard"]) is None


def test_save_and_load_keep_everything(tmp_path: Path) -> None:
    model = Word2Vec(
        [*SENTENCES, ["rare"]], **{**SMALL, "min_count": 2}, epochs=3, comment="drinks", compute_loss=True
    )
    path = tmp_path / "model"
    model.save(path)
    loaded = Word2Vec.load(str(path), workers=2)
    for name in [
        "min_count",
        "max_vocab_size",
        "max_final_vocab",
        "comment",
        "epochs",
        "compute_loss",
        "vector_size",
    ]:
        assert getattr(loaded, name) == getattr(model, name), name
    for name in ["corpus_count", "corpus_total_words", "train_count", "window", "negative", "sample", "seed"]:
        assert getattr(loaded, name) == getattr(model, name), name
    assert loaded.workers == 2
    assert "rare" not in loaded.wv
    for one in (model, loaded):
        one.train([["rare", "tea"]], epochs=2)
    assert "rare" in loaded.wv
    np.testing.assert_array_equal(loaded.wv.vectors, model.wv.vectors)
    assert Trainer.load(path).embeddings().get_vecattr("rare", "count") == 1


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    model = Word2Vec(
        SENTENCES,
        vector_size=np.int32(8),
        min_count=np.int64(2),
        max_vocab_size=np.uint16(100),
        max_final_vocab=np.int8(4),
        epochs=np.int64(2),
        sample=np.float32(0.5),
        sg=np.int64(1),
        workers=1,
    )
    model.train(SENTENCES, epochs=np.int64(3))
    model.save(tmp_path / "model")
    loaded = Word2Vec.load(tmp_path / "model")
    assert (loaded.min_count, loaded.max_vocab_size, loaded.max_final_vocab, loaded.epochs) == (2, 100, 4, 3)


def test_load_of_a_trainers_model_shows_all_words(tmp_path: Path) -> None:
    trainer = Trainer(dimensions=6, max_vocabulary=100)
    trainer.train([["one", "two"]])
    trainer.save(tmp_path / "model")
    model = Word2Vec.load(tmp_path / "model")
    assert (model.min_count, model.epochs, model.vector_size) == (1, 3, 6)
    assert sorted(model.wv.index_to_key) == ["one", "two"]


def test_load_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Word2Vec.load(tmp_path / "missing")
    pickled = tmp_path / "pickled"
    pickled.write_bytes(pickle.dumps({"a": 1}, protocol=4))
    with pytest.raises(ValueError, match="is a pickle, gensim's own format"):
        Word2Vec.load(pickled)
    (tmp_path / "text").write_text("no model")
    with pytest.raises(ValueError):
        Word2Vec.load(tmp_path / "text")


def test_pickles_and_copies_go_on_alike() -> None:
    model = Word2Vec(SENTENCES, **SMALL, comment="drinks")
    for other in [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)]:
        assert other.comment == "drinks"
        np.testing.assert_array_equal(other.wv.vectors, model.wv.vectors)


def test_it_says_what_it_is() -> None:
    model = Word2Vec(SENTENCES, **SMALL)
    assert str(model) == "Word2Vec<vocab=5, vector_size=8>"
    assert repr(model) == "<skipstream.compat.Word2Vec<vocab=5, vector_size=8>>"


def test_absent_parts_say_what_to_do_instead() -> None:
    model = Word2Vec(SENTENCES, **SMALL)
    with pytest.raises(AttributeError, match="gensim's syn1 is not supported: hierarchical softmax"):
        _ = model.syn1
    with pytest.raises(TypeError, match="a callback is of the type object; it must have the methods of"):
        Word2Vec(SENTENCES, **SMALL, callbacks=[object()])
    with pytest.raises(AttributeError, match="'Word2Vec' object has no attribute 'nonsense'"):
        _ = model.nonsense
    assert not hasattr(model, "score")


def test_attributes_that_are_set_are_honored_or_refused() -> None:
    model = Word2Vec(SENTENCES, **SMALL, epochs=1)
    model.epochs = 4
    model.train(SENTENCES, total_examples=100, epochs=model.epochs)
    assert model.trainer.stats().replayed == 300 * 3
    model.workers = 2
    model.train(SENTENCES, epochs=1)
    assert model.workers == 2
    for name in ["alpha", "min_alpha", "window", "vector_size", "negative"]:
        with pytest.raises(AttributeError):
            setattr(model, name, 0.01)
    for name in ["sg", "hs", "cbow_mean", "hashfxn", "null_word", "sorted_vocab", "batch_words"]:
        setattr(model, name, getattr(model, name))
        with pytest.raises(NotImplementedError, match=f"^{name} is 7; only"):
            setattr(model, name, 7)


def test_an_error_in_the_corpus_comes_through_and_what_came_before_is_learned() -> None:
    error = RuntimeError("the network is down")

    def broken() -> Iterator[list[str]]:
        yield from SENTENCES
        raise error

    model = Word2Vec(**SMALL)
    with pytest.raises(RuntimeError) as caught:
        model.train(broken(), epochs=5)
    assert caught.value is error
    assert model.trainer.stats().words == 300
    assert "tea" in model.wv
    model.train([["more", "tea"]], epochs=2)
    assert model.trainer.stats().replayed == 300 * 4 + 2


def test_the_signatures_are_documented() -> None:
    for method in [Word2Vec, Word2Vec.train]:
        for name in inspect.signature(method).parameters:
            if name != "self":
                assert f"{name}:" in (method.__doc__ or ""), name


def test_limits_hold_for_attributes_too() -> None:
    model = Word2Vec([["a", "b"]] * 6 + [["z", "q"]], sg=1, min_count=1)
    assert len(model.wv) == 4
    model.min_count = 5
    assert model.wv.index_to_key == ["a", "b"]
    model.min_count = 1
    model.max_final_vocab = 2
    assert len(model.wv) == 2
    with pytest.raises(TypeError, match="min_count is of the type str"):
        model.min_count = "x"  # type: ignore[assignment]
    with pytest.raises(ValueError, match="max_final_vocab is 0; it must be at least 1"):
        model.max_final_vocab = 0


def test_a_vocabulary_without_words_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="no word was seen min_count=5 times"):
        model = Word2Vec([["a", "b"]], sg=1)
    assert len(model.wv) == 0


def test_workers_read_back() -> None:
    model = Word2Vec([["a", "b"]], sg=1, min_count=1, workers=1)
    model.workers = 2
    assert model.workers == 2


def test_a_number_is_no_file() -> None:
    # It would be taken for an open file, and closed.
    with pytest.raises(TypeError):
        Word2Vec.load(1)  # type: ignore[arg-type]


def test_predictions_are_counted() -> None:
    model = Word2Vec([["a", "b"]] * 6, sg=1, min_count=1)
    assert model.predict_output_word(["a"], topn=0) == []
    with pytest.raises(ValueError, match="topn is -1; it must be at least 0"):
        model.predict_output_word(["a"], topn=-1)
