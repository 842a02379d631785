"""Run the code blocks of a lesson like a notebook: a JSON list of sources in, results out."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
import sys
import traceback
import types
import warnings
from typing import Any


def execute(sources: list[str]) -> list[dict[str, str]]:
    """Execute sources in one namespace; each result has the printed text, a value and an error.

    >>> execute(["x = 2", "print(x)", "x + 1"])[2]["value"]
    '3'
    """
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    return [execute_one(source, f"<block {number}>", main.__dict__)
            for number, source in enumerate(sources, 1)]


def execute_one(source: str, name: str, namespace: dict[str, Any]) -> dict[str, str]:
    """Execute a source in a namespace; return what it printed, its value and its error."""
    # Let inspect and tracebacks find the source of the functions defined here.
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    printed, value, error, trace = io.StringIO(), "", "", ""
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()), \
            warnings.catch_warnings():
        warnings.simplefilter("always")
        try:
            tree = ast.parse(source, name)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, name, "exec"), namespace)
            if isinstance(last, ast.Expr):
                result = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
                value = "" if result is None else repr(result)
        except (Exception, KeyboardInterrupt) as problem:
            error = "".join(traceback.format_exception_only(problem)).removesuffix("\n")
            trace = traceback.format_exc()
    return {"printed": printed.getvalue(), "value": value, "error": error, "traceback": trace}


if __name__ == "__main__":
    results = execute(json.load(sys.stdin))
    json.dump(results, sys.stdout)
