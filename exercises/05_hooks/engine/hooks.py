# Stage 05, Hooks: the exercise for minigrad/engine/hooks.py.
# Made by `minigrad dev build`. The lesson is lessons/05_hooks.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 05
# Names of the package's inside are explained in docs/en/glossary.md.

"""Running hooks in a backward pass: what each is given, and what its answer may be.

All functions here take gradients as the user sees them, as tensors or None; the pass makes them
from arrays and takes arrays back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..dtypes import type_name
from ..graph.accumulate_grad import lock_of
from ..graph.hooks import Table
from ..tensor.tensor import Tensor

Gradients = tuple[Tensor | None, ...]


def check_hook_result(hook: Callable[..., Any], replaced: Any, given: Tensor | None) -> None:
    """Raise unless what a hook returned can stand for the gradient it was given."""
    # 05.2 What a hook may answer (about 11 lines)
    # Raise unless `replaced`, which `hook` returned, can stand for the gradient `given`
    # (a Tensor or None). In this order: if given is None, RuntimeError "can't replace a
    # None gradient with a non-None value". If replaced is no Tensor, TypeError "expected
    # Variable, but hook returned 'KIND'", with the name of its type. If its dtype
    # differs, RuntimeError "hook 'NAME' has changed the type of value (was
    # torch.FloatTensor got torch.DoubleTensor)", for NAME with hook_name(hook), for Float
    # and Double with type_name(given.dtype) and type_name(replaced.dtype). If its shape
    # differs in any way, RuntimeError "hook 'NAME' has changed the size of value".
    # Otherwise return nothing. Compare the dtype and shape of the arrays, which lie in
    # _array.
    raise NotImplementedError("05.2 What a hook may answer is yours to write")


def hook_name(hook: Callable[..., Any]) -> str:
    """Return the name of a hook, which may be any callable."""
    return getattr(hook, "__name__", type(hook).__name__)


def run_tensor_hooks(tables: Mapping[int, Table], grads: list[Tensor | None]) -> None:
    """Show each gradient to the hooks of its tensor in turn; what one returns takes its place.

    `tables` holds the hooks of outputs of one node, `grads` the gradients of all its outputs.
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


def keep_retained(retained: Mapping[int, Any], grads: list[Tensor | None]) -> None:
    """Add gradients to `.grad` of the tensors that asked for them and are still there."""
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


def run_pre_hooks(hooks: Table, grads: Gradients) -> Gradients:
    """Call a node's pre-hooks with what it receives; return what it is to receive."""
    # 05.5 Hooks of nodes (about 17 lines)
    # run_pre_hooks(hooks, grads): call each hook of the table in order as hook(grads),
    # with the tuple of the gradients that the node is about to receive; return the tuple
    # that it is to receive. run_post_hooks(hooks, results, grads): call each as
    # hook(results, grads), with the gradients that the node gave for its inputs and those
    # that it received; return the results that go on. In both, checked_tuple decides what
    # goes on, and each hook gets what the one before it left; go through a copy of the
    # table. checked_tuple(hook, replaced, given): if the hook returned None, return
    # given. Otherwise its result has to be a tuple, or TypeError "expected tuple, but
    # hook returned 'KIND'"; of as many values, or RuntimeError "hook 'NAME' has returned
    # an incorrect number of values (got 1, but expected 2)", with hook_name(hook). Each
    # value that is not None is checked with check_hook_result against the value given in
    # its place; None is allowed and means no gradient. Return the tuple.
    raise NotImplementedError("05.5 Hooks of nodes is yours to write")


def run_post_hooks(hooks: Table, results: Gradients, grads: Gradients) -> Gradients:
    """Call a node's hooks with what it gave and what it received; return what goes on."""
    # 05.5 Hooks of nodes: see the task at `run_pre_hooks`.
    raise NotImplementedError("05.5 Hooks of nodes is yours to write")


def checked_tuple(hook: Callable[..., Any], replaced: Any, given: Gradients) -> Gradients:
    """Return the gradients that go on after a node's hook: its result, or what it was given."""
    # 05.5 Hooks of nodes: see the task at `run_pre_hooks`.
    raise NotImplementedError("05.5 Hooks of nodes is yours to write")


def run_after_accumulation(hooks: Table, tensor: Tensor) -> None:
    """Call the hooks of a leaf that wait until backward has added to its `.grad`."""
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
