"""Views and in-place writes: who shares memory with whom, and whose history a write changes.

NOTE [In-place writes through views]
    A write through a view changes the base, so it is the base whose history is rebased: its
    node becomes a `CopySlices` around the node of the write.  Views keep no history of such
    writes; each notes the version at which its own node was right, and when the shared
    counter has moved on makes a new one from the base, an `AsStridedBackward`, the next time
    it is asked.
"""

from __future__ import annotations

from re import sub
from typing import Any

from .. import _state
from ..backend.memory_layout import OVERLAP, is_dense, overlaps_itself
from ..graph.copy_slices import CopySlices
from ..graph.node import Node
from ..graph.special_versions import INFERENCE, InferenceVersion
from ..graph.version import version_of
from .attributes import data_pointer, same_memory
from .tensor import Tensor

Array = Any

DEFAULT, MULTI_OUTPUT, NO_GRAD, IN_CUSTOM_FUNCTION, INFERENCE_MODE = range(5)

_REASON = {
    MULTI_OUTPUT: " This view is the output of a function that returns multiple views. Such "
    "functions do not allow the output views to be modified inplace. You should replace the "
    "inplace operation by an out-of-place one.",
    IN_CUSTOM_FUNCTION: " This view was created inside a custom Function (or because an input was "
    "returned as-is) and the autograd logic to handle view+inplace would override the custom "
    "backward associated with the custom Function, leading to incorrect gradients. This behavior "
    "is forbidden. You can fix this by cloning the output of the custom Function.",
}


class ViewInfo:
    """The base of a view, and how and when the view was made."""

    __slots__ = ("base", "creation", "version")

    def __init__(self, base: Tensor, creation: int, version: int) -> None:
        self.base = base
        self.creation = creation
        self.version = version  # of the memory when the view's own node was right

    def current_node(self, view: Tensor) -> Node | None:
        """Return the view's node, made anew from the base if the memory was written to since."""
        base = self.base
        if view._node is None and not base._requires_grad:
            return None
        counter = view._counter
        if counter is INFERENCE or self.version == counter.value:
            return view._node
        self.refuse(view, indirect=True)
        # a base that no longer requires grad: the view has a node all the same, which ends there
        source = base if base._requires_grad else base.detach().requires_grad_()
        previous = _state.grad_enabled.get()
        inference = _state.inference_enabled.get()
        try:
            _state.grad_enabled.set(True)
            _state.inference_enabled.set(False)
            node: Any = source._node_for(view)
        finally:
            _state.inference_enabled.set(inference)
            _state.grad_enabled.set(previous)
        if source is not base:
            node.set_edges([(None, 0)])
        _move_retained(view, node, 0)
        view._node, view._index, view._requires_grad = node, 0, True
        self.version = counter.value
        return view._node

    def refuse(self, view: Tensor, indirect: bool = False) -> None:
        """Raise the error for a view that may not be written to while grad mode is on."""
        what = (" is a view and its base or another view of its base has been modified inplace."
                if indirect else " is a view and is being modified inplace.")
        if self.creation in (NO_GRAD, INFERENCE_MODE):
            mode, made_in, written_in = (
                ("no_grad", "no_grad", "with grad mode enabled") if self.creation == NO_GRAD
                else ("inference_mode", "inference", "in normal mode"))
            action = ("its base or another view of its base has been modified inplace"
                      if indirect else "is being modified inplace")
            raise RuntimeError(
                f"A view was created in {made_in} mode and {action} {written_in}. Given "
                "that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
                f"your code by moving both the view and the inplace either both inside the {mode} "
                "block (if you don't want the inplace to be tracked) or both outside (if you want "
                "the inplace to be tracked)."
            )
        if self.creation != DEFAULT:
            node = view._node
            if node is None:
                origin, what = "A view was created in no_grad mode", what.removeprefix(" is a view")
                what = what.removesuffix(".") + " with grad mode enabled."
            else:
                origin = f"Output {view._index} of " + sub(r"Backward[0-9]*$", "", node.name())
            raise RuntimeError(origin + what + _REASON[self.creation])


def mark_view(result: Tensor, base: Tensor, *, multiple: bool = False,
              creation: int | None = None) -> None:
    """Record that `result` looks at the memory of `base`, of which it may itself be a view."""
    counter = base._counter
    if isinstance(counter, InferenceVersion):
        result._counter = INFERENCE
        return
    if creation is None:
        if _state.inference_enabled.get():
            creation = INFERENCE_MODE
        elif not _state.grad_enabled.get():
            creation = NO_GRAD
        else:
            creation = MULTI_OUTPUT if multiple else DEFAULT
    root = base
    if base._view is not None:
        root = base._view.base
        creation = creation or base._view.creation
    if counter is None:
        counter = base._shared_counter()
    result._counter = counter
    result._view = ViewInfo(root, creation, counter.value)


def check_inplace(tensor: Tensor, recorded: bool, alike: bool = False) -> None:
    """Raise if `tensor` may not be written to.

    `recorded` says that the write enters the graph, `alike` that all elements get one value, so
    that it does not matter if several of them are one place in memory.
    """
    if recorded:
        view = tensor._view
        if view is not None:
            view.refuse(tensor)
            if tensor.requires_grad and view.base._node is None:
                raise RuntimeError("a view of a leaf Variable that requires grad is being used in "
                                   "an in-place operation.")
        if tensor._node is None and tensor.requires_grad:  # as yet, for a view of a changed base
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place "
                               "operation.")
    if tensor._counter is INFERENCE and not _state.inference_enabled.get():
        INFERENCE.bump()
    if not alike and overlaps_itself(tensor._array):
        raise RuntimeError(OVERLAP)


def partly_overlaps(written: Array, read: Array) -> bool:
    """Tell whether two dense arrays share some of their memory, but not element for element.

    For arrays with gaps the answer is False, as in PyTorch.
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
    """Make `node` the history of `tensor`, which it has just written to.

    `position` is the edge of `node` that belongs to the tensor's earlier value.
    """
    view = tensor._view
    if view is None:
        _move_retained(tensor, node, index)
        tensor._node, tensor._index, tensor._requires_grad = node, index, True
        return
    base = view.base
    slices = CopySlices(base, base._edge(), tensor, node, position)
    _move_retained(base, slices, 0)
    base._node, base._index, base._requires_grad = slices, 0, True
    tensor._requires_grad = True
    view.version = version_of(tensor) - 1
    view.current_node(tensor)


def replace_node(tensor: Tensor, node: Node) -> None:
    """Make `node` the history of a tensor whose geometry, not its memory, was changed in place.

    As in PyTorch, `retain_grad` stays with the node before.
    """
    tensor._node, tensor._index, tensor._requires_grad = node, 0, True
    if tensor._view is not None:
        tensor._view.version = version_of(tensor)


def _move_retained(tensor: Tensor, node: Node, index: int) -> None:
    """Let `retain_grad` follow the tensor to its new node, as PyTorch does."""
    extras = tensor._extras
    if extras is None or not extras.retains_grad or tensor._node is None:
        return
    before = tensor._node.extras
    if before is not None:
        reference = before.retained.pop(tensor._index, None)
        if reference is not None:
            node._extras().retained[index] = reference
