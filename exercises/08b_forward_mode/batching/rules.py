# Stage 08b, Forward mode and batches: the exercise for minigrad/batching/rules.py.
# Made by `minigrad dev build`. The lesson is lessons/08b_forward_mode.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 08b
# docs/en/glossary.md explains the names used inside the package.

"""Batching rules that many ops share; `table.py` lists which op uses which.

`n` is the number of dimensions of one example throughout, so dimension `d` of an example is
dimension `d + 1` of the batch.  If a rule cannot handle its arguments, it runs the op `in_turn`.
"""

from __future__ import annotations

from typing import Any

from .. import _state
from ..op.declaration import F
from ..ops.nn.dropout import MaskedScale, scale
from ..ops.random.generator import BY_A_BATCH
from ..shapes import numel, wrap_dim, wrap_dims
from ..tensor.tensor import Tensor
from .dispatch import Call, Rule

#: The names that ops use for an argument with the sizes of the result.
SIZES = ("self_sizes", "input_sizes", "sizes", "grad_sizes")


def unwrapped(result: Any) -> Any:
    """Return the value inside a batched result."""
    return (result._array if isinstance(result, Tensor) else result).value


def elementwise(call: Call) -> Any:
    """Run the op once on the whole batch.

    If examples differ in rank, insert dimensions of size 1 after the batch dimension so that they
    broadcast against each other.
    """
    # 08b.4 Batching rules (about 15 lines)
    # A rule runs an op once on a whole batch, whose first dimension counts the examples:
    # dimension d of an example is d + 1 of the batch.
    #   moved(-1, 3) -> 3;  moved((0, -1), 2) -> (1, 2)       # n is an example's number of dimensions
    #   elementwise, batch (5, 2), shared (3, 2)               -> the batch as (5, 1, 2)
    #   elementwise, batch (5, 3, 2), shared (2,)              -> both as they are
    #   reduction of (5, 2, 3) along -1, None or (), (0, 1)    -> along 2, (1, 2), (1, 2)
    #   of batch * shared: call.tensors, batched, size         -> ["self", "other"], {"self"}, 5
    #       call["self"], call.shape("self"), call.ndim("self") -> the batch, an example's shape (2,), 1
    # Mind:
    # - Some ops take one number for `dim`, not a tuple.
    # - Examples may be numbers: call `numbers_as_vectors(call)` first, so that there is a
    #   dimension.
    # Use: `call.run(name=value)`, which keeps the other arguments; `wrap_dim`,
    # `wrap_dims`.
    raise NotImplementedError("08b.4 Batching rules is yours to write")


def with_full_self(call: Call, **changes: Any) -> Call:
    """Return the call with a batched copy of its first operand."""
    name = call.op.tensors[0]
    arguments = {**call.arguments, name: F.clone(call.full(name)), **changes}
    return Call(call.op, arguments, call.batched | {name}, call.size, call.level)


def onto_self(call: Call) -> Any:
    """Run an elementwise op whose result has the shape of its first operand."""
    return elementwise(call if call.op.tensors[0] in call.batched else with_full_self(call))


def fill(call: Call) -> Any:
    """Run `onto_self`, or copy the values if each example has a different one."""
    if "value" not in call.batched:
        return onto_self(call)
    call = with_full_self(call)
    x, value = call.batch("self"), call.batch("value")
    value = F.expand(F.to(value, x.dtype) if isinstance(x, Tensor) else value.astype(x.dtype),
                     x.shape)
    if "mask" in call.arguments:
        value = F.where(call.batch("mask"), value, x)
    return F.clone(unwrapped(value))


def alone(call: Call) -> Any:
    """Run an op whose first operand may have leading dimensions, if no other operand is batched."""
    first = call.op.tensors[0]
    return call.run() if call.only(first) and call.ndim(first) else call.in_turn()


def moved(dim: Any, n: int) -> Any:
    """Return the batch's dimension (or dimensions) for `dim` of an example of `n` dimensions.

    Raises `IndexError` if the example has no such dimension.
    """
    # 08b.4 Batching rules: see the task at `elementwise`.
    raise NotImplementedError("08b.4 Batching rules is yours to write")


