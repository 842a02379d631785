"""Find symbols in a module's text, cut them out, and blank or mutate their bodies."""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .plain_text import lines_of
from .stages import CourseError, Hole, Mutant, Stage

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


@dataclass(frozen=True)
class Module:
    """A module's text and its syntax tree."""

    path: str
    text: str
    tree: ast.Module

    @classmethod
    def read(cls, file: Path, path: str) -> Module:
        """Return the module in a file; raise SyntaxError if it is not Python."""
        text = file.read_text(encoding="utf-8")
        return cls(path, text, ast.parse(text, str(file)))

    @classmethod
    def from_text(cls, path: str, text: str) -> Module:
        """Return the module with this text; raise SyntaxError if it is not Python."""
        return cls(path, text, ast.parse(text))

    @property
    def lines(self) -> list[str]:
        """The lines of the text as Python counts them, without line endings."""
        return lines_of(self.text)

    def find(self, symbol: str) -> ast.stmt:
        """Return the statement that defines "name" or "Class.method", or raise CourseError."""
        body: list[ast.stmt] = self.tree.body
        found: ast.stmt | None = None
        for name in symbol.split("."):
            found = next((each for each in body if name in names_of(each)), None)
            if found is None:
                raise CourseError(f"{self.path} does not define {symbol!r}")
            body = getattr(found, "body", [])
        assert found is not None
        return found

    def function(self, symbol: str) -> Function:
        """Return the function that `symbol` names; raise CourseError if it is something else."""
        found = self.find(symbol)
        if not isinstance(found, Function):
            raise CourseError(f"{self.path}:{symbol} is not a function")
        return found

    def functions(self) -> Iterator[tuple[str, Function]]:
        """Yield functions and methods in order with their symbols, without nested functions."""
        yield from _functions(self.tree.body)

    def cut(self, statement: ast.stmt) -> str:
        """Return a statement's lines, with its decorators and the comments directly above it."""
        first, last = self.span(statement)
        return textwrap.dedent("\n".join(self.lines[first - 1 : last]))

    def span(self, statement: ast.stmt) -> tuple[int, int]:
        """Return the first and last line of what `cut` returns, counted from 1."""
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(each.lineno for each in decorators)])
        while first > 1 and self.lines[first - 2].lstrip().startswith("#"):
            first -= 1
        return first, statement.end_lineno or statement.lineno

    def comment(self, statement: ast.stmt) -> str:
        """Return the text of the `#:` comments directly above a statement."""
        first, _ = self.span(statement)
        lines = (line.strip() for line in self.lines[first - 1 : statement.lineno - 1])
        return " ".join(line[2:].strip() for line in lines if line.startswith("#:"))


@cache
def _read(path: Path, modified: int, name: str) -> Module:
    return Module.read(path, name)


def module(package: Path, name: str) -> Module:
    """Return the module at path `name` in the package's folder."""
    path = package / name
    if not path.is_file():
        raise CourseError(f"the package has no module {name}")
    return _read(path, path.stat().st_mtime_ns, name)


def names_of(statement: ast.stmt) -> list[str]:
    """Return the names that a statement defines, in order."""
    if isinstance(statement, Definition):
        return [statement.name]
    targets = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return [each.id for target in targets for each in ast.walk(target)
            if isinstance(each, ast.Name)]


def _functions(body: list[ast.stmt], before: str = "") -> Iterator[tuple[str, Function]]:
    for each in body:
        if isinstance(each, Function):
            yield before + each.name, each
        elif isinstance(each, ast.ClassDef):
            yield from _functions(each.body, f"{before}{each.name}.")
        elif isinstance(each, ast.If):
            yield from _functions([*each.body, *each.orelse], before)


def symbols(source: Module, opened: Iterable[str] = ()) -> dict[str, ast.stmt]:
    """Return the symbols that a module defines, in order, without names such as `__all__`.

    The methods of a class are included if `opened` names one of them.
    """
    classes = {symbol.partition(".")[0] for symbol in opened if "." in symbol}
    found: dict[str, ast.stmt] = {}
    for statement in source.tree.body:
        for name in names_of(statement):
            if not name.startswith("__"):
                found.setdefault(name, statement)
        if isinstance(statement, ast.ClassDef) and statement.name in classes:
            for each in statement.body:
                if isinstance(each, Function):
                    found.setdefault(f"{statement.name}.{each.name}", each)
    return found


def first_sentence(text: str) -> str:
    """Return the first sentence of a docstring.

    >>> first_sentence("Doubles\\n`x. Y` at most. More.\\n\\nStill more.")
    'Doubles `x. Y` at most.'
    """
    words = " ".join(text.strip().partition("\n\n")[0].split())
    ends = (match.end() for match in re.finditer(r"[.!?](?= [A-Z`])", words)
            if words.count("`", 0, match.end()) % 2 == 0)
    return words[: next(ends, len(words))]


def docstring_of(definition: Definition | ast.Module) -> ast.stmt | None:
    """Return the statement that is a definition's docstring, or `None`."""
    return definition.body[0] if ast.get_docstring(definition) is not None else None


def statements(node: ast.AST) -> int:
    """Count the statements inside a node, without docstrings, imports and the node itself."""
    count = 0
    for each in ast.walk(node):
        if each is node or not isinstance(each, ast.stmt):
            continue
        if isinstance(each, ast.Import | ast.ImportFrom):
            continue
        count += not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
                      and isinstance(each.value.value, str))
    return count


