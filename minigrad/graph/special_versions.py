"""Version counters of inference tensors, and of tensors after `detach_()`.

They replace a `Version` if a tensor has no version, or if values that were saved earlier must no
longer be used; see NOTE [Versions] in version.py.
"""

from __future__ import annotations

from typing import Any

from .. import _state
from .version import Version


class InferenceVersion:
    """The counter of inference tensors, which have no version, so no node can save them."""

    __slots__ = ()

    @property
    def value(self) -> int:
        """Raise: a tensor without a version cannot be checked at backward."""
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
            "inference mode in computation tracked by autograd. To work around this, you can make "
            "a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` "
            "instead of `torch.inference_mode()`."
        )

    def bump(self) -> None:
        """Allow writes inside inference mode only."""
        if not _state.inference_enabled.get():
            raise RuntimeError(
                "Inplace update to inference tensor outside InferenceMode is not allowed."
                "You can make a clone to get a normal tensor before doing inplace update."
                "See https://github.com/pytorch/rfcs/pull/17 for more details."
            )


INFERENCE = InferenceVersion()


class Detached(int):
    """A version read after the `times`-th `detach_()`; it differs from every earlier one."""

    times: int

    def __eq__(self, other: object) -> bool:
        return type(other) is Detached and int(self) == int(other) and self.times == other.times

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__


class DetachedVersion:
    """The counter of a tensor after `detach_()`; it still counts in the one shared before.

    A node that saved the tensor relies on its history: without it, a formula would silently lose
    second derivatives.  Unpacking the tensor therefore raises, as it does after a write.
    """

    __slots__ = ("shared", "times")

    def __init__(self, counter: Any) -> None:
        again = isinstance(counter, DetachedVersion)
        self.shared = counter.shared if again else counter
        self.times = counter.times + 1 if again else 1

    @property
    def value(self) -> int:
        """The version, marked with the number of `detach_()` calls so far."""
        version = Detached(self.shared.value)
        version.times = self.times
        return version

    @value.setter
    def value(self, value: int) -> None:
        self.shared.value = int(value)

    def bump(self) -> None:
        """Count one write."""
        self.shared.bump()


class DetachedInferenceVersion(InferenceVersion):
    """Counts the writes to a detached inference tensor outside of inference mode."""

    __slots__ = ("count",)

    def __init__(self, count: int = 0) -> None:
        self.count = count

    def bump(self) -> None:
        """Count one write, unless inference mode is on."""
        if not _state.inference_enabled.get():
            self.count += 1


class LostVersion:
    """The counter of a tensor that was an inference tensor, so it has no version."""

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
    """Return whether a counter belongs to an inference tensor.

    >>> is_inference(None)
    False
    """
    return isinstance(counter, InferenceVersion)


def detached(counter: Any) -> Any:
    """Return the counter of a tensor detached from an inference tensor with this counter."""
    return counter if _state.inference_enabled.get() else DetachedInferenceVersion()


def with_data_of(counter: Any, other: Any) -> Any:
    """Return the counter of `x` after `x.data = y`, given the counters of both before."""
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
