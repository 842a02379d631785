"""A stage on `op/` itself is tested on a second copy beside the package.

The stage is a prototype in tests/data/beside with three exercises: the save list of a node,
`record` and `wrap`.  Each is tried open, wrong and endless, all three at once, in the terminal, in
the grader and through the functions that the page's worker calls.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from rich.console import Console
from typer.testing import CliRunner

import minigrad
from minigrad.op import REGISTRY, F
from minigrad_course.app import app
from minigrad_course.child_process import second_copy as second_copy_module
from minigrad_course.child_process.second_copy import second_copy
from minigrad_course.content import stages as course
from minigrad_course.content.source import Module, blank, body_span, module
from minigrad_course.content.stages import CourseError, Stage
from minigrad_course.dev.canary import canaries
from minigrad_course.dev.verify import findings, shape
from minigrad_course.grading.bundle import make_bundle
from minigrad_course.grading.grade import Grade, grade
from minigrad_course.grading.intake import Submission
from minigrad_course.grading.sandbox import Limits, Sandbox, best_sandbox
from minigrad_course.grading.sealed import with_sealed
from minigrad_course.jobs import children
from minigrad_course.learner.from_scratch import functions_run_on_import
from minigrad_course.learner.workspace import make_workspace
from minigrad_course.running.learner_files import LearnerFiles
from minigrad_course.running.trial import Outcome, Trial, try_files
from minigrad_course.terminal.learn import Session
from minigrad_course.verdicts.verdict import Verdict, verdicts
from minigrad_course.verdicts.waiting import try_answers
from tests.support.slow import one_in, slow_but, today

HERE = course.checkout()
HOLES = ("04d.1", "04d.2", "04d.3")
KINDS = ("open", "wrong", "endless")
#: Each exercise once in each way, and never two in the same way.
ROUNDS = [{hole: KINDS[(i + shift) % 3] for i, hole in enumerate(HOLES)} for shift in range(3)]
SENTENCES = {
    "04d.1": "Inputs are saved although no formula that will run asks for them.",
    "04d.2": "A node is made in `no_grad` too.",
    "04d.3": "The output is not saved, although a formula asks for it.",
}
#: Where each exercise loops; the first one does so while the copy's ops are declared.
FUNCTIONS = {"04d.1": ("node.py", "is_always_saved"), "04d.2": ("apply.py", "record"),
             "04d.3": ("apply.py", "wrap")}


@pytest.fixture(scope="module")
def stage(tmp_path_factory) -> Stage:
    """The prototype, in a course of its own."""
    root = tmp_path_factory.mktemp("course")
    shutil.copytree(HERE / "tests" / "data" / "beside", root, dirs_exist_ok=True)
    shutil.copy(HERE / "tests" / "_oracle.py", root / "tests")
    shutil.copy(HERE / "lessons" / "probes" / "probing.py", root / "lessons" / "probes")
    (stage,) = course.stages(root)
    for path in stage.modules:
        file = stage.exercise(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("# An exercise.\n\n" + blank(stage, path, list(stage.holes)), "utf-8")
        stage.solution(path).parent.mkdir(parents=True, exist_ok=True)
        stage.solution(path).write_text(module(stage.package, path).text, encoding="utf-8")
    return stage


def answers(stage: Stage, kinds: dict[str, str]) -> dict[str, str]:
    """The package's modules with some exercises open, wrong, endless or with another body."""
    texts = {path: module(stage.package, path).text for path in stage.modules}
    for hole in stage.holes:
        kind = kinds.get(hole.id)
        path = hole.symbols[0].partition(":")[0]
        symbols = [each.partition(":")[2] for each in hole.symbols]
        if kind == "wrong":
            for before, after in hole.mutants[0].edits:
                assert texts[path].count(before) == 1
                texts[path] = texts[path].replace(before, after)
        elif kind is not None:
            body = {"open": f'raise NotImplementedError("{hole.id} X is yours to write")',
                    "endless": "while True: pass"}.get(kind, kind)
            for symbol in {"open": symbols, "endless": symbols[-1:]}.get(kind, symbols[:1]):
                source = Module.from_text(path, texts[path])
                function = source.function(symbol)
                first, last = body_span(source, function)
                lines = source.lines
                lines[first - 1 : last] = [" " * (function.col_offset + 4) + body]
                texts[path] = "\n".join(lines) + "\n"
    return texts


