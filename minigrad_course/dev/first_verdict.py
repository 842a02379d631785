"""Draws the README's picture: a wrong answer, its verdict, a right answer, solved.

The picture moves.  A second one is still, for readers who prefer reduced motion: browsers do
not tell an image about that, so the README chooses between the two.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ..content.source import body_span, module
from ..content.stages import Stage, find_stage
from ..pictures import Picture
from ..pictures.terminal import Command, Edit, Output, terminal

__all__ = ["ALT", "pictures_of_readme"]

#: Columns of the terminal: few enough to be readable on a phone.
COLUMNS = 60
#: Seconds to read the first verdict.
READING = 5.0
TITLE = "A wrong answer and its verdict, then a right one"
ALT = ("A terminal. The learner writes a slope that looks to one side of x only and runs "
       "minigrad run 00.1. The verdict is wrong; it names the mistake and shows the test that "
       "failed. The learner looks to both sides and runs it again: solved.")


def pictures_of_readme(root: Path) -> dict[Path, str]:
    """Return the text of each picture's file, drawn from what `minigrad run 00.1` prints."""
    stage = find_stage("00", root)
    hole = stage.holes[0]
    ((right, wrong),) = hole.mutants[0].edits
    (path,) = stage.modules
    source = module(stage.package, path)
    first, last = body_span(source, source.function(hole.symbols[0].partition(":")[2]))
    (line,) = source.text.splitlines()[first - 1:last]
    answers = [line.replace(right, wrong), line]
    file = stage.exercise(path).relative_to(root).as_posix()
    command = f"minigrad run {hole.id}"
    first_verdict, second_verdict = _verdicts(stage, answers, command)
    drawing, style = terminal([
        Edit(file, answers[0]), Command(command), Output(first_verdict, READING),
        Edit(file, answers[1]), Command(command), Output(second_verdict)], COLUMNS)
    assets = root / "docs" / "en" / "assets"
    return {assets / f"{name}.svg": Picture(drawing, TITLE, ALT, "", rules).svg("first-verdict")
            for name, rules in (("first_verdict", style), ("first_verdict_still", ""))}


def _verdicts(stage: Stage, answers: list[str], command: str) -> list[list[str]]:
    """Run the command on each answer in a fresh workspace, and return the lines of its verdicts."""
    hole = stage.holes[0]
    found = []
    around = os.environ | {"PYTHONPATH": str(stage.root), "COLUMNS": str(COLUMNS),
                           "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as folder:
        def minigrad(*words: str) -> str:
            return subprocess.run([sys.executable, "-m", "minigrad_course", *words], cwd=folder,
                                  env=around, capture_output=True, encoding="utf-8").stdout

        minigrad("init", ".")
        file = Path(folder) / stage.exercise(stage.modules[0]).relative_to(stage.root)
        shipped = file.read_text(encoding="utf-8").splitlines(keepends=True)
        (place,) = (number for number, line in enumerate(shipped)
                    if f"{hole.id} {stage.words['hole'][hole.id]['title']} is yours" in line)
        for answer in answers:
            file.write_text("".join([*shipped[:place], f"{answer}\n", *shipped[place + 1:]]),
                            encoding="utf-8")
            found.append(_verdict(minigrad(*command.split()[1:]).splitlines()))
    return found


def _verdict(lines: list[str]) -> list[str]:
    """Return the verdict, the points and the next exercise, without paths of this machine."""
    end = next(number for number, line in enumerate(lines) if line.endswith(" points"))
    verdict = [line.rstrip() for line in lines[:end]]
    place = next((number for number, line in enumerate(verdict) if line.startswith("  at ")), end)
    following = [line.rstrip() for line in lines[end + 1:] if line.startswith("next: ")]
    return [*verdict[:place], lines[end], *following]
