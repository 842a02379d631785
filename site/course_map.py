"""The map of the course: an ordered list of the stages, which a script fills with progress."""

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
_CIRCLE = '<circle{} cx="10" cy="10" r="8"/>'
RING = ('<svg class="mg-ring" viewBox="0 0 20 20" aria-hidden="true">' + _CIRCLE.format("")
        + _CIRCLE.format(' class="mg-solved" pathLength="100" stroke-dasharray="0 100"') + "</svg>")


def builds_on(stage: Stage, earlier: Sequence[Stage]) -> list[str]:
    """Return the keys of the earlier stages to which a stage's lesson leads back."""
    named = set(re.findall(r"\]\((\w+)\.md", stage.text()))
    return [each.key for each in earlier if each.key in named]


def course_map(root: Path, lessons: str) -> str:
    """Return the map as HTML; `lessons` leads from its page to the folder of the lessons."""
    every = stages_of(root)
    items = []
    for place, stage in enumerate(every):
        count = len(stage.holes)
        facts = f"{stage.minutes} min" + (f" · {count} exercises" if count else "")
        holes = " ".join(hole.id for hole in stage.holes)
        items.append(
            f'<li data-stage="{stage.key}" data-holes="{holes}" '
            f'data-back="{" ".join(builds_on(stage, every[:place]))}">'
            f'<a href="{lessons}{stage.key}/">{RING}<span><b>{stage.number}</b> '
            f"{escape(stage.words['title'])}<small>{facts}</small></span></a></li>")
    holes = sum(len(stage.holes) for stage in every)
    hours = round(sum(stage.minutes for stage in every) / 60)
    return ('<div class="mg-map">\n'
            f"<p>{len(every)} stages with {holes} exercises, about {hours} hours. "
            '<span class="mg-map-says" aria-live="polite"></span></p>\n'
            f"<ol>{''.join(items)}</ol>\n</div>\n")
