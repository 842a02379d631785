"""Grades one submission of one stage: tests for feedback, probes for the verdict.

NOTE [Who decides]
    The child writes down what its probes returned; the parent has the reference engine's answers
    to the same probes with the same seeds, and compares.  Whoever wants points has to write the
    right numbers, for seeds that nobody knew before.  Tests run in the child too: what they say is
    shown, and a failing test takes points, but a passing one gives none.
"""

from __future__ import annotations

import json
import math
import re
import secrets
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..stages import CourseError, Hole, Stage
from ..verdict import told, unwritten
from .bundle import make_bundle
from .intake import Submission
from .sandbox import Ended, Limits, Sandbox

__all__ = ["Grade", "HoleGrade", "grade"]

#: How often each probe is asked, with other seeds.
ROUNDS = 4
#: Two engines may add in another order; a finite difference is never this near.
CLOSE = 1e-13


@dataclass(frozen=True)
class HoleGrade:
    """What one hole got, and why."""

    hole: str
    title: str
    points: int
    max_points: int
    reason: str = ""  # empty where all points were given
    failing: tuple[tuple[str, str], ...] = ()  # test and message
    diagnosis: str = ""  # what is wrong, in a sentence
    hints: tuple[str, ...] = ()  # of the course, where the instructor has them shown


@dataclass(frozen=True)
class Grade:
    """What one submission of one stage got."""

    submission: str
    stage: str
    holes: tuple[HoleGrade, ...] = ()
    sandbox: str = ""
    seed: int = 0
    notes: tuple[str, ...] = field(default=())

    @property
    def points(self) -> int:
        """The points that were given."""
        return sum(each.points for each in self.holes)

    @property
    def max_points(self) -> int:
        """The points that there are."""
        return sum(each.max_points for each in self.holes)


def grade(stage: Stage, submission: Submission, sandbox: Sandbox, seed: int | None = None,
          limits: Limits = Limits()) -> Grade:  # noqa: B008  # it is frozen
    """Grade a submission; `seed` (default: a fresh one) fixes what the probes are asked."""
    seed = secrets.randbits(48) if seed is None else seed
    jobs = probe_jobs(stage, seed)
    expected = _reference(stage, seed)
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        Path(folder).chmod(0o755)
        bundle = make_bundle(stage, submission.texts, Path(folder))
        answers, reasons = _ask(bundle, sandbox, jobs, limits)
        tests: list[dict[str, Any]] = []
        notes: tuple[str, ...] = ()
        if answers:
            ended = sandbox.run(bundle, ["tests"], b"", limits)
            tests = _lines(ended)
            notes = (f"the tests were ended: {ended.reason}",) if ended.reason else ()
    holes = tuple(_hole(stage, hole, jobs, expected, answers, reasons, tests, submission)
                  for hole in stage.holes)
    return Grade(submission.name, stage.key, holes, sandbox.kind, seed, notes)


def probe_jobs(stage: Stage, seed: int) -> list[tuple[str, int]]:
    """Return which probes are asked with which seeds; CourseError for a hole without a probe."""
    names = stage.probe_names()
    for hole in stage.holes:
        if not any(_is_for(name, hole) for name in names):
            raise CourseError(f"{stage.probes} has no probe for {hole.id}")
    return [(name, (seed * 1_000_003 + i * 7919 + position) % 2**48)
            for i in range(ROUNDS) for position, name in enumerate(names)]


def probes_of(stage: Stage, hole: Hole, seed: int) -> list[tuple[str, int]]:
    """Return those of a stage's probes, with their seeds, that are for one hole."""
    return [job for job in probe_jobs(stage, seed) if _is_for(job[0], hole)]


def _is_for(probe: str, hole: Hole) -> bool:
    return f"{probe}_".startswith(f"probe_{hole.id.replace('.', '_')}_")


@cache
def _reference(stage: Stage, seed: int) -> dict[tuple[str, int], Any]:
    """Return the reference engine's answers."""
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        Path(folder).chmod(0o755)
        bundle = make_bundle(stage, None, Path(folder))
        answers, reasons = _ask(bundle, Sandbox("limits"), probe_jobs(stage, seed), Limits())
    if reasons:
        raise CourseError(f"{stage.probes}: the reference engine does not answer: "
                          f"{next(iter(reasons.values()))}")
    return answers


def _ask(bundle: Path, sandbox: Sandbox, jobs: list[tuple[str, int]], limits: Limits
         ) -> tuple[dict[tuple[str, int], Any], dict[tuple[str, int], str]]:
    """Return answers by job, and for each job without one the reason.

    A job that ends the process gets a reason, and those after it another process; a process that
    does not get as far as the first job gives all of them its reason.
    """
    answers: dict[tuple[str, int], Any] = {}
    reasons: dict[tuple[str, int], str] = {}
    left, ended_early = list(jobs), 0
    while left:
        ended = sandbox.run(bundle, ["probes"], json.dumps(left).encode(), limits)
        seen, lines = 0, _lines(ended)
        if lines[:1] != [{"ready": True}]:
            return answers, reasons | dict.fromkeys(left, ended.reason or _why(ended))
        for line in lines[1:]:
            if seen == len(left) or [line.get("probe"), line.get("seed")] != list(left[seen]):
                break  # an answer to what was not asked: nothing after it counts
            answers[left[seen]] = {key: line[key] for key in ("value", "raises") if key in line}
            seen += 1
        left = left[seen:]
        if left:
            reasons[left[0]] = ended.reason or _why(ended)
            failed = left[0][0]
            ended_early += 1
            # The same probe with other seeds would end it again, and cost as long.
            for job in [job for job in left if job[0] == failed or ended_early > 8]:
                reasons.setdefault(job, reasons[left[0]])
            left = [job for job in left if job not in reasons]
    return answers, reasons


