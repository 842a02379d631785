# Stage 06, Saved tensors, versions and views: the solution for minigrad/graph/saved_tensor.py.
# Made by `minigrad dev build`. The lesson is lessons/06_saved.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""Saved tensors: values that a node keeps for its backward pass, checked for later writes.

See NOTE [Versions] in version.py for how writes are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

from .._state import grad_enabled, having, saved_tensors_hooks
from .saved_errors import (
    FREED_MESSAGE,
    HOOKS_AFTER_FREEING,
    HOOKS_NOT_CALLABLE,
    HOOKS_SET_TWICE,
    NOT_UNPACKED,
    PACK_HOOK_WRITES,
    modified_error,
)
from .version import version_of


class SavedTensor:
    """One tensor kept for a node's backward pass.

    An input is kept as the tensor that it was.  An output is kept as array and counter and
    rebuilt when unpacked, for it holds the node that would hold it.  With pack and unpack hooks
    only the result of the pack hook is kept.
    """

    __slots__ = ("_array", "_counter", "cast", "hooks", "index", "is_leaf", "origin", "packed",
                 "plain", "requires_grad", "tensor", "version", "view_node")

    _array: Any  # None once it was freed or packed
    _counter: Any  # the version counter, None for a tensor that had none
    tensor: Any  # the tensor itself; None for an output, and once it was freed or packed
    version: int  # of the memory, when it was saved
    plain: Callable[[Any], Any]  # makes a tensor of an array, without a history
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
            if tensor._view is not None:  # its own node may be another than the one that saves it
                self.view_node = ref(tensor._node)
            self.let_go()
        if default := saved_tensors_hooks.get():
            self.register_hooks(*default[-1], None if is_output else tensor)

    @classmethod
    def noted(cls, note: tuple[Any, ...]) -> SavedTensor:
        """Make the saved tensor of a note: NOTE [Notes of saved tensors] in op/node.py."""
        self = object.__new__(cls)
        self.cast = self.hooks = self.packed = self.view_node = self.origin = None
        if len(note) == 2:
            self.tensor, self.version = note
            tensor = self.tensor
            self.is_leaf, self.requires_grad = tensor._node is None, tensor._requires_grad
            self.index, self.plain = tensor._index, tensor._plain
            self._array, self._counter = tensor._array, tensor._counter
        else:
            self._array, self.version, self._counter = note
            self.tensor, self.is_leaf, self.requires_grad, self.index = None, False, True, 0
        return self

    def check(self, node: Any) -> None:
        """Raise if the memory was written to since it was saved; `node` is the one that saved it.

        >>> from minigrad import ones
        >>> x = ones(2); saved = SavedTensor(x); saved.check(None)
        >>> _ = x.add_(1); saved.check(None)
        Traceback (most recent call last):
            ...
        RuntimeError: one of the variables needed for gradient computation has been modified ...
        """
        current = version_of(self if self.tensor is None else self.tensor)
        if current != self.version:
            raise self.modified(current, node)

    def modified(self, version: int, node: Any) -> RuntimeError:
        """Make the error for a tensor that is now at another `version`; it names its maker."""
        maker = node if self.tensor is None else self.tensor.grad_fn
        return modified_error(self._array, self.index, maker, version, self.version)

    def let_go(self) -> None:
        """Keep an output without its tensor: array and counter are enough to make it anew."""
        self._counter = self.tensor._shared_counter()
        self.tensor = None

    def unpack(self, node: Any) -> Any:
        """Return the tensor, with its place in the graph; `node` is the one that saved it."""
        if self.hooks is not None:
            return self.rebuild(self.unpacked(), node)
        array, tensor = self._array, self.tensor  # read once: another thread may free them
        if array is None:
            raise RuntimeError(FREED_MESSAGE)
        self.check(node)
        return self.rebuild(array, node) if tensor is None else tensor

    def rebuild(self, array: Any, node: Any) -> Any:
        """Make the tensor anew from an array, with its counter and its place in the graph."""
        result = self.plain(array)
        result._counter = self._counter
        self.put_in_graph(result, node)
        return result

    def put_in_graph(self, result: Any, node: Any) -> None:
        """Give a tensor made anew the place that the saved one has; `node` saved it."""
        result._requires_grad, result._index = self.requires_grad, self.index
        if self.is_leaf:
            if self.origin is not None:
                result._adopt(self.origin)
        elif self.origin is not None:
            result._node = self.origin
        else:
            # A view that is gone took its own node along; the node that wrote to it leads on too.
            result._node = (self.view_node and self.view_node()) or node

    def register_hooks(
        self, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any], shown: Any = None
    ) -> None:
        """Keep `pack_hook(tensor)` instead; `unpack_hook` has to give the tensor back.

        The hook is shown the tensor as it is where the hooks were there first, and without its
        history where they come later.
        """
        if self.hooks is not None:
            raise RuntimeError(HOOKS_SET_TWICE)
        if self._array is None:
            raise RuntimeError(HOOKS_AFTER_FREEING)
        if not callable(pack_hook) or not callable(unpack_hook):
            raise TypeError(HOOKS_NOT_CALLABLE)
        if shown is None:
            shown = self.plain(self._array)
            shown._counter = self._counter
        self.pack(pack_hook, shown)
        self.hooks = (pack_hook, unpack_hook)

    def pack(self, pack_hook: Callable[..., Any], tensor: Any) -> None:
        """Keep `pack_hook(tensor)` in `packed`, and forget tensor and array."""
        before = version_of(tensor)
        with having(grad_enabled, False):
            self.packed = pack_hook(tensor)
        if version_of(tensor) != before:
            raise RuntimeError(PACK_HOOK_WRITES)
        self.remember_place()
        self._array = self.tensor = None

    def remember_place(self) -> None:
        """Keep the place in the graph of an input, without the tensor."""
        if self.tensor is not None and self.requires_grad:
            self.origin = self.tensor._edge()[0]

    def unpacked(self) -> Any:
        """Return the array of the tensor that the unpack hook makes of `packed`."""
        assert self.hooks is not None
        tensor = self.hooks[1](self.packed)
        if not hasattr(tensor, "_array"):
            raise TypeError(NOT_UNPACKED.format(type(tensor).__name__))
        return tensor._array

    def unpack_array(self, node: Any) -> Any:
        """Return the bare array, in the dtype in which the forward used it."""
        array = self.unpack(node)._array
        return array if self.cast is None else array.astype(self.cast, copy=False)

    def release(self) -> None:
        """Forget the tensor; `unpack` raises from now on."""
        self._array = self.tensor = self.packed = self.hooks = self.origin = None
