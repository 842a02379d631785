"""The learner's commands, used as a learner would: no answer is lost, progress is right."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from tests.support.slow import slow_but

pytest.importorskip("merge3", reason="the course's commands need the extra 'course'")

from rich.console import Console
from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.commands import learner
from minigrad_course.content import stages as course
from minigrad_course.content.stages import CourseError
from minigrad_course.learner.workspace import Workspace, find_workspace
from minigrad_course.running import compare_engines
from minigrad_course.running.compose import compose, source_of
from minigrad_course.running.trial import Trial
from minigrad_course.terminal import learn as learn_module

STAGE = next(stage for stage in course.stages() if stage.holes)
HOLE = STAGE.holes[0]
ROOT = course.checkout()


def call(*words: str, code: int = 0, given: str | None = None) -> str:
    result = CliRunner().invoke(app, list(words), input=given)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def space(tmp_path, monkeypatch):
    """A workspace, with the test inside it."""
    monkeypatch.setenv("COLUMNS", "100")
    call("init", str(tmp_path / "engine"))
    monkeypatch.chdir(tmp_path / "engine")
    return Workspace(tmp_path / "engine")


def solve(space: Workspace) -> None:
    for path in STAGE.modules:
        shutil.copy(STAGE.solution(path), STAGE.exercise(path, space.exercises))


def test_a_workspace_has_all_exercises(space):
    for stage in course.stages():
        for path in stage.modules:
            mine = stage.exercise(path, space.exercises).read_text(encoding="utf-8")
            assert mine == stage.handed_out(path)
            assert "MASTER COPY" not in mine


@pytest.mark.parametrize("present", ["a workspace", "a file"])
def test_init_harms_nothing(tmp_path, present):
    folder = tmp_path / "engine"
    if present == "a workspace":
        call("init", str(folder))
    else:
        folder.mkdir()
        (folder / "mine.txt").write_text("mine")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert "minigrad: " in call("init", str(folder), code=2)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_outside_a_workspace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CourseError, match="make one with `minigrad init"):
        find_workspace()


@pytest.mark.parametrize("words", [["run", "03"], ["list"], ["learn"]])
def test_a_command_outside_a_workspace_says_how_to_make_one(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    assert "make one with `minigrad init DIR`" in call(*words, code=2)


@pytest.mark.slow
def test_from_untouched_to_solved(space):
    assert f"untouched {HOLE.id}" in call("run", STAGE.number, code=1)
    call("solution", HOLE.id, code=2)
    solve(space)
    assert f"solved    {HOLE.id}" in call("run", STAGE.number)
    assert space.solved(HOLE)
    assert re.search(rf"done +{HOLE.id}", call("list"))
    assert "10 of 10" in call("progress")  # points
    assert "the package's" in call("solution", HOLE.id)


def test_a_wrong_answer_is_told_by_its_sentence(space):
    from minigrad_course.content.source import mutated

    mutant = next(each for each in HOLE.mutants if each.symptom)
    solve(space)
    for path, text in mutated(STAGE, HOLE, mutant).items():
        STAGE.exercise(path, space.exercises).write_text(text, encoding="utf-8")
    shown = " ".join(call("run", HOLE.id, code=1).split())
    assert " ".join(STAGE.words["symptoms"][mutant.symptom].split()) in shown
    assert not space.solved(HOLE)


def test_a_list_can_be_of_some_stages(space):
    told = call("list", "05-06")
    assert "05.1" in told and "06.1" in told
    assert "04e.1" not in told and "07.1" not in told


def test_a_solution_is_shown_without_what_both_files_were_given(space):
    solve(space)
    for path in STAGE.modules:
        file = STAGE.exercise(path, space.exercises)
        file.write_text(file.read_text(encoding="utf-8").replace("return ", "return  "), "utf-8")
    call("run", HOLE.id)
    told = call("solution", HOLE.id)
    assert "yours" in told and "the package's" in told
    assert '"""' not in told and f"# {HOLE.id} " not in told and "def " not in told
    last = call("hint", HOLE.id).splitlines()[-1]
    assert "--give-up" not in call("hint", HOLE.id) and f"minigrad solution {HOLE.id}" in last


