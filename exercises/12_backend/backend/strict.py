# Stage 12, Arrays on a GPU: the backend protocol: the exercise for minigrad/backend/strict.py.
# Made by `minigrad dev build`. The lesson is lessons/12_backend.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 12
# Names of the package's inside are explained in docs/en/glossary.md.

"""A test backend: NumPy arrays with the restrictions of a GPU library.

Its arrays raise when they meet plain NumPy arrays, when they would become one implicitly, and for
`float` and `int`, which on a GPU would be a hidden transfer to the host; only a bool may be read.
Its ufuncs have `reduce` and `accumulate` where CuPy's have them, for sums and products, and it has
no `errstate`; modules such as `linalg` exist, as in CuPy.  So a forgotten `np.` in an op fails
here, on a machine without a GPU.

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


class StrictArray:
    """An array on the imaginary device `strict`."""

    __slots__ = ("host",)
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]  # arrays compare elementwise

    def __init__(self, host: Any) -> None:
        self.host = host

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        # 12.4 An array that refuses (about 18 lines)
        # StrictArray: `__array__` raises TypeError with a text that begins "Implicit
        # conversion to a NumPy array is not allowed". `_refuse`, which `float`, `int` and use
        # as an index call, raises TypeError with a text that contains "hidden transfer";
        # `__bool__` does the same unless the dtype is bool (`dtype.kind` "b"), and then
        # returns the outcome. `__getattr__(name)`: AttributeError for names that begin with
        # two underscores; otherwise the host's attribute, callables as a strict_function,
        # others wrapped. `x[key]` and `x[key] = value` are those of the host, with key and
        # value unwrapped and the result wrapped. strict_function: calling it calls
        # `self.function` with all arguments unwrapped, keywords too, and wraps the result.
        # Its `__getattr__(name)` gives the function's attribute as a strict_function, but for
        # `reduce` and `accumulate` of a ufunc (np.ufunc) other than np.add and np.multiply it
        # raises NotImplementedError with the text "`{ufunc's __name__}.{name}` is not
        # supported yet".
        raise NotImplementedError("12.4 An array that refuses is yours to write")

    def __bool__(self) -> bool:
        # 12.4 An array that refuses: see the task at `StrictArray.__array__`.
        raise NotImplementedError("12.4 An array that refuses is yours to write")

    def _refuse(self, *_: Any) -> Any:
        # 12.4 An array that refuses: see the task at `StrictArray.__array__`.
        raise NotImplementedError("12.4 An array that refuses is yours to write")

    __float__ = __int__ = __index__ = _refuse

    @property
    def base(self) -> Any:
        """The array that owns the memory, for a view."""
        base = self.host.base
        return None if base is None else StrictArray(base)

    @property
    def data(self) -> Any:
        """The memory, with its address as `ptr`."""
        return _Pointer(self.host)

    def __getattr__(self, name: str) -> Any:
        # 12.4 An array that refuses: see the task at `StrictArray.__array__`.
        raise NotImplementedError("12.4 An array that refuses is yours to write")

    def item(self, *index: int) -> Any:
        """Return one element as a Python number: an explicit transfer."""
        return self.host.item(*index)

    def tolist(self) -> Any:
        """Return the values as Python lists: an explicit transfer."""
        return self.host.tolist()

    def __len__(self) -> int:
        return len(self.host)

    def __iter__(self) -> Iterator[Any]:
        return (wrap(row) for row in self.host)

    def __getitem__(self, key: Any) -> Any:
        # 12.4 An array that refuses: see the task at `StrictArray.__array__`.
        raise NotImplementedError("12.4 An array that refuses is yours to write")

    def __setitem__(self, key: Any, value: Any) -> None:
        # 12.4 An array that refuses: see the task at `StrictArray.__array__`.
        raise NotImplementedError("12.4 An array that refuses is yours to write")

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
    """Return the NumPy array of a strict one, inside sequences too; raise for plain ones."""
    # 12.3 Over the border (about 16 lines)
    # A StrictArray keeps its NumPy array as `host`. `unwrap(value)`, for what goes in: of
    # a StrictArray its host; a NumPy array raises TypeError with a text that ends "a
    # NumPy array met a device array"; tuples and lists (exactly these two types; others,
    # such as named tuples, stay as they are) are unwrapped element by element and keep
    # their type, dictionaries value by value; everything else is returned as it is.
    # `wrap(value)`, for what comes out: NumPy arrays and NumPy scalars become
    # StrictArrays (a scalar one of no dimensions) that share the array's memory; tuples
    # and lists are wrapped element by element and keep their type, named tuples (a tuple
    # with `_fields`) too; everything else is returned as it is.
    raise NotImplementedError("12.3 Over the border is yours to write")


def wrap(value: Any) -> Any:
    """Return results as strict arrays, NumPy scalars too: a device has no scalars."""
    # 12.3 Over the border: see the task at `unwrap`.
    raise NotImplementedError("12.3 Over the border is yours to write")


class strict_function:
    """A NumPy function, ufunc or method that takes and returns strict arrays."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # 12.4 An array that refuses: see the task at `StrictArray.__array__`.
        raise NotImplementedError("12.4 An array that refuses is yours to write")

    def __getattr__(self, name: str) -> Any:
        # 12.4 An array that refuses: see the task at `StrictArray.__array__`.
        raise NotImplementedError("12.4 An array that refuses is yours to write")


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
    """Return an attribute of a NumPy module, wrapped to take and return strict arrays."""
    # 12.5 The backend (about 9 lines)
    # `strict(value)`: a module becomes `StrictModule(value)`; a callable that is no type
    # becomes a strict_function; everything else (types such as float64, numbers such as
    # pi) stays as it is. StrictBackend: `__getattr__(name)` gives the attribute of
    # `numpy_backend`, made `strict`, but AttributeError for "errstate", which GPU
    # libraries lack. `as_array(value)`: a StrictArray as it is, everything else as a new
    # one (`np.asarray`). `from_host(array)`: a StrictArray with a copy of the NumPy
    # array; `to_host(array)`: a copy of the host's. Both copies keep the order in memory,
    # `copy("K")`.
    raise NotImplementedError("12.5 The backend is yours to write")


class StrictBackend(Kernels):
    """The functions of NumPy on strict arrays only."""

    name = "strict"
    device_type = "strict"
    array_type: type = StrictArray
    run_op = None

    def __getattr__(self, name: str) -> Any:
        # 12.5 The backend: see the task at `strict`.
        raise NotImplementedError("12.5 The backend is yours to write")

    def as_array(self, value: Any) -> Any:
        """Return arrays as they are; a number becomes a 0-d array."""
        # 12.5 The backend: see the task at `strict`.
        raise NotImplementedError("12.5 The backend is yours to write")

    def from_host(self, array: Any) -> Any:
        """Copy a NumPy array to the imaginary device, strides and all."""
        # 12.5 The backend: see the task at `strict`.
        raise NotImplementedError("12.5 The backend is yours to write")

    def to_host(self, array: Any) -> Any:
        """Copy the values back."""
        # 12.5 The backend: see the task at `strict`.
        raise NotImplementedError("12.5 The backend is yours to write")

    def synchronize(self, index: int | None = None) -> None:
        """Return immediately: nothing is queued."""


backend = StrictBackend()
