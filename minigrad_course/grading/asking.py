"""Run a submission's tests and then its probes; a hang or a crash stops neither.

NOTE [Tests first]
    The process that runs the tests knows no seed, so its messages can be shown.  The process that
    runs the probes knows the seeds, so its output is never shown.  It has no tests, because their
    references could answer the probes.  Only exercises that pass their tests are probed, because a
    failing test already takes their points.

NOTE [After a hang]
    Each process reports which test or probe it begins.  If one ends the process, it fails, and a
    new process runs the rest.  The first hang may use the full time limit of a run.  After it, each
    run gets half of that limit, and all runs of a submission share `Limits.total`.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..content.stages import CourseError, Hole, Stage
from .bundle import make_bundle, remove_tests
from .sandbox import Ended, Limits, Sandbox

__all__ = ["Job", "Runs", "Spans", "Tested", "is_for", "probe_jobs", "probes_of", "reference"]

#: How many times to ask each probe, each time with another seed.
ROUNDS = 4
#: The maximum number of processes to start for the tests of one bundle.
RESTARTS = 12
#: After this fraction of its time, a process that runs tests reports the exercise it hangs in.
LATEST = 0.75

#: A probe's name and its seed.
Job = tuple[str, int]
#: For each module, the first and last line of each exercise's functions, and the exercise.
Spans = Mapping[str, Sequence[tuple[int, int, str]]]


@dataclass
class Tested:
    """The results of a submission's tests."""

    outcomes: list[dict[str, Any]] = field(default_factory=list)
    symptoms: set[str] = field(default_factory=set)
    ready: bool = False  # whether the package could be imported
    problem: str = ""  # why it could not, or why tests are missing
    ending: set[str] = field(default_factory=set)  # the exercises that ended a process

    def of(self, hole: str) -> list[dict[str, Any]]:
        """Return the outcomes of an exercise's tests."""
        return [each for each in self.outcomes if hole in each["holes"]]

    def passed(self, hole: str) -> bool:
        """Return whether an exercise has tests here and passed all of them."""
        mine = self.of(hole)
        return bool(mine) and all(each["outcome"] == "passed" for each in mine)


class Runs:
    """The processes of one submission, with a shared time limit."""

    def __init__(self, sandbox: Sandbox, limits: Limits) -> None:
        """Start the clock at the first run."""
        self.sandbox, self.limits = sandbox, limits
        self.left, self.each = limits.total or 4 * limits.seconds, limits.seconds
        self.with_sealed: Callable[[Any], Any] = lambda job: job  # see NOTE [Sealed] in sealed.py

    def run(self, bundle: Path, words: Sequence[str], job: Any) -> Ended:
        """Run `child.py` of a bundle within the remaining time."""
        if self.left < 1:
            return Ended(b"", b"", None, "the time limit for the whole submission was used up")
        limits = replace(self.limits, seconds=min(self.each, self.left))
        begun = time.monotonic()
        ended = self.sandbox.run(bundle, words, json.dumps(self.with_sealed(job)).encode(),
                                 limits)
        used = time.monotonic() - begun
        self.left -= used
        if used >= LATEST * limits.seconds:
            self.each = self.limits.seconds / 2
        return ended

    def test(self, bundle: Path, only: Sequence[str], spans: Spans) -> Tested:
        """Run all tests of the stage, or only the tests for the exercises in `only`.

        `spans` gives the lines of each exercise, to name the one in which a test hangs.  If a test
        hangs in another exercise than its own, or in one that has hung before, no more tests are
        started, because they would hang as well.
        """
        tested = Tested()
        for _ in range(RESTARTS):
            job = {"done": [each["test"] for each in tested.outcomes], "spans": spans,
                   "without": sorted(tested.ending), "seconds": LATEST * self.each}
            ended = self.run(bundle, ["tests", *only], job)
            before, begun, last = len(tested.outcomes), None, False
            hangs_in: str | None = None  # "" if it hangs outside all exercises
            for line in _lines(ended):
                tested.ready |= line == {"ready": True}
                last |= "last" in line
                if isinstance(line.get("symptom"), str):
                    tested.symptoms.add(line["symptom"])
                elif isinstance(line.get("broken"), str):
                    tested.problem = line["broken"]
                elif isinstance(line.get("hangs_in"), str):
                    hangs_in = line["hangs_in"]
                elif "begins" in line:
                    begun = _outcome(line, "begins")
                elif "ends" in line:
                    begun = None
                elif (outcome := _outcome(line, "test")) is not None:
                    tested.outcomes.append(outcome)
            reason = why(ended) if hangs_in is None else "it did not end in time"
            is_early = ended.reason or ended.status or not (tested.ready or tested.problem)
            tested.problem = tested.problem or (reason if is_early else "")
            if begun is not None:  # this test ended its process
                tested.outcomes.append({**begun, "outcome": "ended", "message": reason})
                is_news = hangs_in not in tested.ending
                tested.ending.update([hangs_in] if hangs_in else begun["holes"])
                if hangs_in and not (is_news and hangs_in in begun["holes"]):
                    break
            if last or len(tested.outcomes) == before or not (ended.reason or ended.status):
                break
        return tested

    def probe(self, bundle: Path, jobs: Sequence[Job]) -> tuple[dict[Job, Any], dict[Job, str]]:
        """Return the answers by job, and the reason for each job without an answer.

        A job that ends the process gets a reason, and a new process runs the jobs after it.  The
        tests are removed from the bundle first.
        """
        remove_tests(bundle)
        answers: dict[Job, Any] = {}
        reasons: dict[Job, str] = {}
        left = list(jobs)
        while left:
            ended = self.run(bundle, ["probes"], left)
            seen, lines = 0, _lines(ended)
            if lines[:1] != [{"ready": True}]:
                return answers, reasons | dict.fromkeys(left, why(ended))
            for line in lines[1:]:
                if seen == len(left) or [line.get("probe"), line.get("seed")] != list(left[seen]):
                    break  # an answer to something else: ignore everything after it
                answers[left[seen]] = {key: line[key] for key in ("value", "raises") if key in line}
                seen += 1
            left = left[seen:]
            if left:  # other seeds would end this probe again, and take as long
                failed = left[0][0]
                reasons |= {job: why(ended) for job in left if job[0] == failed}
                left = [job for job in left if job[0] != failed]
        return answers, reasons


