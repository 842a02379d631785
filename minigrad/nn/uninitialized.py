"""Uninitialized parameters and buffers, as lazy modules hold them until the first call.

NOTE [An array that must not be used]
    Such a tensor has a dtype and a device, so it needs an array, which has no elements. An op on
    that array would succeed silently. Therefore the array has a special type, and the backend of
    this type raises for every operation.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.UninitializedParameter.html
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend import BACKENDS
from ..ops.creation.create import empty
from ..tensor.protocols import keep_out
from ..tensor.tensor import Parameter, Tensor

__all__ = ["UninitializedBuffer", "UninitializedParameter", "is_lazy"]


class UnknownArray(np.ndarray):
    """The array of an uninitialized tensor; see NOTE [An array that must not be used]."""

    @property
    def inner(self) -> Any:
        """The plain array; it determines the device."""
        return self.view(np.ndarray)


def refuse(*_: Any, **__: Any) -> Any:
    """Raise PyTorch's error for using an uninitialized parameter or buffer."""
    raise ValueError(
        "Attempted to use an uninitialized parameter. This error happens when you are using a "
        "`LazyModule` or explicitly manipulating `torch.nn.parameter.UninitializedParameter` "
        "objects. When using LazyModules Call `forward` with a dummy batch to initialize the "
        "parameters before calling torch functions")


class NoBackend:
    """The backend of `UnknownArray`: it reports where the array is, and refuses everything else."""

    name, device_type = "uninitialized", "cpu"
    run_op: Any = staticmethod(refuse)
    run_values: Any = staticmethod(refuse)

    def __getattr__(self, name: str) -> Any:
        return refuse()

    def device_index(self, array: Any) -> None:
        """Return the index of an array's device: `None`, since there is only one."""

    def place_of(self, arrays: Any) -> None:
        """Return `None`, since work on these arrays needs no context."""


class Uninitialized:
    """Shared part of uninitialized parameters and buffers."""

    __slots__ = ()
    cls_to_become: type[Tensor]

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Take a shape: the same object becomes an ordinary tensor with arbitrary values."""
        self.data = empty(tuple(shape), device=self.device if device is None else device,
                          dtype=self.dtype if dtype is None else dtype)
        self.__class__ = self.cls_to_become

    @property
    def data(self: Any) -> Any:
        """A tensor without elements, since there is no memory yet."""
        return empty(0, dtype=self.dtype, device=self.device)

    @data.setter
    def data(self, value: Any) -> None:
        vars(Tensor)["data"].__set__(self, value)

    @property
    def shape(self) -> Any:
        """Raise `RuntimeError`, because there is no shape yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes.")

    def numel(self) -> int:
        """Raise `RuntimeError`, because there is no shape yet."""
        return len(self.shape)

    def share_memory_(self) -> Any:
        """Raise `RuntimeError`, because there is no memory yet.

        >>> from minigrad.nn.parameter import UninitializedParameter
        >>> UninitializedParameter().share_memory_()
        Traceback (most recent call last):
            ...
        RuntimeError: Can't share memory on an uninitialized parameter or buffer. ...
        """
        raise RuntimeError("Can't share memory on an uninitialized parameter or buffer. Call "
                           "`forward` to initialize the parameters before calling "
                           "`module.share_memory()`.")

    def detach(self) -> Any:
        """Return this tensor itself, so that states hold it unchanged."""
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return type(self), (self.requires_grad,)


def _moving(name: str) -> Any:
    def move(self: Any, *args: Any, **kwargs: Any) -> Any:
        moved = getattr(empty(0, dtype=self.dtype, device=self.device), name)(*args, **kwargs)
        return type(self)(self.requires_grad, moved.device, moved.dtype)

    move.__name__ = name
    move.__doc__ = f"Return the same with the dtype and device that `Tensor.{name}` gives it."
    return move


for _name in ("to", "half", "float", "double", "cpu", "cuda", "type"):
    setattr(Uninitialized, _name, _moving(_name))


def _made(cls: Any, requires_grad: bool, device: Any, dtype: Any) -> Any:
    """Return an uninitialized tensor of a class."""
    BACKENDS.setdefault(UnknownArray, NoBackend())
    array = empty(0, device=device, dtype=dtype)._array
    made = cls._plain_as(cls, array.view(UnknownArray) if type(array) is np.ndarray else array)
    return made.requires_grad_() if requires_grad else made


class UninitializedParameter(Uninitialized, Parameter):
    """A parameter without a shape; `materialize` gives it one.

    >>> from minigrad.nn.parameter import UninitializedParameter
    >>> weight = UninitializedParameter()
    >>> weight.materialize((2, 3)); weight.shape
    torch.Size([2, 3])
    """

    __slots__ = ()
    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return _made(cls, requires_grad, device, dtype)


class UninitializedBuffer(Uninitialized, Tensor):
    """A buffer without a shape; `materialize` gives it one.

    >>> from minigrad import cuda
    >>> from minigrad.nn.parameter import UninitializedBuffer
    >>> buffer = UninitializedBuffer(); buffer
    <UninitializedBuffer>
    >>> buffer.double().dtype, buffer.float().dtype, buffer.half().dtype
    (torch.float64, torch.float32, torch.float16)
    >>> buffer.cuda().is_cuda if cuda.is_available() else True
    True
    >>> buffer.shape
    Traceback (most recent call last):
        ...
    RuntimeError: Can't access the shape of an uninitialized parameter or buffer. ...
    >>> buffer.materialize((2, 3)); buffer.shape
    torch.Size([2, 3])
    """

    __slots__ = ()
    __torch_function__ = staticmethod(keep_out)
    cls_to_become = Tensor

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None,
                persistent: bool = True) -> Any:
        made = _made(cls, requires_grad, device, dtype)
        made.__dict__.update(persistent=persistent, _is_buffer=True)
        return made


def is_lazy(param: Any) -> bool:
    """Return whether a tensor is uninitialized."""
    return isinstance(param, Uninitialized)
