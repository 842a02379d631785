# Stage 05, Hooks: the exercise for minigrad/engine/hooks.py.
# Made by `minigrad dev build`. The lesson is lessons/05_hooks.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 05
# docs/en/glossary.md explains the names used inside the package.

"""Running hooks in a backward pass: what each receives, and what it may return.

The functions here take gradients as users see them, as tensors or `None`; the pass converts arrays
to tensors before a call and back afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..backend.float_errors import under_callers_settings
from ..dtypes import type_name
from ..frames import type_in_error
from ..graph.accumulate_grad import lock_of
from ..graph.hooks import Table
from ..tensor.tensor import Tensor

Gradients = tuple[Tensor | None, ...]

#: Error messages; `.format` fills in names and numbers.
NO_GRADIENT = "can't replace a None gradient with a non-None value"
NOT_A_TENSOR = "expected Variable, but hook returned '{}'"
SIZE_CHANGED = "hook '{}' has changed the size of value"
NOT_A_TUPLE = "expected tuple, but hook returned '{}'"
WRONG_NUMBER = "hook '{}' has returned an incorrect number of values (got {}, but expected {})"


def check_hook_result(hook: Callable[..., Any], replaced: Any, given: Tensor | None) -> None:
    """Raise unless a hook's result can replace the gradient that the hook received."""
    # 05.2 Checking a hook's result (about 15 lines)
    # `run_tensor_hooks` calls the hooks in each table with the gradient of that output.
    # If a hook's result passes `check_hook_result`, it replaces the gradient in `grads`.
    # The check raises the first error that applies:
    #   run_tensor_hooks({1: {7: double, 9: add_one}}, grads)   grads [2., 3.] -> [2., 7.]
    #   given is None                   -> RuntimeError(NO_GRADIENT)
    #   replaced is 2.0, no Tensor      -> TypeError(NOT_A_TENSOR.format("float"))
    #   float64 for float32             -> dtype_changed(name, given, replaced)
    #   shape (3, 2) for (2, 3), or ()  -> RuntimeError(SIZE_CHANGED.format(name))
    # Mind:
    # - None keeps the gradient and isn't checked; zero replaces it.
    # - While it runs, a hook may remove itself or register other hooks, even for an
    #   output without hooks. New hooks wait for the next pass.
    # - Compare the dtypes and shapes of the arrays (`_array`); strides may differ.
    raise NotImplementedError("05.2 Checking a hook's result is yours to write")


def dtype_changed(name: str, given: Tensor, replaced: Tensor) -> RuntimeError:
    """Return the error for a hook that changed the dtype of its gradient."""
    was, got = type_name(given.dtype), type_name(replaced.dtype)
    return RuntimeError(f"hook '{name}' has changed the type of value (was torch.{was}Tensor "
                        f"got torch.{got}Tensor)")


def hook_name(hook: Callable[..., Any]) -> str:
    """Return the name of a hook, which may be any callable."""
    return getattr(hook, "__name__", type(hook).__name__)


@under_callers_settings
def run_tensor_hooks(tables: Mapping[int, Table], grads: list[Tensor | None]) -> None:
    """Call the hooks of each output with its gradient; a result other than `None` replaces it.

    `tables` maps outputs of one node to their hooks, and `grads` holds the gradients of all
    outputs.  If an output received no gradient, its hooks are called with `None`.
    """
    # 05.2 Checking a hook's result: see the task at `check_hook_result`.
    raise NotImplementedError("05.2 Checking a hook's result is yours to write")


def keep_retained(retained: Mapping[int, Any], grads: list[Tensor | None]) -> None:
    """Add gradients to `.grad` of the tensors that called `retain_grad` and are still alive."""
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


@under_callers_settings
def run_pre_hooks(hooks: Table, grads: Gradients) -> Gradients:
    """Call a node's pre-hooks with its incoming gradients; return the ones that replace them."""
    # 05.5 Hooks on nodes (about 16 lines)
    # The engine calls a pre-hook as hook(grads), with the gradients that the node
    # receives, and an ordinary hook as hook(results, grads), with the gradients that it
    # returns and receives. Both runners return the gradients to pass on; `checked_tuple`
    # determines them after each hook. If given is (g1, g2) and the hook returns
    #   None        -> (g1, g2), given itself
    #   (h1, None)  -> (h1, None): no gradient for the second
    #   [h1, h2]    -> TypeError(NOT_A_TUPLE.format("list"))
    #   (h1,)       -> RuntimeError(WRONG_NUMBER.format(hook_name(hook), 1, 2))
    # Mind:
    # - Each hook receives what the one before it left.
    # - Each value except None goes through `check_hook_result`, together with the
    #   gradient it replaces.
    # - Hooks may be added or removed meanwhile, as in 05.2.
    raise NotImplementedError("05.5 Hooks on nodes is yours to write")


@under_callers_settings
def run_post_hooks(hooks: Table, results: Gradients, grads: Gradients) -> Gradients:
    """Call a node's hooks with its results and its incoming gradients; return the new results."""
    # 05.5 Hooks on nodes: see the task at `run_pre_hooks`.
    raise NotImplementedError("05.5 Hooks on nodes is yours to write")


def checked_tuple(hook: Callable[..., Any], replaced: Any, given: Gradients) -> Gradients:
    """Return a hook's result after checking it, or the gradients it was given if that is `None`."""
    # 05.5 Hooks on nodes: see the task at `run_pre_hooks`.
    raise NotImplementedError("05.5 Hooks on nodes is yours to write")


@under_callers_settings
def run_after_accumulation(hooks: Table, tensor: Tensor) -> None:
    """Call the hooks of a leaf that run after backward has added to its `.grad`."""
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


def refuse_answer(answer: Any, tensor: Tensor | None = None) -> None:
    """Raise if a hook that cannot replace anything returned a value other than its `tensor`."""
    if answer is None or answer is tensor:
        return
    if not isinstance(answer, Tensor):
        raise TypeError(NOT_A_TENSOR.format(type_in_error(answer)))
    raise RuntimeError("Tensor post accumulate grad hooks should return None.")
