"""A wrapper that treats trailing batch dimensions as part of the event."""

from __future__ import annotations

from typing import Any

from ..tensor.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .utils import sum_rightmost

__all__ = ["Independent"]


class Independent(Distribution):
    """A distribution whose last batch dimensions become part of the event.

    `log_prob` and `entropy` sum over those dimensions.

    >>> from minigrad import ones, zeros
    >>> from minigrad.distributions import Independent, Normal
    >>> vectors = Independent(Normal(zeros(2, 3), ones(2, 3)), 1)
    >>> vectors.batch_shape, vectors.event_shape
    (torch.Size([2]), torch.Size([3]))
    >>> vectors.log_prob(zeros(2, 3)), vectors.support
    (tensor([-2.7568, -2.7568]), IndependentConstraint(Real(), 1))
    """

    arg_constraints: Any = {}
    _kept = ("reinterpreted_batch_ndims",)

    def __init__(self, base_distribution: Any, reinterpreted_batch_ndims: int,
                 validate_args: bool | None = None) -> None:
        batch = len(base_distribution.batch_shape)
        if reinterpreted_batch_ndims > batch:
            raise ValueError("Expected reinterpreted_batch_ndims <= "
                             "len(base_distribution.batch_shape), actual "
                             f"{reinterpreted_batch_ndims} vs {batch}")
        shape = base_distribution.batch_shape + base_distribution.event_shape
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        kept = batch - reinterpreted_batch_ndims
        super().__init__(shape[:kept], shape[kept:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return a distribution with its batch expanded."""
        new = super().expand(batch_shape, _instance)
        inner = self.event_shape[:self.reinterpreted_batch_ndims]
        new.base_dist = self.base_dist.expand(new.batch_shape + inner)
        return new

    @property
    def has_rsample(self) -> Any:
        """Whether the base distribution has `rsample`."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> Any:
        """Whether the base can enumerate its support and no dimension is reinterpreted."""
        return self.base_dist.has_enumerate_support and not self.reinterpreted_batch_ndims

    @constraints.dependent_property
    def support(self) -> Any:
        """The support of the base, with more event dimensions."""
        base = self.base_dist.support
        dims = self.reinterpreted_batch_ndims
        return constraints.independent(base, dims) if dims else base

    @property
    def mean(self) -> Tensor:
        """The mean of the base."""
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        """The mode of the base."""
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        """The variance of the base."""
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw from the base."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw differentiable samples from the base."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Tensor:
        """Return the base's log density, summed over the reinterpreted dimensions."""
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        """Return the base's entropy, summed over the reinterpreted dimensions."""
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return the values of the base.

        Raises `NotImplementedError` if any dimension is reinterpreted.
        """
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError(
                "Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
