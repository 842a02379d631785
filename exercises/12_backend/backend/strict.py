# Stage 12, Arrays on a GPU: the backend protocol: the exercise for minigrad/backend/strict.py.
# Made by `minigrad dev build`. The lesson is lessons/12_backend.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 12
# docs/en/glossary.md explains the names used inside the package.

"""A backend for tests: NumPy arrays with the restrictions of a GPU library.

Its arrays raise when they meet plain NumPy arrays, when they would be converted to one implicitly,
and for `float` and `int`, which on a GPU would be a hidden transfer to the host; only a bool may be
read. Its ufuncs have `reduce` and `accumulate` where CuPy's have them, for sums and products, and
it has no `errstate`; modules such as `linalg` exist, as in CuPy.  So a forgotten `np.` in an op
fails here, on a machine without a GPU.

>>> import numpy as np
>>> from minigrad.backend.strict import backend
>>> x = backend.from_host(np.ones(2))
>>> np.add(x, 1.0)
Traceback (most recent call last):
    ...
TypeError: operand 'StrictArray' does not support ufuncs (__array_ufunc__=None)
>>> backend.to_host(backend.add(x, 1.0))
array([2., 2.])
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from .kernels import Kernels
from .numpy import backend as numpy_backend

#: The errors for values that would cross the border by accident.
NO_CONVERSION = ("Implicit conversion to a NumPy array is not allowed. "
                 "Please use `backend.to_host(array)` to make one explicitly.")
HIDDEN_TRANSFER = ("reading a value of a device array in Python is a hidden transfer; use "
                   "`array.item()` to make it explicit")
MIXED = "Unsupported type <class 'numpy.ndarray'>: a NumPy array met a device array"


class StrictArray:
    """An array on the imaginary device `strict`."""

    __slots__ = ("host",)
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]  # arrays compare elementwise

    def __init__(self, host: Any) -> None:
        self.host = host

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        # 12.5 An array that refuses (about 9 lines)
        # A StrictArray passes its values to Python only on explicit request. Its other
        # attributes are strict versions of the host's attributes.
        #   np.asarray(x)                      -> TypeError(NO_CONVERSION), from `__array__`
        #   float(x), int(x), [5, 6][x]        -> TypeError(HIDDEN_TRANSFER), from `_refuse`
        #   bool(StrictArray(np.array(2.5)))   -> the same error
        #   bool(StrictArray(np.array(True)))  -> True
        #   x.T, x.shape, x.sum                -> a StrictArray, (2, 3), a strict_function
        #   x.__array_interface__              -> AttributeError
        # Mind:
        # - Only a single element of dtype bool (`dtype.kind` is "b") has a truth value.
        # - NumPy could read the memory through names that begin with two underscores, so the
        #   array hides these.
        # Use: `wrap`, `strict_function(function)`, `callable`.
        raise NotImplementedError("12.5 An array that refuses is yours to write")

    def __bool__(self) -> bool:
        # 12.5 An array that refuses: see the task at `StrictArray.__array__`.
        raise NotImplementedError("12.5 An array that refuses is yours to write")

    def _refuse(self, *_: Any) -> Any:
        # 12.5 An array that refuses: see the task at `StrictArray.__array__`.
        raise NotImplementedError("12.5 An array that refuses is yours to write")

    __float__ = __int__ = __index__ = _refuse

    @property
    def base(self) -> Any:
        """The array that owns the memory, if this is a view."""
        base = self.host.base
        return None if base is None else StrictArray(base)

    @property
    def data(self) -> Any:
        """The memory, with its address as `ptr`."""
        return _Pointer(self.host)

    def __getattr__(self, name: str) -> Any:
        # 12.5 An array that refuses: see the task at `StrictArray.__array__`.
        raise NotImplementedError("12.5 An array that refuses is yours to write")

    def item(self, *index: int) -> Any:
        """Return one element as a Python number, an explicit transfer."""
        return self.host.item(*index)

    def tolist(self) -> Any:
        """Return the values as Python lists, an explicit transfer."""
        return self.host.tolist()

    def __len__(self) -> int:
        return len(self.host)

    def __iter__(self) -> Iterator[Any]:
        return (wrap(row) for row in self.host)

    def __getitem__(self, key: Any) -> Any:
        # 12.6 Functions and elements (about 5 lines)
        # Read and write elements of a StrictArray, and call NumPy functions on it. Everything
        # that goes in is unwrapped, and everything that comes out is wrapped. Let x be the
        # StrictArray of [1, 2, 3].
        #   x[1:]                                 -> StrictArray of [2, 3], a view
        #   x[StrictArray([2, 0])]                -> StrictArray of [3, 1]
        #   x[0:1] = StrictArray([7])             -> the host is [7, 2, 3]
        #   strict_function(np.add)(x, x, out=y)  -> y.host is [2, 4, 6]
        #   strict_function(np.add).reduce(x)     -> StrictArray of 6
        #   strict_function(np.maximum).reduce    -> NotImplementedError
        # Mind:
        # - A function's attribute is a strict_function as well.
        # - `refuse_missing(function, name)` raises for attributes that GPU libraries lack.
        raise NotImplementedError("12.6 Functions and elements is yours to write")

    def __setitem__(self, key: Any, value: Any) -> None:
        # 12.6 Functions and elements: see the task at `StrictArray.__getitem__`.
        raise NotImplementedError("12.6 Functions and elements is yours to write")

    def __repr__(self) -> str:
        return f"StrictArray({self.host!r})"


class _Pointer:
    """The address of an array's first element, and its memory."""

    __slots__ = ("mem", "ptr")

    def __init__(self, host: Any) -> None:
        self.ptr = host.__array_interface__["data"][0]
        while type(host.base) is np.ndarray:
            host = host.base
        self.mem = _Memory(host.__array_interface__["data"][0], host.nbytes)


