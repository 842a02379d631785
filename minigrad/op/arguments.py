"""The arguments of an op: put into the order of its `forward`, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import BACKENDS
from ..tensor.tensor import Tensor

if TYPE_CHECKING:
    from .declaration import Op

#: Python and NumPy types of numbers that may stand for a 0-d tensor.
NUMBERS = (bool, int, float, np.number, np.bool_)

#: Other names under which PyTorch takes an argument, NumPy's among them.
SPELLINGS = {"input": "self", "axis": "dim", "keepdims": "keepdim"}


def bind(op: type[Op], args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """Put arguments into the order of `forward`; a `TypeError` names what is wrong with them."""
    if op.varargs is not None:
        args = pack_varargs(op, args)
    if not kwargs and op.required <= len(args) <= op.positional:
        return [*args, *op.default_values[len(args):]]
    return bind_by_name(op, args, kwargs)


def bind_by_name(op: type[Op], args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """Bind arguments some of which come by name, and complain about those that do not fit."""
    names = op.parameters
    positional = [name for name in names if name not in op.keyword_only]
    if len(args) > len(positional):
        raise TypeError(f"{op.name}() takes {len(positional)} positional arguments but "
                        f"{len(args)} were given")
    bound = dict(zip(positional, args, strict=False))
    for key, value in kwargs.items():
        name = key if key in names else SPELLINGS.get(key, key)
        if name not in names:
            raise TypeError(f"{op.name}() got an unexpected keyword argument '{key}'")
        if name in bound:
            raise TypeError(f"{op.name}() got multiple values for argument '{key}'")
        bound[name] = value
    for position, name in enumerate(names, 1):
        if name not in bound and name not in op.defaults:
            raise TypeError(f"{op.name}() missing required argument '"
                            f"{'input' if name == 'self' else name}' (position {position})")
    return [bound[name] if name in bound else op.defaults[name] for name in names]


def pack_varargs(op: type[Op], args: Sequence[Any]) -> Sequence[Any]:
    """Gather `x.view(2, 3)` into `x.view((2, 3))`."""
    at = op.parameters.index(op.varargs or "")
    rest = args[at:]
    if rest and not isinstance(rest[0], (tuple, list)) and rest[0] is not None:
        return [*args[:at], tuple(rest)]
    return args


def plain_numbers(op: type[Op], values: list[Any]) -> list[Any]:
    """Return the values with a number for each one-element tensor that stands where one belongs."""
    for i in op.plain_positions:
        value = values[i]
        if isinstance(value, Tensor):
            if value.numel() != 1:
                raise TypeError(argument_error(op, op.parameters[i], "a number or sequence", value))
            values = [*values[:i], value.item(), *values[i + 1 :]]
    return values


def check_operand(op: type[Op], i: int, value: Any) -> None:
    """Raise `TypeError` unless a value that is no tensor may stand at position `i`."""
    if value is None:
        allowed = i in op.optional_positions
    else:
        allowed = (type(value) in BACKENDS or isinstance(value, np.generic)
                   or (i in op.number_positions and isinstance(value, NUMBERS)))
    if not allowed:
        raise TypeError(argument_error(op, op.parameters[i], "Tensor", value))


def unwrap_list(items: Sequence[Any]) -> tuple[list[Any], bool]:
    """Return the arrays of a list of tensors, and whether one of them was a tensor."""
    for place, item in enumerate(items):
        if not isinstance(item, Tensor) and type(item) not in BACKENDS:
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got "
                            f"{type(item).__name__}")
    arrays = [item._array if isinstance(item, Tensor) else item for item in items]
    return arrays, any(isinstance(item, Tensor) for item in items)


def argument_error(op: type[Op], name: str, wanted: str, value: Any) -> str:
    """Say which argument is wrong, the type it must have, and the type that came."""
    position = op.parameters.index(name) + 1
    shown = "input" if name == "self" else name
    return (f"{op.name}(): argument '{shown}' (position {position}) must be {wanted}, not "
            f"{type(value).__name__}")


def shapes_of(op: type[Op], arrays: list[Any]) -> list[Any]:
    """Return forward's arguments with shapes in place of arrays, as shape rules take them."""
    shapes = []
    for name, value in zip(op.parameters, arrays, strict=True):
        if name == op.list_of_tensors:
            value = [tuple(v.shape) for v in value]
        elif name in op.tensors and hasattr(value, "shape"):
            value = tuple(value.shape)
        shapes.append(value)
    return shapes
