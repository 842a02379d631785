"""Decorators that determine the precision of a `Function` under autocast.

Source: https://docs.pytorch.org/docs/stable/amp.html#autocast-and-custom-autograd-functions
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..dtypes import dtype, float64
from ..tensor.tensor import Tensor
from .autocast import autocast
from .switches import get_autocast_dtype, is_autocast_enabled

__all__ = ["custom_bwd", "custom_fwd"]

Method = Callable[..., Any]


def custom_fwd(fwd: Method | None = None, *, device_type: str,
               cast_inputs: dtype | None = None) -> Any:
    """Decorate the `forward` of a `Function`, so that its `backward` runs in the same mode.

    With `cast_inputs` and autocast on, floating tensors are cast to that dtype, and `forward` runs
    without autocast. Raises `ValueError` unless `device_type` is a string.

    >>> import minigrad as torch
    >>> class Product(torch.autograd.Function):
    ...     @staticmethod
    ...     @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    ...     def forward(ctx, a, b):
    ...         ctx.save_for_backward(a, b)
    ...         return a @ b
    ...     @staticmethod
    ...     @torch.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, grad):
    ...         a, b = ctx.saved_tensors
    ...         return grad @ b.T, a.T @ grad
    >>> x = torch.ones(2, 2, requires_grad=True)
    >>> with torch.autocast("cpu", dtype=torch.float16):
    ...     y = Product.apply(x.half(), x)
    >>> y.dtype
    torch.float32
    >>> y.sum().backward()
    >>> x.grad
    tensor([[4., 4.],
            [4., 4.]])
    """
    require_string(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        on = is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = on and cast_inputs is None
        if cast_inputs is None or not on:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *cast(args, device_type, cast_inputs),
                       **cast(kwargs, device_type, cast_inputs))

    return forward


def custom_bwd(bwd: Method | None = None, *, device_type: str) -> Any:
    """Decorate the `backward` of a `Function`, so that it uses autocast if `forward` did.

    Raises `ValueError` unless `device_type` is a string.

    >>> import minigrad as torch
    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     @torch.amp.custom_fwd(device_type="cpu")
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     @torch.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, grad):
    ...         print(torch.is_autocast_enabled("cpu"))
    ...         return 2 * grad
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.autocast("cpu", dtype=torch.float16):
    ...     y = Double.apply(x)
    >>> y.sum().backward()
    True
    >>> x.grad
    tensor([2., 2.])
    """
    require_string(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx: Any, *grads: Any) -> Any:
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *grads)

    return backward


def require_string(device_type: Any) -> None:
    """Raise `ValueError` unless a device type is a string."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def cast(value: Any, device_type: str, wanted: dtype) -> Any:
    """Cast the floating tensors on a device type, even nested ones, to a dtype, except float64."""
    if isinstance(value, Tensor):
        other = (value.is_floating_point() and value.device.type == device_type
                 and value.dtype is not float64)
        return value.to(wanted) if other else value
    if isinstance(value, (str, bytes, np.ndarray)):
        return value
    if isinstance(value, Mapping):
        return {cast(key, device_type, wanted): cast(item, device_type, wanted)
                for key, item in value.items()}
    if isinstance(value, Iterable):
        items = (cast(item, device_type, wanted) for item in value)
        return type(value)(items) if isinstance(value, (list, tuple)) else items
    return value
