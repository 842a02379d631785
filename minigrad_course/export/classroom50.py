"""Classroom 50: an autograder.py with what it needs beside it, and a template repository.

Source: https://github.com/foundation50/classroom50/wiki/Advanced-Autograding
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from .assignment import NEEDED, Assignment, put
from .student import write_student
from .verify import FreshFolder, Graded
from .wheel import make_wheel

__all__ = ["grade", "write"]

HAND_IN = ("Commit the files above and push, or run `gh student submit`. Leave `.github` and "
           "`.classroom50.yaml` as they are.")

README = """- `autograder/`: put its files into `CLASSROOM/autograders/ASSIGNMENT/` of your
  configuration repository.
- `template/`: the content of the assignment's template repository.
- `runtime.json`: for `gh teacher assignment add --runtime runtime.json`: a Python that minigrad
  runs on, and bubblewrap, the sandbox.
- The wheel: students install it to try their answers.

For each submission the runner installs from its package index: {needed}; and `bubblewrap` from
Ubuntu. minigrad itself comes from the wheel in the bundle.

Nothing in the bundle is secret: whoever finds its address can read it. So no seed is in it; one is
drawn at each grading. A regrade therefore asks other questions of the same kind.

The grader becomes root where `sudo` needs no password, as on GitHub's own runners, and what was
handed in runs under bubblewrap or as a user of its own. But all of it runs in the student's own
repository, whose workflow the student can read and may be able to change: that is how Classroom 50
works, and it is for you to weigh."""

RUNTIME = {"runs-on": "ubuntu-latest", "python": "3.13", "apt": ["bubblewrap"]}

#: Variables that the runner sets, with values for a trial.
RUNNER = {"CLASSROOM": "trial", "ASSIGNMENT": "stage", "SUBMISSION_TAG": "submit/trial",
          "COMMIT_URL": "https://example.org/commit/0", "RELEASE_URL": "https://example.org/release",
          "REVIEW_URL": "https://example.org/compare/0...1"}


def write(assignment: Assignment, out: Path) -> list[Path]:
    """Write the files to upload and the files to hand out; return them."""
    wheel, bundle = make_wheel(out), out / "autograder"
    put(bundle / "autograder.py",
        Path(__file__).with_name("autograder.py").read_text(encoding="utf-8"), run=True)
    put(bundle / "requirements.txt", "\n".join(NEEDED) + "\n")
    put(bundle / "course.toml", assignment.course_toml(seed=False))
    shutil.copy(wheel, bundle)
    template = write_student(assignment, out / "template", HAND_IN)
    put(out / "runtime.json", json.dumps(RUNTIME, indent=1) + "\n")
    put(out / "README.md", f"# {assignment.title}, for Classroom 50\n\n"
                           f"{README.format(needed=', '.join(NEEDED))}\n")
    return [bundle, template, wheel, out / "runtime.json", out / "README.md"]


def grade(out: Path, files: dict[str, str], fresh: FreshFolder) -> Graded:
    """Do what the runner does with the bundle, and read what came of it."""
    bundle, checkout = fresh.folder / "bundle", fresh.folder / "checkout"
    shutil.copytree(out / "autograder", bundle)
    shutil.copytree(out / "template", checkout, symlinks=True)
    for name, text in files.items():
        put(checkout / "exercises" / name, text)
    fresh.run([fresh.python, str(bundle / "autograder.py")],
              RUNNER | {"MINIGRAD_PYTHON": fresh.python}, checkout)
    result = json.loads((checkout / "result.json").read_text(encoding="utf-8"))
    return Graded(result["score"], result["max-score"],
                  "\n".join(test["output"] for test in result["tests"]), result)
