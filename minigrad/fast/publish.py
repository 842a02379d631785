"""Publishes the quicker twin of each op: its function, its operator and the class of its nodes.

Replaces the functions that `op.publish.caller` and `operator` make, which bind the arguments by
name and call `apply`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _state
from ..op.declaration import Op
from ..op.publish import documented
from .general import any_tensors
from .op_node import fast_node_type
from .unary_binary import give_vjp_fns, specialised


def make_quicker(op: type[Op], function: Any, dunder: Any) -> tuple[Any, Any]:
    """Give an op its fast node class and `op.fast`; return its function and operator, quicker."""
    op.node_type = fast_node_type(op)
    give_vjp_fns(op)
    op.fast = any_tensors(op)
    return (with_fast_path(function, specialised(op, function), op),
            specialised(op, dunder) or dunder)


def with_fast_path(call: Callable[..., Any], fast: Callable[..., Any] | None,
                   op: type[Op]) -> Callable[..., Any]:
    """Return a function that calls the twin for positional arguments, else the generic one."""
    if fast is None:
        return call if op.fast is None or op.varargs else documented(by_position(call, op), op,
                                                                    op.name)
    if len(op.tensors or ()) == 1:
        return fast
    both = fast

    def function(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 2 and not kwargs:
            return both(args[0], args[1])
        return call(*args, **kwargs)

    return documented(function, op, op.name)


def by_position(call: Callable[..., Any], op: type[Op]) -> Callable[..., Any]:
    """Return the function that needs no binding when no argument comes by its name."""
    observers, beneath_levels = _state.observers, _state.beneath_levels
    required, positional = op.required, op.positional
    fast, defaults, checked = op.fast, op.default_values, op.checked
    assert fast is not None

    def function(*args: Any, **kwargs: Any) -> Any:
        if kwargs or not required <= len(args) <= positional or (
                observers.count and not beneath_levels()):
            return call(*args, **kwargs)
        values = [*args, *defaults[len(args):]]
        for position, _, kind in checked:
            if type(values[position]) not in kind.plain:
                return call(*args)  # which looks closer
        return fast(values)

    return function
