"""Grade one submission of one stage: tests give the feedback, probes the verdict.

NOTE [Who decides]
    The child writes down what its probes returned.  The parent has the reference engine's answers
    to the same probes with the same seeds, and compares.  So to earn points, an answer must compute
    the right numbers for seeds that it couldn't predict.  Each submission gets its own
    seeds, made from its text and a secret, so a table of answers fits no other text, and adding the
    table already changes the text.  The tests run in the child too.  Their messages are shown, and
    a failing test takes points away, but a passing test doesn't add any.

NOTE [Points for a right answer that waits]
    If an exercise fails while others are open or wrong, it is graded again in separate processes,
    in which the package provides the other exercises (see waiting.py).  There it earns its points
    by the same rule: its tests, its probes, the same seeds.  Its own functions are the learner's in
    every run, and no run sees what another one writes.  So a process that finds out which run it is
    in gains no advantage: it has the package's answers to other exercises, but not to this one.

NOTE [No points in a circle]
    Two answers can each be right with the package's version of the other, and do no work: each
    hands it on.  So an exercise earns points with the package's version of a written exercise only
    if the two also work together, in a run that has the learner's answers to both.

NOTE [Graded beside the package]
    In a stage that is tested beside the package, each exercise is graded in separate processes from
    the start.  Its bundle has one second copy of `op/`, with the learner's answer to this exercise
    and the package's answers to the others.  So no exercise waits for another there, and what the
    note above says about second runs holds for every run.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import secrets
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from ..content.source import Module
from ..content.stages import CourseError, Hole, Stage
from ..running.compose import Source
from ..running.failure_text import plain_failure
from ..running.learner_files import LearnerFiles
from ..running.trial import unreadable, unwritten
from ..verdicts.verdict import ENDED_EARLY, ended_early, mistake_sentence, named_together
from ..verdicts.waiting import find_waits
from .answers import difference, same
from .asking import Job, Runs, Spans, Tested, is_for, probe_jobs, probes_of, reference
from .bundle import make_bundle
from .intake import Submission
from .printable import printable
from .sandbox import Limits, Sandbox
from .sealed import with_sealed
from .tolerant import error_on_import, tolerant

__all__ = ["NOT_PYTHON", "Grade", "HoleGrade", "grade"]

#: The reason for an exercise in a file that is not Python; a note has the line.
NOT_PYTHON = "it is not valid Python"

#: The maximum number of failures to keep for the tests of one exercise.
FAILURES = 20
#: Stop the second runs of a submission after this many have hit a limit.
ENDED = 2


@dataclass(frozen=True)
class HoleGrade:
    """The points for one exercise, and the reason."""

    hole: str
    title: str
    points: int
    max_points: int
    reason: str = ""  # empty if it earned all points
    failing: tuple[tuple[str, str], ...] = ()  # test and message
    diagnosis: str = ""  # the mistake, in a sentence
    hints: tuple[str, ...] = ()  # from the course, if the instructor shows them
    note: str = ""  # "correct, but waits for ..." if other exercises keep it from working
    decision: str = ""  # of a person, see overrides.py


@dataclass(frozen=True)
class Grade:
    """The verdict on one submission of one stage."""

    submission: str
    stage: str
    holes: tuple[HoleGrade, ...] = ()
    sandbox: str = ""
    seed: int = 0
    notes: tuple[str, ...] = field(default=())

    @property
    def points(self) -> int:
        """The points earned."""
        return sum(each.points for each in self.holes)

    @property
    def max_points(self) -> int:
        """The maximum score."""
        return sum(each.max_points for each in self.holes)


def grade(stage: Stage, submission: Submission, sandbox: Sandbox, seed: int | None = None,
          limits: Limits = Limits()) -> Grade:  # noqa: B008  # it is frozen
    """Grade a submission; `seed` (by default random) fixes the questions of the probes."""
    seed = secrets.randbits(48) if seed is None else seed
    probe_jobs(stage, seed)  # raises if an exercise has no probe
    if not submission.texts:
        return Grade(submission.name, stage.key, tuple(
            HoleGrade(hole.id, stage.words["hole"][hole.id]["title"], 0, hole.points,
                      _missing(submission, hole)) for hole in stage.holes), sandbox.method, seed)
    learner_files = LearnerFiles(stage, submission.texts)
    one = _Submission(stage, submission, Runs(sandbox, limits), seed)
    if stage.beside:
        runs = [one.run({}, [hole.id]) for hole in stage.holes]
        return Grade(submission.name, stage.key, tuple(each for run in runs for each in run.holes),
                     sandbox.method, seed, (*submission.notes, *dict.fromkeys(
                         f"{run.holes[0].hole}: {note}" for run in runs for note in run.notes)))
    every = [hole.id for hole in stage.holes]
    first = one.run(learner_files.repaired(), every)
    if not first.ready and (error := error_on_import(first.notes)):
        texts = tolerant(stage, submission.texts)  # see NOTE [Leftover code] in tolerant.py
        files = LearnerFiles(stage, texts)
        other = replace(one, submission=replace(submission, texts=texts))
        again = other.run(files.repaired(), every)
        if again.ready and not all(each.reason for each in again.holes):
            one, learner_files = other, files
            first = replace(again, notes=(
                f"code outside all exercises raised {printable(error)}; it was left out, so only "
                "exercises that need it lose points", *again.notes))
    holes = {each.hole: each for each in first.holes}
    waiting, circle = one.waits(learner_files, first)
    for number in circle:
        others = [each for each in circle if each != number]
        diagnosis = (f"It's right only with the package's version of {named_together(others)}, and "
                     "the other way round. Exercises that wait for each other earn no points."
                     if others else
                     "It's right with the package's version of your other answers, but not "
                     "together with yours.")
        holes[number] = replace(holes[number], diagnosis=diagnosis)
    for number, waits in waiting.items():
        whole = next(hole.points for hole in stage.holes if hole.id == number)
        holes[number] = replace(holes[number], points=whole, reason="", diagnosis="",
                                failing=(), note=f"correct, but waits for {named_together(waits)}")
    return Grade(submission.name, stage.key, tuple(holes.values()), sandbox.method, seed,
                 (*submission.notes, *first.notes))


@dataclass(frozen=True)
class _Run:
    """The result of one run of a submission."""

    holes: tuple[HoleGrade, ...]
    notes: tuple[str, ...]
    ready: bool  # whether the package could be imported
    ending: frozenset[str]  # the exercises whose tests or probes ended their process


@dataclass(frozen=True)
class _Submission:
    """A submission of a stage, with everything that a run of it needs."""

    stage: Stage
    submission: Submission
    runs: Runs
    seed: int

    @cached_property
    def gone(self) -> dict[str, str]:
        """A sentence for each exercise whose function was deleted."""
        return LearnerFiles(self.stage, self.submission.texts).gone()

    def run(self, composed: Mapping[str, Source], numbers: Sequence[str]) -> _Run:
        """Run the tests and probes of some exercises, with these modules in place."""
        holes = [hole for hole in self.stage.holes if hole.id in numbers]
        texts = self.submission.texts | {path: each.text for path, each in composed.items()}
        with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
            bundle = make_bundle(self.stage, texts, Path(folder), holes[0])
            self.runs.with_sealed = partial(with_sealed, self.stage, holes[0])
            every = len(holes) == len(self.stage.holes) and not self.stage.beside
            tested = self.runs.test(bundle, [] if every else list(numbers),
                                     _spans(self.stage, texts))
            passed = [hole for hole in holes if tested.passed(hole.id)]
            wrong: dict[str, str] = {}
            if passed:
                jobs = probes_of(self.stage, passed, self.seed)
                answers, reasons = self.runs.probe(bundle, jobs)
                expected = reference(self.stage, self.seed)
                wrong = {hole.id: found for hole in passed
                         if (found := _wrong(hole, jobs, answers, reasons, expected))}
                tested.ending.update(hole.id for hole in passed
                                     if any(is_for(job[0], hole) for job in reasons))
        notes = (f"the tests were stopped: {tested.problem}",) if tested.problem else ()
        grades = tuple(self._graded(hole, tested, wrong.get(hole.id, "")) for hole in holes)
        return _Run(grades, notes, tested.ready, frozenset(tested.ending))

    def _graded(self, hole: Hole, tested: Tested, wrong: str) -> HoleGrade:
        """Return the grade of an exercise; `wrong` says what its probes found."""
        failing = tuple((printable(each["test"]), plain_failure(printable(each["message"])))
                        for each in tested.of(hole.id) if each["outcome"] != "passed")[:FAILURES]
        reason = _missing(self.submission, hole)
        ended = next((each["message"] for each in tested.of(hole.id)
                      if each["outcome"] == "ended"), "")
        reason = reason or printable(ended) or _first_reason(hole, failing)
        if not reason and not tested.of(hole.id):
            reason = self.gone.get(hole.id, "").rstrip(".") or (
                "its tests did not run" if tested.ready and not tested.problem else
                f"its tests did not run: {tested.problem}" if tested.ready else
                f"cannot import the package with this answer: {printable(tested.problem)}")
        reason = reason or wrong
        diagnosis = ""
        if reason and any(unwritten(message) is None for _, message in failing):
            diagnosis = self.gone.get(hole.id) or mistake_sentence(
                self.stage, hole, tested.symptoms, failing) or ""
        if (early := ENDED_EARLY.search(reason)) and not diagnosis:
            diagnosis = ended_early(int(early[1]))
        if reason == NOT_PYTHON and (line := re.search(r"line \d+", diagnosis)) and any(
                f", {line[0]}:" in note for note in self.submission.notes):
            diagnosis = ""  # the notes already say it
        return HoleGrade(hole.id, self.stage.words["hole"][hole.id]["title"],
                         0 if reason else hole.points, hole.points, reason, failing, diagnosis)

    def waits(self, learner_files: LearnerFiles, first: _Run
              ) -> tuple[dict[str, tuple[str, ...]], list[str]]:
        """Return the exercises that earn points once the package provides others, and which.

        Also returns the exercises that only wait for each other; see NOTE [No points in a circle].
        """
        without_points = {each.hole: each for each in first.holes if each.reason}
        open_holes = learner_files.open()
        failing = [each for each in without_points if each not in open_holes
                   and not self._is_missing(each)]
        if len(without_points) < 2 or not failing:
            return {}, []
        ended, most = 0, ENDED
        known: dict[tuple[frozenset[str], str], bool] = {}

        def tested(without: Collection[str], holes: Sequence[str], last: bool) -> list[str]:
            nonlocal ended
            new = [each for each in holes if (frozenset(without), each) not in known]
            if new and ended < most:
                run = self.run(learner_files.without(without), new)
                ended += bool(run.ending) or not run.ready
                known.update({(frozenset(without), each.hole): not each.reason
                              for each in run.holes})
            return [each for each in holes if known.get((frozenset(without), each))]

        def is_wrong(without: Collection[str], hole: str) -> bool:
            return not tested(without, [hole], True) and (frozenset(without), hole) in known

        try:
            if first.ready:
                found = find_waits(failing, list(without_points), open_holes | first.ending, tested)
                suspects = list(without_points)
            else:
                suspects = [hole.id for hole in learner_files.holes]
                right = [each for each in failing if tested(
                    [other for other in suspects if other != each], [each], True)]
                wrong = tuple(each for each in failing if each not in right)
                found = dict.fromkeys(right, wrong) if wrong else {}
            most = 3 * ENDED
            # the written exercises that others wait for, and that may be right as well
            back = [each for each in failing if each not in found
                    and any(each in waits for waits in found.values())
                    and not is_wrong([other for other in suspects if other != each], each)]
            if not back and first.ready and not any(
                    each in found for waits in found.values() for each in waits):
                return found, []
            right = [*found, *back]
            together = tested([each for each in suspects if each not in right], right, True)
            apart = [each for each in right if each not in together]
            if circle := _circle(apart, suspects, tested):
                rest = [each for each in right if each not in circle]
                together = tested([each for each in suspects if each not in rest], rest, True)
        except CourseError:  # cannot compose the files
            return {}, []
        return ({each: waits for each, waits in found.items() if each in together},
                circle or apart)

    def _is_missing(self, number: str) -> bool:
        """Return whether a file with this exercise was not submitted, or was refused."""
        return any(symbol.partition(":")[0] not in self.submission.texts
                   for hole in self.stage.holes if hole.id == number for symbol in hole.symbols)


def _circle(holes: Sequence[str], suspects: Sequence[str],
            tested: Callable[[Collection[str], Sequence[str], bool], Collection[str]]) -> list[str]:
    """Return the exercises that need the package's version of one that needs theirs."""
    needs: dict[str, set[str]] = {each: set() for each in holes}
    for pair in itertools.combinations(holes, 2):
        right = tested([each for each in suspects if each not in pair], pair, True)
        for one, other in (pair, pair[::-1]):
            if one not in right:
                needs[one].add(other)
    for middle, one in itertools.product(holes, holes):  # what is needed by what is needed
        if middle in needs[one]:
            needs[one] |= needs[middle]
    return [each for each in holes if each in needs[each]]