def _why(ended: Ended) -> str:
    last = printable(ended.errors.decode("utf-8", "replace")).strip().splitlines()[-1:]
    return f"the process ended with status {ended.status}" + (f": {last[0][:300]}" if last else "")


def printable(text: str) -> str:
    """Leave out of a learner's text what a terminal would obey and what XML cannot hold."""
    return re.sub(r"[^\t\n\x20-\x7e\xa0-\u200f\u2030-\ud7ff\ue000-\ufffd]", "?", text)


def _lines(ended: Ended) -> list[dict[str, Any]]:
    """Return the lines of JSON that a process wrote, up to the first that is none."""
    found = []
    for line in ended.output.split(b"\n"):
        try:
            read = json.loads(line)
        except (ValueError, RecursionError):
            break
        if not isinstance(read, dict):
            break
        found.append(read)
    return found


def _hole(stage: Stage, hole: Hole, jobs: list[tuple[str, int]],
          expected: dict[tuple[str, int], Any], answers: dict[tuple[str, int], Any],
          reasons: dict[tuple[str, int], str], tests: list[dict[str, Any]],
          submission: Submission) -> HoleGrade:
    title = stage.words["hole"][hole.id]["title"]
    mine = [job for job in jobs if _is_for(job[0], hole)]
    failing = tuple((printable(str(each.get("test", ""))[:200]),
                     printable(str(each.get("message", ""))[:2000]))
                    for each in tests if _names(each, hole) and each.get("outcome") != "passed")
    reason = next((problem for path, problem in submission.problems.items()
                   if any(symbol.startswith(f"{path}:") for symbol in hole.symbols)), "")
    if not reason and any(message.startswith(f"NotImplementedError: {hole.id} ")
                          for _, message in failing):
        reason = "not written yet"
    reason = reason or next((reasons[job] for job in mine if job in reasons), "")
    if not reason:
        wrong = next((job for job in mine if not same(answers.get(job), expected[job])), None)
        if wrong is not None:
            reason = _difference(answers.get(wrong), expected[wrong])
        elif failing:
            reason = f"{len(failing)} of its tests fail"
        elif not any(_names(each, hole) for each in tests):
            reason = "its tests did not run"
    diagnosis = ""
    if reason and any(unwritten(message) is None for _, message in failing):
        shown = {each["symptom"] for each in tests if isinstance(each.get("symptom"), str)}
        diagnosis = told(stage, hole, shown, failing) or ""
    return HoleGrade(hole.id, title, 0 if reason else hole.points, hole.points, reason, failing,
                     diagnosis)


def _names(test: dict[str, Any], hole: Hole) -> bool:
    holes = test.get("holes")
    return isinstance(holes, list) and hole.id in holes


def _difference(answer: Any, expected: Any) -> str:
    if not isinstance(answer, dict):
        return "a probe was not answered"
    if "raises" in answer and "raises" not in expected:
        return f"a probe raised {_raised(answer)} where the reference engine returns a value"
    if "raises" in expected and "raises" not in answer:
        return f"a probe returned a value where the reference engine raises {expected['raises']}"
    if "raises" in expected:
        return f"a probe raised {_raised(answer)} where the reference raises {expected['raises']}"
    return "a probe returned other values than the reference engine"


def _raised(answer: dict[str, Any]) -> str:
    return printable(str(answer["raises"])[:100])


def same(answer: Any, expected: Any) -> bool:
    """Tell whether two answers agree: the same types and shapes, numbers up to rounding."""
    if isinstance(expected, dict) and isinstance(answer, dict):
        if "float" in expected:
            return set(answer) == {"float"} and _near([answer["float"]], [expected["float"]])
        if "array" in expected:
            return ({k: v for k, v in answer.items() if k != "array"}
                    == {k: v for k, v in expected.items() if k != "array"}
                    and _near(answer.get("array"), expected["array"]))
        return answer.keys() == expected.keys() and all(same(answer[key], each)
                                                        for key, each in expected.items())
    if isinstance(expected, list) and isinstance(answer, list):
        return len(answer) == len(expected) and all(
            same(a, b) for a, b in zip(answer, expected, strict=True))
    return type(answer) is type(expected) and bool(answer == expected)


def _near(answers: Any, expected: list[str]) -> bool:
    if not isinstance(answers, list) or len(answers) != len(expected):
        return False
    try:
        pairs = [(float.fromhex(a), float.fromhex(b)) for a, b in
                 zip(answers, expected, strict=True)]
    except (TypeError, ValueError):
        return False
    scale = max((abs(b) for _, b in pairs if math.isfinite(b)), default=0.0)
    return all(a == b or (math.isnan(a) and math.isnan(b))
               or abs(a - b) <= CLOSE * max(scale, abs(b)) for a, b in pairs)
