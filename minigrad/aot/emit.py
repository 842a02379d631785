"""Emitting: a program as one Python function that a debugger can show."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from itertools import count
from math import isfinite
from typing import Any

import numpy as np

from ..backend import numpy_backend
from .buffers import last_uses, taken_over
from .direct import expression, is_addmm, is_elementwise, ufunc_of
from .program import Step, Value, values_among

_numbers = count(1)

#: The module of emitted functions, which are the package's to a traceback.
MODULE = "minigrad.aot.emitted"


def emit(name: str, inputs: Sequence[Value], steps: Sequence[Step],
         outputs: Sequence[Value | None]) -> Callable[..., tuple[Any, ...]]:
    """Return the function that runs steps on arrays; it returns a tuple of the outputs.

    Its source is in `linecache`, under a file name like <compiled forward 1>.
    """
    writer = Writer(inputs, steps, outputs)
    source = writer.source(name)
    file = f"<compiled {name} {next(_numbers)}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    exec(compile(source, file, "exec"), writer.names)  # the source was written here
    function: Callable[..., tuple[Any, ...]] = writer.names[name]
    return function


class Writer:
    """Writes the source of a program, and collects the names that it uses."""

    def __init__(self, inputs: Sequence[Value], steps: Sequence[Step],
                 outputs: Sequence[Value | None]) -> None:
        self.inputs, self.steps, self.outputs = inputs, steps, outputs
        self.taken_over = taken_over(steps, outputs, is_elementwise)  # by the id of a step
        self.names: dict[str, Any] = {"__name__": MODULE, "xp": numpy_backend,
                                      "as_array": numpy_backend.as_array,
                                      "matmul": numpy_backend.matmul,
                                      "add_reduce": numpy_backend.sum,
                                      "maximum_reduce": np.maximum.reduce}
        self.own: dict[int, str] = {}  # names of functions and of plain arguments, by id
        self.local: dict[int, str] = {}  # names of Values, by id
        self.taken = {"xp", "as_array", "matmul", "add_reduce", "maximum_reduce", "map"}

    def source(self, name: str) -> str:
        """Return the source of the function."""
        arguments = ", ".join(map(self.local_name, self.inputs))
        lines = [f"def {name}({arguments}):"]
        dying = last_uses(self.steps, self.outputs)
        for step, dead in zip(self.steps, dying, strict=True):
            lines += ["    " + line for line in self.statements(step)]
            if dead:
                lines.append(f"    del {', '.join(map(self.local_name, dead))}")
        returned = ", ".join("None" if v is None else self.reference(v) for v in self.outputs)
        lines.append(f"    return ({returned}{',' * (len(self.outputs) == 1)})")
        return "\n".join(lines) + "\n"

    def statements(self, step: Step) -> list[str]:
        """Return the statements of a step."""
        targets = ", ".join(map(self.local_name, step.outputs))
        arguments = list(map(self.argument, step.arguments))
        if is_addmm(step):
            return [f"{targets} = matmul({arguments[1]}, {arguments[2]})",
                    f"{targets} += {arguments[0]}"]
        call = self.call(step, arguments)
        if not step.outputs:
            return [call]
        return [f"{targets}{',' * (step.several and len(step.outputs) == 1)} = {call}"]

    def call(self, step: Step, arguments: list[str]) -> str:
        """Return the expression that computes a step's results."""
        if (ufunc := ufunc_of(step)) is not None:
            name, operands = ufunc
            buffer = self.taken_over.get(id(step))
            out = "" if buffer is None else f", out={self.local_name(buffer)}"
            function = self.global_name(getattr(numpy_backend, name), name)
            call = f"{function}({', '.join(arguments[:operands])}{out})"
        elif (call := expression(step, arguments) or "") == "":
            called = self.global_name(step.call, step.name)
            call = f"{called}({', '.join(['xp', *arguments])})"
        if step.scalar:
            return f"map(as_array, {call})" if step.several else f"as_array({call})"
        return call

    def argument(self, argument: Any) -> str:
        """Return the expression for an argument of a step."""
        if type(argument) is Value:
            return self.reference(argument)
        if isinstance(argument, list) or (isinstance(argument, tuple)
                                          and any(values_among(argument))):
            inside = ", ".join(map(self.argument, argument))
            return f"[{inside}]" if isinstance(argument, list) else f"({inside},)"
        if is_literal(argument):
            return repr(argument)
        return self.global_name(argument, "argument")

    def reference(self, value: Value) -> str:
        """Return the name of a Value, or of the constant."""
        if value.array is None:
            return self.local_name(value)
        array = value.array
        return self.global_name(array if type(array) is np.ndarray else np.asarray(array),
                                value.name)

    def local_name(self, value: Value) -> str:
        """Return the name of a Value that is an argument or a result of a step."""
        if id(value) not in self.local:
            self.local[id(value)] = self.unused(value.name)
        return self.local[id(value)]

    def global_name(self, thing: Any, wanted: str) -> str:
        """Return the name of a function, a constant or a plain argument."""
        if id(thing) not in self.own:
            name = self.own[id(thing)] = self.unused("_" + wanted)
            self.names[name] = thing  # which also keeps it alive, so that its id stays its own
        return self.own[id(thing)]

    def unused(self, wanted: str) -> str:
        """Return a name that is not used yet, if needed with the first free number."""
        name, numbers = wanted, count(1)
        while name in self.taken:
            name = f"{wanted}_{next(numbers)}"
        self.taken.add(name)
        return name


def is_literal(argument: Any) -> bool:
    """Return whether the text of an argument is an expression for it."""
    if type(argument) is tuple:
        return all(map(is_literal, argument))
    return argument is None or type(argument) in (bool, int, str) or (
        type(argument) is float and isfinite(argument))