def _spans(stage: Stage, texts: Mapping[str, str]) -> Spans:
    """Return the lines of each exercise in a submission's modules, where those can be parsed."""
    found: dict[str, list[tuple[int, int, str]]] = {}
    modules: dict[str, Module] = {}
    for path, text in texts.items():
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            modules[path] = Module.from_text(path, text)
    for hole in stage.holes:
        for path, _, symbol in (each.partition(":") for each in hole.symbols):
            with contextlib.suppress(KeyError, CourseError):
                function = modules[path].function(symbol)
                found.setdefault(path, []).append(
                    (function.lineno, function.end_lineno or function.lineno, hole.id))
    return found


def _missing(submission: Submission, hole: Hole) -> str:
    """Return why the file of an exercise was refused, or "" if it was accepted."""
    return next((problem for path, problem in submission.problems.items()
                 if any(symbol.startswith(f"{path}:") for symbol in hole.symbols)), "")


def _first_reason(hole: Hole, failing: Sequence[tuple[str, str]]) -> str:
    """Return why an exercise earns no points, from its failing tests; "" if all tests pass."""
    if any(message.startswith(f"NotImplementedError: {hole.id} ") for _, message in failing):
        return "not written yet"
    if any((found := unreadable(message)) and found[0] == hole.id for _, message in failing):
        return NOT_PYTHON
    return f"{len(failing)} of its tests fail" if failing else ""


def _wrong(hole: Hole, jobs: Sequence[Job], answers: Mapping[Job, Any], reasons: Mapping[Job, str],
           expected: Mapping[Job, Any]) -> str:
    """Return why the answers to an exercise's probes are wrong, or "" if all are right."""
    mine = [job for job in jobs if is_for(job[0], hole)]
    for job in mine:
        if job in reasons:
            return reasons[job]
    return next((difference(answers.get(job), expected[job]) for job in mine
                 if not same(answers.get(job), expected[job])), "")
