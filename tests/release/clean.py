"""Clean environments: one is made, a package is installed into it, and its tests run there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Folders and files of `tests` that need the checkout around them.
OF_THE_CHECKOUT = ("benchmarks", "browser", "course", "docs", "hostile", "mutation", "release",
                   "test_layers.py", "test_pinned_dependencies.py",
                   "test_skips.py", "test_tree.py", "voice", "widgets")


class CleanEnvironment:
    """An environment of Python's in a folder of its own, with nothing from here in sight."""

    def __init__(self, folder: Path, python: str) -> None:
        self.folder = folder
        self.python = folder / "environment" / "bin" / "python"
        run([python, "-m", "venv", "--clear", str(folder / "environment")], folder)

    def install(self, *wanted: str, constraints: Path | None = None) -> None:
        """Install with pip; `constraints` is a file with the versions to take."""
        pinned = ["--constraint", str(constraints)] if constraints else []
        run([str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
             *pinned, *wanted], self.folder)

    def version(self, package: str) -> str:
        """Return which version of a package is installed."""
        return self.output("-c", f"from importlib.metadata import version; "
                                 f"print(version({package!r}))").strip()

    def output(self, *words: str) -> str:
        """Run this environment's Python; return what it prints."""
        return run([str(self.python), *words], self.folder)

    def quick_tests(self, jobs: int) -> None:
        """Run the quick tests, copied to a place without the package, on what is installed."""
        place = self.folder / "tried"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(ROOT / "tests", place / "tests", ignore=shutil.ignore_patterns(
            "__pycache__", *OF_THE_CHECKOUT))
        shutil.copytree(ROOT / "docs", place / "docs")  # one test reads a table there
        shutil.copy(ROOT / "pyproject.toml", place)
        run([str(self.python), "-m", "pytest", "-q", "-n", str(jobs), "-m", "not slow",
             "--override-ini", "pythonpath=."], place, shown=True)

    def readme_example(self) -> None:
        """Run the README's first example; `SystemExit` if it prints something else."""
        code, printed = re.findall(r"^```python\n(.*?)^```$.*?^```text\n(.*?)^```$",
                                   (ROOT / "README.md").read_text(encoding="utf-8"),
                                   re.MULTILINE | re.DOTALL)[0]
        got = self.output("-W", "error", "-X", "utf8", "-c", code)
        if got != printed:
            raise SystemExit(f"the README's example printed\n{got}\nand not\n{printed}")


def run(words: Sequence[str], folder: Path, shown: bool = False) -> str:
    """Run a command in a folder and return what it prints; `SystemExit` if it fails.

    With `shown` its output goes to the terminal instead.
    """
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "MINIGRAD_GENERIC")
    around = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(words, cwd=folder, text=True, capture_output=not shown,
                          env={**around, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    if done.returncode:
        raise SystemExit(f"failed ({done.returncode}): {' '.join(words)}\n"
                         + ("" if shown else done.stdout + done.stderr))
    return done.stdout or ""
