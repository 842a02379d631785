# Stage 15, Compiling: the backward pass as a program: the solution for minigrad/aot/program.py.
# Made by `minigrad dev build`. The lesson is lessons/15_compile.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""A program: a list of steps on arrays, each of which is one call of an op's forward.

>>> from minigrad import ones
>>> from minigrad.aot.trace.record import record
>>> recorded = record(lambda x: (x * 2).sum(), (ones(3),))
>>> print(recorded.program)
def program(x):
    mul = F.mul(x, 2.0)
    sum = F.sum(mul, None)
    return (sum,)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any


@dataclass(eq=False, slots=True)
class Value:
    """One array of a program: an input, a constant or a result of a step."""

    name: str
    shape: tuple[int, ...]
    dtype: Any
    strides: tuple[int, ...]
    array: Array = None  # the constant; `None` for anything else

    @property
    def nbytes(self) -> int:
        """The size of the elements in bytes."""
        return int(np.prod(self.shape, dtype=np.int64)) * int(self.dtype.itemsize)

    def __repr__(self) -> str:
        return self.name


@dataclass(eq=False, slots=True)
class Step:
    """One call: `outputs = call(*arguments)`, and arguments are Values, lists or plain values."""

    name: str  # the op's name, for the printed program
    call: Callable[..., Any]
    arguments: list[Any]
    outputs: list[Value]
    op: str = ""  # the name of the op's class, if the step is an op's forward
    several: bool = False  # whether the call returns a list of arrays
    scalar: bool = False  # whether the call returned a NumPy scalar instead of an array
    random: bool = False  # whether it draws random numbers, so that it must run exactly once
    view: bool = False  # whether the result shares the memory of an argument
    cost: int = 9  # of computing it again: 0 for a view, 1 for a single pass, up to 9 for too much

    def inputs(self) -> Iterator[Value]:
        """Yield the Values among the arguments."""
        return values_among(self.arguments)

    def __str__(self) -> str:
        names = ", ".join(map(str, self.outputs))
        about = getattr(self.call, "__dict__", {})
        place = "F." if self.op else "xp." if {"calls", "reduces"} & about.keys() else ""
        return f"{names} = {place}{self.name}({', '.join(map(shown, self.arguments))})"


def values_among(arguments: Sequence[Any]) -> Iterator[Value]:
    """Yield the Values in a list of arguments, and in the lists inside it."""
    for each in arguments:
        if type(each) is Value:
            yield each
        elif isinstance(each, (list, tuple)):
            yield from values_among(each)


def shown(argument: Any) -> str:
    """Return an argument as a printed program shows it.

    >>> shown(np.zeros((2, 3)))
    'array(2, 3)'
    """
    if isinstance(argument, np.ndarray):
        return f"array{argument.shape}"
    if isinstance(argument, (list, tuple)):
        inside = ", ".join(map(shown, argument))
        return f"[{inside}]" if isinstance(argument, list) else (
            f"({inside},)" if len(argument) == 1 else f"({inside})")
    if type(argument) is Value:
        constant = argument.array
        return argument.name if constant is None or constant.ndim else repr(constant.item())
    return repr(argument)


@dataclass(eq=False, slots=True)
class Program:
    """Steps that turn `inputs` into `outputs`; an output may be `None`."""

    inputs: list[Value]
    steps: list[Step]
    outputs: list[Value | None]

    def __str__(self) -> str:
        lines = [f"    {step}" for step in self.steps]
        outputs = ", ".join(map(str, self.outputs)) + "," * (len(self.outputs) == 1)
        return "\n".join([f"def program({', '.join(map(str, self.inputs))}):", *lines,
                          f"    return ({outputs})"])


def live_steps(steps: Sequence[Step], outputs: Sequence[Value | None]) -> list[Step]:
    """Return the steps that the outputs depend on, and the steps that draw random numbers.

    Random steps stay, because later draws have to receive the same numbers as in eager mode.
    """
    needed, live = {id(value) for value in outputs}, []
    for step in reversed(steps):
        if step.random or any(id(value) in needed for value in step.outputs):
            needed.update(map(id, step.inputs()))
            live.append(step)
    return live[::-1]


def shared_steps(steps: Sequence[Step]) -> tuple[list[Step], dict[int, Value]]:
    """Drop each step that repeats an earlier one; also return what replaces its outputs, by id.

    The kept steps are the given ones, whose arguments are changed to values of kept steps.
    """
    replaced: dict[int, Value] = {}
    first: dict[Any, Step] = {}
    for step in steps:
        step.arguments = replace_values(step.arguments, replaced)
        earlier = first.setdefault(step if step.random else key_of(step), step)
        if earlier is not step:
            replaced.update(zip(map(id, step.outputs), earlier.outputs, strict=True))
    return list(first.values()), replaced


def replace_values(arguments: Any, replaced: dict[int, Value]) -> Any:
    """Return arguments with some Values replaced, also inside lists."""
    if type(arguments) is Value:
        return replaced.get(id(arguments), arguments)
    if type(arguments) in (list, tuple):
        return type(arguments)(replace_values(each, replaced) for each in arguments)
    return arguments


def key_of(step: Step) -> Any:
    """Return a key that two steps share if they make the same call.

    If an argument has no hash, the key is the step itself, which no other step shares.
    """
    key = step.call, frozen(step.arguments)
    try:
        hash(key)
    except TypeError:
        return step
    return key


def frozen(argument: Any) -> Any:
    """Return a key that two arguments share only if a step treats them alike.

    The key has a hash even if the argument is a list or an array.
    """
    if type(argument) is Value and argument.array is not None and argument.array.ndim == 0:
        return argument.dtype, argument.array.tobytes()
    if isinstance(argument, (Value, np.ndarray)):
        return id(argument)
    if isinstance(argument, (list, tuple)):
        return type(argument), tuple(map(frozen, argument))
    if isinstance(argument, (float, complex)):
        return type(argument), repr(argument)  # 0.0 is not -0.0, and nan is nan
    return type(argument), argument
