"""Sketch: an array that notes the NumPy calls of a forward or a formula.

A sketch has the shape, dtype and strides of a real array, but not its values.  Elementwise
calls, sums and maxima of it become steps.  Any other use raises an error, above all one that
depends on values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...backend import numpy_backend
from ..program import Step, Value
from .calls import CHEAP, elementwise, reduction, reshaped

Array = Any


class Opaque(Exception):
    """A function does something for which there is no step."""


class Sketch:
    """An array whose NumPy calls become steps."""

    __slots__ = ("inner", "is_alone", "steps", "value")
    __array_ufunc__ = None  # NumPy leaves the operators to this class
    __hash__ = object.__hash__

    def __init__(self, inner: Array, steps: list[Step], value: Value) -> None:
        self.inner, self.steps, self.value = inner, steps, value
        self.is_alone = False  # whether no other array shares its memory, so that it may change

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "dtype", "size", "itemsize", "nbytes", "strides", "flags"):
            return getattr(self.inner, name)
        raise AttributeError(name)

    def sum(self, axis: Any = None, keepdims: bool = False) -> Sketch:
        """Sum over some dimensions, or over all."""
        return reduce("add", self, axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Sketch:
        """Return the maximum over some dimensions, or over all."""
        return reduce("maximum", self, axis, keepdims)

    def reshape(self, *shape: Any) -> Sketch:
        """Return a view with another shape."""
        inner = self.inner.reshape(*shape)
        if layout(inner) == layout(self.inner):
            return self
        if not np.may_share_memory(inner, self.inner):
            raise Opaque("reshape copies")
        result = noted("view", reshaped, [self, inner.shape], inner, op="View", view=True, cost=0)
        self.is_alone = result.is_alone = False
        return result

    def astype(self, dtype: Any, copy: bool = True) -> Sketch:
        """Return the array itself, if it has the dtype."""
        if copy or np.dtype(dtype) != self.inner.dtype:
            raise Opaque("astype copies")
        return self

    def opaque(self, *args: Any, **kwargs: Any) -> Any:
        """Raise, because values are needed."""
        raise Opaque("values are needed")

    __bool__ = __float__ = __int__ = __index__ = __len__ = __iter__ = __array__ = opaque
    __getitem__ = __setitem__ = __array_function__ = opaque


def add_operators() -> None:
    """Give `Sketch` its operators, each of which calls a ufunc.

    There is no `**`, because for some exponents NumPy computes it with other functions than
    `power`.
    """
    for name, ufunc in {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
                        "and": "bitwise_and", "or": "bitwise_or"}.items():
        setattr(Sketch, f"__{name}__", lambda a, b, u=ufunc: call(u, a, b))
        setattr(Sketch, f"__r{name}__", lambda a, b, u=ufunc: call(u, b, a))
        setattr(Sketch, f"__i{name}__", lambda a, b, u=ufunc: call(u, a, b, out=a))
    for name, ufunc in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
                        "eq": "equal", "ne": "not_equal"}.items():
        setattr(Sketch, f"__{name}__", lambda a, b, u=ufunc: call(u, a, b))
    for name, ufunc in {"neg": "negative", "abs": "absolute", "invert": "invert"}.items():
        setattr(Sketch, f"__{name}__", lambda a, u=ufunc: call(u, a))


add_operators()


def call(name: str, *operands: Any, out: Any = None) -> Sketch:
    """Note an elementwise call; with `out`, that array gets the result."""
    function = getattr(numpy_backend, name)
    result = noted(name, elementwise(name), list(operands), function(*map(inner_of, operands)),
                   cost=1 if name in CHEAP else 2)
    if out is None:
        return result
    if type(out) is not Sketch or not out.is_alone or layout(out.inner) != layout(result.inner):
        raise Opaque("an in-place call that may change other arrays")
    out.value = result.value
    return out


def reduce(name: str, array: Sketch, axis: Any, keepdims: bool) -> Sketch:
    """Note a reduction by a ufunc."""
    axes = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(each % array.ndim for each in axes)
    found = getattr(np, name).reduce(array.inner, axes, None, None, keepdims)
    return noted("sum" if name == "add" else "max", reduction(name), [array, axes, keepdims],
                 found, cost=2)


def noted(name: str, function: Callable[..., Any], arguments: list[Any], found: Any,
          **facts: Any) -> Sketch:
    """Append a step to the steps of its operands, and return its result, `found` on stand-ins."""
    steps = next(each.steps for each in arguments if type(each) is Sketch)
    inner = np.asarray(found)
    value = Value(name, inner.shape, inner.dtype, inner.strides)
    steps.append(Step(name, function, list(map(as_argument, arguments)), [value],
                      scalar=inner is not found, **facts))
    result = Sketch(inner, steps, value)
    result.is_alone = True
    return result


def as_argument(operand: Any) -> Any:
    """Return the Value of an array, which is a constant if the function itself made it."""
    if type(operand) is Sketch:
        return operand.value
    if type(operand) is np.ndarray:
        return Value("constant", operand.shape, operand.dtype, operand.strides, operand)
    return operand


def inner_of(operand: Any) -> Any:
    """Return the array inside a sketch, and anything else as it is."""
    return operand.inner if type(operand) is Sketch else operand


def layout(array: Array) -> tuple[Any, ...]:
    """Return everything about an array except its values."""
    return array.shape, array.dtype, array.strides
