"""Transposed convolution layers upsample their inputs.

Source: https://docs.pytorch.org/docs/stable/nn.html#convolution-layers
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..tensor.tensor import Tensor
from . import functional as F
from .conv import ConvNd, Sizes, sizes_of

__all__ = ["ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class _ConvTranspose(ConvNd):
    """Base of transposed convolution layers; subclasses set the number of dimensions."""

    transposed = True
    convolve: Callable[..., Any]

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
                 padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1, bias: bool = True,
                 dilation: Sizes = 1, padding_mode: str = "zeros", device: Any = None,
                 dtype: Any = None) -> None:
        if padding_mode != "zeros":
            raise ValueError('Only "zeros" padding mode is supported for '
                             f"{type(self).__name__}")
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups,
                         bias, padding_mode, device, dtype, output_padding=output_padding)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        extra = self.output_padding if output_size is None else self._fill(input, output_size)
        return type(self).convolve(input, self.weight, self.bias, self.stride, self.padding, extra,
                                   self.groups, self.dilation)

    def _fill(self, input: Tensor, output_size: Sequence[int]) -> list[int]:
        """Return the output padding that gives `output_size`, one number for each dimension."""
        before = 2 if input.dim() == self.dims + 2 else 1
        wanted = output_size
        if len(wanted) == before + self.dims:
            wanted = wanted[before:]
        if len(wanted) != self.dims:
            raise ValueError(f"ConvTranspose{self.dims}D: for {input.dim()}D input, output_size "
                             f"must have {self.dims} or {before + self.dims} elements (got "
                             f"{len(wanted)})")
        padding = sizes_of(self.padding, self.dims)
        window = zip(input.shape[before:], self.stride, padding, self.dilation, self.kernel_size,
                     strict=True)
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in window]
        most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
        if any(not a <= n <= b for a, n, b in zip(least, wanted, most, strict=True)):
            raise ValueError(f"requested an output size of {wanted}, but valid sizes range from "
                             f"{least} to {most} (for an input of {input.size()[2:]})")
        return [n - a for n, a in zip(wanted, least, strict=True)]


class ConvTranspose1d(_ConvTranspose):
    """Spread kernels over one dimension: (N, in_channels, L) -> (N, out_channels, larger).

    With a stride, several output sizes are possible; pass `output_size` to the call to choose one.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ConvTranspose1d.html

    >>> from minigrad import nn, ones
    >>> nn.ConvTranspose1d(2, 4, 3, stride=2)(ones(1, 2, 5), output_size=[12]).shape
    torch.Size([1, 4, 12])
    """

    dims = 1
    convolve = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTranspose):
    """Spread kernels over two dimensions: (N, in_channels, H, W) -> (N, out_channels, *larger).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ConvTranspose2d.html

    >>> from minigrad import nn, ones
    >>> nn.ConvTranspose2d(3, 8, 3, stride=2, padding=1, output_padding=1)(ones(1, 3, 4, 4)).shape
    torch.Size([1, 8, 8, 8])
    """

    dims = 2
    convolve = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTranspose):
    """Spread kernels over three dimensions: (N, in_channels, D, H, W) -> (N, out_channels, ...).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ConvTranspose3d.html

    >>> from minigrad import nn, ones
    >>> nn.ConvTranspose3d(1, 2, 2)(ones(1, 1, 3, 3, 3)).shape
    torch.Size([1, 2, 4, 4, 4])
    """

    dims = 3
    convolve = staticmethod(F.conv_transpose3d)
