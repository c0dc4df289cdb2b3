"""The documents at the root of the repository, as pages of the site."""

from __future__ import annotations

import re
from pathlib import Path

from links import PAGES, SECTIONS, translated


def documents(root: Path) -> dict[str, str]:
    """The pages that are made from whole documents, and those that ARCHITECTURE.md is cut into."""
    pages = {}
    for origin, page in PAGES.items():
        if origin != "README.md":
            pages[page] = translated((root / origin).read_text(encoding="utf-8"), root, origin, page)
    return pages | architecture(root)


def architecture(root: Path) -> dict[str, str]:
    """The pages of ARCHITECTURE.md. Each of its sections must be on one of them."""
    document = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    introduction, *sections = re.split(r"^## ", document, flags=re.MULTILINE)
    introduction = introduction.partition("\n")[2]
    texts = {section.partition("\n")[0]: f"## {section}" for section in sections}
    pages = {}
    for page, (title, headings) in SECTIONS.items():
        text = "".join(texts.pop(heading) for heading in headings)
        if page == "how-it-works/code.md":
            text = introduction + text
        pages[page] = f"# {title}\n\n{translated(text, root, 'ARCHITECTURE.md', page)}"
    if texts:
        raise ValueError(
            f"ARCHITECTURE.md has sections without a page: {list(texts)}; add them to docs/generate/links.py"
        )
    return pages


def tensors(root: Path) -> str:
    """The tensors of a model file, as the module that writes them documents them."""
    source = (root / "crates/skipstream/src/snapshot/mod.rs").read_text(encoding="utf-8")
    lines = re.findall(r"^//! ?(.*)$", source, re.MULTILINE)
    _, _, text = "\n".join(lines).partition("\n\n")
    return "## Tensors\n\n" + re.sub(r"\[(`[^`]*`)\]", r"\1", text) + "\n"


def pictures(root: Path) -> list[str]:
    """The pictures of the report, relative to its folder."""
    return re.findall(r"!\[[^\]]*\]\(([^)]+)\)", (root / "experiments/REPORT.md").read_text(encoding="utf-8"))
