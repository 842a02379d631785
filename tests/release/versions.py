"""`python -m tests.release.versions`: the quick tests on each Python and NumPy that is supported.

Each interpreter that is found is tried with the oldest NumPy that it has wheels for and with the
newest.  One that is not found is named, and counts as not tried.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from .clean import ROOT, CleanEnvironment

#: The oldest NumPy with wheels for a Python, from 2.0 on.
OLDEST_NUMPY = {"3.11": "2.0.0", "3.12": "2.0.0", "3.13": "2.1.0", "3.14": "2.3.2"}


def supported() -> list[str]:
    """Return the versions of Python that `pyproject.toml` names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    begin = "Programming Language :: Python :: 3."
    return [f"3.{each.removeprefix(begin)}" for each in project["classifiers"]
            if each.startswith(begin)]


def interpreter(version: str) -> str:
    """Return a Python of this version that starts; "" without one."""
    python = shutil.which(f"python{version}")
    return python if python and not subprocess.run([python, "-c", ""]).returncode else ""


def main() -> None:
    options = read_options()
    found = [(version, interpreter(version)) for version in options.pythons]
    tried = []
    for version, python in found:
        for numpy in (f"numpy=={OLDEST_NUMPY[version]}", "numpy") if python else ():
            with tempfile.TemporaryDirectory(prefix="versions-") as folder:
                made = CleanEnvironment(Path(folder).resolve(), python)
                made.install(numpy, f"{ROOT}[test]")
                pair = f"Python {version}, NumPy {made.version('numpy')}"
                print(f"==> {pair}", flush=True)
                made.readme_example()
                made.quick_tests(options.jobs)
                tried.append(pair)
    print("\n".join(["passed:", *tried]))
    missing = [version for version, python in found if not python]
    if missing:
        sys.exit(f"not found, so not tried: Python {', '.join(missing)}")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.release.versions", description=__doc__)
    parser.add_argument("pythons", nargs="*", default=supported(), metavar="VERSION",
                        help=f"such as 3.12; all of {', '.join(supported())} by default")
    parser.add_argument("--jobs", type=int, default=2, help="processes that test")
    options = parser.parse_args()
    for version in options.pythons:
        if version not in OLDEST_NUMPY:
            parser.error(f"Python {version} is not among {', '.join(OLDEST_NUMPY)}")
    return options


if __name__ == "__main__":
    main()
