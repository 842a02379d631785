"""Compose a module from several files, symbol by symbol.

NOTE [Composing]
    A learner's file is the base and stays unchanged, except for the symbols ("function" or
    "Class.method") that are taken from another file.  That is the package's file if an exercise is
    skipped, or if another exercise is tested without it; or another of the learner's files if two
    stages share a module.  A symbol brings along the imports and helpers that it uses and the base
    lacks.  Each line of the result knows its original file and number.  `swap.py` writes them into
    the compiled code, so that a traceback shows the learner's lines.

NOTE [No answer is given away]
    Files are parsed as syntax trees, but never executed here.  A symbol of an exercise
    comes from the package only if it was requested by name.  It never comes along as a helper, and
    neither does a class that contains one.  So deleting a function from an answer does not bring in
    the package's function.
"""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..content.stages import CourseError

__all__ = ["Line", "Source", "changed_symbols", "compose", "defines", "open_symbols", "read_source",
           "repaired_source", "source_of"]

Function = ast.FunctionDef | ast.AsyncFunctionDef

#: A line that starts a new statement after a function or class, and does not continue a string.
_STATEMENT = re.compile(r"\s*(?:@|(?:async|class|def|del|for|from|if|import|try|while|with)\b"
                        r"|[A-Za-z_][\w.]*\s*(?:[=:(\[,]|$))")


@dataclass(frozen=True)
class Line:
    """A line of text, with its place in the original file."""

    text: str
    file: str
    number: int


@dataclass(frozen=True)
class Source:
    """A module's lines and its syntax tree."""

    path: str  # in the package
    file: str  # of the base
    lines: tuple[Line, ...]
    tree: ast.Module
    broken: tuple[str, ...] = ()  # symbols that do not parse

    @property
    def text(self) -> str:
        """The text as Python reads it."""
        return "".join(f"{line.text}\n" for line in self.lines)


def source_of(path: str, file: str, text: str) -> Source:
    """Return the module with this text; raise SyntaxError or ValueError if it is not Python."""
    return _source(path, file, _lines(text, file))


def read_source(path: str, file: Path, exercises: dict[str, str], original: Source) -> Source:
    """Read a learner's file for the module at `path`.

    If some of the `exercises` (symbol to exercise number) do not parse, they raise a SyntaxError
    when called, so that the rest can be tested.  Their signatures come from `original`.  Raises
    SyntaxError or ValueError if the file does not parse even then.
    """
    with tokenize.open(file) as opened:
        text = opened.read()
    return repaired_source(path, str(file), text, exercises, original)


def repaired_source(path: str, file: str, text: str, exercises: dict[str, str], original: Source
                    ) -> Source:
    """Return the module with this text, as `read_source` does."""
    try:
        return source_of(path, file, text)
    except SyntaxError as error:
        problem = error
    lines, broken = list(_lines(text, file)), []
    for symbol, number in exercises.items():
        found = _definitions(original.tree, symbol)
        span = _span_without_parsing([line.text for line in lines], symbol)
        if span is None or not found or not isinstance(found[0], Function):
            continue
        first, last = span
        error_of = _error_in(text, first, last)
        if error_of is None:
            continue
        line, words = error_of
        indent = re.match(r"\s*", lines[first - 1].text)
        assert indent is not None
        message = f"{number} cannot be read: {words} ({Path(file).name}, line {line})"
        lines[first - 1] = Line(f"{indent[0]}{_head(found[0])} raise SyntaxError({message!r})",
                                file, line)
        lines[first:last] = [Line("", file, each.number) for each in lines[first:last]]
        broken.append(symbol)
    if not broken:
        raise problem
    source = _source(path, file, lines)
    return Source(path, file, source.lines, source.tree, tuple(broken))


def open_symbols(source: Source) -> list[str]:
    """Return the functions and methods of a module that are not written yet.

    >>> text = 'def f():\\n    raise NotImplementedError("01.1 F is yours to write")\\n'
    >>> open_symbols(source_of("m.py", "m.py", text))
    ['f']
    """
    return [name for name, function in _functions(source.tree.body) if _is_open(function)]


def changed_symbols(source: Source, original: Source) -> list[str]:
    """Return the symbols whose definition in a learner's file differs from the original.

    >>> given = source_of("m.py", "m.py", "x = 1\\ndef f(): return x\\n")
    >>> changed_symbols(source_of("m.py", "m.py", "x = 2\\ndef f():\\n    return x\\n"), given)
    ['x']
    """
    return [symbol for symbol in _symbols(original.tree.body)
            if (mine := _definitions(source.tree, symbol))
            and list(map(ast.unparse, mine)) != list(
                map(ast.unparse, _definitions(original.tree, symbol)))]


