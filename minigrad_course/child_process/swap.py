"""Run tests or a program with a learner's files in place of the package's modules.

This file is a separate program, started in a fresh process with the path of a plan (JSON).  It does
not import the package before the files are swapped in, so that the tests run only on the learner's
code.

NOTE [Swapping]
    An import finder precedes all others and resolves the names in the plan to the learner's files.
    The package `minigrad.codegen`, which would bypass the code that a learner writes, is switched
    off (MINIGRAD_GENERIC) and cannot be imported.  After the import of the package, each swapped
    module must have been loaded from its file; otherwise no test runs.

NOTE [Lines of several files]
    A module composed by `compose.py` has a file and a line number for each of its lines.  But a
    code object has only one file, and counts its lines from its first one.  So before the module is
    compiled, the lines of each file except the first are shifted by a multiple of STEP.  Afterwards
    the first line of each function is shifted back, and its file is written into its code.
"""

from __future__ import annotations

import ast
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
from collections.abc import Collection, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

#: More lines than any file has.
STEP = 1_000_000


class Swapped(importlib.abc.MetaPathFinder):
    """Finds the modules named in `files` at the given paths.

    The modules in `composed` use another text than the file at their path.
    """

    def __init__(self, files: dict[str, str], composed: dict[str, Any] | None = None) -> None:
        self.files, self.composed = files, composed or {}

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None
                  ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a swapped module; `None` leaves the name to other finders."""
        if name == "minigrad.codegen":
            raise ImportError("minigrad.codegen cannot be imported where answers are tested")
        file = self.files.get(name)
        if file is None:
            return None
        # The package provides its other modules; those in the plan are found by their names.
        own = [str(Path(each, name.rpartition(".")[2])) for each in path or ()]
        inside = own if Path(file).name == "__init__.py" else None
        loader = ComposedLoader(name, file, self.composed[name]) if name in self.composed else None
        return importlib.util.spec_from_file_location(name, file, loader=loader,
                                                      submodule_search_locations=inside)


class ComposedLoader(importlib.machinery.SourceFileLoader):
    """Loads a module that was composed from several files."""

    def __init__(self, name: str, file: str, composed: dict[str, Any]) -> None:
        super().__init__(name, file)
        self.composed = composed

    def get_code(self, fullname: str) -> CodeType:
        """Return the module's code, in which each function has its own file and lines."""
        files, lines = self.composed["files"], self.composed["lines"]

        def moved(number: int) -> int:
            file, line = lines[number - 1]
            return int(file) * STEP + int(line)

        tree = ast.parse(self.composed["text"], files[0])
        for node in ast.walk(tree):
            if isinstance(node, (ast.expr, ast.stmt, ast.arg, ast.keyword, ast.excepthandler,
                                 ast.pattern, ast.alias)):
                first, last = moved(node.lineno), moved(node.end_lineno or node.lineno)
                node.lineno = first
                if last < first:  # it ends in another file
                    last, node.end_col_offset = first, node.col_offset
                node.end_lineno = last
        return placed(compile(tree, files[0], "exec", dont_inherit=True), files)


def placed(code: CodeType, files: list[str]) -> CodeType:
    """Return code in which each function has its original file, and lines of that file."""
    file, first = divmod(code.co_firstlineno, STEP)
    constants = tuple(placed(each, files) if isinstance(each, CodeType) else each
                      for each in code.co_consts)
    return code.replace(co_filename=files[file], co_firstlineno=first, co_consts=constants)


def swap_in(files: dict[str, str], composed: dict[str, Any] | None = None) -> None:
    """Import the package with `files` (module name to path) swapped in.

    `composed` has the modules composed from several files, by name.  Raises ImportError if a module
    was loaded from another file.
    """
    if "minigrad" in sys.modules:
        raise ImportError("minigrad was imported before its modules were swapped in")
    os.environ["MINIGRAD_GENERIC"] = "1"
    sys.dont_write_bytecode = True
    sys.meta_path.insert(0, Swapped(files, composed))
    importlib.import_module("minigrad.ops").load_all()  # raise import errors here, not later
    for name, file in files.items():
        found = importlib.import_module(name).__file__
        if found is None or Path(found).resolve() != Path(file).resolve():
            raise ImportError(f"{name} should be loaded from {file}, but was loaded from {found}")


