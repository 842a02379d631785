"""`repr` of tensors and parameters: the values, and PyTorch's suffixes."""

from __future__ import annotations

from .. import _state
from ..backend import backend_of
from ..backend.float_errors import ignoring_float_errors
from ..dtypes import get_default_dtype
from .formatting import format_tensor
from .tensor import Parameter, Tensor, method


def grad_fn_name(tensor: Tensor) -> str | None:
    """Return the name of a tensor's node; "Invalid" if a view can no longer regenerate it."""
    try:
        node = tensor.grad_fn
    except RuntimeError:
        return "Invalid"
    return None if node is None else node.name()


def tangent_text(tensor: Tensor) -> str | None:
    """Return the text of a tensor's tangent in forward mode, or `None`."""
    if _state.observers.count and (transform := _state.transform.get()) is not None:
        tangent = transform.tangent(tensor)
        return None if tangent is None else repr(tangent)
    return None


@method("__repr__")
@ignoring_float_errors
def tensor_repr(self: Tensor) -> str:
    """Show the values, with dtype, device and `grad_fn` unless they are the defaults.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.5], requires_grad=True)
    tensor([1.0000, 2.5000], requires_grad=True)
    """
    xp = backend_of(self._array)
    if xp.run_op is not None:  # a batch has its own repr
        return repr(self._array)
    plain = type(self) in (Tensor, Parameter)
    node = grad_fn_name(self)
    device = self.device
    text = format_tensor(
        xp.to_host(self._array),
        dtype_suffix=None if self.dtype is get_default_dtype() else repr(self.dtype),
        grad_fn_name=node,
        requires_grad=node is None and self.requires_grad,
        device_suffix=None if device.type == "cpu" else str(device),
        prefix="tensor(" if plain else f"{type(self).__name__}(",
        tangent=tangent_text(self),
    )
    return f"Parameter({text})" if not plain and isinstance(self, Parameter) else text


def parameter_repr(self: Parameter) -> str:
    """Return the text of a parameter, under a line that says it is one."""
    return "Parameter containing:\n" + tensor_repr(self)


Parameter.__repr__ = parameter_repr  # type: ignore[method-assign,assignment]  # printing stands above tensor
