# Stage 15, Compiling: the backward pass as a program: the exercise for minigrad/aot/trace/steps.py.
# Made by `minigrad dev build`. The lesson is lessons/15_compile.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 15
# docs/en/glossary.md explains the names used inside the package.

"""The steps of a recording, and the Value that each traced array has at this point."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...backend import numpy_backend
from ...frames import user_frame
from ..program import Step, Value, values_among
from .arrays import TracedArray
from .memory import (
    Memory,
    geometry,
    owner_of,
    part_of,
    private_copy,
    stored,
    with_part,
)
from .refusal import Unrecordable

Array = Any


class Steps:
    """The steps so far, the Values in them, and the memories that traced arrays share."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.written: list[Memory] = []  # inputs that were written to, in this order
        self.memories: dict[int, Memory] = {}  # by the id of the array that owns the memory
        #: Arrays that were read again after a write, with their Values and versions before that.
        self.read_again: list[tuple[TracedArray, Value, int]] = []
        self.counts: dict[str, int] = {}  # of names
        self.refused: Unrecordable | None = None

    # ---------------------------------------------------------------- steps

    def add(self, name: str, call: Callable[..., Any], arguments: list[Any],
            results: list[Array], **facts: Any) -> list[Value]:
        """Append a step; return a Value for each of its results, a constant if possible.

        `facts` are further attributes of the step, such as `random`.
        """
        # 15.1 Steps and constants (about 10 lines)
        # `add` records a call that has run, and returns a Value for each result. `known`
        # returns an array's numbers to code that branches on them. Let x be an input, c a
        # constant and r a result.
        #   add("mul", f, [x, 2.0], [r])  -> [mul], after appending the step mul = f(x, 2.0)
        #   add("mul", f, [c, 2.0], [r])  -> [mul] with mul.array equal to r, without a step
        #   known(array, what)            -> c.array, if the Value of the array is c
        #   known(array, what)            -> Unrecordable, if it's x
        # Mind:
        # - If all operands are constants, also those in lists, the results are constants too.
        #   But a call that's random or has no operands is always a step.
        # - `known` looks at the Value after the writes so far.
        # Use: `values_among`, `self.value`, `self.read(array)`, `self.refuse(what)`.
        raise NotImplementedError("15.1 Steps and constants is yours to write")

    def known(self, array: TracedArray, what: str) -> Array:
        """Return the array of a constant, since every call shares it; refuse for any other."""
        # 15.1 Steps and constants: see the task at `Steps.add`.
        raise NotImplementedError("15.1 Steps and constants is yours to write")

    # ---------------------------------------------------------------- reading and writing

    def read(self, array: TracedArray) -> Value:
        """Return the Value of a traced array, after the writes to its memory so far."""
        # 15.2 Writes become values (about 12 lines)
        # A program has no writes. Instead, `replace` gives a memory a new Value, and `write`
        # makes `result` the new value of `target`. `read` returns the current Value of an
        # array. Let v be a view of x, and r another array.
        #   write(v, r), then read(x)  -> with_part(x, r, ...)
        #   write(x, r), then read(v)  -> part_of(r, ...), as a new step
        #   read(v) once more          -> the same Value, without a step
        #   replace(x.memory, value)   -> x.memory.whole is value, its version rises by 1
        # Mind:
        # - `write` also writes the numbers to `target.inner`.
        # - `replace` notes an input's memory in `self.written` once, and refuses it if it's a
        #   part (`is_part`).
        # Use: `self.part`, `self.renew`, `self.with_part`, `self.refuse(what)`.
        raise NotImplementedError("15.2 Writes become values is yours to write")

    def write(self, target: TracedArray, result: TracedArray) -> None:
        """Make a result the value of the target, and of every array that shares its memory."""
        # 15.2 Writes become values: see the task at `Steps.read`.
        raise NotImplementedError("15.2 Writes become values is yours to write")

    def replace(self, memory: Memory, value: Value) -> None:
        """Give a memory a new value, and note in `written` if it belongs to an input."""
        # 15.2 Writes become values: see the task at `Steps.read`.
        raise NotImplementedError("15.2 Writes become values is yours to write")

    def renew(self, array: TracedArray, value: Value) -> None:
        """Make a Value the one of an array, up to date with its memory; `go_back` undoes this."""
        self.read_again.append((array, array.value, array.version))
        array.value, array.version = value, array.memory.version

    def part(self, memory: Memory, array: Array) -> Value:
        """Return the current Value of the part of a memory that an array covers."""
        place = geometry(array, memory.array)
        if place == geometry(memory.array, memory.array):
            return memory.whole
        (value,) = self.add("part_of", part_of, [memory.whole, *place], [array], view=True, cost=0)
        return value

    def with_part(self, memory: Memory, array: Array, value: Value) -> Value:
        """Return the Value that a memory has once the part that an array covers is `value`."""
        place, whole = geometry(array, memory.array), memory.array
        if place != geometry(whole, whole):
            (value,) = self.add("with_part", with_part, [memory.whole, value, *place], [whole])
        elif (value.shape, value.dtype, value.strides) != (whole.shape, whole.dtype, whole.strides):
            (value,) = self.add("stored", stored, [memory.whole, value], [whole])
        return value

    def mark(self) -> tuple[int, int, Unrecordable | None]:
        """Return what `go_back` needs to forget everything that is recorded from here on."""
        return len(self.steps), len(self.read_again), self.refused

    def go_back(self, mark: tuple[int, int, Unrecordable | None]) -> None:
        """Forget the steps since a mark, and that arrays were read again in them."""
        steps, read, self.refused = mark
        for array, value, version in reversed(self.read_again[read:]):
            array.value, array.version = value, version
        del self.steps[steps:], self.read_again[read:]

    # ---------------------------------------------------------------- values and traced arrays

    def value(self, name: str, array: Array, constant: bool = False) -> Value:
        """Return a new Value for an array; copy a constant, because writes may follow."""
        made = Value(self.name(name), tuple(array.shape), array.dtype, tuple(array.strides))
        if constant:
            made.array, _ = private_copy(array)
        return made

    def name(self, wanted: str) -> str:
        """Return a name that no other value has, such as mul, mul_1 and mul_2."""
        wanted = re.sub(r"\W", "_", wanted) or "value"
        if keyword.iskeyword(wanted) or wanted[0].isdigit():
            wanted = "_" + wanted
        count = self.counts.get(wanted, 0)
        self.counts[wanted] = count + 1
        return self.name(f"{wanted}_{count}") if count else wanted

    def input(self, array: Array, name: str) -> TracedArray:
        """Return the traced array of an input, with its shape and strides but in other memory."""
        private, is_part = private_copy(array)
        value = self.value(name, private)
        memory = self.memories[id(owner_of(private))] = Memory(private, value, True, is_part)
        return TracedArray(private, memory, value)

    def traced(self, array: Array, value: Value) -> TracedArray:
        """Return the traced array of a new value, in the memory that its array shares."""
        owner = owner_of(array)
        memory = self.memories.get(id(owner))
        if memory is None:
            memory = self.memories[id(owner)] = Memory(owner, value)
            if owner is not array and geometry(owner, owner) != geometry(array, owner):
                memory.array = array  # the rest of the memory cannot be reached
        return TracedArray(array, memory, value)

    def read_all(self, arguments: Sequence[Any]) -> list[Any]:
        """Return arguments with Values in place of arrays; a bare array becomes a constant."""
        return [self.read(a) if type(a) is TracedArray
                else self.value("constant", a, constant=True) if type(a) is np.ndarray
                else self.read_all(a) if type(a) is list else a for a in arguments]

    def call(self, name: str, function: Callable[..., Any], arguments: list[Any]) -> TracedArray:
        """Call a function of one result on arrays, and record that."""
        array = function(numpy_backend, *map(inner, arguments))
        (value,) = self.add(name, function, self.read_all(arguments), [array])
        return self.traced(array, value)

    def refuse(self, what: str) -> Unrecordable:
        """Return the error for something that a program cannot do; it names the user's line."""
        frame, _ = user_frame()
        error = Unrecordable(f"torch.compile: {what}, at "
                             f"{frame.f_code.co_filename}:{frame.f_lineno}")
        self.refused = self.refused or error
        return error


def inner(value: Any) -> Any:
    """Return the real array of a traced one; do the same inside a list."""
    if type(value) is TracedArray:
        return value.inner
    return [inner(each) for each in value] if type(value) is list else value
