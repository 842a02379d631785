"""A function that a docstring or a comment names by its module exists."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "minigrad"
CALL = re.compile(r"`([a-z_]\w*)\.([a-z_]\w*)\(\)`")
MODULES = {path.stem if path.is_file() else path.name for path in PACKAGE.iterdir()}


def named_functions() -> list[tuple[str, str]]:
    """Return each `module.function()` in backquotes, with the module that it begins with.

    Variables are often called `op` or `tensor`; what follows those is a method.
    """
    found = {pair for path in PACKAGE.rglob("*.py")
             for pair in CALL.findall(path.read_text(encoding="utf-8"))}
    return sorted(pair for pair in found if pair[0] in MODULES - {"op", "tensor"})


@pytest.mark.parametrize(("module", "function"), named_functions())
def test_a_named_function_exists(module, function):
    assert hasattr(importlib.import_module(f"minigrad.{module}"), function)


def test_the_function_that_loads_cupy_is_among_them():
    assert ("backend", "load_cuda") in named_functions()
