# Stage 06, Saved tensors, versions and views: the exercise for minigrad/tensor/views.py.
# Made by `minigrad dev build`. The lesson is lessons/06_saved.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 06
# docs/en/glossary.md explains the names used inside the package.

"""Views and in-place writes: which tensors share memory, and whose history a write changes.

NOTE [In-place writes through views]
    A write through a view changes the base, so the base's history is rebased: its node becomes a
    `CopySlices` around the node of the write.  The other views are not updated at once.  Each view
    records the version at which its own node was valid.  If the shared counter has moved on by the
    time its `grad_fn` is read, the view regenerates its node from the base, as an
    `AsStridedBackward`.
"""

from __future__ import annotations

from typing import Any

from .. import _state
from ..backend.memory_layout import OVERLAP, is_dense, overlaps_itself
from ..graph.copy_slices import CopySlices
from ..graph.node import Node
from ..graph.special_versions import INFERENCE, InferenceVersion
from ..graph.version import version_of
from .attributes import data_pointer, same_memory
from .creation_meta import (
    DEFAULT,
    LEAF_WRITTEN,
    VIEW_OF_LEAF_WRITTEN,
    creation_now,
    refuse_view,
)
from .tensor import Tensor

Array = Any


class ViewInfo:
    """The base of a view, how the view was made, and when its node was valid."""

    __slots__ = ("base", "creation", "version")

    def __init__(self, base: Tensor, creation: int, version: int) -> None:
        self.base = base
        self.creation = creation
        self.version = version  # the version at which the view's own node was valid

    def current_node(self, view: Tensor) -> Node | None:
        """Return the view's node, regenerated from the base if the memory was written to since."""
        # 06.8 The other views (about 6 lines)
        # Return the view's node, regenerated if the memory was written to since the node was
        # valid.
        #   nothing written since self.version    -> view._node, the same every time
        #   something written since               -> regenerated, once; then view._node
        #   no node, base requires no grad        -> None, even after writes
        #   no node, base requires grad by now    -> the version decides
        # Mind:
        # - A view that was made under no_grad takes no part in a later write: before you
        #   regenerate the node, call `self.refuse(view, indirect=True)`, which raises for
        #   such a view.
        # Use: `self.version_now(view)`, `self.regenerate(view)`, `self.base._requires_grad`.
        raise NotImplementedError("06.8 The other views is yours to write")

    def regenerate(self, view: Tensor) -> None:
        """Replace the view's node by one made from the current base."""
        # 06.7 History after a write (about 9 lines)
        # An operation with this node has just written to `tensor`. Give a new history to the
        # tensor or, if it's a view, to its base. `regenerate` makes a view's node from its
        # base, and records the version at which the node is valid.
        #   rebase_history(y, node, 1)       -> y is output 1 of node
        #   rebase_history(view, node, 0, 1) -> its base is output 0 of CopySlices(base, edge, view, node, 1)
        #                                       with the base's edge from before; then view is regenerated
        # Use: `set_gradient_edge(tensor, node, index=0)`, `base._edge()`,
        # `node_from_base(base, view)`, `self.version_now(view)`.
        raise NotImplementedError("06.7 History after a write is yours to write")

    def version_now(self, view: Tensor) -> int:
        """Return the memory's version; an inference tensor always counts as current."""
        counter = view._counter
        version: int = self.version if counter is INFERENCE else counter.value
        return version

    def refuse(self, view: Tensor, indirect: bool = False) -> None:
        """Raise if the view must not be written to while grad mode is on.

        `indirect` means that its base, or another view of its base, was written to.
        """
        refuse_view(view, self.creation, indirect)


def mark_view(result: Tensor, base: Tensor, *, multiple: bool = False,
              creation: int | None = None) -> None:
    """Record that `result` is a view of `base`, which may be a view as well."""
    if isinstance(base._counter, InferenceVersion):
        result._counter = INFERENCE
        return
    link_to_base(result, base, creation_now(multiple) if creation is None else creation)


def link_to_base(result: Tensor, base: Tensor, creation: int) -> None:
    """Share the base's version counter with a view, and record its base and how it was made."""
    # 06.4 Sharing memory (about 7 lines)
    # Link a view to its base: they share one counter, and `result._view` records the
    # base, the creation and the version.
    #   row = x[0]                     -> row._counter is x._counter, row._view.base is x
    #   part = row[1:]                 -> part._view.base is x: the base of all
    #   x at version 3                 -> a new view records 3, also a view of an old view; x stays at 3
    #   creation NO_GRAD               -> NO_GRAD is recorded, whatever base is
    #   creation DEFAULT, of a view recorded as MULTI_OUTPUT -> MULTI_OUTPUT is recorded
    # Use: `base._shared_counter()`, `base._view`, `ViewInfo(base, creation, version)`;
    # DEFAULT is the only creation that the base's creation replaces.
    raise NotImplementedError("06.4 Sharing memory is yours to write")


