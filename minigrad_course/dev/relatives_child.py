"""Searches, in a separate process, for relatives of an exercise: functions that do its work.

It is the `child.py` of a bundle in which the exercise's functions begin with a question to this
module (relatives.py).  It imports everything that a graded process can import, and then runs the
exercise's probes once for each function that it finds, with the exercise delegated to it.

NOTE [In the first call]
    To run a probe for each of some ten thousand functions would take minutes.  So the first call of
    the exercise's function in a probe tries them all: it calls each with the arguments that it has
    received, and keeps each one that returns the kind of value the exercise returns there.  Only
    these are then delegated to, in all probes.

NOTE [In forks]
    A function may end the process, wait forever, or change the package for the next one, so they
    are tried in a fork.  After each call that returns, the exercise's own function must still
    answer.  If it does not, or if the fork ended, another fork continues behind this function, and
    later searches leave it out, because a function that breaks the package can't be an answer.
"""

import contextlib
import faulthandler
import importlib
import json
import numbers
import os
import pkgutil
import random
import signal
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

#: Standard modules whose functions reach beyond the process or wait for something, so they don't
#: compute the results of exercises.
OUTSIDE = frozenset({
    "__hello__", "__main__", "__phello__", "_thread", "antigravity", "asyncio", "cgi", "cgitb",
    "concurrent", "ctypes", "curses", "ensurepip", "faulthandler", "ftplib", "getpass", "http",
    "idlelib", "imaplib", "lib2to3", "mailbox", "msvcrt", "multiprocessing", "nntplib", "nt",
    "os", "pdb", "poplib", "posix", "pty", "pydoc", "pydoc_data", "readline", "relatives",
    "runpy", "sched", "select", "selectors", "shutil", "signal", "site", "smtpd", "smtplib",
    "socket", "socketserver", "subprocess", "telnetlib", "termios", "test", "this", "threading",
    "tkinter", "tty", "turtle", "turtledemo", "urllib", "venv", "webbrowser", "winreg",
    "wsgiref", "xmlrpc", "zipapp"})
#: Packages whose modules are all imported; other packages load the modules that they need.
WHOLE = ("minigrad", "numpy")
#: The most seconds for one call, and for one that never returns to Python: this ends its fork.
SECONDS, ENDLESS = 0.2, 3.0


class TooLong(BaseException):
    """Ends a function that takes too long."""


def target_of(symbol: str) -> Callable[..., Any] | None:
    """Return the function to which a function of the exercise delegates its work, if any."""
    hook: Any = sys.modules["relatives"]
    hook.called.add(symbol)
    return hook.target if symbol == hook.symbol else None


# ------------------------------------------------------------------ modules and functions


def _raises(error: type[Exception]) -> Callable[..., Any]:
    def body(*_: Any, **__: Any) -> Any:
        raise error

    return body


def trivial() -> list[tuple[str, Any]]:
    """Return bodies that do no work: each returns a constant or an argument, or raises."""
    values: tuple[Any, ...] = (None, True, False, 0, 1, -1, 1.0, "", (), [], {}, NotImplemented)
    found: list[tuple[str, Any]] = [
        (f"return {value!r}", lambda *_, value=value, **__: type(value)(value) if isinstance(
            value, list | dict) else value) for value in values]
    found += [(f"return argument {at}", lambda *args, at=at, **_: args[at])
              for at in (0, 1, 2, -1)]
    found += [(f"raise {error.__name__}", _raises(error)) for error in (
        TypeError, ValueError, RuntimeError, IndexError, KeyError, AttributeError,
        NotImplementedError, StopIteration)]
    return [*found, ("return all arguments", lambda *args, **_: args)]


def importable() -> list[str]:
    """Return the names of all top-level modules that this process can import."""
    own = Path(os.__file__).parent
    found = {each.name for each in pkgutil.iter_modules(
        [path for path in sys.path if Path(path) not in (own, own / "lib-dynload")])}
    return sorted(found | set(sys.stdlib_module_names))


def modules(only: Sequence[str] = ()) -> Iterator[types.ModuleType]:
    """Import the modules whose functions are tried, and yield them."""
    if only:
        yield from map(importlib.import_module, only)
        return
    for name in importable():
        if name in OUTSIDE or name.startswith("_"):
            continue
        try:
            found = importlib.import_module(name)
        except BaseException:  # it isn't for this system, or doesn't like to be imported
            continue
        if name in WHOLE:
            for each in pkgutil.walk_packages(found.__path__, f"{name}.", lambda _: None):
                parts = each.name.split(".")
                if not {"tests", "__main__", "conftest", "f2py"} & set(parts):
                    with contextlib.suppress(BaseException):
                        importlib.import_module(each.name)
    for name, module in sorted(sys.modules.items()):
        top = name.partition(".")[0]
        if top not in OUTSIDE and not top.startswith("_") and isinstance(module, types.ModuleType):
            yield module


