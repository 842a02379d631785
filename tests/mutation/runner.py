"""Runs tests on mutants: one warm process collects them, and each mutant is a fork of it.

In the fork the changed code takes the place of the function's own (`__code__`), and the tests
that run the changed statement follow, until one fails.  So a mutant costs a fork and a few
tests, not an import.  What ran while the package was imported is the exception: such a mutant is
written into the copy of the package and gets a fresh process (`cold`).
"""

from __future__ import annotations

import ast
import gc
import importlib
import os
import pickle
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
            begin = time.process_time()
            self.outcomes = []
            item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
            if set(self.outcomes) == {"passed"}:
                seconds[item.nodeid] = time.process_time() - begin
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
        """Fork, change the function, run the tests until one fails."""
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
        code = os.waitstatus_to_exitcode(status)
        test = tests[int.from_bytes(reached[-4:], "little")] if reached else tests[0]
        if code == SURVIVED:
            return "survived", 0
        if code == NOT_APPLIED:
            return "not applied", ""
        killers = self.killers[mutant.path, mutant.function]
        if test in killers:
            killers.remove(test)
        killers.append(test)
        return ("timeout" if code == -signal.SIGALRM else
                "crash" if code < 0 else "killed"), self.items[test].nodeid

    def in_child(self, mutant: Mutant, tests: list[int], write: int) -> int:
        if not self.apply(mutant):
            return NOT_APPLIED
        self.failing = lambda: os._exit(KILLED)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        for at, test in enumerate(tests):
            os.write(write, at.to_bytes(4, "little"))
            signal.setitimer(signal.ITIMER_REAL, 10 + 40 * self.seconds[test])
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
        unchanged = place.read_text(encoding="utf-8")
        place.write_text(mutant.source, encoding="utf-8")
        try:
            done = subprocess.run(
                [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", *COLD],
                cwd=self.root, capture_output=True, timeout=600)
            return "survived" if done.returncode == 0 else "killed"
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            place.write_text(unchanged, encoding="utf-8")


#: What a mutant gets that matters while the package is imported.
COLD = ["tests/test_graph_nodes.py", "tests/test_layers.py", "tests/test_stubs.py",
        "tests/test_repr.py", "tests/test_printing.py"]


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
    """Every live function, by the file that it stands in."""
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
