"""Runs an op on batches: by its batching rule, or once for each example.

NOTE [Batching rules]
    A rule gets a `Call`: the op and its arguments, where the batched ones are unwrapped and have
    the batch dimension first.  It returns the op's outputs for all examples, again with the batch
    dimension first.  A rule runs ops on the values like any other code, so these are recorded if
    the values are tensors.  If an op has no rule, or its rule returns `in_turn()` for these
    arguments, the op runs once for each example and warns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dtypes import FROM_NUMPY
from ..frames import warn_user
from ..op.apply import Prepared, apply
from ..op.declaration import F, Op
from ..op.inplace import apply_inplace
from ..tensor.tensor import Tensor
from .array import BatchedArray, Value, batched, examples, level_of

Rule = Callable[["Call"], Any]

#: Batching rules of single ops, keyed by class name.
RULES: dict[str, Rule] = {}
#: Batching rules for all other ops of a kind, keyed by kind.
KIND_RULES: dict[str, Rule] = {}

SLOW = ("There is a performance drop because we have not yet implemented the batching rule for "
        "aten::{}: it runs once for each row of the batch.")
INPLACE = (
    "vmap: {}(self, *extra_args) is not possible because there exists a Tensor `other` in "
    "extra_args that has more elements than `self`. This happened due to `other` being vmapped "
    "over but `self` not being vmapped over in a vmap. Please try to use out-of-place operators "
    "instead of {}. If said operator is being called inside the PyTorch framework, please file a "
    "bug report instead.")
#: PyTorch's names of in-place ops in that error, unless the name is "aten::add_" and so on.
SHOWN_INPLACE = {**dict.fromkeys(
    ("copy", "div", "logical_and", "masked_fill", "mul", "sub"), "inplace arithmetic"),
    "index_add": "index_add_", "index_put": "index_put_"}
#: In-place ops without a batching rule in PyTorch: its kernel raises the error about shapes.
WITHOUT_RULE = ("add", "atan2")


class Call:
    """An op's arguments by name; those in `batched` have the batch dimension first.

    If `in_place` is set, running the op on its unchanged first argument writes to that argument.
    """

    __slots__ = ("arguments", "batched", "in_place", "level", "op", "size")

    def __init__(self, op: type[Op], arguments: dict[str, Any], batched: set[str],
                 size: int, level: int) -> None:
        self.op = op
        self.arguments = arguments
        self.batched = batched
        self.size = size
        self.level = level
        self.in_place = False

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    @property
    def tensors(self) -> list[str]:
        """The names of the arguments that are tensors or arrays."""
        return [n for n in self.op.tensors if hasattr(self.arguments[n], "ndim")]

    def only(self, *names: str) -> bool:
        """Return whether no argument other than these is batched."""
        return self.batched <= set(names)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of an argument for one example; () for a number."""
        value = self.arguments[name]
        shape: tuple[int, ...] = getattr(getattr(value, "_array", value), "shape", ())
        return shape[1:] if name in self.batched else shape

    def ndim(self, name: str) -> int:
        """Return the number of dimensions of an argument for one example; 0 for a number."""
        dims: int = getattr(self.arguments[name], "ndim", 0)
        return dims - 1 if name in self.batched else dims

    def full(self, name: str) -> Value:
        """Return an argument with the batch dimension, expanded if it is not batched."""
        value = self.arguments[name]
        if name in self.batched or not hasattr(value, "shape"):
            return value
        return F.expand(value, (self.size, *value.shape))

    def run(self, op: type[Op] | None = None, /, **changes: Any) -> Any:
        """Apply this op, or another, with some arguments replaced."""
        op = op or self.op
        named = {**self.arguments, **changes} if changes else self.arguments
        if op is self.op:
            values = list(named.values())
        else:
            values = [named[n] if n in named else op.defaults[n] for n in op.parameters]
        if self.in_place and op is self.op and op.parameters[0] not in changes:
            return apply_inplace(op, values)
        return apply(op, values)

    def in_turn(self) -> Any:
        """Run the op once for each example and stack the results."""
        warn_user(SLOW.format(self.op.name), UserWarning)
        rows = [self.run(**self.example(i)) for i in range(self.size)]
        if isinstance(rows[0], (tuple, list)):
            return [F.stack(list(column)) for column in zip(*rows, strict=True)]
        return F.stack(rows)

    def example(self, i: int) -> dict[str, Any]:
        """Return the batched arguments of example `i`."""
        arguments: dict[str, Any] = {}
        for name in self.batched:
            value = self.arguments[name]
            if name == self.op.list_of_tensors:
                arguments[name] = [F.select(v, 0, i) if b else v for v, b in value]
            else:
                arguments[name] = F.select(value, 0, i)
        return arguments

    def batch(self, name: str) -> Any:
        """Return an argument as a batched array or tensor at the level `DECOMPOSED`."""
        value = self.arguments[name]
        return batched(value, DECOMPOSED) if name in self.batched else value


