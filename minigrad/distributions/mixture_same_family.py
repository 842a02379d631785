"""A mixture of distributions that belong to the same family."""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..op.declaration import F
from ..tensor.attributes import Size
from ..tensor.tensor import Tensor
from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A mixture with density p(x) = sum of w_k p_k(x).

    The components are the last batch dimension of `component_distribution`.  Sampling picks one of
    them with the probabilities of `mixture_distribution`.

    >>> import minigrad as torch
    >>> from minigrad.distributions import Categorical, MixtureSameFamily, Normal
    >>> weights = Categorical(torch.tensor([1.0, 3.0]))
    >>> mixture = MixtureSameFamily(weights, Normal(torch.tensor([0.0, 4.0]), 1.0))
    >>> mixture.mixture_distribution.probs, mixture.component_distribution.loc
    (tensor([0.2500, 0.7500]), tensor([0., 4.]))
    >>> mixture.mean, mixture.variance, mixture.cdf(torch.tensor(2.0))
    (tensor(3.), tensor(4.), tensor(0.2614))
    >>> _ = torch.manual_seed(0)
    >>> mixture.sample((3,))
    tensor([3.3126, 3.3935, 5.0622])
    """

    arg_constraints: Any = {}
    has_rsample = False
    _expanded = {"_mixture_distribution": 0, "_component_distribution": 1}

    def __init__(self, mixture_distribution: Any, component_distribution: Any,
                 validate_args: bool | None = None) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of "
                             "torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of "
                             "torch.distributions.Distribution")
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        *kept, n = component_distribution.batch_shape
        batch = mixture_distribution.batch_shape
        if any(1 != a != b != 1 for a, b in zip(reversed(batch), reversed(kept))):
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({batch}) is not compatible with "
                f"`component_distribution.batch_shape`({Size(kept)})")
        categories = mixture_distribution.logits.shape[-1]
        if categories != n:
            raise ValueError(
                f"`mixture_distribution component` ({categories}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({n})")
        super().__init__(Size(kept), component_distribution.event_shape,
                         validate_args=validate_args)

    @constraints.dependent_property
    def support(self) -> Any:
        """The support of the components."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """The `Categorical` over the components."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components, along its last batch dimension."""
        return self._component_distribution

    @property
    def _axis(self) -> int:
        """The dimension of the components in their samples."""
        return -1 - len(self.event_shape)

    @property
    def _weights(self) -> Any:
        """The probabilities of the components, with a dimension of size 1 per event dimension."""
        probs = self.mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * len(self.event_shape))

    @property
    def mean(self) -> Tensor:
        """The weighted mean of the components' means."""
        return (self._weights * self.component_distribution.mean).sum(self._axis)

    @property
    def variance(self) -> Tensor:
        """The mean of the variances plus the variance of the means."""
        off = self.component_distribution.mean - self.mean.unsqueeze(self._axis)
        within = (self._weights * self.component_distribution.variance).sum(self._axis)
        return within + (self._weights * off.pow(2)).sum(self._axis)

    def cdf(self, value: Any) -> Tensor:
        """Return the weighted mean of the components' `cdf`."""
        shares = self.component_distribution.cdf(value.unsqueeze(self._axis))
        return (shares * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Any) -> Tensor:
        """Return the log of the weighted mean of the components' densities."""
        if self._validate_args:
            self._validate_sample(value)
        each = self.component_distribution.log_prob(value.unsqueeze(self._axis))
        return F.logsumexp(each + F.log_softmax(self.mixture_distribution.logits, -1), -1)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw a component index and a sample of every component, then select."""
        with no_grad():
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            places = chosen.reshape(chosen.shape + (1,) * (1 + len(self.event_shape)))
            places = places.expand(*chosen.shape, 1, *self.event_shape)
            return drawn.gather(drawn.dim() + self._axis, places).squeeze(self._axis)

    def __repr__(self) -> str:
        return (f"MixtureSameFamily(\n  {self.mixture_distribution},\n"
                f"  {self.component_distribution})")
