"""Putting the arguments of an op into the order of its `forward`, and checking them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..backend import BACKENDS
from ..dtypes import bool as boolean
from ..dtypes import dtype, from_numpy_dtype, type_name
from ..frames import type_in_error
from ..tensor.tensor import Tensor
from .legacy_forms import numbers_by_name
from .type_promotion import refuse_big_int

if TYPE_CHECKING:
    from .declaration import Op

#: Python and NumPy types of numbers that are accepted in place of a 0-d tensor.
NUMBERS = (bool, int, float, np.number, np.bool_)

#: Other names that PyTorch accepts for an argument, such as NumPy's, or Python's keywords.
SPELLINGS = {"input": "self", "axis": "dim", "keepdims": "keepdim", "from": "from_"}


class NotGiven:
    """The default of a parameter for which `None` is a valid value or that has no fixed default."""

    def __repr__(self) -> str:
        return "<not given>"


NOT_GIVEN: Any = NotGiven()


def bind(op: type[Op], args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """Put arguments into the order of `forward`; raise `TypeError` if they don't fit."""
    if op.varargs is not None:
        args = pack_varargs(op, args)
    in_order = not kwargs and op.required <= len(args) <= op.positional
    values = [*args, *op.default_values[len(args):]] if in_order else bind_by_name(op, args, kwargs)
    for position, name, expected in op.checked:
        if type(values[position]) not in expected.plain:
            values[position] = expected.check(op.name, name, values[position],
                                              position if position < len(args) else None)
    return values


