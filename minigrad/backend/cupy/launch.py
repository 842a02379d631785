"""Compiles and launches the kernels of `sources`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cupy
import numpy as np

from .sources import HEADER, KERNELS
from .sources_many import MOST_NUMBERS

Array = Any

#: Threads of a block; a power of two, as the sums of a block need.
THREADS = 256
MOST_BLOCKS = 65535
#: Fewer rows than these get larger blocks: otherwise most processors would be idle.
FEW_ROWS, MOST_THREADS = 512, 1024

_TYPES = {"e": "HALF", "f": "float", "d": "double"}
_WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
_SHARED = """#define SHARED(type, name) extern __shared__ type name[]
#define UNROLLED _Pragma("unroll 4")
"""

#: The struct `Window`: six times three integers, without names.
WINDOW = np.dtype({"names": ["fields"], "formats": [(np.int64, (18,))]})

#: `MOST_ARRAYS` and `CHUNK` of the kernels, and their struct `Many`.  A launch takes it by value,
#: so it may be captured; all arguments together may have 4096 bytes.
MOST_ARRAYS, CHUNK = 72, 1024
MANY = np.dtype([("sizes", np.int64, MOST_ARRAYS), ("at", np.uint64, (5, MOST_ARRAYS)),
                 ("ends", np.int32, MOST_ARRAYS), ("count", np.int32)], align=True)

#: Their struct `Numbers`.
NUMBERS = np.dtype([("of", np.float64, MOST_NUMBERS)])

_compiled: dict[tuple[str, str], Any] = {}


def kernel(name: str, dtype: np.dtype) -> Any:
    """Return a kernel for an element type, compiled the first time."""
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
    """Launch a kernel that has one block for each of `count` rows of `length` elements."""
    if count:
        threads, most = 32, most_threads(name) if count < FEW_ROWS else THREADS
        while threads < min(length, most):
            threads *= 2
        room = threads * (8 if dtype == np.float64 else 4)
        kernel(name, dtype)((min(count, MOST_BLOCKS),), (threads,), tuple(map(argument, args)),
                            shared_mem=room)


def most_threads(name: str) -> int:
    """Return the most threads of a block of a kernel: more for those that sum over a row."""
    return MOST_THREADS if "SHARED" in KERNELS[name] else THREADS


def many(name: str, dtype: np.dtype, columns: Sequence[Sequence[Array] | None], *args: Any,
         counted: bool = False) -> None:
    """Launch a kernel over many arrays; the columns are parallel lists of arrays.

    They are dense and, except columns of numbers, of one dtype; for a missing column the kernel
    gets null pointers.  More than `MOST_ARRAYS` take several launches.  A kernel whose work is
    `counted` has one thread for each array; its arguments that are arrays have as many rows.
    """
    for start in range(0, len(columns[0] or []), MOST_ARRAYS):
        part = slice(start, start + MOST_ARRAYS)
        table = table_of([(column or [])[part] for column in columns])
        chunks = 1 if counted else int(table["ends"][0, table["count"][0] - 1])
        if chunks:
            here = [a[part] if getattr(a, "ndim", 0) == 2 else argument(a) for a in args]
            kernel(name, dtype)((min(chunks, MOST_BLOCKS),), (THREADS,), (table, *here))


def table_of(columns: Sequence[Sequence[Array]]) -> Any:
    """Return the struct `Many` of up to `MOST_ARRAYS` arrays, or pairs, or triples ... of them.

    A column without arrays is missing.
    """
    table, count = np.zeros(1, MANY), len(columns[0])
    sizes = [array.size for array in columns[0]]
    table["count"], table["sizes"][0, :count] = count, sizes
    table["ends"][0, :count] = np.cumsum([-(-size // CHUNK) for size in sizes])
    for place, column in enumerate(columns):
        table["at"][0, place, :len(column)] = [array.data.ptr for array in column]
    return table


def neighbours(length: int, *arrays: Array) -> int:
    """Return the elements of a thread: four if rows and addresses allow it, otherwise one."""
    fits = length % 4 == 0 and all(a.data.ptr % (4 * a.itemsize) == 0 for a in arrays)
    return 4 if fits else 1


def argument(value: Any) -> Any:
    """Return a kernel's argument: a missing array is a null pointer, an integer has 64 bits."""
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
