"""Padding layers extend the last dimensions of a tensor.

Source: https://docs.pytorch.org/docs/stable/nn.html#padding-layers
"""

from __future__ import annotations

from ..tensor.tensor import Tensor
from . import functional as F
from .module import Module

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d",
    "ConstantPad3d", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d",
    "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]

Padding = int | tuple[int, ...]


class _Pad(Module):
    """Base: pad the last `dims` dimensions by a number, or by (left, right, top, bottom, ...)."""

    dims: int
    mode: str
    value: float | None = None

    def __init__(self, padding: Padding) -> None:
        super().__init__()
        self.padding = (padding,) * (2 * self.dims) if isinstance(padding, int) else tuple(padding)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode, self.value)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    """Base of layers that pad with a constant."""

    mode = "constant"

    def __init__(self, padding: Padding, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    """Base of layers that pad with zeros."""

    def __init__(self, padding: Padding) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return _Pad.extra_repr(self)


class _CircularPad(_Pad):
    """Base of layers that wrap around to the opposite side; they check the input's dimensions."""

    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (self.dims + 1, self.dims + 2):
            raise ValueError(f"expected {self.dims + 1}D or {self.dims + 2}D input "
                             f"(got {input.dim()}D input)")
        return super().forward(input)


class _ReflectionPad(_Pad):
    """Base of layers that mirror the elements next to the edge."""

    mode = "reflect"


class _ReplicationPad(_Pad):
    """Base of layers that repeat the edge."""

    mode = "replicate"


class ReflectionPad1d(_ReflectionPad):
    """Pad (N, C, L) or (C, L) with its reflection, without repeating the edge.

    >>> from minigrad import nn, tensor
    >>> nn.ReflectionPad1d(1)(tensor([[[1.0, 2.0, 3.0]]])).tolist()
    [[[2.0, 1.0, 2.0, 3.0, 2.0]]]
    """

    dims = 1


class ReflectionPad2d(_ReflectionPad):
    """Pad (N, C, H, W) or (C, H, W) with its reflection, without repeating the edge.

    >>> from minigrad import nn, ones
    >>> nn.ReflectionPad2d(1)(ones(1, 1, 3, 3)).shape
    torch.Size([1, 1, 5, 5])
    """

    dims = 2


class ReflectionPad3d(_ReflectionPad):
    """Pad (N, C, D, H, W) or (C, D, H, W) with its reflection, without repeating the edge.

    >>> from minigrad import nn, ones
    >>> nn.ReflectionPad3d(1)(ones(1, 1, 3, 3, 3)).shape
    torch.Size([1, 1, 5, 5, 5])
    """

    dims = 3


class ReplicationPad1d(_ReplicationPad):
    """Pad (N, C, L) or (C, L) with copies of its edge.

    >>> from minigrad import nn, tensor
    >>> nn.ReplicationPad1d(1)(tensor([[[1.0, 2.0, 3.0]]])).tolist()
    [[[1.0, 1.0, 2.0, 3.0, 3.0]]]
    """

    dims = 1


class ReplicationPad2d(_ReplicationPad):
    """Pad (N, C, H, W) or (C, H, W) with copies of its edge.

    >>> from minigrad import nn, ones
    >>> nn.ReplicationPad2d(1)(ones(1, 1, 3, 3)).shape
    torch.Size([1, 1, 5, 5])
    """

    dims = 2


class ReplicationPad3d(_ReplicationPad):
    """Pad (N, C, D, H, W) or (C, D, H, W) with copies of its edge.

    >>> from minigrad import nn, ones
    >>> nn.ReplicationPad3d(1)(ones(1, 1, 3, 3, 3)).shape
    torch.Size([1, 1, 5, 5, 5])
    """

    dims = 3


class ConstantPad1d(_ConstantPad):
    """Pad (N, C, L) or (C, L) with a constant.

    >>> from minigrad import nn, tensor
    >>> nn.ConstantPad1d(1, 3.5)(tensor([[[1.0, 2.0, 3.0]]])).tolist()
    [[[3.5, 1.0, 2.0, 3.0, 3.5]]]
    """

    dims = 1


class ConstantPad2d(_ConstantPad):
    """Pad (N, C, H, W) or (C, H, W) with a constant.

    >>> from minigrad import nn, ones
    >>> nn.ConstantPad2d(1, 3.5)(ones(1, 1, 3, 3)).shape
    torch.Size([1, 1, 5, 5])
    """

    dims = 2


class ConstantPad3d(_ConstantPad):
    """Pad (N, C, D, H, W) or (C, D, H, W) with a constant.

    >>> from minigrad import nn, ones
    >>> nn.ConstantPad3d(1, 3.5)(ones(1, 1, 3, 3, 3)).shape
    torch.Size([1, 1, 5, 5, 5])
    """

    dims = 3


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Pad (N, C, L) or (C, L) with zeros.

    >>> from minigrad import nn, tensor
    >>> nn.ZeroPad1d(1)(tensor([[[1.0, 2.0, 3.0]]])).tolist()
    [[[0.0, 1.0, 2.0, 3.0, 0.0]]]
    """


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Pad (N, C, H, W) or (C, H, W) with zeros.

    >>> from minigrad import nn, ones
    >>> nn.ZeroPad2d(1)(ones(1, 1, 3, 3)).shape
    torch.Size([1, 1, 5, 5])
    """


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Pad (N, C, D, H, W) or (C, D, H, W) with zeros.

    >>> from minigrad import nn, ones
    >>> nn.ZeroPad3d(1)(ones(1, 1, 3, 3, 3)).shape
    torch.Size([1, 1, 5, 5, 5])
    """


class CircularPad1d(_CircularPad):
    """Pad (N, C, L) or (C, L) by wrapping around to the opposite side.

    >>> from minigrad import nn, tensor
    >>> nn.CircularPad1d(1)(tensor([[[1.0, 2.0, 3.0]]])).tolist()
    [[[3.0, 1.0, 2.0, 3.0, 1.0]]]
    """

    dims = 1


class CircularPad2d(_CircularPad):
    """Pad (N, C, H, W) or (C, H, W) by wrapping around to the opposite side.

    >>> from minigrad import nn, ones
    >>> nn.CircularPad2d(1)(ones(1, 1, 3, 3)).shape
    torch.Size([1, 1, 5, 5])
    """

    dims = 2


class CircularPad3d(_CircularPad):
    """Pad (N, C, D, H, W) or (C, D, H, W) by wrapping around to the opposite side.

    >>> from minigrad import nn, ones
    >>> nn.CircularPad3d(1)(ones(1, 1, 3, 3, 3)).shape
    torch.Size([1, 1, 5, 5, 5])
    """

    dims = 3
