"""What somebody wrote for an exercise, as tokens that renaming and rearranging lines leave alone.

NOTE [Tokens]
    The tokens are the nodes of the syntax tree in the order of the text, so comments, blank lines,
    parentheses and quotes are gone from the start.  Docstrings, annotations and the text of strings
    are left out.  Every name that the answer itself gives (parameters, locals, functions and
    attributes of its own) is the same token, because renaming is what a copy does first; names of
    the module, of the package and of Python stay, because they are not for the learner to choose.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..dev.source import Definition, Function, docstring_of
from ..stages import Stage

__all__ = ["Token", "answers", "shipped"]

_FORGOTTEN = (ast.expr_context, ast.Pass, ast.alias, ast.Import, ast.ImportFrom, ast.Global,
              ast.Nonlocal)


@dataclass(frozen=True)
class Token:
    """One token and the line where it stands."""

    text: str
    path: str
    line: int


def answers(stage: Stage, texts: dict[str, str], stubs: dict[str, str]) -> dict[str, list[Token]]:
    """Return the tokens of what was written for each hole.

    That is the bodies of its functions, and those functions of the learner's own, which the
    exercise (`stubs`) does not have, that the hole comes to.  What is no Python gives no tokens.
    """
    written: dict[str, list[Token]] = {hole.id: [] for hole in stage.holes}
    for path in texts:
        try:
            mine, stub = ast.parse(texts[path]), ast.parse(stubs[path])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        known, given = _definitions(stub), _definitions(mine)
        own: dict[str, Definition] = {
            name: node for name, node in given.items()
            if name not in known and isinstance(node, Function)}
        for hole in stage.holes:
            bodies = [given[name] for symbol in hole.symbols if symbol.startswith(f"{path}:")
                      and (name := symbol.partition(":")[2]) in given]
            nodes = [*bodies, *_reached(bodies, own)]
            names = _given_names(nodes, stub)
            for node in nodes:
                written[hole.id] += [Token(text, path, line)
                                     for text, line in _tokens(node, names)]
    return written


def _definitions(tree: ast.Module) -> dict[str, Definition]:
    """Return the functions, classes and methods of a module by name, "Class.method" for these."""
    found: dict[str, Definition] = {}
    for each in tree.body:
        if isinstance(each, Definition):
            found[each.name] = each
        if isinstance(each, ast.ClassDef):
            found |= {f"{each.name}.{inner.name}": inner for inner in each.body
                      if isinstance(inner, Function)}
    return found


def _reached(bodies: Sequence[Definition], own: dict[str, Definition]) -> list[Definition]:
    """Return those of the learner's own functions that some bodies name, and those these name."""
    by_name: dict[str, list[Definition]] = {}
    for name, node in own.items():
        by_name.setdefault(name.rpartition(".")[2], []).append(node)
    found: list[Definition] = []
    waiting: list[Definition] = list(bodies)
    while waiting:
        for each in ast.walk(waiting.pop()):
            called = getattr(each, "id", None) or getattr(each, "attr", None)
            for node in by_name.pop(called, ()) if isinstance(called, str) else ():
                found.append(node)
                waiting.append(node)
    return sorted(found, key=lambda node: node.lineno)


def _given_names(nodes: Sequence[Definition], stub: ast.Module) -> set[str]:
    """Return the names that an answer gives by itself; `.name` for an attribute."""
    fixed = {f".{each.attr}" for each in ast.walk(stub) if isinstance(each, ast.Attribute)}
    names: set[str] = set()
    for node in nodes:
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                names.add(each.id)
            elif isinstance(each, ast.arg):
                names.add(each.arg)
            elif isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
                names.add(f".{each.attr}")
            elif isinstance(each, Function):
                names |= {each.name, f".{each.name}"}
            elif isinstance(each, ast.ExceptHandler) and each.name:
                names.add(each.name)
    return names - fixed


def _tokens(definition: Definition, names: set[str]) -> Iterator[tuple[str, int]]:
    """Yield the tokens of a definition's body with their lines."""
    body = definition.body[docstring_of(definition) is not None:]
    waiting: list[ast.AST] = list(reversed(body))
    line = definition.lineno
    while waiting:
        node = waiting.pop()
        if isinstance(node, _FORGOTTEN):
            continue
        line = getattr(node, "lineno", line)
        yield _text(node, names), line
        children = list(ast.iter_child_nodes(node))
        for hidden in ("annotation", "returns"):
            if (child := getattr(node, hidden, None)) in children and child is not None:
                children.remove(child)
        if isinstance(node, Definition) and (doc := docstring_of(node)) is not None:
            children.remove(doc)
        waiting += reversed(children)


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


def shipped(stubs: dict[str, str]) -> list[list[str]]:
    """Return the tokens of each function that the exercise has already."""
    found = []
    for text in stubs.values():
        tree = ast.parse(text)
        for node in _definitions(tree).values():
            if isinstance(node, Function):
                found.append([text for text, _ in _tokens(node, _given_names([node], tree))])
    return found
