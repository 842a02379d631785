"""Runs PyTorch 1.13's own tests of autograd on minigrad.

    python -m tests.pytorch                  # downloads the source (18 MB, once) to build/pytorch
    python -m tests.pytorch --source FOLDER  # takes `test/` of a PyTorch tree that is there
    python -m tests.pytorch -k hooks -v      # tests with this in their name, and why they fail

Prints how many pass.  Those that are known to fail stand in known.json beside this file with what
they say: they want sparse or complex tensors, private names, or the texts of 1.13 where a later
PyTorch, and minigrad, say something else.  The exit status is 1 if another test fails, or one of
them passes.  The source is what Debian ships; it stays in `build/`, and nothing of it is part of
minigrad.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib.util
import json
import sys
import tarfile
import unittest
import urllib.request
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from .stand_ins import add_missing, as_torch

URL = ("https://deb.debian.org/debian/pool/main/p/pytorch/"
       "pytorch_1.13.1+dfsg.orig.tar.xz")
SHA256 = "d0355588b8528566d477e6ebf1b4d9d036a6fd75711339f66b27472ce5879dc7"
HERE = Path(__file__).resolve().parents[2] / "build" / "pytorch"
FILES = ("test/test_autograd.py", "test/autograd/test_functional.py",
         "test/autograd/test_complex.py")
EXPECTED = ("test/expect/TestAutograd.test_function-x_grad_desc.expect",
            "test/expect/TestAutograd.test_function-y_grad_desc.expect")
KNOWN = Path(__file__).with_name("known.json")


def downloaded(folder: Path) -> Path:
    """Return the folder with PyTorch's tests; take them out of Debian's source if need be."""
    if all((folder / each).exists() for each in (*FILES, *EXPECTED)):
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / "source.tar.xz"
    if not archive.exists():
        print(f"==> {URL}", file=sys.stderr)
        urllib.request.urlretrieve(URL, archive.with_suffix(".part"))
        archive.with_suffix(".part").rename(archive)
    if (found := hashlib.sha256(archive.read_bytes()).hexdigest()) != SHA256:
        sys.exit(f"{archive} has the SHA-256 {found}, not {SHA256}")
    with tarfile.open(archive) as tar:
        for member in tar:
            name = member.name.partition("/")[2]
            if name in (*FILES, *EXPECTED) and (content := tar.extractfile(member)) is not None:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content.read())
    return folder


def loaded(folder: Path) -> Any:
    """Import PyTorch's test file, with minigrad in the place of torch."""
    as_torch()
    sys.path.insert(0, str(folder / "test"))
    for each in FILES:
        add_missing(ast.parse((folder / each).read_text(encoding="utf-8")))
    spec = importlib.util.spec_from_file_location("test_autograd", folder / FILES[0])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["test_autograd"] = module
    spec.loader.exec_module(module)
    return module


class Result(unittest.TestResult):
    """The outcome of each test: "passed", "skipped" or the last line of its error."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        self.outcomes: dict[str, tuple[str, str]] = {}

    def _note(self, test: Any, kind: str, reason: str = "") -> None:
        self.outcomes[".".join(test.id().split(".")[-2:])] = (kind, reason)

    def addSuccess(self, test: Any) -> None:  # unittest's name
        self._note(test, "passed")

    def addSkip(self, test: Any, reason: str) -> None:
        self._note(test, "skipped", reason)

    def addError(self, test: Any, err: Any) -> None:
        text = str(err[1]).strip().split("\n")[0]
        self._note(test, "failed", f"{err[0].__name__}: {text}")

    addFailure = addError

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        self._note(test, "passed")

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._note(test, "failed", "passes where PyTorch's own fails")


def main() -> int:
    """Run the tests; 1 if other ones fail than is known."""
    parser = argparse.ArgumentParser(prog="python -m tests.pytorch", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, help="a folder with PyTorch's `test/`")
    parser.add_argument("-k", dest="word", default="", help="only tests with this in their name")
    parser.add_argument("-v", dest="verbose", action="store_true", help="say why each one fails")
    parser.add_argument("--names", type=Path, help="a table of file, class and test: these alone")
    parser.add_argument("--result", type=Path, help="write the outcomes to this JSON file")
    chosen = parser.parse_args()
    module = loaded(chosen.source or downloaded(HERE))
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    tests = [test for group in suite for test in group]  # type: ignore[union-attr]  # suites
    tests = [test for test in tests if chosen.word in test.id()]
    if chosen.names is not None:
        table = chosen.names.read_text(encoding="utf-8").splitlines()
        names = {tuple(line.split("\t")[1:3]) for line in table}
        tests = [test for test in tests if tuple(test.id().split(".")[-2:]) in names]
    result = Result()
    for test in tests:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            test(result)
    counts = Counter(kind for kind, _ in result.outcomes.values())
    if chosen.verbose:
        for name, (kind, reason) in sorted(result.outcomes.items()):
            if kind == "failed":
                print(f"{name}\n    {reason}")
    print(", ".join(f"{counts[kind]} {kind}" for kind in ("passed", "failed", "skipped")))
    if chosen.result is not None:
        chosen.result.write_text(json.dumps(result.outcomes, indent=1) + "\n", encoding="utf-8")
    known = json.loads(KNOWN.read_text(encoding="utf-8"))
    failed = {name for name, (kind, _) in result.outcomes.items() if kind == "failed"}
    for name in sorted(failed - known.keys()):
        print(f"fails, and is not known to: {name}\n    {result.outcomes[name][1]}")
    for name in sorted(known.keys() & result.outcomes.keys() - failed):
        print(f"passes, and is known to fail: {name}")
    return int(bool(failed - known.keys() or known.keys() & result.outcomes.keys() - failed))


if __name__ == "__main__":
    sys.exit(main())
