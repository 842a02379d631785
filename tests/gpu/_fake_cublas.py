"""A stand-in for cuBLAS: functions of C's calling convention that multiply with NumPy.

Handle, stream and addresses are those of CuPy's stand-in, whose record has each product.
"""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.gpu import _fake_cupy

TYPES = {0: np.float32, 1: np.float64, 2: np.float16}


def matrices(address: int, kind: int, rows: int, columns: int, leading: int, stride: int,
             count: int) -> Any:
    """Return a batch of matrices that lie column by column."""
    size = np.dtype(TYPES[kind]).itemsize
    assert leading >= rows, "columns overlap"
    reach = (count - 1) * stride + (columns - 1) * leading + rows
    memory = (ctypes.c_byte * (reach * size)).from_address(address)
    strides = [step * size for step in (stride, 1, leading)]
    return np.ndarray((count, rows, columns), TYPES[kind], memory, 0, strides)


class Cublas:
    """The library; `stream` and `workspace` are those set last."""

    def __init__(self) -> None:
        self.stream = self.workspace = 0
        self.sums: list[int] = []

    def set_stream(self, handle: int, stream: int | None) -> int:
        assert handle == 1000 + _fake_cupy.machine.current
        self.stream, self.workspace = stream or 0, 0  # forgotten, as cuBLAS does
        return 0

    def set_workspace(self, handle: int, address: int, size: int) -> int:
        assert address and size
        self.workspace = size
        return 0

    def gemm(self, handle: int, first: int, second: int, m: int, n: int, k: int, alpha: int,
             a: int, a_kind: int, lda: int, a_stride: int, b: int, b_kind: int, ldb: int,
             b_stride: int, beta: int, c: int, c_kind: int, ldc: int, c_stride: int, count: int,
             sums: int, algorithm: int) -> int:
        machine = _fake_cupy.machine
        in_capture = machine.capturing is not None
        if self.stream != _fake_cupy.current_stream().ptr or (in_capture and not self.workspace):
            return 7  # CUBLAS_STATUS_INVALID_VALUE
        if sums not in ((70,) if TYPES[a_kind] is np.float64 else
                        (68, 77) if TYPES[a_kind] is np.float32 else (68,)):
            return 15  # CUBLAS_STATUS_NOT_SUPPORTED
        self.sums.append(sums)
        number = np.float64 if sums == 70 else np.float32
        size = np.dtype(number).itemsize
        if (ctypes.string_at(alpha, size), ctypes.string_at(beta, size)) != (
                number(1).tobytes(), number(0).tobytes()):
            return 7
        left = matrices(a, a_kind, *((k, m) if first else (m, k)), lda, a_stride, count)
        right = matrices(b, b_kind, *((n, k) if second else (k, n)), ldb, b_stride, count)
        out = matrices(c, c_kind, m, n, ldc, c_stride, count)

        def work(*_: Any) -> None:
            one = (left.swapaxes(1, 2) if first else left).astype(number)
            other = (right.swapaxes(1, 2) if second else right).astype(number)
            out[...] = one @ other

        machine.note("gemm")
        if machine.capturing is not None:
            machine.recorded.append((work, (), {}, [None], False))
        work()
        return 0


def library() -> Any:
    """Return the library with the functions that `products` calls."""
    from minigrad.backend.cupy.products import SIGNATURES

    made = Cublas()
    functions = dict(zip(SIGNATURES, (made.set_stream, made.set_workspace, made.gemm),
                         strict=True))
    return SimpleNamespace(made=made, **{
        name: ctypes.CFUNCTYPE(ctypes.c_int, *SIGNATURES[name])(function)
        for name, function in functions.items()})
