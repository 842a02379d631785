"""Hands each op out under its names: in `F`, in the package, as a method, as an operator.

What is written once in a declaration becomes `F.mul`, `minigrad.mul`, `Tensor.mul`,
`Tensor.mul_`, `Tensor.__mul__` and `Tensor.__rmul__` here.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from .. import _state
from ..backend import BACKENDS
from ..device import place_on
from ..dtypes import can_cast, type_name
from ..tensor.tensor import Tensor, method
from .apply import apply
from .arguments import NUMBERS, SPELLINGS, bind
from .declaration import REGISTRY, F, Op
from .inplace import apply_inplace

Function = TypeVar("Function", bound=Callable[..., Any])

#: What the package offers as functions, by name.
FUNCTIONS: dict[str, Callable[..., Any]] = {}

#: The dunder methods that write to their first operand, by the operator they belong to.
AUGMENTED = {"__add__": "__iadd__", "__sub__": "__isub__", "__mul__": "__imul__",
             "__truediv__": "__itruediv__", "__pow__": "__ipow__", "__mod__": "__imod__",
             "__floordiv__": "__ifloordiv__", "__and__": "__iand__", "__or__": "__ior__",
             "__xor__": "__ixor__", "__lshift__": "__ilshift__", "__rshift__": "__irshift__"}

#: Functions `replace(op, function, dunder)` that give quicker twins of both; from `fast/`.
QUICKER: list[Callable[[type[Op], Any, Any], tuple[Any, Any]]] = []


def publish(op: type[Op]) -> None:
    """Give an op all its names."""
    call = documented(caller(op), op, op.name)
    polymorphic, dunder = call, operator(call)
    for replace in QUICKER:
        polymorphic, dunder = replace(op, polymorphic, dunder)
    if op.public:
        vars(F)[op.name] = polymorphic
        FUNCTIONS[op.name] = tensors_only(polymorphic, op)
        if op.method:
            method(op.name)(polymorphic)
    if op.dunder:
        method(op.dunder[0])(dunder)
    if len(op.dunder) > 1:
        method(op.dunder[1])(dunder if op.commutative else operator(swapped(call)))
    if op.inplace or (op.inplace_op and op.public):
        inplace = documented(inplace_caller(op.inplace_op or op), op, op.name + "_")
        if op.public and op.method:
            method(op.name + "_")(inplace)
        if op.public:
            vars(F).setdefault(op.name + "_", inplace)
            FUNCTIONS.setdefault(op.name + "_", inplace)
        if op.dunder and op.dunder[0] in AUGMENTED:
            method(AUGMENTED[op.dunder[0]])(operator(inplace))


def caller(op: type[Op]) -> Callable[..., Any]:
    """Make the function that binds its arguments and applies the op."""

    def call(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        result = apply(op, bind(op, args, kwargs))
        return result if out is None else write_out(op.name, out, result)

    return call


def write_out(name: str, out: Any, result: Any) -> Any:
    """Store a result in the tensor given as `out`, which must stay out of the graph."""
    if isinstance(result, tuple):
        return type(result)(*(write_out(name, o, r) for o, r in zip(out, result, strict=True)))
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if not _state.inference_enabled.get() and (
            result.requires_grad or (out.requires_grad and _state.grad_enabled.get())):
        raise RuntimeError(f"{name}(): functions with out=... arguments don't support automatic "
                           "differentiation, but one of the arguments requires grad.")
    transform = _state.transform.get()
    if transform is not None and transform.any_tangent((result, out)):
        raise NotImplementedError(f"Trying to use forward AD with {name}_out that does not support "
                                  "it because it is an out= function")
    if not can_cast(result.dtype, out.dtype):
        raise RuntimeError(f"result type {type_name(result.dtype)} can't be cast to the desired "
                           f"output type {type_name(out.dtype)}")
    if result.device != out.device:
        raise RuntimeError("Expected all tensors to be on the same device, but found at least two "
                           f"devices, {out.device} and {result.device}!")
    out._bump()  # first, for Ctrl-C may come in between
    with place_on(out._array):
        if out._array.shape != result._array.shape:
            out._array = result._array.astype(out._array.dtype)
        else:
            out._array[...] = result._array
    return out


def inplace_caller(op: type[Op]) -> Callable[..., Any]:
    """Make the function that writes the op's result into its first argument."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return apply_inplace(op, bind(op, args, kwargs))

    return call


