"""Matrix products during graph capture, with direct calls to cuBLAS.

NOTE [Products in a captured graph]
    Products of cuBLAS may be captured, but CuPy raises for all of them while its stream captures,
    because some other functions of cuBLAS may not be.  So in a capture, and in the warm-up for one,
    this module calls the library that CuPy has loaded, with CuPy's own handle. This covers
    `xp.matmul`, `@` between arrays, and `cupy.einsum`, which calls `cupy.matmul`.  Their workspace
    belongs to the graph, because cuBLAS's own one is shared with other work.  The next call through
    CuPy sets the stream, which makes cuBLAS use its own workspace again.

    Products of convolutions always use this module, because CuPy cannot write them to a given
    array, converts batches of float16 to float32, and cannot select TF32 for a single product.

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

#: NVIDIA's recommended workspace for an H100, more than other devices need.
WORKSPACE_BYTES = 32 << 20

#: cuBLAS's codes for an element type and for the type of sums, and the sums' dtype.
_TYPES = {"float16": (2, 68, np.float32), "float32": (0, 68, np.float32),
          "float64": (1, 70, np.float64)}
_DEFAULT_ALGORITHM, _SUMS_OF_TF32 = -1, 77

_pointer, _int, _long = ctypes.c_void_p, ctypes.c_int, ctypes.c_longlong
#: Functions of cublas_api.h with their parameters.
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
    """Return the cuBLAS library that CuPy's module is linked to."""
    return ctypes.CDLL(str(import_module("cupy_backends.cuda.libs.cublas").__file__))


def call(name: str, *args: Any) -> None:
    """Call a function of cuBLAS; raise `RuntimeError` if it fails."""
    function = getattr(library(), name)
    function.argtypes, function.restype = SIGNATURES[name], _int
    status = function(*args)
    if status:
        raise RuntimeError(f"{name} failed with cuBLAS's status {status}")


def begin(warming: bool = False) -> None:
    """Replace CuPy's products by `matmul` below for captures.

    In a warm-up this applies to all products, so that cuBLAS loads its kernels.
    """
    global _warming
    cupy.matmul, cupy.ndarray.__matmul__, _warming = matmul, operator, warming


def end() -> None:
    """Restore CuPy's own products."""
    global _warming
    cupy.matmul, cupy.ndarray.__matmul__, _warming = _matmul, _operator, False


def operator(a: Array, b: Any) -> Any:
    """Return `a @ b`, or NotImplemented if CuPy does."""
    return matmul(a, b) if isinstance(b, cupy.ndarray) else _operator(a, b)


def matmul(a: Array, b: Array, out: Array | None = None) -> Array:
    """Return `cupy.matmul`'s product, even in a capture; integers use CuPy's own kernels.

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
    """Queue a product of matrices, or of batches of them, into row-major memory.

    With `tf32`, float32 inputs may be rounded to TF32.  cuBLAS is column-major and so sees all
    three matrices transposed; therefore it multiplies right with left.
    """
    data_type, sums, number = _TYPES[result.dtype.name]
    sums = _SUMS_OF_TF32 if tf32 and result.dtype == np.float32 else sums
    one, zero = np.ones((), number), np.zeros((), number)
    rows, columns = result.shape[-2:]
    first, second = laid(right, batch), laid(left, batch)
    factors = [value for memory, _, *steps in (first, second)
               for value in (memory.data.ptr, data_type, *steps)]
    handle = cupy.cuda.Device().cublas_handle
    call("cublasSetStream_v2", handle, cupy.cuda.get_current_stream().ptr)
    if _warming or capturing():
        room = cupy.empty(WORKSPACE_BYTES, np.uint8)
        call("cublasSetWorkspace_v2", handle, room.data.ptr, room.nbytes)
    call("cublasGemmStridedBatchedEx", handle, first[1], second[1], columns, rows,
         left.shape[-1], one.ctypes.data, *factors, zero.ctypes.data, result.data.ptr, data_type,
         columns, rows * columns, prod(batch), sums, _DEFAULT_ALGORITHM)


def convolve(left: Array, right: Array, result: Array) -> Array:
    """Write a product of batches of matrices to row-major memory, as a convolution needs it."""
    if not left.shape[-1]:
        result[...] = 0
    elif result.size:
        multiply(left, right, result, result.shape[:-2], switches.allow_tf32)
    return result


def laid(array: Array, batch: tuple[int, ...]) -> tuple[Array, int, int, int]:
    """Return an array in a form for cuBLAS, whether it is transposed, and its strides.

    The strides are between rows and between matrices; the latter is 0 if one matrix is shared.
    """
    alone = prod(array.shape[:-2]) == 1
    if not alone:
        array = cupy.broadcast_to(array, (*batch, *array.shape[-2:]))
    other = array.swapaxes(-1, -2)
    transposed = other.flags.c_contiguous and not array.flags.c_contiguous
    memory = other if transposed else dense(array)
    return memory, int(transposed), memory.shape[-1], 0 if alone else prod(memory.shape[-2:])
