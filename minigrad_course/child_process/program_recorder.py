"""Run a program on one engine statement by statement, and record what each statement did.

It is started in a separate process with the engine's name and the program's path.  It prints a line
of JSON after each statement, so that the record survives a crash.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import json
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


def main(engine: str, path: str) -> None:
    """Run the program at `path` on `engine`; `torch` and `minigrad` both import that engine."""
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
        error = None
        out.seek(0)
        out.truncate()
        with contextlib.redirect_stdout(out):
            try:
                code = compile(ast.Module([statement], []), path, "exec")
                exec(code, namespace)
            except BaseException as problem:
                error = "".join(traceback.format_exception_only(problem)).strip()
        values = {name: described(value, torch.Tensor) for name, value in namespace.items()
                  if not name.startswith("__")}
        record = {"line": statement.lineno, "printed": out.getvalue(), "error": error,
                  "values": {name: each for name, each in values.items() if each is not None}}
        print(json.dumps(record), file=records, flush=True)
        if error is not None:
            return


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
