"""The certificate, computed each time from progress.json and the capstone's results."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from minigrad import __version__

from ..content.stages import stages
from ..learner import skipped_stages
from ..learner.next_step import course_points, without_skipped
from ..learner.workspace import Workspace
from .results import read_results

__all__ = ["certificate", "counted", "operations_told", "standing"]

#: The share of held-out digits to reach.
WANTED = 0.97
WIDTH = 72
#: The title of each task on the certificate.
TITLES = {"digits": "digits", "spell": "spelling", "fault": "faults", "compile": "compiling"}


def standing(space: Workspace) -> list[tuple[str, bool, str]]:
    """Return the name of each capstone task, whether it is done, and its result."""
    found = read_results(space)
    digits, spell, fault, compiled = (found.get(part)
                                      for part in ("digits", "spell", "fault", "compile"))
    caught = fault.get("found", []) if fault else []
    return [
        ("digits", digits is not None and digits["right"] > WANTED * digits["of"],
         _digits(digits)),
        ("spell", spell is not None and spell["spelled"] >= 0.5, _spelled(spell)),
        ("fault", bool(caught), _caught(caught)),
        ("compile", compiled is not None, _compiled(compiled)),
    ]


def _digits(facts: dict[str, Any] | None) -> str:
    if facts is None:
        return "not tried yet"
    return (f"{facts['right']} of {facts['of']} held-out digits right, "
            f"{facts['right'] / facts['of']:.1%}, with {facts['weights']:,} weights")


def _spelled(facts: dict[str, Any] | None) -> str:
    if facts is None:
        return "not tried yet"
    return f"{facts['spelled']:.1%} of 200 words spelled correctly, loss {facts['loss']:.3f}"


def _caught(facts: list[dict[str, Any]]) -> str:
    if not facts:
        return "none found yet"
    best = min(facts, key=lambda each: (each["wrong"], each["questions"]))
    return (f"{len(facts)} found; the best after {counted(best['questions'], 'question')} and "
            f"{counted(best['wrong'], 'wrong answer')}")


def _compiled(facts: dict[str, Any] | None) -> str:
    if facts is None:
        return "not tried yet"
    (before, after), (slow, fast) = facts["bytes"], facts["milliseconds"]
    return (f"{after / 1e6:.2f} MB kept between the passes instead of {before / 1e6:.2f}, "
            f"{fast:.1f} ms a step instead of {slow:.1f}; the same losses")


def counted(number: int, what: str) -> str:
    """Return a number with its noun: "1 question", "2 questions"."""
    return f"{number} {what}" + "s" * (number != 1)


def operations_told(facts: dict[str, Any]) -> str:
    """Return how many of the operations in a training step ran code that the learner wrote."""
    own, ran = facts["own"], facts["ran"]
    return f"{own} of the {ran} operations in a training step ran code of yours"


def certificate(space: Workspace, name: str = "") -> str:
    """Return the certificate's text.

    An exercise counts as solved whether or not a hint was taken; answers shown before their
    exercise was solved are counted separately.  Skipped stages aren't counted, and neither is an
    encore that isn't begun.
    """
    return "\n".join(line.rstrip() for line in _lines(space, name)) + "\n"


def _lines(space: Workspace, name: str) -> Iterator[str]:
    known = space.progress()["holes"]
    left_out = skipped_stages.uncounted(space)
    graded = [stage for stage in stages() if stage.holes and (
        stage.number not in left_out or all(space.solved(hole) for hole in stage.holes))]
    holes = [hole for stage in stages() for hole in stage.holes
             if stage in graded or space.solved(hole)]
    solved = [hole for hole in holes if space.solved(hole)]
    earned, possible = course_points(space)
    shown = sum(bool(known[hole.id].get("gave_up")) for hole in solved)
    hints = sum(space.hints_taken(hole) for hole in solved)
    tried = read_results(space)
    parts = [each for each in standing(space) if each[0] != "compile" or "compile" in tried]
    done = bool(solved) and len(solved) == len(holes) and all(is_done for _, is_done, _ in parts)

    yield "=" * WIDTH
    yield "minigrad: an automatic differentiation engine, built by hand".center(WIDTH)
    yield ("CERTIFICATE" if done else "CERTIFICATE, SO FAR").center(WIDTH)
    if name:
        yield name.center(WIDTH)
    yield "=" * WIDTH
    yield _row("stages", f"{len(skipped_stages.solved_stages(space))} of {len(graded)} solved"
                         + without_skipped(space))
    yield _row("exercises", f"{len(solved)} of {len(holes)} solved, with "
                            f"{counted(hints, 'hint')} and {counted(shown, 'answer')} shown")
    yield _row("points", f"{earned} of {possible}")
    for part, is_done, figures in parts:
        figures += "" if is_done or figures.startswith("no") else ", below the goal"
        for n, line in enumerate(textwrap.wrap(figures, WIDTH - len(_row("", "")))):
            yield _row("" if n else TITLES[part], line)
        facts = tried.get(part, {})
        if "ran" in facts:
            yield _row("", operations_told(facts))
    yield "-" * WIDTH
    yield f"measured by minigrad {__version__} from progress.json and .minigrad/capstone.json"


def _row(title: str, text: str) -> str:
    return f"  {title:11}{text}"
