"""Convolution layers.

Source: https://docs.pytorch.org/docs/stable/nn.html#convolution-layers
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..ops.creation.create import empty
from ..tensor.tensor import Parameter, Tensor
from . import functional as F
from . import init
from .module import Module

__all__ = ["Conv1d", "Conv2d", "Conv3d"]

Sizes = int | tuple[int, ...]
PADDING_MODES = ("zeros", "reflect", "replicate", "circular")
PADDING_NAMES = ("same", "valid")


def one_of(names: Sequence[str]) -> str:
    """Return names as PyTorch prints a set of them, but always in the same order."""
    return f"{{{', '.join(map(repr, names))}}}"


def sizes_of(value: Any, dims: int) -> tuple[int, ...]:
    """Return one number for each dimension from a number or a sequence."""
    return (value,) * dims if isinstance(value, int) else tuple(value)


class ConvNd(Module):
    """Base of all convolution layers, including the transposed ones."""

    dims: int
    transposed = False

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
                 padding: Sizes | str = 0, dilation: Sizes = 1, groups: int = 1, bias: bool = True,
                 padding_mode: str = "zeros", device: Any = None, dtype: Any = None, *,
                 output_padding: Sizes = 0) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if padding_mode not in PADDING_MODES:
            raise ValueError(f"padding_mode must be one of {one_of(PADDING_MODES)}, but got "
                             f"padding_mode='{padding_mode}'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = sizes_of(kernel_size, self.dims)
        self.stride = sizes_of(stride, self.dims)
        self.padding = padding if isinstance(padding, str) else sizes_of(padding, self.dims)
        self.dilation = sizes_of(dilation, self.dims)
        self.transposed = type(self).transposed
        self.output_padding = sizes_of(output_padding, self.dims)
        self.groups = groups
        self.padding_mode = padding_mode
        if isinstance(padding, str):
            if padding not in PADDING_NAMES:
                raise ValueError(f"Invalid padding string {padding!r}, should be one of "
                                 f"{one_of(PADDING_NAMES)}")
            if padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        channels = ((in_channels, out_channels // groups) if self.transposed
                    else (out_channels, in_channels // groups))
        self.weight = Parameter(empty((*channels, *self.kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias uniformly from ±1 / sqrt(in_channels / groups * kernel size).

        >>> from minigrad import manual_seed, nn
        >>> layer = nn.Conv1d(1, 2, kernel_size=4)
        >>> _ = manual_seed(0); layer.reset_parameters(); layer.weight.data
        tensor([[[-0.0037,  0.2682, -0.4115, -0.3680]],
        <BLANKLINE>
                [[-0.1926,  0.1341, -0.0099,  0.3964]]])
        """
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._fans(self.weight)
            if fan_in:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def extra_repr(self) -> str:
        text = (f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
                f"stride={self.stride}")
        if self.padding != (0,) * self.dims:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * self.dims:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * self.dims:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class _Conv(ConvNd):
    """Base of convolution layers; subclasses set the number of dimensions."""

    convolve: Callable[..., Any]

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
                 padding: Sizes | str = 0, dilation: Sizes = 1, groups: int = 1, bias: bool = True,
                 padding_mode: str = "zeros", device: Any = None, dtype: Any = None) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups,
                         bias, padding_mode, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._both_sides(), mode=self.padding_mode)
            padding = (0,) * self.dims
        return type(self).convolve(input, weight, bias, self.stride, padding,
                                   self.dilation, self.groups)

    def _both_sides(self) -> list[int]:
        """Return the padding before and after each dimension, starting with the last dimension."""
        if isinstance(self.padding, str):
            totals = [d * (k - 1) if self.padding == "same" else 0
                      for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            return [n for t in reversed(totals) for n in (t // 2, t - t // 2)]
        return [p for p in reversed(self.padding) for _ in range(2)]


class Conv1d(_Conv):
    """Slide kernels over one dimension: (N, in_channels, L) -> (N, out_channels, steps).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Conv1d.html

    >>> from minigrad import nn, ones
    >>> nn.Conv1d(2, 4, 3, padding="same")(ones(1, 2, 9)).shape
    torch.Size([1, 4, 9])
    """

    dims = 1
    convolve = staticmethod(F.conv1d)


class Conv2d(_Conv):
    """Slide kernels over two dimensions: (N, in_channels, H, W) -> (N, out_channels, *steps).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Conv2d.html

    >>> from minigrad import nn, ones
    >>> nn.Conv2d(3, 8, 3, stride=2, padding=1)(ones(1, 3, 8, 8)).shape
    torch.Size([1, 8, 4, 4])
    """

    dims = 2
    convolve = staticmethod(F.conv2d)


class Conv3d(_Conv):
    """Slide kernels over three dimensions: (N, in_channels, D, H, W) -> (N, out_channels, *steps).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Conv3d.html

    >>> from minigrad import nn, ones
    >>> nn.Conv3d(1, 2, 2)(ones(1, 1, 3, 3, 3)).shape
    torch.Size([1, 2, 2, 2, 2])
    """

    dims = 3
    convolve = staticmethod(F.conv3d)
