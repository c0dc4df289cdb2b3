"""Translates links between files of the repository into links between pages of the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from pymdownx.slugs import slugify

# Documents outside docs/ that are pages of the site. Those of ARCHITECTURE.md are in SECTIONS.
PAGES = {
    "CHANGELOG.md": "reference/changelog.md",
    "CONTRIBUTING.md": "how-it-works/contributing.md",
    "SECURITY.md": "operations/security.md",
    "bindings/python/README.md": "guides/python-package.md",
    "experiments/REPORT.md": "report.md",
    "README.md": "index.md",
}

# Files whose contents the program tells on pages of the reference.
TOLD = {
    "crates/skipstream-cli/src/args.rs": "reference/commands.md",
    "crates/skipstream-server/src/http/routes.rs": "reference/http.md",
    "crates/skipstream-server/src/metrics.rs": "reference/metrics.md",
}

# The pages of ARCHITECTURE.md: title, and sections.
SECTIONS = {
    "how-it-works/code.md": (
        "The code",
        ["Where to start", "One of each", "Glossary", "The flow", "The map", "Boundaries"],
    ),
    "how-it-works/learning.md": (
        "Vocabulary and learning",
        ["The vocabulary", "Phrases", "Forgetting", "Weights", "Replay", "The vectors", "Subwords"],
    ),
    "how-it-works/grid.md": ("The grid", ["The grid", "Many threads", "Several workers"]),
    "how-it-works/determinism.md": (
        "Determinism and checkpoints",
        ["Determinism", "Checkpoints and the ledger", "Positions", "Following"],
    ),
    "how-it-works/queries.md": (
        "Queries and memory",
        ["Reading a large model", "Quantized vectors", "What moved", "Memory"],
    ),
    "reference/file-format.md": ("The model file", ["The file"]),
}

FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
anchor: Callable[[str, str], str] = slugify(case="lower")


def translated(markdown: str, root: Path, origin: str, page: str) -> str:
    """The text of the file `origin` of the repository as the text of a page.

    A link to a file that is no page becomes plain text: a reader of the site may not have the repository.
    """

    def translate(match: re.Match[str]) -> str:
        picture, text, target = match.groups()
        path, _, fragment = target.partition("#")
        if ":" in path or (not path and origin != "ARCHITECTURE.md"):
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), path)) if path else origin
        place = place_of(path, fragment, root)
        if place is None:
            return text if (root / path).exists() and not picture else match[0]
        link = posixpath.relpath(place, posixpath.dirname(page) or ".")
        return f"{picture}[{text}]({link}{'#' if fragment else ''}{fragment})"

    parts = []
    end = 0
    for fence in FENCE.finditer(markdown):
        parts += [LINK.sub(translate, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, LINK.sub(translate, markdown[end:])])


def place_of(path: str, fragment: str, root: Path) -> str | None:
    """The page, or the picture, that a file of the repository is on the site."""
    if path == "ARCHITECTURE.md":
        return headings(root).get(fragment, "how-it-works/code.md")
    if path in PAGES or path in TOLD:
        return PAGES.get(path) or TOLD[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("experiments/results/") and path.endswith(".svg"):
        return path.removeprefix("experiments/")
    return None


@cache
def headings(root: Path) -> dict[str, str]:
    """The page of each heading of ARCHITECTURE.md."""
    pages = {section: page for page, (_, sections) in SECTIONS.items() for section in sections}
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    places, page = {}, "how-it-works/code.md"
    for level, heading in re.findall(r"^(##+) (.*)$", text, re.MULTILINE):
        if level == "##":
            page = pages.get(heading, page)
        places[anchor(heading, "-")] = page
    return places
