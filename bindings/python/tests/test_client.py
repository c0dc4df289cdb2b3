"""The client, with a real service."""

from __future__ import annotations

import http.server
import itertools
import json
import os
import pickle
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skipstream import Client, UnknownWord

SENTENCES = ["a king and a queen in the palace", "a car and a bicycle on the road"] * 300


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program = os.environ.get("SKIPSTREAM")
    if not program:
        pytest.skip("SKIPSTREAM does not name the program that serves")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("service")
    settings = ["--dimensions", "10", "--subsample", "0", "--publish-every", "100ms"]
    listen = ["--data", str(folder / "data"), "--listen", f"127.0.0.1:{port}"]
    with (
        open(folder / "log", "w") as log,
        subprocess.Popen([program, "serve", *listen, *settings], stderr=log) as service,
    ):
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(address, folder / "log")
            yield address
        finally:
            service.terminate()


def wait_for(address: str, log: Path) -> None:
    for _ in range(300):
        try:
            Client(address).stats()
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail(log.read_text())


@pytest.fixture(scope="module")
def client(address: str) -> Client:
    client = Client(address)
    assert client.train(iter(SENTENCES)) == len(SENTENCES)
    return client


def test_answers_are_those_of_the_downloaded_vectors(client: Client) -> None:
    wv = client.embeddings()
    assert len(client) == len(wv) == 11
    assert len(client.embeddings(top=3)) == 3
    assert "king" in client and "cocoa" not in client and 5 not in client
    np.testing.assert_allclose(client["king"], wv["king"], rtol=1e-6)
    np.testing.assert_allclose(client[["king", "car"]], wv[["king", "car"]], rtol=1e-6)
    np.testing.assert_allclose(
        client.get_vector("king", norm=True), wv.get_vector("king", norm=True), rtol=1e-5
    )
    assert client.get_vecattr("king", "count") == wv.get_vecattr("king", "count") == 300
    assert client.similarity("king", "queen") == pytest.approx(wv.similarity("king", "queen"), abs=1e-6)
    assert client.distance("king", "queen") == pytest.approx(wv.distance("king", "queen"), abs=1e-6)
    words = ["king", "queen", "palace", "road"]
    assert client.doesnt_match(words) == wv.doesnt_match(words)
    for mine, theirs in [
        (client.neighbors("king", 3), wv.neighbors("king", 3)),
        (client.most_similar("king", topn=3), wv.most_similar("king", topn=3)),
        (client.most_similar(["king", "road"], ["car"], 4), wv.most_similar(["king", "road"], ["car"], 4)),
        (client.analogy("king", "queen", "car", 3), wv.analogy("king", "queen", "car", 3)),
        (client.analogy("queen - king + car", n=3), wv.analogy("queen - king + car", n=3)),
        (client.neighbors("king", top=4), wv.neighbors("king", top=4)),
        (client.neighbors("king", min_count=600), wv.neighbors("king", min_count=600)),
    ]:
        assert [word for word, _ in mine] == [word for word, _ in theirs]
        np.testing.assert_allclose([score for _, score in mine], [score for _, score in theirs], atol=1e-5)


def test_what_comes_next_needs_joined_vectors(client: Client) -> None:
    with pytest.raises(ValueError, match="was started with --vectors joined"):
        client.predict_next(["king", "queen"], 3)


def test_the_example_of_the_readme(client: Client, address: str) -> None:
    readme = Path(__file__).resolve().parents[1] / "README.md"
    if not readme.exists():
        pytest.skip("the README is not there")
    blocks = readme.read_text(encoding="utf-8").split("```python\n")
    (code,) = [block.split("```")[0] for block in blocks if block.startswith("# needs: service")]
    exec(code.replace("http://127.0.0.1:8321", address), {})  # noqa: S102


def test_text_of_all_kinds_is_learned(client: Client) -> None:
    assert client.train([["new", "words"], "two\nlines", "naïve 日本"]) == 3
    assert all(word in client for word in ("new", "lines", "naïve", "日本"))
    before = client.stats()["logged"]
    assert client.train([], wait=False) == 0
    assert client.train(["later"], wait=False) == 1
    assert client.stats()["logged"] == before + 1


