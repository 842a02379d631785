"""KL divergences between distributions of different families.

Each is the cross entropy, the mean of -log q(x) over samples x of p, minus the entropy of p.  The
cross entropy needs only a few means over p: of x, x**2, log(x), log(1 - x) or exp(-t x).  The
divergence is infinite if p has samples outside the support of q.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..op.declaration import F
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .kl import register_kl
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant

__all__: list[str] = []

# -------------------------------------------------------------------- means over p


def integral_of_log(x: Any) -> Any:
    """Return x log(x) - x, the antiderivative of log(x); 0 at 0."""
    return F.xlogy(x, x) - x


#: E[log(x)], by the class of p.
MEAN_LOG: dict[type, Callable[[Any], Any]] = {
    Beta: lambda p: p.concentration1.digamma()
    - (p.concentration1 + p.concentration0).digamma(),
    Exponential: lambda p: -euler_constant - p.rate.log(),
    Gamma: lambda p: p.concentration.digamma() - p.rate.log(),
    Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
    Uniform: lambda p: (integral_of_log(p.high) - integral_of_log(p.low)) / (p.high - p.low),
}

#: E[exp(-t x)], by the class of p.
MEAN_DECAY: dict[type, Callable[[Any, Any], Any]] = {
    Exponential: lambda p, t: p.rate / (p.rate + t),
    Gamma: lambda p, t: (1 + t / p.rate).pow(-p.concentration),
    Normal: lambda p, t: F.exp(0.5 * (p.scale * t).pow(2) - p.loc * t),
    Uniform: lambda p, t: (F.exp(-p.low * t) - F.exp(-p.high * t)) / (t * (p.high - p.low)),
}


def mean(table: dict[type, Callable[..., Any]], p: Any, *args: Any) -> Any:
    """Look up a mean over p by its class, and compute it."""
    return next(table[base] for base in type(p).__mro__ if base in table)(p, *args)


# -------------------------------------------------------------------- cross entropies


def with_exponential(p: Any, q: Any) -> Any:
    """-log(rate) + rate E[x]"""
    return q.rate * mean_of(p) - q.rate.log()


def with_gamma(p: Any, q: Any) -> Any:
    """lgamma(a) - a log(b) - (a - 1) E[log x] + b E[x]"""
    a, b = q.concentration, q.rate
    return a.lgamma() - a * b.log() - (a - 1) * mean(MEAN_LOG, p) + b * mean_of(p)


def mean_of(p: Any) -> Any:
    """Return E[x].

    For a Pareto distribution, use the formula without the clamp in `Pareto.mean`, because the clamp
    can cut off the gradient with respect to alpha.
    """
    return p.alpha * p.scale / (p.alpha - 1) if isinstance(p, Pareto) else p.mean


def variance_of(p: Any) -> Any:
    """Return E[(x - E[x])**2], without the clamp for a Pareto distribution too."""
    if not isinstance(p, Pareto):
        return p.variance
    return p.alpha * p.scale.pow(2) / ((p.alpha - 1).pow(2) * (p.alpha - 2))


def with_normal(p: Any, q: Any) -> Any:
    """log(sqrt(2 pi) scale) + E[(x - loc)**2] / (2 scale**2)"""
    square = variance_of(p) + (mean_of(p) - q.loc).pow(2)
    return q.scale.log() + 0.5 * math.log(2 * math.pi) + 0.5 * square / q.scale.pow(2)


def with_uniform(p: Any, q: Any) -> Any:
    """log(high - low)"""
    return (q.high - q.low).log()


def with_gumbel(p: Any, q: Any) -> Any:
    """log(scale) + E[(x - loc) / scale] + E[exp(-(x - loc) / scale)]"""
    decay = F.exp(q.loc / q.scale) * mean(MEAN_DECAY, p, q.scale.reciprocal())
    return q.scale.log() + (p.mean - q.loc) / q.scale + decay


def with_pareto(p: Any, q: Any) -> Any:
    """-log(alpha) - alpha log(scale) + (alpha + 1) E[log x]"""
    return (q.alpha + 1) * mean(MEAN_LOG, p) - q.alpha.log() - q.alpha * q.scale.log()


def with_laplace(p: Any, q: Any) -> Any:
    """log(2 scale) + E[|x - loc|] / scale, for a normal p"""
    off = (p.loc - q.loc) / p.scale
    apart = (math.sqrt(2 / math.pi) * F.exp(-0.5 * off.pow(2))
             + off * F.erf(off / math.sqrt(2)))
    return (2 * q.scale).log() + p.scale * apart / q.scale


def with_beta(p: Any, q: Any) -> Any:
    """log B(a, b) - (a - 1) E[log x] - (b - 1) E[log(1 - x)], for a uniform p"""
    a, b = q.concentration1, q.concentration0
    mirrored = ((integral_of_log(1 - p.low) - integral_of_log(1 - p.high)) / (p.high - p.low))
    return (a.lgamma() + b.lgamma() - (a + b).lgamma()
            - (a - 1) * mean(MEAN_LOG, p) - (b - 1) * mirrored)


def with_continuous_bernoulli(p: Any, q: Any) -> Any:
    """-log(1 - p) - the log normalizer - E[x] logits"""
    return -(p.mean * q.logits + (-q.probs).log1p() + q._cont_bern_log_norm())


def with_poisson(p: Any, q: Any) -> Any:
    """rate - E[x] log(rate), for a p whose samples are 0 and 1"""
    return q.rate - p.probs * q.rate.log()


# -------------------------------------------------------------------- the pairs


def register(p: type, q: type, cross_entropy: Callable[[Any, Any], Any],
             outside: Callable[[Any, Any], Any] | None = None) -> None:
    """Register a pair of classes; `outside(p, q)` is true where the divergence is infinite."""

    def divergence(p: Any, q: Any) -> Any:
        kl = cross_entropy(p, q) - p.entropy()
        return kl if outside is None else F.where(outside(p, q), math.inf, kl)

    register_kl(p, q)(divergence)


def infinite(p: Any, q: Any) -> Any:
    """Return infinities with the batch shape of p."""
    return F.full_like(p.mean, math.inf)


register(Bernoulli, Poisson, with_poisson)
register(Beta, ContinuousBernoulli, with_continuous_bernoulli)
register(Beta, Exponential, with_exponential)
register(Beta, Gamma, with_gamma)
register(Beta, Normal, with_normal)
register(Beta, Uniform, with_uniform, lambda p, q: (q.high < 1) | (q.low > 0))
register(ContinuousBernoulli, ContinuousBernoulli, with_continuous_bernoulli)
register(ContinuousBernoulli, Exponential, with_exponential)
register(ContinuousBernoulli, Normal, with_normal)
# here PyTorch requires one range to be strictly inside the other
register(ContinuousBernoulli, Uniform, with_uniform, lambda p, q: (q.high <= 1) | (q.low >= 0))
register(Exponential, Gamma, with_gamma)
register(Exponential, Gumbel, with_gumbel)
register(Exponential, Normal, with_normal)
register(Gamma, Exponential, with_exponential)
register(Gamma, Gumbel, with_gumbel)
register(Gamma, Normal, with_normal)
register(Gumbel, Normal, with_normal)
register(Laplace, Normal, with_normal)
register(Normal, Gumbel, with_gumbel)
register(Normal, Laplace, with_laplace)
register(Pareto, Exponential, with_exponential, lambda p, q: p.alpha <= 1)
register(Pareto, Gamma, with_gamma, lambda p, q: p.alpha <= 1)
register(Pareto, Normal, with_normal, lambda p, q: p.alpha <= 2)
register(Uniform, Beta, with_beta, lambda p, q: (p.high > 1) | (p.low < 0))
register(Uniform, ContinuousBernoulli, with_continuous_bernoulli,
         lambda p, q: (p.high >= 1) | (p.low <= 0))
register(Uniform, Exponential, with_exponential, lambda p, q: p.low < 0)
register(Uniform, Gamma, with_gamma, lambda p, q: p.low < 0)
register(Uniform, Gumbel, with_gumbel)
register(Uniform, Normal, with_normal)
register(Uniform, Pareto, with_pareto, lambda p, q: p.low < q.scale)

for _p, _others in (
    (Beta, (Pareto,)),
    (ContinuousBernoulli, (Pareto,)),
    (Exponential, (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gamma, (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gumbel, (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Laplace, (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Normal, (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Pareto, (Beta, ContinuousBernoulli, Uniform)),
    (Poisson, (Bernoulli, Binomial)),
):
    for _q in _others:
        register_kl(_p, _q)(infinite)
