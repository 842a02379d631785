"""Storages: the memory of tensors, as bytes and as elements.

Source: https://docs.pytorch.org/docs/stable/storage.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import _state
from ...device import device, device_under
from ...dtypes import dtype, from_numpy_dtype, uint8
from ...frames import warn_user_once
from ...op.apply import apply
from ...op.overrides import Having
from ...op.publish import function
from ...tensor.attributes import data_pointer, storage_of
from ...tensor.tensor import Tensor, method
from ...tensor.tensor import _retype as retyped
from .as_strided import Alias

DEPRECATED = ("TypedStorage is deprecated. It will be removed in the future and UntypedStorage "
              "will be the only storage class. This should only matter to you if you are using "
              "storages directly.  To access UntypedStorage directly, use tensor.untyped_storage() "
              "instead of tensor.storage()")


class _Storage:
    """Memory that tensors share: two storages of the same memory are equal."""

    def __init__(self, elements: Any) -> None:
        self._elements = elements  # a one-dimensional array of the whole memory

    @property
    def device(self) -> device:
        """The device that the memory is on."""
        return device_under(self._elements)

    @property
    def _cdata(self) -> int:
        """A number that is equal for all tensors that share this memory."""
        return self.data_ptr()

    @property
    def is_cuda(self) -> bool:
        """Whether the memory is on a GPU."""
        return self.device.type == "cuda"

    def data_ptr(self) -> int:
        """Return the address of the first byte."""
        return data_pointer(self._elements)

    def nbytes(self) -> int:
        """Return the number of bytes."""
        return int(self._elements.nbytes)

    def element_size(self) -> int:
        """Return the number of bytes of an element."""
        return int(self._elements.itemsize)

    def size(self) -> int:
        """Return the number of elements."""
        return len(self._elements)

    def __len__(self) -> int:
        return self.size()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, key: Any) -> Any:
        found = self._elements[key]
        return type(self)(found) if isinstance(key, slice) else found.item()

    def __setitem__(self, key: Any, value: Any) -> None:
        self._elements[key] = value

    def fill_(self, value: Any) -> Any:
        """Fill all elements with a value, and return the storage."""
        self._elements[...] = value
        return self

    def tolist(self) -> list[Any]:
        """Return the elements as a list."""
        values: list[Any] = self._elements.tolist()
        return values

    def is_shared(self) -> bool:
        """Return False, because memory is never shared with other processes."""
        return False

    def resize_(self, size: int) -> Any:
        """Return the storage if it has this size, else raise `NotImplementedError`."""
        if size != self.size():
            raise NotImplementedError("resize_: minigrad's memory is that of NumPy's arrays, which "
                                      "keep their size")
        return self

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, type(self)):
            return NotImplemented
        return (self.data_ptr(), self.nbytes()) == (other.data_ptr(), other.nbytes())

    def __hash__(self) -> int:
        return hash(self.data_ptr())


class UntypedStorage(_Storage):
    """The bytes of a tensor's memory. Source: `torch.UntypedStorage`.

    >>> from minigrad import ones
    >>> x = ones(2, 2)
    >>> x.untyped_storage().nbytes(), x[1].untyped_storage() == x.untyped_storage()
    (16, True)
    """

    def __init__(self, elements: Any) -> None:
        """Use the bytes of an array, or allocate `elements` bytes."""
        super().__init__(np.empty(elements, np.uint8) if isinstance(elements, int) else elements)

    def __repr__(self) -> str:
        return ("".join(f" {value}\n" for value in self.tolist())
                + f"[torch.storage.UntypedStorage(device={self.device}) of size {self.size()}]")


class TypedStorage(_Storage):
    """A tensor's memory as elements of its dtype.  Source: `torch.TypedStorage`."""

    @property
    def dtype(self) -> dtype:
        """The dtype of the elements."""
        return from_numpy_dtype(self._elements.dtype)

    def untyped(self) -> UntypedStorage:
        """Return the bytes of the memory."""
        return UntypedStorage(self._elements.view(uint8.numpy))

    def __repr__(self) -> str:
        return ("".join(f" {value}\n" for value in self.tolist())
                + f"[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size "
                f"{self.size()}]")


@method("untyped_storage")
def untyped_storage(self: Tensor) -> UntypedStorage:
    """Return the bytes of the memory that the tensor views, all or in part.

    >>> from minigrad import arange
    >>> arange(4)[:2].untyped_storage().size()
    32
    """
    return UntypedStorage(storage_of(self._array).view(uint8.numpy))


@method("storage")
def storage(self: Tensor) -> TypedStorage:
    """Return the elements of the tensor's memory, with PyTorch's deprecation warning.

    >>> import warnings; warnings.simplefilter("ignore")  # that it is deprecated
    >>> from minigrad import arange
    >>> arange(6)[2:4].storage().tolist()  # all of the memory
    [0, 1, 2, 3, 4, 5]
    """
    warn_user_once(DEPRECATED)
    return TypedStorage(storage_of(self._array))


@method("is_shared")
def is_shared(self: Tensor) -> bool:
    """Return False, because memory is never shared with other processes.

    >>> from minigrad import ones
    >>> ones(2).is_shared()
    False
    """
    return False


@method("share_memory_")
def share_memory_(self: Tensor) -> Tensor:
    """Raise `NotImplementedError`, because memory cannot be shared with other processes.

    >>> from minigrad import ones
    >>> ones(2).share_memory_()
    Traceback (most recent call last):
        ...
    NotImplementedError: share_memory_ is not supported: tensors live in the memory of one ...
    """
    raise NotImplementedError("share_memory_ is not supported: tensors live in the memory of one "
                              "process; its threads share them as they are")


@method("as_subclass")
def as_subclass(self: Tensor, cls: Any) -> Tensor:
    """Return a view of the tensor with class `cls`; raise `TypeError` unless it subclasses Tensor.

    Source: `torch.Tensor.as_subclass`.

    >>> from minigrad import nn, ones
    >>> type(ones(2).as_subclass(nn.Parameter)).__name__
    'Parameter'
    """
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError("Creating a Tensor subclass from a class that does not inherit from Tensor "
                        "is not possible. Make sure your class inherits from Tensor.")
    with Having(_state.TorchFunctionState(subclasses=False)):
        result: Tensor = retyped(apply(Alias, [self]), cls)
    return result


def _make_subclass(cls: Any, data: Tensor, require_grad: bool = False) -> Tensor:
    """Return a leaf of class `cls` that shares memory with `data`."""
    with Having(_state.TorchFunctionState(subclasses=False)):
        made: Tensor = retyped(data.detach(), cls)
        return made.requires_grad_(require_grad)


method("_make_subclass")(staticmethod(_make_subclass))


@function(method_too=False, event=False)
def is_storage(obj: Any, /) -> bool:
    """Return whether `obj` is a storage.  Source: `torch.is_storage`.

    >>> from minigrad import is_storage, ones
    >>> is_storage(ones(1).untyped_storage()), is_storage(ones(1))
    (True, False)
    """
    return isinstance(obj, _Storage)
