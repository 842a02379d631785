"""nbgrader: an assignment's source notebook, whose last cell is worth all points.

Source: https://nbgrader.readthedocs.io/en/stable/contributor_guide/metadata.html
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from .assignment import NEEDED, Assignment, put, zipped
from .notebook import answered, as_text, notebook, runnable
from .student import check, put_lessons
from .verify import FreshFolder, Graded
from .wheel import make_wheel

__all__ = ["grade", "write"]

CONFIG = """# Grading a notebook takes longer than nbgrader's default of 30 seconds per cell.
c = get_config()  # noqa: F821  # nbgrader defines this name
c.ExecutePreprocessor.timeout = 1200
c.Execute.timeout = 1200
"""

README = """- `source/{name}/`: copy it into your course's `source`, then run
  `nbgrader generate_assignment {name}`. The last cell is worth {points} points and returns the
  score as one number.
- `nbgrader_config.py`: add this to your course's own file; it gives cells more time.
- `student.zip`: the notebook and the lesson, if you distribute them without nbgrader.
- The wheel: install it where notebooks are graded (`pip install *.whl {needed}`); students install
  it too.

**Low trust.** The learner's cells and the graded cell run in one kernel, so a cell can change what
the graded one returns. The verdict itself comes from a separate process, in the strongest sandbox
available. If a grade must be reliable, collect the files and use `minigrad grade`.

nbgrader gives full marks for any value that is not a number. So the cell returns a finite float
between 0 and the maximum, or raises, which gives 0.

If you set a seed, it is in the cell's hidden region, which nbgrader hides from students until you
give them feedback pages. Without one, each grading draws a seed."""


def write(assignment: Assignment, out: Path) -> list[Path]:
    """Write the files to upload and the files for students; return their paths."""
    name = assignment.name
    wheel = make_wheel(out)
    source = put(out / "source" / name / f"{name}.ipynb", as_text(made(assignment, hidden=True)),
                 secret=assignment.seed is not None)
    put_lessons(out / "source" / name, assignment)
    student = out / "student"
    put(student / f"{name}.ipynb", as_text(made(assignment, hidden=False)))
    put_lessons(student, assignment)
    check(assignment, student)
    put(out / "nbgrader_config.py", CONFIG)
    put(out / "README.md", f"# {assignment.title}, for nbgrader\n\n" + README.format(
        name=name, points=assignment.max_points, needed=" ".join(f"'{x}'" for x in NEEDED)) + "\n")
    return [source, zipped(student, out / "student.zip"), wheel, out / "nbgrader_config.py",
            out / "README.md"]


def made(assignment: Assignment, hidden: bool) -> dict[str, Any]:
    """Return the notebook; with `hidden` it includes the region that nbgrader hides."""
    common = {"schema_version": 3, "locked": True, "solution": False, "task": False}
    weights = f", weights={assignment.weights!r}" if assignment.weights else ""
    last = ["from minigrad_course.export.cell import points", "", "seed = None"]
    if hidden and assignment.seed is not None:
        last += ["### BEGIN HIDDEN TESTS", f"seed = {assignment.seed}", "### END HIDDEN TESTS"]
    hints = f", hints={assignment.hints}" if assignment.hints else ""
    last.append(f'points("{",".join(assignment.numbers)}", seed{weights}{hints})')
    return notebook(
        assignment, "\n".join(last),
        {"nbgrader": common | {"grade": True, "grade_id": "points",
                               "points": assignment.max_points}},
        {"nbgrader": common | {"grade": False, "grade_id": "folders"}})


def grade(out: Path, files: dict[str, str], fresh: FreshFolder) -> Graded:
    """Submit a notebook and grade it, with nbgrader if it is installed, otherwise cell by cell."""
    package = fresh.unpack(out)
    (source,) = (out / "source").glob("*/*.ipynb")
    program = shutil.which("nbgrader")
    if program is None:
        given = answered(json.loads(source.read_text(encoding="utf-8")), files)
        printed, value = fresh.run_cells(runnable(given), package)[-1]
        (last,) = (cell for cell in given["cells"] if cell["id"] == "points")
        return Graded(float(value), last["metadata"]["nbgrader"]["points"], printed)
    name, course = source.stem, fresh.folder / "course"
    shutil.copytree(out / "source", course / "source")
    shutil.copy(out / "nbgrader_config.py", course)
    environment = {"PYTHONPATH": str(package)}
    fresh.run([program, "generate_assignment", name], environment, course)
    release = json.loads((course / "release" / name / source.name).read_text(encoding="utf-8"))
    put(course / "submitted" / "somebody" / name / source.name, as_text(answered(release, files)))
    fresh.run([program, "autograde", name], environment, course)
    ask = ("import json\nfrom nbgrader.api import Gradebook\n"
           "with Gradebook('sqlite:///gradebook.db') as book:\n"
           f"    found = book.find_submission({name!r}, 'somebody')\n"
           "    print(json.dumps([found.score, found.max_score]))")
    done = fresh.run([str(Path(program).parent / "python"), "-c", ask], environment, course)
    score, most = json.loads(done.stdout.strip().splitlines()[-1])
    graded = json.loads((course / "autograded" / "somebody" / name / source.name)
                        .read_text(encoding="utf-8"))
    told = "".join("".join(output.get("text", [])) for cell in graded["cells"]
                   for output in cell.get("outputs", ()))
    return Graded(score, most, told, graded)
