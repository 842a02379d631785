"""Nodes that PyTorch's tests make by hand."""

from __future__ import annotations

from typing import Any

from ..autograd.function import Function
from ..autograd.function.delayed_error import DelayedError
from ..graph.accumulate_grad import AccumulateGrad
from ..tensor.tensor import Tensor

__all__ = ["AccumulateGrad", "DelayedError", "UndefinedGrad"]


class _Undefine(Function):
    """Identity that passes no gradient."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        """Return the tensors as they are."""
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[None, ...]:
        """Return no gradients."""
        return (None,) * len(grads)


class UndefinedGrad:
    """A function with a backward that returns undefined gradients.

    >>> from minigrad import ones
    >>> x = ones(2, requires_grad=True)
    >>> UndefinedGrad()(x).sum().backward(); x.grad is None
    True
    """

    def __call__(self, *tensors: Tensor) -> Any:
        results = _Undefine.apply(*tensors)
        return results[0] if len(results) == 1 else results
