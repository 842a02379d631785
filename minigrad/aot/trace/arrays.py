"""TracedArray: an array whose operations are written down as steps of a program.

NOTE [Traced values]
    While a program is recorded, every tensor holds a `TracedArray`.  Its `inner` array has the
    values of this one call, so that shapes, dtypes and strides are real ones.  But a decision that
    depends on a value would be right for this call alone.  Code that reads a value, such as
    `bool(tensor)` or `.item()`, therefore raises `Unrecordable`.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ... import _state
from ...backend import BACKENDS
from ...op.declaration import F
from ...tensor.attributes import data_pointer
from ..program import Value
from .memory import Memory
from .refusal import SIZED_BY_VALUES, refuse

Array = Any


class TracedArray:
    """An array of a program that is being recorded; see NOTE [Traced values]."""

    __slots__ = ("inner", "memory", "value", "version", "views")
    __array_ufunc__ = None  # NumPy leaves the operators to this class
    __hash__ = object.__hash__

    def __init__(self, inner: Array, memory: Memory, value: Value) -> None:
        self.inner = inner
        self.memory = memory
        self.value = value
        self.version = memory.version
        #: The view ops that lead here from the memory's first array, each with its plain arguments
        #: and the number of the result, or `None` if it has only one.
        self.views: tuple[tuple[Any, list[Any], int | None], ...] = ()

    # ---------------------------------------------------------------- what may be known

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return tuple(self.inner.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self.inner.ndim)

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.inner.dtype

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self.inner.size)

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return int(self.inner.itemsize)

    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes."""
        return int(self.inner.nbytes)

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides in bytes."""
        return tuple(self.inner.strides)

    @property
    def flags(self) -> Any:
        """The flags of the array."""
        return self.inner.flags

    @property
    def base(self) -> Any:
        """Something other than `None`, because the engine must not write to a value."""
        return self.inner

    @property
    def data(self) -> Any:
        """The addresses of the array and of its memory, as CuPy's arrays have them."""
        return SimpleNamespace(ptr=data_pointer(self.inner), mem=self.memory)

    def __len__(self) -> int:
        return len(self.inner)

    # ---------------------------------------------------------------- what becomes a step

    def sum(self, dims: Sequence[int], keepdims: bool = False) -> Any:
        """Sum over `dims`."""
        return F.sum(self, tuple(dims), keepdims)

    def reshape(self, *shape: Any) -> Any:
        """Reshape the array; the sizes may be one sequence."""
        return F.reshape(self, shape[0] if isinstance(shape[0], (tuple, list)) else shape)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """Convert the elements."""
        dtype = np.dtype(dtype)
        if dtype == self.dtype and not copy:
            return self
        return recording_of(self).call("astype", converted, [self, dtype])

    def copy(self, order: str = "C") -> Any:
        """Copy the array."""
        return recording_of(self).call("copy", copied, [self, order])

    def __neg__(self) -> Any:
        return F.neg(self)

    __iadd__ = __isub__ = __imul__ = None  # otherwise `a += b` would silently make a new array

    def __add__(self, other: Any) -> Any:
        return F.add(self, as_right_operand(other, self))

    def __sub__(self, other: Any) -> Any:
        return F.sub(self, as_right_operand(other, self))

    def __mul__(self, other: Any) -> Any:
        return F.mul(self, as_right_operand(other, self))

    def __truediv__(self, other: Any) -> Any:
        return F.div(self, as_right_operand(other, self))

    def __matmul__(self, other: Any) -> Any:
        return F.matmul(self, other)

    def __radd__(self, other: Any) -> Any:
        return F.add(as_operand(other, self), self)

    def __rsub__(self, other: Any) -> Any:
        return F.sub(as_operand(other, self), self)

    def __rmul__(self, other: Any) -> Any:
        return F.mul(as_operand(other, self), self)

    def __rtruediv__(self, other: Any) -> Any:
        return F.div(as_operand(other, self), self)

    def __rmatmul__(self, other: Any) -> Any:
        return F.matmul(other, self)

    def __getitem__(self, key: Any) -> Any:
        if key is ...:
            return self
        raise refuse("an array is indexed outside of an op")

    # ---------------------------------------------------------------- what needs values

    def item(self) -> Any:
        """Return the value of a constant; raise for any other array."""
        return self.known("a value is read, by .item(), by a branch or a conversion").item()

    def tolist(self) -> Any:
        """Return the values of a constant; raise for any other array."""
        return self.known("values are read by .tolist()").tolist()

    def __bool__(self) -> bool:
        return bool(self.known("a branch depends on a value"))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return np.array(self.known("values are read as a NumPy array"), *args, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function.__name__.endswith("_like"):
            return function(getattr(args[0], "inner", args[0]), *args[1:], **kwargs)
        raise refuse("a NumPy function is called")

    def known(self, what: str) -> Array:
        """Return the array of a constant; raise for any other array."""
        return recording_of(self).known(self, what)

    def compare(self, other: Any) -> Any:
        """Raise, because comparisons go through the functions of `F`."""
        raise refuse("an array is compared outside of an op")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = compare

    def __iter__(self) -> Any:
        raise refuse("an array is iterated outside of an op")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # protocols, and the test whether this is a tensor
            raise AttributeError(name)
        return getattr(self.known(reason(name, f"`{name}` of an array is used")).copy("K"), name)

    def __repr__(self) -> str:
        return f"TracedArray({self.value.name}, {self.dtype}{list(self.shape)})"


def reason(name: str, otherwise: str) -> str:
    """Return why a method or function of arrays that is not an op cannot be recorded."""
    if name in SIZED_BY_VALUES:
        return "the size of a result depends on values"
    return f"{otherwise} outside of an op"


def as_operand(other: Any, like: TracedArray) -> Any:
    """Return the left operand of a binary expression: a number or an array."""
    return other if type(other) in BACKENDS else np.asarray(other, like.dtype)


def as_right_operand(other: Any, like: TracedArray) -> Any:
    """Return the right operand of a binary expression, with a number as NumPy rounds it.

    NumPy rounds a number to float16 before it computes, while the ops round only the result.
    """
    is_number = type(other) in (int, float) and like.dtype == np.float16
    return as_operand(other, like) if is_number else other


def recording_of(array: TracedArray) -> Any:
    """Return the recording that is in progress."""
    recording = _state.program.get()
    if recording is None:
        raise refuse("an op ran")
    return recording


def converted(xp: Any, array: Array, dtype: Any) -> Array:
    """Return a copy of an array with another dtype."""
    return array.astype(dtype)


def copied(xp: Any, array: Array, order: str) -> Array:
    """Return a copy of an array."""
    return array.copy(order)
