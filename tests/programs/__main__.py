"""Runs programs of other people with PyTorch and with minigrad, and compares what they print.

    python -m tests.programs            # all; repositories are cloned once, into build/programs
    python -m tests.programs bert gru   # those with one of these in their names

Seeds are set, and loops made shorter as table.py says; nothing else is changed.  For each program:
how many numbers it prints, the largest relative difference of one, and the seconds that each took.
They need matplotlib and scipy.  The exit status is 1 if a program fails, or prints
another count of numbers, or one that differs by more than a hundredth.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from .table import PROGRAMS, Program, Repository

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "programs"
LIMIT, SECONDS = 0.01, 600
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
#: Times, addresses and the like, which differ from run to run.
NOT_COMPARED = re.compile(r"0x[0-9a-f]+|\d+\.?\d*\s*(?:seconds|sec|it/s|ms|s)\b")

PRELUDE = """
import logging, os, random, re, sys, types, warnings
warnings.simplefilter("ignore")  # programs of other years use old names
if {ours}:
    import minigrad
    minigrad.as_torch()
os.environ["MPLBACKEND"] = "Agg"
import numpy as np, torch
random.seed(0), np.random.seed(0), torch.manual_seed(0), torch.set_num_threads(1)
logging.basicConfig(stream=sys.stdout, level="INFO", format="%(message)s")
sys.argv, sys.path[:0] = {arguments!r}, [os.getcwd(), {path!r}]
text = open({script!r}, encoding="utf-8").read()
for pattern, put in {edits!r}:
    text, count = re.subn(pattern, put, text)
    assert count, f"{{pattern}} is not in the script"
main = sys.modules["__main__"] = types.ModuleType("__main__")
main.__file__ = {script!r}
exec(compile(text, {script!r}, "exec"), main.__dict__)
"""


def clone(repository: Repository) -> Path:
    """Return the folder of a repository at its commit, cloned if it is not there."""
    folder = FOLDER / repository.name.replace("/", "+")
    if not folder.exists():
        subprocess.run(["git", "clone", "--quiet", f"https://github.com/{repository.name}",
                        str(folder)], check=True)
        subprocess.run(["git", "-C", str(folder), "checkout", "--quiet", repository.commit],
                       check=True)
    return folder


def run(program: Program, ours: bool) -> tuple[list[float], float]:
    """Return the numbers that a program prints, and its seconds; RuntimeError if it fails."""
    folder = clone(program.repository) / program.folder
    code = PRELUDE.format(ours=ours, arguments=[program.script, *program.arguments],
                          path=program.path, script=program.script, edits=program.edits)
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=SECONDS,
        check=False, env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0",
                          "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    if done.returncode:
        raise RuntimeError(done.stderr.strip().rpartition("\n")[2])
    numbers = [float(each) for each in NUMBER.findall(NOT_COMPARED.sub("", done.stdout))]
    return numbers, time.perf_counter() - began


def difference(ours: list[float], theirs: list[float]) -> float:
    """Return the largest relative difference; infinite where there are more of one than the other.

    >>> difference([1.0, 2.02], [1.0, 2.0])
    0.01
    """
    if len(ours) != len(theirs):
        return float("inf")
    pairs = zip(ours, theirs, strict=True)
    return max((round(abs(a - b) / max(1e-3, abs(b)), 9) for a, b in pairs), default=0.0)


def main(arguments: list[str] | None = None) -> int:
    """Run the programs that are asked for; print a line of each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", help="parts of the names of programs; all if none")
    names = parser.parse_args(arguments).names
    failed = 0
    for program in PROGRAMS:
        if names and not any(name in program.name for name in names):
            continue
        try:
            (theirs, slow), (ours, seconds) = run(program, ours=False), run(program, ours=True)
        except (RuntimeError, subprocess.SubprocessError) as problem:
            failed += 1
            print(f"{program.name:30} failed: {problem}", flush=True)
            continue
        worst = difference(ours, theirs)
        failed += worst > LIMIT
        print(f"{program.name:30} {len(ours):4} numbers, differ by {worst:.1g}; PyTorch {slow:.0f}"
              f" s, minigrad {seconds:.0f} s", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
