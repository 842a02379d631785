"""Compiles and launches the kernels of `sources`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cupy
import numpy as np

from .sources import HEADER, KERNELS
from .sources_many import MOST_NUMBERS

Array = Any

#: Threads of a block; a power of two, because sums within a block need that.
THREADS = 256
MOST_BLOCKS = 65535
#: Fewer rows than this get larger blocks, because otherwise most multiprocessors would be idle.
FEW_ROWS, MOST_THREADS = 512, 1024

_TYPES = {"e": "HALF", "f": "float", "d": "double"}
_WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
_SHARED = """#define SHARED(type, name) extern __shared__ type name[]
#define UNROLLED _Pragma("unroll 4")
"""

#: The struct `Window`: six times three integers, without names.
WINDOW = np.dtype({"names": ["fields"], "formats": [(np.int64, (18,))]})

#: The kernels' `MOST_ARRAYS` and `CHUNK`, and their struct `Many`.  A launch takes it by value, so
#: that it can be captured; all arguments together are limited to 4096 bytes.
MOST_ARRAYS, CHUNK = 72, 1024
MANY = np.dtype([("sizes", np.int64, MOST_ARRAYS), ("at", np.uint64, (5, MOST_ARRAYS)),
                 ("ends", np.int32, MOST_ARRAYS), ("count", np.int32)], align=True)

#: The kernels' struct `Numbers`.
NUMBERS = np.dtype([("of", np.float64, MOST_NUMBERS)])

_compiled: dict[tuple[str, str], Any] = {}


def kernel(name: str, dtype: np.dtype) -> Any:
    """Return a kernel for an element type, compiling it on first use."""
    key = name, dtype.char
    found = _compiled.get(key)
    if found is None:
        options = [f"-DMINIGRAD_W={_WORDS[dtype.itemsize]}", "--std=c++14"]
        if dtype == np.float16:
            options.append("-DMINIGRAD_HALF=1")
        else:
            options.append(f"-DMINIGRAD_T={_TYPES.get(dtype.char, 'float')}")
        found = cupy.RawKernel(_SHARED + HEADER + KERNELS[name], name, tuple(options))
        _compiled[key] = found
    return found


def each(name: str, dtype: np.dtype, count: int, *args: Any) -> None:
    """Launch a kernel with a grid-stride loop over `count` elements."""
    if count:
        blocks = min(-(-count // THREADS), MOST_BLOCKS)
        kernel(name, dtype)((blocks,), (THREADS,), tuple(map(argument, args)))


def blocks(name: str, dtype: np.dtype, count: int, length: int, *args: Any) -> None:
    """Launch a kernel with one block for each of `count` rows of `length` elements."""
    if count:
        threads, most = 32, most_threads(name) if count < FEW_ROWS else THREADS
        while threads < min(length, most):
            threads *= 2
        room = threads * (8 if dtype == np.float64 else 4)
        kernel(name, dtype)((min(count, MOST_BLOCKS),), (threads,), tuple(map(argument, args)),
                            shared_mem=room)


def most_threads(name: str) -> int:
    """Return the maximum block size of a kernel, larger for kernels that sum over a row."""
    return MOST_THREADS if "SHARED" in KERNELS[name] else THREADS


def many(name: str, dtype: np.dtype, columns: Sequence[Sequence[Array] | None], *args: Any,
         counted: bool = False) -> None:
    """Launch a kernel over many arrays; the columns are parallel lists of arrays.

    The arrays are dense and have one dtype, except columns of numbers; for a missing column the
    kernel gets null pointers.  More than `MOST_ARRAYS` arrays take several launches.  A `counted`
    kernel has one thread for each array, and its array arguments have one row for each.
    """
    for start in range(0, len(columns[0] or []), MOST_ARRAYS):
        part = slice(start, start + MOST_ARRAYS)
        table = table_of([(column or [])[part] for column in columns])
        chunks = 1 if counted else int(table["ends"][0, table["count"][0] - 1])
        if chunks:
            here = [a[part] if getattr(a, "ndim", 0) == 2 else argument(a) for a in args]
            kernel(name, dtype)((min(chunks, MOST_BLOCKS),), (THREADS,), (table, *here))


def table_of(columns: Sequence[Sequence[Array]]) -> Any:
    """Return the struct `Many` for up to `MOST_ARRAYS` arrays, or tuples of arrays.

    A column without arrays counts as missing.
    """
    table, count = np.zeros(1, MANY), len(columns[0])
    sizes = [array.size for array in columns[0]]
    table["count"], table["sizes"][0, :count] = count, sizes
    table["ends"][0, :count] = np.cumsum([-(-size // CHUNK) for size in sizes])
    for place, column in enumerate(columns):
        table["at"][0, place, :len(column)] = [array.data.ptr for array in column]
    return table


def neighbours(length: int, *arrays: Array) -> int:
    """Return the elements per thread: four if row lengths and addresses allow it, else one."""
    fits = length % 4 == 0 and all(a.data.ptr % (4 * a.itemsize) == 0 for a in arrays)
    return 4 if fits else 1


def argument(value: Any) -> Any:
    """Convert a kernel's argument: a missing array to a null pointer, an int to 64 bits."""
    if value is None:
        return np.intp(0)
    if type(value) is int:
        return np.int64(value)
    return np.float64(value) if type(value) is float else value


def window(sizes: Sequence[int], kernel: Sequence[int], counts: Sequence[int],
           stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]) -> Any:
    """Return the struct `Window`; missing dimensions have size one."""
    missing = 3 - len(sizes)
    rows = [
        [1] * missing + list(sizes), [1] * missing + list(kernel), [1] * missing + list(counts),
        [1] * missing + list(stride), [0] * missing + list(padding), [1] * missing + list(dilation),
    ]
    return np.asarray(rows, np.int64).reshape(-1).view(WINDOW)
