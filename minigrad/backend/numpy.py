"""NumPy as a backend, for the CPU.

NOTE [Positions are int64]
    PyTorch's positions and counts are always int64.  NumPy's are as wide as an address, which has
    32 bits in a web page (Pyodide); there, its functions that return them are widened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import on_demand
from . import kernels_bound, kernels_mask, threads
from .kernels import Kernels
from .kernels_grouped import GroupedKernels

kernels_sum = on_demand.later("backend.kernels_sum")
special = on_demand.later("backend.special")
special_gamma = on_demand.later("backend.special_gamma")

#: See NOTE [Positions are int64].
WIDENED = frozenset() if np.dtype(np.intp).itemsize == 8 else frozenset({
    "arange", "argmax", "argmin", "argsort", "bincount", "flatnonzero", "nonzero", "searchsorted",
    "unique"})

#: Functions that NumPy lacks; `special.py` has them.
SPECIAL = frozenset({"erf", "erfc", "erfinv", "lgamma", "digamma", "polygamma"})


def widened(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a NumPy function so that positions in its result are int64.

    The values returned by `unique`, which belong to the program, keep their dtype, and an explicit
    `dtype` is respected.
    """
    def wide(result: Any) -> Any:
        return result.astype(np.int64) if result.dtype == np.intp else result

    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if isinstance(result, tuple):
            kept = 1 if function is np.unique else 0
            return *result[:kept], *map(wide, result[kept:])
        return result if "dtype" in kwargs or function is np.unique else wide(result)

    return call


def address(array: Any) -> int:
    """Return the address of the first element."""
    return int(array.__array_interface__["data"][0])


class NumpyBackend(GroupedKernels, Kernels):
    """NumPy's array functions, each bound on first use, and the few that NumPy lacks."""

    name = "numpy"
    device_type = "cpu"
    array_type: type = np.ndarray
    run_op = run_values = None
    small_product = 10**6  # OpenBLAS's limit

    for_each = staticmethod(threads.for_each)
    where = staticmethod(kernels_mask.where)
    maximum = staticmethod(kernels_bound.maximum)
    minimum = staticmethod(kernels_bound.minimum)

    def __getattr__(self, name: str) -> Any:
        value = getattr(special if name in SPECIAL else np, name)
        if name in WIDENED:
            value = widened(value)
        setattr(self, name, value)
        return value

    def gammainc(self, a: Any, x: Any) -> Any:
        return special_gamma.gammainc(a, x)

    def gammaincc(self, a: Any, x: Any) -> Any:
        return special_gamma.gammaincc(a, x)

    def ones_like(self, array: Any, **options: Any) -> Any:
        made = np.empty_like(array, **options)
        made[...] = 1  # for a single number, `np.ones_like` takes four times as long
        return made

    def sum(self, array: Any, axis: Any = None, dtype: Any = None, out: None = None,
            keepdims: bool = False) -> Any:
        if array.size < 4096:  # NumPy's own sum is fast
            reduce: Any = np.add.reduce
            return reduce(array, axis, dtype, None, keepdims)
        return kernels_sum.reduce_sum(array, axis, dtype, None, keepdims)

    def as_array(self, value: Any) -> Any:
        return value if type(value) is np.ndarray else np.asarray(value)

    def from_host(self, array: Any) -> Any:
        return array

    def to_host(self, array: Any) -> Any:
        return array

    def as_strided(self, array: Any, shape: tuple[int, ...], strides: tuple[int, ...],
                   offset: int = 0) -> Any:
        """View `array`'s memory with this shape and these strides, in bytes.

        `offset` counts bytes from its first element and may be negative.  Raises `ValueError` if
        the view would leave the memory.
        """
        array = self.as_array(array)  # a NumPy scalar cannot own the memory of views
        if offset >= 0 and (array.flags.c_contiguous or array.flags.f_contiguous):
            try:
                return np.ndarray(shape, array.dtype, array, offset, strides)
            except (ValueError, TypeError):
                pass  # outside the array, but perhaps inside the memory that it views
        return self.view_of_owner(array, shape, strides, offset)

    def view_of_owner(self, array: Any, shape: tuple[int, ...], strides: tuple[int, ...],
                      offset: int) -> Any:
        """View the memory that `array` is a view of."""
        owner = array
        while type(owner.base) is np.ndarray:
            owner = owner.base
        offset += address(array) - address(owner)
        if 0 in shape:  # an empty view may begin anywhere, even at the end
            offset = min(offset, owner.nbytes)
        # np.ndarray keeps the owner as its base, unlike np.lib.stride_tricks.as_strided.
        dense = owner
        if not owner.flags.c_contiguous:
            dense = owner.transpose(np.argsort([-s for s in owner.strides], kind="stable"))
        return np.ndarray(shape, array.dtype, dense, offset, strides)

    def synchronize(self, index: int | None = None) -> None:
        """Do nothing: NumPy has finished when it returns."""


backend = NumpyBackend()
