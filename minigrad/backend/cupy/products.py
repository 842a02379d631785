"""Matrix products while a graph is captured, by cuBLAS itself.

NOTE [Products in a captured graph]
    cuBLAS's products may be captured, but CuPy refuses to ask for any while its stream captures,
    since not all of cuBLAS may.  So in a capture, and where one warms up for it, products go from
    here to the library that CuPy has loaded, through CuPy's own handle: those of `xp.matmul`, of
    `@` between arrays, and of `cupy.einsum`, which calls `cupy.matmul`.  What they work in is
    memory of the graph's: cuBLAS's own belongs to other work as well.  Its next call through CuPy
    sets the stream, and cuBLAS then takes its own again.

    The products of convolutions go this way always: CuPy has no place to write them to, makes
    float32 of batches of float16, and lets nobody choose TF32 for one product.

Source: https://docs.nvidia.com/cuda/cublas/#cuda-graphs-support
"""

from __future__ import annotations

import ctypes
from functools import cache
from importlib import import_module
from math import prod
from typing import Any

import cupy
import numpy as np

from ..dnn import switches
from .layout import FLOATS, dense
from .place import capturing

Array = Any

#: What NVIDIA recommends for an H100, more than other devices want.
WORKSPACE_BYTES = 32 << 20

#: cuBLAS's numbers for an element type, for the type of sums, and these sums' type.
_TYPES = {"float16": (2, 68, np.float32), "float32": (0, 68, np.float32),
          "float64": (1, 70, np.float64)}
_DEFAULT_ALGORITHM, _SUMS_OF_TF32 = -1, 77

_pointer, _int, _long = ctypes.c_void_p, ctypes.c_int, ctypes.c_longlong
#: The functions of cublas_api.h that are called, and their parameters.
SIGNATURES = {
    "cublasSetStream_v2": (_pointer, _pointer),
    "cublasSetWorkspace_v2": (_pointer, _pointer, ctypes.c_size_t),
    "cublasGemmStridedBatchedEx": (
        _pointer, _int, _int, _int, _int, _int, _pointer, _pointer, _int, _int, _long,
        _pointer, _int, _int, _long, _pointer, _pointer, _int, _int, _long, _int, _int, _int),
}

_matmul, _operator = cupy.matmul, cupy.ndarray.__matmul__
_warming = False


@cache
def library() -> Any:
    """Return cuBLAS, found as what CuPy's module for it needs."""
    return ctypes.CDLL(str(import_module("cupy_backends.cuda.libs.cublas").__file__))


def call(name: str, *args: Any) -> None:
    """Call a function of cuBLAS; RuntimeError where it fails."""
    function = getattr(library(), name)
    function.argtypes, function.restype = SIGNATURES[name], _int
    status = function(*args)
    if status:
        raise RuntimeError(f"{name} failed with cuBLAS's status {status}")


def begin(warming: bool = False) -> None:
    """Let products in captures reach `matmul` below, whoever asks for them.

    All products while one warms up for a capture: so cuBLAS's kernels are loaded by then.
    """
    global _warming
    cupy.matmul, cupy.ndarray.__matmul__, _warming = matmul, operator, warming


def end() -> None:
    """Give CuPy its own products back."""
    global _warming
    cupy.matmul, cupy.ndarray.__matmul__, _warming = _matmul, _operator, False


def operator(a: Array, b: Any) -> Any:
    """Return `a @ b`, NotImplemented where CuPy does."""
    return matmul(a, b) if isinstance(b, cupy.ndarray) else _operator(a, b)


def matmul(a: Array, b: Array, out: Array | None = None) -> Array:
    """Return `cupy.matmul`'s product, in a capture too; whole numbers have kernels of CuPy's own.

    See NOTE [Products in a captured graph].
    """
    dtype = np.promote_types(a.dtype, b.dtype)
    if not (_warming or capturing()) or dtype.char not in FLOATS or not (a.ndim and b.ndim):
        return _matmul(a, b) if out is None else _matmul(a, b, out=out)
    left, right = (array.astype(dtype, copy=False) for array in (a, b))
    left = left[None] if a.ndim == 1 else left
    right = right[:, None] if b.ndim == 1 else right
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(f"shapes {a.shape} and {b.shape} not aligned")
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    make = cupy.empty if left.shape[-1] else cupy.zeros
    result = make((*batch, left.shape[-2], right.shape[-1]), dtype)
    if result.size and left.shape[-1]:
        multiply(left, right, result, batch)
    result = result[..., 0, :] if a.ndim == 1 else result
    result = result[..., 0] if b.ndim == 1 else result
    if out is None:
        return result
    out[...] = result
    return out


def multiply(left: Array, right: Array, result: Array, batch: tuple[int, ...],
             tf32: bool = False) -> None:
    """Queue a product of matrices, or of a batch of them, into row-major memory.

    With `tf32` float32 may be rounded to TF32 on its way in.  cuBLAS counts down columns, so to it
    all three are transposed: it multiplies right with left.
    """
    kind, sums, number = _TYPES[result.dtype.name]
    sums = _SUMS_OF_TF32 if tf32 and result.dtype == np.float32 else sums
    one, zero = np.ones((), number), np.zeros((), number)
    rows, columns = result.shape[-2:]
    first, second = laid(right, batch), laid(left, batch)
    factors = [value for memory, _, *steps in (first, second)
               for value in (memory.data.ptr, kind, *steps)]
    handle = cupy.cuda.Device().cublas_handle
    call("cublasSetStream_v2", handle, cupy.cuda.get_current_stream().ptr)
    if _warming or capturing():
        room = cupy.empty(WORKSPACE_BYTES, np.uint8)
        call("cublasSetWorkspace_v2", handle, room.data.ptr, room.nbytes)
    call("cublasGemmStridedBatchedEx", handle, first[1], second[1], columns, rows,
         left.shape[-1], one.ctypes.data, *factors, zero.ctypes.data, result.data.ptr, kind,
         columns, rows * columns, prod(batch), sums, _DEFAULT_ALGORITHM)


def convolve(left: Array, right: Array, result: Array) -> Array:
    """Write a product of batches of matrices, as a convolution needs it, to row-major memory."""
    if not left.shape[-1]:
        result[...] = 0
    elif result.size:
        multiply(left, right, result, result.shape[:-2], switches.allow_tf32)
    return result


def laid(array: Array, batch: tuple[int, ...]) -> tuple[Array, int, int, int]:
    """Return an array as cuBLAS can read it, whether transposed, and its steps.

    These lead from row to row, and from matrix to matrix: nowhere where there is one for all.
    """
    alone = prod(array.shape[:-2]) == 1
    if not alone:
        array = cupy.broadcast_to(array, (*batch, *array.shape[-2:]))
    other = array.swapaxes(-1, -2)
    transposed = other.flags.c_contiguous and not array.flags.c_contiguous
    memory = other if transposed else dense(array)
    return memory, int(transposed), memory.shape[-1], 0 if alone else prod(memory.shape[-2:])
