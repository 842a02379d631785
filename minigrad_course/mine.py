"""Running a program on the learner's engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .stages import CourseError, Stage
from .trial import module_name


def selected(text: str, known: list[Stage]) -> list[Stage]:
    """Return the stages with holes that "01", "01-05" or "01,03" names; "" names all.

    CourseError for a number that no stage has.

    >>> from minigrad_course.stages import stages
    >>> selected("01", stages())[0].number
    '01'
    """
    with_holes = [stage for stage in known if stage.modules]
    if not text:
        return with_holes
    numbers = [stage.number for stage in known]
    chosen: set[str] = set()
    for part in text.split(","):
        first, _, last = (each.strip() for each in part.partition("-"))
        ends = [each.zfill(2) if each.isdecimal() else each for each in (first, last or first)]
        for end in ends:
            if not any(number == end or number.rstrip("abc") == end for number in numbers):
                raise CourseError(f"there is no stage {end!r} in {text!r}; there are "
                                  f"{', '.join(numbers)}")
        low, high = ends
        chosen.update(number for number in numbers
                      if low <= number and (number <= high or number.rstrip("abc") == high))
    return [stage for stage in with_holes if stage.number in chosen]


def run_script(script: Path, arguments: list[str], files: dict[str, Path]) -> int:
    """Run a program in a fresh process with `files` swapped in; return its exit status."""
    if not script.is_file():
        raise CourseError(f"there is no program {script}")
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        plan = Path(folder, "plan.json")
        plan.write_text(json.dumps({
            "root": str(Path(__file__).resolve().parents[1]), "script": str(script),
            "arguments": arguments,
            "files": {module_name(path): str(file.resolve()) for path, file in files.items()},
        }), encoding="utf-8")
        swap = Path(__file__).with_name("swap.py")
        return subprocess.run([sys.executable, str(swap), str(plan)], check=False,
                              env={**os.environ}).returncode
