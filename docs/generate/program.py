"""What the program tells: its help, and the memory that it needs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

COMMAND = re.compile(r"^  ([a-z][a-z-]*)  +\S", re.MULTILINE)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the program, which must succeed."""
    program = os.environ.get("SKIPSTREAM")
    if not program:
        raise SystemExit("set SKIPSTREAM to the path of the program, or run `cargo xtask site`")
    command = [program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)


def commands() -> str:
    """A page with the help of every command."""
    page = ["# Commands", "What `skipstream COMMAND --help` prints."]

    def add(command: list[str]) -> None:
        text = run(*command, "--help").stdout.rstrip()
        heading = "#" * max(2, len(command) + 1)
        page.append(f"{heading} {' '.join(['skipstream', *command])}\n\n```text\n{text}\n```")
        listed = re.search(r"^Commands:\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
        for name in COMMAND.findall(listed[1] if listed else ""):
            if name != "help":
                add([*command, name])

    add([])
    return "\n\n".join(page)


def sizes() -> dict[str, str]:
    """The tables of the page on sizes: the bounds on memory that the program computes."""
    dimensions = (100, 200, 300)
    head = [f"{each} dimensions" for each in dimensions]
    memory = [
        [f"{words:,}", *(megabytes(bound(words, each)["memory"]) for each in dimensions)]
        for words in (30_000, 100_000, 300_000, 1_000_000, 3_000_000)
    ]
    words = [
        [limit, *(f"{bound(limit, each)['settings']['max_vocabulary']:,}" for each in dimensions)]
        for limit in ("500M", "1G", "2G", "8G")
    ]
    default = bound(100_000, 100)
    parts = [[name, megabytes(size)] for name, size in default["memory_bound"].items() if size]
    parts.append(["all", megabytes(default["memory"])])
    return {
        "memory": table(["words", *head], memory),
        "words": table(["memory", *head], words),
        "parts": table(["part", "at most"], parts),
    }


def bound(words: int | str, dimensions: int) -> dict[str, Any]:
    """What training says when it starts, with a number of words or a limit on memory."""
    limit = ["--max-vocabulary", str(words)] if isinstance(words, int) else ["--memory", words]
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "text")
        text.write_text("one two three\n", encoding="utf-8")
        model = ["--model", f"{folder}/model.safetensors", "--dimensions", str(dimensions)]
        log = run("train", *model, *limit, "--threads", "1", "--log-json", str(text)).stderr
    return json.loads(log.splitlines()[0])


def megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table with numbers, aligned to the right."""
    lines = [head, ["--:"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
