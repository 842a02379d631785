"""Make the files that a graded process sees: the package, with the learner's files as modules.

No import hook swaps modules here: in this copy of the package the learner's files *are* the
modules, and the originals are absent.
"""

from __future__ import annotations

import atexit
import compileall
import json
import shutil
import tempfile
import threading
from functools import cache
from pathlib import Path

from ..child_process import closing, second_copy, second_copy_ops, swap
from ..content.plain_text import encoded
from ..content.stages import Hole, Stage
from ..running.learner_files import LearnerFiles
from ..running.trial import as_plan
from .sealed import shipped_instead

__all__ = ["compiled_elsewhere", "compiled_package", "make_bundle", "remove_tests"]

#: Copies that another process has compiled, by package; see primed.py.
compiled_elsewhere: dict[str, str] = {}

_one_at_a_time = threading.Lock()

#: Modules that do the work of an exercise in a faster way, and the text in their place, with which
#: the package never calls them.  `minigrad dev relatives` finds such modules.
TWINS = {"backend/kernels_strided.py":
         '"""Left out of graded processes."""\n\n\ndef suits(*_):\n    return False\n'}


def make_bundle(stage: Stage, texts: dict[str, str] | None, folder: Path,
                hole: Hole | None = None) -> Path:
    """Make the folder tree for a graded process in `folder`.

    It contains `site/minigrad`, `tests`, `probes.py`, `probing.py`, `symptoms.py` and `child.py`.
    If `texts` is `None`, the package is the original.  The subpackage `codegen` and the work of
    TWINS are left out because they would bypass the code that a learner writes.  For a stage that
    is tested beside the package, the bundle contains only the exercise `hole`: the package is
    complete, except that the process receives the package's version of that exercise sealed (NOTE
    [Sealed] in sealed.py).
    """
    site = folder / "site"
    shutil.copytree(compiled_package(stage.package), site / "minigrad")
    if stage.beside:
        _add_second_copy(stage, texts, folder, hole)
    for path in stage.modules if texts is not None and not stage.beside else ():
        assert texts is not None
        _replace(site / "minigrad" / path, texts.get(path))
    tests = folder / "tests"
    tests.mkdir()
    shutil.copy(stage.tests, tests)
    shutil.copy(stage.tests.parents[1] / "_oracle.py", tests)
    (tests / "pytest.ini").write_text(
        "[pytest]\nmarkers =\n    hole(id): the hole of the course that a test is for\n",
        encoding="utf-8")
    shutil.copy(stage.probes, folder / "probes.py")
    shutil.copy(stage.probes.with_name("probing.py"), folder)
    shutil.copy(stage.symptoms, folder / "symptoms.py")
    shutil.copy(Path(__file__).with_name("child.py"), folder)
    for each in (folder, *folder.rglob("*")):  # the graded process may run as another user
        each.chmod(0o755 if each.is_dir() else 0o644)
    return folder


def compiled_package(package: Path) -> Path:
    """Return a compiled copy of the package, from another process or made once in this one."""
    if (elsewhere := compiled_elsewhere.get(str(package))) is not None:
        return Path(elsewhere)
    with _one_at_a_time:
        return _compiled(package)


@cache
def _compiled(package: Path) -> Path:
    """Return a copy of the package, compiled once for all bundles of this process.

    Otherwise each graded process would have to compile a package that was unpacked but never run.
    """
    folder = tempfile.mkdtemp(prefix="minigrad-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy = shutil.copytree(package, Path(folder, "minigrad"),
                           ignore=shutil.ignore_patterns("codegen", "*.pyi"))
    for path, text in TWINS.items():
        (copy / path).write_text(text, encoding="utf-8")
    compileall.compile_dir(copy, quiet=2)
    return copy


def remove_tests(bundle: Path) -> None:
    """Remove everything from a bundle that the probes don't need.

    Tests and symptoms compute what some exercises ask for, to compare it with an answer.  So they
    must be gone before the probes decide, because an answer could call them.
    """
    shutil.rmtree(bundle / "tests", ignore_errors=True)
    (bundle / "symptoms.py").unlink(missing_ok=True)


def _add_second_copy(stage: Stage, texts: dict[str, str] | None, folder: Path, hole: Hole | None
                     ) -> None:
    """Add the code that loads a second copy of `op/`, and the learner's modules, if any."""
    inside = folder / "site" / "minigrad_course" / "child_process"
    inside.mkdir(parents=True)
    for package in (inside.parent, inside):
        (package / "__init__.py").write_text("", encoding="utf-8")
    for module in (closing, second_copy, second_copy_ops, swap):
        shutil.copy(str(module.__file__), inside)
    if texts is None:
        return
    assert hole is not None  # a bundle with several exercises would contain answers to the others
    modules = as_plan(LearnerFiles(stage, texts).alone(hole))
    for each in modules.values():  # do not reveal the package's path on this machine
        each["files"] = [str(Path("minigrad", Path(file).relative_to(stage.package.resolve())))
                         if Path(file).is_absolute() else file for file in each["files"]]
    (folder / "beside.json").write_text(json.dumps({"beside": {hole.id: modules}}),
                                        encoding="utf-8")
    for path, text in shipped_instead(stage, hole):
        _replace(folder / "site" / "minigrad" / path, text)


def _replace(target: Path, text: str | None) -> None:
    """Replace a module of the package with a text, or remove it."""
    target.unlink()
    for compiled in (target.parent / "__pycache__").glob(f"{target.stem}.*"):
        compiled.unlink()
    if text is not None:
        target.write_bytes(encoded(text))
