"""What mkdocstrings reads: docstrings with blocks of code, and signatures of constructors."""

from __future__ import annotations

import ast
import sys
import textwrap
from functools import partial
from pathlib import Path
from typing import Any

import griffe

sys.path.insert(0, str(Path(__file__).parent))
from examples import complete
from prose import fenced

sys.path.pop(0)

VARIADIC = (griffe.ParameterKind.var_positional, griffe.ParameterKind.var_keyword)


class Examples(griffe.Extension):
    """Puts `>>>` examples into blocks, with all that they import."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Change an object's docstring; what pages tell is in modules that are imported."""
        if obj.docstring is not None:
            text, module = obj.docstring.value, sys.modules.get(obj.module.path)
            obj.docstring.value = fenced(complete(text, module) if module else text)


class Signatures(griffe.Extension):
    """Gives each class the signature of its constructor, and says nothing where a type is `Any`."""

    def on_function(self, *, func: griffe.Function, **kwargs: Any) -> None:
        """Take `Any` out of a function's signature."""
        for each in func.parameters:
            if str(each.annotation) == "Any":
                each.annotation = None
        if str(func.returns) == "Any":
            func.returns = None

    def on_class(self, *, cls: griffe.Class, **kwargs: Any) -> None:
        """Let a class's template ask for its constructor, when all bases are known."""
        cls.extra["minigrad"]["constructor"] = partial(constructor, cls)


def constructor(cls: griffe.Class) -> griffe.Function | None:
    """Return how a class is made, under its name; None where that takes no arguments."""
    classes = [cls, *cls.mro()]
    arguments = [each for each in _arguments(classes) if not each.name.startswith("_")]
    inherited = _own(cls) is None
    if not arguments or (inherited and all(each.kind in VARIADIC for each in arguments)):
        return None
    return griffe.Function(cls.name, parameters=griffe.Parameters(*arguments), parent=cls.parent)


def _own(cls: griffe.Class) -> Any:
    return cls.members.get("__init__") or cls.members.get("__new__")


def _arguments(classes: list[griffe.Class]) -> list[griffe.Parameter]:
    """Return the arguments of the first constructor, and those that it hands to the next."""
    for place, cls in enumerate(classes):
        made = _own(cls)
        if made is not None:
            given = list(made.parameters)[1:]
            handed = _handed_on(made)
            if handed is None:
                return given
            return ([each for each in given if each.kind not in VARIADIC]
                    + _arguments(classes[place + 1:])[handed:])
    return []


def _handed_on(made: griffe.Function) -> int | None:
    """Return how many arguments stand before `*args` where they are handed to the next class."""
    for node in ast.walk(ast.parse(textwrap.dedent(made.source))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"super().{made.name}":
            starred = [isinstance(each, ast.Starred) for each in node.args]
            if any(starred):
                return starred.index(True)
    return None
