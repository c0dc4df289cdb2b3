"""Evaluation on word pairs and analogies."""

from __future__ import annotations

import os
from typing import Any, Literal, NamedTuple

from skipstream import _engine
from skipstream._arguments import FilePath, optional
from skipstream._table import Table

_SEPARATORS = ("\t", ";", ",", " ")


class Correlation(NamedTuple):
    """A correlation with its p-value, as in SciPy."""

    statistic: float
    """From -1 to 1; NaN if undefined, for example if all values of one side are equal."""
    pvalue: float
    """Two-sided p-value of Student's t-test."""


class WordPairsResult(NamedTuple):
    """Correlation of cosines with human similarity ratings."""

    pearson: Correlation
    """Pearson correlation."""
    spearman: Correlation
    """Spearman correlation, the one papers report."""
    oov_ratio: float
    """Percentage of pairs with an out-of-vocabulary word."""


class Evaluation(Table):
    """Evaluation methods with gensim's signatures and results."""

    __slots__ = ()

    def evaluate_word_pairs(
        self,
        pairs: FilePath,
        delimiter: str | None = None,
        encoding: str = "utf8",
        restrict_vocab: int | None = 300_000,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
    ) -> WordPairsResult:
        """Correlates cosines with human ratings from a file such as WordSim-353, MEN or SimLex-999.

        Each line has two words and a rating, separated by tabs, semicolons, commas or spaces. The separator is detected
        per line; `delimiter` has no effect. The file may be compressed. `restrict_vocab` limits the vocabulary to the most
        frequent words. Pairs with an out-of-vocabulary word are excluded, or get similarity 0 if `dummy4unknown` is true.

        >>> import pathlib, skipstream, tempfile
        >>> wv = skipstream.Embeddings.from_arrays(
        ...     ["tea", "coffee", "stone", "rock"], [[1, 0.1], [1, 0.3], [0.1, 1], [0.2, 1]]
        ... )
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "people.csv"
        ...     _ = path.write_text("tea,coffee,8.5\\nrock,stone,9.5\\nTea,rock,1.5\\ntea,espresso,7\\n")
        ...     pearson, spearman, oov_ratio = wv.evaluate_word_pairs(path)
        >>> spearman.statistic, oov_ratio
        (1.0, 25.0)
        """
        if delimiter is not None and delimiter not in _SEPARATORS:
            raise ValueError(f"delimiter is {delimiter!r}; it must be a tab, a semicolon, a comma or a space")
        check_encoding(encoding)
        pearson, spearman, n_unknown, n_pairs = _engine.word_pairs(
            self._engine,
            pairs,
            optional("restrict_vocab", restrict_vocab),
            bool(case_insensitive),
            bool(dummy4unknown),
        )
        if n_unknown == n_pairs and not dummy4unknown:
            raise ValueError(f"{os.fspath(pairs)}: no pair has both words in the vocabulary")
        return WordPairsResult(Correlation(*pearson), Correlation(*spearman), 100.0 * n_unknown / n_pairs)

    def evaluate_word_analogies(
        self,
        analogies: FilePath,
        restrict_vocab: int | None = 300_000,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
        similarity_function: Literal["most_similar", "most_similar_cosmul"] = "most_similar",
    ) -> tuple[float, list[dict[str, Any]]]:
        """Returns the accuracy on analogies from a file such as Google's `questions-words.txt`.

        The second value is a list of dictionaries `{"section", "correct", "incorrect"}`, one per section and one for the
        total, with questions as tuples of four words (in upper case if `case_insensitive` is true, as in gensim).
        Questions with an out-of-vocabulary word are excluded, or count as wrong if `dummy4unknown` is true.

        All questions are answered in one pass over the vectors. `similarity_function` is `"most_similar"` (3CosAdd) or
        `"most_similar_cosmul"` (3CosMul, with Levy and Goldberg's epsilon of 0.001).

        >>> import pathlib, skipstream, tempfile
        >>> words = ["man", "woman", "king", "queen", "apple"]
        >>> vectors = [[1, 0.1, 0], [1, 0.1, 1], [1, 0.8, 0.1], [1, 0.8, 1], [-1, 0, 0.3]]
        >>> wv = skipstream.Embeddings.from_arrays(words, vectors)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "questions.txt"
        ...     _ = path.write_text(": family\\nman king woman queen\\nman king woman apple\\n")
        ...     score, sections = wv.evaluate_word_analogies(path)
        >>> score
        0.5
        >>> sections[0]["correct"]
        [('MAN', 'KING', 'WOMAN', 'QUEEN')]
        """
        if similarity_function not in ("most_similar", "most_similar_cosmul"):
            raise ValueError(
                f"similarity_function is {similarity_function!r}; it must be 'most_similar' or 'most_similar_cosmul'"
            )
        found = _engine.analogies(
            self._engine,
            analogies,
            optional("restrict_vocab", restrict_vocab),
            bool(case_insensitive),
            similarity_function == "most_similar_cosmul",
        )
        sections = []
        for name, questions, solved in found:
            section: dict[str, Any] = {"section": name, "correct": [], "incorrect": []}
            for question, is_solved in zip(questions, solved):
                if is_solved is None and not dummy4unknown:
                    continue
                words = tuple(word.upper() if case_insensitive else word for word in question)
                section["correct" if is_solved else "incorrect"].append(words)
            sections.append(section)
        total: dict[str, Any] = {"section": "Total accuracy"}
        for answer in ("correct", "incorrect"):
            total[answer] = [words for section in sections for words in section[answer]]
        sections.append(total)
        n_correct, n_incorrect = len(total["correct"]), len(total["incorrect"])
        return n_correct / max(n_correct + n_incorrect, 1), sections


def check_encoding(encoding: str) -> None:
    """Refuses encodings other than UTF-8."""
    if not isinstance(encoding, str) or encoding.lower().replace("-", "").replace("_", "") != "utf8":
        raise ValueError(f"encoding is {encoding!r}; it must be utf8: convert the file first")
