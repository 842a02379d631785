"""The node of a base that was written to through a view of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .node import NaryNode, Node, assign_sequence_nr, through_tensors
from .saved_tensor import FREED_MESSAGE

Array = Any


class CopySlices(NaryNode):
    """The history of a base after an in-place write through a view of it.

    The part of the gradient that the view covers goes through `fn`, the node of the write; what
    is left, with the covered part replaced, goes on to the base's earlier history.
    """

    __slots__ = ("base_geometry", "fn", "plain", "position", "view_geometry")

    def __init__(self, base: Any, base_edge: Any, view: Any, fn: Node, position: int) -> None:
        super().__init__()
        self.shape, self.dtype, self.extras = base._array.shape, base._array.dtype, None
        assign_sequence_nr(self)
        self.fn: Node | None = fn  # None once it is freed
        self.plain = base._plain
        self.position = position  # which of fn's edges belongs to the tensor written to
        self.base_geometry = (tuple(base.shape), base.stride(), base.storage_offset())
        self.view_geometry = (tuple(view.shape), view.stride(), view.storage_offset())
        edges = list(fn.edges)
        edges[position] = base_edge
        self.set_edges(edges)

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        (grad,) = grads
        if grad is None:
            return [None] * len(self.edges)
        if self.fn is None:
            raise RuntimeError(FREED_MESSAGE)
        sizes, strides, offset = self.base_geometry
        result = grad.new_empty_strided(sizes, strides)
        result.copy_(grad)
        view_sizes, view_strides, view_offset = self.view_geometry
        covered = result.as_strided(view_sizes, view_strides, view_offset - offset)
        results = list(self.fn.apply_tensors((covered.clone(),)))
        inner = results[self.position]
        if self.edges[self.position][0] is None:
            results[self.position] = None
            return results
        if inner is None:
            covered.zero_()
        else:
            covered.copy_(inner)
        results[self.position] = result
        return results

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        return through_tensors(self, self.plain, grads)

    def release(self) -> None:
        self.fn = None
