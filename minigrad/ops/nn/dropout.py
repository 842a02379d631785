"""Dropout: random parts of a tensor are zeroed, and the rest is scaled up.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html
"""

from __future__ import annotations

import math
from typing import Any

from ... import _state
from ...op.declaration import F, Op
from ...op.publish import function
from ...shapes import same
from ...tensor.tensor import Tensor
from ..random.generator import for_each_example, of_each_example, source
from ..random.sampling import drawn_like, numbers
from ..reduction.reduction import require_float

#: The absolute value of SELU's lower bound.
SELU_BOUND = 1.7580993408473766


def both_shapes(self, p=0.5, train=True):
    """Return the shape of the input for both result and mask."""
    return [self, self]


class Dropout(Op):
    """Zero each element with probability `p` and divide the others by 1 - p; also return the mask.

    The mask is True for the elements that were kept.  With `train=False`, the input is returned
    unchanged; `None` counts as True.  Source: `torch.native_dropout`.

    >>> from minigrad import native_dropout, tensor
    >>> native_dropout(tensor([1.0, 2.0]), 0.0, True)[0]
    tensor([1., 2.])
    """

    name, node, shape = "native_dropout", "NativeDropoutBackward", both_shapes
    outputs, public = ("result", "mask"), False

    def forward(xp, self, p, train):
        if train is False:
            return [self.copy(), xp.ones(self.shape, bool)]
        require_float(self, "result type Float can't be cast to the desired output type {}")
        draws = source(xp, None)
        if xp.generators is not None:
            return list(draws.dropout(self, 1 - p, scale(p, train)))
        mask = drawn_like(xp, self, lambda xp, shape, _: numbers(
            xp, draws.bernoulli(1 - p, shape, bool)))
        return [self * mask * scale(p, train), mask]

    def grad_self(g_result, mask, p, train):
        return MaskedScale(g_result, mask, scale(p, train))

    def samples(make):
        yield make(3, 4), 0.0, True
        yield make(3), 1.0, True
        yield make(2, 2), 0.5, False


@function(method_too=False)
def native_dropout(input: Tensor, p: float, train: bool | None) -> Any:
    """Zero each element with probability `p`, divide the others by 1 - p; also return their mask.

    Source: `torch.native_dropout`.

    >>> from minigrad import native_dropout, tensor
    >>> native_dropout(tensor([1.0, 2.0]), 0.0, True)[0]
    tensor([1., 2.])
    """
    return Dropout(of_each_example(input), p, train)


class MaskedScale(Op):
    """`self` times `scale` where `mask` is true, else zero: the gradient of dropout.

    >>> from minigrad import tensor
    >>> MaskedScale(tensor([1.0, 2.0]), tensor([True, False]), 2.0)
    tensor([2., 0.])
    """

    kind = "elementwise"
    node, shape, public = "NativeDropoutBackwardBackward", same, False
    tensors, promote, promoted = ("self", "mask"), "float", ("self",)

    def forward(xp, self, mask, scale): return xp.masked_scale(self, mask, scale)

    def grad_self(g, mask, scale): return MaskedScale(g, mask, scale)

    def samples(make): yield make(3, 4), make(3, 4) > 0, 2.0


def scale(p, train):
    """Return the factor of the elements that are not dropped."""
    return 1.0 if train is False or p == 1 else 1.0 / (1.0 - p)


def noise(input: Tensor, p: float, channels: bool) -> Tensor:
    """Draw a mask of zeros and ones, for each element or for each channel."""
    if channels and input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    shape = (*input.shape[:2], *[1] * (input.ndim - 2)) if channels else input.shape
    if _state.randomness.get() == "same":  # inside vmap: all examples share it
        return for_each_example(lambda sizes: F.empty(
            (*sizes, *shape), dtype=input.dtype, device=input.device).bernoulli_(1 - p))
    blank: Tensor = F.new_empty(input, shape) if channels else F.empty_like(input)
    return blank.bernoulli_(1 - p)


def dropped(input: Tensor, p: float, train: bool, channels: bool, inplace: bool = False) -> Tensor:
    """Return `input` times the mask, divided by 1 - p, or `input` itself if p is 0 or not training.
    """
    if not train or p == 0 or not input.numel():
        return input
    if input.is_cuda and p < 1 and not (channels or inplace) and input.is_floating_point():
        fused: Tensor = F.native_dropout(input, p, True)[0]  # one kernel, as in PyTorch
        return fused
    if not inplace:
        input = of_each_example(input)
    factor = F.zeros_like(input) if p == 1 else noise(input, p, channels).div_(1 - p)
    return input.mul_(factor) if inplace else F.mul(input, factor)


def dropped_to_bound(input: Tensor, p: float, train: bool, channels: bool) -> Tensor:
    """Replace dropped elements by SELU's lower bound, and restore mean and variance."""
    if not train or p == 0 or not input.numel():
        return input
    if p == 1:
        return F.mul(input, F.zeros_like(input))
    input = of_each_example(input)
    mask = noise(input, p, channels)
    a = 1.0 / math.sqrt((SELU_BOUND**2 * p + 1) * (1 - p))
    shift = F.add(F.mul(F.add(mask, -1), SELU_BOUND * a), SELU_BOUND * a * p)
    return F.add(F.mul(input, F.mul(mask, a)), shift)


def checked(p: Any) -> float:
    """Return a probability; raise `RuntimeError` outside [0, 1]."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    return float(p)


@function(method_too=False)
def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Zero each element with probability `p`, divide the others by 1 - p. Source: `torch.dropout`.

    >>> from minigrad import dropout, tensor
    >>> dropout(tensor([1.0, 2.0]), 0.5, train=False)
    tensor([1., 2.])
    """
    return dropped(input, checked(p), train, channels=False)


@function(method_too=False)
def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """Apply `dropout` in place. Source: `torch.dropout_`.

    >>> from minigrad import dropout_, tensor
    >>> dropout_(tensor([1.0, 2.0]), 0.5, train=False)
    tensor([1., 2.])
    """
    return dropped(input, checked(p), train, channels=False, inplace=True)


@function(method_too=False)
def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Zero whole channels of an (N, C, ...) tensor. Source: `torch.feature_dropout`.

    >>> from minigrad import feature_dropout, ones
    >>> feature_dropout(ones(1, 2, 2), 0.0, train=True).shape
    torch.Size([1, 2, 2])
    """
    return dropped(input, checked(p), train, channels=True)


@function(method_too=False)
def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Set random elements to SELU's lower bound, preserving mean and variance.

    Source: `torch.alpha_dropout`.

    >>> from minigrad import alpha_dropout, tensor
    >>> alpha_dropout(tensor([1.0, 2.0]), 0.5, train=False)
    tensor([1., 2.])
    """
    return dropped_to_bound(input, checked(p), train, channels=False)


@function(method_too=False)
def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Set random channels to SELU's lower bound.  Source: `torch.feature_alpha_dropout`.

    >>> from minigrad import feature_alpha_dropout, ones
    >>> feature_alpha_dropout(ones(1, 2, 2), 0.0, train=True).shape
    torch.Size([1, 2, 2])
    """
    return dropped_to_bound(input, checked(p), train, channels=True)
