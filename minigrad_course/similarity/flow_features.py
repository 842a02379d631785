"""The features of an answer that is followed: its operations, and what flows into each."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from ..content.source import Function
from .flow_values import Value

__all__ = ["Features", "Globals"]

#: How far back a feature looks, and the most steps for one exercise.
REACH, STEPS = 2, 50_000


@dataclass
class Globals:
    """The names of a module, and which of them the learner chose."""

    modules: dict[str, str] = field(default_factory=dict)  # names of imports
    functions: dict[str, Function] = field(default_factory=dict)  # own ones, also "Class.name"
    tables: dict[str, ast.expr] = field(default_factory=dict)  # own values
    own: frozenset[str] = frozenset()  # own names, ".x" for an attribute
    paths: dict[int, str] = field(default_factory=dict)  # of statements, by id

    @classmethod
    def of(cls, statements: Sequence[ast.stmt], own: frozenset[str]) -> Globals:
        """Collect the names that an answer's statements bind."""
        made = cls(own=own)
        for each in statements:
            made.add(each)
        return made

    def add(self, node: ast.stmt) -> None:
        """Add the names that a statement of a module binds."""
        if isinstance(node, Function):
            self.functions.setdefault(node.name, node)
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, Function):
                    self.functions.setdefault(f"{node.name}.{inner.name}", inner)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.tables.setdefault(target.id, node.value)


class Features:
    """The features of an answer, each with how often it occurs and the lines of one of them."""

    def __init__(self, about: Globals) -> None:
        self.about = about
        self.features: Counter[str] = Counter()
        self.lines: dict[str, set[tuple[str, int]]] = {}  # the path and line of each
        self.followed: set[int] = set()
        self.left = STEPS
        self.line = ("", 0)
        self.waiting: list[tuple[Value, tuple[str, int]]] = []  # values to count, and their lines
        self.passed_on: list[Value] = []  # own functions that are values

    def note(self, kind: str, *inputs: Value) -> Value:
        """Return a new value, and count it as a feature."""
        made = Value(kind, inputs)
        self.count(made)
        return made

    def forget(self, node: Value) -> None:
        """Do not count a value after all."""
        self.waiting[:] = [each for each in self.waiting if each[0] is not node]

    def spend(self) -> None:
        """Count a step, because calls of calls could take forever."""
        self.left -= 1
        if self.left < 0:
            raise MemoryError("this answer has too many operations")

    def count(self, node: Value) -> None:
        """Count a value as a feature once all values that flow into it are known."""
        self.spend()
        self.waiting.append((node, self.line))

    def count_all(self) -> None:
        """Count the features, now that every value is known."""
        for node, _ in self.waiting:
            node.shapes.clear()
        for node, line in self.waiting:
            if not node.inputs:
                continue
            mark = blake2b(node.shape(REACH).encode(), digest_size=5).hexdigest()
            self.features[mark] += 1
            self.lines.setdefault(mark, set()).add(line)
        self.waiting.clear()
