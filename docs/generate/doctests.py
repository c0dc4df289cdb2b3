"""Shows the examples of docstrings as code. They stand between sentences, not in a section of their own."""

from __future__ import annotations

import re
from typing import Any

import griffe

# From a prompt to the next empty line.
EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """Puts fences around the examples of each docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Changes the docstring of a class, a function or an attribute that has been loaded."""
        fence(obj)

    def on_module(self, *, mod: griffe.Module, **_: Any) -> None:
        """Changes the docstring of a module that has been loaded."""
        fence(mod)


def fence(obj: griffe.Object) -> None:
    if obj.docstring and "```pycon" not in obj.docstring.value:
        obj.docstring.value = EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
