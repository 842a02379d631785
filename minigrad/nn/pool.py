"""Pooling layers.

Source: https://docs.pytorch.org/docs/stable/nn.html#pooling-layers
"""

from __future__ import annotations

from typing import Any

from ..tensor.tensor import Tensor
from . import functional as F
from .conv import sizes_of
from .module import Module

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "MaxPool1d",
    "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]


class _MaxPool(Module):
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
                 return_indices: bool = False, ceil_mode: bool = False) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
                f"dilation={self.dilation}, ceil_mode={self.ceil_mode}")


class MaxPool1d(_MaxPool):
    """The maximum of every window of (N, C, L).

    >>> from minigrad import nn, tensor
    >>> nn.MaxPool1d(2)(tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[3., 2.]])
    """

    def forward(self, input: Tensor) -> Any:
        return F.max_pool1d(input, self.kernel_size, self.stride, self.padding, self.dilation,
                            self.ceil_mode, self.return_indices)


class MaxPool2d(_MaxPool):
    """The maximum of every window of (N, C, H, W).

    >>> from minigrad import nn, ones
    >>> nn.MaxPool2d(2)(ones(1, 3, 8, 8)).shape
    torch.Size([1, 3, 4, 4])
    """

    def forward(self, input: Tensor) -> Any:
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding, self.dilation,
                            self.ceil_mode, self.return_indices)


class MaxPool3d(_MaxPool):
    """The maximum of every window of (N, C, D, H, W).

    >>> from minigrad import nn, ones
    >>> nn.MaxPool3d(2)(ones(1, 3, 4, 8, 8)).shape
    torch.Size([1, 3, 2, 4, 4])
    """

    def forward(self, input: Tensor) -> Any:
        return F.max_pool3d(input, self.kernel_size, self.stride, self.padding, self.dilation,
                            self.ceil_mode, self.return_indices)


class _AvgPool(Module):
    kernel_size: Any
    stride: Any
    padding: Any

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPool):
    """The average of every window of (N, C, L).

    >>> from minigrad import nn, tensor
    >>> nn.AvgPool1d(2)(tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[2., 1.]])
    """

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True) -> None:
        super().__init__()
        self.kernel_size = (kernel_size,) if isinstance(kernel_size, int) else kernel_size
        stride = kernel_size if stride is None else stride
        self.stride = (stride,) if isinstance(stride, int) else stride
        self.padding = (padding,) if isinstance(padding, int) else padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride,
                            self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPoolWithDivisor(_AvgPool):
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override: int | None = None) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override


class AvgPool2d(_AvgPoolWithDivisor):
    """The average of every window of (N, C, H, W).

    >>> from minigrad import nn, ones
    >>> nn.AvgPool2d(2)(ones(1, 3, 8, 8)).shape
    torch.Size([1, 3, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool2d(input, self.kernel_size, self.stride,
                            self.padding, self.ceil_mode, self.count_include_pad,
                            self.divisor_override)


class AvgPool3d(_AvgPoolWithDivisor):
    """The average of every window of (N, C, D, H, W).

    >>> from minigrad import nn, ones
    >>> nn.AvgPool3d(2)(ones(1, 3, 4, 8, 8)).shape
    torch.Size([1, 3, 2, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool3d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
                            self.count_include_pad, self.divisor_override)


class _AdaptivePool(Module):
    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveAvgPool(_AdaptivePool):
    """Base of average pooling with a given number of windows."""


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Averages of `output_size` windows spread evenly over (N, C, L).

    >>> from minigrad import nn, tensor
    >>> nn.AdaptiveAvgPool1d(2)(tensor([[1.0, 2.0, 3.0, 4.0]]))
    tensor([[1.5000, 3.5000]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Averages of windows spread evenly over (N, C, H, W); `None` keeps the input's size.

    >>> from minigrad import nn, ones
    >>> nn.AdaptiveAvgPool2d((1, None))(ones(1, 3, 8, 8)).shape
    torch.Size([1, 3, 1, 8])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """Averages of windows spread evenly over (N, C, D, H, W); `None` keeps the input's size.

    >>> from minigrad import nn, ones
    >>> nn.AdaptiveAvgPool3d(2)(ones(1, 3, 8, 5, 4)).shape
    torch.Size([1, 3, 2, 2, 2])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMaxPool(_AdaptivePool):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """Maxima of `output_size` windows spread evenly over (N, C, L).

    >>> from minigrad import nn, tensor
    >>> nn.AdaptiveMaxPool1d(2)(tensor([[1.0, 2.0, 3.0, 4.0]]))
    tensor([[2., 4.]])
    """

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """Maxima of windows spread evenly over (N, C, H, W); `None` keeps the input's size.

    >>> from minigrad import nn, ones
    >>> nn.AdaptiveMaxPool2d((2, None))(ones(1, 3, 8, 5)).shape
    torch.Size([1, 3, 2, 5])
    """

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """Maxima of windows spread evenly over (N, C, D, H, W); `None` keeps the input's size.

    >>> from minigrad import nn, ones
    >>> nn.AdaptiveMaxPool3d(2)(ones(1, 3, 8, 5, 4)).shape
    torch.Size([1, 3, 2, 2, 2])
    """

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _MaxUnpool(Module):
    dims: int

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        stride = kernel_size if stride is None else stride
        self.kernel_size = sizes_of(kernel_size, self.dims)
        self.stride = sizes_of(stride, self.dims)
        self.padding = sizes_of(padding, self.dims)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """Partial inverse of `MaxPool1d`: put the maxima back and fill the rest with zeros.

    >>> from minigrad import nn, tensor
    >>> nn.MaxUnpool1d(2)(tensor([[3.0, 2.0]]), tensor([[1, 2]]))
    tensor([[0., 3., 2., 0.]])
    """

    dims = 1

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding,
                              output_size)


class MaxUnpool2d(_MaxUnpool):
    """Partial inverse of `MaxPool2d`: put the maxima back and fill the rest with zeros.

    >>> from minigrad import nn, tensor
    >>> nn.MaxUnpool2d(2)(tensor([[[3.0]]]), tensor([[[1]]]))
    tensor([[[0., 3.],
             [0., 0.]]])
    """

    dims = 2

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding,
                              output_size)


class MaxUnpool3d(_MaxUnpool):
    """Partial inverse of `MaxPool3d`: put the maxima back and fill the rest with zeros.

    >>> from minigrad import nn, tensor
    >>> nn.MaxUnpool3d((1, 1, 2))(tensor([[[[3.0]]]]), tensor([[[[1]]]]))
    tensor([[[[0., 3.]]]])
    """

    dims = 3

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding,
                              output_size)
