"""Deprecated names of `interpolate`.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html#vision-functions
"""

from __future__ import annotations

from typing import Any

from ..frames import warn_user
from ..ops.nn.interpolate import interpolate
from ..tensor.tensor import Tensor


def _warn(name: str, instead: str = "") -> None:
    warn_user(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` "
              f"instead{instead}.")


def upsample(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
             align_corners: bool | None = None) -> Tensor:
    """Resize the spatial dimensions of (N, C, *S). Deprecated: use `interpolate`.

    >>> import warnings
    >>> from minigrad import nn, tensor
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     nn.functional.upsample(tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    _warn("upsample")
    result: Tensor = interpolate(input, size, scale_factor, mode, align_corners)
    return result


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Resize with nearest-neighbour sampling. Deprecated: use `interpolate`.

    >>> import warnings
    >>> from minigrad import nn, tensor
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     nn.functional.upsample_nearest(tensor([[[1.0, 2.0]]]), size=3)
    tensor([[[1., 1., 2.]]])
    """
    _warn("upsample_nearest")
    result: Tensor = interpolate(input, size, scale_factor, "nearest")
    return result


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Resize bilinearly with aligned corners. Deprecated: use `interpolate`.

    >>> import warnings
    >>> from minigrad import nn, tensor
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     nn.functional.upsample_bilinear(tensor([[[[1.0, 2.0]]]]), size=(1, 3))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """
    _warn("upsample_bilinear")
    result: Tensor = interpolate(input, size, scale_factor, "bilinear", True)
    return result
