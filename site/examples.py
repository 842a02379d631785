"""Examples as pages show them: each imports all that it uses, so that it runs when it is copied.

In a docstring an example may use the names of its module, as `doctest` lets it.
"""

from __future__ import annotations

import builtins
import re
import symtable
from collections import defaultdict
from doctest import DocTestParser
from types import ModuleType

from public_names import import_of

__all__ = ["complete", "free_names"]

WIDTH = 76


def free_names(source: str) -> set[str]:
    """Return the names that a program uses and neither makes nor imports.

    >>> free_names("from math import pi\\nprint(f(pi) for _ in range(n))") == {"f", "n"}
    True
    """
    whole = symtable.symtable(source, "example", "exec")
    made = {each.get_name() for each in whole.get_symbols()
            if each.is_assigned() or each.is_imported()}
    used, tables = set(), [whole]
    for table in tables:
        used |= {each.get_name() for each in table.get_symbols() if each.is_referenced()
                 and (table is whole or each.is_global())}
        tables += table.get_children()
    return {name for name in used - made if not hasattr(builtins, name)}


def complete(docstring: str, module: ModuleType) -> str:
    """Return the docstring of something in `module` with lines that import what its example uses.

    >>> from minigrad.optim.lr_scheduler import factors
    >>> complete("Halves.\\n\\n>>> StepLR(sgd, 2, gamma=0.5)", factors).splitlines()[2:]
    ['>>> from minigrad.optim.lr_scheduler import StepLR', '>>> StepLR(sgd, 2, gamma=0.5)']
    """
    if ">>>" not in docstring:
        return docstring
    source = "".join(each.source for each in DocTestParser().get_examples(docstring))
    imports: dict[str, list[str]] = defaultdict(list)
    for name in sorted(free_names(source), key=_order):
        if name in vars(module):
            home, what = import_of(name, module)
            imports[home].append(what)
        elif name == "numpy":  # which the tests hand to every example
            imports[""].append(name)
    before, indent, rest = re.split("^( *)(?=>>>)", docstring, maxsplit=1, flags=re.MULTILINE)
    first, _, others = rest.partition("\n")
    given = re.fullmatch(r">>> from (\S+) import (\w+(?:, \w+)*)", first)
    if given and given[1] in imports:
        line = _line(given[1], sorted([*given[2].split(", "), *imports[given[1]]], key=_order))
        if len(line) <= WIDTH:
            first = line
            del imports[given[1]]
    lines = [first, *(_line(home, names) for home, names in imports.items())]
    lines.sort(key=lambda line: (line is first and not given, line))
    return before + "".join(f"{indent}{line}\n" for line in lines) + others


def _line(home: str, names: list[str]) -> str:
    return f">>> {f'from {home} ' if home else ''}import {', '.join(names)}"


def _order(name: str) -> tuple[bool, str]:
    """Classes stand before functions."""
    return name[:1].islower(), name
