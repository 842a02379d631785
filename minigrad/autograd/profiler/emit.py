"""Ranges for NVIDIA's profilers instead of a profile.

Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.profiler.emit_nvtx.html
"""

from __future__ import annotations

from typing import Self

from ... import cuda
from ...device import backend_for
from .contexts import _Recording
from .nvtx import NvtxRecorder


class emit_nvtx(_Recording):
    """Mark every op and node for NVIDIA's profilers (`nsys profile python program.py`).

    Needs a GPU and CuPy; raises `RuntimeError` otherwise.  An op's range is named `aten::mul, seq =
    5`, its backward's `MulBackward0, seq = 5`; `record_shapes` appends the sizes of the inputs.

    >>> from minigrad import cuda, ones
    >>> with emit_nvtx(enabled=cuda.is_available(), record_shapes=True):
    ...     y = ones(2, 3) * 2
    >>> y.shape
    torch.Size([2, 3])
    """

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        super().__init__(enabled)
        self.record_shapes = record_shapes

    def __enter__(self) -> Self:
        if self.enabled:
            if not cuda.is_available():
                raise RuntimeError("emit_nvtx needs an NVIDIA GPU and CuPy, which are missing; "
                                   "profile() measures the CPU.")
            self._recorder = NvtxRecorder(backend_for("cuda").cuda.nvtx, self.record_shapes)
            self._start(self._recorder)
        return self

    def __exit__(self, *exc: object) -> None:
        if self.enabled:
            self._stop(self._recorder)

    def _title(self) -> str:
        return "NVTX annotation"


emit_nvtx.__module__ = __name__.rpartition(".")[0]  # as in PyTorch, for pickles and reprs
