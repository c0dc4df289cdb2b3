"""The messages of the program, as they are in its source."""

from __future__ import annotations

import re
from pathlib import Path

TEXT = r'"((?:[^"\\]|\\.)*)"'
# A variant of an error, a refusal of the command line, a line of the service's log, and a refusal of the service.
MESSAGES = [
    re.compile(start + TEXT, re.DOTALL)
    for start in (
        r"#\[error\(\s*",
        r"\b(?:bail|ensure|anyhow|warn|error)!\((?:[^\"();]|\([^()]*\))*?",
        r"\b(?:ApiError::\w+|invalid|damaged|data|Failed|problem|custom|Err)\(\s*(?:StatusCode::\w+,\s*\"[\w-]+\",\s*)?(?:format(?:_args)?!\()?\s*",
        r"\blet (?:message|problem|reason) =\s*(?:format!\()?\s*",
    )
]
# Names the limit, or what to do.
SAYS = re.compile(
    r"must |expected|at most|the limit is|which is the limit|from \d|up to \{|only \w+ can|safetensors can"
    r"|restart the service|\{advice\}|see the log|lists all"
    r"|\b(?:use|send|run|omit|create|choose|name|convert|decompress|finish|close|write|set|add) "
    r"| first\b(?! row)|--[a-z]|is supported|this program reads|train --"
)


def messages(root: Path) -> dict[str, Path]:
    """Each message with the file that it is in, without those that only pass on others."""
    found = {}
    for path in sorted((root / "crates").glob("*/src/**/*.rs")):
        if "tests" in path.parts or path.stem in ("tests", "testing"):
            continue
        source = path.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
        for pattern in MESSAGES:
            for text in pattern.findall(source):
                text = re.sub(r"\\\n\s*", "", text).replace('\\"', '"')
                if beginning(text):
                    found[text] = path
    return found


def beginning(message: str) -> str:
    """The first words of a message, from the first place where two or more of them are next to each other."""
    parts = [part.strip(" ;:,`()").split() for part in re.split(r"`?\{[^}]*\}`?", message)]
    return " ".join(next((part for part in parts if len(part) > 1), [])[:5])
