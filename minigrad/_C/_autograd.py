"""Saved-tensor hooks under the names that PyTorch's compiled module has for them."""

from ..autograd.graph import hooks_disabled_message, pop_hooks, push_hooks
from ..autograd.saved_tensor import SavedTensor

__all__ = ["SavedTensor"]

_push_saved_tensors_default_hooks = push_hooks
_pop_saved_tensors_default_hooks = pop_hooks


def _saved_tensors_hooks_is_enabled() -> bool:
    """Tell whether saved-tensor hooks are allowed."""
    return hooks_disabled_message() is None


def _saved_tensors_hooks_get_disabled_error_message() -> str | None:
    """Return the message of the error for saved-tensor hooks; None while they are allowed."""
    return hooks_disabled_message()
