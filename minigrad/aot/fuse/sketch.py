"""Sketch: an array that notes the NumPy calls of a forward or a formula.

A `Sketch` has the shape, dtype and strides of a real array, but its elements are all one.  Whatever
a function computes from it elementwise, or by a sum or a maximum, becomes a step.  Anything that
would need the elements themselves raises `Opaque`, and so does every call that has no step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from ...backend import BACKENDS, numpy_backend
from ...backend.kernels import Kernels
from ...backend.kernels_grouped import GroupedKernels
from ...op.apply import run_op
from ..program import Step, Value

Array = Any

#: Functions of whole arrays that work elementwise but are no ufuncs.
ELEMENTWISE = ("where", "select", "erf")

#: Calls that one pass over memory computes, about as fast as the processor reads and writes.
CHEAP = {"add", "subtract", "multiply", "divide", "negative", "maximum", "minimum", "absolute",
         "square", "where", "select", "equal", "not_equal", "less", "less_equal", "greater",
         "greater_equal"}


class Opaque(Exception):
    """A function does something that has no step."""


class Sketch:
    """An array whose NumPy calls become steps."""

    __slots__ = ("inner", "may_change", "steps", "value")
    __array_ufunc__ = None  # NumPy leaves the operators to this class
    __hash__ = object.__hash__

    def __init__(self, inner: Array, steps: list[Step], value: Value) -> None:
        self.inner, self.steps, self.value = inner, steps, value
        self.may_change = False  # whether an in-place call may change it: nothing else refers to it

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "dtype", "size", "itemsize", "nbytes", "strides", "flags"):
            return getattr(self.inner, name)
        raise AttributeError(name) if name.startswith("_") else Opaque(name)

    def sum(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Sum over some dimensions, or over all."""
        return reduce("add", self, axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Return the maximum over some dimensions, or over all."""
        return reduce("maximum", self, axis, keepdims)

    def reshape(self, *shape: Any) -> Any:
        """Return a view with another shape."""
        inner = self.inner.reshape(*shape)
        if layout(inner) == layout(self.inner):
            return self
        if not np.may_share_memory(inner, self.inner):
            raise Opaque("reshape copies")
        result = noted("view", reshaped, [self, inner.shape], inner, self.steps, op="View",
                       view=True, cost=0)
        self.may_change = result.may_change = False
        return result

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """Return the array itself, if it has the dtype."""
        if copy or np.dtype(dtype) != self.inner.dtype:
            raise Opaque("astype copies")
        return self

    def opaque(self, *args: Any, **kwargs: Any) -> Any:
        """Raise, because this would need the elements."""
        raise Opaque("elements are needed")

    __bool__ = __float__ = __int__ = __index__ = __len__ = __iter__ = __array__ = opaque
    __getitem__ = __setitem__ = __array_function__ = opaque


def operators() -> None:
    """Give `Sketch` the operators, each of which calls a ufunc."""
    for name, ufunc in {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
                        "pow": "power", "and": "bitwise_and", "or": "bitwise_or"}.items():
        setattr(Sketch, f"__{name}__", lambda a, b, u=ufunc: call(u, a, b))
        setattr(Sketch, f"__r{name}__", lambda a, b, u=ufunc: call(u, b, a))
        setattr(Sketch, f"__i{name}__", lambda a, b, u=ufunc: call(u, a, b, out=a))
    for name, ufunc in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
                        "eq": "equal", "ne": "not_equal"}.items():
        setattr(Sketch, f"__{name}__", lambda a, b, u=ufunc: call(u, a, b))
    for name, ufunc in {"neg": "negative", "abs": "absolute", "invert": "invert"}.items():
        setattr(Sketch, f"__{name}__", lambda a, u=ufunc: call(u, a))


operators()


def call(name: str, *operands: Any, out: Any = None) -> Sketch:
    """Note an elementwise call; with `out`, that array gets the result."""
    function = getattr(numpy_backend, name)
    steps = next(each.steps for each in (*operands, out) if type(each) is Sketch)
    result = noted(name, direct(name), list(operands), function(*map(inner_of, operands)), steps,
                   cost=1 if name in CHEAP else 2)
    if out is None:
        return result
    if type(out) is not Sketch or not out.may_change or layout(out.inner) != layout(result.inner):
        raise Opaque("an in-place call")
    out.value = result.value
    return out


def reduce(name: str, array: Sketch, axis: Any, keepdims: bool) -> Sketch:
    """Note a reduction by a ufunc."""
    axes = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(each % array.ndim for each in axes)
    function = getattr(np, name).reduce
    return noted("sum" if name == "add" else "max", reduction(name), [array, axes, keepdims],
                 function(array.inner, axes, None, None, keepdims), array.steps, cost=2)


def noted(name: str, function: Callable[..., Any], arguments: list[Any], inner: Array,
          steps: list[Step], **facts: Any) -> Sketch:
    """Append a step, and return its result."""
    scalar = type(inner) is not np.ndarray
    inner = np.asarray(inner)
    value = Value(name, inner.shape, inner.dtype, inner.strides)
    steps.append(Step(name, function, [as_argument(each) for each in arguments], [value],
                      scalar=scalar, **facts))
    result = Sketch(inner, steps, value)
    result.may_change = True
    return result


def as_argument(operand: Any) -> Any:
    """Return the Value of an array, which is a constant if the function itself made it."""
    if type(operand) is Sketch:
        return operand.value
    if type(operand) is np.ndarray:
        return Value("constant", operand.shape, operand.dtype, operand.strides, operand)
    return operand


def inner_of(operand: Any) -> Any:
    """Return the array inside a sketch."""
    return operand.inner if type(operand) is Sketch else operand


def layout(array: Array) -> tuple[Any, ...]:
    """Return everything about an array but its elements."""
    return array.shape, array.dtype, array.strides


@cache
def direct(name: str) -> Callable[..., Any]:
    """Return a step's call of an elementwise function, always the same one for a name."""
    def run(xp: Any, *operands: Any) -> Any:
        return getattr(xp, name)(*operands)

    vars(run)["calls"] = name
    return run


@cache
def reduction(name: str) -> Callable[..., Any]:
    """Return a step's call of a ufunc's reduction."""
    def run(xp: Any, array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
        return getattr(np, name).reduce(array, axes, None, None, keepdims)

    vars(run)["reduces"] = name
    return run


def reshaped(xp: Any, array: Array, shape: tuple[int, ...]) -> Array:
    """Return a view with another shape."""
    return array.reshape(shape)


@cache
def dot(kept: tuple[int, ...]) -> Callable[..., Any]:
    """Return a step's call of the sum of products over all dimensions but `kept`."""
    def run(xp: Any, a: Array, b: Array) -> Array:
        everything = list(range(a.ndim))
        return np.einsum(a, everything, b, everything, list(kept))

    vars(run)["kept"] = kept
    return run


class Ufunc:
    """A ufunc as the backend of sketches has it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *operands: Any, out: Any = None) -> Any:
        if not any(type(each) is Sketch for each in operands):
            return getattr(np, self.name)(*operands)
        return call(self.name, *operands, out=out)

    def reduce(self, array: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False) -> Any:
        """Reduce an array along some dimensions, or along all."""
        if self.name not in ("add", "maximum") or dtype is not None:
            raise Opaque("a reduction")
        return reduce(self.name, array, axis, keepdims)


class SketchingBackend(GroupedKernels, Kernels):
    """The backend of sketches: kernels run on it, and NumPy's calls become steps."""

    name, device_type, array_type = "sketch", "cpu", Sketch
    generators: Any = None

    def __getattr__(self, name: str) -> Any:
        found = getattr(numpy_backend, name)
        if name in ELEMENTWISE:
            return partial(call, name)
        if isinstance(found, np.ufunc) and not found.signature and found.nout == 1:
            return Ufunc(name)
        if isinstance(found, type) or not callable(found):
            return found
        return partial(on_plain_values, found)

    def run_op(self, op: Any, prepared: Any, inplace: bool = False) -> Any:
        """Run the forward of an op that a formula calls."""
        if inplace:
            raise Opaque("an in-place op")
        return op.run_forward(self, *prepared.arrays)

    def run_values(self, op: Any, values: list[Any]) -> Any:
        """Prepare an op that a formula calls, and run its forward."""
        return run_op(op, values)

    def select(self, condition: Any, x: Any, y: Any) -> Any:
        """Select elements by a mask."""
        return call("select", condition, x, y)

    def sum(self, array: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
        """Sum over some dimensions, or over all."""
        return Ufunc("add").reduce(array, axis, dtype, keepdims)

    def einsum(self, *operands: Any) -> Any:
        """Sum products of two arrays of one shape."""
        if len(operands) != 5 or not operands[1] == operands[3] == [*range(operands[0].ndim)] or (
                operands[0].shape != operands[2].shape):
            raise Opaque("einsum")
        a, everything, b, _, kept = operands
        inner = np.einsum(inner_of(a), everything, inner_of(b), everything, kept)
        return noted("dot", dot(tuple(kept)), [a, b], inner, a.steps, cost=2)

    def as_array(self, value: Any) -> Any:
        """Return the array itself."""
        return value

    def detached(self, array: Any) -> Any:
        """Return the array itself."""
        return array

    def may_ask(self) -> bool:
        """Raise, because an algorithm that depends on values is none for other values."""
        raise Opaque("values are needed")

    def place_of(self, arrays: Sequence[Any]) -> None:
        """Return `None`, since work on these arrays needs no context."""


def on_plain_values(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function on anything but sketches."""
    if any(type(each) is Sketch for each in (*args, *kwargs.values())):
        raise Opaque("a function without a step")
    return function(*args, **kwargs)


sketching = SketchingBackend()
BACKENDS[Sketch] = sketching  # type: ignore[assignment]  # methods in place of values
