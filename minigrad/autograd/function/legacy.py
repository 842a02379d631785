"""Deprecated uses of a Function and its context warn or raise with an explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...frames import warn_user
from ...tensor.tensor import Tensor

#: Attributes of a node; reading one from an instance of a Function raises an error that explains
#: it.
_OF_NODES = {"_do_backward", "_raw_saved_tensors", "metadata", "name", "next_functions",
             "register_hook", "register_prehook", "saved_tensors", "saved_variables"}


class LegacyContext:
    """Deprecated methods of a context."""

    if TYPE_CHECKING:
        @property
        def saved_tensors(self) -> tuple[Tensor, ...]: ...

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """Deprecated: use `saved_tensors`."""
        warn_user("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        saved: tuple[Any, ...] = self.saved_tensors
        return saved

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Warn that this method is deprecated, because shared storages need no declaration."""
        warn_user("`mark_shared_storage` is deprecated. Tensors with shared storages are "
                  "automatically tracked. Note that calls to `set_()` are not tracked",
                  FutureWarning)


class LegacyFunction:
    """Deprecated instances of a Function: call the class's `apply` instead."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn_user(f"{type(self)} should not be instantiated. Methods on autograd functions are "
                  "all static, so you should invoke them on the class itself. Instantiating an "
                  "autograd function will raise an error in a future version of PyTorch.",
                  DeprecationWarning)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. "
                           "Please use new-style autograd function with static forward method. "
                           "(Example: https://pytorch.org/docs/stable/autograd.html"
                           "#torch.autograd.Function)")

    def __getattr__(self, name: str) -> Any:
        if name in _OF_NODES:
            raise RuntimeError(
                f"Attribute '{name}' is invalid for this instance of _C._FunctionBase. Accessing "
                "this attribute directly on an instance of autograd.Function is a legacy access "
                "pattern that is no longer supported. For examples on how to use new-style "
                "autograd functions, see "
                "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function ")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
