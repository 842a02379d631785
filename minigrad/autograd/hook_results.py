"""What hooks return, checked before it stands for the gradients that they were given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..apply import type_name
from ..tensor import Tensor


def hook_name(hook: Callable[..., Any]) -> str:
    """Return the name of a hook, which may be any callable."""
    return getattr(hook, "__name__", type(hook).__name__)


def checked_tuple(hook: Callable[..., Any], replaced: Any,
                  given: tuple[Tensor | None, ...]) -> tuple[Tensor | None, ...]:
    """Return the gradients that go on after a node's hook: its result, or what it was given."""
    if replaced is None:
        return given
    if not isinstance(replaced, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(replaced).__name__}'")
    if len(replaced) != len(given):
        raise RuntimeError(f"hook '{hook_name(hook)}' has returned an incorrect number of values "
                           f"(got {len(replaced)}, but expected {len(given)})")
    for result, before in zip(replaced, given, strict=True):
        if result is not None:
            check_hook_result(hook, result, before)
    return replaced


def check_hook_result(hook: Callable[..., Any], replaced: Any, given: Tensor | None) -> None:
    """Raise unless what a hook returned can stand for the gradient it was given."""
    name = hook_name(hook)
    if given is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(replaced, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(replaced).__name__}'")
    if replaced._array.dtype != given._array.dtype:
        was, got = type_name(given.dtype), type_name(replaced.dtype)
        raise RuntimeError(f"hook '{name}' has changed the type of value (was torch.{was}Tensor "
                           f"got torch.{got}Tensor)")
    if replaced._array.shape != given._array.shape:
        raise RuntimeError(f"hook '{name}' has changed the size of value")
