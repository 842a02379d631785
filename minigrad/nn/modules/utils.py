"""Helpers that make tuples of numbers, since layers accept both.

Source: https://github.com/pytorch/pytorch/blob/main/torch/nn/modules/utils.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def _ntuple(n: int) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that repeats a number n times, or turns an iterable into a tuple.

    >>> _ntuple(2)(3), _ntuple(2)([4, 5])
    ((3, 3), (4, 5))
    """

    def parse(value: Any) -> tuple[Any, ...]:
        return tuple(value) if isinstance(value, Iterable) else (value,) * n

    return parse


_single, _pair, _triple, _quadruple = _ntuple(1), _ntuple(2), _ntuple(3), _ntuple(4)