def defines(source: Source, symbol: str) -> bool:
    """Return whether a module binds a symbol in any way."""
    return bool(_definitions(source.tree, symbol))


def compose(base: Source, other: Source, symbols: Sequence[str], exercises: Collection[str]
            ) -> Source:
    """Return `base` with the definitions of `symbols` from `other`.

    `exercises` are the symbols that are only taken if requested by name.  If `other` lacks a
    symbol, or `base` lacks its class, the symbol stays unchanged.  Raises CourseError if the result
    is not Python.
    """
    return _Composition(base, other, frozenset(symbols), frozenset(exercises)).made()


class _Composition:
    """One composition: the edits that it makes to the base's lines."""

    def __init__(self, base: Source, other: Source, symbols: frozenset[str],
                 exercises: frozenset[str]) -> None:
        self.base, self.other, self.symbols = base, other, symbols
        self.exercises = exercises | symbols
        self.edits: list[tuple[int, int, list[Line]]] = []  # first line, last line, new lines
        self.taken: list[ast.stmt] = []
        self.names = _bound_in(base.tree.body)
        self.renamed: dict[str, str] = {}

    def made(self) -> Source:
        for symbol in sorted(self.symbols, key=self._position):
            self._take(symbol)
        if not self.taken:
            return self.base
        self._bring_helpers()
        lines = list(self.base.lines)
        # Apply edits from last to first, so that earlier line numbers stay valid.  Several edits at
        # one place keep the order in which they were made.
        for first, last, new in sorted(reversed(self.edits), key=lambda edit: edit[0],
                                       reverse=True):
            lines[first - 1 : last] = new
        try:
            source = _source(self.base.path, self.base.file, lines)
        except SyntaxError as error:
            raise CourseError(f"cannot combine {self.base.file} with {self.other.file}: "
                              f"{error}") from None
        return Source(source.path, source.file, source.lines, source.tree, tuple(
            each for each in self.base.broken if each not in self.symbols))

    def _position(self, symbol: str) -> int:
        found = _definitions(self.other.tree, symbol)
        return found[0].lineno if found else 0

    def _take(self, symbol: str) -> None:
        theirs, mine = (_definitions(each.tree, symbol) for each in (self.other, self.base))
        owner = _class_of(self.base.tree, symbol)
        if not theirs or (owner is None and "." in symbol):
            return
        self.taken += theirs
        indent = "" if owner is None else _indent(self.base, owner.body[0])
        if not mine:
            self._append(owner, theirs, indent)
        elif len(mine) == len(theirs):
            for old, new in zip(mine, theirs, strict=True):
                self.edits.append((*_span(old), [*self._copied(new, indent)]))
        else:
            lines = [line for each in theirs for line in self._copied(each, indent)]
            self.edits.append((*_span(mine[0]), lines))
            self.edits += [(*_span(old), []) for old in mine[1:]]

    def _append(self, owner: ast.ClassDef | None, statements: Sequence[ast.stmt], indent: str
                ) -> None:
        end = len(self.base.lines) if owner is None else owner.end_lineno or owner.lineno
        self.edits.append((end + 1, end, [line for each in statements
                                          for line in self._copied(each, indent)]))

    def _copied(self, statement: ast.stmt, indent: str) -> Iterator[Line]:
        """Yield a statement of the other file with the base's indentation."""
        first, last = _span(statement)
        before = _indent(self.other, statement)
        lines = [line.text for line in self.other.lines[first - 1 : last]]
        for node in sorted(_loaded(statement), key=lambda node: -node.col_offset):
            if node.id in self.renamed:
                at = node.lineno - first
                start = len(lines[at].encode()[: node.col_offset].decode())
                lines[at] = (lines[at][:start] + self.renamed[node.id]
                             + lines[at][start + len(node.id):])
        if isinstance(statement, Function) and statement.name in self.renamed and not indent:
            at = statement.lineno - first
            lines[at] = re.sub(rf"\bdef\s+{statement.name}\b",
                               f"def {self.renamed[statement.name]}", lines[at], count=1)
        for text, line in zip(lines, self.other.lines[first - 1 : last], strict=True):
            text = indent + text.removeprefix(before) if text.startswith(before) else text
            yield Line(text, line.file, line.number)

    def _bring_helpers(self) -> None:
        """Add the imports, functions and methods that the new symbols use and the base lacks.

        If both files define a helper differently, it gets another name, because the learner may
        have changed it together with answers that are not tested now.
        """
        imports: list[ast.stmt] = []
        helpers: list[ast.stmt] = []
        methods: list[tuple[ast.ClassDef, ast.stmt]] = []
        defined = {name: each for each in self.other.tree.body for name in _names(each)}
        waiting = list(self.taken)
        while waiting:
            statement = waiting.pop()
            for name in sorted({node.id for node in _loaded(statement)}):
                definition = defined.get(name)
                if definition is None or definition in helpers or definition in imports:
                    continue
                if name in self.names and not self._differs(name, definition):
                    continue
                if self._has_an_exercise(definition):
                    continue
                if name in self.names:
                    self.renamed[name] = f"_given_{name}"
                is_import = isinstance(definition, ast.Import | ast.ImportFrom)
                (imports if is_import else helpers).append(definition)
                waiting.append(definition)
            for owner, method in self._missing_methods(statement):
                if method not in [each for _, each in methods]:
                    methods.append((owner, method))
                    waiting.append(method)
        if self.renamed:  # some lines were copied before the new names were known
            self.edits.clear()
            self.taken.clear()
            for symbol in sorted(self.symbols, key=self._position):
                self._take(symbol)
        for owner, method in methods:
            self._append(owner, [method], _indent(self.base, owner.body[0]))
        begin = min((first for first, _, _ in self.edits), default=1)
        begin = next((_span(each)[0] for each in self.base.tree.body
                      if (each.end_lineno or each.lineno) >= begin), begin)
        before = [line for each in sorted(helpers, key=lambda each: each.lineno)
                  for line in self._copied(each, "")]
        self.edits.insert(0, (begin, begin - 1, before))
        head = _head_end(self.base.tree)
        self.edits.insert(0, (head + 1, head, [line for each in imports
                                               for line in self._copied(each, "")]))

    def _differs(self, name: str, definition: ast.stmt) -> bool:
        """Return whether both files define a function with this name, but differently."""
        if name in self.exercises or not isinstance(definition, Function):
            return False
        mine = [each for each in self.base.tree.body
                if isinstance(each, Function) and each.name == name]
        return (len(mine) == 1 and _is_open(mine[0])) or (
            len(mine) == 1 and ast.unparse(mine[0]) != ast.unparse(definition))

    def _has_an_exercise(self, definition: ast.stmt) -> bool:
        names = set(_names(definition))
        return any(each.partition(".")[0] in names for each in self.exercises)

    def _missing_methods(self, statement: ast.stmt) -> Iterator[tuple[ast.ClassDef, ast.stmt]]:
        used = {node.attr for node in ast.walk(statement) if isinstance(node, ast.Attribute)}
        for theirs in self.other.tree.body:
            mine = (_class_of(self.base.tree, f"{theirs.name}.x")
                    if isinstance(theirs, ast.ClassDef) else None)
            if mine is None or not isinstance(theirs, ast.ClassDef):
                continue
            known = _bound_in(mine.body)
            for method in theirs.body:
                if (isinstance(method, Function) and method.name in used - known
                        and f"{theirs.name}.{method.name}" not in self.exercises):
                    yield mine, method