def functions(given: Sequence[types.ModuleType]) -> list[tuple[str, Any]]:
    """Return the functions of modules, and of classes in them, each once, with their names.

    They include minigrad's private functions, since an answer can call these as well.
    """
    found: dict[int, tuple[str, Any]] = {}

    def add(module: str, name: str, value: Any, special: bool = False) -> None:
        is_special = name.startswith("__") and name.endswith("__")
        is_private = name.startswith("_") and not is_special and not module.startswith("minigrad")
        if callable(value) and not is_private and special >= is_special:
            found.setdefault(id(value), (f"{module}.{name}", value))

    for module in given:
        for name, value in list(vars(module).items()):
            add(module.__name__, name, value)
            if isinstance(value, type) and value.__module__ == module.__name__:
                for inner, method in list(vars(value).items()):
                    function = getattr(method, "__func__", method)
                    add(module.__name__, f"{name}.{inner}" if not inner.startswith("__") else inner,
                        getattr(function, "fget", function), module.__name__.startswith("minigrad"))
    return [*found.values()]


# ------------------------------------------------------------------ one exercise


class Asking:
    """The probes of an exercise, with the expected answers."""

    def __init__(self, jobs: list[list[Any]], expected: list[Any]) -> None:
        self.probes, self.graded = (importlib.import_module(each)
                                    for each in ("probes", "grading_child"))
        self.same = importlib.import_module("answers").same
        self.hook: Any = sys.modules["relatives"]
        self.expected = {tuple(job): each for job, each in zip(jobs, expected, strict=True)}

    def is_right(self, job: tuple[str, int]) -> bool:
        """Ask a probe; return whether the answer is right."""
        name, seed = job
        try:
            answer = {"value": self.graded.plain(getattr(self.probes, name)(random.Random(seed)))}
        except TooLong:
            return False
        except BaseException as error:
            answer = {"raises": type(error).__name__}
        return bool(self.same(answer, self.expected[job]))

    def plan(self) -> dict[str, list[tuple[str, int]]]:
        """Return the jobs that call each function of the exercise, the quickest first."""
        found: dict[str, list[tuple[float, tuple[str, int]]]] = {}
        for job in self.expected:
            self.hook.called.clear()
            begun = time.perf_counter()
            if not self.is_right(job):
                raise RuntimeError(f"the package's answer to {job[0]} is wrong here")
            took = time.perf_counter() - begun + 9 * ("raises" in self.expected[job])
            for symbol in self.hook.called:
                found.setdefault(symbol, []).append((took, job))
        return {symbol: [job for _, job in sorted(each)] for symbol, each in found.items()}

    def delegated(self, symbol: str, function: Any, jobs: Sequence[tuple[str, int]]) -> bool:
        """Return whether the probes are answered if the exercise hands its work on."""
        self.hook.symbol, self.hook.target = symbol, function
        try:
            return all(self.is_right(job) for job in jobs)
        finally:
            self.hook.symbol = self.hook.target = None


class Forks:
    """Tries numbered functions in forks, and remembers the functions that break one."""

    def __init__(self) -> None:
        self.breaking: set[int] = set()
        self.now = -1
        self.file = tempfile.TemporaryFile()  # noqa: SIM115  # for the number, which a parent reads

    def right(self, numbers: Sequence[int], seconds: float, tried: Callable[[int], bool],
              is_well: Callable[[], bool]) -> list[int]:
        """Return the numbers for which `tried` returns true in time, if they break no fork."""
        found: list[int] = []
        left = [each for each in numbers if each not in self.breaking]
        while left:
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reading)
                self._try(left, seconds, tried, is_well, writing)
            os.close(writing)
            with open(reading, "rb") as lines:
                written = lines.read().split()
            os.waitpid(child, 0)
            found += [int(each) for each in written if each != b"done"]
            if written[-1:] == [b"done"]:
                break
            last = int.from_bytes(os.pread(self.file.fileno(), 8, 0), "little")
            self.breaking.add(last)
            left = left[left.index(last) + 1 :]
        return found

    def _try(self, numbers: Sequence[int], seconds: float, tried: Callable[[int], bool],
             is_well: Callable[[], bool], writing: int) -> None:
        """Try numbers, write the right ones, and end the process."""
        before, nowhere = -1, open(os.devnull, "w")  # noqa: SIM115  # until the process ends

        def tick(*_: Any) -> None:
            nonlocal before
            faulthandler.dump_traceback_later(ENDLESS, exit=True, file=nowhere)
            is_late, before = self.now == before, self.now
            if is_late:
                raise TooLong

        kept = {writing, nowhere.fileno(), self.file.fileno()}
        for each in {*range(3, 64)} - kept:  # a function may write to any number
            with contextlib.suppress(OSError):
                os.close(each)
        try:
            faulthandler.dump_traceback_later(ENDLESS, exit=True, file=nowhere)
            signal.signal(signal.SIGALRM, tick)
            signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
            for number in numbers:
                self.now = number
                os.pwrite(self.file.fileno(), number.to_bytes(8, "little"), 0)
                try:
                    if not tried(number):
                        continue
                except BaseException:
                    continue
                if not is_well():
                    return
                os.write(writing, b"%d\n" % number)
            os.write(writing, b"done\n")
        finally:
            os._exit(0)


