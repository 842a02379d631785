# Stage 06, Saved tensors, versions and views: the solution for minigrad/graph/saved_tensor.py.
# Made by `minigrad dev build`. The lesson is lessons/06_saved.md.
# MASTER COPY: a copy of the package's module, which runs nowhere. Your answers are elsewhere.

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
        tensor = self.tensor
        self._counter = tensor._shared_counter()
        if tensor._view is not None:
            self.view_node = ref(tensor._node)
        self.tensor = None

    def register_hooks(
        self, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any], shown: Any = None
    ) -> None:
        """Keep `pack_hook(tensor)` instead; `unpack_hook` has to give the tensor back.

        The hook is shown the tensor as it is where the hooks were there first, and without its
        history where they come later.
        """
        if self.hooks is not None:
            raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already "
                               "been set. Hint: only one pair of hooks is allowed at a time.")
        if self._array is None:
            raise RuntimeError("Calling register_hooks on a saved tensor after it has been freed. "
                               "Saved intermediate values of the graph are freed when you call "
                               ".backward() or autograd.grad(). Specify retain_graph=True if you "
                               "need to backward through the graph a second time or if you need to "
                               "access saved variables after calling backward.")
        if not callable(pack_hook) or not callable(unpack_hook):
            raise TypeError("incompatible function arguments: pack_hook and unpack_hook must be "
                            "callable")
        whole = shown
        if whole is None:
            whole = self.plain(self._array)
            whole._counter = self._counter
        before = version_of(whole)
        previous = _state.grad_enabled.get()
        try:
            _state.grad_enabled.set(False)
            self.packed = pack_hook(whole)
        finally:
            _state.grad_enabled.set(previous)
        if version_of(whole) != before:
            raise RuntimeError("A saved tensor pack hook is modifying its input in place. "
                               "Tensors provided as input to pack hook cannot be modified by "
                               "in-place operations as this can lead to unexpected side-effects. "
                               "Please open an issue if you need to perform in-place operations on "
                               "the input to a pack hook.")
        self.hooks = (pack_hook, unpack_hook)
        if self.tensor is not None and self.requires_grad:
            self.origin = self.tensor._edge()[0]
        self._array = self.tensor = None

    def release(self) -> None:
        """Forget the tensor; `unpack` raises from now on."""
        self._array = self.tensor = self.packed = self.hooks = self.origin = None

    def unpack(self, node: Any) -> Any:
        """Return the tensor, with its place in the graph; `node` is the one that saved it."""
        if self.hooks is not None:
            return self.rebuild(self.unpacked(), node)
        array, tensor = self._array, self.tensor  # read once: another thread may free them
        if array is None:
            raise RuntimeError(FREED_MESSAGE)
        self.check(node)
        return self.rebuild(array, node) if tensor is None else tensor

    def unpacked(self) -> Any:
        """Return the array of the tensor that the unpack hook makes of what was packed."""
        assert self.hooks is not None
        tensor = self.hooks[1](self.packed)
        if not hasattr(tensor, "_array"):
            raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor but "
                            f"got result of type {type(tensor).__name__}")
        return tensor._array

    def rebuild(self, array: Any, node: Any) -> Any:
        """Make the tensor anew from its array and its place in the graph."""
        result = self.plain(array)
        result._counter = self._counter
        result._requires_grad = self.requires_grad
        result._index = self.index
        if self.is_leaf:
            if self.origin is not None:
                result._adopt(self.origin)
        elif self.origin is not None:
            result._node = self.origin
        else:
            # A view that is gone took its own node along; the node that wrote to it leads on too.
            result._node = (self.view_node and self.view_node()) or node
        return result

    def unpack_array(self, node: Any) -> Any:
        """Return the bare array, in the dtype in which the forward used it."""
        array = self.unpack(node)._array
        return array if self.cast is None else array.astype(self.cast, copy=False)

    def check(self, node: Any) -> None:
        """Raise if the memory was written to since it was saved."""
        current = version_of(self if self.tensor is None else self.tensor)
        if current != self.version:
            origin = self.tensor.grad_fn if self.tensor is not None else node
            raise modified_error(self._array, self.index, origin, current, self.version)
