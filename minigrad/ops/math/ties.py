"""Forward rules of ops that break a tie differently than in a backward pass, as in PyTorch."""

from __future__ import annotations

from typing import Any


def tangent_of(tangents: dict[int, Any], position: int) -> Any:
    """Return the tangent of the input at a position, or the number 0 if there is no tangent.

    >>> tangent_of({1: 2.5}, 1), tangent_of({1: 2.5}, 0)
    (2.5, 0.0)
    """
    tangent = tangents.get(position)
    return 0.0 if tangent is None else tangent
