"""The capstone: its ten probes, the faults that they see, and figures that are measured."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from typing import Any

import pytest

from tests.support.slow import DAY, slow_but

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

import minigrad
from minigrad_course.app import app
from minigrad_course.capstone import faults
from minigrad_course.capstone.certificate import certificate
from minigrad_course.capstone.results import keep_result, read_results
from minigrad_course.commands import capstone as commands
from minigrad_course.content import stages as course
from minigrad_course.content.stages import CourseError, find_stage
from minigrad_course.learner import skipped_stages
from minigrad_course.learner.next_step import next_step
from minigrad_course.learner.workspace import Workspace, make_workspace
from minigrad_course.running.program import run_script

PROGRAMS = course.checkout() / "lessons" / "programs"
#: Whether every fault is tried.
ALL = os.environ.get("MINIGRAD_ALL_MUTANTS") == "1"
CAUGHT = {"number": 1, "questions": 5, "wrong": 0}
COMPILED = {"steps": 100, "bytes": [6_200_000, 3_140_000], "milliseconds": [21.3, 14.0]}
DIGITS = {"right": 440, "of": 450, "weights": 2410, "own": 3, "ran": 300}


def program(name: str) -> Any:
    """A program of the course as a module."""
    sys.path.insert(0, str(PROGRAMS))
    try:
        spec = importlib.util.spec_from_file_location(f"program_{name}", PROGRAMS / f"{name}.py")
        assert spec is not None and spec.loader is not None
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
        return found
    finally:
        sys.path.remove(str(PROGRAMS))


TEN = program("ten_probes")
SEEN = [fault for fault in faults.candidates() if fault.mutant.seen]
SOLUTIONS = [(stage, {path: stage.solution(path) for path in stage.modules})
             for stage in course.stages() if stage.modules]
EVERY = [stage.key for stage, _ in SOLUTIONS]


def call(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["capstone", *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def space(tmp_path, monkeypatch):
    """A workspace, with the test inside it."""
    monkeypatch.setenv("COLUMNS", "100")
    found = make_workspace(tmp_path / "engine")
    monkeypatch.chdir(found.root)
    return found


def solve(space: Workspace, *numbers: str) -> None:
    """Write the solutions of stages into a workspace."""
    for stage in map(find_stage, numbers):
        for path in stage.modules:
            shutil.copy(stage.solution(path), stage.exercise(path, space.exercises))
        space.record((hole, True) for hole in stage.holes)


# --- probes and faults ------------------------------------------------------------------------


def test_the_package_gets_the_ten_probes_right():
    assert TEN.results(minigrad) == TEN.EXPECTED
    assert len(TEN.PROBES) == len(TEN.EXPECTED) == 10


def test_pytorch_gets_the_ten_probes_right():
    assert TEN.results(pytest.importorskip("torch", reason="compares with PyTorch")) == TEN.EXPECTED


@pytest.mark.slow
def test_the_solutions_get_the_ten_probes_right():
    assert faults.probed(faults.engine_with(None, SOLUTIONS)) == TEN.EXPECTED


def test_no_fault_is_planted_in_the_compiler():
    assert "15" not in {fault.stage.number for fault in faults.candidates()}


def test_faults_are_known_in_many_stages():
    assert len({fault.stage.key for fault in SEEN}) >= 8


def sampled():
    """The faults: one is quick, each day another third is slow, the rest are tried on demand."""
    on_demand = pytest.mark.skipif(not ALL, reason="MINIGRAD_ALL_MUTANTS=1 tries it")
    return slow_but(1, [pytest.param(
        each, marks=[on_demand] if i and (i + DAY) % 3 else [],
        id=f"{each.hole.id}-{each.mutant.name}") for i, each in enumerate(SEEN)])


@pytest.mark.parametrize("fault", sampled())
def test_a_fault_that_is_marked_as_seen_is_seen(fault):
    found = faults.probed(faults.engine_with(fault, []))
    assert found is not None and found != TEN.EXPECTED


def test_a_fault_changes_one_line_of_the_learners_file_and_no_other(space):
    fault = next(each for each in SEEN if each.stage.number == "13b")
    path = fault.hole.symbols[0].partition(":")[0]
    solve(space, "13b")
    file = fault.stage.exercise(path, space.exercises)
    text = f"# mine\n{file.read_text(encoding='utf-8')}\nmine = 1\n"
    file.write_text(text, encoding="utf-8")
    files, shared = faults.engine_with(fault, [(fault.stage, space.files(fault.stage))])
    before, after = fault.lines
    assert files[path] == file and file.read_text(encoding="utf-8") == text
    made = shared[path].text.splitlines()
    assert "# mine" in made and "mine = 1" in made
    assert before in text and before not in shared[path].text and after in shared[path].text


def test_faults_come_in_an_order_that_their_number_decides():
    first = [fault.digest for fault in faults.order(1, EVERY)]
    assert first == [fault.digest for fault in faults.order(1, EVERY)]
    assert first != [fault.digest for fault in faults.order(2, EVERY)]
    assert len(set(first)) == len(first) == len(faults.candidates())
    assert all(fault.mutant.seen for fault, _ in zip(faults.order(3, EVERY), SEEN, strict=False))


def test_a_fault_is_found_by_its_digest_alone():
    for fault in SEEN:
        assert faults.fault_with(fault.digest) == fault
    with pytest.raises(CourseError, match="another version"):
        faults.fault_with("0" * 16)


def test_an_engine_with_a_fault_of_its_own_is_told_so(monkeypatch):
    monkeypatch.setattr(faults, "probed", lambda engine: {**TEN.EXPECTED, "school": "0"})
    with pytest.raises(CourseError, match="already has a fault: it gets the probes school wrong"):
        faults.plant(1, SOLUTIONS, TEN.EXPECTED)


def test_only_a_fault_that_a_probe_sees_is_planted(monkeypatch):
    tried = []

    def probed(engine):
        tried.append(engine)
        named = {"a flag": "<ContextVar name='grad_enabled' at 0x7f10>"}  # it would name the fault
        return [TEN.EXPECTED, TEN.EXPECTED, None, named, {}][len(tried) - 1]

    monkeypatch.setattr(faults, "probed", probed)
    chosen = faults.plant(1, SOLUTIONS, TEN.EXPECTED)
    assert len(tried) == 5 and chosen == list(faults.order(1, EVERY))[3]


@pytest.mark.slow
def test_a_fault_is_planted_in_a_solved_stage_alone(space, monkeypatch):
    assert "in a stage that you have solved" in " ".join(call("fault", code=2).split())
    solve(space, "00", "04d", "04e", "05", "13b")
    own = [(find_stage(number), {}) for number in ("00", "04d", "04e", "05", "13b")]
    results = iter([TEN.EXPECTED, {}] * 20)
    monkeypatch.setattr(faults, "probed", lambda engine: next(results))
    planted = {faults.plant(number, own, TEN.EXPECTED).stage.number for number in range(20)}
    assert planted == {"05", "13b"}
    monkeypatch.setattr(faults, "probed", lambda engine: TEN.EXPECTED)
    with pytest.raises(CourseError, match="no probe detects a fault in the stages that you have"):
        faults.plant(1, own, TEN.EXPECTED)


@pytest.fixture
def planted(space, monkeypatch):
    """A workspace with a fault in stage 13b; programs are not run."""
    fault = next(each for each in SEEN if each.stage.number == "13b")
    ran: list[Any] = []
    monkeypatch.setattr(commands, "plant", lambda number, own, expected, known: fault)
    monkeypatch.setattr(commands, "run_script", lambda *given, **_: ran.append(given) or 0)
    return space, fault, ran


def test_a_fault_is_asked_about_and_named(planted):
    space, fault, ran = planted
    solve(space, "05", "13b")
    call("fault")
    call("fault", "--mine", "01-07")
    call("fault", "--mine", "13")
    asked = [(set(files), {path for path, each in shared.items()
                           if fault.lines[1] in each.text}) for _, _, files, shared in ran]
    hooks, rules = (set(find_stage(number).modules) for number in ("05", "13b"))
    path = {each.partition(":")[0] for each in fault.hole.symbols}
    assert asked[0][0] == hooks | rules and asked[0][1] <= path and asked[0][1]
    assert asked[1] == (hooks, set())  # a half without the stage is the learner's, and right
    assert asked[2][0] == rules and asked[2][1] == asked[0][1]
    assert "no: stage 05 is unchanged" in call("fault", "--stage", "05", code=1)
    assert read_results(space)["fault"]["wrong"] == 1
    told = call("fault", "--stage", "13b")
    assert f"yes: {fault.hole.id}" in told and "after 3 questions" in told
    assert f"+ {fault.lines[1].splitlines()[0]}" in told
    assert read_results(space)["fault"]["found"] == [{"number": 1, "questions": 3, "wrong": 1}]
    call("fault")
    assert read_results(space)["fault"]["number"] == 2


def test_the_next_question_is_about_half_of_the_solved_stages(planted):
    space, _, _ = planted
    solve(space, "00", "05", "06", "07", "13b")
    skipped_stages.skip(space, [find_stage("05")])
    assert "`--mine 06` tests about half of your stages" in call("fault")
    assert "--mine` tests fewer stages" in call("fault", "--mine", "06")


@pytest.mark.parametrize(("words", "told"), [
    (["--stage", "03"], "no fault is planted yet: plant one with `minigrad capstone fault`"),
    (["--stage", "03", "--mine", "01"], "use --mine to ask or --stage to answer"),
    (["--mine", "77"], "there is no stage '77'"),
])
def test_what_cannot_be_asked_is_said(planted, words, told):
    assert told in call("fault", *words, code=2).replace("\n", " ")


def test_an_answer_takes_two_questions(planted):
    space, fault, _ = planted
    call("fault")
    told = call("fault", "--stage", "13b", code=2)
    assert "run the probes at least 2 times before you answer" in told
    assert read_results(space)["fault"]["digest"] == fault.digest
    call("fault", "--mine", "13b")
    assert "after 2 questions" in call("fault", "--stage", "13b")


@pytest.mark.slow
def test_no_fault_is_planted_twice(space, monkeypatch):
    solve(space, "13b")
    own = [(find_stage("13b"), {})]
    everything = [each.digest for each in faults.order(1, ["13b_optimizers"])]
    known: list[str] = []
    for number in range(len(everything)):
        results = iter([TEN.EXPECTED, {}])
        monkeypatch.setattr(faults, "probed", lambda engine, results=results: next(results))
        known.append(faults.plant(number, own, TEN.EXPECTED, known).digest)
    assert sorted(known) == sorted(everything)
    monkeypatch.setattr(faults, "probed", lambda engine: TEN.EXPECTED)
    with pytest.raises(CourseError, match="no probe detects another fault"):
        faults.plant(0, own, TEN.EXPECTED, known)


def test_an_answer_names_one_stage(planted):
    call("fault")
    told = call("fault", "--stage", "13", code=2)
    assert "--stage takes one stage, but 13a, 13b were named" in told


@pytest.mark.slow
def test_a_fault_is_found_by_halves(space, capfd):
    solve(space, "13b")
    call("fault")
    fault = faults.fault_with(read_results(space)["fault"]["digest"])
    capfd.readouterr()
    call("fault", "--mine", fault.stage.number)
    assert "WRONG" in capfd.readouterr().out
    other = next(each for each in course.stages() if each.holes and each != fault.stage)
    call("fault", "--mine", other.number)
    assert "10 of 10 are right" in capfd.readouterr().out


# --- figures ----------------------------------------------------------------------------------


def test_without_a_task_it_says_how_they_stand(space):
    told = call()
    assert told.count("not tried yet") == 3 and "none found yet" in told
    assert [line.split()[2] for line in told.splitlines() if line.startswith("     minigrad")] == [
        "digits", "spell", "fault", "compile", "certificate"]
    keep_result(space, "digits", DIGITS)
    assert "440 of 450 held-out digits right, 97.8%, with 2,410 weights" in call()


def test_outside_a_workspace_it_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in ((), ("digits",), ("spell",), ("fault",), ("compile",), ("certificate",)):
        assert "is not in a workspace" in call(*words, code=2)


def measured(monkeypatch, **facts: Any) -> None:
    """Let a program measure these figures."""
    def run(script, arguments, files, shared, one_thread):
        assert one_thread
        with open(arguments[arguments.index("--result") + 1], "w", encoding="utf-8") as file:
            json.dump({**facts, "own": 2, "ran": 300}, file)
        return 0

    monkeypatch.setattr(commands, "run_script", run)


def test_the_best_network_counts(space, monkeypatch):
    solve(space, "13b")
    for right, code in ((404, 1), (436, 1), (437, 0), (430, 1)):
        measured(monkeypatch, right=right, of=450, weights=10)
        told = call("digits", code=code)
    assert "437 of 450" in told  # what is asked for
    assert read_results(space)["digits"] == {"right": 437, "of": 450, "weights": 10, "own": 2,
                                             "ran": 300}
    assert (space.root / "network.py").read_text(encoding="utf-8") == (
        PROGRAMS / "own_network.py").read_text(encoding="utf-8")


def test_a_network_of_ones_own_is_not_written_over(space, monkeypatch):
    (space.root / "network.py").write_text("mine", encoding="utf-8")
    measured(monkeypatch, right=440, of=450, weights=10)
    assert "the package's code only" in call("digits")
    assert (space.root / "network.py").read_text(encoding="utf-8") == "mine"


def test_half_of_the_words_are_asked_for(space, monkeypatch):
    measured(monkeypatch, spelled=0.4, loss=2.0)
    assert "not yet" in call("spell", code=1)
    measured(monkeypatch, spelled=0.9, loss=0.8)
    assert "2 of the 300 operations in a training step ran code of yours" in call("spell")
    assert "90.0% of 200 words spelled correctly, loss 0.800" in call()


def test_the_compiler_of_a_solved_stage_is_measured(space, monkeypatch):
    def told(code: int) -> str:
        return " ".join(call("compile", code=code).split())

    monkeypatch.setattr(commands, "run_script", lambda *given, **_: pytest.fail("it measured"))
    stage = find_stage("15")
    solve(space, "15")
    space.record([(hole, False) for hole in stage.holes[2:4]])
    assert "you still have to solve 15.3, 15.4: `minigrad run 15.3` tests the first" in told(2)
    solve(space, "15")
    skipped_stages.skip(space, [stage])
    assert "stage 15 is skipped" in told(2) and "`minigrad unskip 15` brings yours back" in told(2)
    skipped_stages.unskip(space, [stage])
    ran: list[Any] = []

    def run(script, arguments, files, shared, one_thread):
        ran.append((script.name, set(files), one_thread))
        with open(arguments[arguments.index("--result") + 1], "w", encoding="utf-8") as file:
            json.dump(COMPILED, file)
        return 0

    monkeypatch.setattr(commands, "run_script", run)
    assert "done" in told(0) and "operations" not in told(0)
    assert ran[0] == ("compile_gpt.py", set(stage.modules), True)
    assert read_results(space)["compile"] == COMPILED
    assert ("3.14 MB kept between the passes instead of 6.20, 14.0 ms a step instead of 21.3; the "
            "same losses") in " ".join(call().split())


@pytest.mark.slow
def test_a_compiled_gpt_learns_the_same_and_keeps_less(tmp_path, capfd):
    result = tmp_path / "result.json"
    stage = find_stage("15")
    files = {path: stage.solution(path) for path in stage.modules}
    assert run_script(PROGRAMS / "compile_gpt.py", ["--steps", "4", "--result", str(result)],
                      files) == 0
    assert "4 steps: the same losses and the same gradients" in capfd.readouterr().out
    before, after = json.loads(result.read_text(encoding="utf-8"))["bytes"]
    assert 0 < after < 0.9 * before


def test_steps_that_differ_are_told_apart():
    compile_gpt = program("compile_gpt")
    eager, compiled = ways = compile_gpt.Way("eager"), compile_gpt.Way("compiled", 0.5)
    (batch,) = compile_gpt.spell.batches(1)
    losses = [way.step(*batch) for way in ways]
    assert compile_gpt.difference(eager, compiled, losses) == ""
    name, one = next(compiled.net.named_parameters())
    one.grad = one.grad + 1e-3
    assert compile_gpt.difference(eager, compiled, losses) == (
        f"the gradient of {name} is another one")
    assert "the loss is" in compile_gpt.difference(eager, compiled, [losses[1] * 0, losses[1]])
    assert "ran eagerly" in compile_gpt.difference(eager, compiled, losses[::-1])


def test_a_program_that_fails_leaves_the_figures_as_they_were(space, monkeypatch):
    keep_result(space, "digits", DIGITS)
    monkeypatch.setattr(commands, "run_script", lambda *given, **_: 3)
    call("digits", code=3)
    assert read_results(space) == {"digits": DIGITS}


@pytest.mark.parametrize("change", [
    lambda read: {**read, "parts": {"digits": {**DIGITS, "right": 450}}},
    lambda read: {"parts": read["parts"]},
    lambda read: [],
])
def test_figures_that_nobody_measured_are_not_read(space, monkeypatch, change):
    keep_result(space, "digits", DIGITS)
    file = space.root / ".minigrad" / "capstone.json"
    file.write_text(json.dumps(change(json.loads(file.read_text(encoding="utf-8")))),
                    encoding="utf-8")
    monkeypatch.setattr(commands, "run_script", lambda *given, **_: pytest.fail("it measured"))
    solve(space, "15")
    for part in ("certificate", "digits", "spell", "fault", "compile"):
        assert "was changed or is damaged: delete it and run the tasks again" in " ".join(
            call(part, code=2).split())


def test_the_certificate_is_computed(space):
    assert certificate(space) == certificate(space)
    assert "CERTIFICATE, SO FAR" in certificate(space)
    solve(space, *(stage.number for stage in course.stages() if stage.holes))
    count = sum(bool(stage.holes) for stage in course.stages())
    assert f"{count} of {count} solved" in certificate(space)
    keep_result(space, "digits", DIGITS)
    keep_result(space, "spell", {"spelled": 0.945, "loss": 0.756, "own": 9, "ran": 300})
    assert "CERTIFICATE, SO FAR" in certificate(space)
    keep_result(space, "fault", {"digest": "", "found": [CAUGHT]})
    text = certificate(space, "Ada Lovelace")
    assert "SO FAR" not in text and "Ada Lovelace" in text
    assert "440 of 450 held-out digits right, 97.8%" in text
    assert "9 of the 300 operations in a training step ran code of yours" in text
    assert "1 found; the best after 5 questions and 0 wrong answers" in text
    (space.root / "certificate.txt").write_text("100 %", encoding="utf-8")
    call("certificate", "--name", "Ada Lovelace")
    assert (space.root / "certificate.txt").read_text(encoding="utf-8") == text


def test_an_encore_counts_once_it_is_begun(space):
    before = [stage.number for stage in course.stages() if stage.holes and stage.number < "14"]
    encore = find_stage("15")
    solve(space, *before)
    keep_result(space, "digits", DIGITS)
    keep_result(space, "spell", {"spelled": 0.945, "loss": 0.756})
    keep_result(space, "fault", {"digest": "", "found": [CAUGHT]})
    points = sum(hole.points for number in before for hole in find_stage(number).holes)
    text = certificate(space)
    assert "SO FAR" not in text and "compiling" not in text
    assert f"{len(before)} of {len(before)} solved" in text
    assert f"{points} of {points}\n" in text

    space.record([(encore.holes[0], True)])
    text = certificate(space)
    assert "SO FAR" in text and f"{len(before)} of {len(before) + 1} solved" in text
    assert f"{points + encore.holes[0].points} of {points + 10}\n" in text

    solve(space, "15")
    assert "SO FAR" not in certificate(space) and "compiling" not in certificate(space)
    keep_result(space, "compile", COMPILED)
    text = certificate(space)
    assert "SO FAR" not in text and "  compiling  3.14 MB kept between the passes" in text
    assert max(map(len, text.splitlines())) <= 73


def test_after_the_last_stage_before_the_capstone_the_capstone_is_named(space):
    solve(space, *(stage.number for stage in course.stages() if stage.holes
                   and stage.number < "14"))
    told = " ".join(next_step(space))
    assert "finish with `minigrad capstone` and lesson 14, or go on" in told and "15.1" in told
    space.record([(find_stage("15").holes[0], True)])
    assert "capstone" not in " ".join(next_step(space))


def test_a_task_that_is_not_done_makes_no_certificate(space):
    solve(space, *(stage.number for stage in course.stages() if stage.holes))
    keep_result(space, "digits", {**DIGITS, "right": 436})
    keep_result(space, "spell", {"spelled": 0.945, "loss": 0.756, "own": 9, "ran": 300})
    keep_result(space, "fault", {"digest": "", "found": [CAUGHT]})
    text = certificate(space)
    assert "SO FAR" in text and "436 of 450" in text and "below the goal" in text


# --- the programs -----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_gpt_learns_to_spell_on_the_solutions(tmp_path):
    files = {path: file for _, each in SOLUTIONS for path, file in each.items()}
    result = tmp_path / "result.json"
    assert run_script(PROGRAMS / "spell.py", ["--result", str(result)], files, quiet=True) == 0
    facts = json.loads(result.read_text(encoding="utf-8"))
    assert facts["spelled"] > 0.7 and facts["loss"] < 1.0
    assert facts["own"] == facts["ran"] > 100  # the engine runs every operation, or records it


def test_a_gpt_begins_with_noise():
    spell = program("spell")
    minigrad.manual_seed(0)
    net = spell.network()
    words = spell.written(net, 20)
    assert len(words) == 20 and spell.right(words) == 0
    assert abs(next(spell.train(net, 1)) - 3.3) < 0.1
    assert len(spell.WORDS) == len(set(spell.WORDS)) and max(map(len, spell.WORDS)) < spell.CONTEXT


@pytest.mark.slow
def test_a_network_above_97_percent_is_possible_and_the_template_is_below(tmp_path):
    pytest.importorskip("sklearn", reason="its digits are read")
    file, result = tmp_path / "network.py", tmp_path / "result.json"
    template = (PROGRAMS / "own_network.py").read_text(encoding="utf-8")
    better = template.replace("32", "128").replace("EPOCHS = 6", "EPOCHS = 30")
    rights = []
    for text in (template, better):
        file.write_text(text, encoding="utf-8")
        assert run_script(PROGRAMS / "digits.py", ["--network", str(file), "--result", str(result)],
                          {}, quiet=True) == 0
        rights.append(json.loads(result.read_text(encoding="utf-8"))["right"])
    assert rights[0] < 0.95 * 450 and rights[1] > 0.97 * 450


@pytest.mark.parametrize(("text", "told"), [
    ("x = 1", "has no function `network\\(torch\\)`"),
    ("def network(torch): return torch.nn.Flatten()", "scores of shape \\(2, 10\\)"),
    ("EPOCHS = 0\ndef network(torch):\n"
     "    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 10))",
     "EPOCHS is a whole number from 1 on"),
])
def test_a_network_that_cannot_be_trained_is_said_to_be(tmp_path, text, told):
    file = tmp_path / "network.py"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match=told):
        program("digits").own_network(minigrad, str(file))


def test_without_scikit_learn_it_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(SystemExit, match="the digits come with scikit-learn"):
        program("digits").loaded()


@pytest.mark.slow
def test_a_network_is_fooled(tmp_path, capfd):
    pytest.importorskip("sklearn", reason="its digits are read")
    assert run_script(PROGRAMS / "fool.py", [], {}) == 0
    told = capfd.readouterr().out
    assert "before: read as 7" in told and "after : read as 7" not in told
    assert "no pixel was changed by more than 0.14" in told
