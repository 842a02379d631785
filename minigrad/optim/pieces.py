"""Walking arrays of one shape in pieces that fit the processor's cache, with room to compute in.

An optimizer goes over the same elements a dozen times.  Over whole arrays each time would fetch
them from memory anew; a piece stays in the cache from the first time to the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..backend import backend_of

Array = Any

#: How many elements a piece has, 256 KiB of float32: few enough for three arrays to fit a cache of
#: 1 MiB, as many as it takes for the calls to cost little beside the arithmetic.
PIECE = 1 << 16


class Pieces:
    """Hands out pieces of arrays, each with two arrays of its shape whose values nobody needs.

    >>> import numpy as np
    >>> pieces = Pieces()
    >>> [part.size for part, room, more_room in pieces(np.zeros((3, PIECE)))]
    [65536, 65536, 65536]
    """

    def __init__(self) -> None:
        self._rooms: dict[Any, tuple[Array, Array]] = {}

    def __call__(self, *arrays: Array) -> Iterable[tuple[Array, ...]]:
        """Return tuples of the arrays' pieces and the two rooms."""
        first = arrays[0]
        if type(first) is not np.ndarray:  # a device has no use for pieces
            xp = backend_of(first)
            return ((*arrays, xp.empty_like(first), xp.empty_like(first)),)
        if first.size <= PIECE:
            return ((*arrays, *self._room(first)),)
        if all(array.flags.c_contiguous for array in arrays):
            return self._split([array.reshape(-1) for array in arrays])
        xp = backend_of(first)
        return ((*arrays, xp.empty_like(first), xp.empty_like(first)),)

    def _split(self, arrays: list[Array]) -> Iterator[tuple[Array, ...]]:
        for start in range(0, arrays[0].size, PIECE):
            parts = [array[start:start + PIECE] for array in arrays]
            yield (*parts, *self._room(parts[0]))

    def _room(self, array: Array) -> tuple[Array, Array]:
        """Return two arrays of this shape and dtype in memory that all shapes share."""
        found = self._rooms.get((array.shape, array.dtype))
        if found is None:
            whole = self._rooms.get(array.dtype)
            if whole is None:
                xp = backend_of(array)
                whole = xp.empty(PIECE, array.dtype), xp.empty(PIECE, array.dtype)
                self._rooms[array.dtype] = whole
            one, two = (room[:array.size].reshape(array.shape) for room in whole)
            found = self._rooms[array.shape, array.dtype] = one, two
        return found
