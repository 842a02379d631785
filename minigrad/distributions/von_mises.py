"""The von Mises distribution, an analogue of the normal distribution on the circle."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.grad_mode import no_grad
from ..dtypes import bool as boolean
from ..dtypes import float64
from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .utils import lazy_property

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Angles around `loc`: p(x) = exp(k cos(x - loc)) / (2 pi I0(k)), where k is `concentration`.

    Samples are in [-pi, pi); `loc` and values may be any angle.  The modified Bessel functions I0
    and I1 are accurate to full precision, while PyTorch's polynomials give seven digits.

    >>> import minigrad as torch
    >>> from minigrad.distributions import VonMises
    >>> wind = VonMises(torch.tensor([0.0, 1.5]), torch.tensor([1.0, 4.0]))
    >>> wind.mean, wind.variance
    (tensor([0.0000, 1.5000]), tensor([0.5536, 0.1365]))
    >>> wind.log_prob(torch.tensor([0.0, 1.5])).exp()
    tensor([0.3417, 0.7689])
    >>> _ = torch.manual_seed(0)
    >>> wind.sample((2,))
    tensor([[-0.5890,  2.2079],
            [-0.8605,  1.9081]])
    """

    arg_constraints: Any = {"loc": constraints.real, "concentration": constraints.positive}
    support: Any = constraints.real
    _expanded = {"loc": 0, "concentration": 0}
    loc: Any
    concentration: Any

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._begin(validate_args, loc=loc, concentration=concentration)

    @property
    def mean(self) -> Tensor:
        """`loc`, the circular mean."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """`loc`."""
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """1 - I1(k) / I0(k), the circular variance."""
        k = self.concentration
        return 1 - F.special_i1e(k) / F.special_i0e(k)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw by rejection sampling from a wrapped Cauchy distribution (Best and Fisher, 1979).

        Computes in float64, because in lower precision almost no proposal is accepted for a small
        k.
        """
        with no_grad():
            loc, k = self.loc.to(float64), self.concentration.to(float64)
            r = proposal(k)
            shape = self._extended_shape(sample_shape)
            angles = F.empty(shape, dtype=float64, device=loc.device)
            done = F.zeros(shape, dtype=boolean, device=loc.device)
            while not done.all():
                u1, u2, u3 = F.rand((3, *shape), dtype=float64, device=loc.device).unbind()
                z = F.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                accepted = (c * (2 - c) - u2 > 0) | (F.log(c / u2) + 1 - c >= 0)
                angles = F.where(accepted, F.sign(u3 - 0.5) * F.acos(f), angles)
                done = done | accepted
            return ((angles + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    def log_prob(self, value: Any) -> Tensor:
        """Return k cos(value - loc) - log(2 pi I0(k))."""
        if self._validate_args:
            self._validate_sample(value)
        k = self.concentration
        return (k * F.cos(value - self.loc) - math.log(2 * math.pi)
                - (F.log(F.special_i0e(k)) + k))


def proposal(k: Any) -> Any:
    """Return the parameter of the proposal distribution; for a small k, its limit."""
    tau = 1 + F.sqrt(1 + 4 * k**2)
    rho = (tau - F.sqrt(2 * tau)) / (2 * k)
    return F.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))