def test_errors_are_those_of_embeddings(client: Client, address: str) -> None:
    for ask in (
        lambda: client["kign"],
        lambda: client.neighbors("kign"),
        lambda: client.similarity("king", "kign"),
        lambda: client.get_vecattr("kign", "count"),
    ):
        with pytest.raises(UnknownWord) as caught:
            ask()
        assert caught.value.word == "kign"
    assert "king" in caught.value.suggestions
    with pytest.raises(ValueError, match="from 1 to 1000"):
        client.neighbors("king", n=0)
    with pytest.raises(ValueError, match="name at least one word"):
        client.most_similar()
    with pytest.raises(TypeError, match="put it into a list"):
        client.train("one string")
    with pytest.raises(ValueError, match="must be an address"):
        Client("localhost:8321")
    with pytest.raises(OSError):
        Client("http://127.0.0.1:1").stats()
    assert repr(client) == f"<skipstream.Client: {address}>"


@pytest.mark.parametrize(
    ("status", "code", "raised"),
    [(401, "unauthorized", PermissionError), (413, "too-large", OSError), (400, "bad-request", ValueError)],
)
def test_a_refusal_is_raised_while_text_is_still_being_sent(
    status: int, code: str, raised: type[Exception]
) -> None:
    body = json.dumps({"error": {"code": code, "message": "it is refused"}})
    answer = f"HTTP/1.1 {status} No\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    with refusing(answer) as address, pytest.raises(raised, match="it is refused"):
        Client(address).train("tea " * 1_000 for _ in range(20_000))


def test_a_connection_that_breaks_without_an_answer_is_an_error() -> None:
    with refusing("") as address, pytest.raises(ConnectionError):
        Client(address).train("tea " * 1_000 for _ in range(20_000))


@contextmanager
def refusing(answer: str) -> Iterator[str]:
    """Serves one request with this answer, and closes the connection without reading the body."""

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1_000)
            connection.sendall(answer.encode())

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


def test_batches_are_answered_as_embeddings_answer_them(client: Client) -> None:
    # No version is published meanwhile: what other tests sent is learned.
    client.train(["a last sentence"])
    wv = client.embeddings()
    # More than the service takes in a request.
    many = ["king", "road", "car"] * 400
    assert client[many].shape == (1200, 10)
    for words, n in [(many, 2), (["king", "car"], 100), ([], 3)]:
        mine, theirs = client.neighbors(words, n=n), wv.neighbors(words, n=n)
        assert mine.words.tolist() == theirs.words.tolist()
        np.testing.assert_allclose(mine.similarities, theirs.similarities, atol=1e-5)
    cosines = client.similarity(many, many[1:] + many[:1])
    np.testing.assert_allclose(cosines, wv.similarity(many, many[1:] + many[:1]), atol=1e-6)
    np.testing.assert_allclose(client.distance(["king"], ["king"]), [0.0], atol=1e-6)
    with pytest.raises(ValueError, match="w1 has 1 words and w2 2"):
        client.similarity(["king"], ["king", "car"])
    with pytest.raises(UnknownWord) as caught:
        client.neighbors([*many, "kign"])
    assert caught.value.word == "kign"


def test_what_changed(client: Client) -> None:
    assert client.snapshots() == []
    moved = client.movers(since="1h", n=3)
    assert (moved["movers"], moved["since"]) == ([], None)
    emerging = client.emerging(since="1h", n=3, min_gain=2)
    assert emerging["words"] == [] and emerging["since"]["name"] is None
    (point,) = client.history("king", n=2)
    assert point["known"] and len(point["neighbors"]) == 2
    with pytest.raises(UnknownWord, match="kign"):
        client.history("kign")
    with pytest.raises(ValueError, match="there is no snapshot with this name"):
        client.movers(since="yesterday")


