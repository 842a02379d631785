"""Runs tests with a learner's files in the place of the package's modules.

This file is a program of its own, started in a fresh process with the path of a plan (JSON).  It
imports nothing of the package before the files are swapped in, so that what is tested is the
learner's code and nothing else.

NOTE [Swapping]
    An import finder stands before all others and answers for the names in the plan with the
    learner's files.  The folder `fast`, which would go around the code that a learner writes, is
    switched off (MINIGRAD_GENERIC) and cannot be imported.  After the package is imported, each
    swapped module must have come from its file; otherwise nothing is tested.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import runpy
import signal
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

#: What pytest advises where it shortens a comparison; a learner has no such option.
_ADVICE = re.compile(r"\n *Use -v to get more diff|,? use '?-vv?'? to show")


class Swapped(importlib.abc.MetaPathFinder):
    """Finds the modules named in `files` at the paths given there."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None
                  ) -> importlib.machinery.ModuleSpec | None:
        """Return where a swapped module is; None leaves the name to the other finders."""
        if name == "minigrad.fast":
            raise ImportError("minigrad.fast is left out where code is graded")
        file = self.files.get(name)
        if file is None:
            return None
        # A package's other modules are the package's own; those in the plan are found by name.
        own = [str(Path(each, name.rpartition(".")[2])) for each in path or ()]
        inside = own if Path(file).name == "__init__.py" else None
        return importlib.util.spec_from_file_location(name, file,
                                                      submodule_search_locations=inside)


def swap_in(files: dict[str, str]) -> None:
    """Import the package with `files` (module name to path) in place; ImportError if one is not."""
    if "minigrad" in sys.modules:
        raise ImportError("minigrad was imported before its modules were swapped")
    os.environ["MINIGRAD_GENERIC"] = "1"
    sys.dont_write_bytecode = True
    sys.meta_path.insert(0, Swapped(files))
    importlib.import_module("minigrad")
    for name, file in files.items():
        found = importlib.import_module(name).__file__
        if found is None or Path(found).resolve() != Path(file).resolve():
            raise ImportError(f"{name} was to come from {file}, but came from {found}")


class Watcher:
    """A plugin of pytest that keeps the outcome of each test that is for a wanted hole."""

    def __init__(self, holes: list[str] | None) -> None:
        self.holes = holes
        self.marks: dict[str, list[str]] = {}
        self.tests: dict[str, dict[str, Any]] = {}
        self.errors: list[str] = []

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Leave out the tests for other holes."""
        kept = []
        for item in items:
            marks = [mark.args[0] for mark in item.iter_markers("hole")]
            self.marks[item.nodeid] = marks
            if self.holes is None or set(marks) & set(self.holes):
                kept.append(item)
        items[:] = kept

    def pytest_collectreport(self, report: Any) -> None:
        """Keep what went wrong while tests were looked for."""
        if report.failed:
            self.errors.append(str(report.longrepr))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep an outcome: a failure in any phase is a failure."""
        known = self.tests.setdefault(report.nodeid, {
            "outcome": "passed", "message": "", "where": "", "holes": self.marks[report.nodeid]})
        if report.skipped and known["outcome"] == "passed":
            known.update(outcome="skipped", message=str(report.longrepr))
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            # `pytest.raises` and `pytest.warns` tell of themselves first
            open_hole = re.search(r"NotImplementedError: .* is yours to write", report.longreprtext)
            known.update(outcome="failed",
                         message=_ADVICE.sub("", open_hole[0] if open_hole else
                                             crash.message if crash else str(report.longrepr)),
                         where=f"{crash.path}:{crash.lineno}" if crash else "",
                         detail=report.longreprtext)


def run_tests(tests: list[str], holes: list[str] | None, config: str) -> dict[str, Any]:
    """Run test files with pytest, set up by the file `config` alone, and return the outcomes."""
    import pytest

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # whatever is installed takes its time
    watcher, printed = Watcher(holes), io.StringIO()
    folder = str(Path(tests[0]).parent)
    with contextlib.redirect_stdout(printed):
        status = pytest.main(["-q", "-p", "no:cacheprovider", "--tb=short", "-c", config,
                              f"--rootdir={folder}", f"--confcutdir={folder}", *tests],
                             plugins=[watcher])
    return {"tests": watcher.tests, "errors": watcher.errors, "status": int(status),
            "printed": printed.getvalue()[-4000:]}


