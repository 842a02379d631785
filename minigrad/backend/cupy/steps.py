"""Optimizer steps over all parameters of a device, and the unscaling of their gradients.

Each is one launch for up to `MOST_ARRAYS` arrays of any size.  float16 is computed in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cupy
import numpy as np

from ..formulas import FORMULAS, OPTIONS, SHARED
from .launch import NUMBERS, each, many
from .layout import dense

Array = Any
Arrays = Sequence[Array]


class Steps:
    """The kernels for `optim.multi_tensor` and `GradScaler`, mixed into the backend."""

    def count_steps(self, name: str, counted: Sequence[Arrays], options: dict[str, float],
                    lr: Array | None, found: Array | None) -> Array:
        """Count a step of each parameter on the device; return a row of numbers for each.

        `counted` holds columns of 0-d float32 arrays; an `lr` on the device is read there.
        """
        formula = FORMULAS[name]
        wanted = [*OPTIONS.split(), *formula.options.split()]
        rates = None if lr is None else dense(lr.astype(np.float64))
        rows = cupy.empty((len(counted[0]), len([*SHARED.split(), *formula.numbers.split()])))
        many(f"{name}_numbers", np.dtype(np.float32), counted, rates, found, rows,
             by_value([options[option] for option in wanted]), counted=True)
        return rows

    def take_step(self, name: str, columns: Sequence[Arrays | None],
                  numbers: Array | dict[str, float], found: Array | None) -> None:
        """Update parameters in place with the formula of this name.

        The columns are parameters, gradients and states, with `None` for an unused state.  The
        numbers are shared by all arrays, or are the rows from `count_steps`.
        """
        rows = None if isinstance(numbers, dict) else numbers
        wanted = [*SHARED.split(), *FORMULAS[name].numbers.split()]
        given = [numbers[number] for number in wanted] if isinstance(numbers, dict) else []
        arrays = Dense(columns)
        many(name, arrays.dtype, arrays.arrays, rows, found, by_value(given))
        arrays.write_back()

    def unscale(self, grads: Arrays, scale: Array, found: Array) -> None:
        """Divide arrays in place by a number on the device.

        Sets `found` to one if an element is infinite or NaN.
        """
        for dtype in {array.dtype for array in grads}:
            columns = Dense([[array for array in grads if array.dtype == dtype]])
            many("unscale", dtype, columns.arrays, scale, found)
            columns.write_back()

    def update_scale(self, scale: Array, tracker: Array, found: Array, growth: float,
                     backoff: float, interval: int) -> None:
        """Update a scale in place, and count the steps since it grew."""
        each("update_scale", scale.dtype, 1, scale, tracker, found, float(growth), float(backoff),
             interval)


def by_value(numbers: Sequence[float]) -> Any:
    """Return the struct `Numbers`."""
    struct = np.zeros(1, NUMBERS)
    struct["of"][0, :len(numbers)] = numbers
    return struct


class Dense:
    """Columns of arrays in the form that kernels read: row-major, with one dtype."""

    def __init__(self, columns: Sequence[Arrays | None]) -> None:
        self._copies: list[tuple[Array, Array]] = []
        assert columns[0]
        self.dtype = columns[0][0].dtype
        self.arrays = [None if column is None else
                       [self._dense(array, self.dtype) for array in column] for column in columns]

    def _dense(self, array: Array, dtype: Any) -> Array:
        if array.flags.c_contiguous and array.dtype == dtype:
            return array
        copy = dense(array.astype(dtype))
        self._copies.append((array, copy))
        return copy

    def write_back(self) -> None:
        """Copy the kernel's results back to the original arrays."""
        for array, copy in self._copies:
            array[...] = copy
