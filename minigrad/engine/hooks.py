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
    name = hook_name(hook)
    if given is None:
        raise RuntimeError(NO_GRADIENT)
    if not isinstance(replaced, Tensor):
        raise TypeError(NOT_A_TENSOR.format(type_in_error(replaced)))
    if replaced._array.dtype != given._array.dtype:
        raise dtype_changed(name, given, replaced)
    if replaced._array.shape != given._array.shape:
        raise RuntimeError(SIZE_CHANGED.format(name))


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
    for index, hooks in list(tables.items()):
        for hook in list(hooks.values()):
            replaced = hook(grads[index])
            if replaced is not None:
                check_hook_result(hook, replaced, grads[index])
                grads[index] = replaced


def keep_retained(retained: Mapping[int, Any], grads: list[Tensor | None]) -> None:
    """Add gradients to `.grad` of the tensors that called `retain_grad` and are still alive."""
    for index, reference in list(retained.items()):
        tensor, grad = reference(), grads[index]
        if tensor is None or grad is None:
            continue
        with lock_of(tensor):
            before = tensor._grad
            tensor._grad = grad.clone() if before is None else before + grad


@under_callers_settings
def run_pre_hooks(hooks: Table, grads: Gradients) -> Gradients:
    """Call a node's pre-hooks with its incoming gradients; return the ones that replace them."""
    for hook in list(hooks.values()):
        grads = checked_tuple(hook, hook(grads), grads)
    return grads


@under_callers_settings
def run_post_hooks(hooks: Table, results: Gradients, grads: Gradients) -> Gradients:
    """Call a node's hooks with its results and its incoming gradients; return the new results."""
    for hook in list(hooks.values()):
        results = checked_tuple(hook, hook(results, grads), results)
    return results


def checked_tuple(hook: Callable[..., Any], replaced: Any, given: Gradients) -> Gradients:
    """Return a hook's result after checking it, or the gradients it was given if that is `None`."""
    if replaced is None:
        return given
    if not isinstance(replaced, tuple):
        raise TypeError(NOT_A_TUPLE.format(type_in_error(replaced)))
    if len(replaced) != len(given):
        raise RuntimeError(WRONG_NUMBER.format(hook_name(hook), len(replaced), len(given)))
    for result, before in zip(replaced, given, strict=True):
        if result is not None:
            check_hook_result(hook, result, before)
    return replaced


@under_callers_settings
def run_after_accumulation(hooks: Table, tensor: Tensor) -> None:
    """Call the hooks of a leaf that run after backward has added to its `.grad`."""
    for hook in list(hooks.values()):
        refuse_answer(hook(tensor), tensor)


def refuse_answer(answer: Any, tensor: Tensor | None = None) -> None:
    """Raise if a hook that cannot replace anything returned a value other than its `tensor`."""
    if answer is None or answer is tensor:
        return
    if not isinstance(answer, Tensor):
        raise TypeError(NOT_A_TENSOR.format(type_in_error(answer)))
    raise RuntimeError("Tensor post accumulate grad hooks should return None.")
