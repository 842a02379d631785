"""Find names that an exercise file uses but does not define, such as a renamed helper."""

from __future__ import annotations

import builtins
import re
import symtable
from collections.abc import Iterator
from pathlib import Path

__all__ = ["unknown_names"]


def unknown_names(file: Path) -> list[str]:
    """Return the names that a module's functions use without a definition, in order.

    Returns no names if the file is not Python or contains `import *`.
    """
    text = file.read_text(encoding="utf-8", errors="surrogateescape")
    try:
        module = symtable.symtable(text, file.name, "exec")
    except (SyntaxError, ValueError):
        return []
    if re.search(r"^\s*from .* import \*", text, re.MULTILINE):
        return []
    inner = [each for scope in _scopes(module) for each in scope.get_symbols()]
    defined = [*(each for each in module.get_symbols() if each.is_assigned() or each.is_imported()),
               *(each for each in inner if each.is_declared_global() and each.is_assigned())]
    known = {*vars(builtins), "__file__", *(each.get_name() for each in defined)}
    used = (each.get_name() for each in inner if each.is_global() and each.is_referenced())
    return [name for name in dict.fromkeys(used) if name not in known]


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _scopes(child)
