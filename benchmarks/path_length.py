"""How much code runs from `x * y` to `x.grad`: calls, files, and lines of the functions entered.

    python benchmarks/path_length.py            # what runs by default, generated functions included
    python benchmarks/path_length.py --generic  # the taught functions alone

Lines are those with code in them: no comments, no docstrings.  A statement of generated text counts
as the lines that it has, and a function counts whole, whichever of its lines ran.
"""

from __future__ import annotations

import argparse
import ast
import linecache
import os
import sys
from pathlib import Path
from types import CodeType, FrameType


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--generic", action="store_true", help="the taught functions alone")
    if options.parse_args().generic:
        os.environ["MINIGRAD_GENERIC"] = "1"
    import minigrad as torch

    package = str(Path(torch.__file__).parent)
    calls: list[CodeType] = []

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(package):
            calls.append(frame.f_code)

    for traced in (False, False, True):  # what is set up once, at the first call, is not counted
        x, y = (torch.tensor([1.0, 2.0, 3.0], requires_grad=True) for _ in range(2))
        sys.setprofile(count if traced else None)
        try:
            (x * y).sum().backward()
        finally:
            sys.setprofile(None)
    entered = set(calls)
    files = {code.co_filename for code in entered}
    lines = sum(map(lines_of, entered))
    print(f"{len(calls)} calls in {len(files)} files; {lines} lines in {len(entered)} functions")


def lines_of(code: CodeType) -> int:
    """Count the lines of a function that have code in them; a comprehension is its function's."""
    text = "".join(linecache.getlines(code.co_filename))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            if first == code.co_firstlineno:
                lines = {each.lineno for each in ast.walk(node) if hasattr(each, "lineno")}
                return len(lines - lines_of_docstring(node))
    return 0


def lines_of_docstring(node: ast.FunctionDef | ast.Lambda) -> set[int]:
    """Return the numbers of the lines that a function's docstring has."""
    if isinstance(node, ast.Lambda) or ast.get_docstring(node) is None:
        return set()
    return set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))


if __name__ == "__main__":
    main()
