"""Exercises: each within its lesson, all of a stage on a page, and what their editors get."""

from __future__ import annotations

import ast
import doctest
import re
import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from course_stages import stages_of
from prose import code, front_matter, table

from minigrad_course.content.source import Module, about, module, names_of
from minigrad_course.content.source import parts as task_parts
from minigrad_course.content.stages import Hole, Stage
from minigrad_course.running.trial import module_name

__all__ = ["exercise_page", "exercises_data", "exercises_index", "section_id", "stage_file",
           "with_exercises"]

#: Stands between the task and the hints of each exercise.
GLOSSARY = ("Names of the package's inside, in the task and the hints: "
            "[glossary](../glossary.md#names-in-the-exercises).\n{ .mg-facts }\n")
#: Stands above the exercises; the runtime fills the bar.
ABOVE = """Write in the page: your code is tested here, by the tests and the diagnosis of the terminal's course. This is practice: a grade comes from `minigrad run` or from a class. In the editor Tab indents, Escape and then Tab leads out of it, Ctrl+Enter runs.
{ .mg-note }

<div class="mg-bar"></div>
"""  # noqa: E501
#: What is tried where no docstring shows an example.
PASS = """import minigrad as torch

x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
z = (x * y).sigmoid() + x * x
z.backward()
print(x.grad, y.grad)
"""
_TURN = re.compile(r"^### Your turn: (?P<holes>[\w. ]+)$", re.MULTILINE)
#: The first thing after the words of "Your turn" that is not part of them.
_AFTER = re.compile(r"^(#{1,6} |<details|<div |<figure|<!-- )", re.MULTILINE)
_IN_TERMINAL = re.compile(r"Then:\n\n```text\n(minigrad run [\w.]+)\n```\n")


def section_id(hole: Hole) -> str:
    """Return the address of an exercise within its pages."""
    return "ex-" + hole.id.replace(".", "-")


# --- within a lesson --------------------------------------------------------------------------


def with_exercises(text: str, stage: Stage) -> str:
    """Return a lesson's page with each exercise below its "Your turn"."""
    pieces, end = [], 0
    for found in _TURN.finditer(text):
        holes = [hole for hole in stage.holes if hole.id in found["holes"].split()]
        after = _AFTER.search(text, found.end())
        place = after.start() if after else len(text)
        said = _IN_TERMINAL.sub(r"Test it here, or in a terminal with `\1`.\n",
                                text[found.end():place])
        sections = "\n".join(_in_lesson(stage, hole) for hole in holes)
        pieces += [text[end:found.start()], _turn_heading(stage, holes), said, sections, "\n"]
        end = place
    return "".join([*pieces, text[end:]])


def _turn_heading(stage: Stage, holes: list[Hole]) -> str:
    title = stage.words["hole"][holes[0].id]["title"] if len(holes) == 1 else ""
    numbers = " and ".join(hole.id for hole in holes)
    return f"### Your turn: {numbers} {title}".rstrip()


def _in_lesson(stage: Stage, hole: Hole) -> str:
    """An exercise where a lesson asks for it: its task stands in the function, as in the file."""
    return (f'<section class="mg-exercise" id="{section_id(hole)}" data-hole="{hole.id}" '
            f'aria-label="Exercise {hole.id}" markdown="1">\n\n'
            f"**{hole.id} {stage.words['hole'][hole.id]['title']}** · {_facts(stage, hole)}\n"
            f"{{ .mg-facts .mg-title }}\n\n{_editor(stage, hole)}\n{_hints(stage, hole)}\n"
            "</section>\n")


def _editor(stage: Stage, hole: Hole) -> str:
    """The function as it is handed out, in the place that the editor takes.

    With its lines the page knows how much room the editor will need.
    """
    file = hole.symbols[0].partition(":")[0]  # with which the editor begins
    source = Module.from_text(file, stage.handed_out(file))
    text = "\n\n".join(source.cut(source.find(symbol)) for path, _, symbol in
                       (each.partition(":") for each in hole.symbols) if path == file)
    lines = text.count("\n") + 3  # and those that say how much is folded
    files = '<div class="mg-files"></div>\n' if len(stage.modules) > 1 else ""
    return (f'<div class="mg-editor" style="--mg-lines: {lines}" markdown="1">\n\n{files}'
            f'<div class="mg-code" markdown="1">\n\n{code(text)}\n</div>\n'
            '<div class="mg-tools"></div>\n\n</div>\n')


