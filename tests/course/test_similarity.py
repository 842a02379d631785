"""Similarity: copies are found however they are dressed up, and independent answers are not."""

from __future__ import annotations

import ast
import builtins
import csv
import io
import random
from itertools import combinations

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

from minigrad_course import stages as course
from minigrad_course.app import app
from minigrad_course.dev.source import module, mutated
from minigrad_course.similarity import compare as comparing
from minigrad_course.similarity.compare import HOLE_TOKENS, PACKAGE, Likeness, compare
from minigrad_course.similarity.fingerprints import RUN, WINDOW, covered, fingerprints
from minigrad_course.stages import Stage
from tests.support.answers import answered, answers
from tests.support.slow import slow_but

STAGES = [stage for stage in course.stages() if answers(stage)]
SEVERAL = [stage for stage in STAGES if len(answers(stage)) > 1]
INDEPENDENT = [(stage, name) for stage in STAGES for name in answers(stage)]


def package(stage: Stage) -> dict[str, str]:
    return {path: module(stage.package, path).text for path in stage.modules}


class Renamed(ast.NodeTransformer):
    """Gives every parameter and every local name of functions another name."""

    def __init__(self) -> None:
        self.inside = 0
        self.names: dict[str, str] = {}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.inside += 1
        for each in ast.walk(node):
            found = [each.arg] if isinstance(each, ast.arg) else [each.id] if isinstance(
                each, ast.Name) and isinstance(each.ctx, ast.Store) else []
            for name in found:
                self.names.setdefault(name, f"thing{len(self.names)}")
        self.generic_visit(node)
        self.inside -= 1
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg, node.annotation = self.names.get(node.arg, node.arg), None
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if self.inside and not hasattr(builtins, node.id):
            node.id = self.names.get(node.id, node.id)
        return node


def disguised(texts: dict[str, str], seed: int = 0) -> dict[str, str]:
    """Rename what can be renamed, drop the old comments and strew new ones between the lines."""
    rng = random.Random(seed)
    dressed = {}
    for path, text in texts.items():
        lines = []
        for line in ast.unparse(Renamed().visit(ast.parse(text))).splitlines():
            if rng.random() < 0.3 and line.strip():
                lines.append(" " * (len(line) - len(line.lstrip())) + f"# step {rng.random()}")
            lines.append(line)
        dressed[path] = "\n".join(lines) + "\n"
        ast.parse(dressed[path])
    return dressed


def reported(stage: Stage, **submissions: dict[str, str]) -> set[tuple[str, str]]:
    return {(each.one, each.other) for each in compare(stage, submissions)}


def against_package(stage: Stage, texts: dict[str, str]) -> Likeness:
    given, whole = comparing._shipped(stage), comparing._package(stage)
    return comparing._likeness(stage, "x", PACKAGE, comparing._answers(stage, texts, given), whole,
                               {})


@pytest.mark.parametrize("stage", slow_but(4, course.stages()), ids=lambda stage: stage.key)
def test_the_package_in_disguise_is_found_in_every_stage(stage):
    if not stage.holes:
        return
    copy = disguised(package(stage))
    assert copy != package(stage)
    (found,) = compare(stage, {"copy": copy})
    assert (found.one, found.other) == ("copy", PACKAGE)
    assert found.whole.part > 0.85


@pytest.mark.parametrize(("stage", "name"), INDEPENDENT)
def test_an_independent_answer_is_not_accused(stage, name):
    assert reported(stage, mine=answered(stage, name)) == set()


@pytest.mark.parametrize("stage", SEVERAL, ids=lambda stage: stage.key)
def test_independent_answers_are_not_each_others(stage):
    given = {name: answered(stage, name) for name in answers(stage)}
    assert reported(stage, **given) == set()


def test_the_figures_that_the_thresholds_rest_on():
    """What NOTE [What counts] says of answers that know nothing of the package's."""
    likenesses = [against_package(stage, answered(stage, name)) for stage, name in INDEPENDENT]
    shares = [share for each in likenesses for share in each.shares]
    assert max(each.whole.part for each in likenesses) < 0.55
    assert max(each.part for each in shares if each.of >= HOLE_TOKENS) < 0.7
    assert max(each.part for each in shares) < 0.85


@pytest.mark.parametrize(("stage", "name"), INDEPENDENT)
def test_who_copied_from_whom_is_found(stage, name):
    others = {other: answered(stage, other) for other in answers(stage) if other != name}
    mine = answered(stage, name)
    assert reported(stage, mine=mine, copy=disguised(mine), **others) == {("mine", "copy")}