#: The level at which a rule may run other ops on batched values, higher than all others.
DECOMPOSED = 1 << 62


def rule_of(op: type[Op]) -> Rule | None:
    """Return the batching rule of an op, or of its kind, or `None`."""
    rule = RULES.get(op.__name__)
    if rule is None:
        rule = next((rule for kind, rule in KIND_RULES.items() if kind in op.kinds), None)
    return rule


def rows(call: Call) -> Any:
    """Run the op once for each example: the fallback for ops without a rule."""
    return call.in_turn()


def run_op(op: type[Op], prepared: Prepared, inplace: bool = False) -> Any:
    """Apply an op with batched operands; return a batched array or tensor."""
    values, on_tensors = prepared.values, prepared.on_tensors
    items = [] if op.list_position is None else values[op.list_position]
    level = max(level_of(v) for v in (*(values[i] for i in op.tensor_positions), *items))
    call = unpacked(op, values, prepared.arrays, level, on_tensors)
    if inplace:
        return run_inplace(call, values[0], level)
    return run_rule(call, on_tensors)


def run_rule(call: Call, on_tensors: bool) -> Any:
    """Run the batching rule of a call and wrap its results in batches."""
    op, level = call.op, call.level
    result = (rule_of(op) or rows)(call)
    if not isinstance(result, (tuple, list)):
        return batched(result, level)
    results = [batched(r, level) for r in result]
    if op.outputs:
        return op.result_type(*results) if on_tensors else results
    return tuple(results) if on_tensors else results


def unpacked(op: type[Op], values: list[Any], arrays: list[Any], level: int,
             on_tensors: bool) -> Call:
    """Return the call, with this level's batches unwrapped."""
    arguments = dict(zip(op.parameters, values, strict=True))
    inside: set[str] = set()
    size = 0
    for i in op.tensor_positions:
        held = examples(values[i], level)
        if held is not None:
            inside.add(op.parameters[i])
            size = held.shape[0]
            if on_tensors and not isinstance(held, Tensor):
                held = Tensor._plain(held)
        elif i in op.promoted_positions and not isinstance(values[i], Tensor):
            held = values[i] if isinstance(values[i], (bool, int, float)) else arrays[i]
        else:
            held = values[i]
        arguments[op.parameters[i]] = as_promoted(held, arrays[i], op)
    if op.list_position is not None:
        name = op.parameters[op.list_position]
        pairs = []
        for item, array in zip(values[op.list_position], arrays[op.list_position], strict=True):
            held = examples(item, level)
            if held is not None:
                inside.add(name)
                size = held.shape[0]
                if on_tensors and not isinstance(held, Tensor):
                    held = Tensor._plain(held)
            pairs.append((as_promoted(item if held is None else held, array, op),
                          held is not None))
        arguments[name] = pairs if name in inside else [value for value, _ in pairs]
    return Call(op, arguments, inside, size, level)


def as_promoted(value: Any, array: Any, op: type[Op]) -> Any:
    """Convert an operand to the promoted dtype of its array."""
    if op.promote is None or not hasattr(value, "shape") or not hasattr(array, "dtype"):
        return value
    have = value._array.dtype if isinstance(value, Tensor) else value.dtype
    if have == array.dtype:
        return value
    if isinstance(value, Tensor):
        return F.to(value, FROM_NUMPY[array.dtype])
    return value.astype(array.dtype)


def run_inplace(call: Call, target: Any, level: int) -> Any:
    """Write an op's result to the batch of its first operand."""
    op = call.op
    if level_of(target) != level:
        if op.name in WITHOUT_RULE:
            raise RuntimeError(f"output with shape {list(target.shape)} doesn't match the "
                               f"broadcast shape {[call.size, *target.shape]}")
        shown = SHOWN_INPLACE.get(op.name, f"aten::{op.name}_")
        raise RuntimeError(INPLACE.format(shown, shown))
    first = op.parameters[0]
    held = call.arguments[first]
    call.in_place = keeps_shape(call) and held.dtype == target.dtype
    if not call.in_place and first in op.node_type.saves:
        call.arguments[first] = F.clone(held)  # so the write does not change a saved value
    result = (rule_of(op) or rows)(call)
    if op.view:
        target._array = BatchedArray(result, level)
        return target
    if result is held:
        return target
    held = examples(target, level)
    assert held is not None
    if result.shape != held.shape:
        raise RuntimeError(f"output with shape {list(held.shape[1:])} doesn't match the broadcast "
                           f"shape {list(result.shape[1:])}")
    held.copy_(result)
    return target


def keeps_shape(call: Call) -> bool:
    """Return whether an op is elementwise and its result has the shape of its first operand."""
    first = call.shape(call.op.parameters[0])
    return "elementwise" in call.op.kinds and all(
        len(shape) <= len(first) and all(n in (1, m) for n, m in zip(shape[::-1], first[::-1]))
        for shape in map(call.shape, call.tensors))
