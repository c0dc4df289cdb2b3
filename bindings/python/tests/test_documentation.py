"""The Python examples of the READMEs and of the pages in docs/, run as they are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import skipstream

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parents[1]
# In the project all are there; the tests of an installed package may be elsewhere.
READMES = [path for path in (ROOT / "README.md", PACKAGE / "README.md") if path.exists()]
PAGES = sorted((ROOT / "docs").rglob("*.md")) if READMES else []
# A block of a page, unless a comment above it gives a reason not to run it.
FENCE = re.compile(
    r"^(?P<reason><!-- not run: .+ -->\n)?```python\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL
)


def blocks(path: Path) -> list[str]:
    """The blocks that are run. In front of each there are empty lines, so that errors name the line in the file."""
    text = path.read_text(encoding="utf-8")
    found = (match for match in FENCE.finditer(text) if not match["reason"])
    return ["\n" * text.count("\n", 0, match.start("code")) + match["code"] for match in found]


def examples() -> list[tuple[str, Path, list[str]]]:
    """Examples with a name. Those of a README are on their own; those of a page continue each other."""
    found = []
    for path in READMES:
        for number, code in enumerate(blocks(path), 1):
            found.append((f"{path.parent.name}-{number}", path, [code]))
    for path in PAGES:
        if codes := blocks(path):
            found.append((path.relative_to(ROOT).as_posix(), path, codes))
    return found


@pytest.mark.parametrize(
    ("path", "codes"), [pytest.param(path, codes, id=name) for name, path, codes in examples()]
)
def test_the_example_runs(
    path: Path, codes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in re.findall(r"needs: (\w+)", "".join(codes)):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "example"}
    if path in PAGES:
        # What a reader of a guide has already.
        trainer = skipstream.Trainer(dimensions=20, subsample=0)
        trainer.train(["berlin is in germany", "paris is in france"] * 500)
        names |= {"skipstream": skipstream, "wv": trainer.embeddings()}
    for code in codes:
        exec(compile(code, str(path), "exec"), names)  # noqa: S102


@pytest.mark.skipif(len(READMES) < 2, reason="the READMEs are not there")
def test_there_are_examples_everywhere() -> None:
    names = [name for name, _, _ in examples()]
    for start in [f"{ROOT.name}-", "python-", "docs/tutorials/", "docs/guides/"]:
        assert any(name.startswith(start) for name in names), start
