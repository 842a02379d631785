"""`minigrad lesson` in a terminal and in a pipe, and its magic in notebooks."""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("merge3", reason="the course's commands need the extra 'course'")

from minigrad_course import jupyter
from minigrad_course.content import stages as course
from minigrad_course.content.source import blank
from minigrad_course.learner.own_engine import own_engine
from minigrad_course.learner.workspace import Workspace, make_workspace
from minigrad_course.lessons.block_runner import Runner
from minigrad_course.lessons.pieces import pieces_of, sections
from minigrad_course.lessons.plain_math import plain

ROOT = course.checkout()
STAGE = course.find_stage("05")


def lesson(*words: str, folder: Path = ROOT) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "minigrad_course", "lesson", *words], text=True, cwd=folder,
        capture_output=True, stdin=subprocess.DEVNULL, encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def space(tmp_path) -> Workspace:
    """A workspace in which stage 05 is solved."""
    made = make_workspace(tmp_path / "engine")
    for path in STAGE.modules:
        file = STAGE.exercise(path, made.exercises)
        file.write_text(STAGE.solution(path).read_text(encoding="utf-8"), encoding="utf-8")
    made.record((hole, True) for hole in STAGE.holes)
    return made


@pytest.mark.parametrize("stage", course.stages(), ids=lambda stage: stage.key)
def test_every_lesson_has_its_pieces(stage):
    text = stage.text()
    top = pieces_of(stage)
    pieces = [*top, *(each for piece in top for each in piece.inside)]
    assert sum(piece.kind == "answer" for piece in pieces) == (
        text.count("<summary>") - text.count("<!-- predict"))
    assert sum(piece.kind == "run" for piece in pieces) == len(
        re.findall(r"(?m)^(?:<!-- (?:predict(?:: .*)?|draft|raises: [\w.]+) -->\n|(?<! -->\n))"
                   r"```python$", text))
    assert len(sections(top)) == len(re.findall(r"(?m)^## ", text))
    for piece in pieces:
        if piece.kind in ("text", "heading"):
            assert not re.search(r"<details|</details|<summary|<!--|\$\S", piece.text), piece.text


def test_formulas_are_plain():
    left = set()
    for stage in course.stages():
        for found in re.findall(r"\$\$.+?\$\$|\$[^$\n]+\$", re.sub("`[^`]*`", "", stage.text())):
            left.update(re.findall(r"\\\w+|[{}$]", plain(found)))
    assert left == set()


@pytest.mark.slow
def test_in_a_pipe_it_comes_whole_without_answers():
    told = lesson("05")
    assert "1. A gradient that isn't kept" in told
    assert "  │ (tensor(4.4817), tensor(2.2408))" in told
    assert "def check_hook_result" not in told and "--answers shows it" in told
    assert "register_post_accumulate_grad_hook" not in told.partition("You'll work")[0]  # folded
    assert "…" not in told
    assert "def check_hook_result" in lesson("05", "--answers")


@pytest.mark.slow
def test_what_is_to_be_predicted_is_folded_until_it_is_asked_for():
    code = "print(slope(square, 3.0))"
    told, whole = lesson("00"), lesson("00", "--answers")
    assert code in told and "6.000999999999479" not in told
    assert "(predict the output; --answers shows it)" in told
    assert "  │ 6.000999999999479" in whole and "predict the output" not in whole


def test_a_picture_is_told_by_its_words():
    told = " ".join(lesson("00").split())
    words = ("Picture: Arrows lead from a = 2 and b = 0.5 to c = a × b, on to d = exp c, and with "
             "e = 1 to f = d + e. Each box is a value, and each arrow shows where the value is "
             "used.")
    assert words in told
    assert ".svg" not in told


def test_sections_are_numbered_once():
    told = lesson("00")
    assert "1. A slope is a ratio" in told and "1. 1." not in told


@pytest.mark.slow
@pytest.mark.parametrize("number", ["00", "05", "09"])
def test_every_block_gives_what_the_lesson_has(number):
    told = lesson(number, "--run")
    assert "the lesson's output:" not in told and "should have raised" not in told
    assert "Traceback" not in told


@pytest.mark.slow
def test_blocks_run_on_ones_own_engine(space):
    file = STAGE.exercise("engine/hooks.py", space.exercises)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("has changed the size of value", "is MINE"), encoding="utf-8")
    told = lesson("05", "--mine", folder=space.root)
    assert "RuntimeError: hook '<lambda>' is MINE" in told
    assert "the lesson's output:" in told and "has changed the size of value" in told


