# Stage 05, Hooks: the solution for minigrad/tensor/hooks.py.
# Made by `minigrad dev build`. The lesson is lessons/05_hooks.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""Tensor hooks, and `retain_grad`, which keeps `.grad` of a non-leaf tensor.

The tensor's node stores both under the tensor's output number, so that a backward pass finds them
even if the tensor was deleted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from weakref import ref

from ..graph.hooks import RemovableHandle, Table, register

#: Error messages.
NEEDS_GRAD = "cannot register a hook on a tensor that doesn't require gradient"
CANNOT_RETAIN = "can't retain_grad on Tensor that has requires_grad=False"
ONLY_LEAVES = "post accumulate grad hooks cannot be registered on non-leaf tensors"


class GradientHooks:
    """The part of `Tensor` for hooks and retained gradients."""

    __slots__ = ()

    @property
    def retains_grad(self: Any) -> bool:
        """Whether backward sets `.grad` of this non-leaf tensor.

        >>> from minigrad import tensor
        >>> y = tensor(2.0, requires_grad=True) * 3
        >>> y.retain_grad(); y.retains_grad
        True
        """
        return self._extras is not None and self._extras.retains_grad

    def retain_grad(self: Any) -> None:
        """Make backward set `.grad` of this tensor although it is not a leaf.

        >>> from minigrad import tensor
        >>> y = tensor(2.0, requires_grad=True) * 3
        >>> y.retain_grad(); (y * y).backward(); y.grad
        tensor(12.)
        """
        if not self.requires_grad:
            raise RuntimeError(CANNOT_RETAIN)
        if self._node is None or self.retains_grad:  # a view may get its node only below
            return
        node = self.grad_fn
        node._extras().retained[self._index] = ref(self)
        self._ensure_extras().retains_grad = True

    def register_hook(self: Any, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad)` when this tensor's gradient is computed; a result replaces it.

        >>> from minigrad import tensor
        >>> x = tensor(3.0, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad * 10)
        >>> (x * x).backward(); x.grad
        tensor(60.)
        """
        if not self.requires_grad:
            raise RuntimeError(NEEDS_GRAD)
        return register(hook_table(self), hook)

    @property
    def _backward_hooks(self: Any) -> OrderedDict[int, Any] | None:
        node = self.grad_fn
        if node is None:
            return None if self._extras is None else self._extras.hooks
        return None if node.extras is None else node.extras.tensor.get(self._index)

    @_backward_hooks.setter
    def _backward_hooks(self: Any, hooks: OrderedDict[int, Any] | None) -> None:
        node = self.grad_fn
        if node is None:
            self._ensure_extras().hooks = hooks
            if self._requires_grad:
                self._accumulator()._extras().tensor[0] = hooks or OrderedDict()
        else:
            node._extras().tensor[self._index] = hooks or OrderedDict()

    @_backward_hooks.deleter
    def _backward_hooks(self: Any) -> None:
        raise RuntimeError("Deletion of _backwards_hooks not allowed!")

    def register_post_accumulate_grad_hook(self: Any, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(tensor)` after backward has accumulated into this leaf's `.grad`.

        >>> from minigrad import tensor
        >>> x = tensor(2.0, requires_grad=True)
        >>> handle = x.register_post_accumulate_grad_hook(lambda x: print("now", x.grad))
        >>> (x * 3).backward(); (x * 3).backward()
        now tensor(3.)
        now tensor(6.)
        """
        if not self.requires_grad:
            raise RuntimeError(NEEDS_GRAD)
        if self.grad_fn is not None:
            raise RuntimeError(ONLY_LEAVES)
        extras = self._ensure_extras()
        if extras.post_accumulate is None:
            extras.post_accumulate = OrderedDict()
        return register(extras.post_accumulate, hook)


def hook_table(tensor: Any) -> Table:
    """Return the table in which backward looks for a tensor's hooks; create it on demand.

    The tensor's node stores the table under the tensor's output number.  A leaf stores the table
    as well, because its `AccumulateGrad` is freed with the graph and the next one must use it too.
    """
    node = node_with_hooks(tensor)
    if node is not None:
        tables: dict[int, Table] = node._extras().tensor
        return tables.setdefault(tensor._index, OrderedDict())
    extras = tensor._ensure_extras()
    if extras.hooks is None:
        extras.hooks = OrderedDict()
    tensor._accumulator()._extras().tensor[0] = extras.hooks
    return extras.hooks


def node_with_hooks(tensor: Any) -> Any:
    """Return the node that stores a tensor's hooks: its `grad_fn`, or `None` for a leaf.

    A view whose `grad_fn` raises, because its base was written to, keeps its earlier hooks.
    """
    try:
        return tensor.grad_fn
    except RuntimeError:
        node = tensor._node
        if node is None or node.extras is None or tensor._index not in node.extras.tensor:
            raise
        return node
