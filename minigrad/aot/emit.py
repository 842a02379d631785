"""Emitting: a program as one Python function that a debugger can show.

NOTE [Forwards as single calls]
    A forward checks its arguments and chooses between cases.  In a program, the guards have fixed
    shapes, strides and dtypes, so that the checks have passed and the case is known.  Each function
    in `DIRECT` returns the expression that the forward would have evaluated, or `None` for any
    other case.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np

from ..backend import numpy_backend
from .memory import last_uses, taken_over
from .program import Step, Value, values_among

_numbers = count(1)

#: The module of emitted functions: NumPy's warnings are silenced in the package's modules.
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


# -------------------------------------------------------------------- forwards as single calls

Names = Sequence[str]


def ufunc_of(step: Step) -> tuple[str, int] | None:
    """Return the ufunc that is all that a step calls, and the number of its operands."""
    name = vars(step.call).get("calls") if hasattr(step.call, "__dict__") else None
    if name is None and step.op in ("Add", "Sub") and step.arguments[2:] == [1]:
        name = {"Add": "add", "Sub": "subtract"}[step.op]
        if not all(type(v) is Value and v.dtype.kind == "f" for v in step.arguments[:2]):
            return None
    function = None if name is None else getattr(numpy_backend, name)
    return (name, function.nin) if isinstance(function, np.ufunc) and name else None


def t(step: Step, names: Names) -> str:
    """Return the transpose of a matrix."""
    return f"{names[0]}.T"


def transpose(step: Step, names: Names) -> str | None:
    """Return an array with two dimensions swapped."""
    array, one, other = step.arguments
    return f"{names[0]}.swapaxes({one}, {other})" if array.shape else None


def permute(step: Step, names: Names) -> str:
    """Return an array with its dimensions in another order."""
    return f"{names[0]}.transpose({tuple(step.arguments[1])})"


def view(step: Step, names: Names) -> str | None:
    """Return a view with another shape of an array whose elements are in C order."""
    array, shape = step.arguments[0], step.outputs[0].shape
    plain = in_order(array) and (1 not in array.shape or 1 not in shape)
    return f"{names[0]}.reshape({shape})" if plain else None


def select(step: Step, names: Names) -> str:
    """Return one index along a dimension."""
    _, dim, index = step.arguments
    dim %= len(step.arguments[0].shape)
    return f"{names[0]}[{':, ' * dim}{index}, ...]"


def mm(step: Step, names: Names) -> str | None:
    """Return the product of two matrices."""
    return f"matmul({names[0]}, {names[1]})" if are_matrices(step.arguments) else None


def summed(step: Step, names: Names) -> str | None:
    """Return the sum over some dimensions."""
    array, dim, keepdim, dtype = step.arguments
    if array.dtype.kind != "f" or dtype is not None or type(dim) is not tuple or not dim:
        return None
    axes = tuple(d % len(array.shape) for d in dim)
    return f"add_reduce({names[0]}, {axes}, None, None, {keepdim})"


def in_order(value: Any) -> bool:
    """Return whether a Value's elements are in C order without gaps."""
    step = value.dtype.itemsize
    for size, stride in zip(reversed(value.shape), reversed(value.strides), strict=True):
        if size != 1 and stride != step:
            return False
        step *= size
    return 0 not in value.shape


def are_matrices(values: Sequence[Any]) -> bool:
    """Return whether all values are floating-point matrices of one dtype."""
    return all(type(v) is Value and len(v.shape) == 2 and v.dtype.kind == "f"
               and v.dtype == values[0].dtype for v in values)


#: The expressions by the class of the op.
DIRECT: dict[str, Callable[[Step, Names], str | None]] = {
    "T": t, "Transpose": transpose, "Permute": permute, "View": view, "Select": select, "Mm": mm,
    "Sum": summed,
}


def expression(step: Step, names: Names) -> str | None:
    """Return the expression that a step evaluates, or `None` if its forward has to run."""
    find = DIRECT.get(step.op)
    if find is None or type(step.arguments[0]) is not Value or step.several:
        return None
    return find(step, names)


def is_addmm(step: Step) -> bool:
    """Return whether a step is a product of matrices plus a bias, without factors."""
    return (step.op == "Addmm" and step.arguments[3:] == [1, 1]
            and are_matrices(step.arguments[1:3]) and type(step.arguments[0]) is Value
            and step.arguments[0].dtype == step.arguments[1].dtype)


# -------------------------------------------------------------------- the source


def is_elementwise(step: Step) -> bool:
    """Return whether a step is one ufunc, so that it can write over an operand."""
    return ufunc_of(step) is not None


class Writer:
    """Writes the source of a program, and collects the names that it uses."""

    def __init__(self, inputs: Sequence[Value], steps: Sequence[Step],
                 outputs: Sequence[Value | None]) -> None:
        self.inputs, self.steps, self.outputs = inputs, steps, outputs
        self.names: dict[str, Any] = {"__name__": MODULE, "xp": numpy_backend,
                                      "as_array": numpy_backend.as_array,
                                      "matmul": numpy_backend.matmul, "add_reduce": np.add.reduce}
        self.own: dict[int, str] = {}  # names of functions and of plain arguments, by id
        self.local: dict[int, str] = {}  # names of Values, by id
        self.taken = {"xp", "as_array", "matmul", "add_reduce", "map"}

    def source(self, name: str) -> str:
        """Return the source of the function."""
        arguments = ", ".join(map(self.local_name, self.inputs))
        lines = [f"def {name}({arguments}):"]
        dying = last_uses(self.steps, self.outputs)
        self.taken_over = taken_over(self.steps, self.outputs, is_elementwise)
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
        if (ufunc := ufunc_of(step)) is not None:
            name, operands = ufunc
            buffer = self.taken_over.get(id(step))
            out = "" if buffer is None else f", {self.local_name(buffer)}"
            function = self.global_name(getattr(numpy_backend, name), name)
            call = f"{function}({', '.join(arguments[:operands])}{out})"
        elif (call := expression(step, arguments) or "") == "":
            called = self.global_name(step.call, step.name)
            call = f"{called}({', '.join(['xp', *arguments])})"
        if step.scalar and step.several:
            call = f"map(as_array, {call})"
        elif step.scalar:
            call = f"as_array({call})"
        if not step.outputs:
            return [call]
        return [f"{targets}{',' * (step.several and len(step.outputs) == 1)} = {call}"]

    def argument(self, argument: Any) -> str:
        """Return the expression for an argument of a step."""
        if type(argument) is Value:
            return self.reference(argument)
        if isinstance(argument, list) or (isinstance(argument, tuple)
                                          and any(values_among(argument))):
            inside = ", ".join(map(self.argument, argument))
            return f"[{inside}]" if isinstance(argument, list) else f"({inside},)"
        if argument is None or type(argument) in (bool, int, str):
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
        """Return a name that is not used yet."""
        name, numbers = wanted, count(1)
        while name in self.taken:
            name = f"{wanted}_{next(numbers)}"
        self.taken.add(name)
        return name
