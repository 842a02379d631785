"""Cache blocks: parts of arrays that fit into the processor's cache, with scratch arrays.

An optimizer reads the same elements a dozen times.  If an array is larger than the cache, each pass
over it fetches the elements from memory again, whereas a block stays in the cache for all passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..backend import backend_of

Array = Any

#: Elements of a block, 256 KiB of float32: small enough that three arrays fit into a cache of 1
#: MiB, and large enough that the calls cost little compared to the arithmetic.
BLOCK = 1 << 16


class CacheBlocks:
    """Splits arrays into blocks and adds two scratch arrays of the same shape to each.

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
        if type(first) is not np.ndarray:  # blocks do not help on a device
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
        """Return two scratch arrays of this shape and dtype; all shapes share the same memory."""
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