def test_events_come_as_they_happen(client: Client) -> None:
    events = client.events()
    assert next(events).name == "progress"
    client.train(["yet another sentence"])
    last = client.stats()["snapshot"]["seq"]
    published = next(event for event in events if event.name == "published" and event.data["seq"] == last)
    assert published.id is not None
    events.close()
    client.train(["one more sentence"])
    (later,) = itertools.islice((event for event in client.events(published.id) if event.id), 1)
    assert later.id is not None and later.id != published.id


class Stub(http.server.ThreadingHTTPServer):
    """A service that gives prepared answers, and counts connections and requests."""

    def __init__(self, answers: list[tuple[int, dict[str, str], Any]]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = answers
        self.connections = 0
        self.requests: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Stub

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append(self.path)
        status, headers, body = self.server.answers.pop(0) if self.server.answers else (200, {}, {})
        answer = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        # An idle connection that is closed without notice.
        self.close_connection |= headers.get("X-Then") == "close"

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def stub() -> Iterator[Callable[..., Stub]]:
    stubs: list[Stub] = []

    def start(*answers: tuple[int, dict[str, str], Any]) -> Stub:
        stubs.append(Stub(list(answers)))
        return stubs[-1]

    yield start
    for stub in stubs:
        stub.shutdown()
        stub.server_close()


def test_a_connection_is_kept(stub: Callable[..., Stub]) -> None:
    service = stub()
    client = Client(service.url)
    for _ in range(5):
        client.stats()
    assert (service.connections, len(service.requests)) == (1, 5)
    # A copy in another process has connections of its own.
    pickle.loads(pickle.dumps(client)).stats()
    assert (service.connections, len(service.requests)) == (2, 6)


def test_threads_share_a_client_but_not_a_connection(stub: Callable[..., Stub]) -> None:
    service = stub(*[(200, {}, {"number": number}) for number in range(200)])
    client = Client(service.url)
    found: list[int] = []

    def ask() -> None:
        found.extend(client.stats()["number"] for _ in range(25))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(200))
    assert 1 <= service.connections <= 8


def test_a_connection_that_the_service_closed_is_replaced(stub: Callable[..., Stub]) -> None:
    service = stub((200, {"X-Then": "close"}, {}))
    client = Client(service.url)
    client.stats()
    client.stats()
    assert (service.connections, len(service.requests)) == (2, 2)


def test_a_busy_service_is_asked_again_when_it_says(stub: Callable[..., Stub]) -> None:
    busy = {"error": {"code": "busy", "message": "9 queries are waiting; the limit is 9"}}
    service = stub(
        (503, {"Retry-After": "1"}, busy), (429, {"Retry-After": "0"}, busy), (200, {}, {"ready": True})
    )
    began = time.monotonic()
    assert Client(service.url).stats() == {"ready": True}
    assert time.monotonic() - began >= 1
    assert len(service.requests) == 3


def test_a_busy_service_is_not_waited_for_longer_than_the_timeout(stub: Callable[..., Stub]) -> None:
    busy = {"error": {"code": "busy", "message": "9 queries are waiting; the limit is 9"}}
    service = stub((503, {"Retry-After": "3600"}, busy), (503, {}, busy), (503, {"Retry-After": "0"}, busy))
    client = Client(service.url, timeout=30)
    for ask in (client.stats, client.stats, lambda: client.train(iter(["text"]))):
        with pytest.raises(OSError, match="9 queries are waiting"):
            ask()
    assert len(service.requests) == 3


def test_a_word_is_taken_from_its_field(stub: Callable[..., Stub]) -> None:
    error = {"code": "unknown-word", "message": "nobody here", "word": "a`b", "suggestions": ["ab"]}
    service = stub((404, {}, {"error": error}), (502, {}, b"<h1>Bad gateway</h1>"))
    client = Client(service.url)
    with pytest.raises(UnknownWord) as caught:
        client.similarity("a`b", "b")
    assert (caught.value.word, caught.value.suggestions) == ("a`b", ("ab",))
    with pytest.raises(OSError, match="answered with status 502"):
        client.stats()
