"""Distributions that are shifted by `loc` and scaled by `scale`, symmetric around `loc`."""

from __future__ import annotations

from typing import Any

from ..tensor.tensor import Tensor
from . import constraints
from .distribution import Distribution

__all__ = ["LocationScale"]


class LocationScale(Distribution):
    """A distribution over the reals with mean and mode `loc`, and a positive `scale`."""

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real
    has_rsample = True
    _expanded = {"loc": 0, "scale": 0}
    loc: Any
    scale: Any

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._begin(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        """`loc`."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """`loc`."""
        return self.loc
