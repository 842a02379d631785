# Stage 12, Arrays on a GPU: the backend protocol: the solution for minigrad/backend/strict.py.
# Made by `minigrad dev build`. The lesson is lessons/12_backend.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

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
        raise TypeError(NO_CONVERSION)

    def __bool__(self) -> bool:
        if self.host.dtype.kind != "b":
            self._refuse()
        return bool(self.host)

    def _refuse(self, *_: Any) -> Any:
        raise TypeError(HIDDEN_TRANSFER)

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
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self.host, name)
        return strict_function(value) if callable(value) else wrap(value)

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
        return wrap(self.host[unwrap(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.host[unwrap(key)] = unwrap(value)

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
    if isinstance(value, StrictArray):
        return value.host
    if isinstance(value, np.ndarray):
        raise TypeError(MIXED)
    if type(value) in (tuple, list):
        return type(value)(map(unwrap, value))
    if isinstance(value, dict):
        return {key: unwrap(item) for key, item in value.items()}
    return value


def wrap(value: Any) -> Any:
    """Wrap results as strict arrays, including NumPy scalars, since a device has no scalars."""
    if isinstance(value, (np.ndarray, np.generic)):
        return StrictArray(np.asarray(value))
    if type(value) in (tuple, list):
        return type(value)(map(wrap, value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(wrap, value))
    return value


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
        return wrap(self.function(*map(unwrap, args), **unwrap(kwargs)))

    def __getattr__(self, name: str) -> Any:
        refuse_missing(self.function, name)
        return strict_function(getattr(self.function, name))


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
    if isinstance(value, ModuleType):
        return StrictModule(value)
    return value if isinstance(value, type) or not callable(value) else strict_function(value)


class StrictBackend(Kernels):
    """NumPy's functions, on strict arrays only."""

    name = "strict"
    device_type = "strict"
    array_type: type = StrictArray
    run_op = run_values = None

    def __getattr__(self, name: str) -> Any:
        if name == "errstate":
            raise AttributeError(name)
        original = getattr(np, name, None)  # the backend has functions in place of some ufuncs
        return strict(original if isinstance(original, np.ufunc) else getattr(numpy_backend, name))

    def as_array(self, value: Any) -> Any:
        """Return arrays unchanged and numbers as 0-d arrays."""
        return value if isinstance(value, StrictArray) else StrictArray(np.asarray(value))

    def from_host(self, array: Any) -> Any:
        """Copy a NumPy array to the imaginary device, including its strides."""
        return StrictArray(array.copy("K"))

    def to_host(self, array: Any) -> Any:
        """Copy the values to the host."""
        return array.host.copy("K")

    def synchronize(self, index: int | None = None) -> None:
        """Do nothing, since no work is queued."""


backend = StrictBackend()
