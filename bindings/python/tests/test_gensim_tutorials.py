"""What gensim's tutorials for Word2Vec and KeyedVectors do, with only the import changed.

The program makes the tutorials' calls, in their order, on a text of our own. It runs with gensim's modules too, so that it
stays what gensim accepts.
"""

from __future__ import annotations

import gzip
import importlib
import io
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skipstream
import skipstream.compat

TOPICS = [
    ["king", "queen", "man", "woman", "crown", "palace"],
    ["car", "minivan", "bicycle", "airplane", "wheel", "road"],
    ["fire", "water", "land", "sea", "air", "storm"],
]


def lines(number: int = 600) -> list[str]:
    chance = random.Random(5)
    topics = [chance.choice(TOPICS) for _ in range(number)]
    return [" ".join(["the", *chance.choices(topic, k=8)]) for topic in topics]


class MyCorpus:
    def __iter__(self) -> Iterator[list[str]]:
        for line in lines():
            yield line.lower().split()


@pytest.fixture(params=["gensim", "skipstream.compat"])
def gensim(request: Any) -> Any:
    """`import gensim`, or `import skipstream.compat as gensim`."""
    if request.param == "gensim":
        pytest.importorskip("gensim.models.word2vec")
    return importlib.import_module(request.param)


def test_the_tutorial_of_word2vec(gensim: Any, tmp_path: Path) -> None:
    sentences = MyCorpus()
    with warnings.catch_warnings():
        # Without sg=1, gensim trains CBOW, and compat warns.
        warnings.simplefilter("ignore")
        model = gensim.models.Word2Vec(sentences=sentences)
    assert model.wv["king"].shape == (100,)
    for index, word in enumerate(model.wv.index_to_key):
        assert model.wv.key_to_index[word] == index
    with pytest.raises(KeyError):
        model.wv["cameroon"]
    assert -1 <= model.wv.similarity("car", "minivan") <= 1
    assert len(model.wv.most_similar(positive=["car", "minivan"], topn=5)) == 5
    assert model.wv.doesnt_match(["fire", "water", "land", "sea", "air", "car"])

    path = str(tmp_path / "model")
    model.save(path)
    new_model = gensim.models.Word2Vec.load(path)
    more_sentences = [["advanced", "users", "can", "continue", "training"]]
    new_model.build_vocab(more_sentences, update=True)
    new_model.train(more_sentences, total_examples=new_model.corpus_count, epochs=new_model.epochs)

    for settings in ({"min_count": 10}, {"vector_size": 200}, {"workers": 4}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert len(gensim.models.Word2Vec(sentences, **settings).wv) == 19

    questions, pairs = tmp_path / "questions.txt", tmp_path / "pairs.tsv"
    questions.write_text(": family\nman king woman queen\nking man queen woman\n")
    pairs.write_text("car\tminivan\t9\ncar\tfire\t1\nking\tqueen\t8\nsea\tcrown\t1\n")
    score, sections = model.wv.evaluate_word_analogies(str(questions))
    assert 0 <= score <= 1 and sections[-1]["section"] == "Total accuracy"
    assert len(model.wv.evaluate_word_pairs(str(pairs))) == 3

    with_loss = gensim.models.Word2Vec(sentences, min_count=1, compute_loss=True, hs=0, sg=1, seed=42)
    assert with_loss.get_latest_training_loss() > 0
    assert np.asarray(with_loss.wv.vectors).shape == (len(with_loss.wv.index_to_key), 100)


def test_the_tutorials_files_of_lines(gensim: Any, tmp_path: Path) -> None:
    expected = [line.split() for line in lines(20)]
    plain, packed = tmp_path / "lines.txt", tmp_path / "lines.txt.gz"
    plain.write_text("\n".join(lines(20)))
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    read = gensim.models.word2vec.LineSentence
    for source in (str(plain), str(packed), io.StringIO(plain.read_text()), io.BytesIO(plain.read_bytes())):
        sentences = read(source)
        assert list(sentences) == list(sentences) == expected
        assert list(read(source, limit=3)) == expected[:3]
        assert [len(part) for part in read(source, max_sentence_length=5, limit=1)] == [5, 4]
    model = gensim.models.Word2Vec(read(str(plain)), sg=1, min_count=1)
    assert "the" in model.wv


def test_the_tutorial_of_callbacks(gensim: Any, tmp_path: Path) -> None:
    seen: list[str] = []
    losses: list[float] = []

    class Watcher(
        importlib.import_module(
            "gensim.models.callbacks" if gensim.__name__ == "gensim" else "skipstream.compat"
        ).CallbackAny2Vec
    ):  # type: ignore[misc]
        def on_train_begin(self, model: Any) -> None:
            seen.append("begin")

        def on_epoch_begin(self, model: Any) -> None:
            seen.append("epoch")

        def on_epoch_end(self, model: Any) -> None:
            losses.append(model.get_latest_training_loss())
            model.save(str(tmp_path / f"epoch-{len(losses)}"))
            seen.append(model.wv.index_to_key[0])

        def on_train_end(self, model: Any) -> None:
            seen.append("end")

    model = gensim.models.Word2Vec(
        MyCorpus(), epochs=4, vector_size=10, sg=1, min_count=1, compute_loss=True, callbacks=[Watcher()]
    )
    assert seen == ["begin", *["epoch", "the"] * 4, "end"]
    assert len(losses) == 4 and losses == sorted(losses) and losses[0] > 0
    assert losses[-1] == pytest.approx(model.get_latest_training_loss())
    saved = gensim.models.Word2Vec.load(str(tmp_path / "epoch-4"))
    np.testing.assert_array_equal(saved.wv.vectors, model.wv.vectors)


def test_the_tutorial_of_keyed_vectors(gensim: Any, tmp_path: Path) -> None:
    model = gensim.models.Word2Vec(MyCorpus(), sg=1, vector_size=24, epochs=20, min_count=1)
    path = str(tmp_path / "vectors.kv")
    model.wv.save(path)
    assert isinstance(model.wv, gensim.models.KeyedVectors)
    for loaded in (gensim.models.KeyedVectors.load(path), gensim.models.KeyedVectors.load(path, mmap="r")):
        np.testing.assert_array_equal(loaded["king"], model.wv["king"])
    for binary in (False, True):
        model.wv.save_word2vec_format(path + ".w2v", binary=binary)
        found = gensim.models.KeyedVectors.load_word2vec_format(path + ".w2v", binary=binary)
        np.testing.assert_allclose(found["king"], model.wv["king"], rtol=1e-4)

    wv = model.wv
    for ask in (wv.most_similar, wv.most_similar_cosmul):
        word, score = ask(positive=["woman", "king"], negative=["man"])[0]
        assert isinstance(word, str) and isinstance(score, float)
    assert wv.doesnt_match(["car", "bicycle", "road", "queen"]) in wv
    assert wv.similarity("woman", "man") > wv.similarity("woman", "road")
    assert wv.similar_by_word("king")[0][0] in TOPICS[0]
    assert wv.distance("king", "king") == pytest.approx(0, abs=1e-6)
    assert -1 <= wv.n_similarity(["king", "queen"], ["man", "woman"]) <= 1.001
    assert wv["sea"].shape == wv.get_vector("sea", norm=True).shape == (24,)


def test_what_needs_no_preparation_warns_and_passes() -> None:
    model = skipstream.compat.Word2Vec(MyCorpus(), sg=1, min_count=1)
    for call in (
        lambda: model.wv.init_sims(replace=True),
        lambda: model.wv.fill_norms(force=True),
        lambda: model.wv.sort_by_descending_frequency(),
        lambda: model.init_sims(),
    ):
        with pytest.warns(UserWarning, match="does nothing"):
            call()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda wv: wv.wmdistance(["a"], ["b"]), AttributeError, r"use to_gensim\(\)\.wmdistance"),
        (lambda wv: wv.wv, AttributeError, "omit .wv"),
        (lambda wv: wv.add_vector("new", [1]), AttributeError, "from_arrays"),
        (lambda wv: skipstream.compat.downloader, ImportError, "import it from gensim"),
        (lambda wv: skipstream.compat.models.FastText, ImportError, "with_subwords"),
        (lambda wv: skipstream.compat.Word2Vec(MyCorpus(), sg=0), NotImplementedError, "pass sg=1"),
        (lambda wv: skipstream.compat.Word2Vec(MyCorpus(), sg=1, hs=1), NotImplementedError, "set negative"),
    ],
)
def test_lines_of_the_tutorials_that_stop_say_what_to_write(call: Any, error: Any, message: str) -> None:
    model = skipstream.compat.Word2Vec(MyCorpus(), sg=1, min_count=1)
    with pytest.raises(error, match=message):
        call(model.wv)


