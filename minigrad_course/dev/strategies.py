"""Strategies for an exercise: right and wrong answers that were written from the task alone.

A mutant is an edit of the package's answer, so it shares the package's algorithm, while a strategy
may use any other algorithm.  `tests/answers/strategies/03_6.py` contains the strategies for
exercise 03.6, each below a header that marks it as right or wrong:

    # right: sweep until nothing changes
    # wrong 03_6_judged_early: one pass over the reversed breadth-first order

The name after `wrong` is the expected symptom, or `-` if no symptom matches and the learner sees
the rule of the first failing test.  Functions above the first header belong to every strategy that
does not define them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..content.source import Module, blank, body_span
from ..content.stages import Hole, Stage

__all__ = ["Strategy", "put_in", "strategies", "with_strategy"]

_HEAD = re.compile(r"^# (?:(right)|wrong (\S+)): (.*)\n", re.M)


@dataclass(frozen=True)
class Strategy:
    """One way to write an exercise: functions and methods, called as the exercise's are."""

    name: str
    is_right: bool
    symptom: str | None
    text: str


def strategies(stage: Stage, hole: Hole) -> list[Strategy]:
    """Return the strategies for an exercise; none if it has no file."""
    file = stage.root / "tests" / "answers" / "strategies" / f"{hole.id.replace('.', '_')}.py"
    if not file.is_file():
        return []
    text = file.read_text(encoding="utf-8")
    heads = list(_HEAD.finditer(text))
    ends = [*(each.start() for each in heads[1:]), len(text)]
    shared = Module.from_text(file.name, text[: heads[0].start()])
    return [Strategy(head[3], bool(head[1]), None if head[2] in (None, "-") else head[2],
                     completed(text[head.end() : end], shared))
            for head, end in zip(heads, ends, strict=True)]


def completed(text: str, shared: Module) -> str:
    """Return a strategy's text with the shared functions that it does not define.

    >>> shared = Module.from_text("shared", "class A:\\n    def f(self): pass\\n")
    >>> print(completed("def g(): pass\\n", shared), end="")
    def g(): pass
    class A:
        def f(self): pass
    """
    own = {symbol for symbol, _ in Module.from_text("strategy.py", text).functions()}
    for symbol, node in shared.functions():
        if symbol not in own:
            owner = symbol.rpartition(".")[0]
            first, last = shared.span(node)
            lines = [f"class {owner}:"] * bool(owner) + shared.lines[first - 1 : last]
            text += "".join(f"{line}\n" for line in lines)
    return text


def with_strategy(stage: Stage, hole: Hole, strategy: Strategy) -> dict[str, str]:
    """Return the package's text of each module of a stage, with a strategy for one exercise."""
    texts = {path: blank(stage, path, [hole]) for path in stage.modules}
    return put_in(stage, Module.from_text("strategy.py", strategy.text), texts, [hole])


def put_in(stage: Stage, given: Module, texts: dict[str, str], holes: Sequence[Hole]
           ) -> dict[str, str]:
    """Return a stage's texts with the functions of an answer to some exercises written into them.

    Functions and imports of the answer's own go into the module of the exercise next to them.
    """
    texts = dict(texts)
    asked: dict[str, list[str]] = {}  # two modules may ask for one name: in the holes' order
    for path, _, symbol in (each.partition(":") for hole in holes for each in hole.symbols):
        asked.setdefault(symbol, []).append(path)
    names = [symbol for symbol, _ in given.functions()]
    where = {symbol: paths[0] for symbol, paths in asked.items()}
    for position, (symbol, node) in enumerate(given.functions()):
        owner, _, _ = symbol.rpartition(".")
        nearest = next(each for each in names[position:] + names[:position][::-1]
                       if each in where and each.startswith(f"{owner}." if owner else ""))
        path = where[nearest] if symbol not in asked else asked[symbol].pop(0)
        target = Module.from_text(path, texts[path])
        lines = target.lines
        if symbol in where:
            first, last = body_span(target, target.function(symbol))
            start, end = body_span(given, node)
            lines[first - 1 : last] = given.lines[start - 1 : end]
        else:
            begin, end = given.span(node)
            end_of = target.find(owner).end_lineno if owner else len(lines)
            lines[end_of:end_of] = ["", *([] if owner else [""]), *given.lines[begin - 1 : end]]
        texts[path] = "\n".join(lines) + "\n"
    imports = [given.cut(each) for each in given.tree.body
               if isinstance(each, ast.Import | ast.ImportFrom)]
    return {path: with_imports(text, imports) for path, text in texts.items()}


def with_imports(text: str, imports: Sequence[str]) -> str:
    """Return a module's text with more imports, after its docstring and `__future__`.

    >>> with_imports("'It doubles.'\\nx = 2\\n", ["import math"])
    "'It doubles.'\\nimport math\\nx = 2\\n"
    """
    lines = text.splitlines(keepends=True)
    body = ast.parse(text).body
    position = 0
    for each in body:
        is_docstring = each is body[0] and isinstance(each, ast.Expr)
        if not is_docstring and getattr(each, "module", "") != "__future__":
            break
        assert each.end_lineno is not None
        position = each.end_lineno
    return "".join([*lines[:position], *(f"{each}\n" for each in imports), *lines[position:]])
