"""Pooling layers that take norms of windows, or maxima of randomly placed windows.

Source: https://docs.pytorch.org/docs/stable/nn.html#pooling-layers
"""

from __future__ import annotations

from typing import Any

from ..tensor.tensor import Tensor
from . import functional as F
from .conv import sizes_of
from .module import Module

__all__ = ["FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d"]


class _LPPool(Module):
    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None,
                 ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, "
                f"stride={self.stride}, ceil_mode={self.ceil_mode}")


class LPPool1d(_LPPool):
    """The `norm_type`-norm of every window of (N, C, L).

    >>> from minigrad import nn, tensor
    >>> nn.LPPool1d(2, 2)(tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride,
                           self.ceil_mode)


class LPPool2d(_LPPool):
    """The `norm_type`-norm of every window of (N, C, H, W).

    >>> from minigrad import nn, tensor
    >>> nn.LPPool2d(2, 2)(tensor([[[3.0, 0.0], [0.0, 4.0]]]))
    tensor([[[5.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride,
                           self.ceil_mode)


class LPPool3d(_LPPool):
    """The `norm_type`-norm of every window of (N, C, D, H, W).

    >>> from minigrad import nn, ones
    >>> nn.LPPool3d(2, 2)(ones(1, 1, 2, 2, 2)).shape
    torch.Size([1, 1, 1, 1, 1])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride,
                           self.ceil_mode)


class _FractionalMaxPool(Module):
    dims: int
    _random_samples: Any

    def __init__(self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
                 return_indices: bool = False, _random_samples: Any = None) -> None:
        super().__init__()
        name = type(self).__name__
        self.kernel_size = sizes_of(kernel_size, self.dims)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else sizes_of(output_size, self.dims)
        self.output_ratio = ((output_ratio,) * self.dims if isinstance(output_ratio, float)
                             else output_ratio)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling "
                             "ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")


class FractionalMaxPool2d(_FractionalMaxPool):
    """Maxima of `output_size` randomly placed windows in (N, C, H, W).

    >>> from minigrad import nn, ones
    >>> nn.FractionalMaxPool2d(2, output_ratio=0.5)(ones(1, 3, 8, 6)).shape
    torch.Size([1, 3, 4, 3])
    """

    dims = 2

    def forward(self, input: Tensor) -> Any:
        return F.fractional_max_pool2d(input, self.kernel_size, self.output_size,
                                       self.output_ratio, self.return_indices,
                                       self._random_samples)


class FractionalMaxPool3d(_FractionalMaxPool):
    """Maxima of `output_size` randomly placed windows in (N, C, T, H, W).

    >>> from minigrad import nn, ones
    >>> nn.FractionalMaxPool3d(2, output_size=3)(ones(1, 1, 6, 6, 6)).shape
    torch.Size([1, 1, 3, 3, 3])
    """

    dims = 3

    def forward(self, input: Tensor) -> Any:
        return F.fractional_max_pool3d(input, self.kernel_size, self.output_size,
                                       self.output_ratio, self.return_indices,
                                       self._random_samples)
