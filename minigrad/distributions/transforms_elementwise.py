"""Elementwise transforms.

Source: https://docs.pytorch.org/docs/stable/distributions.html#module-torch.distributions.transforms
"""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

from ..op.declaration import F
from ..ops.info import finfo
from ..shapes import broadcast
from ..tensor.attributes import Size
from ..tensor.tensor import Tensor
from . import constraints
from .transform import Transform
from .utils import broadcast_all, sum_rightmost

__all__ = ["AbsTransform", "AffineTransform", "CumulativeDistributionTransform", "ExpTransform",
           "PowerTransform", "SigmoidTransform", "SoftplusTransform", "TanhTransform"]


def clipped_sigmoid(x: Any) -> Any:
    """Return the sigmoid, clamped inside (0, 1) so that its logarithms stay finite."""
    limits = finfo(x.dtype)
    return F.clamp(F.sigmoid(x), limits.tiny, 1 - limits.eps)


class _Rising(Transform):
    """An increasing transform without parameters, so that all instances are equal."""

    domain: Any = constraints.real
    bijective = True
    sign = 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))


class ExpTransform(_Rising):
    """y = exp(x); log |dy/dx| = x.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import ExpTransform
    >>> exp = ExpTransform()
    >>> exp(tensor([0.0, 1.0])), exp.codomain
    (tensor([1.0000, 2.7183]), GreaterThan(lower_bound=0.0))
    """

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class SigmoidTransform(_Rising):
    """y = 1 / (1 + exp(-x)), clamped inside (0, 1).

    >>> from minigrad import tensor
    >>> from minigrad.distributions import SigmoidTransform
    >>> sigmoid, x = SigmoidTransform(), tensor([0.0, 2.0])
    >>> sigmoid(x), sigmoid.codomain
    (tensor([0.5000, 0.8808]), Interval(lower_bound=0.0, upper_bound=1.0))
    >>> sigmoid.log_abs_det_jacobian(x, sigmoid(x)).exp()
    tensor([0.2500, 0.1050])
    """

    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        return clipped_sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        limits = finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(_Rising):
    """y = log(1 + exp(x)).

    >>> from minigrad import tensor
    >>> from minigrad.distributions import SoftplusTransform
    >>> softplus, x = SoftplusTransform(), tensor([0.0, 30.0])
    >>> softplus(x), softplus.inv(softplus(x))
    (tensor([ 0.6931, 30.0000]), tensor([ 0., 30.]))
    >>> softplus.log_abs_det_jacobian(x, softplus(x)).exp()
    tensor([0.5000, 1.0000])
    """

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return F.softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-(-y).expm1()).log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -F.softplus(-x)


class TanhTransform(_Rising):
    """y = tanh(x), more accurate than composing a sigmoid with an affine transform.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import TanhTransform
    >>> tanh, x = TanhTransform(), tensor([0.0, 2.0])
    >>> tanh(x), tanh.codomain
    (tensor([0.0000, 0.9640]), Interval(lower_bound=-1.0, upper_bound=1.0))
    >>> tanh.log_abs_det_jacobian(x, tanh(x)).exp()
    tensor([1.0000, 0.0707])
    """

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2 * (math.log(2) - x - F.softplus(-2 * x))


class AbsTransform(Transform):
    """y = |x|, which is not bijective: the inverse returns y.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import AbsTransform
    >>> absolute = AbsTransform()
    >>> absolute(tensor([-2.0, 3.0])), absolute.bijective
    (tensor([2., 3.]), False)
    """

    domain, codomain = constraints.real, constraints.positive

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbsTransform)

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class PowerTransform(Transform):
    """y = x ** exponent, for positive x.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import PowerTransform
    >>> square, x = PowerTransform(2.0), tensor([0.5, 3.0])
    >>> square(x), square.inv(square(x))
    (tensor([0.2500, 9.0000]), tensor([0.5000, 3.0000]))
    >>> square.log_abs_det_jacobian(x, square(x)).exp()  # 2 x
    tensor([1., 6.])
    """

    domain = codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @property
    def sign(self) -> Any:
        """The sign of the exponent."""
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        return Size(broadcast(shape, self.exponent.shape))

    inverse_shape = forward_shape


class AffineTransform(Transform):
    """y = loc + scale * x; the last `event_dim` dimensions make up one event.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import AffineTransform
    >>> line, x = AffineTransform(1.0, -2.0), tensor([0.0, 3.0])
    >>> line(x), line.sign
    (tensor([ 1., -5.]), -1)
    >>> line.log_abs_det_jacobian(x, line(x)).exp()
    tensor([2., 2.])
    """

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        """The number of trailing dimensions that make up one event."""
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """The real numbers, in events of `event_dim` dimensions."""
        if not self._event_dim:
            return constraints.real
        return constraints.independent(constraints.real, self._event_dim)

    codomain = domain

    @property
    def sign(self) -> Any:
        """The sign of `scale`."""
        if isinstance(self.scale, Number):
            return (self.scale > 0) - (self.scale < 0)  # type: ignore[operator]  # a real one
        return self.scale.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AffineTransform) and all(
            bool(F.all(F.eq(a, b))) if isinstance(a, Tensor) or isinstance(b, Tensor) else a == b
            for a, b in ((self.loc, other.loc), (self.scale, other.scale)))

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if isinstance(self.scale, Tensor):
            slope = F.abs(self.scale).log()
        else:
            slope = F.full_like(x, math.log(abs(self.scale)))
        if self._event_dim:  # a scale shared by the whole event counts once per element
            slope = sum_rightmost(slope.expand(F.broadcast_tensors(slope, x)[0].shape),
                                  self._event_dim)
        return slope.expand(x.shape[:x.dim() - self._event_dim])

    def forward_shape(self, shape: Any) -> Any:
        return Size(broadcast(shape, getattr(self.loc, "shape", ()),
                                     getattr(self.scale, "shape", ())))

    inverse_shape = forward_shape


class CumulativeDistributionTransform(Transform):
    """y = F(x), the cumulative distribution function of a distribution.

    It maps samples of that distribution to uniform ones.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import CumulativeDistributionTransform, Normal
    >>> share = CumulativeDistributionTransform(Normal(0.0, 1.0))
    >>> share(tensor([0.0, 2.0])), share.inv(tensor([0.5, 0.9]))
    (tensor([0.5000, 0.9772]), tensor([0.0000, 1.2816]))
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        """The support of the distribution."""
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)
