"""A program: lines of Python, and what can be told of them without running them."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import lru_cache

Program = Sequence[str]

HEADER = """\
import torch
import torch.nn.functional as F
from tests.fuzz.functions import define

globals().update(define(torch, print))
"""

_VARIABLE = re.compile(r"\b[a-z]\d+\b")


@lru_cache(maxsize=4096)
def target(line: str) -> str | None:
    """Return the name that a line assigns to, if it assigns to a plain one.

    >>> target("with torch.no_grad(): t3 = t1 + t2")
    't3'
    """
    statement = ast.parse(line).body[0]
    while isinstance(statement, ast.With):
        statement = statement.body[0]
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return None


def uses(line: str) -> set[str]:
    """Return the variables that occur in a line, the one it assigns to included."""
    return set(_VARIABLE.findall(line))


def from_gradients(program: Program) -> set[str]:
    """Return the variables that may share memory with a gradient that a backward pass made.

    How often the engine has written to those is its own affair.
    """
    found: set[str] = set()
    for line in program:
        names = uses(line)
        if ".grad" in line.replace(".grad_fn", "") or names & found or "autograd.grad(" in line:
            name = target(line)
            if name is not None:
                found.add(name)
            elif "backward(" not in line and "seen(" not in line:
                found |= names
    return found


def source(program: Program) -> str:
    """Return a program as a file that runs by itself, inside `tests/`."""
    return HEADER + "\n".join(program) + "\n"