def written(texts: dict[str, str], folder: Path) -> dict[str, Path]:
    files = {path: folder / path for path in texts}
    for path, text in texts.items():
        files[path].parent.mkdir(parents=True, exist_ok=True)
        files[path].write_text(text, encoding="utf-8")
    return files


def tried(stage: Stage, texts: dict[str, str], folder: Path, holes: list[str] | None = None,
          limit: float = 1) -> dict[str, Verdict]:
    trial = try_answers(stage, written(texts, folder), holes, limit=limit)
    assert not trial.problem
    return {each.hole.id: each for each in verdicts(stage, trial, [
        hole for hole in stage.holes if holes is None or hole.id in holes])}


def graded(stage: Stage, texts: dict[str, str], seconds: float = 8) -> Grade:
    return grade(stage, Submission("x", texts), best_sandbox(), 5, Limits(seconds=seconds))


def only(stage: Stage, hole: str) -> Stage:
    return replace(stage, holes=tuple(each for each in stage.holes if each.id == hole))


# ------------------------------------------------------------------ the copy


def test_a_copy_has_a_registry_an_f_and_a_tensor_of_its_own():
    copy = second_copy("04d.9")
    assert set(copy.REGISTRY) == {"Exp", "Sin", "Cos", "Sigmoid", "Mul", "Sub", "AddScaled",
                                  "SinCos", "Transposed"}
    assert copy.REGISTRY["Exp"] is not REGISTRY["Exp"] and copy.F is not F
    assert copy.F.exp is not F.exp and not hasattr(F, "add_scaled")
    assert issubclass(copy.Tensor, minigrad.Tensor) and copy.Tensor is not minigrad.Tensor
    assert not hasattr(minigrad.Tensor, "transposed")
    assert copy.module("op.apply") is not sys.modules["minigrad.op.apply"]
    assert copy.module("graph.node") is sys.modules["minigrad.graph.node"]
    assert copy.module("op.apply").Tensor is copy.Tensor
    with pytest.raises(ModuleNotFoundError):
        copy.module("codegen")
    assert second_copy("04d.9") is copy
    find_spec("minigrad.codegen")  # not refused: nothing is graded in this process


def test_two_copies_share_nothing():
    first, second = second_copy("04d.8"), second_copy("04d.9")
    assert first.REGISTRY["Mul"] is not second.REGISTRY["Mul"]
    assert first.Tensor is not second.Tensor and first.F is not second.F


def test_second_derivatives_go_through_the_copy():
    copy = second_copy("04d.9")
    x = copy.tensor([[0.5, 1.5], [2.5, 3.5]], requires_grad=True)
    y = copy.F.transposed(x)
    (first,) = minigrad.autograd.grad((y * y * y).sum(), x, create_graph=True)
    assert first.grad_fn.op is copy.REGISTRY["Transposed"]
    (second,) = minigrad.autograd.grad(first.sum(), x)
    assert second.tolist() == [[3.0, 9.0], [15.0, 21.0]]