def why(ended: Ended) -> str:
    """Return how a process ended, without quoting anything that it wrote."""
    return ended.reason or f"the process ended with status {ended.status}"


def _lines(ended: Ended) -> list[dict[str, Any]]:
    """Return the lines of JSON that a process wrote, up to the first that is not a JSON object."""
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


def _outcome(line: dict[str, Any], key: str) -> dict[str, Any] | None:
    """Return a line about a test with its types checked, or `None` for any other line."""
    test, holes = line.get(key), line.get("holes")
    if not isinstance(test, str) or not isinstance(holes, list):
        return None
    return {"test": test[:200], "holes": [each for each in holes if isinstance(each, str)],
            "outcome": str(line.get("outcome"))[:20],
            "message": str(line.get("message", ""))[:2000]}


def probe_jobs(stage: Stage, seed: int) -> list[Job]:
    """Return the probes to ask and their seeds; raise CourseError if an exercise has no probe."""
    names = stage.probe_names()
    for hole in stage.holes:
        if not any(is_for(name, hole) for name in names):
            raise CourseError(f"{stage.probes} has no probe for {hole.id}")
    return [(name, (seed * 1_000_003 + i * 7919 + position) % 2**48)
            for i in range(ROUNDS) for position, name in enumerate(names)]


def probes_of(stage: Stage, holes: Collection[Hole], seed: int) -> list[Job]:
    """Return the probes of some exercises, with their seeds."""
    return [job for job in probe_jobs(stage, seed) if any(is_for(job[0], hole) for hole in holes)]


def is_for(probe: str, hole: Hole) -> bool:
    """Return whether a probe is for this exercise."""
    return f"{probe}_".startswith(f"probe_{hole.id.replace('.', '_')}_")


@lru_cache(8)
def reference(stage: Stage, seed: int) -> dict[Job, Any]:
    """Return the reference engine's answers to all probes of a stage."""
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        bundle = make_bundle(stage, None, Path(folder))
        answers, reasons = Runs(Sandbox("limits"), Limits()).probe(bundle, probe_jobs(stage, seed))
    if reasons:
        raise CourseError(f"{stage.probes}: the reference engine does not answer: "
                          f"{next(iter(reasons.values()))}")
    return answers
