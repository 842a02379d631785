# Stage 06, Saved tensors, versions and views: the exercise for minigrad/graph/copy_slices.py.
# Made by `minigrad dev build`. The lesson is lessons/06_saved.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 06
# docs/en/glossary.md explains the names used inside the package.

"""The node that a base gets when a view of it is written to in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .node import NaryNode, Node, assign_sequence_nr, through_tensors
from .saved_errors import FREED_MESSAGE

Array = Any


class CopySlices(NaryNode):
    """The history of a base after an in-place write through a view of it.

    The part of the gradient that the view covers passes through `fn`, the node of the write.  The
    result replaces that part, and the whole gradient continues to the base's earlier history.
    """

    __slots__ = ("base_geometry", "fn", "plain", "position", "view_geometry")

    def __init__(self, base: Any, base_edge: Any, view: Any, fn: Node, position: int) -> None:
        super().__init__()
        self.shape, self.dtype, self.extras = base._array.shape, base._array.dtype, None
        assign_sequence_nr(self)
        self.fn: Node | None = fn  # `None` once it is freed
        self.plain = base._plain
        self.position = position  # the edge of `fn` that belongs to the tensor written to
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
        results = self.gradients(self.fn, grad)
        if self.edges[self.position][0] is None:  # the base had no history before the write
            results[self.position] = None
        return results

    def gradients(self, fn: Node, grad: Any) -> list[Any]:
        """Return the gradients of all inputs of the write, with the base's at `position`."""
        # 06.6 CopySlices (about 10 lines)
        # An operation with the node `fn` wrote to part of a base, through a view. Return a
        # list with a gradient for each input of that operation. The gradient at
        # `self.position` is for the base: it's `grad`, with its covered part sent through
        # `fn`.
        #   base of 3, base[1:] times 10, grad [1, 2, 3]  -> [1, 20, 30]
        #   base[1:] overwritten (fn returns None for it)  -> [1, 0, 0]
        # Mind:
        # - `grad` isn't yours to write to.
        # - `fn` may return the very tensor that it receives, or a view of it.
        # Use: `self.copy_of(grad)`, `self.covered_part(whole)`, a view;
        # `fn.apply_tensors((g,))`.
        raise NotImplementedError("06.6 CopySlices is yours to write")

    def copy_of(self, grad: Any) -> Any:
        """Return a copy of a gradient with the base's memory layout."""
        sizes, strides, _ = self.base_geometry
        copy = grad.new_empty_strided(sizes, strides)
        copy.copy_(grad)
        return copy

    def covered_part(self, whole: Any) -> Any:
        """Return the part of `whole` that the view covers, as a view."""
        sizes, strides, offset = self.view_geometry
        return whole.as_strided(sizes, strides, offset - self.base_geometry[2])

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        return through_tensors(self, self.plain, grads)

    def release(self) -> None:
        self.fn = None