@pytest.fixture
def part_solved(tmp_path):
    """A workspace in which 05.1 and 05.2 are solved and the others of the stage open."""
    space = make_workspace(tmp_path / "engine", [STAGE])
    for path in STAGE.modules:
        STAGE.exercise(path, space.exercises).write_text(blank(STAGE, path, STAGE.holes[2:]),
                                                         encoding="utf-8")
    space.record([(hole, hole.id in ("05.1", "05.2")) for hole in STAGE.holes])
    return space


def test_the_solved_exercises_of_a_stage_are_its_part_of_the_engine(part_solved):
    file = STAGE.exercise("engine/hooks.py", part_solved.exercises)
    text = file.read_text(encoding="utf-8")
    assert "NotImplementedError(\"05.4 " in text and "NotImplementedError(\"05.2 " not in text
    with Runner(partial(own_engine, part_solved, STAGE)) as runner:
        runner.run("from minigrad.engine import hooks\nimport minigrad as torch\nx = 5")
        result = runner.run("print(hooks.check_hook_result.__code__.co_filename)")
        assert result["printed"].strip() == str(file.resolve()), result
        opened = runner.run("y = torch.ones(2, requires_grad=True) * 2; y.retain_grad()\n"
                            "y.sum().backward(); print(y.grad)")
        assert opened["printed"] == "tensor([1., 1.])\n", "open exercises are the package's"


@pytest.mark.slow
def test_a_saved_file_counts_from_the_next_block(part_solved):
    file = STAGE.exercise("engine/hooks.py", part_solved.exercises)
    with Runner(partial(own_engine, part_solved, STAGE)) as runner:
        runner.run("from minigrad.engine import hooks\nx = 5")
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("'{}' has changed the size", "'{}' MINE the size"),
                        encoding="utf-8")
        result = runner.run("print(x, hooks.SIZE_CHANGED)")
        assert result["printed"] == "5 hook '{}' MINE the size of value\n", result
        assert "ran again" in runner.news
        file.write_text("def (:\n", encoding="utf-8")
        assert runner.run("print(x)")["printed"] == "5\n"
        assert "files before the change" in runner.news
        file.write_text(text, encoding="utf-8")
        runner.run("")
        assert runner.run("print(hooks.SIZE_CHANGED)")["printed"].startswith("hook '{}' has")
        assert not runner.news


def test_threads_of_blas_are_limited():
    with Runner() as runner:
        result = runner.run("import os\nprint(os.environ['OPENBLAS_NUM_THREADS'])")
    assert result["printed"] == os.environ.get("OPENBLAS_NUM_THREADS", "1") + "\n"


def test_a_block_that_ends_the_process_is_told():
    with Runner() as runner:
        assert "exited (3)" in runner.run("import os; os._exit(3)")["error"]
        assert runner.run("print(1)")["printed"] == "1\n"
        assert runner.run("import sys; sys.stderr.write('x' * 10**6); print(2)")["printed"] == "2\n"


def test_a_text_names_its_section():
    done = subprocess.run([sys.executable, "-m", "minigrad_course", "lesson", "05", "--from", "99"],
                          capture_output=True, text=True, cwd=ROOT,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 2
    assert "lesson 05 has sections 1 to" in done.stderr


@pytest.mark.slow
def test_in_a_terminal_it_stops_runs_and_unfolds():
    pexpect = pytest.importorskip("pexpect", reason="types into a pseudo-terminal")
    pytest.importorskip("termios", reason="needs a pseudo-terminal")
    child = pexpect.spawn(
        sys.executable, ["-m", "minigrad_course", "lesson", "05"], cwd=str(ROOT), timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "TERM": "xterm"},
        encoding="utf-8", dimensions=(40, 100))
    child.expect("Enter continues|Enter runs it")
    child.send("\r")
    child.expect("p.grad tensor")
    child.expect("Enter runs it")
    child.send("s")
    child.expect(re.escape("(tensor(4.4817), tensor(2.2408))"))
    for _ in range(40):
        if child.expect(["Enter continues", "Enter runs it", "a the package's version"]) == 2:
            break
        child.send("\r")
    child.send("a")
    child.expect("def __init__")
    child.send("q")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


class Notebook:
    """A shell of IPython, with what it displays and puts into the next cell."""

    def __init__(self) -> None:
        from IPython.core.interactiveshell import InteractiveShell

        self.shell = InteractiveShell()
        self.shown: list[str] = []
        self.cells: list[str] = []
        self.pictures: list[str] = []
        self.shell.display_pub.publish = self._publish
        self.shell.set_next_input = lambda text, replace=False: self.cells.append(text)

    def _publish(self, data: dict[str, str]) -> None:
        self.shown.append(data.get("text/markdown", data["text/plain"]))
        self.pictures += [data[kind] for kind in data if kind == "image/svg+xml"]

    def run(self, code: str) -> Any:
        return self.shell.run_cell(code)


