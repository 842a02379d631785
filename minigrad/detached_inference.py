"""Version counters where what is and what was an inference tensor meet.

As in PyTorch, what was detached from an inference tensor outside of the mode still is one, which
nothing may save, but it may be written to, and writes outside of the mode are counted.  And
`x.data = y` makes x an inference tensor if y is one, while x keeps its counter, or lack of one.
"""

from __future__ import annotations

from typing import Any

from . import _state
from .saved import INFERENCE, InferenceVersion, Version


class DetachedInferenceVersion(InferenceVersion):
    """How often a detached inference tensor was written to outside of inference mode."""

    __slots__ = ("count",)

    def __init__(self, count: int = 0) -> None:
        self.count = count

    def bump(self) -> None:
        """Count one write, unless inference mode is on."""
        if not _state.inference_enabled.get():
            self.count += 1


class LostVersion:
    """The counter of what is no longer an inference tensor, but never got a version."""

    __slots__ = ()

    @property
    def value(self) -> int:
        """Raise: there is no version."""
        raise RuntimeError("Inference tensors do not track version counter.")

    def bump(self) -> None:
        """Allow writes inside inference mode only."""
        INFERENCE.bump()


LOST = LostVersion()


def is_inference(counter: Any) -> bool:
    """Tell whether a counter is that of an inference tensor.

    >>> is_inference(None)
    False
    """
    return isinstance(counter, InferenceVersion)


def detached(counter: Any) -> Any:
    """Return the counter of what is detached from an inference tensor with this one."""
    return counter if _state.inference_enabled.get() else DetachedInferenceVersion()


def with_data_of(counter: Any, other: Any) -> Any:
    """Return the counter of x after `x.data = y`, from theirs before."""
    if counter is INFERENCE or counter is LOST:
        return INFERENCE if is_inference(other) else LOST
    if is_inference(other):
        count = counter.count if is_inference(counter) else counter.value if counter else 0
        return DetachedInferenceVersion(count)
    if is_inference(counter):
        counted = Version()
        counted.value = counter.count
        return counted
    return counter
