"""Every message of the program says what to do, or is in the page on troubleshooting."""

from __future__ import annotations

import re

from conftest import ROOT
from messages import SAYS, beginning, messages

# Modules whose messages only complete another one, which the page has.
DETAILS = {
    "corpus/parquet/": "invalid Parquet file",
    "corpus/records/": "there is no field",
    "noise/adaptive.rs": "the model file is damaged",
    "phrases/discovery.rs": "the model file is damaged",
    "phrases/mod.rs": "the model file is damaged",
    "phrases/pairs.rs": "the model file is damaged",
    "vocabulary/documents.rs": "the model file is damaged",
    "snapshot/": "the model file is damaged",
}


def plain(text: str) -> str:
    """The text without marks and values, which differ between the source and the page."""
    return " ".join(re.sub(r"[`\\]|\{[^}]*\}|…", " ", text).split())


def test_every_message_is_explained() -> None:
    page = plain((ROOT / "docs/operations/troubleshooting.md").read_text(encoding="utf-8"))
    found = messages(ROOT)
    assert len(found) > 250
    missing = []
    for message, path in found.items():
        detail = next((start for place, start in DETAILS.items() if f"src/{place}" in path.as_posix()), None)
        if not SAYS.search(message) and plain(detail or beginning(message)) not in page:
            missing.append(f"{path.relative_to(ROOT)}: {message}")
    assert not missing, "say in the message what to do, or explain it in troubleshooting.md:\n" + "\n".join(
        missing
    )