def documented(function: Callable[..., Any], op: type[Op], name: str) -> Callable[..., Any]:
    """Give a made function the name and the docstring of its op."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = op.__doc__
    function.__module__ = "minigrad"
    return function


def tensors_only(call: Callable[..., Any], op: type[Op]) -> Callable[..., Any]:
    """Make the package's own function: unlike `F`'s it refuses bare arrays."""
    first = op.parameters[0] if op.parameters else ""
    if first not in (*op.tensors, op.list_of_tensors):
        return call

    def function(*args: Any, **kwargs: Any) -> Any:
        if args and type(args[0]) is not Tensor:
            given = args[0]
            if type(given) in BACKENDS or (
                isinstance(given, NUMBERS) and not any(isinstance(a, Tensor) for a in args[1:])
            ):
                raise TypeError(f"{op.name}(): argument 'input' (position 1) must be Tensor, not "
                                f"{type(given).__name__}")
        return call(*args, **kwargs)

    return documented(function, op, op.name)


def operator(call: Callable[..., Any]) -> Callable[..., Any]:
    """Make a dunder method: what is no operand is left to the other side."""

    equality = call.__name__ in ("eq", "ne")

    def dunder(self: Tensor, *other: Any) -> Any:
        if other and not isinstance(other[0], (Tensor, *NUMBERS)):
            if equality and type(other[0]) is np.ndarray:  # else Python would compare by identity
                return call(self, Tensor._plain(other[0]))
            return NotImplemented
        return call(self, *other)

    return dunder


def swapped(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with its two operands exchanged."""
    return lambda self, other: call(other, self)


def function(name: str | None = None, *, method_too: bool = True, event: bool = True,
             aliases: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Publish a function that is composed of ops: in `F`, in the package and as a method.

    Without `method_too` tensors do not get it, without `event` profiles do not show it.  Written
    with `F`, it serves arrays as well.
    """

    def give(composed: Function) -> Function:
        composed = respelt(composed)
        if event:
            composed = observable(composed, name)
        for alias in (name or composed.__name__, *aliases):
            vars(F)[alias] = composed
            FUNCTIONS[alias] = composed
            if method_too:
                method(alias)(composed)
        return composed

    return give


def observable(composed: Function, name: str | None = None) -> Function:
    """Let profiles show the calls of a function; one with the name of an op is shown as that."""
    name = name or composed.__name__
    if any(op.name == name for op in REGISTRY.values()):
        return composed
    observers, read_recorder, shown = _state.observers, _state.recorder.get, "aten::" + name

    @functools.wraps(composed)
    def call(*args: Any, **kwargs: Any) -> Any:
        if observers.count:
            if (casts := _state.autocast.get()) is not None:
                args, kwargs = casts.function(name, args, kwargs)
            if (recorder := read_recorder()) is not None:
                return recorder.call(shown, args, composed, *args, **kwargs)
        return composed(*args, **kwargs)

    return call  # type: ignore[return-value]  # it has the signature of what it wraps


def in_autocast(composed: Function) -> Function:
    """Let autocast choose the precision of a function made of several ops, by its name."""
    observers, name = _state.observers, composed.__name__

    @functools.wraps(composed)
    def call(*args: Any, **kwargs: Any) -> Any:
        if observers.count and (casts := _state.autocast.get()) is not None:
            args, kwargs = casts.function(name, args, kwargs)
        return composed(*args, **kwargs)

    return call  # type: ignore[return-value]  # it has the signature of what it wraps


def respelt(composed: Function) -> Function:
    """Let a function with `dim` take it as `axis` too, and say so where it was given no tensor."""
    names = tuple(inspect.signature(composed).parameters)
    takes_dim = "dim" in names

    @functools.wraps(composed)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs and takes_dim:
            kwargs = {k if k == "input" else SPELLINGS.get(k, k): v for k, v in kwargs.items()}
        try:
            return composed(*args, **kwargs)
        except AttributeError as error:
            refuse_no_tensor(error, composed.__name__, dict(zip(names, args, strict=False)), kwargs)
            raise

    return call  # type: ignore[return-value]  # it has the signature of what it wraps


def refuse_no_tensor(error: AttributeError, name: str, *given: dict[str, Any]) -> None:
    """Raise PyTorch's error if what lacked an attribute came in place of a tensor."""
    for position, (argument, value) in enumerate(chain(*map(dict.items, given)), 1):
        if value is error.obj and not isinstance(value, Tensor):
            shown = "input" if argument == "self" else argument
            raise TypeError(f"{name}(): argument '{shown}' (position {position}) must be Tensor, "
                            f"not {type(value).__name__}") from None


def publish_all() -> None:
    """Publish every registered op."""
    for op in REGISTRY.values():
        publish(op)
