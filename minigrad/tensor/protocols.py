"""Python protocols of tensors: numbers, NumPy, DLPack, iteration, copy, pickle."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _state
from ..backend import backend_of
from ..device import build_on, place_on
from ..frames import warn_user, warn_user_once

#: The warning if Python code takes a number out of a graph.
LOSES_GRADIENT = ("Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
                  "behavior.\nConsider using tensor.detach() first.")



def keep_out(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Run a function unchanged; as a class's `__torch_function__`, it keeps the class out of calls.

    >>> keep_out(max, (), (1, 2))
    2
    """
    return func(*args, **(kwargs or {}))


class PythonProtocols:
    """The part of `Tensor` that implements Python's protocols."""

    __slots__ = ()


    def item(self: Any) -> bool | int | float:
        """Return the only element as a Python number; raise if there is more or less than one.

        >>> from minigrad import tensor
        >>> tensor([2.5]).item()
        2.5
        """
        if self._array.size != 1:
            raise RuntimeError(
                f"a Tensor with {self._array.size} elements cannot be converted to Scalar")
        return self._array.item()

    def _one(self: Any) -> Any:
        if self._array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self._array.item()

    def tolist(self: Any) -> Any:
        """Return the values as nested lists of Python numbers.

        >>> from minigrad import tensor
        >>> tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        return self._array.tolist()

    def numpy(self: Any, *, force: bool = False) -> np.ndarray[Any, Any]:
        """Return the values as a NumPy array that shares memory; `force` detaches first.

        >>> from minigrad import tensor
        >>> tensor([1, 2]).numpy()
        array([1, 2])
        """
        if self.requires_grad and not force and _state.grad_enabled.get():
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use "
                               "tensor.detach().numpy() instead.")
        if _state.observers.count and (recording := _state.program.get()) is not None:
            recording.exports(self)
        xp = backend_of(self._array)
        if xp.device_type != "cpu" and not force:
            raise TypeError(f"can't convert {self.device} device type tensor to numpy. Use "
                            "Tensor.cpu() to copy the tensor to host memory first.")
        return xp.to_host(self._array)

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy()
        return np.array(array, dtype=dtype, copy=copy)

    #: Makes NumPy leave operators to tensors, so that `np.float64(2) * x` is `x * 2`.
    __array_priority__ = 1000

    def __array_wrap__(self: Any, array: Any, context: Any = None, return_scalar: bool = False
                       ) -> Any:
        """Return the result of a NumPy function as a tensor; bools become uint8, as in PyTorch."""
        array = np.asarray(array)
        return self._plain(array.astype(np.uint8) if array.dtype == np.bool_ else array)

    def __dlpack__(self: Any, **kwargs: Any) -> Any:
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        try:
            return self._array.__dlpack__(**kwargs)
        except TypeError:  # NumPy 2.0 supports one version of DLPack and has no argument for it
            if "max_version" not in kwargs:
                raise
            return self._array.__dlpack__(stream=kwargs.get("stream"))

    def __dlpack_device__(self: Any) -> Any:
        return self._array.__dlpack_device__()

    @property
    def __cuda_array_interface__(self: Any) -> Any:
        if not self.is_cuda:
            raise AttributeError(
                f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {self.type()} If "
                "CUDA data is required use tensor.cuda() to copy tensor to device memory.")
        if self.requires_grad:
            raise RuntimeError("Can't get __cuda_array_interface__ on Variable that requires grad. "
                               "If gradients aren't required, use var.detach() to get Variable "
                               "that doesn't require grad.")
        return self._array.__cuda_array_interface__

    def __len__(self: Any) -> int:
        if not self._array.ndim:
            raise TypeError("len() of a 0-d tensor")
        return int(self._array.shape[0])

    def __bool__(self: Any) -> bool:
        if backend_of(self._array).run_op is not None:
            return bool(self._array)  # a batch: raises
        if self._array.size != 1:
            what = "no values" if not self._array.size else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return bool(self._array.item())

    def __float__(self: Any) -> float:
        if self.requires_grad:
            warn_user_once(LOSES_GRADIENT)
        return float(self._one())

    def __int__(self: Any) -> int:
        return int(self._one())

    def __index__(self: Any) -> int:
        if self._array.dtype.kind not in "iub" or self._array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._array.item())

    def __format__(self: Any, spec: str) -> str:
        return format(self.item(), spec) if not self._array.ndim else object.__format__(self, spec)

    def __hash__(self: Any) -> int:
        return id(self)

    def __contains__(self: Any, element: Any) -> bool:
        if backend_of(self._array).run_op is not None:
            self._array.item()  # a batch: raises
        if not isinstance(element, (PythonProtocols, int, float)):
            raise RuntimeError(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                f"{type(element)}.")
        value = getattr(element, "_array", element)
        with place_on(self._array):
            return bool((self._array == value).any())

    def __reversed__(self: Any) -> Any:
        return self.flip(0) if self.ndim else self

    def __iter__(self: Any) -> Iterator[Any]:
        if not self._array.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        if not self.is_leaf:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support "
                               "the deepcopy protocol at the moment.")
        if id(self) in memo:
            return memo[id(self)]
        with place_on(self._array):
            result = self._plain_as(type(self), copied_array(self._array, memo))
        memo[id(self)] = result
        result._requires_grad = self._requires_grad
        if self._grad is not None:
            result._grad = self._grad.__deepcopy__(memo)
        result.__dict__.update(_deepcopied(self.__dict__, memo))
        return result

    def __reduce_ex__(self: Any, protocol: Any) -> tuple[Any, ...]:
        # The history is not copied, so a non-leaf becomes a leaf that requires grad.
        host = backend_of(self._array).to_host(self._array)
        self._warn_if_has_hooks()
        where = None if host is self._array else str(self.device)
        return _rebuild, (type(self), host, self.requires_grad, None, self.__dict__, where)


    def _warn_if_has_hooks(self: Any) -> None:
        warn_if_has_hooks(self)


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn about each hook that is lost when its tensor is saved, unless it is marked."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warn_user(f"backward hook {hook!r} on tensor will not be serialized.  If this is "
                      "expected, you can decorate the function with "
                      "@torch.utils.hooks.unserializable_hook to suppress this warning",
                      UserWarning)


def copied_array(array: Any, memo: dict[Any, Any]) -> Any:
    """Return the same view of a copy of the whole memory that an array views.

    `memo` keeps that copy, so that arrays that share memory have copies that share memory.
    """
    owner = array
    while isinstance(getattr(owner, "base", None), type(array)):
        owner = owner.base
    key = "memory", id(owner)
    if key not in memo:
        memo[key] = owner.copy("K"), owner  # `owner` must live as long as its id is a key
    memory = memo[key][0]
    if array is owner or type(array) is not np.ndarray or memory.strides != owner.strides:
        return memory if array is owner else array.copy("K")
    offset = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    flat = memory.ravel("K").view(np.uint8)
    return np.ndarray(array.shape, array.dtype, flat, offset, array.strides)


def _rebuild(
    cls: Any, host: Any, requires_grad: bool, hooks: Any, attributes: dict[str, Any],
    where: str | None = None,
) -> Any:
    """Make a tensor on its device from the result of `__reduce_ex__`."""
    array = host if where is None else build_on(where, lambda xp: xp.from_host(host))
    self = cls._plain_as(cls, array)
    self._requires_grad = requires_grad
    if hooks:
        self._backward_hooks = hooks
    self.__dict__.update(attributes)
    return self


def _deepcopied(attributes: dict[str, Any], memo: dict[int, Any]) -> dict[str, Any]:
    return copy.deepcopy(attributes, memo)
