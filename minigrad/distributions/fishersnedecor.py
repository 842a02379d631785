"""The F distribution."""

from __future__ import annotations

import math
from typing import Any

from ..op.declaration import F
from ..ops.info import finfo
from ..tensor.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .gamma import Gamma

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The ratio of two chi-squared variables, each divided by its degrees of freedom.

    >>> import minigrad as torch
    >>> from minigrad.distributions import FisherSnedecor
    >>> ratio = FisherSnedecor(2.0, torch.tensor([5.0, 50.0]))
    >>> ratio.mean, ratio.variance
    (tensor([1.6667, 1.0417]), tensor([13.8889,  1.1794]))
    >>> _ = torch.manual_seed(0)
    >>> ratio.sample()
    tensor([7.7463, 0.6193])
    """

    arg_constraints: Any = {"df1": constraints.positive, "df2": constraints.positive}
    support: Any = constraints.positive
    has_rsample = True
    _expanded = {"df1": 0, "df2": 0, "_gamma1": 0, "_gamma2": 0}
    df1: Any
    df2: Any

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self._begin(validate_args, df1=df1, df2=df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)

    @property
    def mean(self) -> Tensor:
        """df2 / (df2 - 2) for df2 > 2, else NaN."""
        return F.where(self.df2 > 2, self.df2 / (self.df2 - 2), math.nan)

    @property
    def mode(self) -> Tensor:
        """(df1 - 2) df2 / (df1 (df2 + 2)) for df1 > 2, else NaN."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return F.where(self.df1 > 2, mode, math.nan)

    @property
    def variance(self) -> Tensor:
        """2 df2**2 (df1 + df2 - 2) / (df1 (df2 - 2)**2 (df2 - 4)) for df2 > 4, else NaN."""
        less = self.df2 - 2
        variance = (2 * self.df2.pow(2) * (self.df1 + less)
                    / (self.df1 * less.pow(2) * (self.df2 - 4)))
        return F.where(self.df2 > 4, variance, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw the ratio of two gamma samples."""
        above, below = self._gamma1.rsample(sample_shape), self._gamma2.rsample(sample_shape)
        tiny = finfo(below.dtype).tiny
        below.detach().clamp_(min=tiny)
        ratio = above / below
        ratio.detach().clamp_(min=tiny)
        return ratio

    def log_prob(self, value: Any) -> Tensor:
        """Return the log density."""
        if self._validate_args:
            self._validate_sample(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        return ((half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
                + half1 * ratio.log() + (half1 - 1) * value.log()
                - (half1 + half2) * F.log1p(ratio * value))