def test_an_import_that_stops_says_what_to_write() -> None:
    with pytest.raises(ImportError, match=r"skipstream\.compat has no Phrases: join phrases with gensim"):
        from skipstream.compat import Phrases  # noqa: F401


def test_a_model_file_is_no_pickle_whatever_its_first_byte_is(tmp_path: Path) -> None:
    # The first bytes are the length of the header, which the comment makes longer.
    firsts = set()
    for length in range(0, 256, 8):
        model = skipstream.compat.Word2Vec(
            [["tea", "milk"]] * 5, sg=1, min_count=1, vector_size=2, comment="x" * length
        )
        model.save(tmp_path / "model")
        firsts.add((tmp_path / "model").read_bytes()[0])
        assert skipstream.compat.Word2Vec.load(tmp_path / "model").comment == "x" * length
    assert 0x80 in firsts


def test_a_file_of_gensim_says_what_to_do_with_it(tmp_path: Path) -> None:
    path = tmp_path / "vectors.kv"
    path.write_bytes(b"\x80\x04K\x01.")
    for load in (skipstream.load, skipstream.compat.KeyedVectors.load, skipstream.compat.Word2Vec.load):
        with pytest.raises(ValueError, match=r"vectors\.kv is a pickle.*save_word2vec_format"):
            load(path)
