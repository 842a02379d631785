"""Turn answers into tokens that do not change when names and line breaks change.

NOTE [Tokens]
    The tokens are the nodes of the normalized syntax tree (normal.py), in the order of the text, so
    comments, blank lines, parentheses and quotes are ignored from the start.  Docstrings,
    annotations and the contents of strings are left out.  All names that the answer itself defines
    (parameters, locals, its own functions and attributes) become the same token, because a copy is
    usually renamed first.  Names of the module, the package and Python stay, because the learner
    cannot choose them.

NOTE [Where an answer lies]
    The answer to an exercise is the requested body, all of the learner's own code that it uses
    (functions, methods, classes, tables, in any file of the stage), and each statement of the
    module that names the exercise, such as an assignment.  The rest of the learner's own code is
    kept as `elsewhere`, because it may contain a copy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..content.source import Definition, Function, docstring_of
from ..content.stages import Stage
from .flow import Flow, Globals
from .normal import in_one_form
from .readable import parsed

__all__ = ["Token", "Written", "answers", "functions", "shipped", "statements"]

_FORGOTTEN = (ast.expr_context, ast.Pass, ast.alias, ast.Import, ast.ImportFrom, ast.Global,
              ast.Nonlocal)


@dataclass(frozen=True)
class Token:
    """One token and its line."""

    text: str
    path: str
    line: int
    begins: bool = False  # whether it begins a statement


@dataclass(frozen=True)
class Written:
    """A learner's code for a stage."""

    holes: dict[str, list[Token]]
    elsewhere: list[Token] = field(default_factory=list)  # own code that no exercise uses
    flows: dict[str, Flow] = field(default_factory=dict)  # by exercise, and of all code as ""


@dataclass(frozen=True)
class _Own:
    """A statement that the exercise does not contain; compared by identity."""

    path: str
    node: ast.stmt
    names: tuple[str, ...]  # by which other code can use it

    def __hash__(self) -> int:
        return id(self.node)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Own) and other.node is self.node


def answers(stage: Stage, texts: dict[str, str], stubs: dict[str, str]) -> Written:
    """Return the tokens of the learner's code; skip text that is not Python.

    `stubs` are the exercise's files, whose code does not count.
    """
    bodies: dict[str, list[_Own]] = {hole.id: [] for hole in stage.holes}
    own: list[_Own] = []
    fixed: set[str] = set()  # names in the exercise, which the learner did not choose
    for path in texts:
        if (mine := parsed(texts[path])) is None:
            continue
        stub = ast.parse(stubs[path])
        fixed |= _names_in(stub)
        given = _definitions(mine)
        for hole in stage.holes:
            bodies[hole.id] += [_Own(path, given[name], ()) for symbol in hole.symbols
                                if symbol.startswith(f"{path}:")
                                and (name := symbol.partition(":")[2]) in given]
        asked = {id(each.node) for found in bodies.values() for each in found}
        own += [each for each in _own_statements(path, mine, stub) if id(each.node) not in asked]
    for each in [*own, *(one for found in bodies.values() for one in found)]:
        in_one_form(each.node)
    taken: set[_Own] = set()
    written = {}
    about = _globals(own, fixed, [*own, *(one for found in bodies.values() for one in found)],
                     texts)
    flows = {}
    for hole in stage.holes:
        asked_for = {symbol.rpartition(":")[2].rpartition(".")[2] for symbol in hole.symbols}
        loose = [each for each in own if not each.names and not asked_for.isdisjoint(
            _named(each.node))]
        nodes = [*bodies[hole.id], *_reached([*bodies[hole.id], *loose], own)]
        taken.update(nodes)
        written[hole.id] = _as_tokens(nodes, own, fixed)
        flows[hole.id] = _flow(bodies[hole.id], nodes, about)
    left = [each for each in own if each not in taken]
    flows[""] = _flow((), left, about)
    return Written(written, _as_tokens(left, own, fixed), flows)


