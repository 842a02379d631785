"""`torch.torch_version`: a version that compares with strings and tuples.

Source: https://github.com/pytorch/pytorch/blob/v2.13.0/torch/torch_version.py
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

__all__ = ["FOLLOWED", "TorchVersion"]

#: The version of PyTorch whose behavior minigrad follows.
FOLLOWED = "2.13.0"

#: Release numbers, a mark for what precedes the release, and a local name.
PATTERN = re.compile(r"v?(\d+(?:\.\d+)*)[._-]?((?:a|alpha|b|beta|rc|dev)[._-]?\d*)?.*?(\+\S+)?$")


def _key(version: Any) -> Any:
    """Return what a version is sorted by, or `None` if it is no version.

    >>> _key("1.9") < _key("1.10.0rc1") < _key((1, 10))
    True
    """
    if isinstance(version, Iterable) and not isinstance(version, str):
        version = ".".join(map(str, version))
    found = PATTERN.match(version) if isinstance(version, str) else None
    if found is None:
        return None
    numbers = [int(each) for each in found[1].split(".")]
    while numbers and numbers[-1] == 0:
        del numbers[-1]
    return numbers, found[2] is None, found[3] or ""


class TorchVersion(str):
    """A string that compares with strings, tuples and other versions by their numbers.

    >>> TorchVersion("2.10") > "2.9", TorchVersion("2.10") >= (2, 10)
    (True, True)
    """

    __slots__ = ()

    def _compared(self, other: Any) -> int:
        mine, theirs = _key(str(self)), _key(other)
        if mine is None or theirs is None:
            mine, theirs = str(self), str(other)
        return (mine > theirs) - (mine < theirs)

    def __gt__(self, other: Any) -> bool:
        return self._compared(other) > 0

    def __lt__(self, other: Any) -> bool:
        return self._compared(other) < 0

    def __eq__(self, other: object) -> bool:
        return self._compared(other) == 0

    def __ge__(self, other: Any) -> bool:
        return self._compared(other) >= 0

    def __le__(self, other: Any) -> bool:
        return self._compared(other) <= 0

    __hash__ = str.__hash__
    __ne__ = str.__ne__  # as in PyTorch
