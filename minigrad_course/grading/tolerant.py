"""Let code at the top level of a file fail without taking the whole file's points.

NOTE [Leftover code]
    An unused `import scipy`, an `input()` or a trial call at the top level keeps the package from
    being imported, and would cost every exercise its points.  If the first run ends with such an
    error, the file is graded again with each statement that the learner added in a `try`, so that
    only exercises that need the statement pay for it.  Lines there that aren't Python, such as a
    notebook's `%matplotlib inline` or the fences around code in a chat, are left out.  The report
    mentions the error in any case.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from ..content.source import module
from ..content.stages import Stage
from ..content.stray_lines import without_stray_lines

__all__ = ["error_on_import", "tolerant"]

_ERROR = re.compile(r"the tests were stopped: (\w*(?:Error|Exit|Exception|Warning)\b.*)", re.DOTALL)


def error_on_import(notes: tuple[str, ...]) -> str:
    """Return the error that kept a file from being imported; "" if it's something else."""
    return next((found[1] for each in notes if (found := _ERROR.match(each))), "")


def tolerant(stage: Stage, texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts with every top-level statement that the learner added in a `try`.

    Also moves `from __future__` imports to the top.  A text that isn't Python stays unchanged.
    """
    return {path: _tolerant(text, module(stage.package, path).tree) for path, text in texts.items()}


def _tolerant(text: str, original: ast.Module) -> str:
    try:
        tree = ast.parse(without_stray_lines(text))
        known = {ast.unparse(each) for each in original.body}
        first, rest = list[ast.stmt](), list[ast.stmt]()
        for each in tree.body:
            if isinstance(each, ast.ImportFrom) and each.module == "__future__":
                first.append(each)
            elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or \
                    ast.unparse(each) in known or _is_text(each):
                rest.append(each)
            else:
                handler = ast.ExceptHandler(ast.Name("BaseException"), None, [ast.Pass()])
                rest.append(ast.Try([each], [handler], [], []))
        at = int(bool(rest) and _is_text(rest[0]))  # the docstring
        return ast.unparse(ast.Module([*rest[:at], *first, *rest[at:]], [])) + "\n"
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
