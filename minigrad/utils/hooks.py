"""`utils.hooks`: handles that remove hooks, and a marker for hooks.

Source: https://docs.pytorch.org/docs/stable/generated/torch.utils.hooks.RemovableHandle.html
"""

from __future__ import annotations

from typing import Any

from ..frames import warn_user
from ..graph.hooks import RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Any) -> Any:
    """Mark a hook as not saved with its tensor, to suppress the warning about it.

    >>> def hook(grad): return grad
    >>> unserializable_hook(hook).__torch_unserializable__
    True
    """
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn about each unmarked hook that is lost when its tensor is saved."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warn_user(f"backward hook {hook!r} on tensor will not be serialized.  If this is "
                      "expected, you can decorate the function with "
                      "@torch.utils.hooks.unserializable_hook to suppress this warning",
                      UserWarning)
