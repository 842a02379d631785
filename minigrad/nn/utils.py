"""Gradients cut short, and all parameters as one vector.

Source: https://docs.pytorch.org/docs/stable/nn.html#utilities
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..autograd.grad_mode import no_grad
from ..op import F
from ..ops.create import tensor
from ..tensor import Tensor

Tensors = Tensor | Iterable[Tensor]


def _gradients(parameters: Tensors) -> list[Tensor]:
    chosen = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in chosen if p.grad is not None]


def get_total_norm(tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                   foreach: bool | None = None) -> Tensor:
    """Return the norm of all elements together."""
    each = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not each:
        return tensor(0.0)
    norms = F.stack([F.norm(t, float(norm_type)) for t in each])
    total: Tensor = F.norm(norms, float(norm_type))
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(f"The total norm of order {norm_type} for gradients from `parameters` "
                           "is non-finite, so it cannot be clipped. To disable this error and "
                           "scale the gradients by the non-finite norm anyway, set "
                           "`error_if_nonfinite=False`")
    return total


def clip_grad_norm_(parameters: Tensors, max_norm: float, norm_type: float = 2.0,
                    error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:
    """Scale all gradients, in place, so that their common norm is at most `max_norm`.

    Returns the norm before.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html

    >>> from minigrad import tensor
    >>> x = tensor([3.0, 4.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> clip_grad_norm_([x], 1.0), x.grad
    (tensor(10.), tensor([0.6000, 0.8000]))
    """
    grads = _gradients(parameters)
    with no_grad():
        total = get_total_norm(grads, norm_type, error_if_nonfinite)
        factor = F.clamp(float(max_norm) / (total + 1e-6), max=1.0)
        for grad in grads:
            grad.mul_(factor)
    return total


def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Bring all elements of the gradients within ±clip_value, in place."""
    with no_grad():
        for grad in _gradients(parameters):
            grad.clamp_(-float(clip_value), float(clip_value))


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all parameters as one vector.

    >>> from minigrad import ones
    >>> parameters_to_vector([ones(2), ones(1, 2)])
    tensor([1., 1., 1., 1.])
    """
    return F.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make the parameters look at the pieces of one vector."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {_full_name(vec)}")
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec[start:start + count].view_as(parameter).data
        start += count


def _full_name(value: Any) -> str:
    return type(value).__name__