def test_a_copy_that_cannot_be_loaded_leaves_nothing(tmp_path, monkeypatch):
    for each in [each for each in sys.modules if each.startswith(second_copy_module.PREFIX)]:
        monkeypatch.delitem(sys.modules, each)  # another test's
    monkeypatch.setattr(sys, "meta_path", [
        each for each in sys.meta_path if not isinstance(each, second_copy_module.SwappedBeside)])
    source = {"text": "1 / 0\n", "files": ["mine.py"], "lines": [[0, 1]]}
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"beside": {"04d.7": {"minigrad.op.apply": source}}}), "utf-8")
    monkeypatch.setenv(second_copy_module.PLAN, str(plan))
    finders = list(sys.meta_path)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            second_copy("04d.7")
    assert sys.meta_path == finders
    assert not [each for each in sys.modules if each.startswith("minigrad_beside_04d_7")]
    with pytest.raises(LookupError, match=r"no second copy was planned for 04d.6, only for 04d.7"):
        second_copy("04d.6")


def test_only_modules_of_op_can_be_tested_beside_the_package(stage, tmp_path):
    shutil.copytree(stage.root, tmp_path, dirs_exist_ok=True)
    file = tmp_path / "lessons" / "stages" / "04d_recording.toml"
    file.write_text(file.read_text("utf-8").replace('"op/apply.py"]', '"engine/engine.py"]'),
                    encoding="utf-8")
    with pytest.raises(CourseError, match=r"must be in op/ or examples/, but engine/engine.py"):
        course.stages(tmp_path)


def test_each_exercise_gets_the_package_s_version_of_the_others(stage):
    learner_files = LearnerFiles(stage, answers(stage, dict.fromkeys(HOLES, "endless")))
    for hole in stage.holes:
        text = "".join(source.text for source in learner_files.alone(hole).values())
        assert text.count("while True: pass") == 1


@pytest.mark.slow
def test_no_exercise_of_another_stage_runs_while_the_package_is_imported():
    """NOTE [A second copy of op/]: where one has to, its stage is tested beside the package."""
    root = course.checkout()
    early = functions_run_on_import(root)
    assert ("op/declaration.py", first_line(root, "op/declaration.py", "declare")) in early
    late = [symbol for stage in course.stages(root) if not stage.beside for hole in stage.holes
            for symbol in hole.symbols]
    assert not [each for each in late if (each.partition(":")[0], first_line(
        root, *each.split(":"))) in early]


def first_line(root: Path, path: str, symbol: str) -> int:
    function = module(root / "minigrad", path).function(symbol)
    return min([function.lineno, *(each.lineno for each in function.decorator_list)])


def test_the_published_stages_that_are_tested_beside_the_package():
    assert [each.number for each in course.stages() if each.beside] == ["04d", "04e"]


# ------------------------------------------------------------------ the terminal


def check_verdicts(found: dict[str, Verdict], kinds: dict[str, str]) -> None:
    for hole, kind in kinds.items():
        verdict = found[hole]
        if kind == "open":
            assert (verdict.state, verdict.points) == ("untouched", 0)
        elif kind == "wrong":
            assert (verdict.state, verdict.diagnosis) == ("wrong", SENTENCES[hole])
        else:
            file, name = FUNCTIONS[hole]
            assert verdict.state == "wrong"
            assert re.fullmatch(rf"It did not end within 1 seconds; stopped at {file}, line \d+, "
                                rf"in {re.escape(name)} \({hole}\)\.", verdict.diagnosis)


@pytest.mark.parametrize("kinds", slow_but(1, ROUNDS), ids=lambda kinds: kinds["04d.1"])
def test_open_wrong_and_endless_side_by_side(stage, tmp_path, kinds):
    check_verdicts(tried(stage, answers(stage, kinds), tmp_path), kinds)


@pytest.mark.slow
def test_a_right_one_among_broken_ones_is_solved(stage, tmp_path):
    for hole in today(3, HOLES):
        kinds = {other: "endless" for other in HOLES if other != hole}
        found = tried(stage, answers(stage, kinds), tmp_path / hole)
        assert found[hole].state == "solved"
        check_verdicts(found, kinds)