class First(BaseException):
    """Ends a probe after the first call of a function of the exercise."""


def labels(function: Callable[..., Any], args: Any, kwargs: Any) -> set[str]:
    """Call a function, and return names for the kind of value that it returns, or for its error."""
    try:
        value = function(*args, **kwargs)
    except Exception as error:
        return {f"raises {type(error).__name__}"}
    made = {f"{each.__module__}.{each.__qualname__}" for each in type(value).__mro__[:-1]}
    made |= {"number"} if isinstance(value, numbers.Number) else set()
    if isinstance(value, Iterable) and type(value).__module__ in ("builtins", "collections"):
        made.add("iterable")
    return made


def in_first_call(asking: Asking, forks: Forks, symbol: str, job: tuple[str, int],
                  known: Sequence[Any]) -> list[int]:
    """Try functions in the first call of an exercise's; return which behave as it does there."""
    kept: list[int] = []

    def first(*args: Any, **kwargs: Any) -> Any:
        frame = sys._getframe(1)
        cells = tuple(types.CellType(frame.f_locals[each]) for each in frame.f_code.co_freevars)
        own = types.FunctionType(frame.f_code, frame.f_globals, None, None, cells)
        asking.hook.symbol = None
        wanted = set(_in_fork(lambda: [*labels(own, args, kwargs)]))
        # in a mode that is open here, the probe itself may have another answer
        is_steady = _in_fork(lambda: asking.is_right(job))
        kept[:] = forks.right(
            range(len(known)), SECONDS,
            lambda number: bool(wanted & labels(known[number], args, kwargs)),
            lambda: not is_steady or asking.is_right(job))
        raise First

    asking.delegated(symbol, first, [job])
    return kept


def _in_fork(function: Callable[[], Any]) -> Any:
    """Call a function in a fork, whose changes are lost, and return its result."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, json.dumps(function()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as lines:
        text = lines.read()
    os.waitpid(child, 0)
    return json.loads(text)


def relatives(asking: Asking, known: Sequence[tuple[str, Any]],
              report: Callable[[dict[str, Any]], None]) -> None:
    """Report the functions that answer the probes of each function of the exercises."""
    forks, every = Forks(), [function for _, function in known]
    for symbol, jobs in asking.plan().items():
        kept = in_first_call(asking, forks, symbol, jobs[0], every)
        begun = time.perf_counter()
        asking.delegated("", None, jobs)
        seconds = 1 + 3 * (time.perf_counter() - begun)
        right = forks.right(kept, seconds, partial(_answers, asking, symbol, jobs, every),
                            partial(asking.is_right, jobs[0]))
        report({"symbol": symbol, "kept": len(kept), "found": [known[each][0] for each in right]})


def _answers(asking: Asking, symbol: str, jobs: Sequence[tuple[str, int]],
             functions: Sequence[Any], number: int) -> bool:
    return asking.delegated(symbol, functions[number], jobs)


def main() -> None:
    """Read the job, and write the relatives as lines of JSON."""
    here = Path(__file__).resolve().parent
    sys.path[:0] = [str(here / "site"), str(here)]
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.environ["MINIGRAD_GENERIC"] = "1"
    if (beside := here / "beside.json").is_file():
        os.environ["MINIGRAD_BESIDE"] = str(beside)
    hook: Any = types.ModuleType("relatives")
    hook.target_of, hook.called, hook.symbol, hook.target = target_of, set(), None, None
    sys.modules["relatives"] = hook
    warnings.simplefilter("ignore")

    def report(line: dict[str, Any]) -> None:
        out.write(json.dumps(line) + "\n")
        out.flush()

    job = importlib.import_module("grading_child").read_job()
    report({"importable": importable()})
    asking = Asking(job["jobs"], job["expected"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if job["jobs"]:
        given = [*modules(job["modules"])]
        known = [*trivial(), *functions(given)]
        report({"modules": len(given), "functions": len(known)})
        relatives(asking, known, report)
    out.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
