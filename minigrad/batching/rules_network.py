"""Batching rules for neural network ops: convolutions, embeddings, losses."""

from __future__ import annotations

from typing import Any

from ..op.declaration import F
from ..ops.nn.classification_loss import NllLoss
from ..shapes import numel
from .dispatch import Call, Rule
from .rules import SIZES, elementwise, with_full_self


def folded(*outputs: int) -> Rule:
    """Make the rule for ops that have a batch dimension themselves: fold both into one.

    All tensors have that dimension first, and so has the size among the arguments.
    """

    def rule(call: Call) -> Any:
        changes: dict[str, Any] = {}
        for name in call.tensors:
            full = call.full(name)
            if full.ndim < 2:
                return call.in_turn()
            changes[name] = joined(full)
        for name in SIZES:
            if name in call.arguments:
                sizes = call[name]
                changes[name] = (call.size * sizes[0], *sizes[1:])
        result = call.run(**changes)
        if isinstance(result, (tuple, list)):
            return [split(r, call.size) for r in result]
        return split(result, call.size)

    return rule


def with_channels(x: Any) -> Any:
    """(B, N, C, ...) -> (N, B C, ...): put the examples' channels side by side."""
    x = F.movedim(x, 0, 1)
    return F.reshape(x, (x.shape[0], x.shape[1] * x.shape[2], *x.shape[3:]))


