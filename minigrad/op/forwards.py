"""Forwards derived from a declaration, and wrappers around the ones that it defines."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .arguments import require

if TYPE_CHECKING:
    from .declaration import Op

Array = Any


def unary_call(function: str, kernel: tuple[str, str] | None) -> Callable[..., Any]:
    """Return a `forward` that calls a function of the backend on one array.

    Its attribute `calls` holds the function's name, unless it has to check dtypes first.

    >>> unary_call("exp", None)(numpy, numpy.zeros(2))
    array([1., 1.])
    """

    def forward(xp: Any, self: Array) -> Array:
        return getattr(xp, function)(self)

    def checked(xp: Any, self: Array) -> Array:
        require(self, *kernel)  # type: ignore[misc]  # chosen where there is one
        return getattr(xp, function)(self)

    vars(forward)["calls"] = function
    return forward if kernel is None else checked


def binary_call(function: str, kernel: tuple[str, str] | None) -> Callable[..., Any]:
    """Return a `forward` that calls a function of the backend on two arrays.

    >>> binary_call("multiply", None)(numpy, numpy.ones(2), 3.0)
    array([3., 3.])
    """

    def forward(xp: Any, self: Array, other: Array) -> Array:
        return getattr(xp, function)(self, other)

    def checked(xp: Any, self: Array, other: Array) -> Array:
        require(self, *kernel)  # type: ignore[misc]  # chosen where there is one
        return getattr(xp, function)(self, other)

    vars(forward)["calls"] = function
    return forward if kernel is None else checked


def call_as_shape(op: type[Op]) -> Callable[..., Any]:
    """Return a `forward` that calls a function of the backend with the shape rule's arguments.

    >>> from types import SimpleNamespace
    >>> op = SimpleNamespace(function="roll", kernel=None, shape=lambda self, shift: self)
    >>> call_as_shape(op)(numpy, numpy.arange(3), 1)
    array([2, 0, 1])
    """
    function, kernel = op.function, op.kernel

    def forward(xp: Any, *arguments: Any) -> Any:
        if kernel is not None:
            require(arguments[0], *kernel)
        return getattr(xp, function)(*arguments)

    arguments = inspect.signature(op.shape).parameters.values()
    xp = inspect.Parameter("xp", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    setattr(forward, "__signature__", inspect.Signature([xp, *arguments]))  # noqa: B010  # typed
    return forward


def on_a_copy(write: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `forward` that runs an op's in-place function on a copy of its input.

    >>> from minigrad.backend import backend_of
    >>> x = numpy.zeros(2); add = on_a_copy(lambda xp, self, other: self.__iadd__(other))
    >>> add(backend_of(x), x, 5), x
    (array([5., 5.]), array([0., 0.]))
    """

    @functools.wraps(write)
    def forward(xp: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        # in NumPy, the product of two 0-d arrays, as formulas compute it, is a scalar
        return write(xp, xp.as_array(self).copy(), *args, **kwargs)

    return forward


def in_float32(forward: Callable[..., Any]) -> Callable[..., Any]:
    """Return `forward`, changed to compute in float32 if its first array is float16.

    >>> ratio = in_float32(lambda xp, self: self * self / self)
    >>> ratio(numpy, numpy.float16([300]))  # 300 * 300 is beyond float16
    array([300.], dtype=float16)
    """

    @functools.wraps(forward)
    def wide(xp: Any, self: Array, *args: Any, **kwargs: Any) -> Array:
        if self.dtype.char != "e":
            return forward(xp, self, *args, **kwargs)
        return forward(xp, self.astype("float32"), *args, **kwargs).astype(self.dtype)

    return wide


def in_order(op: type[Op], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with an op's arguments that also accepts keyword-only ones by position.

    >>> from types import SimpleNamespace
    >>> op = SimpleNamespace(parameters=("self", "power"), keyword_only={"power"}, positional=1)
    >>> in_order(op, lambda xp, self, *, power: self**power)(numpy, 2, 3)
    8
    """
    if not op.keyword_only:
        return function
    split, names = op.positional, op.parameters[op.positional:]

    def call(xp: Any, *values: Any) -> Any:
        return function(xp, *values[:split], **dict(zip(names, values[split:], strict=True)))

    return call