def test_a_helper_of_ones_own_is_no_hiding_place():
    """What a hole's function calls is compared with it."""
    stage = course.find_stage("03")
    mine = answered(stage, "03_b")
    path = next(path for path in mine if "_nodes_below" in mine[path])
    tokens = comparing.answers(stage, mine, comparing._stubs(stage))["03.3"]
    lines = {mine[path].splitlines()[token.line - 1].strip() for token in tokens}
    assert "queue = deque([root])" in lines


def test_one_copied_exercise_among_ones_own_is_found():
    stage = course.find_stage("13b")
    mine = answered(stage, "13b_a")
    mine["optim/adam.py"] = disguised(package(stage))["optim/adam.py"]
    (found,) = compare(stage, {"mine": mine})
    assert [each.hole for each in found.shares if each.part > 0.8] == ["13b.4"]
    assert found.whole.part < comparing.STAGE_SHARE


@pytest.mark.parametrize("stage", SEVERAL, ids=lambda stage: stage.key)
def test_two_who_have_the_packages_code_are_not_said_to_have_each_others(stage):
    """Mistakes are planted in the package's code: it is that which both have."""
    given = {f"{hole.id} {mutant.name}": package(stage) | mutated(stage, hole, mutant)
             for hole in stage.holes[:2] for mutant in hole.mutants}
    assert reported(stage, **given) == {(name, PACKAGE) for name in given}


def test_what_many_of_a_class_have_is_not_counted():
    stage = course.find_stage("07")
    mine, other = answered(stage, "07_a"), answered(stage, "07_b")
    crowd = {f"m{i}": disguised(mine, i) for i in range(6)}
    assert len(reported(stage, **crowd)) == 15  # each pair of six: too few to be a class
    crowd |= {f"o{i}": disguised(other, i) for i in range(6)}
    assert reported(stage, **crowd) == set()


@pytest.mark.parametrize("text", ["", "def (:", "\0", "x = " * 5000 + "1", "1" + "+1" * 90_000,
                                  "-" * 100_000 + "1", "(" * 100_000, "a" + ".a" * 90_000])
def test_files_that_do_not_parse_are_compared_without_an_error(text):
    stage = course.find_stage("07")
    assert reported(stage, mine={stage.modules[0]: text}, other={stage.modules[0]: text}) == set()


def test_the_exercise_as_shipped_is_like_nothing():
    for stage in STAGES:
        stub = {path: stage.exercise(path).read_text() for path in stage.modules}
        assert reported(stage, one=stub, other=disguised(stub)) == set()


@pytest.mark.parametrize("seed", range(20))
def test_winnowing_keeps_its_promise(seed):
    """A passage of RUN + WINDOW - 1 tokens is seen wherever it stands, one below RUN never."""
    rng = random.Random(seed)
    passage = [f"p{i}" for i in range(RUN + WINDOW - 1)]
    one, other = ([f"{who}{i}" for i in range(60)] for who in "ab")
    at, there = rng.randrange(61), rng.randrange(61)
    for length in (len(passage), RUN - 1):
        marks = [fingerprints([*one[:at], *passage[:length], *one[at:]]),
                 fingerprints([*other[:there], *passage[:length], *other[there:]])]
        shared = set(marks[0]) & set(marks[1])
        assert bool(shared) == (length >= RUN)
        assert covered(marks[0], shared) <= set(range(at, at + length))


def test_formats(tmp_path):
    stage = course.find_stage("07")
    (path,) = stage.modules
    texts = {"ann": package(stage)[path], "=ben": disguised(package(stage))[path],
             "eve": answered(stage, "07_b")[path]}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    words = ["similarity", *sorted(str(each) for each in tmp_path.iterdir()), "--stage", "07"]

    def call(*more: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, [*words, *more])
        assert result.exit_code == code, result.output
        return result.output

    assert "2 to look at among 3 answers" in call()
    rows = list(csv.DictReader(io.StringIO(call("--format", "csv"))))
    assert {(row["one"], row["other"]) for row in rows} == {("ann.py", PACKAGE),
                                                            ("'=ben.py", PACKAGE)}
    call("--format", "html", "--out", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text()
    assert page.count("<tr><td>") == 2
    assert "<mark>" in page and "eve.py" not in page
    assert "--format xml: there are terminal" in call("--format", "xml", code=2)


def test_independent_pairs_are_far_below_the_thresholds():
    for stage in SEVERAL:
        given = {name: answered(stage, name) for name in answers(stage)}
        shipped = comparing._shipped(stage)
        written = {name: comparing._answers(stage, texts, shipped) for name, texts in given.items()}
        for one, other in combinations(given, 2):
            found = comparing._likeness(stage, one, other, written[one], written[other], {})
            assert found.whole.part < 0.2