def stop_at_failure(plan: dict[str, Any]) -> int:
    """Run a stage's tests up to the first that fails and open the debugger there."""
    import pytest

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    stop = importlib.import_module("minigrad_course.stop")
    folder = str(Path(plan["tests"][0]).parent)
    return int(pytest.main(
        ["-qq", "-x", "-s", "-p", "no:cacheprovider", "--tb=short", "--no-summary",
         "-c", plan["config"], f"--rootdir={folder}", f"--confcutdir={folder}", *plan["tests"]],
        plugins=[Watcher(plan["holes"]), stop.Stopper(set(plan["files"].values()))]))


def told_symptoms(file: str, holes: list[str] | None) -> dict[str, bool]:
    """Return, for each function `symptom_...` of a file, whether the learner's engine shows it.

    `holes` limits them to those of these holes.
    """
    begins = tuple(f"symptom_{each.replace('.', '_')}_" for each in holes or ()) or "symptom_"
    spec = importlib.util.spec_from_file_location("minigrad_symptoms", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    shown = {}
    for name, check in list(vars(module).items()):  # a warning adds its registry
        if name.startswith(begins):
            try:
                shown[name.removeprefix("symptom_")] = check() is True
            except BaseException:  # whatever else is wrong, this mistake was not seen
                shown[name.removeprefix("symptom_")] = False
    return shown


def run_script(plan: dict[str, Any]) -> None:
    """Run a program as `python FILE ...` would, with the files swapped in."""
    script = plan["script"]
    sys.path[0:1] = [str(Path(script).resolve().parent), plan["root"]]
    try:
        swap_in(plan["files"])
    except Exception as error:
        sys.exit(f"your files cannot stand in for the package's: {type(error).__name__}: {error}")
    sys.argv = [script, *plan["arguments"]]
    try:
        runpy.run_path(script, run_name="__main__")
    except NotImplementedError as error:
        open_hole = re.fullmatch(r"((\w+)\.\d+ .*) is yours to write", str(error))
        if open_hole is None:
            raise
        place = traceback.extract_tb(error.__traceback__)[-1]
        sys.exit(f"the program came to {open_hole[1]}, which you have not written yet: write it in "
                 f"{place.filename}, line {place.lineno}, or leave stage {open_hole[2]} out of "
                 "what follows --mine")


def main(plan_path: str) -> None:
    """Do what the plan says and write the report where it says."""
    plan = json.loads(Path(plan_path).read_text(encoding="utf-8"))
    report: dict[str, Any] = {"imported": False, "import_error": "", "tests": {}, "errors": [],
                              "symptoms": {}}
    if "script" in plan:
        run_script(plan)
        return
    sys.path[0:1] = [plan["root"], plan["helpers"]]
    try:
        swap_in(plan["files"])
        report["imported"] = True
    except BaseException:
        report["import_error"] = traceback.format_exc()
    if report["imported"] and plan.get("stop"):
        sys.exit(stop_at_failure(plan))
    if report["imported"]:
        report |= run_tests(plan["tests"], plan.get("holes"), plan["config"])
        failed = any(each["outcome"] == "failed" for each in report["tests"].values())
        if plan.get("symptoms") and failed:
            report["symptoms"] = told_symptoms(plan["symptoms"], plan.get("holes"))
    Path(plan["report"]).write_text(json.dumps(report), encoding="utf-8")


def main_each(plans: list[str]) -> None:
    """Carry out several plans, each in a fork of this process, which has NumPy and pytest ready."""
    for name in ("numpy", "pytest"):
        importlib.import_module(name)
    for plan in plans:
        child = os.fork()
        if not child:
            signal.alarm(json.loads(Path(plan).read_text(encoding="utf-8"))["seconds"])
            try:
                main(plan)
            finally:
                os._exit(0)  # what waits for the end of the process waits for it in the parent
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1]) if len(sys.argv) == 2 else main_each(sys.argv[1:])
