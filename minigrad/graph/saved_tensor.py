"""Saved tensors: values that a node keeps for its backward pass, checked for later writes.

See NOTE [Versions] in version.py for how writes are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import ref

from .._state import grad_enabled, having, saved_tensors_hooks
from ..backend.float_errors import under_callers_settings
from ..frames import type_in_error
from .saved_errors import (
    FREED_MESSAGE,
    HOOKS_AFTER_FREEING,
    HOOKS_NOT_CALLABLE,
    HOOKS_SET_TWICE,
    NOT_UNPACKED,
    PACK_HOOK_WRITES,
    modified_error,
    unpacked_like,
)
from .version import version_of


class SavedTensor:
    """One tensor that a node saves for its backward pass.

    An input is saved as the tensor object itself.  An output refers to its node, so saving it
    would create a reference cycle; only its array and version counter are saved, and the tensor
    is rebuilt when it is unpacked.  With pack and unpack hooks, only the result of the pack hook
    is saved.
    """

    __slots__ = ("_array", "_counter", "cast", "hooks", "index", "is_leaf", "origin", "packed",
                 "plain", "requires_grad", "tensor", "version", "view_node")

    _array: Any  # `None` after it was freed or packed
    _counter: Any  # the version counter; `None` for a tensor without one
    tensor: Any  # the tensor itself; None for an output, and after it was freed or packed
    version: int  # the version at which it was saved
    plain: Callable[[Any], Any]  # makes a tensor without history from an array
    cast: Any  # the dtype to which the forward converted it, or None
    hooks: tuple[Callable[..., Any], Callable[..., Any]] | None
    packed: Any  # the result of the pack hook
    view_node: Any  # weak reference to the node of an output that is a view
    origin: Any  # the node that receives the gradient of an input that was packed

    def __init__(self, tensor: Any, is_output: bool = False, cast: Any = None) -> None:
        self.version, self.cast = version_of(tensor), cast
        self.hooks = self.packed = self.view_node = self.origin = None
        self.is_leaf, self.requires_grad = tensor._node is None, tensor._requires_grad
        self.index, self.plain = tensor._index, tensor._plain
        self._array, self._counter, self.tensor = tensor._array, tensor._counter, tensor
        if is_output and not self.is_leaf:
            if tensor._view is not None:  # a view's node may differ from the node that saves it
                self.view_node = ref(tensor._node)
            self.let_go()
        if default := saved_tensors_hooks.get():
            self.register_hooks(*default[-1], None if is_output else tensor)

    @classmethod
    def noted(cls, note: tuple[Any, ...]) -> SavedTensor:
        """Make a saved tensor from a note; see NOTE [Notes of saved tensors] in op/node.py."""
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
        """Raise if the memory was written to since `node` saved the tensor.

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
        """Return the error for a tensor that is now at `version`; it names the tensor's node."""
        maker = node if self.tensor is None else self.tensor.grad_fn
        return modified_error(self._array, self.index, maker, version, self.version)

    def let_go(self) -> None:
        """Drop the tensor of an output; array and counter are enough to rebuild it."""
        self._counter = self.tensor._shared_counter()
        self.tensor = None

    def unpack(self, node: Any) -> Any:
        """Return the tensor, connected to the graph as before; `node` is the node that saved it."""
        if self.hooks is not None:
            return self.rebuild(self.unpacked(), node)
        array, tensor = self._array, self.tensor  # read once: another thread may free them
        if array is None:
            raise RuntimeError(FREED_MESSAGE)
        self.check(node)
        return self.rebuild(array, node) if tensor is None else tensor

    def rebuild(self, array: Any, node: Any) -> Any:
        """Rebuild the tensor from an array, with its version counter and its history."""
        result = self.plain(array)
        result._counter = self._counter
        self.put_in_graph(result, node)
        return result

    def put_in_graph(self, result: Any, node: Any) -> None:
        """Connect a rebuilt tensor to the graph as the saved one was; `node` saved it."""
        result._requires_grad, result._index = self.requires_grad, self.index
        if self.is_leaf:
            if self.origin is not None:
                result._adopt(self.origin)
        elif self.origin is not None:
            result._node = self.origin
        else:
            # If a view was deleted, so was its node; the node of the write leads on as well.
            result._node = (self.view_node and self.view_node()) or node

    def register_hooks(
        self, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any], shown: Any = None
    ) -> None:
        """Save `pack_hook(tensor)` instead; `unpack_hook` must turn that back into the tensor.

        Hooks that were set before the tensor was saved receive the tensor itself; hooks that are
        registered afterwards receive a tensor on the same memory, without history.
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
        shape = tuple(self._array.shape)
        self.pack(pack_hook, shown)
        self.hooks = (pack_hook, partial(unpacked_like, shape, unpack_hook))

    def pack(self, pack_hook: Callable[..., Any], tensor: Any) -> None:
        """Store `pack_hook(tensor)` in `packed`, and drop the tensor and its array."""
        before = version_of(tensor)
        with having(grad_enabled, False):
            self.packed = pack_hook(tensor)
        if version_of(tensor) != before:
            raise RuntimeError(PACK_HOOK_WRITES)
        self.remember_place()
        self._array = self.tensor = None

    def remember_place(self) -> None:
        """Remember which node receives an input's gradient, so that the tensor can be dropped."""
        if self.tensor is not None and self.requires_grad:
            self.origin = self.tensor._edge()[0]

    @under_callers_settings
    def unpacked(self) -> Any:
        """Return the array of the tensor that the unpack hook makes from `packed`."""
        assert self.hooks is not None
        tensor = self.hooks[1](self.packed)
        if not hasattr(tensor, "_array"):
            raise TypeError(NOT_UNPACKED.format(type_in_error(tensor)))
        return tensor._array

    def unpack_array(self, node: Any) -> Any:
        """Return the bare array, in the dtype that the forward used."""
        array = self.unpack(node)._array
        return array if self.cast is None else array.astype(self.cast, copy=False)

    def release(self) -> None:
        """Drop the tensor; from now on, `unpack` raises."""
        self._array = self.tensor = self.packed = self.hooks = self.origin = None
