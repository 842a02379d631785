"""Grades one submission of one stage: tests for feedback, probes for the verdict.

NOTE [Who decides]
    The child writes down what its probes returned; the parent has the reference engine's answers
    to the same probes with the same seeds, and compares.  Whoever wants points has to write the
    right numbers, for seeds that nobody knew before.  Tests run in the child too: what they say is
    shown, and a failing test takes points, but a passing one gives none.

NOTE [Points for a right answer that waits]
    An exercise that fails while others are open or wrong is asked again, in processes of its own,
    in which the others are the package's (see waiting.py).  It earns its points there by the same
    rule: its probes, its tests, the same seeds.  Its own functions are the learner's in every run,
    and nothing that one run wrote reaches another.  So a process that finds out which run it is in
    knows nothing that it can use: it has the answers of others, and not its own.

NOTE [Graded beside the package]
    Each exercise of a stage that is tested beside the package has processes of its own from the
    beginning, and its bundle has one second copy of `op/`: the learner's answer to this exercise
    with the package's to the others.  So nothing waits there, and what was said of second runs
    holds for every run.
"""

from __future__ import annotations

import json
import math
import secrets
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from ..compose import Source
from ..desk import Desk
from ..stages import CourseError, Hole, Stage
from ..trial import unreadable, unwritten
from ..verdict import named_together, told
from ..waiting import find_waits
from .bundle import make_bundle
from .intake import Submission
from .printable import printable
from .sandbox import Ended, Limits, Sandbox

__all__ = ["Grade", "HoleGrade", "grade"]

#: How often each probe is asked, with other seeds.
ROUNDS = 4
#: Two engines may add in another order; a finite difference is never this near.
CLOSE = 1e-13
#: How many second runs of a submission may end by a limit before no more are begun.
ENDED = 2


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
    note: str = ""  # "right; it waits for ..." where the others of the stage keep it from working


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
    desk = Desk(stage, submission.texts)
    one = _Submission(stage, submission, sandbox, limits, seed, probe_jobs(stage, seed),
                      _reference(stage, seed))
    if stage.beside:
        runs = [one.run({}, [hole.id]) for hole in stage.holes]
        return Grade(submission.name, stage.key, tuple(each for run in runs for each in run.holes),
                     sandbox.kind, seed, tuple(dict.fromkeys(
                         f"{run.holes[0].hole}: {note}" for run in runs for note in run.notes)))
    first = one.run(desk.repaired(), [hole.id for hole in stage.holes])
    holes = {each.hole: each for each in first.holes}
    for number, waits in one.waits(desk, first).items():
        whole = next(hole.points for hole in stage.holes if hole.id == number)
        holes[number] = replace(holes[number], points=whole, reason="", diagnosis="",
                                failing=(), note=f"right; it waits for {named_together(waits)}")
    return Grade(submission.name, stage.key, tuple(holes.values()), sandbox.kind, seed, first.notes)


@dataclass(frozen=True)
class _Run:
    """What came of one run of a submission."""

    holes: tuple[HoleGrade, ...]
    notes: tuple[str, ...]
    answered: bool  # whether it came as far as the first probe
    ending: frozenset[str]  # the holes whose probes ended their process


@dataclass(frozen=True)
class _Submission:
    """A submission of a stage, and all that a run of it needs."""

    stage: Stage
    submission: Submission
    sandbox: Sandbox
    limits: Limits
    seed: int
    jobs: list[tuple[str, int]]
    expected: dict[tuple[str, int], Any]

    def run(self, composed: Mapping[str, Source], numbers: Sequence[str]) -> _Run:
        """Ask the probes of some holes and run their tests, with composed modules in place."""
        holes = [hole for hole in self.stage.holes if hole.id in numbers]
        jobs = [job for job in self.jobs if any(_is_for(job[0], hole) for hole in holes)]
        texts = self.submission.texts | {path: each.text for path, each in composed.items()}
        with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
            Path(folder).chmod(0o755)
            bundle = make_bundle(self.stage, texts, Path(folder), holes[0])
            answers, reasons = _ask(bundle, self.sandbox, jobs, self.limits)
            tests: list[dict[str, Any]] = []
            notes: tuple[str, ...] = ()
            if answers:
                every = len(holes) == len(self.stage.holes) and not self.stage.beside
                only = [] if every else list(numbers)
                ended = self.sandbox.run(bundle, ["tests", *only], b"", self.limits)
                tests = _lines(ended)
                notes = (f"the tests were ended: {ended.reason}",) if ended.reason else ()
        grades = tuple(_hole(self.stage, hole, self.jobs, self.expected, answers, reasons, tests,
                             self.submission) for hole in holes)
        ending = {hole.id for hole in holes if any(_is_for(job[0], hole) for job in reasons)}
        return _Run(grades, notes, bool(answers), frozenset(ending))

    def waits(self, desk: Desk, first: _Run) -> dict[str, tuple[str, ...]]:
        """Return the holes that earn their points with the package's version of others."""
        without_points = {each.hole: each for each in first.holes if each.reason}
        open_holes = desk.open()
        failing = [each for each in without_points if each not in open_holes
                   and not self._is_missing(each)]
        if len(without_points) < 2 or not failing:
            return {}
        ended = 0

        def tested(without: Collection[str], holes: Sequence[str], last: bool) -> list[str]:
            nonlocal ended
            if ended >= ENDED:
                return []
            run = self.run(desk.without(without), holes)
            ended += bool(run.notes) or not run.answered
            return [each.hole for each in run.holes if not each.reason]

        try:
            if first.answered:
                return find_waits(failing, list(without_points), open_holes | first.ending, tested)
            every = [hole.id for hole in desk.holes]
            right = [each for each in failing
                     if tested([other for other in every if other != each], [each], True)]
        except CourseError:  # the files cannot be put together
            return {}
        wrong = tuple(each for each in failing if each not in right)
        return dict.fromkeys(right, wrong) if wrong else {}

    def _is_missing(self, number: str) -> bool:
        """Whether a file with this hole was not handed in, or was refused."""
        return any(symbol.partition(":")[0] not in self.submission.texts
                   for hole in self.stage.holes if hole.id == number for symbol in hole.symbols)


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
    if not reason and any((found := unreadable(message)) and found[0] == hole.id
                          for _, message in failing):
        reason = "it is not Python"
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
