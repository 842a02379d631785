"""Run a program on one engine statement by statement, and record what each statement did.

It is started in a separate process with the engine's name, the program's path and the program's
arguments.  It prints a line of JSON after each statement, so that the record survives a crash.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import json
import os
import sys
import traceback
from typing import Any


def described(value: Any, tensor: type) -> Any:
    """Return the facts to compare about a value, or `None` for a type that is not compared."""
    if isinstance(value, tensor):
        found: Any = value
        return {
            "shape": list(found.shape), "dtype": str(found.dtype).replace("minigrad.", "torch."),
            "requires_grad": found.requires_grad, "is_leaf": found.is_leaf,
            "grad_fn": None if found.grad_fn is None else found.grad_fn.name(),
            "values": found.detach().tolist(),
            "grad": None if not found.is_leaf or found.grad is None else found.grad.tolist(),
        }
    if isinstance(value, bool | int | float | str | type(None)):
        return value
    if isinstance(value, list | tuple):
        return [described(each, tensor) for each in value]
    return None


def main(engine: str, path: str, arguments: list[str]) -> None:
    """Run the program at `path` on `engine`; `torch` and `minigrad` both import that engine."""
    sys.argv = [path, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    torch = importlib.import_module(engine)
    if engine != "torch":
        torch.as_torch()
    else:
        sys.modules["minigrad"] = torch
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read(), path)
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": path}
    records, out = sys.stdout, io.StringIO()
    for statement in tree.body:
        error = ended = None
        out.seek(0)
        out.truncate()
        with contextlib.redirect_stdout(out):
            try:
                code = compile(ast.Module([statement], []), path, "exec")
                exec(code, namespace)
            except BaseException as problem:
                error = "".join(traceback.format_exception_only(problem)).strip()
                ended = last_line(problem, path)
        values = {name: described(value, torch.Tensor) for name, value in namespace.items()
                  if not name.startswith("__")}
        record = {"line": statement.lineno, "of": len(tree.body), "printed": out.getvalue(),
                  "error": error, "ended": ended,
                  "values": {name: each for name, each in values.items() if each is not None}}
        print(json.dumps(record), file=records, flush=True)
        if error is not None:
            return


def last_line(problem: BaseException, path: str) -> int | None:
    """Return the innermost line of the program that an exception passed through."""
    lines = [each.lineno for each in traceback.extract_tb(problem.__traceback__)
             if each.filename == path]
    return lines[-1] if lines else getattr(problem, "lineno", None)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