def body_span(source: Module, function: Function) -> tuple[int, int]:
    """Return the lines of a function's body after its docstring, with its leading comments."""
    doc = docstring_of(function)
    if doc is not None and len(function.body) > 1:
        first = (doc.end_lineno or 0) + 1
    else:
        first, _ = source.span(function.body[0])
    if first <= function.lineno or (doc is not None and len(function.body) == 1):
        raise CourseError(f"{source.path}:{function.name} has no body to blank")
    return first, function.end_lineno or first


def blank(stage: Stage, path: str, holes: list[Hole]) -> str:
    """Return a module's text with the bodies of `holes` replaced with their task and a raise."""
    source = module(stage.package, path)
    spans = []
    for hole in holes:
        for symbol in symbols_in(hole, path):
            function = source.function(symbol)
            spans.append((*body_span(source, function), hole, symbol, function.col_offset + 4))
    spans.sort(key=lambda span: span[0])
    task_at: dict[str, str] = {}
    for _, _, hole, symbol, _ in spans:
        task_at.setdefault(hole.id, symbol)
    lines = source.lines
    for first, last, hole, symbol, indent in reversed(spans):
        body = blanked_body(stage, hole, "" if task_at[hole.id] == symbol else task_at[hole.id])
        lines[first - 1 : last] = [" " * indent + line if line else "" for line in body]
    return "\n".join(lines) + "\n"


def blanked_body(stage: Stage, hole: Hole, task_at: str = "") -> list[str]:
    """Return the replacement of an exercise's body: its task or a reference to it, and a raise."""
    words = stage.words["hole"][hole.id]
    heading = f"{hole.id} {words['title']}"
    if task_at:
        told = [f"{heading}: see the task at `{task_at}`."]
    else:
        told = [f"{heading} ({about(stage, hole)})", *wrapped_task(words["task"])]
    return [*(f"# {line}" for line in told),
            f"raise NotImplementedError({json.dumps(f'{heading} is yours to write')})"]


def about(stage: Stage, hole: Hole) -> str:
    """Return the length of the package's answer to an exercise: "about 4 lines"."""
    count = answer_lines(stage, hole)
    return "one line" if count == 1 else f"about {count} lines"


def answer_lines(stage: Stage, hole: Hole) -> int:
    """Count the lines of code in the package's answer, without comments and docstrings."""
    count = 0
    for each in hole.symbols:
        path, _, symbol = each.partition(":")
        source = module(stage.package, path)
        first, last = body_span(source, source.function(symbol))
        lines = (line.strip() for line in source.lines[first - 1 : last])
        count += sum(bool(line) and not line.startswith("#") for line in lines)
    return count


def wrapped_task(text: str) -> list[str]:
    """Return the lines of a task, with paragraphs, items (`- `) and indented examples wrapped."""
    lines = []
    for kind, part in parts(text):
        if kind == "example":
            lines.append(part)
        else:
            lines += textwrap.wrap(part, 84, subsequent_indent="  " if kind == "item" else "",
                                   break_long_words=False, break_on_hyphens=False)
    return lines


def parts(task: str) -> list[tuple[str, str]]:
    """Return the parts of a task: ("prose", ...), ("item", "- ...") and ("example", "  ...").

    "Mind:" and "Use:" each start a new paragraph.

    >>> [kind for kind, _ in parts("Add.\\n  add(1, 2) -> 3\\nMind:\\n- Order.")]
    ['prose', 'example', 'prose', 'item']
    """
    found: list[tuple[str, str]] = []
    for line in task.strip().splitlines():
        kind = "example" if line.startswith(" ") else "item" if line.startswith("- ") else "prose"
        goes_on = found and found[-1][0] != "example" and not line.startswith(("Mind:", "Use:"))
        if kind == "prose" and goes_on:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line}".strip())
        elif line.strip():
            found.append((kind, line.rstrip()))
    return found


def symbols_in(hole: Hole, path: str) -> list[str]:
    """Return the symbols of an exercise in the module at `path`."""
    return [symbol for where, _, symbol in (each.partition(":") for each in hole.symbols)
            if where == path]


def mutated(stage: Stage, hole: Hole, mutant: Mutant) -> dict[str, str]:
    """Return the texts of an exercise's modules, by path, with the mutant's edits applied.

    Raises CourseError if the text to replace does not occur exactly once in the exercise.
    """
    symbols = [(path, name) for path, _, name in (each.partition(":") for each in hole.symbols)]
    sources = {path: module(stage.package, path) for path, _ in symbols}
    for before, after in mutant.edits:
        owners = [(path, name) for path, name in symbols
                  if before in _definition(sources[path], name)]
        texts = [_definition(sources[path], name) for path, name in owners]
        if len(owners) != 1 or texts[0].count(before) != 1:
            raise CourseError(f"{stage.key}, {hole.id}, {mutant.name}: the text to replace must "
                              f"occur exactly once in the exercise's functions: {before!r}")
        ((path, name),) = owners
        first, last = sources[path].span(sources[path].find(name))
        lines = sources[path].lines
        lines[first - 1 : last] = [texts[0].replace(before, after)]
        text = "\n".join(lines) + "\n"
        sources[path] = Module(path, text, ast.parse(text))
    return {path: source.text for path, source in sources.items()}


def _definition(source: Module, symbol: str) -> str:
    first, last = source.span(source.find(symbol))
    return "\n".join(source.lines[first - 1 : last])
