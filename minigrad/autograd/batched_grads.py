"""A backward pass on batches of gradients computes all rows of a jacobian at once.

The graph comes from an ordinary forward pass; only the gradients have a batch dimension, at the
front and hidden, so a formula gets batched gradients and ordinary saved values.  Each op's batching
rule handles them.  A formula that needs the values of a gradient runs once for each row instead,
and so does the `backward` of a Function unless its class declares that it supports batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..batching import SLOW, BatchedArray, NotBatchable, batched, examples, level_of, next_level
from ..engine.engine import task_type
from ..frames import warn_user
from ..graph.node import GraphRoot, Node
from ..op.declaration import F
from ..tensor.attributes import Size
from ..tensor.tensor import Tensor

Gradient = Any

SLOW_FUNCTION = ("There is a performance drop because {} runs once for each row of the batch: set "
                 "generate_vmap_rule = True on the Function if its backward uses tensor "
                 "operations only.")
MISMATCH = (
    "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
    "dimension. The sizes of the remaining dimensions are expected to match the shape of "
    "corresponding output, but a mismatch was detected: grad_output[{}] has a shape of {} and "
    "output[{}] has a shape of {}. If you only want some tensors in `grad_output` to be considered "
    "batched, consider using vmap.")


class BatchedTask(task_type):  # type: ignore[misc,valid-type]  # one or the other class
    """A backward pass with batched gradients."""

    batched = True

    def apply(self, node: Node, grads: Sequence[Gradient | None]) -> Sequence[Gradient | None]:
        """Run a node on batches, or once for each row if it cannot handle them."""
        level = max((level_of(g) for g in grads), default=0)
        if not level or isinstance(node, GraphRoot):
            return super().apply(node, grads)
        if node.takes_batches:
            try:
                return self.from_tensors(super().apply(node, grads))
            except NotBatchable:
                pass  # the formula reads values
        warn_user(slow_warning(node), UserWarning)
        size = next(batch.shape[0] for g in grads if (batch := examples(g, level)) is not None)
        rows = [super(BatchedTask, self).apply(node, [row_of(g, level, i) for g in grads])
                for i in range(size)]
        return [stacked(column, level) for column in zip(*rows, strict=True)]

    def step_on_batches(self, node: Any, arrived: Gradient) -> None:
        """Run a node's generated step on batches, or `apply` if a formula reads values."""
        try:
            (node.step_on_tensors if self.on_tensors else node.step_on_arrays)(self, arrived)
        except NotBatchable:
            self.hand_back(node, arrived)

    def route(self, node: Node, position: int, result: Any, received: Gradient) -> None:
        """Convert a result of a generated step to the form that its receiver expects."""
        if result is not None and not self.on_tensors:
            result = bare(result)
        super().route(node, position, result, received)

    def from_tensors(self, tensors: Sequence[Any]) -> list[Gradient | None]:
        """Return gradients in this pass's form: without `create_graph`, (batches of) arrays."""
        if self.on_tensors:
            return list(tensors)
        return [bare(t) for t in tensors]


def slow_warning(node: Any) -> str:
    """Return the warning that a node runs once for each row."""
    return SLOW.format(node.op.name) if node.is_op else SLOW_FUNCTION.format(node.name())


def bare(gradient: Any) -> Any:
    """Return a gradient as an array or as a batch of arrays."""
    array = gradient._array if isinstance(gradient, Tensor) else gradient
    if isinstance(array, BatchedArray) and isinstance(array.value, Tensor):
        return BatchedArray(array.value._array, array.level)
    return array


def row_of(grad: Gradient | None, level: int, i: int) -> Gradient | None:
    """Return one row of a gradient; an unbatched gradient is the same in all rows."""
    batch = None if grad is None else examples(grad, level)
    if batch is None:
        return grad
    row = F.select(batch, 0, i)
    return np.asarray(row) if isinstance(row, np.generic) else row


def stacked(column: Sequence[Gradient | None], level: int) -> Gradient | None:
    """Stack the results of all rows as a batch."""
    some = next((g for g in column if g is not None), None)
    if some is None:
        return None
    return batched(F.stack([F.zeros_like(some) if g is None else g for g in column]), level)


def batched_gradients(roots: Sequence[Any], grad_outputs: Sequence[Any],
                      as_tensors: bool) -> tuple[int, int, list[Any]]:
    """Return the level and size of a batched pass, and its gradients wrapped as single examples."""
    sizes = {g.shape[0] for g in grad_outputs if isinstance(g, Tensor) and g.dim()}
    if len(sizes) > 1:
        raise ValueError("vmap: Expected all tensors to have the same size in the mapped "
                         f"dimension, got sizes {sorted(sizes)} for the mapped dimension")
    if None in grad_outputs:
        some = next((r for r, g in zip(roots, grad_outputs, strict=True) if g is None), None)
        if getattr(some, "shape", ()) != ():
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        raise ValueError("vmap: the gradient that is made for a scalar has 0 dimensions, none of "
                         "batches; with is_grads_batched=True give grad_outputs")
    level, batches = next_level(), []
    for i, (root, grad) in enumerate(zip(roots, grad_outputs, strict=True)):
        if isinstance(grad, Tensor):
            shape = getattr(root, "shape", grad.shape[1:])
            if not grad.dim() or grad.shape[1:] != shape:
                raise RuntimeError(MISMATCH.format(i, Size(grad.shape), i, Size(shape)))
            grad = Tensor._plain(BatchedArray(grad if as_tensors else grad._array, level))
        batches.append(grad)
    if not sizes:
        raise ValueError("vmap: at least one of the gradients has to be batched")
    return level, sizes.pop(), batches


def unbatched(gradient: Tensor, level: int, size: int) -> Tensor:
    """Return a gradient with its batch dimension, expanded if it does not depend on the row."""
    batch: Tensor | None = examples(gradient, level)
    if batch is None:
        repeated: Tensor = F.expand(gradient, (size, *gradient.shape))
        return repeated
    return batch
