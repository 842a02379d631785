"""KL divergences between distributions of the same family.

Source: https://docs.pytorch.org/docs/stable/distributions.html#module-torch.distributions.kl
"""

from __future__ import annotations

import math
from typing import Any

from ..autograd.backward import grad
from ..autograd.grad_mode import enable_grad
from ..op.declaration import F
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .by_matrix import log_diagonal
from .categorical import Categorical
from .cauchy import Cauchy
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .kl import kl_divergence, register_kl
from .laplace import Laplace
from .lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    low_rank_distance,
    low_rank_log_determinant,
)
from .multivariate_normal import MultivariateNormal, squared_distance
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import euler_constant, sum_rightmost

__all__: list[str] = []


@register_kl(ExponentialFamily, ExponentialFamily)
def exponential_families(p: Any, q: Any) -> Any:
    """Return the Bregman divergence of the log normalizer, for two distributions of one class.

    Sums over the dimensions that each parameter has beyond the batch.  PyTorch sums over the event
    dimensions instead, which is wrong for `Wishart`, because its `df` has no event dimensions.
    """
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot"
            "                             be computed using Bregman divergences")
    with enable_grad():
        of_p = [each if each.requires_grad else each.detach().requires_grad_()
                for each in p._natural_params]
        normalizer = p._log_normalizer(*of_p)
        slopes = grad(normalizer.sum(), of_p, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normalizer
    for parameter, other, slope in zip(of_p, q._natural_params, slopes):
        dims = slope.dim() - len(p.batch_shape)
        result = result - sum_rightmost((other - parameter) * slope, dims)
    return result


@register_kl(Bernoulli, Bernoulli)
def bernoulli(p: Any, q: Any) -> Any:
    """Sum of p (log p - log q) over the values 0 and 1."""
    ones = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    ones = F.where(p.probs == 0, 0.0, F.where(q.probs == 0, math.inf, ones))
    zeros = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    return ones + F.where(p.probs == 1, 0.0, F.where(q.probs == 1, math.inf, zeros))


@register_kl(Beta, Beta)
def beta(p: Any, q: Any) -> Any:
    """The divergence of the two-dimensional Dirichlet distributions."""
    return dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Binomial, Binomial)
def binomial(p: Any, q: Any) -> Any:
    """n times the divergence of one trial; infinite where p has more trials."""
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is "
                                  "not implemented")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p()
                          - (-q.probs).log1p())
    return F.where(p.total_count > q.total_count, math.inf, kl)


@register_kl(Categorical, Categorical)
def categorical(p: Any, q: Any) -> Any:
    """Sum of p (log p - log q)."""
    terms = p.probs * (p.logits - q.logits)
    return F.where(p.probs == 0, 0.0, F.where(q.probs == 0, math.inf, terms)).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def one_hot_categorical(p: Any, q: Any) -> Any:
    """The divergence of the categorical distributions."""
    return categorical(p._categorical, q._categorical)


@register_kl(Cauchy, Cauchy)
def cauchy(p: Any, q: Any) -> Any:
    """log(((s + t)**2 + d**2) / (4 s t)) for the scales s, t and the distance d of the locations.

    Source: Chyzak and Nielsen, 2019, https://arxiv.org/abs/1905.10965
    """
    apart = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return apart.log() - (4 * p.scale * q.scale).log()


@register_kl(Dirichlet, Dirichlet)
def dirichlet(p: Any, q: Any) -> Any:
    """log B(b) - log B(a) + sum of (a_i - b_i) (digamma(a_i) - digamma(sum a))."""
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    moved = (a - b) * (a.digamma() - total.digamma().unsqueeze(-1))
    return (total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
            + moved.sum(-1))


@register_kl(Exponential, Exponential)
def exponential(p: Any, q: Any) -> Any:
    """r - 1 - log(r), where r is the ratio of the rates, q's to p's."""
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Gamma, Gamma)
def gamma(p: Any, q: Any) -> Any:
    """The difference of the log normalizers, and of the terms in E[log(x)] and E[x]."""
    return (q.concentration * (p.rate / q.rate).log()
            + F.lgamma(q.concentration) - F.lgamma(p.concentration)
            + (p.concentration - q.concentration) * F.digamma(p.concentration)
            + (q.rate - p.rate) * (p.concentration / p.rate))


