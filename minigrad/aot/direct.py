"""Forwards as single NumPy calls.

NOTE [Forwards as single calls]
    A forward checks its arguments and chooses between cases.  In a program, the guards have fixed
    shapes, strides and dtypes, so that the checks have passed and the case is known.  Each function
    in `DIRECT` returns the expression that the forward would have evaluated, or `None` for any
    other case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..backend import numpy_backend
from .program import Step, Value

Names = Sequence[str]


def ufunc_of(step: Step) -> tuple[str, int] | None:
    """Return the ufunc that is all that a step calls, and the number of its operands."""
    name = vars(step.call).get("calls") if hasattr(step.call, "__dict__") else None
    function = None if name is None else getattr(numpy_backend, name)
    return (name, function.nin) if isinstance(function, np.ufunc) and name else None


def reduced_by(step: Step) -> str:
    """Return the ufunc by which a step reduces an array, or an empty text."""
    return str(vars(step.call).get("reduces", "")) if hasattr(step.call, "__dict__") else ""


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
    array, result = step.arguments[0], step.outputs[0]
    plain = in_order(array) and np.empty(result.shape, result.dtype).strides == result.strides
    return f"{names[0]}.reshape({result.shape})" if plain else None


def select(step: Step, names: Names) -> str:
    """Return one index along a dimension."""
    _, dim, index = step.arguments
    dim %= len(step.arguments[0].shape)
    return f"{names[0]}[{':, ' * dim}{index}, ...]"


def mm(step: Step, names: Names) -> str | None:
    """Return the product of two matrices."""
    return f"matmul({names[0]}, {names[1]})" if are_matrices(step.arguments) else None


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
}


def expression(step: Step, names: Names) -> str | None:
    """Return the expression that a step evaluates, or `None` if its forward has to run."""
    if reduced_by(step):
        array, axes, keepdims = names[0], *step.arguments[1:]
        return f"{reduced_by(step)}_reduce({array}, {axes}, None, None, {keepdims})"
    find = DIRECT.get(step.op)
    if find is None or type(step.arguments[0]) is not Value or step.several:
        return None
    return find(step, names)


def is_addmm(step: Step) -> bool:
    """Return whether a step is a product of matrices plus a bias, without factors."""
    return (step.op == "Addmm" and step.arguments[3:] == [1, 1]
            and are_matrices(step.arguments[1:3]) and type(step.arguments[0]) is Value
            and step.arguments[0].dtype == step.arguments[1].dtype)


def is_elementwise(step: Step) -> bool:
    """Return whether a step is one ufunc, so that it can write over an operand."""
    return ufunc_of(step) is not None
