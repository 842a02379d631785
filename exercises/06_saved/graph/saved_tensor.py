# Stage 06, Saved tensors, versions and views: the exercise for minigrad/graph/saved_tensor.py.
# Made by `minigrad dev build`. The lesson is lessons/06_saved.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 06
# Names of the package's inside are explained in docs/en/glossary.md.

"""Saved tensors: values that a node keeps for its backward pass, checked for later writes.

See NOTE [Versions] in version.py for how writes are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from re import sub
from typing import Any
from weakref import ref

from .. import _state
from ..dtypes import FROM_NUMPY
from .version import version_of

FREED_MESSAGE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved tensors after calling backward."
)

DETACHED_MESSAGE = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
    "This is not supported, please use out-of-place `.detach()` instead"
)


def modified_error(array: Any, index: int, node: Any, version: int, expected: int) -> RuntimeError:
    """Make the error for a saved tensor that was written to, or detached, after it was saved."""
    if int(version) == int(expected):
        return RuntimeError(DETACHED_MESSAGE)
    name = FROM_NUMPY[array.dtype].name
    legacy = {"float32": "Float", "float64": "Double", "float16": "Half", "int64": "Long",
              "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool"}
    origin = ""
    if node is not None:
        origin = f", which is output {index} of {sub(r'Backward[0-9]*$', '', node.name())},"
    hint = (
        "Hint: the backtrace further above shows the operation that failed to compute its "
        "gradient. The variable in question was changed in there or anywhere later. Good luck!"
        if _state.anomaly.enabled
        else "Hint: enable anomaly detection to find the operation that failed to compute its "
        "gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [torch.{legacy[name]}Tensor {list(array.shape)}]{origin} is at version "
        f"{version}; expected version {expected} instead. {hint}"
    )


class SavedTensor:
    """One tensor kept for a node's backward pass.

    An input is kept as the tensor that it was.  An output is kept as array and counter and
    rebuilt when unpacked, for it holds the node that would hold it.  With pack and unpack hooks
    only what the pack hook returned is kept.
    """

    __slots__ = ("_array", "_counter", "cast", "hooks", "index", "is_leaf", "origin", "packed",
                 "plain", "requires_grad", "tensor", "version", "view_node")

    cast: Any  # the array dtype that an array formula wants it in, or None
    hooks: tuple[Callable[..., Any], Callable[..., Any]] | None
    packed: Any  # the result of the pack hook
    view_node: Any  # weak reference to the node of an output that is a view
    origin: Any  # where an input with hooks has its place in the graph

    def __init__(self, tensor: Any, is_output: bool = False, cast: Any = None) -> None:
        self.version, self.cast = version_of(tensor), cast
        self.hooks = self.packed = self.view_node = self.origin = None
        self.is_leaf, self.requires_grad = tensor._node is None, tensor._requires_grad
        self.index, self.plain = tensor._index, tensor._plain
        self._array, self._counter, self.tensor = tensor._array, tensor._counter, tensor
        if is_output and not self.is_leaf:
            self.let_go()
        if default := _state.saved_tensors_hooks.get():
            self.register_hooks(*default[-1], None if is_output else tensor)

    def let_go(self) -> None:
        """Keep an output without its tensor: array and counter are enough to make it anew.

        The tensor holds the node that this is kept for, or, where it is a view whose node was
        replaced, another node; that one is remembered by a weak reference.
        """
        # 06.2 Inputs and outputs (about 24 lines)
        # let_go(): called for an output of the node, whose tensor must not be held. Put the
        # tensor's version counter, tensor._shared_counter(), into self._counter; if the
        # tensor is a view (tensor._view is not None), put a weak reference to its node,
        # ref(tensor._node), into self.view_node; then set self.tensor to None. unpack(node):
        # with hooks (self.hooks is not None) return self.rebuild(self.unpacked(), node).
        # Without: if self._array is None, RuntimeError(FREED_MESSAGE); then self.check(node);
        # then return self.tensor if it is there, otherwise self.rebuild(self._array, node).
        # rebuild(array, node): make a tensor of the array with self.plain(array); give it
        # self._counter, self.requires_grad and self.index as _counter, _requires_grad and
        # _index. A leaf (self.is_leaf) with a place in the graph (self.origin is not None)
        # adopts it: result._adopt(self.origin). What is no leaf gets as _node: self.origin if
        # that is not None, where there is a view_node, what that weak reference gives; and
        # where there is none, or it gives None because the view is gone, `node`.
        raise NotImplementedError("06.2 Inputs and outputs is yours to write")

    def register_hooks(
        self, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any], shown: Any = None
    ) -> None:
        """Keep `pack_hook(tensor)` instead; `unpack_hook` has to give the tensor back.

        The hook is shown the tensor as it is where the hooks were there first, and without its
        history where they come later.
        """
        # 06.3 Packing (about 39 lines)
        # register_hooks(pack_hook, unpack_hook): keep what pack_hook makes of the tensor,
        # instead of the tensor. In this order: if self.hooks is not None, RuntimeError
        # "Calling register_hooks on a saved tensor whose hooks have already been set. ..."
        # (here and below the three dots stand for any advice of yours); if self._array is
        # None, RuntimeError "Calling register_hooks on a saved tensor after it has been
        # freed. ..."; if one of the two is not callable, TypeError "incompatible function
        # arguments: pack_hook and unpack_hook must be callable". What the hook is shown is
        # `shown`; if that is None, a plain tensor of the array, self.plain(self._array), with
        # self._counter as its _counter. Call pack_hook with it while nothing is recorded; the
        # grad mode (_state.grad_enabled, with get and set) is afterwards what it was, also
        # after an exception. Keep the result in self.packed. If the version of that tensor
        # changed meanwhile, RuntimeError "A saved tensor pack hook is modifying its input in
        # place. ...". Then set self.hooks to the pair; if self.tensor is there and
        # self.requires_grad, keep its place in the graph, self.tensor._edge()[0], in
        # self.origin; and set self._array and self.tensor to None. unpacked(): give
        # self.packed to the second hook and return the array (_array) of the tensor that it
        # gives; for what has no _array, TypeError "Output of saved tensor unpack_hook
        # expected to be a Tensor but got result of type KIND".
        raise NotImplementedError("06.3 Packing is yours to write")

    def release(self) -> None:
        """Forget the tensor; `unpack` raises from now on."""
        self._array = self.tensor = self.packed = self.hooks = self.origin = None

    def unpack(self, node: Any) -> Any:
        """Return the tensor, with its place in the graph; `node` is the one that saved it."""
        # 06.2 Inputs and outputs: see the task at `SavedTensor.let_go`.
        raise NotImplementedError("06.2 Inputs and outputs is yours to write")

    def unpacked(self) -> Any:
        """Return the array of the tensor that the unpack hook makes of what was packed."""
        # 06.3 Packing: see the task at `SavedTensor.register_hooks`.
        raise NotImplementedError("06.3 Packing is yours to write")

    def rebuild(self, array: Any, node: Any) -> Any:
        """Make the tensor anew from its array and its place in the graph."""
        # 06.2 Inputs and outputs: see the task at `SavedTensor.let_go`.
        raise NotImplementedError("06.2 Inputs and outputs is yours to write")

    def unpack_array(self, node: Any) -> Any:
        """Return the bare array, in the dtype in which the forward used it."""
        array = self.unpack(node)._array
        return array if self.cast is None else array.astype(self.cast, copy=False)

    def check(self, node: Any) -> None:
        """Raise if the memory was written to since it was saved."""
        # 06.1 Versions (about 7 lines)
        # Version.bump(): count one write. version_of(tensor): the version of the tensor's
        # memory; its counter lies in tensor._counter and is None for a tensor that was never
        # written to, which is at version 0. SavedTensor.check(node): raise if the memory was
        # written to since it was saved. The version then stands in self.version. The version
        # now is that of self.tensor (the counter may have been made since), or, where only
        # the array was kept and self.tensor is None, the value of self._counter (0 if there
        # is none). If the two differ in any way, raise modified_error(self._array,
        # self.index, origin, version now, version then), where origin is the node that made
        # the tensor: the grad_fn of self.tensor if that is there, otherwise `node`, which
        # saved its own output. Otherwise return nothing.
        raise NotImplementedError("06.1 Versions is yours to write")
