"""Checks a running service against its own OpenAPI document.

Starts the program in SKIPSTREAM (or `skipstream`) on a free port with its own data folder, sends it a small text, and
lets schemathesis send valid and invalid requests. Every response must have a status, a type and a shape from the
document, and none may be a 5xx. Arguments are passed to `schemathesis run`; for a longer run, use `--max-examples 500`.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "unsupported_method",
]

TOKEN = "schemathesis-0123456789"

# Its response never ends.
EXCLUDED = ["/v1/events"]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def ask(url, body=None):
    headers = {"Authorization": f"Bearer {TOKEN}"} | ({"Content-Type": "text/plain"} if body else {})
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=60) as answer:
        return answer.read()


def wait_until_ready(server, address):
    for _ in range(300):
        if server.poll() is not None:
            sys.exit(f"the service exited with {server.returncode} before it was ready")
        try:
            ask(f"{address}/readyz")
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    sys.exit("the service did not become ready within 30 seconds")


def run(address, arguments):
    settings = Path(__file__).with_name("schemathesis.toml")
    command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(settings)]
    command += ["run", f"{address}/openapi.json"]
    command += ["--checks", ",".join(CHECKS), "--seed", "1", "--request-timeout", "30"]
    command += ["--header", f"Authorization: Bearer {TOKEN}"]
    command += [part for path in EXCLUDED for part in ("--exclude-path", path)]
    return subprocess.run(command + arguments, check=False).returncode


def main():
    program = os.environ.get("SKIPSTREAM", "skipstream")
    arguments = sys.argv[1:] or ["--max-examples", "30"]
    with tempfile.TemporaryDirectory() as folder:
        address = f"http://127.0.0.1:{free_port()}"
        listen = address.removeprefix("http://")
        # With tokens, so that requests without one must be rejected.
        tokens = Path(folder, "tokens")
        tokens.write_text(f"admin {TOKEN}\n")
        tokens.chmod(0o600)
        command = [program, "serve", "--data", f"{folder}/data", "--listen", listen, "--tokens", str(tokens)]
        with open(f"{folder}/log", "wb") as log:
            server = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            wait_until_ready(server, address)
            text = "tea with milk\ncoffee with sugar\nking and queen\nman and woman\n" * 200
            ask(f"{address}/v1/text?wait=learned", text.encode())
            result = run(address, arguments)
            # Afterwards the service still works and shuts down cleanly.
            ask(f"{address}/v1/words/tea/neighbors")
            server.terminate()
            ended = server.wait(timeout=60)
        finally:
            server.kill()
        if result or ended:
            print(Path(f"{folder}/log").read_text(errors="replace")[-5000:], file=sys.stderr)
        sys.exit(result or ended)


if __name__ == "__main__":
    main()