def bind_by_name(op: type[Op], args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """Bind positional and keyword arguments; raise `TypeError` if they don't fit."""
    if len(args) > op.positional:
        args, kwargs = numbers_by_name(op, args, kwargs)
    bound = dict(zip(op.parameters, args, strict=False))
    for key, value in kwargs.items():
        name = parameter_called(op, key, kwargs)
        if name in bound:
            raise TypeError(f"{op.name}() got multiple values for argument '{key}'")
        bound[name] = value
    refuse_missing(op, bound)
    values = op.defaults | bound
    return [values[name] for name in op.parameters]


def parameter_called(op: type[Op], key: str, keywords: Iterable[str]) -> str:
    """Return the parameter for a keyword, which may be NumPy's name for it.

    The error names the first of the `keywords` that PyTorch doesn't know.
    """
    name = key if key in op.parameters else SPELLINGS.get(key, key)
    if name not in op.parameters:
        refuse_keyword(op.name, op.parameters, keywords)
    return name


def refuse_keyword(function: str, parameters: Container[str], keywords: Iterable[str]) -> NoReturn:
    """Raise `TypeError` for the first keyword that is none of PyTorch's own parameter names."""
    first = next(given for given in keywords if given not in parameters)
    raise TypeError(f"{function}() got an unexpected keyword argument '{first}'")


def refuse_missing(op: type[Op], bound: dict[str, Any]) -> None:
    """Raise `TypeError` if a required parameter has no value."""
    missing = [f'"{shown_name(name)}"' for name in op.parameters
               if name not in bound and name not in op.defaults]
    if missing:
        raise TypeError(f"{op.name}() missing {len(missing)} required positional arguments: "
                        f"{', '.join(missing)}")


def shown_name(name: str) -> str:
    """Return the name that users see for a parameter of `forward`."""
    return "input" if name == "self" else name


def pack_varargs(op: type[Op], args: Sequence[Any]) -> Sequence[Any]:
    """Turn `x.permute(1, 0)` into `x.permute((1, 0))`, as PyTorch does if the first is an int."""
    at = op.parameters.index(op.varargs or "")
    if len(args) <= at or type(args[at]) is tuple:
        return args
    if is_item(args[at]):
        return [*args[:at], tuple(args[at:])]
    if isinstance(args[at], Tensor):
        raise TypeError(argument_error(op, op.parameters[at], "tuple of ints", args[at]))
    return args


def plain_numbers(op: type[Op], values: list[Any]) -> list[Any]:
    """Return the values with one-element tensors converted to numbers where ops need numbers."""
    for i in op.plain_positions:
        if isinstance(values[i], Tensor):
            values = [*values[:i], single_item(op, i, values[i]), *values[i + 1 :]]
    return values


def single_item(op: type[Op], i: int, tensor: Tensor) -> Any:
    """Return the element of the one-element tensor at position `i`; raise for another size.

    Raise for a tensor that requires grad, too, because a number would lose its gradient.
    """
    if tensor.requires_grad:
        raise TypeError(argument_error(op, op.parameters[i], "Number", tensor))
    if tensor.numel() != 1:
        raise TypeError(argument_error(op, op.parameters[i], "a number or sequence", tensor))
    return tensor.item()


def check_operand(op: type[Op], i: int, value: Any) -> None:
    """Raise `TypeError` unless position `i` accepts this value, which is not a tensor."""
    if value is None:
        allowed = i in op.optional_positions
    else:
        allowed = (type(value) in BACKENDS or isinstance(value, np.generic)
                   or (i in op.number_positions and isinstance(value, NUMBERS)))
    if not allowed:
        raise TypeError(argument_error(op, op.parameters[i], "Tensor", value))
    if type(value) is int and not -2**63 <= value < 2**64:
        refuse_big_int(value)


def unwrap_list(items: Sequence[Any], array_types: set[Any]) -> tuple[list[Any], bool]:
    """Return the arrays of a list, and whether the list contains a tensor.

    Add the types of the arrays to `array_types`.
    """
    for number, item in enumerate(items):
        if not isinstance(item, Tensor) and type(item) not in BACKENDS:
            raise TypeError(f"expected Tensor as element {number} in argument 0, but got "
                            f"{type_in_error(item)}")
    arrays = [item._array if isinstance(item, Tensor) else item for item in items]
    array_types.update(map(type, arrays))
    return arrays, any(isinstance(item, Tensor) for item in items)


def argument_error(op: type[Op], name: str, wanted: str, value: Any) -> str:
    """Return a message that names the argument, the expected type and the actual type."""
    position = op.parameters.index(name) + 1
    where = "" if name in op.keyword_only else f" (position {position})"
    return (f"{op.name}(): argument '{shown_name(name)}'{where} must be {wanted}, not "
            f"{type_in_error(value)}")


def shapes_of(op: type[Op], arrays: list[Any]) -> list[Any]:
    """Return forward's arguments with shapes instead of arrays, as shape rules expect them."""
    shapes = []
    for name, value in zip(op.parameters, arrays, strict=True):
        if name == op.list_of_tensors:
            value = [tuple(v.shape) for v in value]
        elif name in op.tensors and hasattr(value, "shape"):
            value = tuple(value.shape)
        shapes.append(value)
    return shapes


def require(array: Any, kinds: str, kernel: str) -> None:
    """Raise PyTorch's error if a kernel does not support the array's `dtype.kind`."""
    if array.dtype.kind not in kinds:
        shown = type_name(from_numpy_dtype(array.dtype))
        raise NotImplementedError(f'"{kernel}" not implemented for \'{shown}\'')


# -------------------------------------------------------------------- types of plain arguments


@dataclass(frozen=True)
class ArgumentType:
    """A type that an argument can have, with the name that PyTorch's errors use."""

    wanted: str
    plain: frozenset[type]  # values of these types are accepted without a check
    accepts: Callable[[Any], bool]  # decides about values of other types

    def check(self, function: str, name: str, value: Any, position: int | None) -> Any:
        """Return the value, with tensors converted to ints; raise `TypeError` for a wrong type.

        `position` is `None` if the argument was passed by name.
        """
        if self.accepts(value):
            return without_tensors(name, value) if "int" in self.wanted else value
        at, item = self.wrong_item(value)
        if at > 0:
            raise TypeError(f"{function}(): argument '{name}' failed to unpack the object at pos "
                            f'{at + 1} with error "type must be {self.wanted},but got '
                            f'{type_in_error(item)}"')
        where = "" if position is None else f" (position {position + 1})"
        came = (f"not {type_in_error(value)}" if at < 0 else
                f"but found element of type {type_in_error(item)} at pos 0")
        raise TypeError(f"{function}(): argument '{name}'{where} must be {self.wanted}, {came}")

    def wrong_item(self, value: Any) -> tuple[int, Any]:
        """Return the index and value of the first item with a wrong type; -1 if not a list."""
        if self.wanted == "tuple of ints" and isinstance(value, (tuple, list)):
            return next((at, item) for at, item in enumerate(value) if not is_item(item, at))
        return -1, None


def without_tensors(name: str, value: Any) -> Any:
    """Return an int or a sequence of ints, with every tensor converted to an int."""
    if isinstance(value, Tensor):
        return index_of(name, value)
    if isinstance(value, (tuple, list)) and Tensor in set(map(type, value)):
        return tuple([index_of(name, n) if isinstance(n, Tensor) else n for n in value])
    return value


def index_of(name: str, tensor: Tensor) -> int:
    """Return a tensor's integer; like PyTorch, accept a bool as a dimension but not as a size."""
    if tensor.dtype is boolean and name not in DIMENSIONS:
        raise RuntimeError("Expected scalar.isIntegral( false) to be true, but got false.  (Could "
                           "this error message be improved?  If so, please report an enhancement "
                           "request to PyTorch.)")
    return tensor.__index__()


def is_int(value: Any) -> bool:
    """Return whether a value counts as an int: a 0-d integer tensor does, `True` does not."""
    if isinstance(value, Tensor):
        return not value.ndim and not value.dtype.is_floating_point and value.dtype is not boolean
    return hasattr(value, "__index__") and not isinstance(value, (bool, np.bool_))


def are_ints(value: Any) -> bool:
    """Return whether a value is one int or a sequence of ints."""
    return is_list_of_ints(value) or is_item(value)


def is_list_of_ints(value: Any) -> bool:
    """Return whether a value is a sequence of ints."""
    return isinstance(value, (tuple, list)) and (set(map(type, value)) <= {int} or all(
        is_item(item, at) for at, item in enumerate(value)))


def is_item(value: Any, at: int = 0) -> bool:
    """Return whether a value counts as an int in a list; a one-element integer tensor does.

    PyTorch rejects `True` only as the first item.
    """
    if isinstance(value, Tensor):
        return value.numel() == 1 and not value.dtype.is_floating_point
    return is_int(value) or (at > 0 and isinstance(value, bool))


def is_tensor(value: Any) -> bool:
    """Return whether a value is a tensor or, as in a formula that runs on arrays, an array."""
    return isinstance(value, Tensor) or type(value) in BACKENDS


def loses_no_gradient(value: Any) -> bool:
    """Return whether a value can become a number without losing a gradient."""
    return not (isinstance(value, Tensor) and value.requires_grad)


INT = ArgumentType("int", frozenset({int}), is_int)
INTS = ArgumentType("tuple of ints", frozenset({int}), are_ints)
INT_LIST = ArgumentType("tuple of ints", frozenset(), is_list_of_ints)  # rejects a single int
TENSOR = ArgumentType("Tensor", frozenset({Tensor}), is_tensor)
BOOL = ArgumentType("bool", frozenset({bool}), lambda value: isinstance(value, np.bool_))
DTYPE = ArgumentType("torch.dtype", frozenset({dtype}), lambda value: (
    isinstance(value, type) and value in (bool, int, float, complex)))
NUMBER = ArgumentType("Number", frozenset({int, float}), lambda value: (
    isinstance(value, NUMBERS) or type(value) in BACKENDS
    or (isinstance(value, Tensor) and not value.ndim and loses_no_gradient(value))))
#: Only rejects tensors that require grad: each function checks the other types itself.
FLOAT = ArgumentType("float", frozenset({int, float}), loses_no_gradient)
#: The same types for parameters whose default is `None`.
OR_NONE = {each: replace(each, plain=each.plain | {type(None)})
           for each in (INT, INTS, INT_LIST, BOOL, DTYPE, NUMBER, FLOAT, TENSOR)}

def given_ints(function: str, argument: str, values: Sequence[Any]) -> tuple[Any, ...]:
    """Return the ints of `f(2, 3)` or `f((2, 3))`; raise `TypeError` for anything else."""
    given = values[0] if len(values) == 1 else values
    if type(given) is not int:
        one_by_one = len(values) > 1 and not is_item(values[0])
        given = INTS.check(function, argument, values[0] if one_by_one else given, 0)
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


#: The parameters that name dimensions; other ints are mostly sizes.
DIMENSIONS = {"dim", "dims", "source", "destination"}

#: The position of keyword-only parameters.
BY_NAME = sys.maxsize

#: The types of parameters whose name means the same in all functions; `dim` is handled below.
TYPES_BY_NAME = {
    **dict.fromkeys(("alpha", "beta"), NUMBER),
    **dict.fromkeys(("dx", "eps", "maxnorm", "momentum", "ord", "p", "spacing"), FLOAT),
    **dict.fromkeys(("chunks", "diagonal", "dim0", "dim1", "dimension", "downscale_factor",
                     "end_dim", "groups", "k", "num_classes", "offset", "split_size", "start_dim",
                     "upscale_factor"), INT),
    **dict.fromkeys(("normalized_shape", "pad", "sizes"), INT_LIST),
    **dict.fromkeys(("dilation", "dims", "kernel_size", "output_padding", "output_size",
                     "padding", "repeats", "shifts", "size", "split_size_or_sections",
                     "split_sizes", "stride"), INTS),
    "dtype": DTYPE, "keepdim": BOOL,
}


def argument_type(parameter: inspect.Parameter, several_dims: bool = False) -> ArgumentType | None:
    """Return the type that an argument must have, or `None` if it is not checked.

    The type follows from the parameter's name, or from a default of `True`, `False` or a float.
    `dim` is one int unless `several_dims` is true or its default is `None` or a tuple.  An
    annotation takes precedence: `Tensor`, `int`, `float` and `tuple[int, ...]` for any name,
    `int | None` for a `dim` that is one int although its default is `None`, and `Any` to switch the
    check off.
    """
    name, default, annotation = parameter.name, parameter.default, str(parameter.annotation)
    if annotation.endswith("Any"):
        return None
    expected = BOOL if isinstance(default, bool) else TYPES_BY_NAME.get(
        name, FLOAT if isinstance(default, float) else None)
    if annotation in ("int", "<class 'int'>"):
        expected = INT
    elif annotation in ("float", "float | None", "<class 'float'>"):
        expected = FLOAT
    elif annotation in ("Tensor", "Tensor | None", str(Tensor)):
        expected = TENSOR
    elif annotation.startswith("tuple[int"):
        expected = INTS
    if name == "dim":
        one = annotation.startswith("int") or not (
            several_dims or default is None or isinstance(default, tuple))
        expected = INT if one else INTS
    return expected if expected is None or default is not None else OR_NONE[expected]


def argument_types(parameters: Iterable[inspect.Parameter],
                   several_dims: bool = False) -> tuple[tuple[int, str, ArgumentType], ...]:
    """Return the position, name and type of each parameter whose arguments are checked."""
    found = []
    for position, parameter in enumerate(parameters):
        expected = argument_type(parameter, several_dims)
        if expected is not None and parameter.kind is not parameter.VAR_POSITIONAL:
            by_name = parameter.kind is parameter.KEYWORD_ONLY
            found.append((BY_NAME if by_name else position, parameter.name, expected))
    return tuple(found)


def check_arguments(function: str, types: Sequence[tuple[int, str, ArgumentType]],
                    args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Check the arguments of a function composed of ops, as `bind` does for an op.

    Return the positional arguments with tensors converted to ints, and convert those in `kwargs`
    in place.
    """
    for position, name, expected in types:
        if position < len(args):
            if type(value := args[position]) not in expected.plain:
                taken = expected.check(function, name, value, position)
                if taken is not value:
                    args = (*args[:position], taken, *args[position + 1 :])
        elif name in kwargs and type(kwargs[name]) not in expected.plain:
            kwargs[name] = expected.check(function, name, kwargs[name], None)
    return args