class Watcher:
    """A pytest plugin that keeps the outcomes of the tests for some exercises.

    `own` are the learner's files, `folder` is the folder of the tests.
    """

    def __init__(self, holes: list[str] | None, own: Collection[str] = (),
                 folder: str = "") -> None:
        self.holes, self.own, self.folder = holes, own, folder
        self.marks: dict[str, list[str]] = {}
        self.tests: dict[str, dict[str, Any]] = {}
        self.errors: list[str] = []
        self.stopped = False  # whether the caller interrupted the tests

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        """Record whether the tests were interrupted; pytest reports errors during collection by a
        subclass of KeyboardInterrupt.
        """
        self.stopped = excinfo.type is KeyboardInterrupt

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Deselect the tests for other exercises."""
        kept = []
        for item in items:
            marks = [mark.args[0] for mark in item.iter_markers("hole")]
            self.marks[item.nodeid] = marks
            if self.holes is None or set(marks) & set(self.holes):
                kept.append(item)
        items[:] = kept

    def pytest_collectreport(self, report: Any) -> None:
        """Keep errors from the collection of tests."""
        if report.failed:
            self.errors.append(str(report.longrepr))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep an outcome; a failure in any phase is a failure."""
        known = self.tests.setdefault(report.nodeid, {
            "outcome": "passed", "message": "", "where": "", "holes": self.marks[report.nodeid]})
        if report.skipped and known["outcome"] == "passed":
            known.update(outcome="skipped", message=str(report.longrepr))
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            # `pytest.raises` and `pytest.warns` put their own error first
            open_hole = re.search(r"NotImplementedError: .* is yours to write", report.longreprtext)
            known.update(outcome="failed",
                         message=open_hole[0] if open_hole else
                         crash.message if crash else str(report.longrepr),
                         where=f"{crash.path}:{crash.lineno}" if crash else "",
                         detail=report.longreprtext)

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        """Keep the traceback without pytest's frames, and set the line to report.

        If the failure is in a test's helper, that is the line of the test; if it is outside the
        tests and the learner's files, the innermost line of the learner's code.
        """
        known = self.tests.get(report.nodeid)
        if known is None:
            return
        known["detail"] = _traceback_of(call.excinfo.value)
        if not known["where"]:
            return
        in_tests = known["where"].startswith(self.folder)
        lines = [f"{each.path}:{each.lineno + 1}" for each in call.excinfo.traceback
                  if (each.name.startswith("test_") and str(each.path).startswith(self.folder)
                      if in_tests else str(each.path) in self.own)]
        if lines:
            known["where"] = lines[-1]


def _traceback_of(error: BaseException) -> str:
    """Return an error's traceback without the frames of pytest and its plugin manager."""
    steps = [each for each in traceback.extract_tb(error.__traceback__)
             if not {"_pytest", "pluggy"} & set(Path(each.filename).parts)]
    return "".join(traceback.format_list(steps) + traceback.format_exception_only(error))


def run_tests(tests: list[str], holes: list[str] | None, config: str,
              plugins: Sequence[object] = (), own: Collection[str] = ()) -> dict[str, Any]:
    """Run test files with pytest, configured only by the file `config`; return the outcomes.

    `own` are the learner's files.
    """
    import pytest

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # loading installed plugins takes time
    folder = str(Path(tests[0]).parent)
    watcher = Watcher(holes, own, str(Path(folder).parent) + os.sep)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        # "native" parses no source, which took ten times as long as the failing tests themselves.
        status = pytest.main(["-q", "-p", "no:cacheprovider", "--tb=native", "-c", config,
                              f"--rootdir={folder}", f"--confcutdir={folder}", *tests],
                             plugins=[watcher, *plugins])
    return {"tests": watcher.tests, "errors": watcher.errors, "status": int(status),
            "stopped": watcher.stopped, "printed": printed.getvalue()[-4000:]}


def stop_at_failure(plan: dict[str, Any]) -> int:
    """Run a stage's tests up to the first failure, and open the debugger there."""
    import pytest

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    debugger = importlib.import_module("minigrad_course.child_process.debugger")
    folder = str(Path(plan["tests"][0]).parent)
    return int(pytest.main(
        ["-qq", "-x", "-s", "-p", "no:cacheprovider", "--tb=short", "--no-summary",
         "-c", plan["config"], f"--rootdir={folder}", f"--confcutdir={folder}", *plan["tests"]],
        plugins=[Watcher(plan["holes"]),
                 debugger.StopAtFailure({*plan["files"].values(), *plan["own"]})]))