@pytest.mark.slow
def test_a_file_that_is_no_python_leaves_the_other_file_s_exercises(stage, tmp_path):
    texts = answers(stage, {})
    found = tried(stage, texts | {"op/apply.py": "(\n" + texts["op/apply.py"]}, tmp_path)
    assert [each.state for each in found.values()] == ["solved", "wrong", "wrong"]
    assert {found[hole].diagnosis for hole in HOLES[1:]} == {
        "It is not valid Python: '(' was never closed (apply.py, line 1)"}


@pytest.mark.slow
def test_an_exercise_that_is_no_python_leaves_the_others(stage, tmp_path):
    found = tried(stage, answers(stage, {"04d.2": "return ("}), tmp_path)
    assert [each.state for each in found.values()] == ["solved", "wrong", "solved"]
    assert found["04d.2"].diagnosis.startswith("It is not valid Python: '(' was never closed (")


@pytest.mark.slow
def test_a_loop_while_a_fixture_loads_the_file_is_named(stage, tmp_path):
    texts = answers(stage, {})
    trial = try_files(stage, written(texts | {
        "op/apply.py": texts["op/apply.py"] + "\nwhile True: pass\n"}, tmp_path), limit=1)
    found = {each.hole.id: each for each in verdicts(stage, trial, list(stage.holes))}
    # the file is in the copy of each exercise, whoever is in it
    assert all("stopped at apply.py, line " in each.diagnosis for each in found.values())


@pytest.mark.slow
def test_what_an_answer_prints_is_told(stage, tmp_path):
    body = 'print("saving"); return {"self"} & self.positions.keys()'
    found = tried(stage, answers(stage, {"04d.1": body}), tmp_path)
    assert found["04d.1"].state == "wrong"
    assert "saving" in found["04d.1"].printed[0][1]


@pytest.mark.slow
def test_the_command_run(stage, tmp_path, monkeypatch):
    monkeypatch.setattr(course, "checkout", lambda: stage.root)
    monkeypatch.setattr("minigrad_course.terminal.show_verdicts.LIMIT", 1.0)
    space = make_workspace(tmp_path / "engine")

    def said(*words: str) -> str:
        return CliRunner().invoke(app, [*words, "--dir", str(space.root)]).output

    assert said("run", "04d").count("untouched") == 3
    for kinds in today(3, ROUNDS):
        written(answers(stage, kinds), space.exercises / stage.key)
        told = said("run", "04d")
        marks = {"open": "untouched", "wrong": "wrong    ", "endless": "wrong    "}
        for hole, kind in kinds.items():
            assert f"{marks[kind]} {hole} " in told
            if kind == "endless":
                assert re.search(rf"line \d+, in\s+{re.escape(FUNCTIONS[hole][1])}\s+\({hole}\)",
                                 told)
            if kind == "wrong":
                assert SENTENCES[hole] in " ".join(told.split())
        assert "0 of 10 points" in told
    written(answers(stage, {}), space.exercises / stage.key)
    told = said("run", "04d")
    assert "10 of 10 points" in told
    assert "The whole package runs on your files too: all 2 tests pass." in " ".join(
        told.split())
    assert "whole package" not in said("run", "04d.1")


@pytest.mark.parametrize("passed", [True, False])
def test_learn_tells_how_the_files_do_below_the_whole_package(tmp_path, passed):
    stage, space = course.find_stage("04d"), make_workspace(tmp_path / "engine")
    said = Console(file=io.StringIO(), width=200)
    whole = Trial((Outcome("test_04d.py::test_it", ("04d",), passed, "" if passed else "no"),))
    right = tuple(Outcome(f"test_{hole.id}", (hole.id,), True) for hole in stage.holes)
    Session(said, space).tested(stage, Trial(right, whole=whole))
    told = said.file.getvalue()
    assert ("all 1 tests pass." if passed else "1 of 1 tests fail.") in told
    assert ("test_it failed" in told) is not passed


