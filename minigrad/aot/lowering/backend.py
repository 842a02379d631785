"""The backend of sketches: kernels run on it, and NumPy's functions become steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...backend import BACKENDS, numpy_backend
from ...backend.kernels import Kernels
from ...backend.kernels_grouped import GroupedKernels
from ...op.apply import run_op
from .calls import ELEMENTWISE, dot
from .sketch import Opaque, Sketch, call, inner_of, noted, reduce


class Ufunc:
    """A ufunc for sketches."""

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
    """The backend of sketches."""

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
        return partial(without_sketches, found)

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

    def einsum(self, a: Any, dims: list[int], b: Any, others: list[int], kept: list[int]) -> Any:
        """Sum the products of two arrays of one shape over all dimensions but `kept`."""
        if a.shape != b.shape or not dims == others == [*range(a.ndim)]:
            raise Opaque("einsum")
        found = dot(self, inner_of(a), inner_of(b), tuple(kept))
        return noted("dot", dot, [a, b, tuple(kept)], found, cost=2)

    def as_array(self, value: Any) -> Any:
        """Return the array itself."""
        return value

    def detached(self, array: Any) -> Any:
        """Return the array itself."""
        return array

    def may_ask(self) -> bool:
        """Raise, because an algorithm that was chosen by values fits those values only."""
        raise Opaque("values are needed")

    def place_of(self, arrays: Any) -> Any:
        """Return `None`, since work on these arrays needs no context."""
        return None


def without_sketches(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function, unless it would get a sketch."""
    if any(type(each) is Sketch for each in (*args, *kwargs.values())):
        raise Opaque("a function without a step")
    return function(*args, **kwargs)


sketching = SketchingBackend()
BACKENDS[Sketch] = sketching  # type: ignore[assignment]  # methods in place of values