# --- a page for each stage --------------------------------------------------------------------


def exercise_page(stage: Stage) -> str:
    """Return the page of a stage's exercises: task, the place to fill in and folded hints."""
    title = f"Exercises of stage {stage.number}: {stage.words['title']}"
    points = sum(hole.points for hole in stage.holes)
    files = [f"`exercises/{stage.exercise(path, Path()).as_posix()}`" for path in stage.modules]
    parts = [
        front_matter(title=f"{stage.number} {stage.words['title']}", stage=stage.key,
                     page="exercises",
                     description=f"Exercises of stage {stage.number} of minigrad's course."),
        f"# {title}\n",
        f"{len(stage.holes)} exercises, {points} points · "
        f"[the lesson, where each of them stands in its place](../lessons/{stage.key}.md)\n"
        "{ .mg-facts }\n",
        ABOVE,
        f"On your machine, `minigrad run {stage.number}` tests them all; "
        f"{'your file is' if len(files) == 1 else 'your files are'} {', '.join(files)}.\n",
    ]
    parts += [_exercise(stage, hole) for hole in stage.holes]
    return "\n".join(parts)


def _exercise(stage: Stage, hole: Hole) -> str:
    words = stage.words["hole"][hole.id]
    return (f'<section class="mg-exercise" id="{section_id(hole)}" data-hole="{hole.id}" '
            f'aria-label="Exercise {hole.id}" markdown="1">\n\n'
            f"## {hole.id} {words['title']}\n\n{_facts(stage, hole)}\n{{ .mg-facts }}\n\n"
            f"{_task(words['task'])}\n\n{_signatures(stage, hole)}\n{GLOSSARY}\n"
            f"{_hints(stage, hole)}\n{_editor(stage, hole)}\n</section>\n")


def _facts(stage: Stage, hole: Hole) -> str:
    """Points, length, functions and files."""
    named: dict[str, list[str]] = {}
    for path, _, symbol in (each.partition(":") for each in hole.symbols):
        named.setdefault(path, []).append(f"`{symbol}`")
    where = ", ".join(f"{', '.join(symbols)} in `{path}`" for path, symbols in named.items())
    needs = f" · needs {', '.join(hole.needs)} as well" if hole.needs else ""
    return (f"{hole.points} point" + "s" * (hole.points != 1)
            + f" · {about(stage, hole)} · {where}{needs}")


def _hints(stage: Stage, hole: Hole) -> str:
    hints = stage.words["hole"][hole.id]["hints"]
    return "\n".join(
        f'<details class="mg-hint" markdown="1">\n<summary>Hint {number} of {len(hints)}'
        f"</summary>\n\n{hint}\n\n</details>\n" for number, hint in enumerate(hints, 1))


def _task(text: str) -> str:
    """A task as Markdown; stars that would set words apart, as in `*args`, stay stars."""
    found = []
    for kind, group in groupby(task_parts(text), key=lambda part: part[0]):
        lines = [part for _, part in group]
        if kind == "example":
            found.append(code(textwrap.dedent("\n".join(lines)), "text").rstrip())
        else:
            found.append(("\n" if kind == "item" else "\n\n").join(map(_escaped, lines)))
    return "\n\n".join(found)


def _escaped(text: str) -> str:
    pieces = re.split(r"(`+[^`]*`+)", text)
    return "".join(piece if piece.startswith("`")
                   else piece.replace("*", r"\*").replace("<", "&lt;") for piece in pieces)


def _signatures(stage: Stage, hole: Hole) -> str:
    lines = []
    for symbol in hole.symbols:
        path, _, name = symbol.partition(":")
        function = module(stage.package, path).function(name)
        decorators = [f"@{ast.unparse(each)}" for each in function.decorator_list]
        arguments = ast.unparse(function.args)
        returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
        lines.append("\n".join([*decorators, f"def {function.name}({arguments}){returns}: ..."]))
    return code("\n".join(lines))


