"""`utils.hooks`: handles that remove hooks, and a marker for hooks.

Source: https://docs.pytorch.org/docs/stable/generated/torch.utils.hooks.RemovableHandle.html
"""

from __future__ import annotations

from typing import Any

from ..graph.hooks import RemovableHandle
from ..tensor.protocols import warn_if_has_hooks

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Any) -> Any:
    """Mark a hook as not saved with its tensor, to suppress the warning about it.

    >>> def hook(grad): return grad
    >>> unserializable_hook(hook).__torch_unserializable__
    True
    """
    f.__torch_unserializable__ = True
    return f
