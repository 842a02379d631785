"""Otter-Grader: a notebook, and an archive with a test for each exercise.

Source: https://otter-grader.readthedocs.io/en/latest/test_files/ok_format.html
"""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from .assignment import NEEDED, Assignment, put, script, zipped
from .notebook import answered, as_text, notebook, runnable
from .student import check, put_lessons
from .verify import FreshFolder, Graded
from .wheel import make_wheel

__all__ = ["grade", "write"]

README = """- `autograder.zip`: `otter run -a autograder.zip NOTEBOOK` grades a notebook where
  Otter-Grader and minigrad are installed; Gradescope takes the same archive.
- `student.zip`: the notebook and the lesson, for students.
- The wheel: install it where notebooks are graded (`pip install *.whl {needed}`); students install
  it too.
- `course.toml`: the seed, which is also in the archive's tests; keep it secret.

On Gradescope the image installs {needed} from its package index. The wheel is in the archive.

**Low trust.** Otter runs the learner's cells and the tests in one kernel, so a cell can change the
reported result. The verdict itself comes from a separate process, in the strongest sandbox
available. If a grade must be reliable, collect the files and use `minigrad grade`."""

#: Packages needed in addition to NEEDED.
OTTER = ("otter-grader>=6", "ipykernel")


def write(assignment: Assignment, out: Path) -> list[Path]:
    """Write the files to upload and the files for students; return their paths."""
    wheel, name = make_wheel(out), assignment.name
    with tempfile.TemporaryDirectory(prefix="minigrad-") as scratch:
        source = Path(scratch)
        put(source / "setup.sh", script("gradescope_setup.sh"), run=True)
        put(source / "run_autograder", script("otter_run.sh"), run=True)
        put(source / "requirements.txt", "\n".join((*NEEDED, *OTTER)) + "\n")
        put(source / "otter_config.json", json.dumps(
            {"lang": "python", "points_possible": assignment.max_points,
             "show_hidden": True, "show_all_public": True}, indent=1) + "\n")
        for hole in assignment.holes:
            put(source / "tests" / f"{_name(hole)}.py", _test(assignment, hole))
        shutil.copy(wheel, source)
        archive = out / "autograder.zip"
        archive.touch(0o600)
        zipped(source, archive)
    student = out / "student"
    put(student / f"{name}.ipynb", as_text(_notebook(assignment)))
    put_lessons(student, assignment)
    check(assignment, student)
    put(out / "course.toml", assignment.course_toml(seed=True), secret=True)
    put(out / "README.md", f"# {assignment.title}, for Otter-Grader\n\n"
                           f"{README.format(needed=', '.join((*NEEDED, *OTTER)))}\n")
    return [archive, zipped(student, out / "student.zip"), wheel, out / "course.toml",
            out / "README.md"]


def _name(hole: str) -> str:
    return f"gap_{hole.replace('.', '_')}"


def _test(assignment: Assignment, hole: str) -> str:
    """Return a test file in which an exercise is worth all of its points or nothing.

    The seed is set outside the code, because Otter shows the code to students whose test fails.
    """
    title = assignment.hole_title(hole)
    code = (">>> from minigrad_course.export.cell import verdict\n"
            f">>> print(verdict({hole!r}))\nsolved\n")
    test = {"name": f"{hole} {title}", "points": assignment.points(hole), "suites": [
        {"type": "doctest", "scored": True, "setup": "", "teardown": "",
         "cases": [{"code": code, "hidden": False, "locked": False}]}]}
    return ("from minigrad_course.export import cell\n\n"
            f"OK_FORMAT = True\ncell.SEED = {assignment.seed!r}\n"
            f"cell.HINTS = {assignment.hints}\n\ntest = {test!r}\n")


def _notebook(assignment: Assignment) -> dict[str, Any]:
    last = ("from minigrad_course.export.cell import points\n\n"
            f'points("{",".join(assignment.numbers)}", weights={assignment.weights!r}, '
            f"hints={assignment.hints})")
    return notebook(assignment, last)


def grade(out: Path, files: dict[str, str], fresh: FreshFolder) -> Graded:
    """Submit a notebook and grade it, with `otter run` if installed, otherwise cell by cell."""
    package = fresh.unpack(out)
    (blank,) = (out / "student").glob("*.ipynb")
    given = answered(json.loads(blank.read_text(encoding="utf-8")), files)
    program = shutil.which("otter")
    if program is None:
        return _plainly(out, given, fresh, package)
    notebook = put(fresh.folder / blank.name, as_text(given))
    # Every program that Otter starts must find this package, in this environment's Python.
    path = f"{Path(program).parent}:/usr/local/bin:/usr/bin:/bin"
    fresh.run([program, "run", "-a", str((out / "autograder.zip").resolve()), "-o",
               str(fresh.folder), "--no-logo", str(notebook)],
              {"PYTHONPATH": str(package), "PATH": path})
    result = json.loads((fresh.folder / "results.json").read_text(encoding="utf-8"))
    tests = [test for test in result["tests"] if "max_score" in test]
    return Graded(sum(test["score"] for test in tests), sum(test["max_score"] for test in tests),
                  "\n".join(test.get("output", "") for test in result["tests"]), result)


def _plainly(out: Path, given: dict[str, Any], fresh: FreshFolder, package: Path) -> Graded:
    """Run the cells, then each test's code, in one process."""
    with zipfile.ZipFile(out / "autograder.zip") as archive:
        tests = [archive.read(name).decode() for name in sorted(archive.namelist())
                 if name.startswith("tests/")]
    ask = ('code = test["suites"][0]["cases"][0]["code"].splitlines()\n'
           'exec("\\n".join(line.removeprefix(">>> ") for line in code if line[:3] == ">>>"))\n'
           'test["points"]')
    results = fresh.run_cells(
        [*runnable(given)[:-1], *(cell for test in tests for cell in (test, ask))], package)
    verdicts = results[-2 * len(tests) + 1 :: 2]
    return Graded(sum(int(points) for told, points in verdicts if told == "solved\n"),
                  sum(int(points) for _, points in verdicts), "".join(told for told, _ in verdicts))
