"""Functions for the graded cells of a notebook: they run `minigrad grade` in a separate process.

NOTE [Low trust]
    All cells of a notebook run in one kernel, both the learner's and the graded ones.  The verdict
    comes from a grading process that the learner's code cannot reach, but the kernel that passes it
    on is the learner's, so a cell can change what these functions return.  A notebook therefore
    shows what a student can do; for a grade that must be reliable, collect the files.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import minigrad

__all__ = ["SEED", "points", "verdict"]

#: The default seed of the probes; `None` draws one.
SEED: int | None = None
#: How many hints to show for an exercise without points, if a call gives no number.
HINTS = 0


def points(stage: str, seed: int | None = None, weights: Mapping[str, int] | None = None,
           folder: str | Path = ".", hints: int | None = None) -> float:
    """Grade the files in `folder`/exercises, print why, and return the points as a float.

    `stage` may name several stages: "03,07".  The result is finite and between 0.0 and the maximum,
    so it works as partial credit on any platform that takes a number.  Raises RuntimeError if
    grading fails.
    """
    total = most = 0.0
    holes, notes = _graded(stage, SEED if seed is None else seed, folder,
                           HINTS if hints is None else hints)
    for note in notes:
        print(note)
    for hole in holes:
        worth = (weights or {}).get(hole["hole"], hole["max_points"])
        got = 0 if hole["reason"] else worth
        most, total = most + worth, total + got
        print(f"{hole['hole']} {hole['title']}: {got} of {worth}")
        for line in _why(hole):
            print(f"    {line}")
    return min(max(total, 0.0), most) if math.isfinite(total) else 0.0


def verdict(hole: str, folder: str | Path = ".") -> str:
    """Return "solved", or why an exercise in `folder`/exercises gets no points."""
    holes, notes = _graded(hole.partition(".")[0], SEED, folder, HINTS)
    found = next(each for each in holes if each["hole"] == hole)
    if not found["reason"]:
        return "solved"
    return "\n".join([*notes, *_why(found)])


def _why(hole: dict[str, Any]) -> list[str]:
    if not hole["reason"]:
        return [hole["note"]] if hole.get("note") else []
    tests = [f"{test.rpartition('::')[2]}: {message.partition(chr(10))[0]}"
             for test, message in hole["failing"][:1] if hole["reason"] != "not written yet"]
    return [*([hole["diagnosis"]] if hole["diagnosis"] else []), hole["reason"], *tests,
            *(f"hint: {' '.join(hint.split())}" for hint in hole["hints"])]


def _graded(stage: str, seed: int | None, folder: str | Path, hints: int
            ) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the exercises and notes that `minigrad grade` reports, cached for unchanged files."""
    base = Path(folder).resolve()
    state = tuple((str(path), path.stat().st_mtime_ns, path.stat().st_size)
                  for path in sorted((base / "exercises").rglob("*.py")))
    return _run(stage, seed, str(base), hints, state)


@cache
def _run(stage: str, seed: int | None, folder: str, hints: int, state: object
         ) -> tuple[list[dict[str, Any]], list[str]]:
    package = str(Path(minigrad.__file__).resolve().parents[1])
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    with tempfile.TemporaryDirectory(prefix="minigrad-") as private:
        # Not on the command line, which every user of the machine can read.
        course = Path(private, "course.toml")
        course.write_text(f'stages = ["{stage}"]\nhints = {hints}\n'
                          + (f"seed = {seed}\n" if seed is not None else ""), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-P", "-m", "minigrad_course", "grade", folder, "--course",
             str(course), "--format", "json"], env={**os.environ, "PYTHONPATH": path},
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"minigrad grade failed: {done.stderr.strip()[-2000:]}")
    (report,) = json.loads(done.stdout)
    return ([hole for grade in report["grades"] for hole in grade["holes"]],
            [note for grade in report["grades"] for note in grade["notes"]])
