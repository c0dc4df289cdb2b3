"""The links of the repository's own documents, which are read without the site. mkdocs checks those of the site, which
docs/generate/links.py translates."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from pymdownx.slugs import slugify

sys.path.append(str(ROOT / "docs/generate"))
from links import TOLD, translated

FOLDERS = ["bindings", "crates", "deploy", "docs", "experiments", "packaging", "texts"]
FOUND = [*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))]
DOCUMENTS = [path.relative_to(ROOT).as_posix() for path in sorted(FOUND) if "node_modules" not in path.parts]
FENCE = re.compile(r"^( *)```.*?^\1``` *$", re.MULTILINE | re.DOTALL)
anchor = slugify(case="lower")


def text_of(path: Path) -> str:
    """The document without its blocks of code."""
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def broken(path: Path) -> list[str]:
    """The links of a document that lead nowhere: to a file or a heading that does not exist. Links to other servers are not
    followed."""
    found = []
    for target in re.findall(r"\]\(([^()\s]+)\)", text_of(path)):
        place, _, fragment = target.partition("#")
        file = (path.parent / place).resolve() if place else path
        if re.match(r"[a-z]+:", target) or (file.exists() and not (fragment and file.suffix == ".md")):
            continue
        headings = re.findall(r"^#+ (.*)$", text_of(file), re.MULTILINE) if file.exists() else []
        if fragment not in [anchor(re.sub(r"[`*]|\]\([^)]*\)", "", each), "-") for each in headings]:
            found.append(target)
    return found


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_leads_somewhere(name: str) -> None:
    assert broken(ROOT / name) == []


def test_a_broken_link_and_a_stale_one_are_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# Other\n\n## A `new` name\n", encoding="utf-8")
    good = (
        "[a](other.md) [b](other.md#a-new-name) [c](#here) [d](https://example.com/none) [e](links.md#here)"
    )
    bad = "[f](none.md) [g](other.md#an-old-name) [h](#nowhere) [i](../reference/none.md#here)"
    document = tmp_path / "links.md"
    document.write_text(f"# Here\n\n{good}\n{bad}\n```sh\n[j](none)\n```\n", encoding="utf-8")
    assert broken(document) == ["none.md", "other.md#an-old-name", "#nowhere", "../reference/none.md#here"]


def test_what_the_program_tells_has_a_page_and_a_file() -> None:
    pages = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for file, page in TOLD.items():
        assert (ROOT / file).is_file() and f"- {page}\n" in pages, file
        link = translated(f"[it](../../{file})", ROOT, "docs/guides/items.md", "guides/items.md")
        assert link == f"[it](../{page})"