@pytest.mark.slow
def test_what_fails_below_the_whole_package_alone_is_told(stage, tmp_path, monkeypatch):
    """The copy has no mean: a mistake in that shows in the whole package only."""
    monkeypatch.setattr(course, "checkout", lambda: stage.root)
    space = make_workspace(tmp_path / "engine")
    texts = answers(stage, {})
    before = "def record(op: type[Op], call: Prepared) -> Any:\n"
    assert texts["op/apply.py"].count(before) == 1
    texts["op/apply.py"] = texts["op/apply.py"].replace(
        before, before + "    if op.__name__ == 'MeanAll': return None\n")
    written(texts, space.exercises / stage.key)
    output = CliRunner().invoke(app, ["run", "04d", "--dir", str(space.root)]).output
    told = " ".join(output.split())
    assert "wrong 04d.2 " in told
    assert re.search(r" [1-9] of 10 points ", told)
    assert ("The stage is not solved yet: when the whole package runs on your files, 1 of 2 tests "
            "fail.") in told
    assert "test_a_mean_has_a_gradient failed:" in told
    assert "is solved" not in told
    told = CliRunner().invoke(app, ["run", "04d.2", "--dir", str(space.root)]).output
    assert "1 of 2 tests fail." in " ".join(told.split())
    assert "is solved" not in told
    assert not space.solved(next(each for each in stage.holes if each.id == "04d.2"))
    result = page(stage.root, [{"stage": "04d", "files": texts}])[0]
    assert result["whole"].startswith("The stage is not solved yet: when the whole package runs on "
                                      "your files, 1 of 2 tests fail. "
                                      "test_a_mean_has_a_gradient: ")
    assert [each["state"] for each in result["verdicts"]] == ["solved", "wrong", "solved"]
    texts["op/apply.py"] = texts["op/apply.py"].replace("'MeanAll': return", "'Nothing': return")
    assert page(stage.root, [{"stage": "04d", "files": texts}])[0]["whole"] == (
        "The whole package runs on your files too: all 2 tests pass.")


@pytest.mark.slow
def test_a_package_that_cannot_be_imported_is_told(stage, tmp_path, monkeypatch):
    """Each copy can: the mistake shows with an op of the whole package."""
    monkeypatch.setattr(course, "checkout", lambda: stage.root)
    space = make_workspace(tmp_path / "engine")
    texts = answers(stage, {})
    before = "def is_always_saved("
    assert texts["op/node.py"].count(before) == 1
    head, start, rest = texts["op/node.py"].partition(before)
    line, end, body = rest.partition("\n")
    while not line.rstrip().endswith(":"):
        more, end, body = body.partition("\n")
        line += "\n" + more
    texts["op/node.py"] = (head + start + line + end
                           + "    if op.__name__ == 'Tanh': raise TypeError('no tanh')\n" + body)
    written(texts, space.exercises / stage.key)
    output = CliRunner().invoke(app, ["run", "04d", "--dir", str(space.root)])
    told = " ".join(output.output.split())
    assert output.exit_code == 1
    assert ("The stage is not solved yet, because your files keep the whole package from being "
            "imported: TypeError: no tanh") in told
    assert "wrong 04d.1 " in told
    assert "the whole package on your 04d.1 failed: TypeError: no tanh" in told
    assert "is solved" not in told


@pytest.mark.slow
def test_solved_answers_stand_in_below_the_whole_package(stage, tmp_path, monkeypatch):
    """Then it is the package's `op/` that is the learner's: import and programs."""
    monkeypatch.setattr(course, "checkout", lambda: stage.root)
    space = make_workspace(tmp_path / "engine")
    body = 'import sys; sys.stdout.write("mine\\n"); return None'
    files = written(answers(stage, {"04d.2": body}), space.exercises / stage.key)
    program = tmp_path / "program.py"
    program.write_text("import minigrad as torch\nfrom minigrad.op import apply\n"
                       "x = torch.ones(2, requires_grad=True)\nprint(x.exp().grad_fn)\n"
                       "print(apply.__file__)\n", encoding="utf-8")
    told = tmp_path / "told"
    with told.open("w") as out:
        keep = os.dup(1)
        os.dup2(out.fileno(), 1)
        try:
            run_script = CliRunner().invoke(app, ["python", "--mine", "04d", "--dir",
                                                  str(space.root), str(program)])
        finally:
            os.dup2(keep, 1)
            os.close(keep)
    assert run_script.exit_code == 0, run_script.output + told.read_text()
    assert told.read_text("utf-8").splitlines()[-3:] == [
        "mine", "None", str(files["op/apply.py"].resolve())]


