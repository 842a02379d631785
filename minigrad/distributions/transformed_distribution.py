"""The distribution of samples after a transform.

log p(y) = log p(x) - log |dy/dx|, where the transforms map x to y.
"""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..tensor.attributes import Size
from ..tensor.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transform import ComposeTransform, Transform
from .utils import sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of a base's samples after one or more transforms, applied in order.

    Raises `ValueError` if `transforms` contains anything but transforms, or if the base has too few
    dimensions for them.

    >>> import minigrad as torch
    >>> from minigrad.distributions import AffineTransform, Normal, SigmoidTransform
    >>> from minigrad.distributions import TransformedDistribution
    >>> steps = [AffineTransform(1.0, 2.0), SigmoidTransform()]
    >>> share = TransformedDistribution(Normal(0.0, 1.0), steps)
    >>> share.support, share.log_prob(torch.tensor(0.5)), share.cdf(torch.tensor(0.5))
    (Interval(lower_bound=0.0, upper_bound=1.0), tensor(-0.3508), tensor(0.3085))
    >>> _ = torch.manual_seed(0)
    >>> share.sample((2,))
    tensor([0.9834, 0.6018])
    """

    arg_constraints: Any = {}
    _kept: Any = ("transforms",)

    def __init__(self, base_distribution: Any, transforms: Any,
                 validate_args: bool | None = None) -> None:
        if isinstance(transforms, Transform):
            self.transforms = [transforms]
        elif isinstance(transforms, list):
            if not all(isinstance(each, Transform) for each in transforms):
                raise ValueError("transforms must be a Transform or a list of Transforms")
            self.transforms = transforms
        else:
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        whole = ComposeTransform(self.transforms)
        wanted = whole.domain.event_dim
        shape = base_distribution.batch_shape + base_distribution.event_shape
        if len(shape) < wanted:
            raise ValueError("base_distribution needs to have shape with size at least "
                             f"{wanted}, but got {shape}.")
        own = len(base_distribution.event_shape)
        result = Size(whole.forward_shape(shape))
        needed = Size(whole.inverse_shape(result))  # a transform's parameters may broadcast
        if needed != shape:
            base_distribution = base_distribution.expand(needed[:len(needed) - own])
        if wanted > own:
            base_distribution = Independent(base_distribution, wanted - own)
        self.base_dist = base_distribution
        batch = len(result) - whole.codomain.event_dim - max(own - wanted, 0)
        super().__init__(result[:batch], result[batch:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return a distribution with its batch expanded."""
        new = super().expand(batch_shape, _instance)
        shape = ComposeTransform(self.transforms).inverse_shape(new.batch_shape + self.event_shape)
        new.base_dist = self.base_dist.expand(shape[:len(shape) - len(self.base_dist.event_shape)])
        return new

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        """The codomain of the last transform."""
        if not self.transforms:
            return self.base_dist.support
        last = self.transforms[-1].codomain
        more = len(self.event_shape) - last.event_dim
        return constraints.independent(last, more) if more > 0 else last

    @property
    def has_rsample(self) -> Any:
        """Whether the base distribution has `rsample`."""
        return self.base_dist.has_rsample

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw from the base without recording a graph, and transform."""
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw differentiable samples from the base, and transform."""
        return self._transformed(self.base_dist.rsample(sample_shape))

    def _transformed(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Any) -> Tensor:
        """Return the base's log density of the untransformed value, minus log |dy/dx|."""
        if self._validate_args:
            self._validate_sample(value)
        dims, slopes, y = len(self.event_shape), 0.0, value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            slopes = slopes - sum_rightmost(transform.log_abs_det_jacobian(x, y),
                                            dims - transform.domain.event_dim)
            y = x
        more = dims - len(self.base_dist.event_shape)
        return slopes + sum_rightmost(self.base_dist.log_prob(y), more)

    def _monotonize_cdf(self, value: Any) -> Any:
        """Replace a probability by 1 minus it if the transforms are decreasing."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Tensor:
        """Return the base's `cdf` of the untransformed value."""
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Tensor:
        """Return the transformed `icdf` of the base."""
        return self._transformed(self.base_dist.icdf(self._monotonize_cdf(value)))
