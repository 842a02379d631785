"""Classroom 50: an autograder.py with its files, and a template repository.

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

HAND_IN = ("Commit the files above and push, or run `gh student submit`. Do not change `.github` "
           "and `.classroom50.yaml`.")

README = """- `autograder/`: copy its files into `CLASSROOM/autograders/ASSIGNMENT/` of your
  configuration repository.
- `template/`: the content of the assignment's template repository.
- `runtime.json`: pass it to `gh teacher assignment add --runtime runtime.json`. It selects a Python
  that minigrad supports and installs bubblewrap, the sandbox.
- The wheel: students install it to test their answers.

For each submission the runner installs {needed} from its package index, and `bubblewrap` from
Ubuntu. minigrad itself is in the bundle as a wheel.

The bundle is not secret: anyone who finds its address can read it. So it contains no seed, and each
grading draws a new one. A regrade therefore asks different questions of the same kind.

The grader becomes root if `sudo` needs no password, as on GitHub's own runners. Submissions then
run under bubblewrap or as a separate user. But all of this happens in the student's own repository,
and the student can read its workflow and may be able to change it. That is how Classroom 50 works;
decide whether it is acceptable for your course."""

RUNTIME = {"runs-on": "ubuntu-latest", "python": "3.13", "apt": ["bubblewrap"]}

#: Variables that the runner sets, with values for a trial run.
RUNNER = {"CLASSROOM": "trial", "ASSIGNMENT": "stage", "SUBMISSION_TAG": "submit/trial",
          "COMMIT_URL": "https://example.org/commit/0", "RELEASE_URL": "https://example.org/release",
          "REVIEW_URL": "https://example.org/compare/0...1"}


def write(assignment: Assignment, out: Path) -> list[Path]:
    """Write the files to upload and the files for students; return their paths."""
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
    """Grade a submission with the bundle as the runner does, and read the result."""
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
