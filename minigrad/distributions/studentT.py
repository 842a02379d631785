"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .utils import standard_normal

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t distribution with `df` degrees of freedom, a location and a scale.

    >>> import minigrad as torch
    >>> from minigrad.distributions import StudentT
    >>> heavy = StudentT(torch.tensor([1.0, 2.0, 30.0]))
    >>> heavy.variance, heavy.log_prob(torch.tensor(4.0))
    (tensor([   nan,    inf, 1.0714]), tensor([-3.9779, -4.3356, -7.5527]))
    >>> _ = torch.manual_seed(0)
    >>> heavy.sample()
    tensor([ 2.2301, -0.2859, -1.9826])
    """

    arg_constraints: Any = {"df": constraints.positive, "loc": constraints.real,
                            "scale": constraints.positive}
    support: Any = constraints.real
    has_rsample = True
    _expanded = {"df": 0, "loc": 0, "scale": 0, "_chi2": 0}
    df: Any
    loc: Any
    scale: Any

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0,
                 validate_args: bool | None = None) -> None:
        self._begin(validate_args, df=df, loc=loc, scale=scale)
        self._chi2 = Chi2(self.df)

    @property
    def mean(self) -> Tensor:
        """`loc` for df > 1, else NaN."""
        return F.where(self.df <= 1, math.nan, self.loc)

    @property
    def mode(self) -> Tensor:
        """`loc`."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """scale**2 df / (df - 2) for df > 2, infinite for 1 < df <= 2, otherwise NaN."""
        finite = self.scale.pow(2) * self.df / (self.df - 2)
        return F.where(self.df > 2, finite, F.where(self.df > 1, math.inf, math.nan))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw a normal number and divide by sqrt(x / df), with x from Chi2(df)."""
        shape = self._extended_shape(sample_shape)
        normal = standard_normal(shape, self.df)
        return self.loc + self.scale * normal * F.rsqrt(self._chi2.rsample(sample_shape) / self.df)

    def log_prob(self, value: Any) -> Tensor:
        """Return the log density."""
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        constant = (self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
                    + F.lgamma(0.5 * self.df) - F.lgamma(0.5 * (self.df + 1)))
        return -0.5 * (self.df + 1) * F.log1p(y**2 / self.df) - constant

    def entropy(self) -> Tensor:
        """Return the entropy."""
        half = 0.5 * self.df
        log_beta = F.lgamma(half) + math.lgamma(0.5) - F.lgamma(half + 0.5)
        return (self.scale.log() + (half + 0.5) * (F.digamma(half + 0.5) - F.digamma(half))
                + 0.5 * self.df.log() + log_beta)
