"""The course's probes: each hole has one, and every wrong answer that is known costs its hole.

The submissions go through `grade()` itself.  To be quick, a process is forked for each of them,
which has NumPy already, and only the probes are asked: the tests are said to have passed.

MINIGRAD_ALL_MUTANTS=1 tries every mutant; by default one of each stage is tried, and the
probes of half of the stages with their answers and stubs; on each day others are.
`python tests/course/test_probes.py 05 07.3` prints what survives, and which other holes a mistake
costs.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import signal
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from minigrad_course.child_process.swap import Swapped
from minigrad_course.content.source import blank, module, mutated
from minigrad_course.content.stages import Stage, stages
from minigrad_course.grading import child
from minigrad_course.grading.asking import probe_jobs
from minigrad_course.grading.bundle import make_bundle
from minigrad_course.grading.grade import Grade, grade
from minigrad_course.grading.intake import Submission
from minigrad_course.grading.sandbox import Ended, Limits, Sandbox
from tests.support.slow import ALL, DAY, one_in

SEED = 20_250_707
#: The package, and the copies beside it that another test may have loaded.
ENGINES = re.compile(r"minigrad(_beside_\w+)?(\.|$)")
PROBED = [stage for stage in stages() if stage.holes and stage.probe_names()]
MUTANTS = [(stage, hole, mutant) for stage in PROBED for hole in stage.holes
           for mutant in hole.mutants]


class Forked(Sandbox):
    """Asks the probes in a fork of this process; reports each hole as having passed its tests."""

    def run(self, bundle: Path, words: Sequence[str], job: bytes, limits: Limits) -> Ended:
        """Run `child.py` of a bundle, nearly."""
        if words[0] == "tests":
            return Ended(b'{"ready": true}\n'
                         b'{"test": "none", "holes": [%s], "outcome": "passed"}' % b", ".join(
                b'"%s"' % hole.id.encode() for stage in PROBED for hole in stage.holes), b"", 0)
        answers, errors = bundle / "answers", bundle / "errors"
        pid = os.fork()
        if not pid:
            _ask(bundle, job, answers, errors)
        _, status = os.waitpid(pid, 0)
        return Ended(answers.read_bytes() if answers.exists() else b"",
                     errors.read_bytes() if errors.exists() else b"", status)


def _ask(bundle: Path, job: bytes, answers: Path, errors: Path) -> None:
    status = 1
    try:
        signal.setitimer(signal.ITIMER_PROF, 30)
        os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stderr, sys.stdin = os.fdopen(2, "w"), io.StringIO(job.decode())
        for name in [name for name in sys.modules if ENGINES.match(name)]:
            del sys.modules[name]
        sys.meta_path[:] = [each for each in sys.meta_path if not isinstance(each, Swapped)]
        sys.path[:0] = [str(bundle / "site"), str(bundle)]
        sys.dont_write_bytecode = True
        os.environ["MINIGRAD_GENERIC"] = "1"
        if (bundle / "beside.json").is_file():
            os.environ["MINIGRAD_BESIDE"] = str(bundle / "beside.json")
        warnings.resetwarnings()  # pytest makes errors of them
        with open(answers, "w") as out:
            child.run_probes(out)
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        os._exit(status)


def graded(stage: Stage, texts: dict[str, str], seed: int = SEED) -> Grade:
    """Grade a submission by its probes alone."""
    return grade(stage, Submission("tried", solution(stage) | texts), Forked("limits"), seed)


@cache
def _solution(stage: Stage) -> dict[str, str]:
    return {path: module(stage.package, path).text for path in stage.modules}


def solution(stage: Stage) -> dict[str, str]:
    """The package's own files."""
    return dict(_solution(stage))


def named(each: object) -> str:
    """Name a parameter of a test."""
    return getattr(each, "key", "") or getattr(each, "id", "") or getattr(each, "name", "")


