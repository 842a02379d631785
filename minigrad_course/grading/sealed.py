"""Seal the package's version of an exercise in a graded process that needs the whole package.

NOTE [Sealed]
    A stage that is tested beside the package needs the package's `op/` in the graded process.  The
    module with the exercise is there only in compiled form, without its text, and each function of
    the exercise refuses arguments from the second copy.  So an answer can neither read the
    package's version nor call it to do the work.  A program that disassembles the compiled function
    still can: Python has no protection against that.
"""

from __future__ import annotations

import ast
import py_compile
from collections.abc import Sequence
from pathlib import Path

from ..content.source import Module

__all__ = ["seal"]

_REFUSE = ("from minigrad_course.child_process.second_copy import refuse as _refuse\n"
           "_refuse(locals())")


def seal(file: Path, symbols: Sequence[str]) -> None:
    """Replace `file` with a compiled module in which these functions are sealed."""
    source = Module.read(file, file.name)
    for symbol in symbols:
        function = source.function(symbol)
        function.body[:0] = ast.parse(_REFUSE).body
    file.write_text(ast.unparse(ast.fix_missing_locations(source.tree)), encoding="utf-8")
    py_compile.compile(str(file), str(file.with_suffix(".pyc")), dfile=file.name, doraise=True)
    file.unlink()
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
        compiled.unlink()
