"""Attributes that a tensor reads from its array: shape, strides, dtype, memory, device."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any, SupportsIndex, overload

import numpy as np

from ..device import device, device_under
from ..dtypes import FROM_NUMPY, dtype
from ..frames import type_in_error
from ..shapes import contiguous_strides, numel, wrap_dim

Array = Any


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple that prints as PyTorch's does.

    >>> Size((2, 3)), Size((2, 3)).numel()
    (torch.Size([2, 3]), 6)
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        """Make a shape from integers; raise `TypeError` for anything else."""
        checked = []
        for position, n in enumerate(sizes):
            try:
                checked.append(index(n))
            except TypeError:
                raise TypeError(f"torch.Size() takes an iterable of 'int' (item {position} is "
                                f"'{type_in_error(n)}')") from None
        return tuple.__new__(cls, checked)

    def numel(self) -> int:
        """Return the number of elements.

        >>> from minigrad import Size
        >>> Size((2, 3)).numel()
        6
        """
        return numel(self)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    @overload
    def __getitem__(self, key: SupportsIndex) -> int: ...

    @overload
    def __getitem__(self, key: slice) -> Size: ...

    def __getitem__(self, key: Any) -> Any:
        item = tuple.__getitem__(self, key)
        return tuple.__new__(Size, item) if isinstance(key, slice) else item

    def __add__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type_in_error(other)}) to "
                            "torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Size:
        return Size(other).__add__(self) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: Any) -> Size:
        product = tuple.__mul__(self, times)
        return product if product is NotImplemented else tuple.__new__(Size, product)

    __rmul__ = __mul__


class ArrayInfo:
    """The part of `Tensor` that only reads the array."""

    __slots__ = ()

    _array: Array

    #: Kinds of tensors and devices that minigrad lacks; programs check for them.
    is_sparse = is_sparse_csr = is_quantized = is_mkldnn = is_meta = is_nested = False
    is_ipu = is_maia = is_mps = is_mtia = is_vulkan = is_xla = is_xpu = False

    @property
    def shape(self) -> Size:
        """The size of each dimension.

        >>> from minigrad import tensor
        >>> tensor([[1, 2, 3]]).shape
        torch.Size([1, 3])
        """
        return tuple.__new__(Size, self._array.shape)  # NumPy's shape needs no check

    @overload
    def size(self, dim: None = None) -> Size: ...

    @overload
    def size(self, dim: int) -> int: ...

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the size of dimension `dim`.

        >>> from minigrad import tensor
        >>> x = tensor([[1, 2, 3]])
        >>> x.size(), x.size(1)
        (torch.Size([1, 3]), 3)
        """
        shape = self._array.shape
        if dim is None:
            return tuple.__new__(Size, shape)
        return shape[wrap_dim(dim, len(shape), "size")]

    def stride(self, dim: int | None = None) -> Any:
        """Return the strides in elements, or the stride of dimension `dim`.

        >>> from minigrad import ones
        >>> ones(2, 3).stride(), ones(2, 3).t().stride(), ones(2, 3).stride(0)
        ((3, 1), (1, 3), 3)
        """
        array = self._array
        if array.size or 0 not in array.strides:
            strides = tuple(s // array.itemsize for s in array.strides)
        else:  # NumPy gives empty arrays strides of zero
            strides = contiguous_strides(array.shape)
        return strides if dim is None else strides[wrap_dim(dim, len(strides), "stride")]

    def storage_offset(self) -> int:
        """Return the number of elements between the start of the memory and the first element.

        >>> from minigrad import ones
        >>> ones(2, 3)[1].storage_offset()
        3
        """
        array = self._array
        return (data_pointer(array) - start_of_memory(array)) // array.itemsize

    def data_ptr(self) -> int:
        """Return the address of the first element.

        >>> from minigrad import ones
        >>> x = ones(3); x[1:].data_ptr() - x.data_ptr()
        4
        """
        return data_pointer(self._array)

    @property
    def dtype(self) -> dtype:
        """The type of the elements.

        >>> from minigrad import tensor
        >>> tensor([1.0]).dtype
        torch.float32
        """
        return FROM_NUMPY[self._array.dtype]

    @property
    def device(self) -> device:
        """The device of the memory.

        >>> from minigrad import tensor
        >>> tensor(1.0).device
        device(type='cpu')
        """
        return device_under(self._array)

    @property
    def ndim(self) -> int:
        """The number of dimensions.

        >>> from minigrad import tensor
        >>> tensor([[1, 2]]).ndim
        2
        """
        return int(self._array.ndim)

    def dim(self) -> int:
        """Return the number of dimensions.

        >>> from minigrad import tensor
        >>> tensor([[1, 2]]).dim()
        2
        """
        return int(self._array.ndim)

    ndimension = dim

    def numel(self) -> int:
        """Return the number of elements.

        >>> from minigrad import tensor
        >>> tensor([[1, 2, 3]]).nelement()
        3
        """
        return int(self._array.size)

    nelement = numel

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes.

        >>> from minigrad import tensor
        >>> tensor([1.0]).itemsize
        4
        """
        return int(self._array.itemsize)

    def element_size(self) -> int:
        """Return the size of an element in bytes.

        >>> from minigrad import tensor
        >>> tensor([1.0]).element_size()
        4
        """
        return int(self._array.itemsize)

    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes.

        >>> from minigrad import tensor
        >>> tensor([1.0, 2.0]).nbytes
        8
        """
        return int(self._array.nbytes)

    def is_floating_point(self) -> bool:
        """Return whether the elements are floating-point numbers.

        >>> from minigrad import tensor
        >>> tensor([1.0]).is_floating_point(), tensor([1]).is_floating_point()
        (True, False)
        """
        return bool(self._array.dtype.kind == "f")

    def is_complex(self) -> bool:
        """Return `False`, because minigrad has no complex numbers.

        >>> from minigrad import tensor
        >>> tensor([1.0]).is_complex()
        False
        """
        return False

    @property
    def is_cpu(self) -> bool:
        """Whether the tensor is in the host's memory.

        >>> from minigrad import tensor
        >>> tensor(1.0).is_cpu
        True
        """
        return self.device.type == "cpu"

    @property
    def is_cuda(self) -> bool:
        """Whether the tensor is on a GPU.

        >>> from minigrad import tensor
        >>> tensor(1.0).is_cuda
        False
        """
        return self.device.type == "cuda"

    def get_device(self) -> int:
        """Return the index of the GPU, or -1 for the CPU.

        >>> from minigrad import tensor
        >>> tensor(1.0).get_device()
        -1
        """
        index = self.device.index
        return -1 if index is None else index


def storage_of(array: Array) -> Array:
    """Return the array that owns the memory of `array`."""
    while True:
        base = array.base
        if base is None or type(base) is not type(array) or base.dtype != array.dtype:
            return array
        array = base


def start_of_memory(array: Array) -> int:
    """Return the address at which the memory of `array` starts.

    NOTE [Memory of device arrays]
        The `base` of a strided view in CuPy is not the array that owns the memory.  Instead, every
        array refers to the memory itself.  If the memory of a traced array is a copy of a part of
        other memory, its `start` raises.
    """
    if type(array) is np.ndarray:
        return data_pointer(storage_of(array))
    memory = array.data.mem
    return int(memory.start if hasattr(type(memory), "start") else memory.ptr)


def bytes_of_memory(array: Array) -> int:
    """Return the size in bytes of the memory that `array` belongs to."""
    return int(storage_of(array).nbytes if type(array) is np.ndarray else array.data.mem.size)


def same_memory(one: Array, other: Array) -> bool:
    """Return whether two arrays belong to the same memory, even to different parts of it."""
    if type(one) is np.ndarray:
        return storage_of(one) is storage_of(other)
    return type(one) is type(other) and bool(one.data.mem.ptr == other.data.mem.ptr)


def data_pointer(array: Array) -> int:
    """Return the address of the first element."""
    if type(array) is np.ndarray:
        return int(array.__array_interface__["data"][0])
    return int(array.data.ptr)
