"""Find the stages and exercises that a command line names, such as 03.2, 05-08 or 13."""

from __future__ import annotations

import difflib

from .stages import CourseError, Hole, Stage, stages

__all__ = ["exercises_named", "one_exercise", "stages_named"]


def stages_named(text: str, known: list[Stage] | None = None) -> list[Stage]:
    """Return the stages that a text names, in the order of the course.

    "13" names 13a and 13b, because there is no stage 13; "03" names 03 but not 03b.  Raises
    CourseError for an unknown name, with similar names.

    >>> [stage.number for stage in stages_named("5, 13a, 02-03")]
    ['02', '03', '05', '13a']
    >>> [stage.number for stage in stages_named("13")]
    ['13a', '13b']
    """
    known = stages() if known is None else known
    chosen: set[str] = set()
    for part in text.split(","):
        first, _, last = (each.strip() for each in part.partition("-"))
        begin, end = _matching(first, known), _matching(last or first, known)
        low, high = known.index(begin[0]), known.index(end[-1])
        if low > high:
            raise CourseError(f"{part.strip()!r} runs backwards: {end[0].number} is before "
                              f"{begin[0].number}")
        chosen.update(stage.key for stage in known[low : high + 1])
    return [stage for stage in known if stage.key in chosen]


def exercises_named(text: str, known: list[Stage] | None = None
                    ) -> list[tuple[Stage, list[Hole]]]:
    """Return the stages that a text names, each with its named exercises.

    The text can mix numbers of exercises and stages, and ranges of either.  Stages without
    exercises are left out; if there are no others, raises CourseError.

    >>> [(stage.number, [hole.id for hole in holes])
    ...  for stage, holes in exercises_named("07.1, 03.2-03.4")]
    [('03', ['03.2', '03.3', '03.4']), ('07', ['07.1'])]
    """
    known = stages() if known is None else known
    chosen: dict[str, set[str]] = {}
    for part in (each.strip() for each in text.split(",")):
        if "." in part:
            for stage, hole in _range(part, known):
                chosen.setdefault(stage.key, set()).add(hole.id)
        else:
            for stage in stages_named(part, known):
                chosen.setdefault(stage.key, set()).update(hole.id for hole in stage.holes)
    named = [stage for stage in known if stage.key in chosen]
    if not any(stage.holes for stage in named):
        read = " and ".join(f"lessons/{stage.key}.md" for stage in named)
        raise CourseError(f"stage {named[0].number} has no exercises: read {read}, or run "
                          f"`minigrad lesson {named[0].number}`")
    return [(stage, [hole for hole in stage.holes if hole.id in chosen[stage.key]])
            for stage in named if stage.holes]


def _range(text: str, known: list[Stage]) -> list[tuple[Stage, Hole]]:
    """Return the exercises from one to another, "01.1-01.4" or "01.1-4"; or a single one."""
    first, dash, last = (each.strip() for each in text.partition("-"))
    if not dash:
        return [one_exercise(text, known)]
    begin = one_exercise(first, known)
    end = one_exercise(f"{begin[0].number}.{last}" if last.isdecimal() else last, known)
    everything = [(stage, hole) for stage in known for hole in stage.holes]
    low, high = everything.index(begin), everything.index(end)
    if low > high:
        raise CourseError(f"{text!r} runs backwards: {end[1].id} is before {begin[1].id}")
    return everything[low : high + 1]


def one_exercise(text: str, known: list[Stage] | None = None) -> tuple[Stage, Hole]:
    """Return the exercise that a text names; raise CourseError unless it names exactly one.

    >>> one_exercise("3.2")[1].id
    '03.2'
    """
    known = stages() if known is None else known
    number, dot, rest = text.partition(".")
    for stage in known:
        for hole in stage.holes:
            if hole.id == _padded(number) + dot + rest:
                return stage, hole
    if not dot:
        holes = [hole.id for stage in stages_named(text, known) for hole in stage.holes]
        if not holes:
            exercises_named(text, known)
        raise CourseError(f"{text!r} is not a single exercise; name one of {', '.join(holes[:8])}"
                          + (" ..." if len(holes) > 8 else ""))
    numbers = [hole.id for stage in known for hole in stage.holes]
    try:
        near = [hole.id for stage in stages_named(number, known) for hole in stage.holes]
    except CourseError:
        near = []
    same = [each for each in near if each.endswith(dot + rest)]
    close = (same or near or difflib.get_close_matches(text, numbers))[:8]
    raise CourseError(f"there is no exercise {text!r}"
                      + (f"; did you mean {_listed(close)}?" if close else
                         f"; `minigrad list` shows all {len(numbers)}"))


def _matching(name: str, known: list[Stage]) -> list[Stage]:
    """Return the stages with a name: a number, a key, or a key without its number."""
    number = _padded(name)
    for matches in (lambda stage: stage.number == number,
                    lambda stage: name in (stage.key, stage.key.partition("_")[2]),
                    lambda stage: stage.number.rstrip("abcdefgh") == number):
        found = [stage for stage in known if matches(stage)]
        if found:
            return found
    numbers = [stage.number for stage in known]
    names = [stage.key.partition("_")[2] for stage in known]
    near = [each for each in numbers if number[:2].isdecimal() and each[:2] == number[:2]]
    near = near or difflib.get_close_matches(name, names, 1)
    raise CourseError(f"there is no stage {name!r}"
                      + (f"; did you mean {_listed(near)}?" if near else
                         f"; the stages are {', '.join(numbers)}"))


def _padded(name: str) -> str:
    """Return a stage number padded to two digits: "3b" becomes "03b"."""
    return f"0{name}" if name[:1].isdecimal() and not name[1:2].isdecimal() else name


def _listed(names: list[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last
