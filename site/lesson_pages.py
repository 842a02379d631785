"""A page for each lesson and a page of exercises for each stage, as README.md promises them."""

from __future__ import annotations

import json
import re
import textwrap
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from course_map import course_map
from pictures import pictures, prints_a_graph
from prose import anchor, code, front_matter, table
from source_pages import source_name

from minigrad_course.dev.lesson import (
    PREDICT,
    Block,
    fill_rests,
    parse,
    picture_file,
    picture_words,
)
from minigrad_course.dev.source import about, module
from minigrad_course.dev.source import parts as task_parts
from minigrad_course.stages import CourseError, Hole, Stage, stages

__all__ = ["course_table", "exercise_page", "exercises_index", "graphs_of",
           "lesson_page", "lessons_index",
           "page_data", "script_element", "stepper_html", "stepper_program"]

#: Stands between the task and the hints of each exercise.
GLOSSARY = ("Names of the package's inside, in the task and the hints: "
            "[glossary](../glossary.md#names-in-the-exercises).\n{ .mg-facts }\n")
STEPPERS = Path(__file__).with_name("steppers")
NOT_RUN = {"timing": "It is not run here: what it prints is a time, which differs each time.",
           "gpu": "It is not run here: it needs a GPU.",
           "torch": "It is not run here: it needs PyTorch.",
           "heavy": "It is not run here: it takes too long for a page."}


# --- lessons ----------------------------------------------------------------------------------


def blocks_of(stage: Stage) -> list[Block]:
    """Return a lesson's blocks, those of the modules' rests filled in, and the stepper's."""
    blocks = parse(stage.text(), stage.lesson.name)
    fill_rests(blocks, stage, lambda path: f"../source/{source_name(path)}.md")
    if stepper_program(stage).exists():
        words, program = parse(stepper_program(stage).read_text(encoding="utf-8"), stage.key)
        program.kind = "stepper"
        blocks += [Block("text", f"\n{words.text}"), program]
    return blocks


def is_shown(block: Block) -> bool:
    """Whether a block is one of Python that the runtime is told of."""
    return block.kind in ("run", "draft", "raises", "pull", "show", "stepper") or (
        block.kind == "not run" and block.fence.startswith("```python"))


def lesson_page(stage: Stage) -> str:
    """Return a lesson as a page: every block of Python in an element that names it."""
    parts, number = [], 0
    for block in blocks_of(stage):
        if block.kind == "text":
            parts.append(block.text.replace("](../docs/en/", "](../"))
        elif block.kind == "rest":
            parts.append(f"\n{block.text}\n")
        elif block.kind == "picture":
            parts.append(_picture(stage, block))
        elif block.kind == "widget":
            parts.append(f"\n<!-- widget: {block.detail} -->\n")
        elif is_shown(block):
            number += 1
            parts.append(_block(stage, block, number))
        else:
            parts.append(code(block.text, block.fence.lstrip("`")))
    head, _, body = "\n".join(parts).partition("\n")
    title = head.removeprefix("# ")
    description = f"Lesson {stage.number} of minigrad's course: {stage.words['title']}."
    return (front_matter(title=title, description=description, stage=stage.key, page="lesson")
            + f"{head}\n\n{_facts(stage)}\n{body}\n")


def _facts(stage: Stage) -> str:
    facts = [f"Stage {stage.number}", f"about {stage.minutes} minutes"]
    if stage.holes:
        facts.append(f"[{len(stage.holes)} exercises](../exercises/{stage.key}.md)")
    facts.append(f"[as a notebook](../notebooks/{stage.key}.ipynb){{ download }}")
    text = " · ".join(facts)
    if stage.modules:
        text += "<br>Rebuilds " + ", ".join(f"[`{path}`](../source/{source_name(path)}.md)"
                                            for path in stage.modules) + "."
    return f"{text}\n{{ .mg-facts }}\n"