# ------------------------------------------------------------------ the grader


@pytest.mark.parametrize("kinds", one_in(3, ROUNDS), ids=lambda kinds: kinds["04d.1"])
def test_grades_of_open_wrong_and_endless(stage, kinds):
    found = {each.hole: each for each in graded(stage, answers(stage, kinds)).holes}
    assert [each.points for each in found.values()] == [0, 0, 0]
    for hole, kind in kinds.items():
        if kind == "open":
            assert found[hole].reason == "not written yet"
        elif kind == "wrong":
            assert found[hole].reason.endswith("of its tests fail")
            assert found[hole].diagnosis == SENTENCES[hole]
        else:
            assert found[hole].reason == "it did not end in time"


@pytest.mark.slow
def test_right_answers_have_all_points_and_nothing_waits(stage):
    result = graded(stage, answers(stage, {}), 60)
    assert (result.points, result.notes) == (10, ())
    result = graded(stage, answers(stage, {"04d.1": "open", "04d.3": "wrong"}), 60)
    assert [(each.points, each.note) for each in result.holes] == [(0, ""), (4, ""), (0, "")]


@pytest.mark.slow
def test_the_command_grade(stage, tmp_path, monkeypatch):
    monkeypatch.setattr(course, "checkout", lambda: stage.root)
    monkeypatch.setattr(children, "_START", (  # the processes of jobs grade the same course
        "import pathlib, sys; sys.path[:] = {path!r}; from minigrad_course.content import stages; "
        f"stages.checkout = lambda: pathlib.Path({str(stage.root)!r}); "
        "from {module} import main; main()"))
    written(answers(stage, ROUNDS[0]), tmp_path / "x" / "exercises" / stage.key)
    told = " ".join(CliRunner().invoke(app, ["grade", str(tmp_path / "x"), "--stage", "04d",
                                             "--seconds", "8"]).output.split())
    assert "x: 0 of 10" in told
    assert "0 of 3 04d.1 The save list: not written yet" in told
    assert SENTENCES["04d.2"] in told
    assert "0 of 3 04d.3 Wrap: it did not end in time" in told


@pytest.mark.slow
def test_a_missing_file_earns_nothing(stage):
    texts = answers(stage, {})
    del texts["op/apply.py"]
    assert [each.points for each in graded(stage, texts, 60).holes] == [3, 0, 0]


HANDED_ON = {  # hands its work on to the package's version
    "04d.1": "from minigrad.op.node import OpNode as package; return package.names_to_save(self)",
    "04d.2": "import minigrad.op.apply as package; return package.record(op, call)",
    "04d.3": "import minigrad.op.apply as package; return package.wrap(op, node, values, array)",
}


@pytest.mark.slow
@pytest.mark.parametrize("hole", HANDED_ON)
def test_an_answer_cannot_hand_its_work_on_to_the_package(stage, hole):
    (found,) = graded(only(stage, hole), answers(stage, HANDED_ON), 60).holes
    assert found.points == 0
    assert any("the package's version of this exercise" in message for _, message in found.failing)


