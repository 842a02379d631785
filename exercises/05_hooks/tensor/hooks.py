# Stage 05, Hooks: the exercise for minigrad/tensor/hooks.py.
# Made by `minigrad dev build`. The lesson is lessons/05_hooks.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 05
# Names of the package's inside are explained in docs/en/glossary.md.

"""Tensor hooks, and `retain_grad`, which keeps `.grad` of a tensor that is no leaf.

Both are kept at the node that the gradient goes to, under the number of the tensor there, so that
a backward pass finds them without the tensor.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from weakref import ref

from ..graph.hooks import RemovableHandle, Table, register


class GradientHooks:
    """The part of `Tensor` that asks for its gradient."""

    __slots__ = ()

    @property
    def retains_grad(self: Any) -> bool:
        """Whether `.grad` of this non-leaf is filled by backward."""
        return self._extras is not None and self._extras.retains_grad

    def retain_grad(self: Any) -> None:
        """Have backward fill `.grad` of this tensor, though it is no leaf."""
        # 05.4 retain_grad (about 14 lines)
        # retain_grad(): RuntimeError "can't retain_grad on Tensor that has
        # requires_grad=False" if the tensor does not require grad. For a leaf (grad_fn is
        # None), or where it was asked for already, do nothing. Otherwise set retains_grad of
        # self._autograd_meta() to True and put a weak reference to the tensor, ref(self),
        # into the node's _extras().retained under the number self._index.
        # keep_retained(retained, grads): `retained` maps numbers of outputs to weak
        # references, `grads` is the list of the gradients of all outputs (Tensor or None).
        # For each whose tensor is still alive and whose gradient is not None: if the tensor's
        # _grad is None, it becomes a clone of the gradient, with memory of its own; otherwise
        # it becomes the sum of both, a new tensor. The others are passed over.
        raise NotImplementedError("05.4 retain_grad is yours to write")

    def register_hook(self: Any, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad)` when this tensor's gradient is computed; a result replaces it.

        >>> from minigrad import tensor
        >>> x = tensor(3.0, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad * 10)
        >>> (x * x).backward(); x.grad
        tensor(60.)
        """
        # 05.3 Hooks of tensors (about 23 lines)
        # register_hook(hook): RuntimeError "cannot register a hook on a tensor that doesn't
        # require gradient" if the tensor does not require grad; otherwise register the hook
        # in the tensor's table (hook_table) and return the handle. hook_table(tensor): return
        # the table of the tensor's hooks, made when there is none yet, always the same one
        # for the same tensor. For the output of a node (tensor.grad_fn) it lies in
        # node._extras().tensor, a dict, under the number tensor._index. For a leaf it is kept
        # in tensor._autograd_meta().hooks (None at first), and the same table is put under 0
        # in _extras().tensor of tensor._accumulator(), its AccumulateGrad, so that a graph
        # that exists already finds it. run_tensor_hooks(tables, grads): `tables` maps numbers
        # of outputs to tables, `grads` is the list of the gradients of all outputs (Tensor or
        # None), changed in place. Call every hook of each table, in order, with the gradient
        # as it is now; where a hook returns something other than None, check it with
        # check_hook_result(hook, result, gradient) and put it into grads, for the next hook
        # too. A hook may remove itself or register others while it runs: go through a copy.
        raise NotImplementedError("05.3 Hooks of tensors is yours to write")

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
            self._autograd_meta().hooks = hooks
            if self._requires_grad:
                self._accumulator()._extras().tensor[0] = hooks or OrderedDict()
        else:
            node._extras().tensor[self._index] = hooks or OrderedDict()

    @_backward_hooks.deleter
    def _backward_hooks(self: Any) -> None:
        raise RuntimeError("Deletion of _backwards_hooks not allowed!")

    def register_post_accumulate_grad_hook(self: Any, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(tensor)` after backward has accumulated into this leaf's `.grad`."""
        # 05.6 After the gradient is in .grad (about 15 lines)
        # register_post_accumulate_grad_hook(hook): RuntimeError "cannot register a hook on a
        # tensor that doesn't require gradient" if the tensor does not require grad;
        # RuntimeError "post accumulate grad hooks cannot be registered on non-leaf tensors"
        # if it has a grad_fn. The table is post_accumulate of self._autograd_meta(), None at
        # first; make it when there is none, register the hook in it and return the handle.
        # run_after_accumulation(hooks, tensor): the leaf's .grad is complete; call each hook
        # of the table `hooks`, in order, with the tensor itself. Go through a copy of the
        # table. A hook that returns anything but None is a RuntimeError 'Tensor post
        # accumulate grad hooks should return None.' (of what is no tensor PyTorch says
        # TypeError "expected Variable, but hook returned 'int'", which is as good here).
        raise NotImplementedError("05.6 After the gradient is in .grad is yours to write")


def hook_table(tensor: Any) -> Table:
    """Return the table of a tensor's hooks, where backward finds it; made when there is none.

    It lies with the node that the gradient goes to, under the number of the tensor there.  A leaf
    keeps it too: its `AccumulateGrad` may go with the graph, and the next one gets the same table.
    """
    # 05.3 Hooks of tensors: see the task at `GradientHooks.register_hook`.
    raise NotImplementedError("05.3 Hooks of tensors is yours to write")