def _picture(stage: Stage, block: Block) -> str:
    """A picture within the page, so that its colours follow the page's switch.

    The style sheet that it brings is left out: `pictures.css` is that of the page.
    """
    svg = picture_file(stage, block.detail).read_text(encoding="utf-8")
    svg = re.sub(r"<style>.*?</style>\n", "", svg, flags=re.DOTALL)
    return ('\n<figure class="mg-figure" markdown="1">\n\n'
            f"<div data-search-exclude>\n{svg}</div>\n\n"
            f"{picture_words(block)[1]}\n{{ .mg-caption }}\n\n</figure>\n")


def _block(stage: Stage, block: Block, number: int) -> str:
    attributes = f'data-kind="{block.kind}" data-detail="{block.detail}"'
    inner = code(block.text)
    if block.kind == "not run":
        inner += f"\n{NOT_RUN[block.detail]}\n{{ .mg-note }}\n"
    if block.printed is not None and block.runs:
        printed = code(block.printed, "text")
        shown = f'\n<div class="mg-output" markdown="1">\n\n{printed}\n</div>\n'
        inner += shown if not block.predicted else (
            f'\n<details class="mg-predict" markdown="1">\n<summary>{PREDICT}</summary>\n{shown}'
            "\n</details>\n")
        picture = f"{stage.key}-{number}-graph.svg"
        if picture in graphs_of(stage):
            inner += f"\n![The graph that is printed above, drawn]({picture})\n"
    if block.kind == "stepper":
        inner += (f'\n<iframe class="mg-stepper" src="../{stage.key}-steps.html" loading="lazy" '
                  f'title="A backward pass, step by step"></iframe>\n')
    return (f'\n<div class="mg-block" id="block-{number}" {attributes} markdown="1">\n\n'
            f"{inner}\n</div>\n")


@cache
def graphs_of(stage: Stage) -> dict[str, str]:
    """Return the pictures of the graphs that a lesson prints, by their file's name."""
    shown = [block for block in blocks_of(stage) if is_shown(block)]
    running = [block for block in shown if block.runs]
    places = [shown.index(block) + 1 for block in running if prints_a_graph(block.text)]
    drawn = pictures([block.text for block in running])
    return {f"{stage.key}-{place}-graph.svg": picture for place, picture in zip(places, drawn)}


def stepper_program(stage: Stage) -> Path:
    """Where the program of a stage's stepper lies, if it has one."""
    return STEPPERS / f"{stage.key}.md"


def stepper_html(stage: Stage) -> str:
    """Return the page of the backward pass of a stage's stepper."""
    import ast
    import contextvars

    from minigrad import viz

    program = stepper_program(stage)
    tree = ast.parse(blocks_of(stage)[-1].text, str(program))
    last = tree.body.pop()
    if not isinstance(last, ast.Expr):
        raise CourseError(f"{program}: the last line is to be an expression")
    names: dict[str, Any] = {}

    def made() -> str:
        exec(compile(tree, str(program), "exec"), names)
        loss = eval(compile(ast.Expression(last.value), str(program), "eval"), names)
        return viz.backward_steps(loss, names=names).html

    return contextvars.Context().run(made)  # sequence numbers start at 0


def lessons_index(root: Path) -> str:
    """Return the page that lists all lessons: the map of the course."""
    return (front_matter(title="Lessons") + "# Lessons\n\n"
            "Each lesson begins with code that you can run and ends with a part of the engine that "
            "you have written. [The course](../course.md) tells how to take it on a machine of "
            "your own, and [all exercises](../exercises/index.md) have a list too.\n\n"
            + course_map(root, ""))


# --- exercises --------------------------------------------------------------------------------


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
        f"{len(stage.holes)} exercises, {points} points · [the lesson](../lessons/{stage.key}.md)\n"
        "{ .mg-facts }\n",
        f"On your machine, `minigrad run {stage.number}` tests them all; "
        f"{'your file is' if len(files) == 1 else 'your files are'} {', '.join(files)}.\n",
    ]
    parts += [_exercise(stage, hole) for hole in stage.holes]
    return "\n".join(parts)