@pytest.mark.slow
@pytest.mark.parametrize("body", [
    "import minigrad.op.node as package; open(package.__file__).read().index('needed = [')",
    "import inspect, minigrad.op.node as package; inspect.getsource(package).index('needed = [')",
    "import minigrad.codegen; return set()",
    "from .. import codegen; return set()",
    "from ...minigrad_beside_04d_2.op.node import OpNode; return OpNode.names_to_save(self)",
])
def test_what_a_graded_process_has_not(stage, body):
    (found,) = graded(only(stage, "04d.1"), answers(stage, {"04d.1": body}), 60).holes
    assert found.points == 0
    told = " ".join(message for _, message in found.failing)
    assert re.search("ValueError: substring|ModuleNotFoundError|ImportError", told), told


@pytest.mark.slow
def test_a_bundle_has_no_text_of_the_exercise_and_no_codegen(stage, tmp_path):
    hole = stage.holes[0]
    bundle = make_bundle(stage, answers(stage, {"04d.1": "open"}), tmp_path, hole)
    assert not (bundle / "site" / "minigrad" / "codegen").exists()
    answer = "for (_, names), (node, _) in formulas if node is not None"
    assert answer in module(stage.package, "op/node.py").text
    texts = [each.read_bytes() for each in bundle.rglob("*") if each.is_file()]
    assert not [each for each in texts if answer.encode() in each]
    place = str(stage.package).encode()
    assert place not in (bundle / "beside.json").read_bytes()
    job = json.dumps(with_sealed(stage, hole, [])).encode()
    assert Sandbox("limits").run(bundle, ["probes"], job, Limits()).status == 0


@pytest.mark.slow
def test_what_is_asked_of_published_stages_holds(stage):
    """As `minigrad dev canary` and `minigrad dev verify` ask it; a prototype may be small."""
    assert list(canaries(stage)) == []
    assert set(findings(stage)) == set(shape(stage))


# ------------------------------------------------------------------ the page

_PAGE = """\
import json, os, signal, sys, threading, time
sys.path[:0] = [{page!r}, {root!r}]
import grading
from pathlib import Path
grading.ROOT = Path({root!r})
grader = grading.Grader()
for asked in json.load(sys.stdin):
    # Stop in the page is this signal; the timer is for the time limit of a test.
    stop = threading.Timer(asked.pop("stop_after", 1000), os.kill, (os.getpid(), signal.SIGINT))
    stop.daemon = True
    stop.start()
    begin = time.monotonic()
    told = json.loads(grader.grade(json.dumps(asked)))
    print(json.dumps(told | {{"seconds": time.monotonic() - begin}}))
    stop.cancel()
left = [each for each in sys.modules if each.startswith("minigrad_beside")]
print(json.dumps([left, [str(each) for each in sys.meta_path if "Swapped" in str(each)]]))
"""


def page(root: Path, asked: list[dict]) -> list:
    """What the functions return that the page's worker calls, in one process of CPython."""
    program = _PAGE.format(page=str(HERE / "site" / "runtime" / "python"), root=str(root))
    done = subprocess.run([sys.executable, "-c", program], input=json.dumps(asked), text=True,
                          capture_output=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": str(HERE)})
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_the_page_tells_the_same(stage):
    def asked(kinds: dict[str, str], **more: object) -> dict[str, object]:
        return {"stage": "04d", "files": answers(stage, kinds), **more}

    for kinds in today(3, ROUNDS):
        endless = next(hole for hole, kind in kinds.items() if kind == "endless")
        others = [hole for hole in HOLES if hole != endless]
        stopped, rest, right, left = page(stage.root, [
            asked(kinds, stop_after=4), asked(kinds, holes=others), asked({})])
        # The page has no limit of time but Stop, which its reader presses.
        assert stopped["problem"] == "it was stopped"
        assert 4 <= stopped["seconds"] < 10
        assert rest["problem"] == right["problem"] == ""
        for each in rest["verdicts"]:
            if kinds[each["hole"]] == "open":
                assert each["state"] == "untouched"
            else:
                assert (each["state"], each["diagnosis"]) == ("wrong", SENTENCES[each["hole"]])
        assert [each["state"] for each in right["verdicts"]] == ["solved"] * 3
        assert left == [[], []]
