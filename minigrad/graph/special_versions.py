"""Version counters of inference tensors, and of tensors after `detach_()`.

They stand in the place of a `Version` where a tensor has no version, or where what was saved
before must not be used any more; see NOTE [Versions] in version.py.
"""

from __future__ import annotations

from typing import Any

from .. import _state
from .version import Version


class InferenceVersion:
    """The counter of inference tensors: they have no version, so nothing may save them."""

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
    """A version of a tensor after its `detach_()` number `times`: it equals none from before."""

    times: int

    def __eq__(self, other: object) -> bool:
        return type(other) is Detached and int(self) == int(other) and self.times == other.times

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__


class DetachedVersion:
    """The counter of a tensor after `detach_()`, which counts with the one it shared before.

    A node that saved the tensor saved its history too; without the history a formula would lose
    second derivatives in silence.  So its use is refused as if the tensor had been written to.
    """

    __slots__ = ("shared", "times")

    def __init__(self, counter: Any) -> None:
        again = isinstance(counter, DetachedVersion)
        self.shared = counter.shared if again else counter
        self.times = counter.times + 1 if again else 1

    @property
    def value(self) -> int:
        """The version, as one since the last `detach_()`."""
        version = Detached(self.shared.value)
        version.times = self.times
        return version

    @value.setter
    def value(self, value: int) -> None:
        self.shared.value = int(value)

    def bump(self) -> None:
        """Count one write."""
        self.shared.bump()


# Inference tensors outside of inference mode.
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
    """The counter of a tensor that is no longer an inference tensor and has no version."""

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
    """Return the counter of a tensor detached from an inference tensor with this counter."""
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
