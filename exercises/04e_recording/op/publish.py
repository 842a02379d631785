# Stage 04e, Recording an operation: the exercise for minigrad/op/publish.py.
# Made by `minigrad dev build`. The lesson is lessons/04e_recording.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04e
# docs/en/glossary.md explains the names used inside the package.

"""Publishes each op under its names: in `F`, in the package, as a method and as an operator.

For example, one declaration becomes `F.mul`, `minigrad.mul`, `Tensor.mul`, `Tensor.mul_`,
`Tensor.__mul__` and `Tensor.__rmul__`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from itertools import chain
from typing import Any, TypeVar, cast

import numpy as np

from .. import _state, on_demand
from ..backend import BACKENDS
from ..frames import type_in_error
from ..tensor.tensor import Tensor, method
from .apply import apply
from .arguments import (
    NUMBERS,
    SPELLINGS,
    argument_types,
    bind,
    check_arguments,
    refuse_keyword,
)
from .declaration import REGISTRY, F, Op
from .inplace import apply_inplace
from .out import call_with_out

Function = TypeVar("Function", bound=Callable[..., Any])
overrides = on_demand.later("op.overrides")

#: The types of operands that operators accept.
OPERANDS = (Tensor, *NUMBERS)

#: The functions that the package offers, by name.
FUNCTIONS: dict[str, Callable[..., Any]] = {}

#: The in-place dunder method of each operator.
AUGMENTED = {"__add__": "__iadd__", "__sub__": "__isub__", "__mul__": "__imul__",
             "__truediv__": "__itruediv__", "__pow__": "__ipow__", "__mod__": "__imod__",
             "__floordiv__": "__ifloordiv__", "__and__": "__iand__", "__or__": "__ior__",
             "__xor__": "__ixor__", "__lshift__": "__ilshift__", "__rshift__": "__irshift__"}

#: The parameter of functions that store their result in tensors that the caller provides.
OUT = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)


def written(op: type[Op], function: Any, form: str) -> Any:
    """Return the function to publish, which is `function` itself without `codegen/`.

    `codegen/` replaces this hook by one that generates the function from the op's declaration.
    """
    return function



def publish(op: type[Op]) -> None:
    """Publish an op under all its names."""
    if (steps := written(op, None, "steps")) is not None:
        op.written_out = staticmethod(steps)
    call = documented(overridable(caller(op)), op, op.name)
    if op.public:
        publish_function(op, call)
    if op.dunder:
        publish_operators(op, call, written(op, operator(call), "operator"))
    if op.inplace or (op.inplace_op and op.public):
        publish_inplace(op)


def publish_function(op: type[Op], call: Callable[..., Any]) -> None:
    """Publish an op in `F`, in the package and as a method."""
    general = published_as(call, written(op, call, "function"))
    vars(F)[op.name] = general
    FUNCTIONS[op.name] = package_function(general, op)
    if op.method:
        method(op.name)(general)


def publish_operators(op: type[Op], call: Callable[..., Any], dunder: Callable[..., Any]) -> None:
    """Publish an op's operators, such as `x - y` and, with a number on the left, `5 - x`."""
    # 04e.4 Operators (about 15 lines)
    # Give an op its operators. `operator` makes a dunder method from a function,
    # `swapped` exchanges a function's two operands, and `publish_operators` publishes the
    # methods.
    #   ("__sub__", "__rsub__") in op.dunder    -> x - 5, 5 - x
    #   operator(call)(x, 5)                    -> call(x, 5)
    #   operator(call)(x, "text")               -> with_another(call, x, "text"), mostly NotImplemented
    # Mind:
    # - Python calls the second method if the tensor is on the right. If `op.commutative`,
    #   4 * x runs as x * 4.
    # - Some ops have only one name, and some operators only one operand.
    # Use: `method(name)(function)`; `OPERANDS`, the types of known operands; `dunder`,
    # made by `operator(call)`.
    raise NotImplementedError("04e.4 Operators is yours to write")


def publish_inplace(op: type[Op]) -> None:
    """Publish an op's in-place variant under its names, such as `mul_` and `*=`."""
    inplace = documented(overridable(inplace_caller(op.inplace_op or op)), op, op.name + "_")
    dunder = written(op, operator(inplace), "in-place operator")
    if op.public and op.method:
        method(op.name + "_")(inplace)
    if op.public:
        vars(F).setdefault(op.name + "_", inplace)
        FUNCTIONS.setdefault(op.name + "_", inplace)
    if op.dunder and op.dunder[0] in AUGMENTED:
        method(AUGMENTED[op.dunder[0]])(dunder)


