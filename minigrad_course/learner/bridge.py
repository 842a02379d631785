"""List what a stage uses from earlier stages, for learners who start in the middle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from rich.markup import escape

from ..content.source import Definition, module
from ..content.stages import CourseError, Stage, stages

__all__ = ["Used", "bridge_lines", "used_from_earlier"]


@dataclass(frozen=True)
class Used:
    """A function, class or module of an earlier stage that a stage imports."""

    stage: Stage
    path: str
    name: str  # "" for the module as a whole
    summary: str


def used_from_earlier(stage: Stage) -> list[Used]:
    """Return what the modules of a stage import from modules that earlier stages teach.

    They are read from the import statements, so the list can't go stale.

    >>> from minigrad_course.content.stages import find_stage
    >>> [(each.stage.number, each.name) for each in used_from_earlier(find_stage("13a"))]
    [('07', 'no_grad')]
    """
    taught: dict[str, Stage] = {}
    for each in stages(stage.root):
        for path in each.modules if each.key < stage.key else ():
            taught.setdefault(path, each)
    found = {used for path in stage.modules for used in _imported(stage, path)
             if used[0] in taught and used[0] not in stage.modules}
    listed = [Used(taught[path], path, name, _summary(stage, path, name)) for path, name in found]
    return sorted((each for each in listed if each.summary),
                  key=lambda each: (each.stage.key, each.path, each.name))


def _imported(stage: Stage, path: str) -> Iterator[tuple[str, str]]:
    """Yield the path in the package and the name of each import of a module; "" is the module."""
    folder = path.split("/")[:-1]
    for node in ast.walk(module(stage.package, path).tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            parts = folder[: len(folder) - node.level + 1]
            parts += node.module.split(".") if node.module else []
            for alias in node.names:
                yield "/".join(parts) + ".py", alias.name
                yield "/".join([*parts, alias.name]) + ".py", ""


def _summary(stage: Stage, path: str, name: str) -> str:
    """Return the first line of a docstring; "" for a constant and for an imported name."""
    source = module(stage.package, path)
    try:
        found = source.find(name) if name else source.tree
    except CourseError:  # the module only imports it
        return ""
    told = ast.get_docstring(found) if isinstance(found, Definition | ast.Module) else None
    return (told or "").partition("\n")[0]


def bridge_lines(stage: Stage) -> Iterator[str]:
    """Yield lines in Rich's markup: what a stage uses from earlier ones, by stage."""
    found = used_from_earlier(stage)
    if not found:
        return
    yield f"Stage {stage.number} uses these parts of earlier stages:"
    for number in dict.fromkeys(each.stage.number for each in found):
        here = [each for each in found if each.stage.number == number]
        yield f"  {number} {escape(here[0].stage.words['title'])}"
        for each in here:
            yield f"    {escape(each.name or each.path)}: {escape(each.summary)}"
