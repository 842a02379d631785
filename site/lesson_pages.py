"""A page for each lesson, as README.md promises it; the editors of its exercises stand in it."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from course_map import course_map
from course_stages import stages_of
from exercise_pages import exercises_data, with_exercises
from pictures import pictures, prints_a_graph
from prose import code, front_matter
from source_pages import source_name

from minigrad_course.content.lesson_blocks import (
    PREDICT,
    Block,
    fill_rests,
    parse,
    picture_file,
    picture_words,
)
from minigrad_course.content.stages import Stage

__all__ = ["course_table", "graphs_of", "lesson_page", "lessons_index", "page_data",
           "script_element", "search_tags"]

NOT_RUN = {"timing": "It is not run here: what it prints is a time, which differs each time.",
           "gpu": "It is not run here: it needs a GPU.",
           "torch": "It is not run here: it needs PyTorch.",
           "heavy": "It is not run here: it takes too long for a page."}


# --- lessons ----------------------------------------------------------------------------------


def blocks_of(stage: Stage) -> list[Block]:
    """Return a lesson's blocks, those of the modules' rests filled in."""
    blocks = parse(stage.text(), stage.lesson.name)
    fill_rests(blocks, stage, lambda path: f"../source/{source_name(path)}.md")
    return blocks


def here(text: str) -> str:
    """Return a lesson's text without the words that lead to the site, where it is read.

    >>> here("On the site, drag it. It grows: on the site you can watch it.")
    'Drag it. It grows: you can watch it.'
    >>> here("Write `f` in `exercises/00_chain_rule.py`. It is short.")
    'Write `f` in the editor below. It is short.'
    """
    text = re.sub(r"\bOn the site,? (\w)", lambda found: found[1].upper(), text)
    text = re.sub(r"\bon the site,? (?=you can)", "", text)
    return re.sub(r"\b(Write `\w+` in) `exercises/\w+\.py`", r"\1 the editor below", text)


def is_shown(block: Block) -> bool:
    """Whether a block is one of Python that the runtime is told of."""
    return block.kind in ("run", "draft", "raises", "pull", "show") or (
        block.kind == "not run" and block.fence.startswith("```python"))


def is_replaced(after: list[Block]) -> bool:
    """Whether the next block is a figure to play with, which replaces a still picture of it."""
    return next((block.kind == "widget" for block in after
                 if block.kind != "text" or block.text.strip()), False)


def lesson_page(stage: Stage) -> str:
    """Return a lesson as a page: every block of Python in an element that names it."""
    parts, number = [], 0
    blocks = blocks_of(stage)
    for place, block in enumerate(blocks):
        if block.kind == "text":
            parts.append(here(block.text).replace("](../docs/en/", "](../"))
        elif block.kind == "rest":
            parts.append(f"\n{block.text}\n")
        elif block.kind == "picture":
            if not is_replaced(blocks[place + 1 :]):
                parts.append(_picture(stage, block))
        elif block.kind == "widget":
            parts.append(f"\n<!-- widget: {block.detail} -->\n")
        elif is_shown(block):
            number += 1
            if number == 1:
                parts = [_with_bar("\n".join(parts))]
            parts.append(_block(stage, block, number))
        else:
            parts.append(code(block.text, block.fence.lstrip("`")))
    head, _, body = with_exercises("\n".join(parts), stage).partition("\n")
    title = head.removeprefix("# ")
    description = f"Lesson {stage.number} of minigrad's course: {stage.words['title']}."
    return (front_matter(title=title, description=description, stage=stage.key, page="lesson",
                         search={"boost": 2})
            + f"{head}\n\n{_facts(stage)}\n{body}\n")


def search_tags(stage: Stage) -> list[str]:
    """Return the words that find a lesson first: "lesson 3"."""
    number = stage.number.lstrip("0")
    return [f"lesson {number if number[:1].isdigit() else stage.number[1:]}"]


def _facts(stage: Stage) -> str:
    facts = [f"Lesson {stage.number.lstrip('0') or '0'}", f"stage {stage.number}",
             f"about {stage.minutes} minutes"]
    if stage.holes:
        facts.append(f"[{len(stage.holes)} exercises](../exercises/{stage.key}.md)")
    facts.append(f"[as a notebook](../notebooks/{stage.key}.ipynb){{ download }}")
    text = " · ".join(facts)
    if stage.modules:
        text += ". <br>Rebuilds " + ", ".join(f"[`{path}`](../source/{source_name(path)}.md)"
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


def _with_bar(above: str) -> str:
    """What stands above the first block, with the bar for all blocks: not in what is folded."""
    folded = above.count("<details") > above.count("</details>")
    place = above.rindex("<details") if folded else len(above)
    return f'{above[:place]}\n<div class="mg-bar"></div>\n\n{above[place:]}'


def _block(stage: Stage, block: Block, number: int) -> str:
    attributes = f'data-kind="{block.kind}" data-detail="{block.detail}"'
    inner = code(block.text)
    if block.kind == "not run":
        inner += f"\n{NOT_RUN[block.detail]}\n{{ .mg-note }}\n"
    if block.runs:
        inner += '\n<div class="mg-tools"></div>\n'
    if block.printed is not None and block.runs:
        printed = code(block.printed, "text")
        shown = f'\n<div class="mg-output" markdown="1">\n\n{printed}\n</div>\n'
        inner += shown if not block.predicted else (
            '\n<div class="mg-guessed"></div>\n'
            f'\n<details class="mg-predict" markdown="1">\n<summary>{PREDICT}</summary>\n{shown}'
            "\n</details>\n")
        picture = f"{stage.key}-{number}-graph.svg"
        if picture in graphs_of(stage):
            inner += f"\n![The graph that is printed above, drawn]({picture})\n"
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


def lessons_index(root: Path) -> str:
    """Return the page that lists all lessons: the map of the course."""
    return (front_matter(title="Lessons") + "# Lessons\n\n"
            "Each lesson begins with code that you can run and ends with a part of the engine that "
            "you have written. [The course](../course.md) tells how to take it on a machine of "
            "your own, and [all exercises](../exercises/index.md) have a list too.\n\n"
            + course_map(root, ""))


def course_table(text: str, root: Path) -> str:
    """Return the course's page with its table leading to lessons and exercises."""
    for stage in stages_of(root):
        before = f"| {stage.number} | {stage.words['title']} |"
        text = text.replace(before, f"| {stage.number} | [{stage.words['title']}]"
                                    f"(lessons/{stage.key}.md) |")
    return text


# --- what the runtime gets --------------------------------------------------------------------


def page_data(stage: Stage, page: str) -> dict[str, Any]:
    """Return what a page of a stage hands to the runtime."""
    data: dict[str, Any] = {"page": page, "stage": stage.key, "number": stage.number,
                            "title": stage.words["title"], "root": "../.."}
    data |= exercises_data(stage, page)
    if page == "lesson":
        shown = [block for block in blocks_of(stage) if is_shown(block)]
        data["blocks"] = [
            {"id": f"block-{number}", "kind": block.kind, "detail": block.detail,
             "code": block.text, "expected": block.printed,
             **({"answers": block.answers} if block.answers else {})}
            for number, block in enumerate(shown, 1)]
    return data


def script_element(data: dict[str, Any]) -> str:
    """Return the element that holds a page's data; nothing in it ends the element early."""
    text = json.dumps(data, ensure_ascii=False).replace("</", "<\\/").replace("<!--", "<\\u0021--")
    return f'<script type="application/json" id="mg-data">{text}</script>'