def caller(op: type[Op]) -> Callable[..., Any]:
    """Make the function that binds its arguments and applies the op."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return apply(op, bind(op, args, kwargs))

    return call


def inplace_caller(op: type[Op]) -> Callable[..., Any]:
    """Make the function that writes the op's result into its first argument."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return apply_inplace(op, bind(op, args, kwargs))

    return call


def overridable(function: Function) -> Function:
    """Let arguments take over calls of a function; see NOTE [Overrides] in op/overrides.py.

    They receive `call.published`, the function under its public name.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if overriding.count and (found := overrides.takers(args, kwargs)) is not None:
            return overrides.dispatch(published["published"], found, args, kwargs)
        try:
            return function(*args, **kwargs)
        except (AttributeError, TypeError) as error:
            return overrides.taken_late(error, published["published"], args, kwargs)

    overriding, published = _state.overriding, vars(call)
    return cast(Function, published_as(call, call))


def published_as(function: Any, public: Any) -> Any:
    """Note the public form of a function, and return it."""
    vars(function)["published"] = vars(public)["published"] = public
    return public


def outermost(composed: Any, call: Any) -> Any:
    """Return `call`, a wrapper of `composed`, as the public function."""
    return published_as(composed, call) if "published" in vars(composed) else overridable(call)


def documented(function: Callable[..., Any], op: type[Op], name: str,
               signature: inspect.Signature | None = None) -> Callable[..., Any]:
    """Give a function the name, the docstring and the signature of its op."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = op.__doc__
    function.__module__ = "minigrad"
    vars(function)["__signature__"] = signature or op.signature
    return function


def package_function(call: Callable[..., Any], op: type[Op]) -> Callable[..., Any]:
    """Make the package's function, which rejects bare arrays, unlike `F`'s, and accepts `out=`."""
    name, words = op.name, op.out
    first = op.parameters[0] if op.parameters else ""
    takes_tensor = first in (*op.tensors, op.list_of_tensors)
    if not (takes_tensor or words):
        return call

    def function(*args: Any, **kwargs: Any) -> Any:
        if takes_tensor and args and type(args[0]) is not Tensor:
            refuse_bare(name, args)
        if kwargs and words and "out" in kwargs:
            return call_with_out(name, words, call, args, kwargs)
        return call(*args, **kwargs)

    taught = documented(overridable(function), op, name, with_out(op.signature, words))
    return published_as(taught, written(op, taught, "package"))


def with_out(signature: inspect.Signature, words: str) -> inspect.Signature:
    """Return the signature of the package's function, with `input` for `self`, and with `out`."""
    parameters = list(signature.parameters.values())
    if parameters and parameters[0].name == "self":
        parameters[0] = parameters[0].replace(name="input")
    if words and "out" not in signature.parameters:
        parameters.append(OUT)
    return signature.replace(parameters=parameters)


def refuse_bare(name: str, args: tuple[Any, ...]) -> None:
    """Raise if an argument is an array instead of a tensor, or all are numbers."""
    value = args[0]
    if type(value) in BACKENDS or (
            isinstance(value, NUMBERS) and not any(isinstance(a, Tensor) for a in args[1:])):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not "
                        f"{type_in_error(value)}")


def operator(call: Callable[..., Any]) -> Callable[..., Any]:
    """Make a dunder method, which returns `NotImplemented` for operands that it does not know."""
    # 04e.4 Operators: see the task at `publish_operators`.
    raise NotImplementedError("04e.4 Operators is yours to write")


def with_another(call: Callable[..., Any], self: Tensor, other: Any) -> Any:
    """Return an operator's result for an unknown operand, which is mostly `NotImplemented`."""
    if call.__name__ in ("eq", "ne") and type(other) is np.ndarray:
        return call(self, Tensor._plain(other))  # otherwise Python would compare by identity
    return NotImplemented


