# Stage 05, Hooks: the exercise for minigrad/tensor/hooks.py.
# Made by `minigrad dev build`. The lesson is lessons/05_hooks.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 05
# docs/en/glossary.md explains the names used inside the package.

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
        # 05.4 retain_grad (about 14 lines)
        # `retain_grad` makes the node keep a weak reference to this result. During a pass,
        # `keep_retained` fills the `_grad` of such tensors: `retained` maps output numbers to
        # references, and `grads` holds the gradients of all outputs.
        #   y.retain_grad()                   -> y.retains_grad, and y is
        #                                        y.grad_fn._extras().retained[y._index]()
        #   keep_retained({1: ref(y)}, [None, g])   -> y._grad is a clone of g
        #   keep_retained({1: ref(y)}, [None, h])   -> y._grad is g + h, a new tensor
        #   torch.ones(2).retain_grad()       -> RuntimeError with CANNOT_RETAIN
        # Mind:
        # - Do nothing for a leaf or on a second call.
        # - Skip a tensor that is gone or a gradient that is None.
        # - Don't detach a gradient, and don't write to one in place.
        # - Several threads may add to one tensor, so read and write `_grad` inside `with
        #   lock_of(tensor):`.
        # Use: `self._ensure_extras().retains_grad`.
        raise NotImplementedError("05.4 retain_grad is yours to write")

    def register_hook(self: Any, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad)` when this tensor's gradient is computed; a result replaces it.

        >>> from minigrad import tensor
        >>> x = tensor(3.0, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad * 10)
        >>> (x * x).backward(); x.grad
        tensor(60.)
        """
        # 05.3 Where a tensor's hooks are stored (about 12 lines)
        # `hook_table` returns the table with a tensor's hooks, and creates it if there isn't
        # one. A backward pass has to find this table without the tensor. `register_hook`
        # registers a hook in it.
        #   y is output 1 of node   hook_table(y) is node._extras().tensor[1]
        #   x is a leaf             hook_table(x) is x._ensure_extras().hooks, None at first,
        #                           and is x._accumulator()._extras().tensor[0]
        #   y.register_hook(hook)   -> the handle; hook_table(y) is the same table as before
        #   torch.ones(2).register_hook(hook)    -> RuntimeError with NEEDS_GRAD
        # Mind:
        # - A leaf outlives its graphs, so give its table to its current AccumulateGrad every
        #   time.
        # Use: `node_with_hooks(tensor)`, which returns None for a leaf; `tensor._index`.
        raise NotImplementedError("05.3 Where a tensor's hooks are stored is yours to write")

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
        # 05.6 Hooks that run after accumulation (about 10 lines)
        # Some hooks on a leaf wait until its `.grad` is complete.
        # `register_post_accumulate_grad_hook` registers one in a separate table; the pass
        # calls `run_after_accumulation(table, leaf)`.
        #   x.register_post_accumulate_grad_hook(hook)       -> the handle; the table is
        #                                                  x._ensure_extras().post_accumulate
        #   (x * 3).register_post_accumulate_grad_hook(hook)  -> RuntimeError with ONLY_LEAVES
        #   torch.ones(2), in the same way                    -> RuntimeError with NEEDS_GRAD
        #   run_after_accumulation(table, x)                  -> hook(x), for each in order
        # Mind:
        # - The table is None at first, and created only once.
        # - Pass each answer and the tensor to `refuse_answer` before the next hook runs.
        # - Hooks may be added or removed meanwhile, as in 05.2.
        raise NotImplementedError("05.6 Hooks that run after accumulation is yours to write")


def hook_table(tensor: Any) -> Table:
    """Return the table in which backward looks for a tensor's hooks; create it on demand.

    The tensor's node stores the table under the tensor's output number.  A leaf stores the table
    as well, because its `AccumulateGrad` is freed with the graph and the next one must use it too.
    """
    # 05.3 Where a tensor's hooks are stored: see the task at `GradientHooks.register_hook`.
    raise NotImplementedError("05.3 Where a tensor's hooks are stored is yours to write")


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
