"""SavedTensor, a type for `isinstance`; only the engine creates such objects."""

from __future__ import annotations

from typing import Any

from ..graph import saved_tensor as saved

__all__ = ["SavedTensor"]


class _SavedTensorMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, saved.SavedTensor)


class SavedTensor(metaclass=_SavedTensorMeta):
    """The type of a node's `_raw_saved_...` attributes, with `register_hooks`.

    >>> SavedTensor()
    Traceback (most recent call last):
        ...
    RuntimeError: Trying to create a SavedTensor object from Python is forbidden.
    """

    def __new__(cls) -> Any:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")
