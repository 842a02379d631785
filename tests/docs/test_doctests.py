"""Every `>>>` example: in the modules, and under the names that the package hands out.

Functions and methods made from ops carry their op's docstring.  A reader meets it with nothing
imported, so it runs a second time with nothing at hand.
"""

from __future__ import annotations

import ast
import doctest
import functools
import importlib
import importlib.util
import linecache
import os
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest

import minigrad
import minigrad_course
from minigrad.op.publish import FUNCTIONS
from minigrad.ops import load_all
from minigrad.tensor.tensor import Tensor

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
#: Modules that need what may not be installed.
OPTIONAL = {"minigrad.backend.cupy": "cupy", "minigrad_course": "rich", "minigrad.viz": "numpy"}


def modules() -> Iterator[str]:
    yield "minigrad"
    packages = [*pkgutil.walk_packages(minigrad.__path__, "minigrad."),
                *pkgutil.walk_packages(minigrad_course.__path__, "minigrad_course.")]
    for found in packages:
        needs = [n for prefix, n in OPTIONAL.items() if found.name.startswith(prefix)]
        if not found.name.endswith("__main__") and all(map(importlib.util.find_spec, needs)):
            yield found.name


def documented() -> dict[str, str]:
    """Return the docstrings that belong to published names, each under the first of them."""
    load_all()
    found: dict[str, str] = {}
    for prefix, namespace in (("", FUNCTIONS), ("Tensor.", vars(Tensor))):
        for name, value in sorted(namespace.items()):
            text = getattr(value, "__doc__", None)
            if isinstance(text, str) and ">>>" in text and text not in found.values():
                found[prefix + name] = text
    return found


PUBLISHED = documented()


class Finder(doctest.DocTestFinder):
    """Finds a file's own classes where these go by the module that they have in PyTorch."""

    def _from_module(self, module, value):
        return super()._from_module(module, value) or (
            isinstance(value, type) and vars(module).get(value.__name__) is value
            and value.__name__ in classes_written_in(module))


@functools.cache
def classes_written_in(module) -> set[str]:
    """Return the names of the classes that a module's file makes, by a body or by a call."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    called = [node.targets[0] for node in tree.body
              if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef)} | {
        target.id for target in called if isinstance(target, ast.Name)}


@pytest.fixture(autouse=True)
def files_do_not_change(monkeypatch):
    """Spare `doctest` a look at every file whose lines are cached, once for each docstring."""
    monkeypatch.setattr(linecache, "checkcache", lambda filename=None: None)


def run(test: doctest.DocTest) -> None:
    """Run one docstring's examples in order; what differs is shown as `doctest` shows it."""
    shown: list[str] = []
    before = minigrad.get_default_dtype()
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=shown.append, clear_globs=True)
    assert minigrad.get_default_dtype() is before, "the example leaves another default dtype"
    assert minigrad.is_grad_enabled(), "the example leaves grad mode switched off"
    assert not shown, "".join(shown)


def examples_in(name: str) -> list[doctest.DocTest]:
    """Return the tests of a module, one for each docstring."""
    module = importlib.import_module(name)
    finder = Finder(recurse=name != "minigrad")  # whose functions come below
    return finder.find(module, name, extraglobs={"numpy": numpy})


@pytest.mark.parametrize("name", sorted(modules()))
def test_module(name):
    if name.startswith("minigrad.codegen.") and os.environ.get("MINIGRAD_GENERIC") == "1":
        pytest.skip("codegen/ is switched off")
    for test in examples_in(name):
        run(test)


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_published(name):
    # What `torch` has in `torch.nn.functional` alone is published, but not in the package itself.
    hidden = {n: f for n, f in FUNCTIONS.items() if not hasattr(minigrad, n)}
    run(doctest.DocTestParser().get_doctest(PUBLISHED[name], hidden, name, None, None))


def test_every_public_function_has_an_example():
    without = [name for name, value in FUNCTIONS.items() if ">>>" not in (value.__doc__ or "")]
    assert not without, f"no example: {sorted(without)}"


def test_a_wrong_example_is_found():
    with pytest.raises(AssertionError, match=r"Expected:\n +3\n *Got:\n +2"):
        run(doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None))
