"""Parameters and buffers, the tensors that a module owns.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html
"""

from __future__ import annotations

from typing import Any

from ..ops.creation.create import empty
from ..tensor.tensor import Parameter, Tensor
from .uninitialized import UninitializedBuffer, UninitializedParameter, is_lazy

for _kind in (Parameter, UninitializedBuffer, UninitializedParameter):
    _kind.__module__ = __name__  # as in PyTorch

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


class _BufferType(type):
    """Metaclass that makes `isinstance` look for a mark, because buffers keep their own class."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.__dict__.get("_is_buffer", False)


class Buffer(metaclass=_BufferType):
    """A tensor that becomes a buffer when you set it on a module; `persistent` ones are saved.

    >>> from minigrad import nn, ones
    >>> module = nn.Module()
    >>> module.scale = nn.Buffer(ones(2))
    >>> [name for name, _ in module.named_buffers()]
    ['scale']
    """

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        data = empty(0) if data is None else data
        buffer = data.detach().requires_grad_(data.requires_grad)
        buffer.__dict__.update(persistent=persistent, _is_buffer=True)
        return buffer
