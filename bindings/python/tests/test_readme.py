"""The examples of the two READMEs, run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parents[1]
# In the project both are there; the tests of an installed package may stand elsewhere.
READMES = [path for path in (ROOT / "README.md", PACKAGE / "README.md") if path.exists()]
FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def examples() -> list[tuple[str, str]]:
    found = []
    for path in READMES:
        for number, code in enumerate(FENCE.findall(path.read_text(encoding="utf-8")), 1):
            found.append((f"{path.parent.name}-{number}", code))
    return found


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in examples()])
def test_the_example_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in re.findall(r"needs: (\w+)", code):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "example", "exec"), {"__name__": "example"})  # noqa: S102


@pytest.mark.skipif(len(READMES) < 2, reason="the READMEs are not there")
def test_there_are_examples_in_both() -> None:
    names = [name for name, _ in examples()]
    assert any(name.startswith(f"{ROOT.name}-") for name in names)
    assert any(name.startswith("python-") for name in names)