def shown_symptoms(file: str, holes: list[str] | None) -> dict[str, bool]:
    """Return, for each function `symptom_...` in a file, whether the learner's engine shows it.

    `holes` restricts them to the symptoms of these exercises.
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
            except BaseException:  # something else is wrong, so this mistake cannot be seen
                shown[name.removeprefix("symptom_")] = False
    return shown


def run_script(plan: dict[str, Any]) -> None:
    """Run a program like `python FILE ...`, with the files swapped in."""
    script = plan["script"]
    sys.path[0:1] = [str(Path(script).resolve().parent), plan["root"]]
    try:
        swap_in(plan["files"], plan.get("composed"))
    except Exception as error:
        sys.exit(open_exercise_message(error, "importing the package needs") or
                 f"the package cannot be imported with your files: {type(error).__name__}: {error}")
    sys.modules["minigrad"].as_torch()  # for a program that says `import torch`
    sys.argv = [script, *plan["arguments"]]
    try:
        runpy.run_path(script, run_name="__main__")
    except NotImplementedError as error:
        told = open_exercise_message(error, "the program needs")
        if not told:
            raise
        sys.exit(told)


def open_exercise_message(error: Exception, how: str) -> str:
    """Return a sentence on the unwritten exercise that raised `error`; it begins with `how`.

    Returns "" for any other error.
    """
    open_hole = re.fullmatch(r"((\w+)\.\d+ .*) is yours to write", str(error))
    if open_hole is None:
        return ""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return (f"{how} {open_hole[1]}, which you have not written yet: write it in "
            f"{last.filename}, line {last.lineno}, or leave stage {open_hole[2]} out of the stages "
            "after --mine")


def main(plan_path: str) -> None:
    """Execute a plan and write the report to the path in it."""
    plan = json.loads(Path(plan_path).read_text(encoding="utf-8"))
    if plan.get("beside"):  # these are not swapped: see NOTE [A second copy of op/]
        os.environ["MINIGRAD_BESIDE"] = plan_path
    report: dict[str, Any] = {"imported": False, "import_error": "", "tests": {}, "errors": [],
                              "symptoms": {}}
    if "script" in plan:
        run_script(plan)
        return
    sys.path[0:1] = [plan["root"], plan["helpers"]]
    limits = importlib.import_module("minigrad_course.child_process.time_limits")
    printed = importlib.import_module(
        "minigrad_course.child_process.captured_output").Printed(plan)
    try:
        with printed.watched(), limits.limited_import(plan):
            swap_in(plan["files"], plan.get("composed"))
        report["imported"] = True
    except BaseException as error:
        report["import_error"], report["import_line"] = printed.owners.told(error)
    if report["imported"] and plan.get("stop"):
        sys.exit(stop_at_failure(plan))
    if report["imported"]:
        limit = [limits.Limits(plan)] if plan.get("limit") else []
        report |= run_tests(plan["tests"], plan.get("holes"), plan["config"],
                            [printed, limits.Fixtures(), limits.Interrupts(), *limit],
                            {*plan["files"].values(), *plan.get("own", ())})
        for test, each in report["tests"].items():
            each["printed"] = printed.tests.get(test, {})
        failed = {hole for each in report["tests"].values() if each["outcome"] == "failed"
                  for hole in each["holes"]}
        for each in limit:
            failed -= each.over  # its symptoms would not end either
        if plan.get("symptoms") and failed and not report["stopped"]:
            with limits.limited_symptoms(plan):
                report["symptoms"] = shown_symptoms(
                    plan["symptoms"], sorted(failed) if limit else plan.get("holes"))
    report["printed_on_import"] = printed.tests.get("", {})
    Path(plan["report"]).write_text(json.dumps(report), encoding="utf-8")
    if __name__ == "__main__":
        os._exit(0)  # no thread that an answer left keeps the process


def main_each(plans: list[str]) -> None:
    """Execute several plans, each in a fork of this process that has NumPy and pytest imported."""
    for name in ("numpy", "pytest"):
        importlib.import_module(name)
    for plan in plans:
        child = os.fork()
        if not child:
            # A plan with a limit uses this clock itself; then `try_each` stops the whole process.
            signal.alarm(json.loads(Path(plan).read_text(encoding="utf-8"))["seconds"])
            try:
                main(plan)
            finally:
                os._exit(0)  # skip exit handlers, which run in the parent
        _, status = os.waitpid(child, 0)
        Path(plan).with_name("status").write_text(str(os.waitstatus_to_exitcode(status)),
                                                  encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        main_each(sys.argv[1:])