def _source(path: str, file: str, lines: Sequence[Line]) -> Source:
    text = "".join(f"{line.text}\n" for line in lines)
    return Source(path, file, tuple(lines), ast.parse(text, file))


def _lines(text: str, file: str) -> list[Line]:
    """Return a text's lines as Python counts them."""
    read = io.StringIO(text, newline=None).read().removesuffix("\n")
    return [Line(each, file, number) for number, each in enumerate(read.split("\n"), 1)]


def _span(statement: ast.stmt) -> tuple[int, int]:
    """Return the first and the last line of a statement, decorators included."""
    decorators = getattr(statement, "decorator_list", [])
    return (min([statement.lineno, *(each.lineno for each in decorators)]),
            statement.end_lineno or statement.lineno)


def _indent(source: Source, statement: ast.stmt) -> str:
    text = source.lines[statement.lineno - 1].text
    return text[: len(text) - len(text.lstrip())]


def _names(statement: ast.stmt) -> list[str]:
    """Return the names that a statement binds in its scope."""
    return sorted(_bound_in([statement]))


def _bound_in(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names that statements bind, including inside `if`, `try`, `for` and `with`."""
    names: set[str] = set()
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Function | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            names.update((each.asname or each.name).partition(".")[0] for each in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        waiting.extend(ast.iter_child_nodes(node))
    return names


def _class_of(tree: ast.Module, symbol: str) -> ast.ClassDef | None:
    """Return the class of "Class.method", the last one if there are several."""
    body: list[ast.stmt] = tree.body
    found = None
    for name in symbol.split(".")[:-1]:
        classes = [each for each in body if isinstance(each, ast.ClassDef) and each.name == name]
        if not classes:
            return None
        found = classes[-1]
        body = found.body
    return found


def _definitions(tree: ast.Module, symbol: str) -> list[ast.stmt]:
    """Return the statements that define a symbol: several for a property with a setter."""
    owner = _class_of(tree, symbol)
    if owner is None and "." in symbol:
        return []
    body: list[ast.stmt] = tree.body if owner is None else owner.body
    name = symbol.rpartition(".")[2]
    return [each for each in body if name in _names(each)]


def _loaded(statement: ast.stmt) -> list[ast.Name]:
    """Return the names that a statement reads but its functions do not bind."""
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    local = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    local |= {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)}
    return [node for node in names if isinstance(node.ctx, ast.Load) and node.id not in local]


def _functions(body: Sequence[ast.stmt], before: str = "") -> Iterator[tuple[str, Function]]:
    for each in body:
        if isinstance(each, Function):
            yield before + each.name, each
        elif isinstance(each, ast.ClassDef):
            yield from _functions(each.body, f"{before}{each.name}.")


def _symbols(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the names that a module binds; for a class, the names that its body binds."""
    for each in body:
        if isinstance(each, ast.ClassDef):
            yield from (f"{each.name}.{name}" for name in sorted(_bound_in(each.body)))
        elif not isinstance(each, ast.Import | ast.ImportFrom):
            yield from _names(each)


def _is_open(function: Function) -> bool:
    last = function.body[-1]
    return isinstance(last, ast.Raise) and "is yours to write" in ast.unparse(last)


def _head_end(tree: ast.Module) -> int:
    """Return the last line of the module's docstring and `__future__` imports."""
    end = 0
    for each in tree.body:
        is_text = isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
        if not is_text and not (isinstance(each, ast.ImportFrom) and each.module == "__future__"):
            return end or _span(each)[0] - 1
        end = each.end_lineno or each.lineno
    return end


def _head(function: Function) -> str:
    """Return a function's `def` line, without annotations."""
    function = ast.parse(textwrap.dedent(ast.unparse(function))).body[0]  # type: ignore[assignment]
    for each in ast.walk(function.args):
        if isinstance(each, ast.arg):
            each.annotation = None
    return f"def {function.name}({ast.unparse(function.args)}):"


def _span_without_parsing(lines: Sequence[str], symbol: str) -> tuple[int, int] | None:
    """Find a function's lines by indentation alone, and return them without its decorators."""
    first, last = 1, len(lines)
    indent: str | None = None
    for name in symbol.split("."):
        pattern = re.compile(rf"(\s*)(?:class|(?:async\s+)?def)\s+{name}\b")
        for number in range(first, last + 1):
            match = pattern.match(lines[number - 1])
            if match and (match[1] == "" if indent is None else len(match[1]) > len(indent)):
                break
        else:
            return None
        first, indent = number, match[1]
        for number in range(first + 1, last + 1):
            text = lines[number - 1]
            if not text.startswith((indent + " ", indent + "\t")) and _STATEMENT.match(text):
                last = number - 1
                break
    while last > first and lines[last - 1].strip()[:1] in ("", "#"):
        last -= 1
    return first, last


def _error_in(text: str, first: int, last: int) -> tuple[int, str] | None:
    """Return line and message of the syntax error in some lines of a text, or `None`."""
    lines = io.StringIO(text, newline=None).read().split("\n")[first - 1 : last]
    try:
        ast.parse("\n".join(["if True:" if lines[0][:1].isspace() else "", *lines]))
    except SyntaxError as error:
        words = re.sub(r"\bon line (\d+)", lambda found: f"on line {int(found[1]) + first - 2}",
                       error.msg)  # such as "after 'if' statement on line 27"
        return first - 1 + min(max((error.lineno or 2) - 1, 1), len(lines)), words
    return None
