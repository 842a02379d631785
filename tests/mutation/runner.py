"""Runs tests on mutants: one warm process collects them, and each mutant is a fork of it.

In the fork the changed code takes the place of the function's own (`__code__`), and the tests
that run the changed statement follow, until one fails.  So a mutant costs a fork and a few
tests, not an import.  What ran while the package was imported is the exception: such a mutant is
written into the copy of the package and gets a fresh process (`cold`).

NOTE [What counts as killed]
    A test may fail for another reason than the change: it waits for a clock on a busy machine, or
    needs what the test before it left behind.  So the test that failed is run twice more, alone
    and each time in a fork of its own: with the change, where it has to fail again, and without,
    where it has to pass.  Otherwise the failure is noted as `doubted`, and the mutant goes on to
    the next test.  Time is that of the processor, so that a busy machine makes no timeout; one
    that waits for ever is stopped by the clock, and has to be so twice.
"""

from __future__ import annotations

import ast
import gc
import importlib
import os
import pickle
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import coverage
import pytest

from .mutants import Mutant

SURVIVED, KILLED, NOT_APPLIED = 0, 1, 3


class Runner:
    """The plugin of pytest that runs mutants instead of tests.

    `first` and `last` are the seconds of tests that a mutant gets in the first pass, and all
    that a survivor of it gets.
    """

    def __init__(self, root: Path, files: list[str], todo: list[Mutant], first: float, last: float,
                 longest: float, known: Path | None,
                 note: Callable[[Mutant, str, Any], bool]) -> None:
        self.root, self.todo, self.note = root, todo, note
        self.first, self.last, self.longest = first, last, longest
        self.files = [str(root / file) for file in files]
        self.known = known
        self.later: list[tuple[Mutant, Any]] = []
        self.doubted: list[dict[str, str]] = []
        self.coverage = coverage.Coverage(data_file=None, config_file=False, include=self.files)
        self.killers: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.failing: Callable[[], None] | None = None
        self.outcomes: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection(self) -> None:
        """Hypothesis: the same examples for each mutant, and no time for shrinking."""
        from hypothesis import Phase, settings  # pytest has its plugin imported first

        settings.register_profile("mutation", derandomize=True, database=None, deadline=None,
                                  max_examples=20, phases=[Phase.explicit, Phase.generate])
        settings.load_profile("mutation")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """What runs PyTorch's engine alone can notice nothing."""
        def runs_pytorch(item: Any) -> bool:
            parameter = getattr(item, "callspec", None) and item.callspec.params.get("torch")
            return getattr(parameter, "__name__", parameter) == "torch"

        items[:] = [item for item in items if not runs_pytorch(item)]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.coverage.stop()  # it saw the import
        self.items = session.items
        print(f"==> {len(self.items)} tests, {len(self.todo)} mutants; running the tests unchanged",
              flush=True)
        measured = self.measured()
        ids = {item.nodeid: i for i, item in enumerate(self.items)}
        self.seconds = {ids[test]: spent for test, spent in measured["seconds"].items()
                        if test in ids}
        self.at_lines: dict[str, dict[int, set[int]]] = {}  # -1 stands for the import
        for path, lines in measured["lines"].items():
            self.at_lines[str(self.root / path)] = {
                line: {ids.get(test, -1) for test in tests if test in ids or not test}
                for line, tests in lines.items()}
        for test in measured["failed"]:
            print(f"    left out, as it fails unchanged: {test}", flush=True)
        for name in measured["modules"]:
            if name not in sys.modules:
                try:
                    importlib.import_module(name)
                except Exception:
                    pass
        self.functions = functions_by_file()
        self.places = {path: {code: key for key, code in codes(
            Path(path).read_text(encoding="utf-8"), path).items()}
            for path in self.files}
        kept = [i for i, s in self.seconds.items() if s <= self.longest]
        print(f"==> {len(kept)} tests of {sum(self.seconds[i] for i in kept):.0f} s are used",
              flush=True)
        gc.collect()
        gc.freeze()
        for mutant in self.todo:
            fate, detail, at_import = self.run(mutant)
            if at_import and fate in ("survived", "not applied"):
                self.later.append((mutant, f"{detail}, and a fresh process"))
            elif not self.note(mutant, fate, detail):
                break
        for mutant, detail in self.later:
            self.note(mutant, self.cold(mutant), detail)
        return True

    def measured(self) -> dict[str, Any]:
        """What the tests do unchanged: as known from an earlier run, and for new tests measured."""
        text = "".join(Path(path).read_text(encoding="utf-8") for path in self.files)
        known: dict[str, Any] = {}
        if self.known and self.known.exists():
            known = pickle.loads(self.known.read_bytes())
        if known.get("text") != text:
            known = {"text": text, "seconds": {}, "lines": {}, "failed": [], "modules": []}
        old = {*known["seconds"], *known["failed"]}
        new = from_child(lambda: self.measure([i for i in self.items if i.nodeid not in old]))
        known["seconds"].update(new["seconds"])
        known["failed"] += new["failed"]
        known["modules"] = sorted({*known["modules"], *new["modules"]})
        for path, lines in new["lines"].items():
            there = known["lines"].setdefault(path, {})
            for line, tests in lines.items():
                there[line] = sorted({*there.get(line, ()), *tests})
        if self.known:
            self.known.write_bytes(pickle.dumps(known))
        return known

    def measure(self, items: list[pytest.Item]) -> dict[str, Any]:
        """Run tests once: which pass, how long they take, which lines they run."""
        seconds: dict[str, float] = {}
        failed: list[str] = []
        silence()
        self.coverage.start()
        for item, after in pairwise([*items, None]):
            self.coverage.switch_context(item.nodeid)
            begin = used()
            self.outcomes = []
            item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
            if set(self.outcomes) == {"passed"}:
                seconds[item.nodeid] = used() - begin
            elif "failed" in self.outcomes:
                failed.append(item.nodeid)
        self.coverage.stop()
        data = self.coverage.get_data()
        lines = {os.path.relpath(path, self.root): data.contexts_by_lineno(path)
                 for path in data.measured_files()}
        return {"seconds": seconds, "lines": lines, "failed": failed, "modules": outside_modules()}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.outcomes.append(report.outcome)

    def run(self, mutant: Mutant) -> tuple[str, Any, bool]:
        """Return a mutant's fate, the killer or what it survived, and if it runs at import."""
        lines = self.at_lines.get(str(self.root / mutant.path), {})
        seen = set().union(*(lines.get(line, ()) for line in mutant.lines))
        order = self.order(mutant, (test for test in seen
                                    if self.seconds.get(test, self.longest + 1) <= self.longest))
        at_import = -1 in seen and mutant.default is None
        if not order and not at_import:
            return "not covered", 0, False
        fate, detail = "survived", 0.0
        begin = 0
        for budget in (self.first, self.last):
            part, spent = [], 0.0
            for test in order[begin:]:
                spent += self.seconds[test]
                if part and spent > budget:
                    break
                part.append(test)
            begin += len(part)
            if part:
                fate, detail = self.warm(mutant, part)
                if fate != "survived":
                    break
        if fate == "survived" and begin < len(order):
            detail = f"{begin} of {len(order)} tests"
        elif fate == "survived":
            detail = f"{begin} tests"
        return fate, detail, at_import

    def order(self, mutant: Mutant, tests: Iterable[int]) -> list[int]:
        """What killed this function's mutants before, then the quickest of each file in turn."""
        tests = sorted(tests, key=self.seconds.__getitem__)
        turn: dict[str, int] = defaultdict(int)
        rank: dict[int, tuple[int, float]] = {}
        for test in tests:
            file = self.items[test].nodeid.partition("::")[0]
            rank[test] = (turn[file], self.seconds[test])
            turn[file] += 1
        killers = self.killers[mutant.path, mutant.function]
        known = [test for test in reversed(killers) if test in rank]
        for test in known:
            rank.pop(test)
        return known + sorted(rank, key=rank.__getitem__)

    def warm(self, mutant: Mutant, tests: list[int]) -> tuple[str, Any]:
        """Run the tests on a mutant until one fails that fails for that reason."""
        while tests:
            code, at = self.fork(mutant, tests)
            if code == SURVIVED:
                break
            if code == NOT_APPLIED:
                return "not applied", ""
            test = tests[at]
            if self.fails_for_it(mutant, test, code):
                killers = self.killers[mutant.path, mutant.function]
                if test in killers:
                    killers.remove(test)
                killers.append(test)
                return fate_of(code), self.items[test].nodeid
            tests = tests[at + 1:]
        return "survived", 0

    def fails_for_it(self, mutant: Mutant, test: int, code: int) -> bool:
        """Run a test that failed once more: with the change it has to fail, without to pass."""
        again, unchanged = self.fork(mutant, [test])[0], SURVIVED
        if again != SURVIVED:
            unchanged = self.fork(None, [test])[0]
        if again != SURVIVED and unchanged == SURVIVED:
            return True
        self.doubt(mutant, self.items[test].nodeid, fate_of(code), fate_of(again),
                   fate_of(unchanged))
        return False

    def doubt(self, mutant: Mutant, test: str, first: str, again: str, unchanged: str) -> None:
        self.doubted.append({"path": mutant.path, "function": mutant.function,
                             "after": mutant.after, "test": test, "first": first, "again": again,
                             "unchanged": unchanged})

    def fork(self, mutant: Mutant | None, tests: list[int]) -> tuple[int, int]:
        """Fork, change the function, run tests until one fails: how it ended, and at which."""
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.close(read)
            try:
                silence()
                os._exit(self.in_child(mutant, tests, write))
            finally:
                os._exit(KILLED)
        os.close(write)
        with open(read, "rb") as pipe:
            reached = pipe.read()
        status = os.waitpid(child, 0)[1]
        return os.waitstatus_to_exitcode(status), int.from_bytes(reached[-4:], "little")

    def in_child(self, mutant: Mutant | None, tests: list[int], write: int) -> int:
        if mutant is not None and not self.apply(mutant):
            return NOT_APPLIED
        self.failing = lambda: os._exit(KILLED)
        for alarm in ALARMS:
            signal.signal(alarm, signal.SIG_DFL)
        for at, test in enumerate(tests):
            os.write(write, at.to_bytes(4, "little"))
            signal.setitimer(signal.ITIMER_PROF, 4 + 20 * self.seconds[test])
            signal.setitimer(signal.ITIMER_REAL, 30 + 100 * self.seconds[test])
            after = self.items[tests[at + 1]] if at + 1 < len(tests) else None
            item = self.items[test]
            item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
        return SURVIVED

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> None:
        """A failure ends the fork; to describe it would take longer than the test."""
        if self.failing and call.excinfo is not None and not call.excinfo.errisinstance(
                pytest.skip.Exception):
            self.failing()

    def apply(self, mutant: Mutant) -> bool:
        """Put the changed code in the place of the function's own."""
        path = str(self.root / mutant.path)
        places = self.places[path]
        new = codes(mutant.source, path)
        found = False
        for function in self.functions.get(path, ()):
            key = places.get(function.__code__)
            if key is None:
                continue
            if mutant.default and key[0] == mutant.function:
                change_default(function, *mutant.default)
                found = True
            elif key in new and new[key] != function.__code__:
                try:
                    function.__code__ = new[key]
                    found = True
                except ValueError:  # another number of variables from outside
                    return False
        return found

    def cold(self, mutant: Mutant) -> str:
        """Run the tests of operations in a fresh process on the changed package."""
        place = self.root / mutant.path
        source = place.read_text(encoding="utf-8")
        left = COLD
        while left:
            place.write_text(mutant.source, encoding="utf-8")
            try:
                fate, test = self.fresh(left)
                if fate == "survived":
                    return fate
                again = self.fresh([test])[0] if test else fate
            finally:
                place.write_text(source, encoding="utf-8")
            unchanged = self.fresh([test] if test else left)[0]
            if again != "survived" and unchanged == "survived":
                return fate
            self.doubt(mutant, test, fate, again, unchanged)
            file = test.partition("::")[0]
            left = left[left.index(file) + 1:] if file in left else []
        return "survived"

    def fresh(self, tests: list[str]) -> tuple[str, str]:
        """Run tests in a fresh process until one fails: how it ended, and at which."""
        try:
            done = subprocess.run(
                [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", *tests],
                cwd=self.root, capture_output=True, text=True, timeout=600)
        except subprocess.TimeoutExpired:
            return "timeout", ""
        if done.returncode in (0, 5):  # 5: no tests
            return "survived", ""
        failed = re.search(r"^FAILED (\S+)", done.stdout, re.MULTILINE)
        return "killed", failed[1] if failed else ""


def path_of(name: str) -> str:
    """Return the path of a test file: `tests/op/test_inplace.py` of "op/inplace"."""
    folder, _, name = name.rpartition("/")
    return "/".join(filter(None, ("tests", folder, f"test_{name}.py")))


#: What a mutant gets that matters while the package is imported.
COLD = [path_of(name) for name in (
    "op/declaration", "graph/nodes", "layers", "docs/stubs", "tensor/repr", "tensor/formatting",
    "autograd/signatures_and_reprs", "ops/user_errors", "course/roster", "ops/registry")]

ALARMS = (signal.SIGALRM, signal.SIGPROF)


def fate_of(code: int) -> str:
    """Name how a fork ended."""
    if code == SURVIVED:
        return "survived"
    return "timeout" if -code in ALARMS else "crash" if code < 0 else "killed"


def from_child(work: Callable[[], Any]) -> Any:
    """Run something in a fork and return what it returned."""
    with tempfile.NamedTemporaryFile() as file:
        child = os.fork()
        if not child:
            try:
                result = work()
                Path(file.name).write_bytes(pickle.dumps(result))
                os._exit(0)
            except BaseException:
                import traceback

                traceback.print_exc()
                os._exit(1)
        if os.waitpid(child, 0)[1]:
            raise SystemExit("mutation: the tests could not be run unchanged")
        return pickle.loads(Path(file.name).read_bytes())


def used() -> float:
    """Return the seconds of the processor that this process and those it waited for have taken."""
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + others.ru_utime + others.ru_stime


def silence() -> None:
    """Let a fork print nothing."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in 0, 1, 2:
        os.dup2(nowhere, stream)


def outside_modules() -> list[str]:
    """Names of the modules that tests imported from outside, so that forks need not."""
    return [name for name in sys.modules
            if not name.startswith(("minigrad", "test", "_", "mutation"))]


def functions_by_file() -> dict[str, list[FunctionType]]:
    """Every live function, by the file that it stands in.

    `gc.get_objects` leaves out frozen objects, and tests/conftest.py freezes all that was there
    when the tests had been collected.
    """
    gc.unfreeze()
    found: dict[str, list[FunctionType]] = defaultdict(list)
    for thing in gc.get_objects():
        if type(thing) is FunctionType:
            found[thing.__code__.co_filename].append(thing)
    return found


def codes(source: str, path: str) -> dict[tuple[str, int], CodeType]:
    """Every code object of a module, by qualified name and turn among those of that name."""
    found: dict[tuple[str, int], CodeType] = {}
    turns: dict[str, int] = defaultdict(int)
    stack = [compile(source, path, "exec", dont_inherit=True)]
    while stack:
        code = stack.pop()
        found[code.co_qualname, turns[code.co_qualname]] = code
        turns[code.co_qualname] += 1
        stack.extend(const for const in code.co_consts if isinstance(const, CodeType))
    return found


def change_default(function: FunctionType, name: str, text: str) -> None:
    value = ast.literal_eval(text)
    if function.__kwdefaults__ and name in function.__kwdefaults__:
        function.__kwdefaults__ = {**function.__kwdefaults__, name: value}
    elif function.__defaults__:
        defaults = list(function.__defaults__)
        place = function.__code__.co_varnames.index(name) - function.__code__.co_argcount
        defaults[place] = value
        function.__defaults__ = tuple(defaults)
