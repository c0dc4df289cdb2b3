"""The built site, which `cargo xtask site` names in SITE."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site() -> Path:
    return Path(os.environ["SITE"])


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[str, str]:
    """The text of each page of HTML, by its path."""
    return {
        path.relative_to(site).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(site.rglob("*.html"))
        if path.name != "404.html"
    }