def check_inplace(tensor: Tensor, recorded: bool, alike: bool = False) -> None:
    """Raise if `tensor` must not be written to in place.

    `recorded` means that the write enters the graph.  `alike` means that all elements get the same
    value, so it does not matter if several of them share a memory location.
    """
    if recorded:
        check_recorded(tensor)
    if tensor._counter is INFERENCE and not _state.inference_enabled.get():
        INFERENCE.bump()
    if not alike and overlaps_itself(tensor._array):
        raise RuntimeError(OVERLAP)


def check_recorded(tensor: Tensor) -> None:
    """Raise if a recorded write to `tensor` is not allowed."""
    # 06.5 Writes that can be recorded (about 7 lines)
    # Raise an error if a write to `tensor` can't be recorded; otherwise, return None.
    #   a leaf that requires grad       -> RuntimeError(LEAF_WRITTEN)
    #   a view of such a leaf           -> RuntimeError(VIEW_OF_LEAF_WRITTEN)
    #   y = leaf * 1, or its view y[0]  -> allowed
    #   torch.ones(2), or its view      -> allowed
    # Mind:
    # - A leaf is a tensor whose `_node` is None.
    # - How a view was made matters first: `view.refuse(tensor)` raises if that forbids
    #   the write.
    # Use: `view = tensor._view`, or None; `view.base`; `tensor.requires_grad`, true for a
    # view whose base requires grad.
    raise NotImplementedError("06.5 Writes that can be recorded is yours to write")


def partly_overlaps(written: Array, read: Array) -> bool:
    """Return whether two dense arrays overlap without being the same memory, element by element.

    Like PyTorch, return `False` for arrays with gaps.
    """
    if written is read or not (written.size and read.size):
        return False
    if not same_memory(written, read) or not (is_dense(written) and is_dense(read)):
        return False
    begin, other = data_pointer(written), data_pointer(read)
    if begin == other and written.nbytes == read.nbytes:
        return bool(written.strides != read.strides)
    return begin < other + read.nbytes and other < begin + written.nbytes


def rebase_history(tensor: Tensor, node: Node, index: int = 0, position: int = 0) -> None:
    """Make `node` the history of `tensor` after the in-place write that `node` belongs to.

    `position` is the edge of `node` that belongs to the tensor's earlier value.
    """
    # 06.7 History after a write: see the task at `ViewInfo.regenerate`.
    raise NotImplementedError("06.7 History after a write is yours to write")


def set_gradient_edge(tensor: Tensor, node: Node, index: int = 0) -> None:
    """Make a tensor output `index` of `node`, so that it requires grad; `retain_grad` follows."""
    _move_retained(tensor, node, index)
    tensor._node, tensor._index, tensor._requires_grad = node, index, True


def node_from_base(base: Tensor, view: Tensor) -> Node:
    """Return the node of a new view of `base` with the geometry of `view`, in any grad mode.

    If the base no longer requires grad, the node has no edge to follow.
    """
    source = base if base._requires_grad else base.detach().requires_grad_()
    with _state.having(_state.grad_enabled, True), _state.having(_state.inference_enabled, False):
        node: Node = source._node_for(view)
    if source is not base:
        node.set_edges([(None, 0)])
    return node


def replace_node(tensor: Tensor, node: Node) -> None:
    """Make `node` the history of a tensor whose geometry was changed in place, as by `t_`.

    Like in PyTorch, `retain_grad` stays with the previous node.
    """
    tensor._node, tensor._index, tensor._requires_grad = node, 0, True
    if tensor._view is not None:
        tensor._view.version = version_of(tensor)


def _move_retained(tensor: Tensor, node: Node, index: int) -> None:
    """Move `retain_grad` along to the tensor's new node, as PyTorch does."""
    extras = tensor._extras
    if extras is None or not extras.retains_grad or tensor._node is None:
        return
    before = tensor._node.extras
    if before is not None:
        reference = before.retained.pop(tensor._index, None)
        if reference is not None:
            node._extras().retained[index] = reference
