"""The service as a separate process."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path


def program() -> str:
    """The program under test."""
    try:
        return os.environ["SKIPSTREAM"]
    except KeyError:
        raise SystemExit("set SKIPSTREAM to the path of the skipstream program") from None


class Service:
    """A service on a free port of this machine, with its own data folder."""

    def __init__(self, folder: Path, *options: str, token: str | None = None) -> None:
        self.folder = folder
        self.options = options
        self.token = token
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        listen = ["--listen", f"127.0.0.1:{self.port}", "--drain-time", "0s"]
        # The log goes to a file: a pipe that nobody reads would fill up and block the service.
        with (self.folder / "service.log").open("ab") as log:
            command = [program(), "serve", "--data", str(self.folder / "data"), *listen, *self.options]
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        self.wait_until(self.is_ready)

    def stop(self) -> None:
        self.end(signal.SIGTERM)

    def kill(self) -> None:
        self.end(signal.SIGKILL)

    def end(self, how: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(timeout=30)
            self.process = None

    def is_ready(self) -> bool:
        if self.process is not None and self.process.poll() is not None:
            raise AssertionError(f"the service exited: {(self.folder / 'service.log').read_text()}")
        try:
            with urllib.request.urlopen(f"{self.address}/readyz", timeout=2):
                return True
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def ask(self, path: str, body: bytes | None = None, method: str | None = None, media_type: str = "text/plain") -> dict:
        request = urllib.request.Request(self.address + path, data=body, method=method)
        request.add_header("content-type", media_type)
        if self.token:
            request.add_header("authorization", f"Bearer {self.token}")
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.loads(answer.read() or b"null")

    def learn(self, text: str) -> dict:
        """Sends text and waits until it is learned."""
        answer = self.ask("/v1/text?wait=learned", text.encode())
        self.wait_until(lambda: self.ask(f"/v1/text/{answer['seq']}/wait?timeout=20")["learned"])
        return answer

    def keep(self, name: str) -> None:
        """Saves the current state as a snapshot."""
        self.ask("/v1/snapshots", json.dumps({"name": name}).encode(), media_type="application/json")

    @staticmethod
    def wait_until(condition, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"condition not met after {seconds} s")
            time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
