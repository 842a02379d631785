# Stage 06, Saved tensors, versions and views: the solution for minigrad/tensor/views.py.
# Made by `minigrad dev build`. The lesson is lessons/06_saved.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

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
        if view._node is None and not self.base._requires_grad:
            return None
        if self.version != self.version_now(view):
            self.refuse(view, indirect=True)
            self.regenerate(view)
        return view._node

    def regenerate(self, view: Tensor) -> None:
        """Replace the view's node by one made from the current base."""
        set_gradient_edge(view, node_from_base(self.base, view))
        self.version = self.version_now(view)

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
    root = base
    if base._view is not None:
        root = base._view.base
        if creation == DEFAULT:
            creation = base._view.creation
    counter = result._counter = base._shared_counter()
    result._view = ViewInfo(root, creation, counter.value)


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
    view = tensor._view
    if view is not None:
        view.refuse(tensor)
        if tensor.requires_grad and view.base._node is None:
            raise RuntimeError(VIEW_OF_LEAF_WRITTEN)
    if tensor._node is None and tensor.requires_grad:  # as yet, for a view of a changed base
        raise RuntimeError(LEAF_WRITTEN)


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
    view = tensor._view
    if view is None:
        set_gradient_edge(tensor, node, index)
        return
    base = view.base
    set_gradient_edge(base, CopySlices(base, base._edge(), tensor, node, position))
    view.regenerate(tensor)


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
