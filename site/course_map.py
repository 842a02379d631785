"""The map of the course: the stages in order, the ones each builds on, and the free choices.

A script fills it with the reader's progress.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from course_stages import stages_of

from minigrad_course.content.stages import Stage

__all__ = ["COMMENT", "builds_on", "course_map"]

#: Stands in a page where the map is to be.
COMMENT = "<!-- course map -->"
#: The last stage of the common beginning: a value, a function, the graph, the engine.
LAST_IN_ORDER = "03_engine"
MARK = '<span class="mg-mark" role="img" aria-label="any order">◆</span>'
_CIRCLE = '<circle{} cx="10" cy="10" r="8"/>'
RING = ('<svg class="mg-ring" viewBox="0 0 20 20" aria-hidden="true">' + _CIRCLE.format("")
        + _CIRCLE.format(' class="mg-solved" pathLength="100" stroke-dasharray="0 100"') + "</svg>")


def builds_on(stage: Stage, earlier: Sequence[Stage]) -> list[str]:
    """Return the keys of the earlier stages to which a stage's lesson leads back."""
    named = set(re.findall(r"\]\((\w+)\.md", stage.text()))
    return [each.key for each in earlier if each.key in named]


def is_way_in(stage: Stage, every: Sequence[Stage]) -> bool:
    """Return whether a stage comes after the common beginning and builds on that alone."""
    keys = [each.key for each in every]
    last, place = keys.index(LAST_IN_ORDER), keys.index(stage.key)
    return place > last and set(builds_on(stage, every[:place])) <= set(keys[: last + 1])


def course_map(root: Path, lessons: str) -> str:
    """Return the map as HTML; `lessons` leads from its page to the folder of the lessons."""
    every = stages_of(root)
    items = []
    for place, stage in enumerate(every):
        count = len(stage.holes)
        facts = f"{stage.minutes} min" + (f" · {count} exercises" if count else "")
        holes = " ".join(hole.id for hole in stage.holes)
        back = builds_on(stage, every[:place])
        needs = ", ".join(each.number for each in every if each.key in back)
        mark = f" {MARK}" if is_way_in(stage, every) else ""
        shown = f'<small class="mg-needs">builds on {needs}</small>' if needs else ""
        items.append(
            f'<li data-stage="{stage.key}" data-holes="{holes}" data-back="{" ".join(back)}">'
            f'<a href="{lessons}{stage.key}/">{RING}<span><b>{stage.number}</b> '
            f"{escape(stage.words['title'])}{mark}<small>{facts}</small>{shown}</span></a></li>")
    holes = sum(len(stage.holes) for stage in every)
    hours = round(sum(stage.minutes for stage in every) / 60)
    first = ", ".join(each.number for each in every if each.key <= LAST_IN_ORDER)
    return ('<div class="mg-map">\n'
            f"<p>{len(every)} stages with {holes} exercises, about {hours} hours. "
            f"Begin with {first}. After that, go on at any stage with a mark ({MARK}), in any "
            "order, because the package's own code replaces the stages that you skip. "
            '<span class="mg-map-says" aria-live="polite"></span></p>\n'
            f"<ol>{''.join(items)}</ol>\n</div>\n")
