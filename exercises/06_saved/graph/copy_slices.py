# Stage 06, Saved tensors, versions and views: the exercise for minigrad/graph/copy_slices.py.
# Made by `minigrad dev build`. The lesson is lessons/06_saved.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 06
# Names of the package's inside are explained in docs/en/glossary.md.

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
        # 06.6 CopySlices (about 21 lines)
        # apply_tensors(grads): `grads` is a tuple with the gradient of the base after the
        # write (Tensor or None). For None return a list of as many None as there are edges
        # (self.edges). Copy the gradient into a fresh tensor with the base's sizes and
        # strides: grad.new_empty_strided(sizes, strides), with self.base_geometry = (sizes,
        # strides, offset); what came in must not be written to. Let as_strided show the part
        # of the copy that the view covers, with self.view_geometry; its offset counts from
        # the beginning of the memory, the copy begins at the base's offset. Give a clone of
        # that part to self.fn.apply_tensors, in a tuple: it returns gradients for all inputs
        # of the write, and the one at self.position is that of what the view held before. If
        # the base's edge (self.edges at self.position) leads to no node, return the results
        # with None in that place. Otherwise write that gradient into the covered part, zeros
        # if it is None, put the whole copy in its place among the results, and return these.
        raise NotImplementedError("06.6 CopySlices is yours to write")

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        return through_tensors(self, self.plain, grads)

    def release(self) -> None:
        self.fn = None
