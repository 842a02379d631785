# Stage 08b, Forward mode and batches: the solution for minigrad/batching/rules.py.
# Made by `minigrad dev build`. The lesson is lessons/08b_forward_mode.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""Batching rules that serve many ops each; `table.py` says which op has which.

`n` is the number of dimensions of one example throughout, so dimension `d` of an example is
`d + 1` of the batch.  A rule that does not fit its arguments lets the op run `in_turn`.
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

#: Arguments that are sizes of a result, by the names that ops have for them.
SIZES = ("self_sizes", "input_sizes", "sizes", "grad_sizes")


def unwrapped(result: Any) -> Any:
    """Return what a batch of a decomposition holds."""
    return (result._array if isinstance(result, Tensor) else result).value


def elementwise(call: Call) -> Any:
    """Run the op once: examples with fewer dimensions get the missing ones behind the batch."""
    rank = max(call.ndim(name) for name in call.tensors)
    changes = {}
    for name in call.batched:
        shape = call.shape(name)
        missing = (1,) * (rank - len(shape))
        if missing:
            changes[name] = F.reshape(call[name], (call.size, *missing, *shape))
    return call.run(**changes)


def with_full_self(call: Call, **changes: Any) -> Call:
    """Return the call with a batch as the first operand."""
    name = call.op.tensors[0]
    arguments = {**call.arguments, name: F.clone(call.full(name)), **changes}
    return Call(call.op, arguments, call.batched | {name}, call.size, call.level)


def onto_self(call: Call) -> Any:
    """Elementwise, with a result of the shape of the first operand."""
    return elementwise(call if call.op.tensors[0] in call.batched else with_full_self(call))


def fill(call: Call) -> Any:
    """As `onto_self`; a value of its own for each example is copied."""
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
    """The op takes leading dimensions in its first operand; the others must not be batched."""
    first = call.op.tensors[0]
    return call.run() if call.only(first) and call.ndim(first) else call.in_turn()


def moved(dim: Any, n: int) -> Any:
    """Return a dimension of an example of `n` dimensions, or several, as those of the batch.

    `IndexError` for one that an example does not have.
    """
    if isinstance(dim, (tuple, list)):
        return tuple(wrap_dim(d, n) + 1 for d in dim)
    return wrap_dim(dim, n) + 1


def along(*names: str) -> Rule:
    """Make the rule of ops whose arguments `names` are dimensions of the first operand.

    All operands have the same dimensions, and so has a size among the arguments.
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
    """Make the rule of ops that take parts of a tensor along the dimensions `names`, or put them
    back: their one operand may have other dimensions than the sizes among the arguments."""

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
    """Reduce each example along `dim`: a number, several, or all of them for None and ()."""
    call = numbers_as_vectors(call)
    n, dim = call.ndim("self"), call["dim"]
    dims = moved(wrap_dims(dim, n), n)
    return call.run(dim=dims[0] if isinstance(dim, int) else dims)


def numbers_as_vectors(call: Call) -> Call:
    """Return a call whose examples have a dimension; a number is a vector of one element."""
    if call.ndim("self"):
        return call
    changes = {"self": F.reshape(call["self"], (call.size, 1))}
    if "keepdim" in call.arguments:
        changes["keepdim"] = False
    return Call(call.op, {**call.arguments, **changes}, call.batched, call.size, call.level)


def of_all_elements(along_dim: Any) -> Rule:
    """Make the rule of a reduction of all elements, from the op that reduces along one."""

    def rule(call: Call) -> Any:
        flat = F.reshape(call["self"], (call.size, numel(call.shape("self"))))
        result = call.run(along_dim, self=flat, dim=1)
        return result[0] if isinstance(result, (tuple, list)) else result

    return rule


def position(call: Call) -> Any:
    """argmax and argmin, which count through all elements where there is no `dim`."""
    shape, dim = call.shape("self"), call["dim"]
    if dim is not None and shape:
        return call.run(dim=moved(dim, len(shape)))
    result = call.run(self=F.reshape(call["self"], (call.size, numel(shape))), dim=1, keepdim=False)
    return F.reshape(result, (call.size, *(1 for _ in shape if call["keepdim"])))


def draw(call: Call) -> Any:
    """Random numbers of its own for each example, where that is what the caller of `vmap` wants."""
    if alike(call):
        raise RuntimeError(BY_A_BATCH)
    levels = _state.drawn.get()
    with _state.having(_state.drawn, levels and levels.without(call.level)):
        return elementwise(call)


def alike(call: Call) -> bool:
    """Tell whether random numbers are to be the same for all examples of a call."""
    levels = _state.drawn.get()
    own = levels is not None and call.level in dict(levels.levels)
    return _state.randomness.get() in ("same", "different") and not own


def fill_at_random(call: Call) -> Any:
    """As `draw`; numbers that are the same for all are drawn once, whatever was there before."""
    if not (alike(call) and call.only("self")):
        return draw(call)
    x = call["self"]
    return F.expand(call.run(self=F.slice(x, 0, 0, 1)), x.shape)


def dropout(call: Call) -> Any:
    """As `draw`; a mask that is the same for all is drawn once."""
    if not alike(call):
        return draw(call)
    x = call["self"]
    mask = F.expand(call.run(self=F.slice(x, 0, 0, 1))[1], x.shape)
    return [MaskedScale(x, mask, scale(call["p"], call["train"])), mask]
