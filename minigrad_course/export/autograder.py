"""Grades a submission for Classroom 50: a program of its own, copied into the bundle.

Its runner starts it in a student's checkout, with who that is in the environment.  It imports
nothing but the standard library, and nothing from the checkout: what lies there is not trusted.
The exit status is 0 whatever the grade; another one says that nothing was graded.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Variables in which the runner says whose submission it is; the last may be missing.
IDENTITY = ("CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL", "REVIEW_URL")


def main() -> int:
    """Grade the current folder and write result.json into it."""
    checkout = Path.cwd()
    if missing := [name for name in IDENTITY[:-1] if not os.environ.get(name)]:
        print(f"::error::the runner sets {missing[0]}, but it is not set here", file=sys.stderr)
        return 1
    with (tempfile.TemporaryDirectory(prefix="minigrad-") as private,
          tempfile.TemporaryDirectory(prefix="minigrad-") as public):
        # The package is for the grader's eyes; its modules are the answers.
        (wheel,) = HERE.glob("minigrad_course-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(private)
        os.chmod(public, 0o755)
        python = os.environ.get("MINIGRAD_PYTHON") or installed(Path(public))
        start = [*as_root(), "env", *environment(private), python, "-P", "-s", "-m"]
        guarded = subprocess.run([*start, "minigrad_course.export.guard"], cwd="/", check=False)
        if guarded.returncode:
            return 1
        done = subprocess.run(
            [*start, "minigrad_course", "grade", str(checkout), "--course",
             str(HERE / "course.toml"), "--format", "classroom50"],
            cwd="/", stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        print(f"::error::minigrad grade ended with {done.returncode}", file=sys.stderr)
        return 1
    result = json.loads(done.stdout)
    for test in result["tests"]:
        # A learner's output never begins a line: there it could be a command to the runner.
        told = "".join(f"\n| {line}" for line in test["output"].splitlines())
        print(f"{test['test-name']}: {test['score']} of {test['max-score']}{told}")
    put(checkout / "result.json", json.dumps(result, indent=1) + "\n")
    return 0


def installed(folder: Path) -> str:
    """Return a new environment's Python, with what grading needs from the package index."""
    os.umask(0o022)
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([python, "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                    "-r", HERE / "requirements.txt"], cwd=HERE, check=True)
    return str(python)


def as_root() -> list[str]:
    """Return what makes a command root's where that is allowed: the sandbox is stronger then."""
    if os.geteuid() == 0 or shutil.which("sudo") is None:
        return []
    allowed = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return [] if allowed.returncode else ["sudo", "-n"]


def environment(package: str) -> list[str]:
    """Return all that the grader is to find in its environment; no token is among it."""
    kept = {name: os.environ[name] for name in (*IDENTITY, "PATH", "MINIGRAD_ANY_SANDBOX")
            if name in os.environ}
    return ["-i", *(f"{name}={value}" for name, value in kept.items()), "LANG=C.UTF-8",
            f"PYTHONPATH={package}", "PYTHONDONTWRITEBYTECODE=1"]


def put(path: Path, text: str) -> None:
    """Write a file that is new: what was handed in under its name is removed, not followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    with open(path, "x", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main())
