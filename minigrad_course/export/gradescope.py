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

HAND_IN = ("Submit the files above on Gradescope. If there are several files, or files in folders, "
           "upload a zip archive of the folder `exercises`.")

README = """- `autograder.zip`: upload it under *Configure Autograder*. Any Ubuntu image since 22.04
  works. Give the container at least 2 GB of memory.
- `student.zip`: for students.
- The wheel: also for students, who install it to test their answers.
- `course.toml`: the seed, which is also in the archive; keep it secret. `minigrad grade --course
  course.toml` gives the same verdicts on your own machine.

While the image is built, it installs {needed} from its package index, and Python from Ubuntu if the
image's Python is older than 3.11. minigrad itself is in the archive as a wheel. Grading needs no
network.

Submissions are not trusted. Each runs without a network, as a separate user who can read neither
the archive's content nor the results. The seed in the archive is secret, and each submission gets
its own seeds derived from it."""


def write(assignment: Assignment, out: Path) -> list[Path]:
    """Write the files to upload and the files for students; return their paths."""
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
    """Grade a submission with the archive as Gradescope does, and read the result."""
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