@pytest.fixture
def book(monkeypatch, tmp_path) -> Iterator[Notebook]:
    """A notebook in which the extension is loaded."""
    pytest.importorskip("IPython", reason="the magics are for notebooks")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    made = Notebook()
    made.run("%load_ext minigrad_course.jupyter")
    yield made
    atexit.unregister(made.shell.atexit_operations)
    made.shell.atexit_operations()


def test_the_magic_goes_block_by_block(book):
    book.run("%lesson 05")
    assert book.shown[0] == "# Hooks"
    (picture,) = book.pictures
    assert picture.startswith("<svg") and "retain_grad" in picture
    assert any(each.startswith("Picture: From top to bottom") for each in book.shown)
    assert len(book.cells) == 1 and "import minigrad as torch" in book.cells[0]
    assert book.run(book.cells[0]).success
    while not any("%lesson --answer" in each for each in book.shown):
        book.run("%lesson")
    assert not any("next(self._ids)" in each for each in book.shown)
    book.run("%lesson --answer")
    assert "next(self._ids)" in "".join(book.shown)


def test_a_folded_experiment_is_shown_with_its_output(book):
    book.run("%lesson 00")
    while not any("Our experiment" in each for each in book.shown):
        book.run("%lesson")
    assert not any("1 different unit" in each for each in book.shown)
    book.run("%lesson --answer")
    assert "from 0.0: loss 1.0000, 1 different unit" in "".join(book.shown)


@pytest.mark.slow
def test_a_cell_for_an_answer_is_saved_and_tested(book, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    book.run("%exercise 00.1")
    assert book.shown[-1].startswith("**00.1 ")
    (cell,) = book.cells
    assert cell.startswith("%%exercise 00.1\n# tiny.py: slope\ndef slope(")
    book.run(cell)
    told = capsys.readouterr().out
    assert "created the workspace" in told and "untouched 00.1" in told
    body = "    return (f(x + eps) - f(x - eps)) / (2 * eps)"
    book.run(f"%%exercise 00.1\ndef slope(f, x, eps=1e-6):\n{body}")
    told = capsys.readouterr().out
    file = tmp_path / "engine" / "exercises" / "00_chain_rule.py"
    assert f"saved in {file}" in told and "solved    00.1" in told
    assert body in file.read_text(encoding="utf-8")
    book.run("%%exercise 00.1\nx = 1")
    assert "must define only slope" in capsys.readouterr().out
    book.run("%exercise 99.1")
    assert "there is no exercise '99.1'" in capsys.readouterr().out


def test_a_prediction_is_asked_for_and_compared(book, capsys, monkeypatch):
    assert book.run("%%predict\nx = 3\nprint(x + 4)").success
    assert capsys.readouterr().out == "7\n" and book.shell.user_ns["x"] == 3
    for guess, told in (("12", "(your guess was right)"), ("13", "(you guessed 13)")):
        monkeypatch.setattr(jupyter.Magics, "_guess", lambda self, guess=guess: guess)
        book.run("%%predict\nprint(x * 4)")
        assert capsys.readouterr().out == f"12\n{told}\n"
    book.run("%%predict\nundefined")
    assert "NameError" in capsys.readouterr().out


def test_tracebacks_in_notebooks_show_no_answer(book, capsys):
    """The bodies of 05.2 stood around the frames of this error."""
    failing = ("import minigrad as torch\nx = torch.ones(3, requires_grad=True)\n"
               "y = x * 2\ny.register_hook(lambda grad: grad.mean())\ny.backward(torch.ones(3))")
    assert isinstance(book.run(failing).error_in_exec, RuntimeError)
    told = re.sub(r"\x1b\[[0-9;]*m", "", "".join(capsys.readouterr()))
    assert "has changed the size of value" in told and "y.backward(" in told
    assert "engine/hooks.py" not in told and "check_hook_result" not in told
    assert "run %tracebacks all to see them" in told
    book.run("%tracebacks all")
    book.run(failing)
    assert "check_hook_result" in "".join(capsys.readouterr())


@pytest.mark.slow
def test_the_magic_takes_ones_own_engine(space):
    pytest.importorskip("IPython", reason="the magics are for notebooks")
    program = (
        "from IPython.core.interactiveshell import InteractiveShell\nshell = InteractiveShell()\n"
        "for line in ('%load_ext minigrad_course.jupyter', '%lesson 05 --mine',\n"
        "             'import minigrad.graph.hooks as h; print(h.__file__)',\n"
        "             '%lesson 05 --mine'):\n"
        "    assert shell.run_cell(line).success\n")
    done = subprocess.run([sys.executable, "-c", program], cwd=space.root, text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    assert str(STAGE.exercise("graph/hooks.py", space.exercises)) in done.stdout
    assert "restart the kernel" in done.stdout
