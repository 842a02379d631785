# Stage 06, Saved tensors, versions and views: the exercise for minigrad/tensor/views.py.
# Made by `minigrad dev build`. The lesson is lessons/06_saved.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 06
# Names of the package's inside are explained in docs/en/glossary.md.

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
        # 06.7 History after a write (about 35 lines)
        # rebase_history(tensor, node, index, position): the tensor was just written to by an
        # operation with this node. If it is no view: call _move_retained(tensor, node,
        # index), then _node, _index and _requires_grad become node, index and True. If it is
        # a view: make CopySlices(base, base._edge(), tensor, node, position) for its base,
        # _move_retained(base, slices, 0), and make it the base's history in the same way,
        # with index 0; then the view requires grad, its record view.version becomes one less
        # than version_of(tensor), and view.current_node(tensor) makes its own node anew.
        # ViewInfo.current_node(view): return the view's node. If the view has none and the
        # base does not require grad: None. If the counter is INFERENCE, or self.version is
        # the counter's value: view._node. Otherwise the memory was written to:
        # self.refuse(view, indirect=True); then with recording on, and afterwards as it was,
        # also after an exception, make the node of as_strided of the base with the view's
        # sizes (tuple(view.shape)), strides and storage offset: base._node_for(view) makes it
        # without a look at the memory, which `.data` may have changed. (A base that no longer
        # requires grad would give it no node: take base.detach().requires_grad_() for it, and
        # let the new node end there, by set_edges([(None, 0)]).) Call _move_retained(view,
        # its node, 0), make its node, 0 and True the view's history, note the counter's value
        # in self.version and return the view's node.
        raise NotImplementedError("06.7 History after a write is yours to write")

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
    # 06.4 Who shares memory (about 19 lines)
    # mark_view(result, base, multiple, creation): `result` looks at the memory of `base`.
    # If base's counter is INFERENCE, result's becomes INFERENCE too and nothing else
    # happens. If no creation is given (None), it is INFERENCE_MODE inside inference mode
    # (_state.inference_enabled), else NO_GRAD where nothing is recorded
    # (_state.grad_enabled), else MULTI_OUTPUT if multiple, else DEFAULT. If base is
    # itself a view (base._view), the base of all is base._view.base, and a creation of
    # DEFAULT becomes base._view.creation. Give result the base's counter,
    # base._shared_counter() if there is none yet, as _counter, and as _view a ViewInfo of
    # the base of all, the creation, and the counter's value now.
    raise NotImplementedError("06.4 Who shares memory is yours to write")


def check_inplace(tensor: Tensor, recorded: bool, alike: bool = False) -> None:
    """Raise if `tensor` may not be written to.

    `recorded` says that the write enters the graph, `alike` that all elements get one value, so
    that it does not matter if several of them are one place in memory.
    """
    # 06.5 What may be written to (about 14 lines)
    # check_inplace(tensor, recorded, alike): raise if the tensor may not be written to;
    # otherwise return nothing. If the write is recorded: for a view, view.refuse(tensor)
    # with view = tensor._view raises where the way the view was made forbids it; then, if
    # the tensor requires grad (tensor.requires_grad) and its base has no node (_node),
    # RuntimeError "a view of a leaf Variable that requires grad is being used in an
    # in-place operation.". If the tensor has no node itself and requires grad
    # (tensor.requires_grad), RuntimeError "a leaf Variable that requires grad is being
    # used in an in-place operation.". Recorded or not: if its counter is INFERENCE and
    # inference mode is off, INFERENCE.bump() raises. Unless `alike`: if a dimension of
    # more than one element has stride 0 in an array of more than one element
    # (tensor._array, with strides, shape and size), RuntimeError "unsupported operation:
    # more than one element of the written-to tensor refers to a single memory location.
    # Please clone() the tensor before performing the operation.".
    raise NotImplementedError("06.5 What may be written to is yours to write")


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
    # 06.7 History after a write: see the task at `ViewInfo.current_node`.
    raise NotImplementedError("06.7 History after a write is yours to write")


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
