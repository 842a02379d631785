"""Mechanical rewritings of the package's answers: each changes the text and keeps what it computes.

A student who copies can apply them without understanding the code.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator

from minigrad_course.content.source import Module, body_span
from minigrad_course.content.stages import Stage
from tests.support.disguises import (
    Copied,
    Texts,
    _cycle,
    _strewn,
    copied,
    indented,
    package,
    renamed,
    shipped,
    with_bodies,
)

__all__ = ["REWRITINGS"]

#: Values that have no parts to name, or whose parts run later or perhaps never.
_WHOLE = (ast.Name, ast.Constant, ast.Starred, ast.BoolOp, ast.IfExp, ast.Lambda, ast.ListComp,
          ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Yield, ast.YieldFrom, ast.NamedExpr,
          ast.JoinedStr, ast.Slice, ast.Compare, ast.FormattedValue)


def _blocks(tree: ast.AST) -> Iterator[tuple[ast.AST, str, list[ast.stmt]]]:
    for node in list(ast.walk(tree)):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield node, name, block


def _statement_by_statement(body: str, write: Callable[[ast.stmt], list[ast.stmt]]) -> str:
    tree = ast.parse(body)
    for node, name, block in list(_blocks(tree)):
        setattr(node, name, [new for each in block for new in write(each)])
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


class _Naming(ast.NodeTransformer):
    """Gives each part of an expression a name first."""

    def __init__(self, names: Iterator[str]) -> None:
        self.names, self.before = names, list[ast.stmt]()

    def visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, ast.expr) or isinstance(node, _WHOLE):
            return node
        if isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            is_super = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) \
                and node.func.id == "super"
            made = self.generic_visit(node)
            if is_super or isinstance(made, ast.Tuple | ast.List | ast.Set | ast.Dict):
                return made
            name = next(self.names)
            self.before.append(ast.Assign([ast.Name(name, ast.Store())], made))
            return ast.Name(name, ast.Load())
        return self.generic_visit(node)


def _named(body: str) -> str:
    names = (f"_part{number}" for number in itertools.count())

    def write(each: ast.stmt) -> list[ast.stmt]:
        if not isinstance(each, ast.Assign | ast.Return | ast.Expr | ast.Raise):
            return [each]
        naming = _Naming(names)
        for field in ("value", "exc"):
            value = getattr(each, field, None)
            if value is not None:
                setattr(each, field, naming.visit(value))
        return [*naming.before, each]

    return _statement_by_statement(body, write)


class _ByHelper(ast.NodeTransformer):
    """Reads every attribute through a function."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return ast.Call(ast.Name("_read", ast.Load()), [node.value, ast.Constant(node.attr)], [])


def _by_helper(body: str) -> str:
    return ast.unparse(ast.fix_missing_locations(_ByHelper().visit(ast.parse(body)))) + "\n"


def _timed(each: Copied) -> str:
    """Hold the function in a docstring, and let `timeit` run it."""
    # the docstring begins with an empty line, because the indent of the others is measured
    text = f"\nglobal {each.flat}\n{each.function(each.flat)}"
    return (f"def _about_{each.flat}():\n    {text!r}\n\n\nimport pydoc\nimport timeit\n"
            f"_space{each.flat} = dict(globals())\ntimeit.timeit(pydoc.getdoc(_about_{each.flat}), "
            f"number=1, globals=_space{each.flat})\n")


def _names(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)
            and isinstance(each.ctx, context)}


def _is_plain(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and all(isinstance(each, ast.Name) for each in node.targets
                                                ) and not any(isinstance(each, ast.Call | ast.Yield)
                                                              for each in ast.walk(node))


def _reordered(body: str) -> str:
    """Exchange neighbours that do not depend on each other, after naming their parts."""
    tree = ast.parse(_named(body))
    for _, _, block in _blocks(tree):
        for i in range(len(block) - 1):
            one, other = block[i], block[i + 1]
            if _is_plain(one) and _is_plain(other) and not (
                    _names(one, ast.Store) & _names(other, ast.Load)
                    or _names(other, ast.Store) & (_names(one, ast.Load) | _names(one, ast.Store))):
                block[i], block[i + 1] = other, one
    return ast.unparse(tree) + "\n"


def _split(body: str, name: str) -> tuple[str, str]:
    """Return a body whose expressions are in functions, and these functions."""
    helpers: list[str] = []

    def write(each: ast.stmt) -> list[ast.stmt]:
        value = getattr(each, "value", None)
        if not isinstance(each, ast.Assign | ast.Return) or value is None or isinstance(
                value, ast.Name | ast.Constant) or any(isinstance(one, (
                    ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)) or (
                    isinstance(one, ast.Name) and one.id in ("super", "__class__"))
                    for one in ast.walk(value)):
            return [each]
        stored = {one.id for node in ast.walk(value) if isinstance(node, ast.comprehension)
                  for one in ast.walk(node.target) if isinstance(one, ast.Name)}
        free = sorted((_names(value, ast.Load) & local) - stored)
        helper = f"piece{name}_{len(helpers)}"  # "__x" would be another name in a class
        helpers.append(f"def {helper}({', '.join(free)}):\n    return {ast.unparse(value)}\n")
        each.value = ast.Call(ast.Name(helper, ast.Load()),
                              [ast.Name(one, ast.Load()) for one in free], [])
        return [each]

    tree = ast.parse(body)
    local = _names(tree, ast.Store) | _LOCAL[name]
    return _statement_by_statement(body, write), "\n\n".join(helpers)


_LOCAL: dict[str, set[str]] = {}


def _in_helpers(stage: Stage) -> Texts:
    after = {}

    def body(each: Copied) -> str:
        tree = ast.parse(f"def f({each.arguments}): pass").body[0]
        _LOCAL[each.flat] = {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)}
        made, after[each.flat] = _split(each.body, each.flat)
        return made

    return with_bodies(stage, body, lambda each: after[each.flat])


