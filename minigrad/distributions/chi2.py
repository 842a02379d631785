"""The chi-squared distribution."""

from __future__ import annotations

from typing import Any

from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of the squares of `df` standard normal numbers: Gamma(df / 2, 1 / 2).

    >>> import minigrad as torch
    >>> from minigrad.distributions import Chi2
    >>> chi2 = Chi2(torch.tensor([1.0, 3.0]))
    >>> chi2.df, chi2.mean, chi2.variance
    (tensor([1., 3.]), tensor([1., 3.]), tensor([2., 6.]))
    >>> _ = torch.manual_seed(0)
    >>> chi2.sample()
    tensor([0.0016, 0.7008])
    """

    arg_constraints: Any = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2
