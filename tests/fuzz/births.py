"""Versions counted from a tensor's birth, where that began with something nobody has promised.

Of an operation on inference tensors, outside of their mode, PyTorch's result is a normal tensor
whose `_version` tells how often PyTorch has written to it while it made it, and which may be a view
of something that is gone.  How often depends on shape, dtype and the library that did the work (a
convolution: once in float32, twice in float64), so it means nothing.  What is written later does.
"""

from __future__ import annotations

from typing import Any

from .program import target, uses


class Births:
    """The names in a program whose versions are counted from the line that made them."""

    def __init__(self) -> None:
        self.inference: set[str] = set()
        self.born: dict[str, tuple[Any, Any]] = {}

    def note(self, line: str, theirs: Any, ours: Any) -> None:
        """Note what a line has assigned, as both libraries describe it."""
        name = target(line)
        if name is None:
            return
        apart = "inference_mode()" not in line and uses(line) & (self.inference | set(self.born))
        self.inference.discard(name)
        self.born.pop(name, None)
        if has_no_version(theirs):
            self.inference.add(name)
        elif apart:
            self.born[name] = theirs, ours

    def counted(self, name: str | None, theirs: Any, ours: Any) -> tuple[Any, Any]:
        """Return two descriptions with the versions to be compared."""
        if name is None or name not in self.born:
            return theirs, ours
        before, before_ours = self.born[name]
        return since(before, theirs), since(before_ours, ours)


def has_no_version(described: Any) -> bool:
    """Tell whether a description is of an inference tensor, or of several things with one."""
    if isinstance(described, list):
        return any(map(has_no_version, described))
    return isinstance(described, dict) and isinstance(described["version"], str)


def since(before: Any, now: Any) -> Any:
    """Return a description in which versions are counted from an earlier one.

    >>> since({"version": 2}, {"version": 3, "is_view": True})
    {'version': 1}
    """
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        return [since(b, n) for b, n in zip(before, now)]
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return now
    found = {key: value for key, value in now.items() if key != "is_view"}
    if isinstance(before["version"], int) and isinstance(now["version"], int):
        found["version"] -= before["version"]
    return found