def swapped(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that swaps the two operands."""
    # 04e.4 Operators: see the task at `publish_operators`.
    raise NotImplementedError("04e.4 Operators is yours to write")


def function(name: str | None = None, *, method_too: bool = True, event: bool = True,
             aliases: tuple[str, ...] = (), out: str = "") -> Callable[[Function], Function]:
    """Publish a function composed of ops: in `F`, in the package and as a method.

    `method_too` makes it a method, too, and `event` makes profiles show it.  `out` says how the
    package's function handles `out=`; see NOTE [out=] in op/out.py.  If the function only uses
    functions of `F`, it works on arrays as well.
    """

    def give(composed: Function) -> Function:
        general, public = with_aliases(composed), with_aliases(composed, name, out)
        if event:
            general, public = observable(general, name), observable(public, name)
        for alias in (name or composed.__name__, *aliases):
            vars(F)[alias] = general
            FUNCTIONS[alias] = public
            if method_too:
                method(alias)(general)
        return general

    return give


def observable(composed: Function, name: str | None = None) -> Function:
    """Make profiles show calls of a function, under the op's name if it shares one."""
    name = name or composed.__name__
    if any(op.name == name for op in REGISTRY.declared()):
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

    return cast(Function, outermost(composed, call))


def in_autocast(composed: Function) -> Function:
    """Make autocast choose the precision of a function composed of ops, by its name."""
    observers, name = _state.observers, composed.__name__

    @functools.wraps(composed)
    def call(*args: Any, **kwargs: Any) -> Any:
        if observers.count and (casts := _state.autocast.get()) is not None:
            args, kwargs = casts.function(name, args, kwargs)
        return composed(*args, **kwargs)

    return cast(Function, outermost(composed, call))


def with_aliases(composed: Function, name: str | None = None, out: str = "") -> Function:
    """Make a function accept `axis` for `dim`, and check the types of its arguments.

    `out` says how the function handles `out=`, if it accepts it.
    """
    signature = inspect.signature(composed)
    parameters = signature.parameters
    names, name = tuple(parameters), name or composed.__name__
    takes_dim = "dim" in names
    options = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    types, overriding = argument_types(parameters.values()), _state.overriding

    def checked(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            if out and "out" in kwargs:
                target = composed if "passed" in out else call
                return call_with_out(name, out, target, args, kwargs)
            if takes_dim:
                given = kwargs
                kwargs = {k if k == "input" else SPELLINGS.get(k, k): v for k, v in kwargs.items()}
                if not (options or kwargs.keys() <= parameters.keys()):
                    refuse_keyword(name, parameters, given)
        if types:
            args = check_arguments(name, types, args, kwargs)
        return composed(*args, **kwargs)

    @functools.wraps(composed)
    def call(*args: Any, **kwargs: Any) -> Any:
        if overriding.count and (found := overrides.takers(args, kwargs)) is not None:
            return overrides.dispatch(vars(call)["published"], found, args, kwargs)
        try:
            return (checked if kwargs or (types and len(args) > 1) else composed)(*args, **kwargs)
        except (AttributeError, TypeError) as error:
            refuse_no_tensor(error, name, dict(zip(names, args, strict=False)), kwargs)
            return overrides.taken_late(error, vars(call)["published"], args, kwargs)

    if out or options:
        if options:
            signature = options_spelt_out(composed)
        vars(call)["__signature__"] = with_out(signature, out)
    return cast(Function, published_as(call, call))


def options_spelt_out(composed: Any) -> inspect.Signature:
    """Return a function's signature with `**options: Unpack[...]` replaced by its keys.

    A key `size` is the other name for the sizes that are passed one by one.
    """
    signature = inspect.signature(composed)
    *others, options = signature.parameters.values()
    keys = composed.__globals__[options.annotation[len("Unpack["):-1]].__annotations__
    shown = [p.replace(name="size") if p.kind is p.VAR_POSITIONAL and "size" in keys else p
             for p in others]
    return signature.replace(parameters=[*shown, *(
        inspect.Parameter(key, options.KEYWORD_ONLY,
                          default=False if key in ("requires_grad", "pin_memory") else None)
        for key in keys if key not in {p.name for p in shown})])


def refuse_no_tensor(error: Exception, name: str, *given: dict[str, Any]) -> None:
    """Raise PyTorch's error if the object that lacked an attribute was passed for a tensor."""
    for position, (argument, value) in enumerate(chain(*map(dict.items, given)), 1):
        if value is getattr(error, "obj", error) and not hasattr(value, "__torch_function__"):
            shown = "input" if argument == "self" else argument
            raise TypeError(f"{name}(): argument '{shown}' (position {position}) must be Tensor, "
                            f"not {type_in_error(value)}") from None


def publish_all() -> None:
    """Publish every registered op."""
    for op in REGISTRY.values():
        publish(op)
