"""Gradient clipping, by the total norm or element by element.

Source: https://docs.pytorch.org/docs/stable/nn.html#utilities
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from ...autograd.grad_mode import no_grad
from ...frames import warn_user
from ...op.declaration import F
from ...ops.creation.create import tensor
from ...tensor.tensor import Tensor

Tensors = Tensor | Iterable[Tensor]


def _gradients(parameters: Tensors) -> list[Tensor]:
    chosen = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in chosen if p.grad is not None]


def get_total_norm(tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                   foreach: bool | None = None) -> Tensor:
    """Return the norm of all elements of all tensors together.

    >>> from minigrad import nn, tensor
    >>> nn.utils.get_total_norm([tensor([3.0]), tensor([4.0])])
    tensor(5.)
    """
    each = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not each:
        return tensor(0.0)
    norms = F.stack([F.norm(t, float(norm_type)).to(each[0].device) for t in each])
    total: Tensor = F.norm(norms, float(norm_type))
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(f"The total norm of order {norm_type} for gradients from `parameters` "
                           "is non-finite, so it cannot be clipped. To disable this error and "
                           "scale the gradients by the non-finite norm anyway, set "
                           "`error_if_nonfinite=False`")
    return total


def clip_grad_norm_(parameters: Tensors, max_norm: float, norm_type: float = 2.0,
                    error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:
    """Scale all gradients in place so that their total norm is at most `max_norm`.

    Returns the total norm before clipping.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html

    >>> from minigrad import tensor
    >>> x = tensor([3.0, 4.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> clip_grad_norm_([x], 1.0), x.grad
    (tensor(10.), tensor([0.6000, 0.8000]))
    """
    chosen = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if not chosen and isinstance(parameters, Iterator):
        warn_user("`parameters` is an empty generator, no gradient clipping will occur.")
    with no_grad():
        total = get_total_norm(_gradients(chosen), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(chosen, max_norm, total)
    return total


def clip_grad_norm(parameters: Tensors, max_norm: float, norm_type: float = 2.0,
                   error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:
    """Scale gradients down in place.  Deprecated: use `clip_grad_norm_`.

    >>> import warnings
    >>> from minigrad import nn, tensor
    >>> x = tensor([3.0, 4.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     nn.utils.clip_grad_norm([x], max_norm=1.0)
    tensor(10.)
    """
    warn_user("`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
              "`torch.nn.utils.clip_grad_norm_`.", FutureWarning)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grads_with_norm_(parameters: Tensors, max_norm: float, total_norm: Tensor,
                          foreach: bool | None = None) -> None:
    """Clip all gradients in place to `max_norm`, given their total norm.

    >>> from minigrad import nn, tensor
    >>> p = nn.Parameter(tensor([1.0]))
    >>> p.grad = tensor([4.0])
    >>> nn.utils.clip_grads_with_norm_(p, 1.0, tensor(4.0))
    >>> p.grad
    tensor([1.0000])
    """
    with no_grad():
        factor = F.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
        for grad in _gradients(parameters):
            grad.mul_(factor.to(grad.device))


def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Clamp all elements of the gradients to ±`clip_value`, in place.

    >>> from minigrad import nn, tensor
    >>> p = nn.Parameter(tensor([1.0, 2.0]))
    >>> p.grad = tensor([-3.0, 0.5])
    >>> nn.utils.clip_grad_value_([p], 1.0)
    >>> p.grad
    tensor([-1.0000,  0.5000])
    """
    with no_grad():
        for grad in _gradients(parameters):
            grad.clamp_(-float(clip_value), float(clip_value))
