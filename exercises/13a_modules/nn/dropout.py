# Stage 13a, Modules: the exercise for minigrad/nn/dropout.py.
# Made by `minigrad dev build`. The lesson is lessons/13a_modules.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 13a
# docs/en/glossary.md explains the names used inside the package.

"""Dropout layers zero elements at random in training and are no-ops in evaluation.

Source: https://docs.pytorch.org/docs/stable/nn.html#dropout-layers
"""

from __future__ import annotations

from ..tensor.tensor import Tensor
from . import functional as F
from .module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _Dropout(Module):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Zero each element with probability `p` and divide the rest by 1 - p.

    In evaluation it is a no-op. With `inplace` the result overwrites the input.

    >>> from minigrad import nn, ones
    >>> nn.Dropout(0.5).eval()(ones(3))
    tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        # 13a.5 Dropout (about 2 lines)
        # During training, set each element to zero with probability `self.p` and divide the
        # others by 1 - p. `Dropout2d` drops whole channels.
        #   p = 0.25, training   -> about a quarter of the elements 0, the others times 4/3
        #   evaluation           -> the input's values
        #   inplace=True         -> the input itself, with the result written to it
        # Use: `F.dropout(input, p, training, inplace)` and `F.dropout2d(...)`.
        raise NotImplementedError("13a.5 Dropout is yours to write")


class Dropout1d(_Dropout):
    """Zero whole channels of (N, C, L) or (C, L) with probability `p`.

    >>> from minigrad import nn, ones
    >>> nn.Dropout1d()(ones(4, 8, 5)).shape
    torch.Size([4, 8, 5])
    >>> nn.Dropout1d().eval()(ones(1, 1, 2))
    tensor([[[1., 1.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """Zero whole channels of (N, C, H, W) with probability `p`.

    >>> from minigrad import nn, ones
    >>> nn.Dropout2d().eval()(ones(1, 1, 1, 2))
    tensor([[[[1., 1.]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        # 13a.5 Dropout: see the task at `Dropout.forward`.
        raise NotImplementedError("13a.5 Dropout is yours to write")


class Dropout3d(_Dropout):
    """Zero whole channels of (N, C, D, H, W) or (C, D, H, W) with probability `p`.

    >>> from minigrad import nn, ones
    >>> nn.Dropout3d().eval()(ones(1, 1, 1, 1, 2))
    tensor([[[[[1., 1.]]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropout):
    """Set elements to SELU's lower bound at random, preserving mean and variance.

    >>> from minigrad import nn, ones
    >>> nn.AlphaDropout().eval()(ones(1, 2))
    tensor([[1., 1.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_Dropout):
    """Set whole channels to SELU's lower bound at random, preserving mean and variance.

    >>> from minigrad import nn, ones
    >>> nn.FeatureAlphaDropout().eval()(ones(1, 2))
    tensor([[1., 1.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)
