"""Runs a lesson's blocks in the page: one namespace, what is printed told while it is printed."""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import json
import linecache
import sys
import traceback
import types
import warnings
from collections.abc import Callable
from typing import Any

import clock

clock.install()  # before minigrad is imported

Told = Callable[[str, str], None]  # (which stream, text)


class _Stream(io.TextIOBase):
    """A stream that hands on what is written to it."""

    def __init__(self, name: str, told: Told) -> None:
        self._name, self._told = name, told

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._told(self._name, text)
        return len(text)


class Blocks:
    """The blocks of one lesson: each is run in the namespace that those before left."""

    def __init__(self, afresh: bool = True) -> None:
        """Begin with an empty namespace, and `afresh` with a package that remembers nothing."""
        self.main = sys.modules["__main__"]
        if afresh:
            self.reset()

    def reset(self) -> None:
        """Begin again with an empty namespace and a package that remembers nothing."""
        for name in [each for each in sys.modules if each.partition(".")[0] == "minigrad"]:
            del sys.modules[name]
        self.main = types.ModuleType("__main__")
        sys.modules["__main__"] = self.main

    def execute(self, source: str, name: str, told: Told) -> str:
        """Run a block and return, as JSON, its value, pictures and error."""
        # A class or function defined here is found again by inspect and by tracebacks.
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        given = {"value": "", "svg": "", "html": "", "error": "", "traceback": ""}
        with contextlib.redirect_stdout(_Stream("out", told)), \
                contextlib.redirect_stderr(_Stream("err", told)), warnings.catch_warnings():
            warnings.simplefilter("always")
            builtins.input = _no_input
            try:
                value = self._value(source, name)
                if value is not None:
                    given["value"] = repr(value)
                    given["svg"] = _drawn(value, "_repr_svg_")
                    given["html"] = _drawn(value, "_repr_html_")
            except KeyboardInterrupt:
                given["error"] = "KeyboardInterrupt: stopped"
            except BaseException as problem:
                given["error"] = "".join(
                    traceback.format_exception_only(problem)).removesuffix("\n")
                given["traceback"] = _told_by(problem)
        return json.dumps(given)

    def _value(self, source: str, name: str) -> Any:
        tree = ast.parse(source, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), self.main.__dict__)
        if not isinstance(last, ast.Expr):
            return None
        return eval(compile(ast.Expression(last.value), name, "eval"), self.main.__dict__)


def _no_input(prompt: object = "") -> str:
    raise RuntimeError("input() waits for a keyboard, which a page has not: "
                       "write the value in the code")


def _drawn(value: Any, method: str) -> str:
    drawn = getattr(value, method, None)
    return (drawn() if callable(drawn) and not isinstance(value, type) else None) or ""


def _told_by(problem: BaseException) -> str:
    """Return a traceback without the lines of this file."""
    trace = problem.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(problem), problem, trace))