def without_channels(x: Any, size: int) -> Any:
    """(N, B C, ...) -> (B, N, C, ...)."""
    return F.movedim(F.reshape(x, (x.shape[0], size, x.shape[1] // size, *x.shape[2:])), 1, 0)


def joined(x: Any) -> Any:
    """(B, O, ...) -> (B O, ...)."""
    return F.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def split(x: Any, size: int) -> Any:
    """(B O, ...) -> (B, O, ...)."""
    return F.reshape(x, (size, x.shape[0] // size, *x.shape[1:]))


def convolution(call: Call) -> Any:
    """Fold the batch into the input's batch or the output channels; for both, use groups."""
    size, bias = call.size, call["bias"]
    if call.only("input"):
        return split(call.run(input=joined(call["input"])), size)
    bias = None if bias is None else joined(call.full("bias"))
    if "input" not in call.batched and call["groups"] == 1:
        return without_channels(call.run(weight=joined(call.full("weight")), bias=bias), size)
    return without_channels(call.run(
        input=with_channels(call.full("input")), weight=joined(call.full("weight")), bias=bias,
        groups=call["groups"] * size), size)


def conv_input(call: Call) -> Any:
    """Run the transposed convolution, by the same cases as `convolution`."""
    size, sizes = call.size, tuple(call["sizes"])
    if call.only("grad"):
        return split(call.run(grad=joined(call["grad"]), sizes=(size * sizes[0], *sizes[1:])),
                     size)
    sizes = (sizes[0], size * sizes[1], *sizes[2:])
    if call.only("weight") and call["groups"] == 1:
        return without_channels(call.run(weight=with_channels(call["weight"]), sizes=sizes), size)
    return without_channels(call.run(
        grad=with_channels(call.full("grad")), weight=joined(call.full("weight")), sizes=sizes,
        groups=call["groups"] * size), size)


def conv_weight(call: Call) -> Any:
    """Fold the batch into the channels of the batched operand; if both are batched, use groups."""
    size, sizes = call.size, tuple(call["sizes"])
    if call.only("input") and call["groups"] == 1:
        return without_channels(call.run(input=with_channels(call["input"]),
                                         sizes=(sizes[0], size * sizes[1], *sizes[2:])), size)
    sizes = (size * sizes[0], *sizes[1:])
    grad = with_channels(call.full("grad"))
    if call.only("grad") and call["groups"] == 1:
        return split(call.run(grad=grad, sizes=sizes), size)
    return split(call.run(grad=grad, input=with_channels(call.full("input")), sizes=sizes,
                          groups=call["groups"] * size), size)


def embedding(call: Call) -> Any:
    """Put the tables side by side and look up once, or look up all indices in a shared table."""
    if call.only("indices"):
        return call.run() if not call["scale_grad_by_freq"] else call.in_turn()
    if "indices" in call.batched:
        return call.in_turn()
    weight = F.movedim(call["weight"], 0, 1)
    rows, size, width = weight.shape
    result = call.run(weight=F.reshape(weight, (rows, size * width)))
    return F.movedim(F.reshape(result, (*call["indices"].shape, size, width)), -2, 0)


def embedding_weight(call: Call) -> Any:
    """Compute the gradient of `embedding` with respect to its table."""
    if "indices" in call.batched:
        return call.in_turn()
    rows, width = call["sizes"]
    grad = F.movedim(call["grad"], 0, -2)
    grad = F.reshape(grad, (*call["indices"].shape, call.size * width))
    result = call.run(grad=grad, sizes=(rows, call.size * width))
    return F.movedim(F.reshape(result, (rows, call.size, width)), 1, 0)


def loss(call: Call) -> Any:
    """Compute the loss of each element, then the mean or sum for each example."""
    each = Call(call.op, {**call.arguments, "reduction": "none"}, call.batched, call.size,
                call.level)
    losses = elementwise(each if "self" in call.batched else with_full_self(each))
    if call["reduction"] == "none":
        return losses
    flat = losses if losses.ndim == 2 else F.reshape(losses, (call.size, numel(losses.shape[1:])))
    return F.mean(flat, 1) if call["reduction"] == "mean" else F.sum(flat, 1)


class Classes:
    """The arguments of a classification loss, with the batch folded into the batch dimension."""

    def __init__(self, call: Call, sizes: tuple[int, ...]) -> None:
        self.call = call
        self.of_target = call.shape("target")
        many = len(sizes) > 1
        self.sizes = (call.size * sizes[0], *sizes[1:]) if many else (call.size, *sizes)
        self.target = F.reshape(call.full("target"), (self.sizes[0], *sizes[2:]))

    def run(self, /, **changes: Any) -> Any:
        """Run the op on the folded batch, with one result per target."""
        return self.call.run(target=self.target, reduction="none", **changes)

    def total(self, each: Any) -> Any:
        """Return the sum of the results for each example."""
        return F.sum(F.reshape(each, (self.call.size, numel(self.of_target))), 1)

    def weight(self, like: Any) -> Any:
        """Return the sum of the target weights for each example, which the mean divides by."""
        call = self.call
        ones = F.full_like(F.detach(F.reshape(F.expand(F.reshape(like, (-1,)), (
            numel(self.sizes),)), self.sizes)), -1.0)
        return self.total(NllLoss(ones, self.target, call["weight"], "none", call["ignore_index"]))


def nll_loss(call: Call) -> Any:
    """Compute the loss of each target, then the sum or mean for each example."""
    if "weight" in call.batched:
        return call.in_turn()
    classes = Classes(call, call.shape("self"))
    x = F.reshape(call.full("self"), classes.sizes)
    each = classes.run(self=x)
    if call["reduction"] == "none":
        return F.reshape(each, (call.size, *classes.of_target))
    total = classes.total(each)
    if call["reduction"] == "sum":
        return total
    return total / classes.weight(F.select(F.reshape(x, (-1,)), 0, 0))


def nll_loss_input(call: Call) -> Any:
    """Compute the gradient of `nll_loss` with respect to its input."""
    if "weight" in call.batched:
        return call.in_turn()
    sizes = tuple(call["sizes"])
    classes = Classes(call, sizes)
    grad = call.full("grad")
    if call["reduction"] != "none":
        if call["reduction"] == "mean":
            grad = grad / classes.weight(F.select(F.reshape(grad, (-1,)), 0, 0))
        ones = (1,) * len(classes.of_target)
        grad = F.expand(F.reshape(grad, (call.size, *ones)), (call.size, *classes.of_target))
    grad = F.reshape(grad, tuple(classes.target.shape))
    return F.reshape(classes.run(grad=grad, sizes=classes.sizes), (call.size, *sizes))


def native_layer_norm(call: Call) -> Any:
    """Run once if weight and bias are shared, otherwise `in_turn`."""
    return call.run() if call.only("input") else call.in_turn()