class _Memory(NamedTuple):
    """A piece of memory."""

    ptr: int
    size: int


def unwrap(value: Any) -> Any:
    """Return a strict array's NumPy array, also inside sequences; raise for plain arrays."""
    # 12.4 Crossing the border (about 16 lines)
    # `unwrap` turns StrictArrays into the NumPy arrays that they store as `host`; `wrap`
    # turns NumPy arrays and scalars into StrictArrays. Both also work inside tuples and
    # lists, at any depth, and return other values unchanged.
    #   unwrap([StrictArray(a), (StrictArray(b), 3)])  -> [a, (b, 3)]
    #   unwrap({"out": StrictArray(a)})                -> {"out": a}
    #   unwrap(a) or unwrap([a]), a NumPy array        -> TypeError(MIXED)
    #   wrap((a, 3))                                   -> (StrictArray(a), 3)
    #   wrap(np.float32(2.5))                          -> StrictArray, 0-d, float32
    # Mind:
    # - `unwrap` returns the host itself, and `wrap` shares its memory.
    # - `wrap` keeps named tuples (they have `_fields`); `type(value)(*items)` creates
    #   one.
    raise NotImplementedError("12.4 Crossing the border is yours to write")


def wrap(value: Any) -> Any:
    """Wrap results as strict arrays, including NumPy scalars, since a device has no scalars."""
    # 12.4 Crossing the border: see the task at `unwrap`.
    raise NotImplementedError("12.4 Crossing the border is yours to write")


def refuse_missing(function: Callable[..., Any], name: str) -> None:
    """Raise `NotImplementedError` for a method that CuPy's ufunc lacks, such as maximum.reduce."""
    of_all = isinstance(function, np.ufunc) and name in ("reduce", "accumulate")
    if of_all and function not in (np.add, np.multiply):
        raise NotImplementedError(f"`{function.__name__}.{name}` is not supported yet")


