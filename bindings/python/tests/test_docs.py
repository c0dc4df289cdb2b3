"""Every public part of the package says what it is for."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import skipstream

TUTORIAL = Path(__file__).resolve().parents[1] / "tutorial" / "ten_days.py"
OPTIONAL = {"skipstream.ray": "ray", "skipstream.river": "river", "skipstream.sklearn": "sklearn"}


def modules() -> list[str]:
    found = pkgutil.walk_packages(skipstream.__path__, "skipstream.")
    return ["skipstream", *sorted(module.name for module in found)]


def load(name: str) -> ModuleType:
    package = ".".join(name.split(".")[:2])
    if package in OPTIONAL:
        pytest.importorskip(OPTIONAL[package])
    return importlib.import_module(name)


def parts(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The public classes and functions that a module defines, with the public parts of its classes."""
    for name, value in vars(module).items():
        ours = inspect.isclass(value) or inspect.isroutine(value)
        if name.startswith("_") or not ours or value.__module__ != module.__name__:
            continue
        yield name, value
        if inspect.isclass(value):
            for member, part in vars(value).items():
                kinds = (property, classmethod, staticmethod)
                if not member.startswith("_") and (inspect.isroutine(part) or isinstance(part, kinds)):
                    yield f"{name}.{member}", part


@pytest.mark.parametrize("name", modules())
def test_everything_public_has_a_docstring(name: str) -> None:
    module = load(name)
    assert module.__doc__
    for part, value in parts(module):
        text = inspect.getdoc(getattr(value, "__func__", value)) or ""
        assert text.strip(), f"{name}.{part}"
        first = text.strip().split("\n\n")[0]
        assert first.endswith((".", ":")), f"{name}.{part}: {first!r} is not a sentence"


def test_public_names_are_there() -> None:
    for name in modules():
        module = load(name)
        for public in getattr(module, "__all__", []):
            assert hasattr(module, public), f"{name}.{public}"


@pytest.mark.parametrize(
    "name", ["skipstream", "skipstream.compat", "skipstream.river", "skipstream.sklearn"]
)
def test_the_main_modules_have_examples(name: str) -> None:
    assert ">>> " in inspect.getsource(load(name))


def test_the_tutorial_is_made_of_cells() -> None:
    text = TUTORIAL.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))
    assert text.count("\n# %%") >= 10
