# Stage 06, Saved tensors, versions and views: the exercise for minigrad/graph/saved_tensor.py.
# Made by `minigrad dev build`. The lesson is lessons/06_saved.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 06
# docs/en/glossary.md explains the names used inside the package.

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
        # 06.1 Versions (about 6 lines)
        # Count writes, and reject a saved tensor whose memory was written to after it was
        # saved. `version_of` reads the version from a tensor's counter, `tensor._counter`,
        # which is None until the first write. `check` compares it with `self.version`, the
        # version when the tensor was saved.
        #   t never written to               -> version_of(t) is 0
        #   t written to twice               -> version_of(t) is 2
        #   saved at version 0, now 1        -> check(node) raises self.modified(1, node)
        #   saved at version 2, now 2        -> check(node) returns None
        # Mind:
        # - `self.tensor` may have got its counter only after it was saved.
        # - If only the array was kept, `self.tensor` is None and the counter is
        #   `self._counter`.
        # - Any difference counts.
        raise NotImplementedError("06.1 Versions is yours to write")

    def modified(self, version: int, node: Any) -> RuntimeError:
        """Return the error for a tensor that is now at `version`; it names the tensor's node."""
        maker = node if self.tensor is None else self.tensor.grad_fn
        return modified_error(self._array, self.index, maker, version, self.version)

    def let_go(self) -> None:
        """Drop the tensor of an output; array and counter are enough to rebuild it."""
        # 06.2 Inputs and outputs (about 13 lines)
        # `let_go` drops an output's tensor, because that tensor refers to the node. `unpack`
        # returns what was saved, and `rebuild` makes a new tensor from an array.
        #   let_go()                          -> self.tensor is None, its counter is self._counter
        #   unpack(node), hooks are not None  -> rebuild(self.unpacked(), node), unchecked
        #   unpack(node), _array is None      -> RuntimeError(FREED_MESSAGE)
        #   unpack(node), tensor is there     -> that very tensor
        #   rebuild(array, node)              -> a tensor of array, with self._counter, put in the graph;
        #                                        new each time: it refers to the node, so don't keep it
        # Mind:
        # - A write after `let_go` must be noticed, even if it's the first write to the
        #   output.
        # - Without hooks, call `check(node)` before you return anything.
        # Use: `tensor._shared_counter()`, `self.plain(array)`, `self.put_in_graph(tensor,
        # node)`.
        raise NotImplementedError("06.2 Inputs and outputs is yours to write")

    def unpack(self, node: Any) -> Any:
        """Return the tensor, connected to the graph as before; `node` is the node that saved it."""
        # 06.2 Inputs and outputs: see the task at `SavedTensor.let_go`.
        raise NotImplementedError("06.2 Inputs and outputs is yours to write")

    def rebuild(self, array: Any, node: Any) -> Any:
        """Rebuild the tensor from an array, with its version counter and its history."""
        # 06.2 Inputs and outputs: see the task at `SavedTensor.let_go`.
        raise NotImplementedError("06.2 Inputs and outputs is yours to write")

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
        # 06.3 Packing (about 12 lines)
        # `pack` stores what the hook returns for `tensor`, and drops what was saved.
        # `unpacked` calls the second function in `self.hooks` with it, and returns an array.
        #   saved.pack(lambda t: "two", x)   -> saved.packed "two"; tensor and _array None
        #   the pack hook writes to x        -> RuntimeError(PACK_HOOK_WRITES)
        #   the unpack hook returns y        -> unpacked() is y._array
        #   the unpack hook returns 2.0      -> TypeError(NOT_UNPACKED.format("float")), the name of its type
        # Mind:
        # - The pack hook is the user's code, so it runs without being recorded.
        # - A write before the hook runs does no harm.
        # - Remember the place in the graph before you drop the tensor.
        # - Any object with an `_array` is a tensor.
        # Use: `with having(grad_enabled, False):`, `version_of`, `self.remember_place()`.
        raise NotImplementedError("06.3 Packing is yours to write")

    def remember_place(self) -> None:
        """Remember which node receives an input's gradient, so that the tensor can be dropped."""
        if self.tensor is not None and self.requires_grad:
            self.origin = self.tensor._edge()[0]

    @under_callers_settings
    def unpacked(self) -> Any:
        """Return the array of the tensor that the unpack hook makes from `packed`."""
        # 06.3 Packing: see the task at `SavedTensor.pack`.
        raise NotImplementedError("06.3 Packing is yours to write")

    def unpack_array(self, node: Any) -> Any:
        """Return the bare array, in the dtype that the forward used."""
        array = self.unpack(node)._array
        return array if self.cast is None else array.astype(self.cast, copy=False)

    def release(self) -> None:
        """Drop the tensor; from now on, `unpack` raises."""
        self._array = self.tensor = self.packed = self.hooks = self.origin = None