class _Looped(ast.NodeTransformer):
    """Turns comprehensions that are assigned or returned into loops."""

    def __init__(self) -> None:
        self.count = 0

    def _loop(self, node: ast.stmt) -> object:
        value = getattr(node, "value", None)
        if not isinstance(value, ast.ListComp | ast.DictComp | ast.SetComp):
            return node
        self.count += 1
        name = f"_made{self.count}"
        owner = ast.Name(name, ast.Load())
        if isinstance(value, ast.DictComp):
            inner: ast.stmt = ast.Assign([ast.Subscript(owner, value.key, ast.Store())],
                                         value.value)
            empty: ast.expr = ast.Dict([], [])
        else:
            word = "append" if isinstance(value, ast.ListComp) else "add"
            inner = ast.Expr(ast.Call(ast.Attribute(owner, word, ast.Load()), [value.elt], []))
            empty = ast.List([], ast.Load()) if word == "append" else ast.Call(
                ast.Name("set", ast.Load()), [], [])
        for each in reversed(value.generators):
            for condition in reversed(each.ifs):
                inner = ast.If(condition, [inner], [])
            inner = ast.For(each.target, each.iter, [inner], [])
        node.value = owner
        return [ast.Assign([ast.Name(name, ast.Store())], empty), inner, node]

    visit_Assign = visit_Return = _loop


def _comprehended(body: str) -> str:
    """Turn a loop that only fills a new list into a comprehension."""
    tree = ast.parse(body)
    for node, name, block in list(_blocks(tree)):
        made: list[ast.stmt] = []
        for each in block:
            before = made[-1] if made else None
            if isinstance(each, ast.For) and not each.orelse and len(each.body) == 1 \
                    and isinstance(before, ast.Assign) and isinstance(before.value, ast.List) \
                    and not before.value.elts and isinstance(before.targets[0], ast.Name):
                inner, ifs = each.body[0], []
                while isinstance(inner, ast.If) and not inner.orelse and len(inner.body) == 1:
                    ifs.append(inner.test)
                    inner = inner.body[0]
                if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call) \
                        and isinstance(inner.value.func, ast.Attribute) \
                        and inner.value.func.attr == "append" \
                        and isinstance(inner.value.func.value, ast.Name) \
                        and inner.value.func.value.id == before.targets[0].id:
                    before.value = ast.ListComp(inner.value.args[0], [
                        ast.comprehension(each.target, each.iter, ifs, 0)])
                    continue
            made.append(each)
        setattr(node, name, made)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _loops(body: str) -> str:
    tree = ast.parse(_comprehended(body))
    turned = body if ast.unparse(tree) != ast.unparse(ast.parse(body)) else None
    if turned is not None:
        return ast.unparse(tree) + "\n"
    return ast.unparse(ast.fix_missing_locations(_Looped().visit(ast.parse(body)))) + "\n"


_DEAD = ("_spare = [number * 2 for number in range(3)]\nif len(_spare) > 5:\n    _spare.clear()",
         "_count = sum((1, 2, 3))\nwhile _count > 100:\n    _count = _count // 2",
         "_words = {'a': 1}\n_words['b'] = _words.get('a', 0) + 1")


def _all_at_once(stage: Stage) -> Texts:
    """Name, reorder, read by a helper, strew dead code, and rename."""
    made = with_bodies(stage, lambda each: _strewn(_by_helper(_reordered(each.body)),
                                                   _cycle(*_DEAD)))
    return renamed({path: f"{text}\n\ndef _read(owner, name):\n    return getattr(owner, name)\n"
                    for path, text in made.items()}, 1)


#: By name, what makes a stage's copy.
REWRITINGS: dict[str, Callable[[Stage], Texts]] = {
    "naming every subexpression": lambda stage: with_bodies(stage, lambda each: _named(each.body)),
    "getattr through a helper": lambda stage: {
        path: f"{text}\n\ndef _read(owner, name):\n    return getattr(owner, name)\n"
        for path, text in with_bodies(stage, lambda each: _by_helper(each.body)).items()},
    "a docstring that timeit runs": lambda stage: _rebound_text(stage),
    "renaming": lambda stage: renamed(package(stage), 7),
    "reordering independent statements": lambda stage: with_bodies(
        stage, lambda each: _reordered(each.body)),
    "splitting into helpers": _in_helpers,
    "loops to comprehensions and back": lambda stage: with_bodies(
        stage, lambda each: _loops(each.body)),
    "dead code": lambda stage: with_bodies(
        stage, lambda each: _strewn(each.body, _cycle(*_DEAD))),
    "all of these at once": _all_at_once,
}


def _rebound_text(stage: Stage) -> Texts:
    texts = shipped(stage)
    for each in copied(stage):
        target = Module.from_text(each.path, texts[each.path])
        node = target.function(each.symbol)
        first, last = body_span(target, node)
        lines = target.lines
        inner = (each.handing_on % f"_space{each.flat}[{each.flat!r}]") + "\n"
        lines[first - 1 : last] = indented(inner, " " * (node.col_offset + 4)).rstrip().split("\n")
        texts[each.path] = "\n".join([*lines, "", _timed(each)]) + "\n"
        ast.parse(texts[each.path])
    return texts
