"""Queries that compare vectors: neighbors, similarities, analogies."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skipstream import _engine
from skipstream._arguments import Key, Terms, Vector, array, is_key, keys, optional, real, terms, whole
from skipstream._table import Table


class Neighbors(NamedTuple):
    """The nearest words of several words or vectors: a row for each, nearest first."""

    words: NDArray[np.object_]
    """The words."""
    similarities: NDArray[np.float32]
    """Their cosines."""


class Queries(Table):
    """Queries that compare vectors. All of them release the GIL."""

    __slots__ = ()

    @overload
    def neighbors(  # type: ignore[overload-overlap]
        self, key_or_keys: Key, n: int = 10, *, min_count: int | None = None, top: int | None = None
    ) -> list[tuple[str, float]]: ...
    @overload
    def neighbors(
        self, key_or_keys: Iterable[Key], n: int = 10, *, min_count: int | None = None, top: int | None = None
    ) -> Neighbors: ...
    def neighbors(
        self,
        key_or_keys: Key | Iterable[Key],
        n: int = 10,
        *,
        min_count: int | None = None,
        top: int | None = None,
    ) -> list[tuple[str, float]] | Neighbors:
        """Returns the `n` nearest words with their cosines; for several words, two arrays.

        Several words are answered together, in shared passes over the vectors. If there are fewer than `n` other words,
        the arrays have fewer columns.

        Answers are words with at least `min_count` occurrences (default: `default_min_count`; 0 shows all), and of these
        the `top` most frequent. The words you ask about may be rarer.

        >>> import skipstream
        >>> wv = skipstream.Embeddings.from_arrays(["tea", "coffee", "stone"], [[1, 0.1], [1, 0.3], [0.1, 1]])
        >>> [word for word, similarity in wv.neighbors("tea", n=2)]
        ['coffee', 'stone']
        >>> words, similarities = wv.neighbors(["tea", "stone"], n=1)
        >>> words
        array([['coffee'],
               ['coffee']], dtype=object)
        """
        n, end = whole("n", n), self._candidates(min_count, top)
        if is_key(key_or_keys):
            return self._engine.search([key_or_keys], [], None, (0, end), n, [])
        given = keys("the key", cast("Iterable[Key]", key_or_keys))
        rows, similarities = self._engine.neighbors_of_rows(given, n, end)
        return Neighbors(self._words_at(rows), similarities)

    @overload
    def most_similar(
        self,
        positive: Terms = None,
        negative: Terms = None,
        topn: int = 10,
        clip_start: int = 0,
        clip_end: int | None = None,
        restrict_vocab: int | None = None,
        indexer: None = None,
        *,
        min_count: int | None = None,
        top: int | None = None,
    ) -> list[tuple[str, float]]: ...
    @overload
    def most_similar(
        self,
        positive: Terms = None,
        negative: Terms = None,
        *,
        topn: None,
        clip_start: int = 0,
        clip_end: int | None = None,
        restrict_vocab: int | None = None,
        indexer: None = None,
        min_count: int | None = None,
        top: int | None = None,
    ) -> Vector: ...
    def most_similar(
        self,
        positive: Terms = None,
        negative: Terms = None,
        topn: int | None = 10,
        clip_start: int = 0,
        clip_end: int | None = None,
        restrict_vocab: int | None = None,
        indexer: None = None,
        *,
        min_count: int | None = None,
        top: int | None = None,
    ) -> list[tuple[str, float]] | Vector:
        """Returns the words nearest to a weighted mean of words, like gensim.

        `positive` and `negative` are a word, a vector, or a list of words, vectors and pairs `(word or vector, weight)`.
        The default weight is 1, or -1 for negative terms. Words are normalized to unit length; vectors are used as given.
        The words of the query are never answers.

        `min_count` and `top` are those of `neighbors`. `clip_start`, `clip_end` and `restrict_vocab` also limit the answers
        to a range of rows, which are sorted by frequency. `topn=None` returns all similarities as an array, by row, also of
        rare words.

        >>> import skipstream
        >>> words = ["man", "woman", "king", "queen", "apple"]
        >>> vectors = [[1, 0.1, 0], [1, 0.1, 1], [1, 0.8, 0.1], [1, 0.8, 1], [-1, 0, 0.3]]
        >>> wv = skipstream.Embeddings.from_arrays(words, vectors)
        >>> wv.most_similar(["king", "woman"], ["man"], topn=1)[0][0]
        'queen'
        >>> wv.most_similar(["king", ("woman", 0.5)], topn=None).shape
        (5,)
        """
        if indexer is not None:
            raise ValueError("indexer must be None: search is exact")
        topn = _topn(topn)
        if topn == 0:
            return []
        if topn is None and min_count is None:
            min_count = 0
        start, end = whole("clip_start", clip_start), optional("clip_end", clip_end)
        restricted = optional("restrict_vocab", restrict_vocab)
        if restricted:
            start, end = 0, restricted
        end = min(end or len(self), self._candidates(min_count, top))
        weighted = [(term, 1.0 if weight is None else weight) for term, weight in terms("positive", positive)]
        weighted += [
            (term, -1.0 if weight is None else weight) for term, weight in terms("negative", negative)
        ]
        if not weighted:
            raise ValueError("positive and negative are empty; name at least one word or vector")
        mean = self._engine.mean(weighted, True)
        if topn is None:
            return self._engine.scores([mean], [], None, (start, end))
        # An estimated word has no row to exclude.
        estimates = self._engine.subword_options is not None
        words = [term for term, _ in weighted if not isinstance(term, np.ndarray)]
        used = [self._engine.row(word) for word in words if not estimates or word in self._engine]
        return self._engine.search([mean], [], None, (start, end), topn, used)

    @overload
    def most_similar_cosmul(
        self,
        positive: Terms = None,
        negative: Terms = None,
        topn: int = 10,
        restrict_vocab: int | None = None,
        *,
        epsilon: float = 1e-6,
        min_count: int | None = None,
        top: int | None = None,
    ) -> list[tuple[str, float]]: ...
    @overload
    def most_similar_cosmul(
        self,
        positive: Terms = None,
        negative: Terms = None,
        *,
        topn: None,
        restrict_vocab: int | None = None,
        epsilon: float = 1e-6,
        min_count: int | None = None,
        top: int | None = None,
    ) -> Vector: ...
    def most_similar_cosmul(
        self,
        positive: Terms = None,
        negative: Terms = None,
        topn: int | None = 10,
        restrict_vocab: int | None = None,
        *,
        epsilon: float = 1e-6,
        min_count: int | None = None,
        top: int | None = None,
    ) -> list[tuple[str, float]] | Vector:
        """Returns the words with the highest product of cosines (3CosMul, Levy and Goldberg 2014), like gensim.

        Takes the arguments of `most_similar`, without weights; vectors are normalized. `epsilon` is added to the divisor. It
        defaults to gensim's 0.000001; Levy and Goldberg used 0.001, as does `analogy`.

        >>> import skipstream
        >>> words = ["man", "woman", "king", "queen", "prince"]
        >>> vectors = [[1, 0.1, 0], [1, 0.1, 1], [1, 0.8, 0.1], [1, 0.8, 1], [0.9, 0.6, -0.4]]
        >>> wv = skipstream.Embeddings.from_arrays(words, vectors)
        >>> wv.most_similar_cosmul(["king", "woman"], ["man"], topn=1)[0][0]
        'queen'
        """
        topn = _topn(topn)
        if topn == 0:
            return []
        sides = [terms("positive", positive), terms("negative", negative)]
        if any(weight is not None for side in sides for _, weight in side):
            raise ValueError("most_similar_cosmul takes no weights; omit them, or use most_similar")
        if not sides[0]:
            raise ValueError("positive is empty; name at least one word or vector")
        restricted = optional("restrict_vocab", restrict_vocab)
        above, below = ([term for term, _ in side] for side in sides)
        if topn is None and min_count is None:
            min_count = 0
        end = min(restricted or len(self), self._candidates(min_count, top))
        query = (above, below, real("epsilon", epsilon), (0, end))
        if topn is None:
            return self._engine.scores(*query)
        return self._engine.search(*query, topn, [])

    def analogy(
        self,
        a: Key,
        b: Key | None = None,
        c: Key | None = None,
        n: int = 10,
        rule: Literal["add", "multiply"] = "add",
        *,
        min_count: int | None = None,
        top: int | None = None,
    ) -> list[tuple[str, float]]:
        """Returns the best answers to "a is to b as c is to ?", or to an expression, like the command `skipstream analogy`.

        `rule` is `"add"` (the words nearest to b - a + c) or `"multiply"` (3CosMul). `min_count` and `top` are those of
        `neighbors`.

        >>> import skipstream
        >>> words = ["man", "woman", "king", "queen", "apple"]
        >>> vectors = [[1, 0.1, 0], [1, 0.1, 1], [1, 0.8, 0.1], [1, 0.8, 1], [-1, 0, 0.3]]
        >>> wv = skipstream.Embeddings.from_arrays(words, vectors)
        >>> wv.analogy("man", "king", "woman", n=1)[0][0]
        'queen'
        >>> wv.analogy("king - man + woman", n=1)[0][0]
        'queen'
        """
        if rule not in ("add", "multiply"):
            raise ValueError(f"rule is {rule!r}; it must be 'add' or 'multiply'")
        if (b is None) != (c is None) or (b is None and not isinstance(a, str)):
            raise TypeError("pass three words, or one expression such as 'king - man + woman'")
        question = [a] if b is None else [a, b, c]
        end = self._candidates(min_count, top)
        return self._engine.analogy(question, whole("n", n), rule == "multiply", end)

    def predict_next(
        self, words: Key | Iterable[Key], n: int = 10, *, min_count: int | None = None, top: int | None = None
    ) -> list[tuple[str, float]]:
        """Returns what comes next: the `n` words most likely to occur with the given ones, with scores.

        The given words are the items of a session or basket so far; they are never answers. A score is the dot product of
        their mean target vector with the context vector of the answer, up to a number that is the same for all answers. So the
        vectors must be `"joined"` ones of a trainer or a model file. `min_count` and `top` are those of `neighbors`.

        >>> import skipstream
        >>> trainer = skipstream.Trainer.for_items(dimensions=20)
        >>> _ = trainer.train([["bread", "butter"], ["hammer", "nails"]] * 200)
        >>> trainer.embeddings("joined").predict_next(["hammer"], n=1)[0][0]
        'nails'
        """
        given = [cast(Key, words)] if is_key(words) else keys("words", cast("Iterable[Key]", words))
        return self._engine.predict_next(given, whole("n", n), self._candidates(min_count, top))

    @overload
    def similar_by_key(
        self, key: Key, topn: int = 10, restrict_vocab: int | None = None
    ) -> list[tuple[str, float]]: ...
    @overload
    def similar_by_key(self, key: Key, topn: None, restrict_vocab: int | None = None) -> Vector: ...
    def similar_by_key(
        self, key: Key, topn: int | None = 10, restrict_vocab: int | None = None
    ) -> list[tuple[str, float]] | Vector:
        """Returns the words nearest to a word: `most_similar` for one word."""
        return self.most_similar([key], topn=topn, restrict_vocab=restrict_vocab)

    similar_by_word = similar_by_key

    def similar_by_vector(
        self, vector: ArrayLike, topn: int | None = 10, restrict_vocab: int | None = None
    ) -> Any:
        """Returns the words nearest to a vector; for a 2-D array, two arrays like those of `neighbors`.

        >>> import skipstream
        >>> wv = skipstream.Embeddings.from_arrays(["tea", "coffee", "stone"], [[1, 0.1], [1, 0.3], [0.1, 1]])
        >>> wv.similar_by_vector([0, 1], topn=1)[0][0]
        'stone'
        >>> wv.similar_by_vector([[0, 1], [1, 0]], topn=1).words.tolist()
        [['stone'], ['tea']]
        """
        vector = np.asarray(vector)
        if vector.ndim != 2:
            return self.most_similar([array("vector", vector, 1)], topn=topn, restrict_vocab=restrict_vocab)
        vectors = array("vector", vector, 2)
        n = _topn(topn)
        end = min(optional("restrict_vocab", restrict_vocab) or len(self), len(self))
        if n is None:
            similarities = [self._engine.scores([row], [], None, (0, end)) for row in vectors]
            return np.array(similarities, dtype=np.float32).reshape(len(vectors), end)
        rows, found = self._engine.neighbors_of_vectors(vectors, n, min(end, self._candidates(None, None)))
        return Neighbors(self._words_at(rows), found)

    def most_similar_to_given(self, key1: Key, keys_list: Iterable[Key]) -> Key:
        """Returns the word of a list that is nearest to a word."""
        given = keys("keys_list", keys_list)
        if not given:
            raise ValueError("keys_list is empty; name at least one word")
        nearest: Key = given[int(np.argmax(self._engine.pair_similarities([key1] * len(given), given)))]
        return nearest

    @overload
    def similarity(self, w1: Key, w2: Key) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def similarity(self, w1: Key | Iterable[Key], w2: Iterable[Key]) -> Vector: ...
    @overload
    def similarity(self, w1: Iterable[Key], w2: Key) -> Vector: ...
    def similarity(self, w1: Key | Iterable[Key], w2: Key | Iterable[Key]) -> float | Vector:
        """Returns the cosine of two words, from -1 to 1; for two lists, an array of pairwise cosines.

        >>> import skipstream
        >>> wv = skipstream.Embeddings.from_arrays(["east", "north", "west"], [[2, 0], [0, 1], [-1, 0]])
        >>> wv.similarity("east", "west")
        -1.0
        >>> wv.similarity(["east", "east"], ["north", "west"])
        array([ 0., -1.], dtype=float32)
        >>> wv.similarity("east", ["east", "north"])
        array([1., 0.], dtype=float32)
        """
        if is_key(w1) and is_key(w2):
            return float(self._engine.pair_similarities([w1], [w2])[0])
        first = [cast(Key, w1)] if is_key(w1) else keys("w1", cast("Iterable[Key]", w1))
        second = [cast(Key, w2)] if is_key(w2) else keys("w2", cast("Iterable[Key]", w2))
        first = first * len(second) if is_key(w1) else first
        second = second * len(first) if is_key(w2) else second
        if len(first) != len(second):
            raise ValueError(
                f"w1 has {len(first)} words and w2 {len(second)}; they must have the same length"
            )
        return self._engine.pair_similarities(first, second)

    @overload
    def distance(self, w1: Key, w2: Key) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def distance(self, w1: Key | Iterable[Key], w2: Iterable[Key]) -> Vector: ...
    @overload
    def distance(self, w1: Iterable[Key], w2: Key) -> Vector: ...
    def distance(self, w1: Any, w2: Any) -> Any:
        """Returns 1 - similarity."""
        return 1 - self.similarity(w1, w2)

    def distances(self, word_or_vector: Key | ArrayLike, other_words: Iterable[Key] = ()) -> Vector:
        """Returns the distances from a word or vector to the given words, or to all words by row.

        >>> import skipstream
        >>> wv = skipstream.Embeddings.from_arrays(["east", "north", "west"], [[2, 0], [0, 1], [-1, 0]])
        >>> wv.distances("east")
        array([0., 1., 2.], dtype=float32)
        >>> wv.distances([0, 3], ["north"])
        array([0.], dtype=float32)
        """
        if is_key(word_or_vector):
            vector = self._engine.vector(word_or_vector)
        else:
            vector = array("word_or_vector", word_or_vector, 1)
        others = keys("other_words", () if other_words is None else other_words)
        if others:
            return 1 - _engine.cosines(vector, self._engine.vectors_of(others))
        return 1 - self._engine.scores([vector], [], None, (0, len(self)))

    def n_similarity(self, ws1: Iterable[Key], ws2: Iterable[Key]) -> float:
        """Returns the cosine between the means of two lists of words. Ignores unknown words, like gensim."""
        first, second = keys("ws1", ws1), keys("ws2", ws2)
        if not first or not second:
            raise ZeroDivisionError("ws1 and ws2 must have at least one word each")
        means = [self.get_mean_vector(words, pre_normalize=False) for words in (first, second)]
        return float(_engine.cosines(means[0], means[1][np.newaxis])[0])

    @staticmethod
    def cosine_similarities(vector_1: ArrayLike, vectors_all: ArrayLike) -> Vector:
        """Returns the cosines between a vector and each row of an array; 0 for zero vectors."""
        return _engine.cosines(array("vector_1", vector_1, 1), array("vectors_all", vectors_all, 2))

    def closer_than(self, key1: Key, key2: Key) -> list[str]:
        """Returns the words nearer to `key1` than `key2` is."""
        rows = self._engine.closer_than(key1, key2)
        return cast("list[str]", self._words_at(np.array(rows, dtype=np.int64)).tolist())

    def rank(self, key1: Key, key2: Key) -> int:
        """Returns the rank of `key2` among the neighbors of `key1`, from 1."""
        return len(self._engine.closer_than(key1, key2)) + 1

    def relative_cosine_similarity(self, wa: Key, wb: Key, topn: int = 10) -> float:
        """Returns the similarity of two words, divided by the summed similarity of the `topn` words nearest to `wa`.

        Leeuwenberg et al. (2016) take pairs above 0.1 as synonyms, with `topn=10`.
        """
        nearest = self.neighbors(wa, whole("topn", topn))
        total = sum(similarity for _, similarity in nearest)
        if not nearest or total == 0:
            raise ValueError(f"topn is {topn}: there are no neighbors to compare with")
        return self.similarity(wa, wb) / total

    def rank_by_centrality(self, words: Iterable[Key], use_norm: bool = True) -> list[tuple[float, str]]:
        """Ranks at least three words by their cosine to the mean of them all, best first.

        Unknown words are left out with a warning.
        """
        if not use_norm:
            raise ValueError("use_norm must be true: words are normalized, so that each has the same weight")
        given = keys("words", words)
        estimates = self._engine.subword_options is not None
        known = [word for word in given if word in self or (estimates and isinstance(word, str) and word)]
        if len(known) < len(given):
            unknown = [word for word in given if word not in known]
            warnings.warn(f"ignoring words that are not in the vocabulary: {unknown}", stacklevel=3)
        if not known:
            raise ValueError("words has no known word; it needs at least 3")
        fits = self._engine.odd_one_out(known)
        return [(similarity, word) for word, similarity in reversed(fits)]

    def doesnt_match(self, words: Iterable[Key]) -> str:
        """Returns the word that does not belong with the others, of at least three.

        Unknown words are left out with a warning.

        >>> import skipstream
        >>> wv = skipstream.Embeddings.from_arrays(["bread", "cheese", "moon"], [[1, 0.1], [0.9, 0.2], [-0.3, 1]])
        >>> wv.doesnt_match(["bread", "moon", "cheese"])
        'moon'
        """
        return self.rank_by_centrality(words)[-1][1]


def _topn(topn: Any) -> int | None:
    """The number of answers. None means all; below 1 means none, as in gensim."""
    return None if topn is None else max(whole("topn", topn, least=-sys.maxsize), 0)