def _globals(own: Sequence[_Own], fixed: set[str], nodes: Sequence[_Own],
             texts: Mapping[str, str]) -> Globals:
    """Return what an answer's names refer to, and which of them the learner chose."""
    attributes = {name for name in given_names((each.node for each in nodes), fixed)
                  if name.startswith(".")}
    chosen = frozenset(attributes.union(*(each.names for each in own)) - fixed)
    about = Globals.of([each.node for each in own], chosen)
    about.paths = {id(inner): each.path for each in nodes for inner in ast.walk(each.node)
                   if isinstance(inner, ast.stmt)}
    for text in texts.values():
        tree = parsed(text)
        for each in () if tree is None else tree.body:
            if isinstance(each, ast.Import | ast.ImportFrom):
                about.modules |= {name.asname: name.name for name in each.names if name.asname}
    return about


def _flow(bodies: Sequence[_Own], nodes: Sequence[_Own], about: Globals) -> Flow:
    """Follow the bodies of an exercise, and then all other code that they did not call.

    Raises RecursionError or MemoryError for a text that is too deep or too long, because a part of
    it could not be compared.
    """
    flow = Flow(about)
    for each in bodies:
        flow.run(each.node)
    for each in nodes:
        if id(each.node) not in flow.followed and each not in bodies:
            flow.run(each.node)
    return flow.done()


def _definitions(tree: ast.Module) -> dict[str, Definition]:
    """Return a module's functions, classes and methods by name, "Class.method" for methods."""
    found: dict[str, Definition] = {}
    for each in tree.body:
        if isinstance(each, Definition):
            found[each.name] = each
        if isinstance(each, ast.ClassDef):
            found |= {f"{each.name}.{inner.name}": inner for inner in each.body
                      if isinstance(inner, Function)}
    return found


def _own_statements(path: str, mine: ast.Module, stub: ast.Module) -> Iterator[_Own]:
    """Yield a module's statements that the exercise lacks, including methods of its classes."""
    known = _definitions(stub)
    kept = {ast.dump(each) for each in stub.body if not isinstance(each, Definition)}
    seen: set[str] = set()
    for each in mine.body:
        if isinstance(each, ast.Import | ast.ImportFrom):
            continue
        if isinstance(each, ast.ClassDef) and each.name in known and each.name not in seen:
            seen.add(each.name)
            methods = {name for name in known if name.startswith(f"{each.name}.")}
            there = {ast.dump(inner) for inner in getattr(known[each.name], "body", ())}
            for inner in each.body:
                name = getattr(inner, "name", "")
                if f"{each.name}.{name}" not in methods and ast.dump(inner) not in there:
                    yield _Own(path, inner, (name,) if name else ())
        elif isinstance(each, Definition):
            if each.name not in known or each.name in seen:
                yield _Own(path, each, (each.name,))
            seen.add(each.name)
        elif ast.dump(each) not in kept:
            targets = each.targets if isinstance(each, ast.Assign) else ()
            yield _Own(path, each, tuple(one.id for target in targets for one in ast.walk(target)
                                         if isinstance(one, ast.Name)
                                         and isinstance(one.ctx, ast.Store)))


def _named(node: ast.AST) -> set[str]:
    """Return every name, attribute and string in some code."""
    return {word for each in ast.walk(node) for field in ("id", "attr", "value", "name")
            if isinstance(word := getattr(each, field, None), str)}


def _reached(begin: Sequence[_Own], own: Sequence[_Own]) -> list[_Own]:
    """Return the learner's own code that some code names, directly or indirectly."""
    by_name: dict[str, list[_Own]] = {}
    for each in own:
        for name in each.names:
            by_name.setdefault(name, []).append(each)
    found = [each for each in begin if each in own]
    waiting = list(begin)
    while waiting:
        for called in sorted(_named(waiting.pop().node) & by_name.keys()):
            for each in by_name.pop(called):
                if each not in found:
                    found.append(each)
                    waiting.append(each)
    return sorted(found, key=lambda each: (each.path, each.node.lineno))


