"""Layers that rearrange or resize: flatten, pixel shuffle, unfold, fold, upsample.

Source: https://docs.pytorch.org/docs/stable/nn.html#vision-layers
"""

from __future__ import annotations

from typing import Any

from ..tensor.tensor import Tensor
from . import functional as F
from .module import Module

__all__ = ["ChannelShuffle", "Flatten", "Fold", "PixelShuffle", "PixelUnshuffle", "Unflatten",
           "Unfold", "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Flatten(Module):
    """Flatten the dimensions from `start_dim` to `end_dim` into one.

    >>> from minigrad import nn, ones
    >>> nn.Flatten()(ones(2, 3, 4)).shape
    torch.Size([2, 12])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Split one dimension into several.

    >>> from minigrad import nn, ones
    >>> nn.Unflatten(1, (3, 4))(ones(2, 12)).shape
    torch.Size([2, 3, 4])
    """

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError("unflattened_size must be a tuple of ints, but found type "
                            f"{type(unflattened_size).__name__}")
        for i, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError("unflattened_size must be tuple of ints, but found element of type "
                                f"{type(size).__name__} at pos {i}")
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


class PixelShuffle(Module):
    """Rearrange groups of r² channels into a larger image: (*, C r², H, W) -> (*, C, H r, W r).

    >>> from minigrad import nn, ones
    >>> nn.PixelShuffle(2)(ones(1, 8, 3, 3)).shape
    torch.Size([1, 2, 6, 6])
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Undo `PixelShuffle`: (*, C, H r, W r) -> (*, C r², H, W).

    >>> from minigrad import nn, ones
    >>> nn.PixelUnshuffle(2)(ones(1, 2, 6, 6)).shape
    torch.Size([1, 8, 3, 3])
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Interleave the groups of channels of (N, C, *S): first each group's first channel, and so on.

    >>> from minigrad import arange, nn
    >>> nn.ChannelShuffle(2)(arange(4).reshape(1, 4, 1)).reshape(-1)
    tensor([0, 2, 1, 3])
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"


class _Windows(Module):
    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
                 stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def extra_repr(self) -> str:
        return (f"kernel_size={self.kernel_size}, dilation={self.dilation}, "
                f"padding={self.padding}, stride={self.stride}")


class Unfold(_Windows):
    """Extract each window of an image as a column: (N, C, H, W) -> (N, C * window, windows).

    >>> from minigrad import nn, ones
    >>> nn.Unfold(2)(ones(1, 3, 4, 4)).shape
    torch.Size([1, 12, 9])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(_Windows):
    """Sum columns into the windows of an image: (N, C * window, windows) -> (N, C, H, W).

    >>> from minigrad import nn, ones
    >>> nn.Fold((4, 4), 2)(ones(1, 12, 9)).shape
    torch.Size([1, 3, 4, 4])
    """

    def __init__(self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
                 stride: Any = 1) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding,
                      self.stride)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}, {super().extra_repr()}"


class Upsample(Module):
    """Resize the spatial dimensions of (N, C, *S) to `size`, or scale them by `scale_factor`.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Upsample.html

    >>> from minigrad import nn, ones
    >>> nn.Upsample(scale_factor=2, mode="bilinear")(ones(1, 3, 4, 4)).shape
    torch.Size([1, 3, 8, 8])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
                 align_corners: bool | None = None,
                 recompute_scale_factor: bool | None = None) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        self.scale_factor: Any = None
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        elif scale_factor:
            self.scale_factor = float(scale_factor)
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners,
                             self.recompute_scale_factor)

    def extra_repr(self) -> str:
        given = (f"size={self.size!r}" if self.scale_factor is None
                 else f"scale_factor={self.scale_factor!r}")
        return f"{given}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resize (N, C, H, W) with nearest-neighbour sampling. Deprecated: use `Upsample`.

    >>> from minigrad import nn, ones
    >>> nn.UpsamplingNearest2d(scale_factor=2)(ones(1, 3, 4, 4)).shape
    torch.Size([1, 3, 8, 8])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resize (N, C, H, W) bilinearly with aligned corners. Deprecated: use `Upsample`.

    >>> from minigrad import nn, tensor
    >>> nn.UpsamplingBilinear2d((1, 3))(tensor([[[[1.0, 3.0]]]]))
    tensor([[[[1., 2., 3.]]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
