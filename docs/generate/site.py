"""The hook of the site: it adds the pages that are not in docs/, and translates links."""

from __future__ import annotations

import re
from pathlib import Path

import program
import running
from documents import documents, pictures, tensors
from links import translated
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]

SHOWN = re.compile(r"^<!-- file: (?P<path>\S+) -->$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the documents at the root of the repository, and the pages that the program tells."""
    pages = documents(ROOT) | running.pages()
    pages["reference/file-format.md"] += tensors(ROOT)
    pages["reference/commands.md"] = program.commands()
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    for picture in pictures(ROOT):
        files.append(File(picture, str(ROOT / "experiments"), config.site_dir, config.use_directory_urls))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Translates the links of a page in docs/, which lead to files of the repository.

    Tables are filled, and files of the repository shown.
    """
    if page.file.generated_by:
        return markdown
    if "<!-- table: " in markdown:
        for name, table in program.sizes().items():
            markdown = markdown.replace(f"<!-- table: {name} -->", table)
    markdown = SHOWN.sub(lambda match: shown(match["path"]), markdown)
    return translated(markdown, ROOT, f"docs/{page.file.src_uri}", page.file.src_uri)


def shown(path: str) -> str:
    """A file of the repository as a block."""
    return (
        f"```{Path(path).suffix.removeprefix('.')}\n{(ROOT / path).read_text(encoding='utf-8').rstrip()}\n```"
    )
