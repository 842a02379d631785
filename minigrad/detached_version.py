"""The version counter of a tensor that `detach_()` took out of its graph."""

from __future__ import annotations

from typing import Any


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

    What had saved the tensor had saved its history too: a formula that went on without that would
    lose second derivatives in silence.  So it is refused as if the tensor had been written to.
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
