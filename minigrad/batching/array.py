"""BatchedArray: many arrays of one shape that act as one, so an op runs on all of them at once.

NOTE [Batched values]
    A `BatchedArray` looks like one example: `shape`, `ndim` and `dtype` describe a single example.
    Its `value` holds all examples, with the batch dimension first.  `value` is an array, or a
    tensor if ops on the batch should be recorded.  Inside `vmap`, the function sees a tensor with
    a batched array.  That tensor looks like one example and has no history, because `value` has
    it.

NOTE [Levels]
    Batches nest.  Each has a level, and a `vmap` entered later gets a higher one.  An op works on
    the highest level among its operands and treats the rest as plain values; it reaches the lower
    levels when it runs on the `value`s.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from itertools import count
from textwrap import indent
from typing import Any

import numpy as np

from ..backend import BACKENDS
from ..dtypes import FROM_NUMPY
from ..op.declaration import F
from ..shapes import infer_view
from ..tensor.tensor import Tensor

Array = Any
Value = Any  # an array or a tensor

next_level = count(1).__next__

#: The active vmaps, outermost first: pairs of level and size.
vmaps: ContextVar[tuple[tuple[int, int], ...]] = ContextVar("vmaps", default=())


class NotBatchable(RuntimeError, AttributeError):
    """Raised if code needs a single value but has a batch of them."""


#: PyTorch's error for the address of a batch.
NO_STORAGE = "Cannot access data pointer of Tensor that doesn't have storage"


def refuse(what: str) -> NotBatchable:
    """Make the error for an operation that needs a single array."""
    return NotBatchable(
        f"vmap: It looks like you're {what} a Tensor. We don't support vmap over {what} a Tensor, "
        "please try to rewrite what you're doing with other operations. If error is occurring "
        "somewhere inside PyTorch internals, please file a bug report.")


def binary(compute: Callable[[Any, Any], Any], name: str) -> Callable[[Any, Any], Any]:
    """Make an operator that computes directly if the arrays broadcast as they are.

    Otherwise it calls the op `name`.
    """

    def run(self: BatchedArray, other: Any) -> Any:
        value, given = self.value, type(other)
        if type(value) is np.ndarray:
            if given is BatchedArray:
                if other.level == self.level and type(other.value) is np.ndarray and (
                        other.value.ndim == value.ndim and other.value.dtype == value.dtype):
                    return BatchedArray(compute(value, other.value), self.level)
            elif given is float or given is int or (
                given is np.ndarray and other.ndim < value.ndim and other.dtype == value.dtype
            ):
                return BatchedArray(compute(value, other), self.level)
        return getattr(F, name)(self, other)

    return run


def swapped(compute: Callable[[Any, Any], Any], name: str) -> Callable[[Any, Any], Any]:
    """Make the operator for a batch on the right-hand side of a binary expression."""

    def run(self: BatchedArray, other: Any) -> Any:
        value, given = self.value, type(other)
        if type(value) is np.ndarray and (given is float or given is int or (
                given is np.ndarray and other.ndim < value.ndim and other.dtype == value.dtype)):
            return BatchedArray(compute(other, value), self.level)
        if given not in BACKENDS:
            other = np.asarray(other, self.dtype)
        return getattr(F, name)(other, self)

    return run


class BatchedArray:
    """Many arrays of one shape that look like one; see NOTE [Batched values].

    >>> import numpy as np
    >>> batch = BatchedArray(np.ones((5, 2, 3)), next_level())
    >>> batch.shape, (batch * 2).value.shape
    ((2, 3), (5, 2, 3))
    """

    __slots__ = ("level", "value")
    __array_ufunc__ = None  # NumPy leaves the operators to this class
    __hash__ = object.__hash__

    def __init__(self, value: Value, level: int) -> None:
        self.value = value
        self.level = level

    @property
    def inner(self) -> Array:
        """The array of all examples."""
        value = self.value
        return value._array if isinstance(value, Tensor) else value

    @property
    def batch_size(self) -> int:
        """The number of examples."""
        return int(self.value.shape[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one example."""
        return tuple(self.inner.shape[1:])

    @property
    def ndim(self) -> int:
        """The number of dimensions of one example."""
        return int(self.inner.ndim - 1)

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.inner.dtype

    @property
    def size(self) -> int:
        """The number of elements of one example."""
        total = 1
        for n in self.shape:
            total *= n
        return total

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return int(self.inner.itemsize)

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides of one example."""
        return tuple(self.inner.strides[1:])

    @property
    def flags(self) -> Any:
        """The flags of the array of all examples."""
        return self.inner.flags

    @property
    def base(self) -> Any:
        """The array that this one is a view of.

        It is never `None`, because the engine must not write to a batch in place.
        """
        return self.inner

    def sum(self, dims: Sequence[int], keepdims: bool = False) -> Any:
        """Sum each example over `dims`."""
        return F.sum(self, tuple(dims), keepdims)

    def reshape(self, shape: Any) -> Any:
        """Reshape each example."""
        value, shape = self.value, infer_view(shape, self.size)
        shape = (value.shape[0], *shape)
        return BatchedArray(F.reshape(value, shape) if isinstance(value, Tensor)
                            else value.reshape(shape), self.level)

    def astype(self, dtype: Any, copy: bool = True) -> BatchedArray:
        """Convert the elements."""
        value = self.value
        if isinstance(value, Tensor):
            return BatchedArray(F.to(value, FROM_NUMPY[np.dtype(dtype)]), self.level)
        return BatchedArray(value.astype(dtype, copy=copy), self.level)

    def copy(self, order: str = "C") -> BatchedArray:
        """Copy all examples."""
        return BatchedArray(F.clone(self.value), self.level)

    def __neg__(self) -> Any:
        if type(self.value) is np.ndarray:
            return BatchedArray(-self.value, self.level)
        return F.neg(self)

    __iadd__ = __isub__ = __imul__ = None  # otherwise `a += b` would silently make a new array

    __add__ = binary(operator.add, "add")
    __sub__ = binary(operator.sub, "sub")
    __mul__ = binary(operator.mul, "mul")
    __truediv__ = binary(operator.truediv, "div")
    __radd__ = swapped(operator.add, "add")
    __rsub__ = swapped(operator.sub, "sub")
    __rmul__ = swapped(operator.mul, "mul")
    __rtruediv__ = swapped(operator.truediv, "div")

    def __matmul__(self, other: Any) -> Any:
        return F.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return F.matmul(other, self)

    def item(self) -> Any:
        """Raise, because a batch is not a single number."""
        raise refuse("calling .item() on")

    def tolist(self) -> Any:
        """Raise, because a batch is not a single list."""
        raise NotBatchable(NO_STORAGE)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise refuse("reading the values of")

    def __array_function__(self, *args: Any) -> Any:
        raise refuse("calling NumPy on")

    def __bool__(self) -> bool:
        raise NotBatchable(
            "vmap: It looks like you're attempting to use a Tensor in some data-dependent control "
            "flow. We don't support that yet, please file an issue at "
            "https://github.com/pytorch/pytorch/issues .")

    def compare(self, other: Any) -> Any:
        """Raise, because comparisons of batches go through the functions of `F`."""
        raise refuse("comparing the array of")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = compare

    def __len__(self) -> int:
        return int(self.shape[0])

    def __iter__(self) -> Any:
        raise refuse("iterating over the array of")

    def __getitem__(self, key: Any) -> Any:
        if key is ...:
            return BatchedArray(self.value, self.level)
        raise refuse("indexing the array of")

    def __getattr__(self, name: str) -> Any:
        if name in ("ctypes", "data"):
            raise NotBatchable(NO_STORAGE)
        if name.startswith("__"):  # protocols of NumPy and copy
            raise AttributeError(name)
        raise refuse(f"using `{name}` of the array of")

    def __repr__(self) -> str:
        levels = [level for level, _ in vmaps.get()]
        number = levels.index(self.level) + 1 if self.level in levels else self.level
        value = self.value if isinstance(self.value, Tensor) else Tensor._plain(self.value)
        return (f"BatchedTensor(lvl={number}, bdim=0, value=\n"
                f"{indent(repr(value), '    ')}\n)")


def batched(value: Value, level: int) -> Value:
    """Wrap `value` in a batched array, or in a tensor with one if `value` is a tensor."""
    array = BatchedArray(value, level)
    return Tensor._plain(array) if isinstance(value, Tensor) else array


def level_of(value: Any) -> int:
    """Return the level of a batched array or tensor, or 0 for anything else."""
    array = value._array if isinstance(value, Tensor) else value
    return array.level if type(array) is BatchedArray else 0


def examples(value: Any, level: int) -> Value | None:
    """Unwrap a value at a level, batch dimension first, or return `None` if not batched there."""
    if level_of(value) != level:
        return None
    if not isinstance(value, Tensor):
        return value.value
    inside = value._array.value
    return inside if isinstance(inside, Tensor) else Tensor._plain(inside)