def along(*names: str) -> Rule:
    """Make the rule for ops whose arguments `names` are dimensions of the first operand.

    All operands, and the size among the arguments if there is one, have that many dimensions.
    """

    def rule(call: Call) -> Any:
        n = call.ndim(call.op.tensors[0])
        changes: dict[str, Any] = {name: call.full(name) for name in call.tensors}
        for name in SIZES:
            if name in call.arguments:
                n = len(call[name])
                changes[name] = (call.size, *call[name])
        if not n or any(call.ndim(t) != call.ndim(call.tensors[0]) for t in call.tensors):
            return call.in_turn()
        return call.run(**changes, **{name: moved(call[name], n) for name in names})

    return rule


def part(*names: str) -> Rule:
    """Make the rule for ops that take or put back parts along the dimensions `names`.

    The single operand and the size among the arguments may have different numbers of dimensions.
    """

    def rule(call: Call) -> Any:
        n, changes = call.ndim(call.op.tensors[0]), {}
        for name in SIZES:
            if name in call.arguments:
                n = len(call[name])
                changes[name] = (call.size, *call[name])
        if not n:
            return call.in_turn()
        return call.run(**changes, **{name: moved(call[name], n) for name in names})

    return rule


def reduction(call: Call) -> Any:
    """Reduce each example along `dim`: an int, several, or all for `None` and ()."""
    # 08b.4 Batching rules: see the task at `elementwise`.
    raise NotImplementedError("08b.4 Batching rules is yours to write")


def numbers_as_vectors(call: Call) -> Call:
    """Return the call with zero-dimensional examples reshaped to vectors of one element."""
    if call.ndim("self"):
        return call
    changes = {"self": F.reshape(call["self"], (call.size, 1))}
    if "keepdim" in call.arguments:
        changes["keepdim"] = False
    return Call(call.op, {**call.arguments, **changes}, call.batched, call.size, call.level)


def of_all_elements(along_dim: Any) -> Rule:
    """Make the rule for a reduction over all elements from the op that reduces along one dimension.
    """

    def rule(call: Call) -> Any:
        flat = F.reshape(call["self"], (call.size, numel(call.shape("self"))))
        result = call.run(along_dim, self=flat, dim=1)
        return result[0] if isinstance(result, (tuple, list)) else result

    return rule


def position(call: Call) -> Any:
    """Run argmax or argmin; without `dim` the index counts through all elements."""
    shape, dim = call.shape("self"), call["dim"]
    if dim is not None and shape:
        return call.run(dim=moved(dim, len(shape)))
    result = call.run(self=F.reshape(call["self"], (call.size, numel(shape))), dim=1, keepdim=False)
    return F.reshape(result, (call.size, *(1 for _ in shape if call["keepdim"])))


def draw(call: Call) -> Any:
    """Draw different random numbers for each example, if `vmap` was called with that randomness."""
    if alike(call):
        raise RuntimeError(BY_A_BATCH)
    levels = _state.drawn.get()
    with _state.having(_state.drawn, levels and levels.without(call.level)):
        return elementwise(call)


def alike(call: Call) -> bool:
    """Return whether all examples must get the same random numbers."""
    levels = _state.drawn.get()
    own = levels is not None and call.level in dict(levels.levels)
    return _state.randomness.get() in ("same", "different") and not own


def fill_at_random(call: Call) -> Any:
    """Run `draw`, or draw once and expand if all examples get the same numbers."""
    if not (alike(call) and call.only("self")):
        return draw(call)
    x = call["self"]
    return F.expand(call.run(self=F.slice(x, 0, 0, 1)), x.shape)


def dropout(call: Call) -> Any:
    """Run `draw`, or draw one mask and expand it if all examples get the same numbers."""
    if not alike(call):
        return draw(call)
    x = call["self"]
    mask = F.expand(call.run(self=F.slice(x, 0, 0, 1))[1], x.shape)
    return [MaskedScale(x, mask, scale(call["p"], call["train"])), mask]
