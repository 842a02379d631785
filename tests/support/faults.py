"""Faults at every place of a program: Ctrl-C where Python looks for it, or a call out of memory."""

from __future__ import annotations

import dis
import linecache
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType

import minigrad

PACKAGE = str(Path(minigrad.__file__).parent)
#: `MINIGRAD_ALL_INTERRUPTS=1` tries every place, and not only some.
ALL = os.environ.get("MINIGRAD_ALL_INTERRUPTS") == "1"
#: Without lines Python 3.13 and 3.14 trace few instructions.
LINES_TOO = sys.version_info >= (3, 13)
#: Python looks for signals where a function begins, after a call, and where a loop goes back.
LOOKS = ("RESUME", "CALL", "CALL_FUNCTION_EX", "CALL_KW")
#: What may want memory, and has done nothing where it gets none.
ALLOCATES = ("CALL", "CALL_FUNCTION_EX", "CALL_KW", "BINARY_OP", "STORE_SUBSCR")
#: Entering and leaving a `with` of a manager written in Python is left out: there Python itself
#: can lose the exit, here as in PyTorch.
MANAGERS = ("__enter__", "__exit__")
#: Calls that put back what was there, leaving a `with` among them, are taken not to want memory.
RESTORES = re.compile(r"\.(set|reset|leave|remove|pop|release)\(|^ *with ")


@cache
def interruptible(code: CodeType) -> frozenset[int]:
    """Return the offsets of the instructions before which Python has looked for signals.

    From 3.14 on it looks between `__enter__`, which LOAD_SPECIAL fetches, and the block of a
    `with`: there the exit is lost, as in MANAGERS.
    """
    found, fetched, before = set(), "", ""
    for each in dis.get_instructions(code):
        if before in LOOKS and fetched != "LOAD_SPECIAL":
            found.add(each.offset)
        if each.opname == "JUMP_BACKWARD":
            found.add(each.argval)
        fetched, before = before, each.opname
    return frozenset(found)


@cache
def allocating(code: CodeType) -> frozenset[int]:
    """Return the offsets of the instructions that may run out of memory."""
    return frozenset(each.offset for each in dis.get_instructions(code)
                     if each.opname in ALLOCATES and not RESTORES.search(line_of(code, each)))


@cache
def lines_of(path: str) -> list[str]:
    """Return the lines of a file of the package, or of a generated text."""
    return linecache.getlines(path)


def line_of(code: CodeType, instruction: dis.Instruction) -> str:
    """Return the line of an instruction."""
    number = instruction.positions.lineno if instruction.positions else None
    return "" if number is None else lines_of(code.co_filename)[number - 1]


#: Kind of fault -> what is raised, and where.
KINDS = {"interrupt": (KeyboardInterrupt, interruptible), "memory": (MemoryError, allocating)}


def numbers(program: Callable[[], object], kind: str, at_most: int) -> range:
    """Return the numbers of places to try in a program: all, or about `at_most`, evenly spaced.

    The last one is beyond the program's end.
    """
    total = run(program, 0, kind)[1]
    assert total > 30, "too few places for the trace to have worked"
    return range(1, total + 2, 1 if ALL else total // at_most + 1)


def fault(program: Callable[[], object], number: int, kind: str = "interrupt") -> bool:
    """Run a program with a fault at the place of that number; tell whether it came there."""
    return run(program, number, kind)[0]


def run(program: Callable[[], object], number: int, kind: str) -> tuple[bool, int]:
    """Run a program with a fault at one place; tell whether it came there, and how many it saw."""
    error, places = KINDS[kind]
    count, reached = 0, False

    def trace(frame, event, _):
        nonlocal count, reached
        around = [frame.f_code, frame.f_back.f_code,
                  frame.f_back.f_back.f_code if frame.f_back.f_back else frame.f_code]
        if (not frame.f_code.co_filename.startswith(PACKAGE)
                or any(code.co_name in MANAGERS for code in around)):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = LINES_TOO, True
        if event == "opcode" and frame.f_lasti in places(frame.f_code):
            count += 1
            if count == number:
                reached = True
                sys.settrace(None)
                raise error
        return trace

    before = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # or 3.12 traces no instruction the first time
    sys.settrace(trace)
    try:
        program()
    except error:
        if not reached:
            raise
    finally:
        sys.settrace(before)
    return reached, count
