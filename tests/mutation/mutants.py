"""The mutants of a module: small wrong changes to the bodies of its functions.

The changes themselves are mutmut's.  What is left alone is what mutmut leaves alone (type
annotations, calls of `len` and `isinstance`, defaults that are not plain values), what has no
effect at run time (`cast`), and `strict=True` of `zip`, which checks what always holds.  Functions
with decorators, which mutmut leaves out, are changed here.  Code outside functions is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider, WhitespaceInclusivePositionProvider
from mutmut.mutation.mutators import mutation_operators

WITHOUT_MEANING = {"len", "isinstance", "cast", "TypeVar"}


@dataclass(frozen=True)
class Mutant:
    """One changed module: `before` and `after` are the line or lines where it differs."""

    path: str  # from the root of the repository
    function: str  # qualified name of the outermost function
    line: int
    before: str
    after: str
    source: str  # the whole module, changed
    lines: range  # those of the statement: a test that runs none of them cannot see the change
    default: tuple[str, str] | None  # parameter and changed value, where it is a default

    def compiles(self) -> bool:
        """Say whether the change left a program."""
        try:
            compile(self.source, self.path, "exec", dont_inherit=True)
        except SyntaxError:
            return False
        return True

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What stays the same when lines above it move."""
        return self.path, self.function, self.before, self.after


def mutants(root: Path, path: str) -> list[Mutant]:
    """Make every mutant of one module."""
    source = (root / path).read_text(encoding="utf-8")
    wrapper = MetadataWrapper(cst.parse_module(source))
    visitor = Visitor(path, source, wrapper.module)
    wrapper.visit(visitor)
    return list({mutant.source: mutant for mutant in visitor.found}.values())


class Visitor(cst.CSTVisitor):
    """Walks a module and notes the mutants of each node that stands in a function."""

    METADATA_DEPENDENCIES = (PositionProvider, WhitespaceInclusivePositionProvider)

    def __init__(self, path: str, source: str, module: cst.Module) -> None:
        super().__init__()
        self.path, self.source, self.module = path, source, module
        self.lines = source.splitlines(keepends=True)
        self.spans = statement_spans(source)
        self.scopes: list[cst.CSTNode] = []
        self.found: list[Mutant] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if is_left_alone(node):
            return False
        if self.function_depth():
            for kind, operator in mutation_operators:
                if isinstance(node, kind):
                    for changed in operator(node):
                        if not only_less_strict(node, changed):
                            self.note(node, changed)
                        if isinstance(node, cst.BaseString):
                            break  # the others change its case only
        if isinstance(node, cst.FunctionDef | cst.ClassDef | cst.Param):
            self.scopes.append(node)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if self.scopes and self.scopes[-1] is original_node:
            self.scopes.pop()

    def function_depth(self) -> int:
        return sum(isinstance(scope, cst.FunctionDef) for scope in self.scopes)

    def note(self, node: cst.CSTNode, changed: cst.CSTNode) -> None:
        place = self.get_metadata(WhitespaceInclusivePositionProvider, node)
        first, last = place.start.line - 1, place.end.line - 1
        head = self.lines[first][:place.start.column]
        tail = self.lines[last][place.end.column:]
        new = head + self.module.code_for_node(changed) + tail
        source = "".join([*self.lines[:first], new, *self.lines[last + 1:]])
        outer, names = None, []
        for scope in self.scopes:
            if isinstance(scope, cst.FunctionDef | cst.ClassDef) and outer is None:
                names.append(scope.name.value)
                outer = scope if isinstance(scope, cst.FunctionDef) else None
        default = None
        line = self.get_metadata(PositionProvider, node).start.line
        span = self.spans.get(line, range(line, line + 1))
        if isinstance(self.scopes[-1], cst.Param) and self.function_depth() == 1:
            default = (self.scopes[-1].name.value, self.module.code_for_node(changed))
            body = self.get_metadata(PositionProvider, outer.body)
            span = range(body.start.line, body.end.line + 1)
        self.found.append(Mutant(
            self.path, ".".join(names), line, "".join(self.lines[first:last + 1]).strip(),
            new.strip(), source, span, default))


def is_left_alone(node: cst.CSTNode) -> bool:
    """Say whether nothing under a node is changed."""
    if isinstance(node, cst.Annotation | cst.Decorator):
        return True
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name):
        return node.func.value in WITHOUT_MEANING
    if isinstance(node, cst.Arg) and node.keyword is not None and node.keyword.value == "strict":
        return isinstance(node.value, cst.Name) and node.value.value == "True"
    return (isinstance(node, cst.Param) and node.default is not None
            and not isinstance(node.default, cst.Name | cst.BaseNumber | cst.BaseString))


def only_less_strict(node: cst.CSTNode, changed: cst.CSTNode) -> bool:
    """Say whether a change only stops `zip` from comparing lengths, which are equal."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "zip":
        kept = [arg for arg in node.args if arg.keyword is None]
        return sum(any(arg is one for one in kept) for arg in changed.args) == len(kept)
    return False


def statement_spans(source: str) -> dict[int, range]:
    """Return for each line the lines of its statement, or of its statement's head."""
    spans: dict[int, range] = {}
    for node in ast.walk(ast.parse(source)):  # from the outside in
        if isinstance(node, ast.stmt):
            end = node.end_lineno
            if body := getattr(node, "body", None):
                end = max(node.lineno, body[0].lineno - 1)
            for line in range(node.lineno, end + 1):
                spans[line] = range(node.lineno, end + 1)
    return spans


def modules(root: Path, names: list[str]) -> Iterator[str]:
    """Turn names under minigrad/ (files, folders) into paths of modules."""
    for name in names:
        place = root / "minigrad" / name
        if not place.exists():
            raise SystemExit(f"mutation: minigrad/{name} does not exist")
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            yield file.relative_to(root).as_posix()
