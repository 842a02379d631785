"""The chi-squared distribution."""

from __future__ import annotations

from typing import Any

from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of `df` squared standard normal numbers: Gamma(df / 2, 1 / 2).

    >>> Chi2(3.0).mean
    tensor(3.)
    """

    arg_constraints: Any = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distribution with its batch expanded."""
        new = self._get_checked_instance(Chi2, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2
