"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """The Dirichlet distribution over points x of the simplex, with parameters a > 0.

    p(x) = Gamma(sum a) prod_i x_i**(a_i - 1) / Gamma(a_i), where a is `concentration` (..., n).

    >>> import minigrad as torch
    >>> from minigrad.distributions import Dirichlet
    >>> shares = Dirichlet(torch.tensor([1.0, 3.0, 4.0]))
    >>> shares.mean, shares.event_shape
    (tensor([0.1250, 0.3750, 0.5000]), torch.Size([3]))
    >>> shares.log_prob(shares.mean)
    tensor(1.9992)
    >>> _ = torch.manual_seed(0)
    >>> shares.sample()
    tensor([0.4085, 0.3140, 0.2774])
    """

    arg_constraints: Any = {
        "concentration": constraints.independent(constraints.positive, 1)}
    support: Any = constraints.simplex
    has_rsample = True
    _expanded = {"concentration": 1}

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:],
                         validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """a / sum a."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        """(a - 1) / (sum a - n), 0 where a < 1; the corner of the largest a if all are < 1."""
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        corner = (self.concentration < 1).all(-1)
        largest = F.eye(mode.shape[-1], dtype=mode.dtype, device=mode.device)[mode.argmax(-1)]
        return F.where(corner.unsqueeze(-1), largest, mode)

    @property
    def variance(self) -> Tensor:
        """mean (1 - mean) / (sum a + 1)."""
        mean = self.mean
        return mean * (1 - mean) / (self.concentration.sum(-1, True) + 1)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw samples, differentiable by implicit reparametrization (`torch._sample_dirichlet`).
        """
        return F._sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Tensor:
        """Return the log density."""
        if self._validate_args:
            self._validate_sample(value)
        return (F.xlogy(self.concentration - 1, value).sum(-1)
                + F.lgamma(self.concentration.sum(-1)) - F.lgamma(self.concentration).sum(-1))

    def entropy(self) -> Tensor:
        """Return log B(a) + (sum a - n) digamma(sum a) - sum of (a - 1) digamma(a)."""
        n, total = self.concentration.shape[-1], self.concentration.sum(-1)
        return (F.lgamma(self.concentration).sum(-1) - F.lgamma(total)
                - (n - total) * F.digamma(total)
                - ((self.concentration - 1) * F.digamma(self.concentration)).sum(-1))

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:
        return x.lgamma().sum(-1) - F.lgamma(x.sum(-1))