def _exercise(stage: Stage, hole: Hole) -> str:
    words = stage.words["hole"][hole.id]
    name = "ex-" + hole.id.replace(".", "-")
    points = f"{hole.points} point" + "s" * (hole.points != 1) + f" · {about(stage, hole)}"
    named: dict[str, list[str]] = {}
    for path, _, symbol in (each.partition(":") for each in hole.symbols):
        named.setdefault(path, []).append(f"`{symbol}`")
    where = ", ".join(f"{', '.join(symbols)} in `{path}`" for path, symbols in named.items())
    needs = f" · needs {', '.join(hole.needs)} as well" if hole.needs else ""
    hints = "\n".join(
        f'<details class="mg-hint" markdown="1">\n<summary>Hint {number} of {len(words["hints"])}'
        f"</summary>\n\n{hint}\n\n</details>\n" for number, hint in enumerate(words["hints"], 1))
    return (f'<section class="mg-exercise" id="{name}" data-hole="{hole.id}" markdown="1">\n\n'
            f"## {hole.id} {words['title']}\n\n{points} · {where}{needs}\n{{ .mg-facts }}\n\n"
            f"{_task(words['task'])}\n\n{_signatures(stage, hole)}\n{GLOSSARY}\n{hints}\n"
            '<div class="mg-editor"></div>\n\n</section>\n')


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
    import ast

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
    every = [stage for stage in stages(root) if stage.holes]
    count = sum(len(stage.holes) for stage in every)
    points = sum(hole.points for stage in every for hole in stage.holes)
    parts.append(f"{count} exercises with {points} points in {len(every)} stages. Each is "
                 "graded by the package's own tests: what you write stands in for the package's "
                 "module.\n")
    for stage in every:
        parts.append(f"## {stage.number} {stage.words['title']}\n\n"
                     f"[All exercises of this stage]({stage.key}.md) · "
                     f"[the lesson](../lessons/{stage.key}.md)\n")
        rows = []
        for hole in stage.holes:
            title = stage.words["hole"][hole.id]["title"]
            rows.append([hole.id, f"[{title}]({stage.key}.md#{anchor(f'{hole.id} {title}')})",
                         str(hole.points)])
        parts.append(table(["", "exercise", "points"], rows))
    return "\n".join(parts)


def course_table(text: str, root: Path) -> str:
    """Return the course's page with its table leading to lessons and exercises."""
    for stage in stages(root):
        before = f"| {stage.number} | {stage.words['title']} |"
        text = text.replace(before, f"| {stage.number} | [{stage.words['title']}]"
                                    f"(lessons/{stage.key}.md) |")
    return text


# --- what the runtime gets --------------------------------------------------------------------


def page_data(stage: Stage, page: str) -> dict[str, Any]:
    """Return what a page of a stage hands to the runtime."""
    data: dict[str, Any] = {"page": page, "stage": stage.key, "number": stage.number,
                            "title": stage.words["title"], "root": "../.."}
    if page == "lesson":
        shown = [block for block in blocks_of(stage) if is_shown(block)]
        data["exercises"] = f"../../exercises/{stage.key}/" if stage.holes else None
        data["blocks"] = [
            {"id": f"block-{number}", "kind": block.kind, "detail": block.detail,
             "code": block.text, "expected": block.printed}
            for number, block in enumerate(shown, 1)]
        return data
    holes = []
    for hole in stage.holes:
        words = stage.words["hole"][hole.id]
        holes.append({"id": hole.id, "title": words["title"], "points": hole.points,
                      "symbols": list(hole.symbols), "needs": list(hole.needs),
                      "task": words["task"], "hints": list(words["hints"])})
    return data | {
        "lesson": f"../../lessons/{stage.key}/",
        "files": {path: stage.handed_out(path) for path in stage.modules},
        "solutions": {path: stage.solution(path).read_text(encoding="utf-8")
                      for path in stage.modules},
        "holes": holes, "symptoms": dict(stage.words.get("symptoms", {}))}


def script_element(data: dict[str, Any]) -> str:
    """Return the element that holds a page's data; nothing in it ends the element early."""
    text = json.dumps(data, ensure_ascii=False).replace("</", "<\\/").replace("<!--", "<\\u0021--")
    return f'<script type="application/json" id="mg-data">{text}</script>'
