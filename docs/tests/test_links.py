"""The links of the repository's own documents, which are read without the site. mkdocs checks those of the site."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT
from pymdownx.slugs import slugify

FOLDERS = ["bindings", "crates", "deploy", "docs", "experiments", "packaging", "texts"]
FOUND = [*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))]
DOCUMENTS = [path.relative_to(ROOT).as_posix() for path in sorted(FOUND) if "node_modules" not in path.parts]
FENCE = re.compile(r"^( *)```.*?^\1``` *$", re.MULTILINE | re.DOTALL)
anchor = slugify(case="lower")


def text_of(path: Path) -> str:
    """The document without its blocks of code."""
    return FENCE.sub("", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_leads_somewhere(name: str) -> None:
    path = ROOT / name
    for target in re.findall(r"\]\(([^()\s]+)\)", text_of(path)):
        if re.match(r"[a-z]+:", target):
            continue
        place, _, fragment = target.partition("#")
        file = (path.parent / place).resolve() if place else path
        if file.is_relative_to(ROOT / "docs") and not file.exists():
            continue  # A page that the site generates: mkdocs checks it.
        assert file.exists(), f"{name}: {target}"
        if fragment and file.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", text_of(file), re.MULTILINE)
            assert fragment in [anchor(re.sub(r"[`*]|\]\([^)]*\)", "", each), "-") for each in headings], (
                f"{name}: {target}"
            )
