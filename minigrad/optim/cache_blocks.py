"""Cache blocks: parts of arrays that fit the processor's cache, with scratch arrays.

An optimizer reads the same elements a dozen times.  Passes over an array larger than the cache
fetch them from memory each time; a block stays in the cache from the first pass to the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..backend import backend_of

Array = Any

#: Elements of a block, 256 KiB of float32: few enough that three arrays fit a cache of 1 MiB, and
#: enough that the calls cost little beside the arithmetic.
BLOCK = 1 << 16


class CacheBlocks:
    """Splits arrays into blocks, each with two scratch arrays of its shape.

    >>> import numpy as np
    >>> blocks = CacheBlocks()
    >>> [block.size for block, scratch, more in blocks(np.zeros((3, BLOCK)))]
    [65536, 65536, 65536]
    """

    def __init__(self) -> None:
        self._scratch: dict[Any, tuple[Array, Array]] = {}

    def __call__(self, *arrays: Array) -> Iterable[tuple[Array, ...]]:
        """Return tuples of the arrays' blocks and two scratch arrays."""
        first = arrays[0]
        if type(first) is not np.ndarray:  # blocks gain nothing on a device
            xp = backend_of(first)
            return ((*arrays, xp.empty_like(first), xp.empty_like(first)),)
        if first.size <= BLOCK:
            return ((*arrays, *self._scratch_for(first)),)
        if all(array.flags.c_contiguous for array in arrays):
            return self._split([array.reshape(-1) for array in arrays])
        xp = backend_of(first)
        return ((*arrays, xp.empty_like(first), xp.empty_like(first)),)

    def _split(self, arrays: list[Array]) -> Iterator[tuple[Array, ...]]:
        for start in range(0, arrays[0].size, BLOCK):
            blocks = [array[start:start + BLOCK] for array in arrays]
            yield (*blocks, *self._scratch_for(blocks[0]))

    def _scratch_for(self, array: Array) -> tuple[Array, Array]:
        """Return two scratch arrays of this shape and dtype; all shapes share their memory."""
        pair = self._scratch.get((array.shape, array.dtype))
        if pair is None:
            memory = self._scratch.get(array.dtype)
            if memory is None:
                xp = backend_of(array)
                memory = xp.empty(BLOCK, array.dtype), xp.empty(BLOCK, array.dtype)
                self._scratch[array.dtype] = memory
            one, two = (each[:array.size].reshape(array.shape) for each in memory)
            pair = self._scratch[array.shape, array.dtype] = one, two
        return pair
