"""Run one program on minigrad and on PyTorch, and find the first difference."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..child_process import program_recorder
from ..content.folders import ROOT
from ..content.stages import CourseError

__all__ = ["Difference", "early_end", "first_difference", "record"]


@dataclass(frozen=True)
class Difference:
    """The first difference between two engines: the line, the attribute, and both values."""

    line: int
    what: str
    ours: Any
    theirs: Any


def record(engine: str, script: Path, arguments: list[str] | None = None, timeout: float = 300
           ) -> list[dict[str, Any]]:
    """Run a program on an engine ("minigrad" or "torch") and record the effect of each statement.

    `arguments` are the program's own, in `sys.argv`.

    Raises CourseError if the engine is not installed, or if the program is unreadable or runs too
    long.
    """
    if not script.is_file():
        raise CourseError(f"the program {script} does not exist")
    if find_spec(engine) is None:
        raise CourseError(f"{engine} is not installed, so there is nothing to compare with; "
                          f"install it with `pip install {engine}`")
    program = program_recorder.__file__
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    try:
        done = subprocess.run([sys.executable, program, engine, str(script),
                               *(arguments or [])], text=True,
                              capture_output=True, timeout=timeout, check=False,
                              env={**os.environ, "PYTHONPATH": paths})
    except subprocess.TimeoutExpired:
        raise CourseError(f"{script} took longer than {timeout:.0f} s on {engine}") from None
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        raise CourseError(f"{script} failed on {engine}: {' '.join(last)}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def first_difference(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]
                     ) -> Difference | None:
    """Return the first difference in an error, the printed output, a value or the graph."""
    for mine, other in zip_longest(ours, theirs):
        if mine is None or other is None:
            line = (mine or other)["line"]
            ends = ("ended before" if each is None else "went on" for each in (mine, other))
            return Difference(line, "where the program ended", *ends)
        line = mine["line"]
        if mine["error"] != other["error"]:
            return Difference(line, "the error", _end_of(mine), _end_of(other))
        for name in {**mine["values"], **other["values"]}:
            what = _parting(mine["values"].get(name), other["values"].get(name))
            if what is not None:
                return Difference(line, f"{name}{what[0]}", what[1], what[2])
        if not _same_text(mine["printed"], other["printed"]):
            return Difference(line, "what is printed", mine["printed"], other["printed"])
    return None


def early_end(records: list[dict[str, Any]]) -> str | None:
    """Return where and why a program ended before its last statement, or `None` if it ran through.

    `sys.exit()` in the last statement is an end like any other.
    """
    if not records:
        return None
    last = records[-1]
    is_last = len(records) == last["of"]
    if is_last and last["error"] in (None, "SystemExit", "SystemExit: 0", "SystemExit: None"):
        return None
    return _end_of(last) if last["error"] else f"ended without an error after line {last['line']}"


def _end_of(last: dict[str, Any]) -> str:
    """Return the error of a statement, with its line."""
    return f"{last['error']} (line {last['ended']})" if last["error"] else "no error"


def _parting(ours: Any, theirs: Any) -> tuple[str, Any, Any] | None:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in ours:
            if key not in theirs or _parting(ours[key], theirs[key]) is not None:
                if key == "grad_fn" and _without_number(ours[key]) == _without_number(theirs[key]):
                    continue
                return f".{key}", ours[key], theirs.get(key)
        return None
    if isinstance(ours, list) and isinstance(theirs, list):
        same = len(ours) == len(theirs) and not any(
            _parting(a, b) for a, b in zip(ours, theirs, strict=True))
        return None if same else ("", ours, theirs)
    if isinstance(ours, float) and isinstance(theirs, float):
        close = math.isclose(ours, theirs, rel_tol=1e-4, abs_tol=1e-6)
        return None if close or (math.isnan(ours) and math.isnan(theirs)) else ("", ours, theirs)
    return None if ours == theirs and type(ours) is type(theirs) else ("", ours, theirs)


def _without_number(name: Any) -> Any:
    """Return a node's name without its number, which differs between versions of PyTorch."""
    return re.sub(r"\d+$", "", name) if isinstance(name, str) else name


_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


def _same_text(ours: str, theirs: str) -> bool:
    """Return whether two outputs agree, except for engine names, node numbers and last digits."""
    ours, theirs = (re.sub(r"Backward\d+", "Backward", text).replace("minigrad.", "torch.")
                    for text in (ours, theirs))
    if _NUMBER.sub("#", ours) != _NUMBER.sub("#", theirs):
        return False
    return all(math.isclose(float(a), float(b), rel_tol=1e-3, abs_tol=1e-4)
               for a, b in zip(_NUMBER.findall(ours), _NUMBER.findall(theirs), strict=True))
