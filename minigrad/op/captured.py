"""Writes to tensors that a function captures while `func` computes its derivative.

Such a write would give a tensor outside of the function a history inside of it.  PyTorch therefore
rejects every in-place write to a captured tensor; minigrad rejects a write if the derivative
depends on it.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from ..tensor.tensor import Tensor

#: The package; its functions don't capture tensors.
PACKAGE = __name__.partition(".")[0]


#: In-place operations that PyTorch has for a number and for a tensor, here with a tensor.
OVERLOADED = frozenset((
    "add", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "clamp_max", "clamp_min", "copysign", "div", "eq", "fill", "floor_divide", "fmod", "ge", "gt",
    "le", "lerp", "lt", "masked_fill", "mul", "ne", "pow", "remainder", "sub", "xlogy"))


def refuse_captured(name: str, target: Tensor, functions: tuple[Any, ...]) -> None:
    """Raise PyTorch's error if one of the functions captures the memory that is written to."""
    counter = memory_of(target)
    if any(memory_of(tensor) is counter for function in functions for tensor in captured(function)):
        overload = ".Tensor" if name in OVERLOADED else ""
        raise RuntimeError(
            "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to "
            f"call in-place operation (aten::{name}_{overload}) that would mutate a captured "
            "Tensor. This is not supported; please rewrite the function being transformed to "
            "explicitly accept the mutated Tensor(s) as inputs.")


def memory_of(tensor: Tensor) -> Any:
    """Return the version counter; all views of the same memory share it."""
    return tensor._shared_counter()


def captured(function: Any) -> Iterator[Tensor]:
    """Yield the tensors in the closure, defaults and globals of a function and of its helpers.

    >>> from minigrad import ones
    >>> x = ones(2)
    >>> [t is x for t in captured([x, {"again": x}])]
    [True]
    """
    seen: set[int] = set()
    waiting = [function]
    while waiting and len(seen) < 1000:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()
        else:
            waiting += used_by(value)


def used_by(value: Any) -> list[Any]:
    """Return the objects that a Python function refers to; an empty list for another object."""
    function = getattr(value, "func", getattr(value, "__func__", value))  # of a partial or a method
    if not isinstance(function, FunctionType) or str(
            function.__module__).partition(".")[0] == PACKAGE:
        return []
    assigned, names = names_in(function.__code__)
    found = [cell.cell_contents for name, cell in zip(
        function.__code__.co_freevars, function.__closure__ or (), strict=True)
        if name not in assigned and is_filled(cell)]
    found += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(),
              *getattr(value, "args", ())]
    scope = function.__globals__
    return found + [scope[name] for name in names - assigned if name in scope]


def is_filled(cell: Any) -> bool:
    """Return whether a closure's variable has a value yet."""
    try:
        cell.cell_contents  # noqa: B018  # raises
    except ValueError:
        return False
    return True


@lru_cache(256)
def names_in(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """Return the outer names that code assigns to, and the global names that it uses."""
    assigned, names = set(), set(code.co_names)
    for step in dis.get_instructions(code):
        if step.opname in ("STORE_GLOBAL", "STORE_DEREF"):
            assigned.add(step.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            more, used = names_in(constant)
            assigned |= more
            names |= used
    return frozenset(assigned), frozenset(names)
