"""Steps of optimizers over all parameters of a device, and the unscaling of their gradients.

Each is one launch for up to `MOST_ARRAYS` arrays of any sizes.  What the kernels do to an element
is what `update` of the optimizers does, in that order; float16 is computed in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cupy
import numpy as np

from .launch import many
from .layout import dense

Array = Any
Arrays = Sequence[Array]


class Steps:
    """The kernels behind `optim.at_once` and `GradScaler`, which the backend mixes in."""

    def sgd_step(self, params: Arrays, grads: Arrays, speeds: Arrays, *, lr: float | Array,
                 momentum: float, dampening: float, decay: float, maximize: bool,
                 nesterov: bool) -> None:
        """Take a step of SGD, in place; `speeds` is empty where there is no momentum."""
        rates, rate = rate_there(lr)
        columns = Dense([params, grads, *([speeds] if speeds else [])])
        many("sgd", params[0].dtype, columns.arrays, rates, rate, float(momentum),
             1.0 - dampening, float(decay), np.int32(maximize), np.int32(nesterov))
        columns.write_back()

    def adam_numbers(self, steps: Arrays, *, lr: float | Array, betas: tuple[float, float],
                     eps: float, decoupled_decay: float) -> Array:
        """Count a step of each parameter, and return what `adam_step` multiplies with.

        `steps` are 0-d arrays of float32.  They are counted on the device, so a captured graph
        counts on.
        """
        rates, rate = rate_there(lr)
        numbers = cupy.empty((len(steps), 3), np.float64)
        many("adam_numbers", np.dtype(np.float32), [steps], rates, numbers, rate, *betas,
             float(eps), float(decoupled_decay), counted=True)
        return numbers

    def adam_step(self, params: Arrays, grads: Arrays, means: Arrays, squares: Arrays,
                  largest: Arrays, *, numbers: Array | tuple[float, float, float],
                  betas: tuple[float, float], decay: float, maximize: bool) -> None:
        """Take a step of Adam, in place; `largest` is empty but for amsgrad.

        `numbers` are rate, eps and what is left of the parameter: for all arrays, or those of
        `adam_numbers`.
        """
        rows, alike = (None, numbers) if type(numbers) is tuple else (numbers, (0.0, 0.0, 0.0))
        columns = Dense([params, grads, means, squares, *([largest] if largest else [])])
        many("adam", params[0].dtype, columns.arrays, rows, *map(float, alike), 1.0 - betas[0],
             betas[1], 1.0 - betas[1], float(decay), np.int32(maximize))
        columns.write_back()

    def unscale(self, grads: Arrays, factor: float) -> Array:
        """Multiply arrays, in place; return whether one had an infinity or NaN: a 0-d bool."""
        found = cupy.zeros((), np.bool_)
        for dtype in {array.dtype for array in grads}:
            columns = Dense([[array for array in grads if array.dtype == dtype]])
            many("unscale", dtype, columns.arrays, found, float(factor))
            columns.write_back()
        return found


def rate_there(lr: float | Array) -> tuple[Array | None, float]:
    """Return a rate that lies on the device, and one that does not."""
    if isinstance(lr, cupy.ndarray):
        return dense(lr.astype(np.float64)), 0.0
    return None, float(lr)


class Dense:
    """Columns of arrays as kernels read them: row-major, and of the type of the first of a row."""

    def __init__(self, columns: Sequence[Arrays]) -> None:
        self._copies: list[tuple[Array, Array]] = []
        first = columns[0]
        self.arrays = [[self._dense(array, like.dtype)
                        for array, like in zip(column, first, strict=True)] for column in columns]

    def _dense(self, array: Array, dtype: Any) -> Array:
        if array.flags.c_contiguous and array.dtype == dtype:
            return array
        copy = dense(array.astype(dtype))
        self._copies.append((array, copy))
        return copy

    def write_back(self) -> None:
        """Write what the kernel changed to where it came from."""
        for array, copy in self._copies:
            array[...] = copy