@register_kl(Geometric, Geometric)
def geometric(p: Any, q: Any) -> Any:
    """The cross entropy of one trial divided by p, minus the entropy of p."""
    return -p.entropy() - F.log1p(-q.probs) / p.probs - q.logits


@register_kl(Gumbel, Gumbel)
def gumbel(p: Any, q: Any) -> Any:
    """Computed from the mean of (x - loc) / scale, and of its exponential, over samples of p."""
    ratio, off = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return (off - ratio.log() + ratio * euler_constant
            + F.exp(F.lgamma(1 + ratio) - off) - (1 + euler_constant))


@register_kl(HalfNormal, HalfNormal)
def half_normal(p: Any, q: Any) -> Any:
    """The divergence of the normal distributions."""
    return normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def laplace(p: Any, q: Any) -> Any:
    """Computed from the mean distance of p's samples from q's location."""
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * F.exp(-apart / p.scale) - 1


@register_kl(Normal, Normal)
def normal(p: Any, q: Any) -> Any:
    """(r + d - 1 - log(r)) / 2, with the ratio r of the variances and the squared distance d."""
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def pareto(p: Any, q: Any) -> Any:
    """Computed from E[log(x)]; infinite where p's support starts below q's."""
    ratio = q.alpha / p.alpha
    kl = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return F.where(p.scale < q.scale, math.inf, kl)


@register_kl(Poisson, Poisson)
def poisson(p: Any, q: Any) -> Any:
    """p.rate (log(p.rate) - log(q.rate)) - (p.rate - q.rate)."""
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def uniform(p: Any, q: Any) -> Any:
    """The log of the ratio of the widths; infinite where p's support exceeds q's."""
    kl = ((q.high - q.low) / (p.high - p.low)).log()
    return F.where((q.low > p.low) | (q.high < p.high), math.inf, kl)


@register_kl(Independent, Independent)
def independent(p: Any, q: Any) -> Any:
    """The divergence of the bases, summed over the reinterpreted dimensions."""
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def transformed(p: Any, q: Any) -> Any:
    """The divergence of the bases, provided that the transforms are equal."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


# -------------------------------------------------------------------- multivariate normal


def between_normals(p: Any, q: Any) -> Any:
    """(log det ratio + trace(Q^-1 P) + distance - n) / 2; either one may be low-rank."""
    n = p.event_shape[0]
    if q.event_shape[0] != n:
        low = [isinstance(each, LowRankMultivariateNormal) for each in (p, q)]
        kinds = [("Low Rank " if each else "") + "Multivariate Normals" for each in low]
        between = kinds[0] if kinds[0] == kinds[1] else f"{kinds[0]} and {kinds[1]}"
        raise ValueError(f"KL-divergence between two {between} with"
                         "                          different event shapes cannot be computed")
    columns = root_of_covariance(p).mT  # their outer products sum to the covariance
    trace = distances(q, columns.movedim(-2, 0)).sum(0)
    return 0.5 * (log_determinant(q) - log_determinant(p) + trace
                  + distances(q, q.loc - p.loc) - n)


def log_determinant(p: Any) -> Any:
    """Return the log determinant of the covariance matrix."""
    if isinstance(p, LowRankMultivariateNormal):
        return low_rank_log_determinant(p._unbroadcasted_cov_diag, p._capacitance_tril)
    return 2 * log_diagonal(p._unbroadcasted_scale_tril)


def distances(p: Any, x: Any) -> Any:
    """Return x^T C^-1 x, where C is the covariance matrix."""
    if isinstance(p, LowRankMultivariateNormal):
        return low_rank_distance(p._unbroadcasted_cov_factor, p._unbroadcasted_cov_diag, x,
                                 p._capacitance_tril)
    return squared_distance(p._unbroadcasted_scale_tril, x)


def root_of_covariance(p: Any) -> Any:
    """Return a matrix R with R R^T = C, the covariance matrix."""
    if isinstance(p, LowRankMultivariateNormal):
        return F.cat([p.cov_factor, F.diag_embed(p.cov_diag.sqrt())], -1)
    return p.scale_tril


for _p in (MultivariateNormal, LowRankMultivariateNormal):
    for _q in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_p, _q)(between_normals)