def exercises_index(root: Path) -> str:
    """Return the page that lists all exercises."""
    parts = [front_matter(title="Exercises"), "# Exercises\n"]
    every = [stage for stage in stages_of(root) if stage.holes]
    count = sum(len(stage.holes) for stage in every)
    points = sum(hole.points for stage in every for hole in stage.holes)
    parts.append(f"{count} exercises with {points} points in {len(every)} stages. Each stands in "
                 "its lesson, below the words that lead to it, and is graded by the package's own "
                 "tests: what you write stands in for the package's module.\n")
    for stage in every:
        parts.append(f"## {stage.number} {stage.words['title']}\n\n"
                     f"[The lesson](../lessons/{stage.key}.md) · "
                     f"[all exercises of this stage on one page]({stage.key}.md)\n")
        rows = []
        for hole in stage.holes:
            title = stage.words["hole"][hole.id]["title"]
            rows.append([hole.id, f"[{title}](../lessons/{stage.key}.md#{section_id(hole)})",
                         str(hole.points)])
        parts.append(table(["", "exercise", "points"], rows))
    return "\n".join(parts)


# --- what the runtime gets --------------------------------------------------------------------


def exercises_data(stage: Stage, page: str) -> dict[str, Any]:
    """Return what a page hands to the runtime of its exercises; texts are in `stage_file`."""
    if not stage.holes:
        return {"holes": [], "files": []}
    titles = stage.words["hole"]
    data: dict[str, Any] = {
        "files": list(stage.modules),
        "holes": [{"id": hole.id, "title": titles[hole.id]["title"], "points": hole.points,
                   "symbols": list(hole.symbols), "needs": list(hole.needs)}
                  for hole in stage.holes]}
    if page == "exercises":
        data["lesson"] = f"../../lessons/{stage.key}/"
    else:
        data["exercises"] = f"../../exercises/{stage.key}/"
    known = stages_of(stage.root)
    if later := known[known.index(stage) + 1:]:
        data["next"] = {"title": f"{later[0].number} {later[0].words['title']}",
                        "href": f"../../lessons/{later[0].key}/"}
    return data


def stage_file(stage: Stage) -> dict[str, Any]:
    """Return what the editors of a stage get once one of them is seen."""
    return {"files": {path: stage.handed_out(path) for path in stage.modules},
            "solutions": {path: stage.solution(path).read_text(encoding="utf-8")
                          for path in stage.modules},
            "trials": {hole.id: trial_program(stage, hole) for hole in stage.holes}}


def trial_program(stage: Stage, hole: Hole) -> str:
    """Return a program to begin with on one's own engine: what the functions' docstrings show."""
    lines: list[str] = []
    names: dict[str, set[str]] = {}
    for symbol in hole.symbols:
        path, _, name = symbol.partition(":")
        source = module(stage.package, path)
        shown = list(_shown(ast.get_docstring(source.function(name)) or ""))
        used = {each.id for line in shown for each in ast.walk(ast.parse(line))
                if isinstance(each, ast.Name)}
        if shown:
            names.setdefault(path, set()).update(used & _names_in(source))
        if "numpy" in used and "import numpy" not in lines:
            lines.insert(0, "import numpy")
        lines += shown
    if not lines:
        return PASS
    imports = [f"from {module_name(path)} import {', '.join(sorted(found))}"
               for path, found in names.items() if found]
    return "\n".join([*imports, *lines, ""])


def _names_in(source: Module) -> set[str]:
    """Return the names that a module defines or imports, not those for type checkers alone."""
    found = set()
    for statement in source.tree.body:
        found.update(names_of(statement))
        if isinstance(statement, ast.Import | ast.ImportFrom):
            found.update(each.asname or each.name for each in statement.names)
    return found


def _shown(docstring: str) -> Iterator[str]:
    """Yield the examples of a docstring as lines of a program: a value is printed."""
    for example in doctest.DocTestParser().get_examples(docstring):
        source = example.source.rstrip()
        tree = ast.parse(source)
        if example.want and len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) \
                and not source.startswith("print("):
            yield f"print({source})"
        else:
            yield source