def _as_tokens(nodes: Sequence[_Own], own: Sequence[_Own], fixed: set[str]) -> list[Token]:
    attributes = {name for name in given_names((each.node for each in [*nodes, *own]), fixed)
                  if name.startswith(".")}
    known = attributes.union(*(each.names for each in own)) - fixed
    return [token for each in nodes
            for token in tokens(each.node, each.path, known | given_names([each.node], fixed))]


def _names_in(stub: ast.Module) -> set[str]:
    """Return the attributes, methods, functions and classes in a module, `.x` for attributes."""
    found: set[str] = set()
    for each in ast.walk(stub):
        if isinstance(each, ast.Attribute):
            found.add(f".{each.attr}")
        elif isinstance(each, Definition):
            found |= {each.name, f".{each.name}"}
        elif isinstance(each, ast.Import | ast.ImportFrom):
            found |= {name.asname or name.name for name in each.names}
    return found


def given_names(nodes: Iterable[ast.AST], fixed: set[str]) -> set[str]:
    """Return the names that some code defines itself, `.name` for an attribute."""
    names: set[str] = set()
    for node in nodes:
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                names.add(each.id)
            elif isinstance(each, ast.arg):
                names.add(each.arg)
            elif isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
                names.add(f".{each.attr}")
            elif isinstance(each, Definition):
                names |= {each.name, f".{each.name}"}
            elif isinstance(each, ast.ExceptHandler) and each.name:
                names.add(each.name)
    return names - fixed


def tokens(node: ast.AST, path: str, names: set[str]) -> Iterator[Token]:
    """Yield the tokens of a statement; for a function or a class, only its body's tokens."""
    waiting: list[ast.AST] = [node]
    if isinstance(node, Definition):
        waiting = list(reversed(_without_docstring(node)))
    line = getattr(node, "lineno", 1)
    while waiting:
        each = waiting.pop()
        if isinstance(each, _FORGOTTEN):
            continue
        line = getattr(each, "lineno", line)
        yield Token(_text(each, names), path, line, isinstance(each, ast.stmt))
        children = list(ast.iter_child_nodes(each))
        for hidden in ("annotation", "returns"):
            if (child := getattr(each, hidden, None)) in children and child is not None:
                children.remove(child)
        if isinstance(each, Definition):
            left_out = [*each.decorator_list, docstring_of(each)]
            children = [child for child in children if child not in left_out]
        waiting += reversed(children)


def _without_docstring(node: Definition) -> list[ast.stmt]:
    return node.body[docstring_of(node) is not None :]


def _text(node: ast.AST, names: set[str]) -> str:
    if isinstance(node, ast.Name):
        return "name" if node.id in names else node.id
    if isinstance(node, ast.arg):
        return "name"
    if isinstance(node, ast.Attribute):
        return ".name" if f".{node.attr}" in names else f".{node.attr}"
    if isinstance(node, ast.Constant):
        return "text" if isinstance(node.value, str | bytes) else f"{node.value!r:.20}"
    return type(node).__name__


def statements(found: Sequence[Token]) -> list[list[Token]]:
    """Split tokens into statements; the head of a compound statement counts as one."""
    parts: list[list[Token]] = []
    for token in found:
        if token.begins or not parts:
            parts.append([])
        parts[-1].append(token)
    return parts


def functions(path: str, text: str) -> Iterator[tuple[str, list[Token]]]:
    """Yield the name and the tokens of each function and method of a module."""
    tree = ast.parse(text)
    for name, node in _definitions(tree).items():
        if isinstance(node, Function):
            in_one_form(node)
            yield name, list(tokens(node, path, given_names([node], set())))


def shipped(stubs: dict[str, str]) -> list[list[Token]]:
    """Return the tokens of each function that the exercise already contains."""
    found = []
    for path, text in stubs.items():
        tree = ast.parse(text)
        fixed = {name for name in _names_in(tree) if name.startswith(".")}
        for node in _definitions(tree).values():
            if isinstance(node, Function):
                in_one_form(node)
                found.append(list(tokens(node, path, given_names([node], fixed))))
    return found