def sampled() -> list[object]:
    """All mutants: one of the first stage is quick, one of each other slow, the rest on demand.

    On each day others are tried.
    """
    kept = set()
    for stage in PROBED:
        mine = [i for i, each in enumerate(MUTANTS) if each[0] == stage]
        kept.update(random.Random(f"{stage.key} {DAY}").sample(mine, 1))
    skipped = pytest.mark.skip("MINIGRAD_ALL_MUTANTS=1 tries it")
    return [pytest.param(*each, id=" ".join(map(named, each)), marks=[
        *([pytest.mark.slow] if i not in kept or each[0] != PROBED[0] else []),
        *([skipped] if i not in kept and not ALL else [])]) for i, each in enumerate(MUTANTS)]


def test_every_stage_with_holes_has_probes():
    assert [stage.key for stage in stages() if stage.holes and not stage.probe_names()] == []


@pytest.mark.parametrize("stage", PROBED, ids=named)
def test_every_hole_has_a_probe(stage):
    assert probe_jobs(stage, 0)  # an error where one has none
    ids = {hole.id.replace(".", "_") for hole in stage.holes}
    assert {"_".join(name.split("_")[1:3]) for name in stage.probe_names()} == ids


@pytest.mark.parametrize("stage", [PROBED[0], *one_in(2, PROBED[1:])], ids=named)
class TestStage:
    """What holds of the probes of each stage."""

    def test_the_solution_gets_all_points(self, stage):
        result = graded(stage, {})
        assert result.points == result.max_points == 10, result.holes

    @pytest.mark.slow
    @pytest.mark.skipif(not ALL, reason="MINIGRAD_ALL_MUTANTS=1 runs it")
    def test_the_solution_gets_all_points_for_other_seeds(self, stage):
        assert graded(stage, {}, SEED + 1).points == 10

    @pytest.mark.slow
    def test_traces_differ_with_the_seed_and_only_with_it(self, stage, tmp_path):
        jobs = [[name, seed] for name in stage.probe_names() for seed in (5, 5, 6, 7, 8)]
        bundle = make_bundle(stage, None, tmp_path / "bundle")
        ended = Forked("limits").run(bundle, ["probes"], json.dumps(jobs).encode(), Limits())
        ready, *answers = map(json.loads, ended.output.splitlines())
        assert ready == {"ready": True}
        assert len(answers) == len(jobs), ended.errors.decode()
        for name in stage.probe_names():
            mine = [each for each in answers if each["probe"] == name]
            assert not any("raises" in each for each in mine), f"{name} raises {mine}"
            first, again, *others = [json.dumps(each["value"]) for each in mine]
            assert first == again, f"{name} is not the same twice"
            assert len({first, *others}) == 4, f"{name} returns the same for other seeds"
            assert '"type": ' not in first, f"{name} returns what is not compared by value"

    def test_an_untouched_stub_gets_nothing(self, stage):
        result = graded(stage, stubs(stage))
        assert result.points == 0, result.holes


def stubs(stage: Stage) -> dict[str, str]:
    """The files as the learner gets them."""
    return {path: blank(stage, path, list(stage.holes)) for path in stage.modules}


@pytest.mark.parametrize(("stage", "hole", "mutant"), sampled())
def test_a_wrong_answer_loses_its_points(stage, hole, mutant):
    result = graded(stage, mutated(stage, hole, mutant))
    lost = {each.hole: each for each in result.holes if each.reason}
    assert hole.id in lost, f"{hole.id} keeps its points with {mutant.name!r}"


def _report(numbers: Sequence[str]) -> None:
    """Print which mutants keep their points and which other holes a hole costs."""
    for stage in PROBED:
        holes = [hole for hole in stage.holes if stage.number in numbers or hole.id in numbers]
        if holes:
            print(stage.key, "the solution loses", _lost(graded(stage, {})), flush=True)
        for hole in holes:
            opened = {path: blank(stage, path, [hole]) for path in stage.modules}
            print(hole.id, "open costs", _lost(graded(stage, opened)), flush=True)
            for mutant in hole.mutants:
                lost = _lost(graded(stage, mutated(stage, hole, mutant)))
                if lost != [hole.id]:
                    print("" if hole.id in lost else "SURVIVES", hole.id, mutant.name, lost,
                          flush=True)


def _lost(result: Grade) -> list[str]:
    return [each.hole for each in result.holes if each.reason]


if __name__ == "__main__":  # with numbers of stages or holes
    _report(sys.argv[1:])
