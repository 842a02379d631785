"""SavedTensor as users see it: a type to test for, whose objects only the engine makes."""

from __future__ import annotations

from typing import Any

from ..graph import saved_tensor as saved

__all__ = ["SavedTensor"]


class _SavedTensorMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, saved.SavedTensor)


class SavedTensor(metaclass=_SavedTensorMeta):
    """The type of what `_raw_saved_...` of a node returns; see `register_hooks` there.

    >>> SavedTensor()
    Traceback (most recent call last):
        ...
    RuntimeError: Trying to create a SavedTensor object from Python is forbidden.
    """

    def __new__(cls) -> Any:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")
