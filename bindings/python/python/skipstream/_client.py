"""A client for `skipstream serve`."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import quote, urlencode, urlsplit

import numpy as np

from skipstream._arguments import Vector, keys, whole
from skipstream._embeddings import Embeddings, load
from skipstream._errors import UnknownWord


class Client:
    """Queries a running `skipstream serve` by the names of `Embeddings`, and sends it text.

    Answers come from the vectors that the service published last. Errors are those of `Embeddings`: an unknown word is a
    `KeyError` with suggestions. A service that cannot be reached, is busy or refuses the token is an `OSError`. Threads can
    share a client.

    >>> client = Client("http://127.0.0.1:8321")
    >>> client.train(["tea with milk", "coffee with milk"] * 500)  # doctest: +SKIP
    1000
    >>> client.most_similar("tea", topn=1)  # doctest: +SKIP
    [('coffee', 0.9342)]

    Args:
        url: Address of the service.
        token: Access token, if the service needs one.
        timeout: Seconds to wait for an answer.
    """

    def __init__(
        self, url: str = "http://127.0.0.1:8321", *, token: str | None = None, timeout: float = 60.0
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url is {url!r}; it must be an address such as 'http://127.0.0.1:8321'")
        self.url = url.rstrip("/")
        self.timeout = timeout
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def train(self, sentences: Iterable[str | Iterable[str]], *, wait: bool = True) -> int:
        """Sends sentences, which are strings or lists of tokens, and returns their number.

        An iterable is sent while it is read. With `wait`, the call returns once the sentences are learned and published,
        otherwise once they are stored. A line break within a sentence becomes a space.
        """
        if isinstance(sentences, (str, bytes)):
            raise TypeError("sentences is a string; put it into a list")
        query = {"wait": "learned"} if wait else {}
        content = {"Content-Type": "application/x-ndjson"}
        answer = self._ask("POST", "/v1/text", query, body=_lines(sentences), headers=content)
        if "warning" in answer:
            warnings.warn(answer["warning"], stacklevel=2)
        return int(answer["lines"])

    def __len__(self) -> int:
        return int(self.stats()["snapshot"]["vocabulary"])

    def __contains__(self, key: object) -> bool:
        try:
            return isinstance(key, str) and bool(self._ask("GET", f"/v1/words/{_segment(key)}"))
        except UnknownWord:
            return False

    def __getitem__(self, key_or_keys: str | Iterable[str]) -> Vector:
        """Returns the vector of a word, or a matrix with a row per word."""
        return self.get_vector(key_or_keys) if isinstance(key_or_keys, str) else self._vectors(key_or_keys)

    def get_vector(self, key: str, norm: bool = False) -> Vector:
        """Returns the vector of a word, normalized if `norm` is true."""
        vector: Vector = self._vectors([key], norm)[0]
        return vector

    def get_vecattr(self, key: str, attr: Literal["count"] = "count") -> int:
        """Returns the count of a word."""
        if attr != "count":
            raise ValueError(f"attr is {attr!r}; it must be 'count', the only attribute")
        return int(self._ask("GET", f"/v1/words/{_segment(key)}")["count"])

    def neighbors(
        self, key: str, n: int = 10, *, min_count: int | None = None, top: int | None = None
    ) -> list[tuple[str, float]]:
        """Returns the `n` nearest words with their cosines. `min_count` and `top` are those of `Embeddings`."""
        return self._nearest({"words": [key]}, n, min_count, top)

    def most_similar(
        self,
        positive: str | Iterable[str] = (),
        negative: str | Iterable[str] = (),
        topn: int = 10,
        *,
        min_count: int | None = None,
        top: int | None = None,
    ) -> list[tuple[str, float]]:
        """Returns the words nearest to the mean of positive words and negated negative ones, without these words."""
        sides = [
            [side] if isinstance(side, str) else keys("the words", side) for side in (positive, negative)
        ]
        words = sides[0] + sides[1]
        if not words:
            raise ValueError("positive and negative are empty; name at least one word")
        weights = np.repeat([1.0, -1.0], [len(side) for side in sides])
        mean = weights @ self._vectors(words, norm=True)
        topn = whole("topn", topn)
        found = self._nearest({"vectors": [mean.tolist()]}, topn + len(words), min_count, top)
        return [pair for pair in found if pair[0] not in words][:topn]

    def analogy(
        self,
        a: str,
        b: str | None = None,
        c: str | None = None,
        n: int = 10,
        rule: Literal["add", "multiply"] = "add",
        *,
        min_count: int | None = None,
        top: int | None = None,
    ) -> list[tuple[str, float]]:
        """Returns the best answers to "a is to b as c is to ?", or to an expression such as `"king - man + woman"`."""
        question = {"expression": a} if b is None and c is None else {"a": a, "b": b, "c": c}
        query = question | {"n": n, "rule": rule, "min_count": min_count, "top": top}
        return _pairs(self._ask("GET", "/v1/analogy", query)["answers"])

    def predict_next(
        self, words: str | Iterable[str], n: int = 10, *, min_count: int | None = None, top: int | None = None
    ) -> list[tuple[str, float]]:
        """Returns the `n` words most likely to occur with the given ones. The service needs `--vectors joined`."""
        given = [words] if isinstance(words, str) else keys("words", words)
        query = {"word": given, "n": n, "min_count": min_count, "top": top}
        return _pairs(self._ask("GET", "/v1/predict-next", query)["next"])

    def similarity(self, w1: str, w2: str) -> float:
        """Returns the cosine of two words, from -1 to 1."""
        return float(self._ask("GET", "/v1/similarity", {"a": w1, "b": w2})["similarity"])

    def distance(self, w1: str, w2: str) -> float:
        """Returns 1 - similarity."""
        return 1 - self.similarity(w1, w2)

    def doesnt_match(self, words: Iterable[str]) -> str:
        """Returns the word that does not belong with the others, of at least three."""
        return str(self._ask("GET", "/v1/odd-one-out", {"word": keys("words", words)})["odd"])

    def stats(self) -> dict[str, Any]:
        """Returns the state of the service."""
        return cast("dict[str, Any]", self._ask("GET", "/v1/stats"))

    def embeddings(self, top: int | None = None) -> Embeddings:
        """Downloads the vectors, or those of the `top` most frequent words."""
        contents = self._ask("GET", "/v1/export", {"format": "safetensors", "top": top}, is_json=False)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "vectors.safetensors")
            path.write_bytes(contents)
            return load(path)

    def __repr__(self) -> str:
        return f"<skipstream.Client: {self.url}>"

    def _vectors(self, words: Iterable[str], norm: bool = False) -> Vector:
        body = {"words": keys("the key", words), "normalize": bool(norm)}
        results = self._ask("POST", "/v1/vectors", body=json.dumps(body))["results"]
        for result in results:
            _raise_for(result)
        return np.array([result["vector"] for result in results], dtype=np.float32)

    def _nearest(
        self, terms: dict[str, Any], n: int, min_count: int | None, top: int | None
    ) -> list[tuple[str, float]]:
        options = {"n": n, "min_count": min_count, "top": top}
        body = terms | {name: value for name, value in options.items() if value is not None}
        (result,) = self._ask("POST", "/v1/neighbors", body=json.dumps(body))["results"]
        _raise_for(result)
        return _pairs(result["neighbors"])

    def _ask(
        self,
        method: str,
        path: str,
        query: dict[str, Any] | None = None,
        *,
        body: str | Iterator[bytes] | None = None,
        headers: dict[str, str] | None = None,
        is_json: bool = True,
    ) -> Any:
        # Most programs have no client, and these modules take as long to import as the rest of the package.
        import http.client

        parts = urlsplit(self.url)
        given = {name: value for name, value in (query or {}).items() if value is not None}
        target = f"{parts.path}{path}?{urlencode(given, doseq=True)}".rstrip("?")
        kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
        connection = kinds[parts.scheme](cast(str, parts.hostname), parts.port, timeout=self.timeout)
        try:
            content = {"Content-Type": "application/json"}
            broken: ConnectionError | None = None
            try:
                connection.request(method, target, body, self._headers | (headers or content))
            except (BrokenPipeError, ConnectionAbortedError, ConnectionResetError) as error:
                # A service that refuses a request does not read all of it. Its answer is there.
                broken = error
            try:
                response = connection.getresponse()
                answer = response.read()
            except (OSError, http.client.HTTPException) as error:
                raise broken or error from None
        finally:
            connection.close()
        if response.status >= 400:
            _raise_for(json.loads(answer or b"{}"), response.status)
            raise OSError(f"{self.url} answered with status {response.status}")
        return json.loads(answer) if is_json else answer


def _raise_for(answer: dict[str, Any], status: int = 400) -> None:
    """Raises the error of an answer, if it is one."""
    error = answer.get("error")
    if error is None:
        return
    if error["code"] == "unknown-word":
        word = answer.get("word") or error["message"].split("`")[1]
        raise UnknownWord(word, tuple(error.get("suggestions") or ()))
    if status in (401, 403):
        raise PermissionError(error["message"])
    raise (ValueError if status in (400, 422) else OSError)(error["message"])


def _lines(sentences: Iterable[str | Iterable[str]]) -> Iterator[bytes]:
    chunk = bytearray()
    for sentence in sentences:
        text = sentence if isinstance(sentence, str) else " ".join(sentence)
        chunk += json.dumps({"text": text}).encode() + b"\n"
        if len(chunk) > 1 << 16:
            yield bytes(chunk)
            chunk.clear()
    yield bytes(chunk)


def _pairs(found: list[dict[str, Any]]) -> list[tuple[str, float]]:
    return [(neighbor["word"], neighbor["similarity"]) for neighbor in found]


def _segment(word: str) -> str:
    return quote(word, safe="")
