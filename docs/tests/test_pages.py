"""What mkdocs does not check. It checks links and anchors itself, because `strict` is set."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT

FLAGS = re.MULTILINE | re.DOTALL
PICTURE = re.compile(r"serve-(?:\w+-)?(?:desktop|phone)-(?:light|dark)\.png")


def test_every_page_needs_no_other_server(pages: dict[str, str]) -> None:
    for name, html in pages.items():
        assert not re.findall(r"<(?:script|img|iframe)[^>]* src=\"?https?:", html), name
        assert not re.findall(r"<link[^>]* rel=\"?(?:stylesheet|preconnect)[^>]*https?:", html), name


def test_lists_and_tables_are_lists_and_tables(pages: dict[str, str]) -> None:
    """A list without an empty line before it would be a paragraph, and a table with a wrong row too."""
    for name, html in pages.items():
        paragraphs = re.findall(r"<p>(.*?)</p>", html, re.DOTALL)
        broken = [text for text in paragraphs if re.search(r"^(?:- |\d\. |\|)", text, re.MULTILINE)]
        assert not broken, name


@pytest.mark.parametrize(("language", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_data_is_valid(language: str, read: Callable[[str], Any]) -> None:
    blocks = [
        block
        for path in (ROOT / "docs").rglob("*.md")
        for block in re.findall(rf"^```{language}\n(.*?)^```", path.read_text(encoding="utf-8"), FLAGS)
    ]
    assert blocks
    for block in blocks:
        assert read(block), block


def test_the_script_makes_every_screenshot(site: Path) -> None:
    script = (ROOT / "crates/skipstream-server/tests/browser/screenshots.py").read_text(encoding="utf-8")
    views = [*re.findall(r'^        "(\w*)": f?"#/', script, re.MULTILINE), "now"]
    for path in (site / "images").glob("*.png"):
        assert PICTURE.fullmatch(path.name), path
        view = path.stem.removeprefix("serve-").rpartition("-")[0].rpartition("-")[0]
        assert view in views, path