def test_points_of_skipped_stages_are_not_counted(space):
    call("skip", "00-04e")
    total = sum(hole.points for stage in course.stages() for hole in stage.holes
                if stage.key < "14")  # what follows is an encore
    count = sum(stage.key < "05" for stage in course.stages())
    told = call("progress")
    assert f"0 of {total - 10 * count} points, 0 %, not counting {count} skipped stages" in told


@pytest.mark.slow
def test_what_is_to_be_written_is_told_with_its_place(space):
    file, line = re.search(r"write it here: (.*):(\d+)", call("run", HOLE.id, code=1)).groups()
    assert f"{HOLE.id} " in Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
    assert "write it here" not in call("run", STAGE.number, code=1)


@pytest.mark.slow
def test_a_comparison_comes_without_the_advice_of_pytest(space):
    from minigrad_course.content.source import mutated

    stage = course.find_stage("01")
    hole, mutant = next((hole, each) for hole in stage.holes for each in hole.mutants
                        if each.symptom == "01_5_needs_for_tensors_only")
    for path, text in mutated(stage, hole, mutant).items():
        stage.exercise(path, space.exercises).write_text(text, encoding="utf-8")
    shown = call("run", hole.id, code=1)
    assert "At index" in shown
    assert "-v" not in shown


@pytest.mark.slow
def test_a_solved_exercise_that_is_broken_is_open_again(space):
    solve(space)
    call("run", HOLE.id)
    path = HOLE.symbols[0].partition(":")[0]
    shutil.copy(STAGE.exercise(path), STAGE.exercise(path, space.exercises))
    call("run", HOLE.id, code=1)
    assert not space.solved(HOLE)


def test_a_file_that_is_no_python(space):
    STAGE.exercise(STAGE.modules[0], space.exercises).write_text("def (:\n")
    assert "could not run the tests" in call("run", STAGE.number, code=1)


