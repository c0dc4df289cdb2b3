"""The client, with a real service."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