class strict_function:
    """A NumPy function, ufunc or method that takes and returns strict arrays."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # 12.6 Functions and elements: see the task at `StrictArray.__getitem__`.
        raise NotImplementedError("12.6 Functions and elements is yours to write")

    def __getattr__(self, name: str) -> Any:
        # 12.6 Functions and elements: see the task at `StrictArray.__getitem__`.
        raise NotImplementedError("12.6 Functions and elements is yours to write")


def _binary(name: str) -> Callable[[Any, Any], Any]:
    compute = getattr(operator, name)

    def forward(self: StrictArray, other: Any) -> Any:
        return wrap(compute(self.host, unwrap(other)))

    return forward


def _unary(name: str) -> Callable[[Any], Any]:
    compute = getattr(operator, name)

    def forward(self: StrictArray) -> Any:
        return wrap(compute(self.host))

    return forward


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    compute = getattr(operator, name)

    def backward(self: StrictArray, other: Any) -> Any:
        return wrap(compute(unwrap(other), self.host))

    return backward


def _augmented(name: str) -> Callable[[Any, Any], Any]:
    compute = getattr(operator, name)

    def update(self: StrictArray, other: Any) -> StrictArray:
        self.host = compute(self.host, unwrap(other))
        return self

    return update


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_",
              "xor", "lshift", "rshift"):
    _short = _name.rstrip("_")
    setattr(StrictArray, f"__{_short}__", _binary(_name))
    setattr(StrictArray, f"__r{_short}__", _reflected(_name))
    setattr(StrictArray, f"__i{_short}__", _augmented("i" + _short))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(StrictArray, f"__{_name}__", _binary(_name))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(StrictArray, f"__{_name}__", _unary(_name))


class StrictModule:
    """A module of functions on strict arrays only, such as `linalg`."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        return strict(getattr(self.module, name))


def strict(value: Any) -> Any:
    """Wrap an attribute of a NumPy module so that it takes and returns strict arrays."""
    # 12.7 The backend (about 10 lines)
    # `strict` prepares an attribute of a NumPy module for the device, and the backend has
    # all attributes of `numpy_backend`, made strict. `as_array` turns any value into a
    # StrictArray, and `from_host` and `to_host` move arrays.
    #   strict(np.linalg)                   -> StrictModule(np.linalg)
    #   strict(np.add)                      -> a strict_function
    #   strict(np.float64), strict(np.pi)   -> themselves, as types and constants
    #   backend.errstate                    -> AttributeError, as in GPU libraries
    #   backend.as_array(x), as_array(2.5)  -> x itself, StrictArray of a 0-d array
    # Mind:
    # - A device has separate memory, so moving an array copies it, with its strides
    #   (`copy("K")`).
    # Use: `ModuleType`, `np.asarray`.
    raise NotImplementedError("12.7 The backend is yours to write")


class StrictBackend(Kernels):
    """NumPy's functions, on strict arrays only."""

    name = "strict"
    device_type = "strict"
    array_type: type = StrictArray
    run_op = run_values = None

    def __getattr__(self, name: str) -> Any:
        # 12.7 The backend: see the task at `strict`.
        raise NotImplementedError("12.7 The backend is yours to write")

    def as_array(self, value: Any) -> Any:
        """Return arrays unchanged and numbers as 0-d arrays."""
        # 12.7 The backend: see the task at `strict`.
        raise NotImplementedError("12.7 The backend is yours to write")

    def from_host(self, array: Any) -> Any:
        """Copy a NumPy array to the imaginary device, including its strides."""
        # 12.7 The backend: see the task at `strict`.
        raise NotImplementedError("12.7 The backend is yours to write")

    def to_host(self, array: Any) -> Any:
        """Copy the values to the host."""
        # 12.7 The backend: see the task at `strict`.
        raise NotImplementedError("12.7 The backend is yours to write")

    def synchronize(self, index: int | None = None) -> None:
        """Do nothing, since no work is queued."""


backend = StrictBackend()
