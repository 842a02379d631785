"""Grade a submission for Classroom 50: a self-contained program that is copied into the bundle.

The runner starts it in a student's checkout; environment variables name the student.  It imports
only the standard library, and no code from the checkout, because the checkout is not trusted.  It
exits with 0 for every grade; any other status means that grading failed.
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
#: Variables in which the runner names the submission; the last may be missing.
IDENTITY = ("CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL", "REVIEW_URL")


def main() -> int:
    """Grade the current folder and write result.json into it."""
    checkout = Path.cwd()
    if missing := [name for name in IDENTITY[:-1] if not os.environ.get(name)]:
        print(f"::error::the runner should set {missing[0]}, but it is not set", file=sys.stderr)
        return 1
    with (tempfile.TemporaryDirectory(prefix="minigrad-") as private,
          tempfile.TemporaryDirectory(prefix="minigrad-") as public):
        # Only the grader may read the package, because its modules are the answers.
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
        print(f"::error::minigrad grade exited with status {done.returncode}", file=sys.stderr)
        return 1
    result = json.loads(done.stdout)
    for test in result["tests"]:
        # Prefix every line of a learner's output: it could be a command to the runner otherwise.
        told = "".join(f"\n| {line}" for line in test["output"].splitlines())
        print(f"{test['test-name']}: {test['score']} of {test['max-score']}{told}")
    put(checkout / "result.json", json.dumps(result, indent=1) + "\n")
    return 0


def installed(folder: Path) -> str:
    """Make a new environment with everything that grading needs, and return its Python."""
    os.umask(0o022)
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([python, "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                    "-r", HERE / "requirements.txt"], cwd=HERE, check=True)
    return str(python)


def as_root() -> list[str]:
    """Return a prefix that runs a command as root if allowed, for a stronger sandbox."""
    if os.geteuid() == 0 or shutil.which("sudo") is None:
        return []
    allowed = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return [] if allowed.returncode else ["sudo", "-n"]


def environment(package: str) -> list[str]:
    """Return `env` arguments with all variables that the grader may see; no token is among them."""
    kept = {name: os.environ[name] for name in (*IDENTITY, "PATH", "MINIGRAD_ANY_SANDBOX")
            if name in os.environ}
    return ["-i", *(f"{name}={value}" for name, value in kept.items()), "LANG=C.UTF-8",
            f"PYTHONPATH={package}", "PYTHONDONTWRITEBYTECODE=1"]


def put(path: Path, text: str) -> None:
    """Write a new file, removing a submitted file of the same name instead of following it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    with open(path, "x", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main())