def test_a_stage_with_nothing_to_write_is_not_skipped(space):
    assert "stage 14 has no exercises" in call("skip", "14", code=2)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "told", "not_told"), [
    ("", "no longer defines .*, which the package needs", "File"),
    ("import numpy\nx = undefined\n", r'", line 2, in <module>', "importlib|minigrad/"),
])
def test_files_that_cannot_be_imported_are_told_without_the_packages_frames(
        space, text, told, not_told, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")  # a path in one line
    STAGE.exercise(STAGE.modules[0], space.exercises).write_text(text, encoding="utf-8")
    shown = call("run", HOLE.id, code=1)
    assert re.search(told, shown)
    assert not re.search(f'File ".*({not_told})', shown)


@pytest.mark.slow
def test_where_a_test_failed_is_a_line_of_the_learner(space):
    solve(space)
    file = STAGE.exercise(STAGE.modules[0], space.exercises)
    text = file.read_text(encoding="utf-8")
    line = "return (f(x + eps) - f(x - eps)) / (2 * eps)"
    file.write_text(text.replace(line, "return f.slope"), encoding="utf-8")
    number = 1 + text[: text.index(line)].count("\n")
    assert f"{file.name}:{number}" in call("run", HOLE.id, code=1)


@pytest.mark.slow
def test_a_hint_without_a_number_is_for_the_first_open_exercise(space):
    assert f"{HOLE.id}, hint 1 of 3" in call("hint")
    solve(space)
    call("run", STAGE.number)
    following = next(stage for stage in course.stages() if stage.holes and stage != STAGE)
    assert f"{following.holes[0].id}, hint 1 of 3" in call("hint")


def test_an_exercise_alone_is_not_put_back(space):
    assert f"minigrad reset {STAGE.number}" in call("reset", HOLE.id, code=2)


def test_hints_come_one_by_one(space):
    hints = STAGE.words["hole"][HOLE.id]["hints"]
    for taken in range(1, 4):
        shown = " ".join(call("hint", HOLE.id).split())
        for number, hint in enumerate(hints):
            assert (" ".join(hint.split()) in shown) == (number < taken)
    assert space.hints_taken(HOLE) == 3
    call("hint", HOLE.id)
    assert space.hints_taken(HOLE) == 3


def test_a_look_back_at_hints_counts_for_nothing(space):
    space.note(HOLE, solved=True)
    shown = " ".join(call("hint", HOLE.id).split())
    assert all(" ".join(hint.split()) in shown
               for hint in STAGE.words["hole"][HOLE.id]["hints"])
    assert space.hints_taken(HOLE) == 0


def test_a_hint_names_the_page_that_explains_its_names(space):
    for _ in range(2):  # once, however many hints are shown
        shown = call("hint", HOLE.id)
        assert shown.count("glossary.md") == 1
    (place,) = re.findall(r"package, see (.*), \"Names in the exercises\"", shown)
    assert "## Names in the exercises" in Path(place).read_text(encoding="utf-8")


def test_reset_keeps_a_backup(space):
    file = STAGE.exercise(STAGE.modules[0], space.exercises)
    for text in ("first", "second"):
        file.write_text(text)
        call("reset", STAGE.number, "--yes")
        assert file.read_bytes() == STAGE.handed_out(STAGE.modules[0]).encode()
    kept = [path.read_text() for path in (space.root / ".minigrad" / "backups").rglob("*.py")]
    assert sorted(kept) == ["first", "second"]


def test_reset_without_a_terminal_needs_yes(space):
    file = STAGE.exercise(STAGE.modules[0], space.exercises)
    file.write_text("mine")
    assert f"minigrad reset {STAGE.number} --yes" in call("reset", STAGE.number, code=2)
    assert file.read_text() == "mine"


def test_reset_asks(space, monkeypatch):
    monkeypatch.setattr(learner, "on_a_terminal", lambda: True)
    file = STAGE.exercise(STAGE.modules[0], space.exercises)
    file.write_text("mine")
    call("reset", STAGE.number, code=1, given="n\n")
    assert file.read_text() == "mine"


def test_a_missing_file_is_told_and_brought_back(space):
    file = STAGE.exercise(STAGE.modules[0], space.exercises)
    file.unlink()
    assert "is missing; `minigrad reset" in call("run", STAGE.number, code=2)
    call("reset", STAGE.number, "--yes")
    assert file.is_file()


def test_upgrade_merges_and_never_loses(space):
    path = STAGE.modules[0]
    file, shipped = STAGE.exercise(path, space.exercises), STAGE.exercise(path, space.shipped)
    new = STAGE.handed_out(path)
    # What was handed out was older: the new one has another first line.
    shipped.write_text(new.replace(new.splitlines()[0], "# an older first line"))
    mine = shipped.read_text() + "\n# my own last line\n"
    file.write_text(mine)
    assert "merged" in call("upgrade")
    assert file.read_text() == new + "\n# my own last line\n"
    assert call("upgrade").strip() == "already up to date"

    shipped.write_text(new.replace(new.splitlines()[0], "# an older first line"))
    mine = new.replace(new.splitlines()[0], "# my first line")
    file.write_text(mine)
    assert "conflict" in call("upgrade")
    assert file.read_text() == mine
    assert file.with_name(f"{file.stem}.new.py").read_text() == new


def test_upgrade_keeps_answers_where_the_task_has_other_words(space):
    """The task stood where the answer now stands; the tasks of open exercises are brought up."""
    path = HOLE.symbols[0].partition(":")[0]
    file, shipped = STAGE.exercise(path, space.exercises), STAGE.exercise(path, space.shipped)
    new = file.read_text(encoding="utf-8")
    older = re.sub(r"^( *# \d+\w?\.\d )", r"\1In older words. ", new, flags=re.MULTILINE)
    assert older.count("In older words") > 1
    shipped.write_text(older)
    task, end = f"# {HOLE.id} ", f'raise NotImplementedError("{HOLE.id} '
    start = older.index(task)
    stop = older.index("\n", older.index(end, start))
    mine = older[:start] + "return 42  # mine" + older[stop:]
    file.write_text(mine)
    assert "merged" in call("upgrade")
    merged = file.read_text()
    assert "return 42  # mine" in merged and "In older words" not in merged
    assert call("upgrade").strip() == "already up to date"


@pytest.mark.parametrize(("text", "told"), [
    ("[]", "is not a progress file"), ("{", "cannot read"), ('{"holes": {"01.1": 3}}', "is not"),
    ('{"form": 99, "holes": {}}', "has the form 99"),
])
def test_a_damaged_progress_file_is_told_and_kept(space, text, told):
    (space.root / "progress.json").write_text(text)
    assert told in call("progress", code=2)
    assert (space.root / "progress.json").read_text() == text


@pytest.mark.slow
def test_progress_is_readable(space):
    solve(space)
    call("run", STAGE.number)
    holes = json.loads((space.root / "progress.json").read_text())["holes"]
    assert set(holes) == {hole.id for hole in STAGE.holes}


def test_a_program_runs_on_ones_own_engine(space, tmp_path, capfd):
    solve(space)
    path = STAGE.modules[0]
    file = STAGE.exercise(path, space.exercises)
    file.write_text(file.read_text() + "\nMINE = 'yes'\n")
    script = tmp_path / "script.py"
    name = "minigrad." + ".".join(Path(path).with_suffix("").parts)
    script.write_text(f"import sys, importlib, torch\nassert torch.__name__ == 'minigrad'\n"
                      f"print(importlib.import_module({name!r}).MINE, "
                      "sys.argv[1:])\nsys.exit(3)\n")
    call("python", "--mine", STAGE.number, str(script), "--steps", "2", code=3)
    assert "yes ['--steps', '2']" in capfd.readouterr().out


@pytest.mark.parametrize("stages", slow_but(1, ["03b", "05-13", "01-13"]))
def test_a_program_that_comes_to_what_is_not_written_says_so_in_a_sentence(space, tmp_path, capfd,
                                                                           stages):
    script = tmp_path / "script.py"
    script.write_text("import minigrad as torch\nprint('begun')\n"
                      "torch.ones(2, requires_grad=True).sum().backward()\n")
    call("python", "--mine", stages, str(script), code=1)
    told = capfd.readouterr()
    # `op/` without its exercises cannot declare the package's ops, so that `import` ends.
    number, file, how, out = {
        "03b": ("03b.5", "03b_backward.py", "the program needs", "begun\n"),
        "05-13": ("12.3", "device.py", "the program needs", "begun\n"),
        "01-13": ("04d.2", "node.py", "importing the package needs", ""),
    }[stages]
    assert told.out == out
    assert told.err.startswith(f"{how} {number} ") and told.err.count("\n") == 1
    assert f"{file}, line " in told.err
    assert f"leave stage {number.partition('.')[0]} out of the stages after --mine" in told.err


@pytest.mark.slow
def test_errors_of_the_program_itself_are_shown_as_they_are(space, tmp_path, capfd):
    script = tmp_path / "script.py"
    script.write_text("raise NotImplementedError('not yet')\n")
    call("python", "--mine", STAGE.number, str(script), code=1)
    assert capfd.readouterr().err.endswith("NotImplementedError: not yet\n")


@pytest.mark.slow
def test_stages_of_ones_own_are_kept_while_another_is_tested(space):
    """What an earlier stage of one's own does is seen by the later stage's tests."""
    first, second = course.find_stage("05"), course.find_stage("07")
    for stage in (first, second):
        for path in stage.modules:
            shutil.copy(stage.solution(path), stage.exercise(path, space.exercises))
    call("run", "07.4", "--keep", "05")
    assert not any(space.solved(hole) for hole in second.holes)  # it is no run of 07 alone
    file = first.exercise("graph/hooks.py", space.exercises)
    file.write_text(file.read_text() + "\nraise RuntimeError('this is my own')\n")
    assert "this is my own" in call("run", "07.4", "--keep", "01,05", code=1)
    assert "there is no stage '99'" in call("run", "07", "--keep", "99", code=2)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("where", ["in the file", "in the test"])
@pytest.mark.slow
def test_the_debugger_stops_at_the_failure(space, where):
    pexpect = pytest.importorskip("pexpect", reason="types into a pseudo-terminal")
    stage = course.find_stage("07")
    (path,) = stage.modules
    file = stage.exercise(path, space.exercises)
    text = stage.solution(path).read_text(encoding="utf-8")
    wanted = "self.previous = _state.grad_enabled.get()"
    assert wanted in text
    broken = "wrong = 7 * 6; raise ValueError(wrong)" if where == "in the file" else \
        "self.previous = True"
    file.write_text(text.replace(wanted, broken, 1))
    child = pexpect.spawn(
        sys.executable, ["-m", "minigrad_course", "run", "07.1", "--pdb"], cwd=str(space.root),
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb"}, encoding="utf-8", timeout=60,
        dimensions=(40, 200),
        # what is started in the background, as CI may be, begins with Ctrl-C ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    if where == "in the file":
        child.expect("ValueError: 42")
        child.expect(f"> {re.escape(str(file))}.*\r\n-> {re.escape(broken)}")
        child.expect(r"\(Pdb\) ")
        child.sendline("p wrong + 1")
        child.expect(r"\b43\r\n")
        child.sendline("up")
        child.expect("-> with ")
    else:
        child.expect("your code had already returned")
        child.expect(f"> {re.escape(str(stage.tests))}")
    child.expect(r"\(Pdb\) ")
    child.sendintr()  # it is the debugger's, and ends nothing
    child.expect(r"\(Pdb\) ")
    child.sendline("q")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


@pytest.mark.slow
def test_from_scratch_nothing_is_written(tmp_path, monkeypatch):
    """Everything public is there and has no body; the stage can be tested, reset and solved."""
    monkeypatch.setenv("COLUMNS", "100")
    call("init", str(tmp_path / "engine"), "--from-scratch")
    monkeypatch.chdir(tmp_path / "engine")
    space, stage = Workspace(tmp_path / "engine"), course.find_stage("07")
    for each in course.stages():
        for path in each.modules:
            check_skeleton(each, path, each.exercise(path, space.exercises))
    shown = call("run", "07", code=1)
    assert "untouched 07.1" in shown
    assert "untouched 07.5" in shown
    assert "wrong" not in shown and "solved" not in shown
    file = stage.exercise(stage.modules[0], space.exercises)
    handed_out = file.read_text()
    holes = [each.partition(":")[2] for hole in stage.holes for each in hole.symbols]
    base, answer = (source_of(stage.modules[0], str(each), each.read_text())
                    for each in (file, stage.solution(stage.modules[0])))
    file.write_text(compose(base, answer, holes, holes).text)
    shown = call("run", "07", code=1)  # what belongs to no exercise is still to be written
    assert "waiting   07.1 A block that switches recording (for _Switch.__new__)" in shown
    assert "right     07.5 Inference mode: correct, but waits for 07.1" in shown
    shutil.copy(stage.solution(stage.modules[0]), file)
    call("run", "07.1")
    assert space.solved(stage.holes[0])
    assert call("upgrade").strip() == "already up to date"
    call("reset", "07", "--yes")
    assert file.read_text() == handed_out


def check_skeleton(stage: course.Stage, path: str, file: Path) -> None:
    """Compare a module with what is handed out of it."""
    whole, bare = (dict(definitions(ast.parse(each.read_text())))
                   for each in (stage.solution(path), file))
    assert set(bare) <= set(whole)
    for name, node in whole.items():
        if any(part.startswith("_") and not part.endswith("__") for part in name.split(".")):
            continue
        assert ast.get_docstring(bare[name]) == ast.get_docstring(node), name
        if isinstance(node, ast.FunctionDef):
            assert ast.unparse(bare[name].args) == ast.unparse(node.args), name
    for hole in stage.holes:
        for symbol in hole.symbols:
            if symbol.startswith(f"{path}:"):
                assert f"NotImplementedError('{hole.id} " in ast.unparse(
                    bare[symbol.partition(":")[2]]).replace('"', "'"), symbol


def definitions(tree: ast.AST, before: str = "") -> Iterator[tuple[str, ast.AST]]:
    """All classes, functions and methods by their names."""
    for node in getattr(tree, "body", ()):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield before + node.name, node
        if isinstance(node, ast.ClassDef):
            yield from definitions(node, f"{before}{node.name}.")


@pytest.mark.parametrize("words", [("run", "99"), ("hint", "99.1"), ("run", f"{STAGE.number}.99"),
                                   ("hint", STAGE.number), ("reset", "nine")])
def test_what_does_not_exist_is_told(space, words):
    assert "minigrad: " in call(*words, code=2)


@pytest.mark.slow
def test_compare_shows_the_first_difference(space, tmp_path):
    pytest.importorskip("torch", reason="there is nothing to compare with")
    script = tmp_path / "script.py"
    script.write_text("import torch\nx = torch.ones(2, requires_grad=True)\ny = (x * 2).sum()\n"
                      "y.backward()\nprint(x.grad)\n")
    assert "no difference in 5 statements" in call("compare", str(script))
    script.write_text("import torch\nx = torch.ones(2)\nname = torch.__name__\n")
    assert ":3: name differs" in " ".join(call("compare", str(script), code=1).split())
    script.write_text("import argparse, torch\nparser = argparse.ArgumentParser()\n"
                      "_ = parser.add_argument('--steps', type=int, required=True)\n"
                      "steps = parser.parse_args().steps\nx = torch.ones(steps)\n")
    assert "no difference in 5 statements" in call("compare", str(script), "--steps", "3")
    said = " ".join(call("compare", str(script), code=1).split())
    assert "ended early on both, in statement 4 of 5: SystemExit: 2 (line 4)" in said


def recorded(tmp_path, text, *arguments):
    script = tmp_path / "program.py"
    script.write_text(text)
    return compare_engines.record("minigrad", script, list(arguments))


@pytest.mark.parametrize(("text", "end"), [
    ("x = 1\n", None), ("import sys\nsys.exit()\n", None), ("import sys\nsys.exit(0)\n", None),
    ("import sys\nsys.exit(2)\n", "SystemExit: 2 (line 2)"),
    ("import sys\nsys.exit()\nx = 1\n", "SystemExit (line 2)"),
    ("def f():\n    return 1 / 0\nf()\nx = 1\n", "ZeroDivisionError: division by zero (line 2)"),
    ("import os\nx = 1\nos._exit(0)\ny = 2\n", "ended without an error after line 2"),
])
def test_compare_knows_whether_a_program_ran_to_its_end(text, end, tmp_path):
    records = recorded(tmp_path, text)
    assert compare_engines.early_end(records) == end
    assert compare_engines.first_difference(records, records) is None


def test_compare_hands_arguments_on_and_finds_modules_beside_the_program(tmp_path):
    (tmp_path / "beside.py").write_text("number = 7\n")
    records = recorded(tmp_path, "import sys\nfrom beside import number\ngiven = sys.argv[1:]\n",
                       "--steps", "3")
    assert records[-1]["values"] == {"number": 7, "given": ["--steps", "3"]}


def test_compare_says_which_side_ended_first(tmp_path):
    whole = recorded(tmp_path, "x = 1\ny = 2\n")
    found = compare_engines.first_difference(whole[:1], whole)
    assert (found.line, found.what, found.ours, found.theirs) == (
        2, "where the program ended", "ended before", "went on")
    failed = recorded(tmp_path, "x = 1\ny = 1 / 0\n")
    found = compare_engines.first_difference(failed, whole)
    assert found.ours == "ZeroDivisionError: division by zero (line 2)"
    assert found.theirs == "no error"


def test_what_is_saved_while_the_tests_run_is_tested_once(space, monkeypatch):
    tested, saved, again = [], threading.Event(), threading.Event()

    def try_answers(stage, files, stop, **_):
        tested.append(stage.number)
        if len(tested) == 1:
            assert stop.wait(30)  # three files are saved: this run is ended
            saved.set()
        else:
            again.set()
        return Trial(problem="not tried")

    def watch(folder, events, over, watching, polling):
        watching.set()
        file = STAGE.exercise(STAGE.modules[0], space.exercises)
        events.put(("saved", [file] * 3))

    class Keys:
        ended, drained = 0, threading.Event()

        def __init__(self, pressed):
            threading.Thread(target=lambda: (again.wait(30), pressed("q"))).start()

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

    for name, other in (("try_answers", try_answers), ("_watch", watch), ("Keys", Keys)):
        monkeypatch.setattr(learn_module, name, other)
    assert learn_module.learn(Console(file=StringIO()), space) == 0
    assert saved.is_set() and tested == [STAGE.number] * 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.slow
def test_learn_in_a_terminal(space):
    """A session as it is lived: look, save, take a hint, list, quit."""
    pexpect = pytest.importorskip("pexpect", reason="types into a pseudo-terminal")
    child = pexpect.spawn(
        sys.executable, ["-m", "minigrad_course", "learn", "--polling"], cwd=str(space.root),
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "TERM": "dumb"},
        encoding="utf-8", timeout=60, dimensions=(40, 100))
    child.expect(f"untouched {re.escape(HOLE.id)}")
    child.expect("q quit")
    child.send("h")
    child.expect(r"hint 1 of 3")
    solve(space)
    child.expect(f"stage {STAGE.number} is solved")
    child.send("l")
    child.expect("next ")
    child.expect(rf"stage 2 of \d+; {len(STAGE.holes)} of \d+ exercises are solved")
    child.expect("q quit")
    child.send("q")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert space.solved(HOLE)
