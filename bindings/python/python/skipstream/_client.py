"""A client for `skipstream serve`."""

from __future__ import annotations

import json
import os
import selectors
import tempfile
import time
import warnings
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, overload
from urllib.parse import quote, urlencode, urlsplit

import numpy as np

from skipstream._arguments import Vector, keys, whole
from skipstream._embeddings import Embeddings, load
from skipstream._errors import UnknownWord
from skipstream._queries import Neighbors

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

_MAX_QUERIES = 1_000
"""Queries in a request, which is the limit of the service."""

_MAX_ANSWERS = 100_000
"""Answers to all queries of a request."""


class Event(NamedTuple):
    """Something that happened in the service."""

    name: str
    """What: `published`, `arrived`, `evicted`, `drift` and so on, as in the description of `/v1/events`."""
    data: dict[str, Any]
    """The facts."""
    id: str | None
    """Pass it to `Client.events` to go on after this event. Some events have none."""


class Client:
    """Queries a running `skipstream serve` by the names of `Embeddings`, and sends it text.

    Answers come from the vectors that the service published last. Errors are those of `Embeddings`: an unknown word is a
    `KeyError` with suggestions. A service that cannot be reached, stays busy or refuses the token is an `OSError`. Threads can
    share a client. It keeps its connections open, and if the service asks it to try again later, it does so within `timeout`.

    >>> client = Client("http://127.0.0.1:8321")
    >>> client.train(["tea with milk", "coffee with milk"] * 500)  # doctest: +SKIP
    1000
    >>> client.most_similar("tea", topn=1)  # doctest: +SKIP
    [('coffee', 0.9342)]

    Args:
        url: Address of the service.
        token: Access token, if the service needs one.
        timeout: Seconds to wait for an answer, and for a busy service.
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
        self._idle: list[HTTPConnection] = []
        self._process = os.getpid()

    def __getstate__(self) -> dict[str, Any]:
        """Returns everything but the open connections."""
        return {**self.__dict__, "_idle": []}

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

    @overload
    def neighbors(  # type: ignore[overload-overlap]
        self, key_or_keys: str, n: int = 10, *, min_count: int | None = None, top: int | None = None
    ) -> list[tuple[str, float]]: ...
    @overload
    def neighbors(
        self, key_or_keys: Iterable[str], n: int = 10, *, min_count: int | None = None, top: int | None = None
    ) -> Neighbors: ...
    def neighbors(
        self,
        key_or_keys: str | Iterable[str],
        n: int = 10,
        *,
        min_count: int | None = None,
        top: int | None = None,
    ) -> list[tuple[str, float]] | Neighbors:
        """Returns the `n` nearest words with their cosines; for several words, two arrays, as `Embeddings` does.

        `min_count` and `top` are those of `Embeddings`.
        """
        if isinstance(key_or_keys, str):
            return self._nearest("words", [key_or_keys], n, min_count, top)[0]
        found = self._nearest("words", keys("the key", key_or_keys), n, min_count, top)
        width = min(map(len, found), default=n)
        words = np.array([[word for word, _ in row[:width]] for row in found], dtype=object)
        cosines = np.array([[cosine for _, cosine in row[:width]] for row in found], dtype=np.float32)
        return Neighbors(words.reshape(len(found), width), cosines.reshape(len(found), width))

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
        (found,) = self._nearest("vectors", [mean.tolist()], topn + len(words), min_count, top)
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

    @overload
    def similarity(self, w1: str, w2: str) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def similarity(self, w1: Iterable[str], w2: Iterable[str]) -> Vector: ...
    def similarity(self, w1: str | Iterable[str], w2: str | Iterable[str]) -> float | Vector:
        """Returns the cosine of two words, from -1 to 1; for two lists, an array of pairwise cosines."""
        if isinstance(w1, str) and isinstance(w2, str):
            return float(self._ask("GET", "/v1/similarity", {"a": w1, "b": w2})["similarity"])
        first, second = keys("w1", w1), keys("w2", w2)
        if len(first) != len(second):
            raise ValueError(
                f"w1 has {len(first)} words and w2 {len(second)}; they must have the same length"
            )
        pairs = list(zip(first, second))
        results = self._batches("/v1/similarity", "pairs", pairs)
        return np.array([result["similarity"] for result in results], dtype=np.float32)

    @overload
    def distance(self, w1: str, w2: str) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def distance(self, w1: Iterable[str], w2: Iterable[str]) -> Vector: ...
    def distance(self, w1: Any, w2: Any) -> Any:
        """Returns 1 - similarity."""
        return 1 - self.similarity(w1, w2)

    def doesnt_match(self, words: Iterable[str]) -> str:
        """Returns the word that does not belong with the others, of at least three."""
        return str(self._ask("GET", "/v1/odd-one-out", {"word": keys("words", words)})["odd"])

    def stats(self) -> dict[str, Any]:
        """Returns the state of the service."""
        return cast("dict[str, Any]", self._ask("GET", "/v1/stats"))

    def snapshots(self) -> list[dict[str, Any]]:
        """Returns the snapshots that the service keeps, oldest first."""
        return cast("list[dict[str, Any]]", self._ask("GET", "/v1/snapshots")["snapshots"])

    def movers(self, since: str = "24h", n: int = 20) -> dict[str, Any]:
        """Returns the words that moved most since a time: `movers`, strongest first, with `since`, `ranked` and `warnings`.

        `since` is a duration (`90m`, `24h`, `7d`), an RFC 3339 time or the name of a snapshot.
        """
        return cast("dict[str, Any]", self._ask("GET", "/v1/movers", {"since": since, "n": n}))

    def emerging(self, since: str = "24h", n: int = 20, *, min_gain: int = 5) -> dict[str, Any]:
        """Returns new words and words that became more frequent: `words`, with `since`, which is as in `movers`.

        `min_gain` is the minimum number of occurrences since then.
        """
        query = {"since": since, "n": n, "min_gain": min_gain}
        return cast("dict[str, Any]", self._ask("GET", "/v1/emerging", query))

    def history(
        self, key: str, n: int = 10, *, min_count: int | None = None, top: int | None = None
    ) -> list[dict[str, Any]]:
        """Returns a word's count, rank, movement and `n` neighbors in each snapshot, oldest first, and now."""
        query = {"n": n, "min_count": min_count, "top": top}
        path = f"/v1/words/{_segment(key)}/history"
        return cast("list[dict[str, Any]]", self._ask("GET", path, query)["points"])

    def events(self, after: str | None = None) -> Generator[Event, None, None]:
        """Yields events as they happen, on a connection of its own, until the service stops.

        `after` is the id of the last event that you have: the ones since then come first, if they are still there.
        """
        headers = {"Accept": "text/event-stream"} | ({} if after is None else {"Last-Event-ID": after})
        connection = self._connect()
        try:
            response = self._send(connection, "GET", "/v1/events", None, headers)
            if response.status >= 400:
                _refuse(self.url, response.status, response.read())
            yield from _events(response)
        finally:
            connection.close()

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
        results = self._batches("/v1/vectors", "words", keys("the key", words), normalize=bool(norm))
        return np.array([result["vector"] for result in results], dtype=np.float32)

    def _nearest(
        self, kind: str, terms: list[Any], n: int, min_count: int | None, top: int | None
    ) -> list[list[tuple[str, float]]]:
        results = self._batches("/v1/neighbors", kind, terms, n=n, min_count=min_count, top=top)
        return [_pairs(result["neighbors"]) for result in results]

    def _batches(self, path: str, name: str, queries: list[Any], **options: Any) -> list[dict[str, Any]]:
        """Answers many queries, in as many requests as the limits of the service need. An error is the first one."""
        given = {option: value for option, value in options.items() if value is not None}
        n = given.get("n", 1)
        size = min(_MAX_QUERIES, max(_MAX_ANSWERS // n, 1) if isinstance(n, int) and n > 0 else 1)
        results: list[dict[str, Any]] = []
        for start in range(0, len(queries), size):
            body = json.dumps({name: queries[start : start + size], **given})
            results += self._ask("POST", path, body=body)["results"]
            for result in results[start:]:
                _raise_for(result)
        return results

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
        given = {name: value for name, value in (query or {}).items() if value is not None}
        target = f"{path}?{urlencode(given, doseq=True)}".rstrip("?")
        headers = headers or {"Content-Type": "application/json"}
        # What an iterator gave is gone, and a part of the text may have been stored.
        can_repeat = body is None or isinstance(body, str)
        deadline = time.monotonic() + self.timeout
        while True:
            status, answer, wait = self._exchange(method, target, body, headers, can_repeat)
            if status < 400:
                return json.loads(answer) if is_json else answer
            if wait is None or not can_repeat or time.monotonic() + wait > deadline:
                _refuse(self.url, status, answer)
            else:
                time.sleep(wait)

    def _exchange(
        self, method: str, target: str, body: Any, headers: dict[str, str], can_repeat: bool
    ) -> tuple[int, bytes, float | None]:
        """Returns status, answer, and the seconds after which to try again, if the service says so."""
        connection = self._take_idle()
        is_kept = connection is not None
        connection = connection or self._connect()
        try:
            response = self._send(connection, method, target, body, headers)
            answer = response.read()
        except BaseException as error:
            connection.close()
            # The service closes idle connections, and may have done so just now.
            if is_kept and can_repeat and isinstance(error, ConnectionError):
                return self._exchange(method, target, body, headers, can_repeat)
            raise
        if response.will_close:
            connection.close()
        else:
            self._idle.append(connection)
        wait = response.headers.get("Retry-After", "")
        return response.status, answer, float(wait) if wait.isdecimal() else None

    def _connect(self) -> HTTPConnection:
        # Most programs have no client, and these modules take as long to import as the rest of the package.
        import http.client

        parts = urlsplit(self.url)
        host = cast(str, parts.hostname)
        if parts.scheme == "https":
            return http.client.HTTPSConnection(host, parts.port, timeout=self.timeout)
        return http.client.HTTPConnection(host, parts.port, timeout=self.timeout)

    def _take_idle(self) -> HTTPConnection | None:
        """A connection that the service has not closed."""
        if self._process != os.getpid():
            # The connections belong to the process that this one was forked from.
            self._idle, self._process = [], os.getpid()
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            with selectors.DefaultSelector() as selector:
                selector.register(connection.sock, selectors.EVENT_READ)
                if not selector.select(0):
                    return connection
            # Nothing was asked, so there is nothing to read but the end.
            connection.close()

    def _send(
        self, connection: HTTPConnection, method: str, target: str, body: Any, headers: dict[str, str]
    ) -> HTTPResponse:
        import http.client

        path = urlsplit(self.url).path + target
        try:
            connection.request(method, path, body, self._headers | headers)
        except (BrokenPipeError, ConnectionAbortedError, ConnectionResetError) as broken:
            # A service that refuses a request does not read all of it. Its answer is there.
            try:
                response = connection.getresponse()
            except (OSError, http.client.HTTPException):
                raise broken from None
            response.will_close = True
            return response
        return connection.getresponse()


def _refuse(url: str, status: int, answer: bytes) -> None:
    """Raises the error of an answer."""
    try:
        contents = json.loads(answer)
    except ValueError:
        # It is a proxy's.
        contents = None
    if isinstance(contents, dict):
        _raise_for(contents, status)
    raise OSError(f"{url} answered with status {status}")


def _raise_for(answer: dict[str, Any], status: int = 400) -> None:
    """Raises the error of an answer, if it is one."""
    error = answer.get("error")
    if error is None:
        return
    if error["code"] == "unknown-word":
        raise UnknownWord(error["word"], tuple(error.get("suggestions") or ()))
    if status in (401, 403):
        raise PermissionError(error["message"])
    raise (ValueError if status in (400, 404, 422) else OSError)(error["message"])


def _events(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events of a stream of server-sent events."""
    fields: dict[str, str] = {}
    for line in lines:
        if text := line.decode().rstrip("\r\n"):
            # A comment has no name.
            name, _, value = text.partition(":")
            fields[name] = value.removeprefix(" ")
            continue
        if "data" in fields:
            yield Event(fields.get("event", "message"), json.loads(fields["data"]), fields.get("id"))
        fields = {}


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
