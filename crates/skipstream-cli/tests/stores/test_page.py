"""The page docs/guides/vector-stores.md, and the examples in the help: their commands and programs are run."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Skipstream, text
from servers import PASSWORD, Postgres

PAGE = Path(__file__).parents[4] / "docs/guides/vector-stores.md"
WORDS = ["berlin", "germany", "paris", "france", *(f"word{number}" for number in range(40))]


def blocks(title):
    """The languages and contents of the blocks of a section."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"```(sh|sql|python)\n(.*?)```", section, re.DOTALL)


def shell(skipstream, line):
    folder = Path(os.environ["SKIPSTREAM"]).parent
    path = f"{folder}:{os.environ['PATH']}"
    environment = {**skipstream.environment, "PATH": path}
    subprocess.run(["bash", "-euc", line], check=True, cwd=skipstream.folder, env=environment, timeout=60)


def python(skipstream, program):
    """What a program prints."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, cwd=skipstream.folder, capture_output=True, text=True, timeout=60)
    return [line.split()[0] for line in done.stdout.splitlines()]


def neighbors(skipstream, *options):
    """The neighbors of berlin."""
    answer = skipstream("neighbors", "--model", "m.safetensors", "--min-count", 0, "--json", *options, "berlin")
    answer = json.loads(answer)
    answer = answer[0] if isinstance(answer, list) else answer
    return [near["word"] for near in answer["neighbors"]]


def test_the_stores_of_the_page(skipstream, store):
    skipstream.train("m.safetensors", text(WORDS, 500, 1))
    found = 0
    for language, block in blocks("pgvector" if isinstance(store, Postgres) else "Qdrant"):
        block = block.replace("localhost:5432", f"127.0.0.1:{store.port}")
        block = block.replace("http://localhost:6333", f"http://127.0.0.1:{store.port}")
        if language == "sh":
            shell(skipstream, block)
        elif language == "sql":
            rows = store.sql(block)
            if rows:
                assert [row[0] for row in rows] == neighbors(skipstream)
                found += 1
        else:
            # The server of this test wants a key.
            program = block.replace(f':{store.port}"', f':{store.port}", api_key="{PASSWORD}"')
            assert python(skipstream, program) == neighbors(skipstream)
            found += 1
    assert found == 1


def test_the_examples_of_the_help(skipstream, store):
    skipstream.train("m.safetensors", text(WORDS, 500, 1))
    mine, port = (":5432", "5432") if isinstance(store, Postgres) else ("http://localhost:6333", "6333")
    lines = skipstream("sync", "--help").split("Examples:\n")[1].splitlines()
    lines = [line.strip() for line in lines if line.strip().startswith("skipstream") and mine in line]
    assert lines
    for line in lines:
        line = line.replace(f":{port}", f":{store.port}")
        # One example follows the file until it is stopped.
        line = f"timeout --signal INT 2 {line} || [ $? = 124 ]" if "--every" in line else line
        shell(skipstream, line)


@pytest.mark.parametrize("vectors", ["joined", "target"])
def test_faiss(tmp_path, vectors):
    skipstream = Skipstream(tmp_path, {})
    skipstream.train("m.safetensors", text(WORDS, 500, 1))
    [(_, export), (_, program)] = blocks("FAISS")
    shell(skipstream, export.replace("export", f"export --vectors {vectors}"))
    assert python(skipstream, program) == neighbors(skipstream, "--vectors", vectors)
