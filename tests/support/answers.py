"""Answers to exercises that were written from their tasks alone, not from the package's source.

`tests/answers/NN_x.py` holds functions called as the exercise's are; everything else in it (imports
and functions of its own) goes into the module beside the function that stands next to it.
"""

from __future__ import annotations

import ast
from pathlib import Path

from minigrad_course.content.source import Module, body_span
from minigrad_course.content.stages import Stage

FOLDER = Path(__file__).parents[1] / "answers"


def answers(stage: Stage) -> list[str]:
    """Return the names of the answers to a stage."""
    return sorted(path.stem for path in FOLDER.glob(f"{stage.number}_*.py"))


def answered(stage: Stage, name: str) -> dict[str, str]:
    """Return the exercise's files, by path in the package, with an answer written into them."""
    given = Module.read(FOLDER / f"{name}.py", name)
    texts = {path: stage.exercise(path).read_text(encoding="utf-8") for path in stage.modules}
    asked: dict[str, list[str]] = {}  # two modules may ask for one name: in the holes' order
    for path, _, symbol in (each.partition(":") for hole in stage.holes for each in hole.symbols):
        asked.setdefault(symbol, []).append(path)
    names = [symbol for symbol, _ in _functions(given)]
    where = {symbol: paths[0] for symbol, paths in asked.items()}
    for position, (symbol, node) in enumerate(_functions(given)):
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
    mark = "from __future__ import annotations\n"
    return {path: text.replace(mark, mark + "".join(f"{each}\n" for each in imports), 1)
            for path, text in texts.items()}


def _functions(given: Module) -> list[tuple[str, ast.FunctionDef]]:
    """Return the functions and methods in an answer, in order."""
    found = []
    for each in given.tree.body:
        if isinstance(each, ast.FunctionDef):
            found.append((each.name, each))
        elif isinstance(each, ast.ClassDef):
            found += [(f"{each.name}.{node.name}", node) for node in each.body
                      if isinstance(node, ast.FunctionDef)]
    return found
