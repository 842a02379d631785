"""Gradescope: an archive with setup.sh and run_autograder, which writes results.json.

Source: https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from pathlib import Path

from .assignment import NEEDED, Assignment, put, script, zipped
from .student import write_student
from .verify import FreshFolder, Graded
from .wheel import make_wheel

__all__ = ["HAND_IN", "README", "grade", "write"]

HAND_IN = ("Hand in the files above on Gradescope. Several files, or files in folders: make a zip "
           "archive of the folder `exercises` and upload that.")

README = """- `autograder.zip`: *Configure Autograder*, upload it. Any Ubuntu image from 22.04 on
  does. Set the container to 2 GB of memory or more.
- `student.zip`: for students.
- The wheel: for students too; they install it to try their answers.
- `course.toml`: the seed, as in the archive; keep it. `minigrad grade --course course.toml` gives
  the same verdicts on your own machine.

While the image is built it installs from its package index: {needed}; and Python from Ubuntu where
the image's is older than 3.11. minigrad itself comes from the wheel in the archive. Grading needs
no network.

What is handed in is not trusted: it runs as a user of its own who can read neither the archive's
content nor results, and without a network. The seed in the archive is a secret, of which each
submission gets seeds of its own."""


def write(assignment: Assignment, out: Path) -> list[Path]:
    """Write the files to upload and the files to hand out; return them."""
    wheel = make_wheel(out)
    with tempfile.TemporaryDirectory(prefix="minigrad-") as scratch:
        source = Path(scratch)
        put(source / "setup.sh", script("gradescope_setup.sh"), run=True)
        put(source / "run_autograder", script("gradescope_run.sh"), run=True)
        put(source / "requirements.txt", "\n".join(NEEDED) + "\n")
        put(source / "course.toml", assignment.course_toml(seed=True))
        shutil.copy(wheel, source)
        archive = out / "autograder.zip"
        archive.touch(0o600)
        zipped(source, archive)
    student = write_student(assignment, out / "student", HAND_IN)
    put(out / "course.toml", assignment.course_toml(seed=True), secret=True)
    put(out / "README.md", f"# {assignment.title}, for Gradescope\n\n"
                           f"{README.format(needed=', '.join(NEEDED))}\n")
    return [archive, zipped(student, out / "student.zip"), wheel, out / "course.toml",
            out / "README.md"]


def grade(out: Path, files: dict[str, str], fresh: FreshFolder,
          more: dict[str, str] | None = None) -> Graded:
    """Do what Gradescope does with the archive, and read what came of it."""
    root = fresh.folder / "autograder"
    with zipfile.ZipFile(out / "autograder.zip") as archive:
        archive.extractall(root / "source")
    (root / "results").mkdir()
    environment = {"AUTOGRADER_ROOT": str(root), "MINIGRAD_PYTHON": fresh.python,
                   **(more or {})}
    fresh.run(["bash", str(root / "source" / "setup.sh")], environment)
    for name, text in files.items():
        put(root / "submission" / name, text)
    fresh.run(["bash", str(root / "source" / "run_autograder")], environment)
    result = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))
    return Graded(sum(test["score"] for test in result["tests"]),
                  sum(test["max_score"] for test in result["tests"]),
                  "\n".join(test["output"] for test in result["tests"]), result)
