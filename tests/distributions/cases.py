"""The distributions that the tests go through, each made of leaves, in batches of two."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

Make = Callable[[Any, Callable[[Any], Any]], Any]

#: `make(D, p)` gets the module of distributions and a function that makes a leaf.
CASES: dict[str, Make] = {
    "Bernoulli": lambda D, p: D.Bernoulli(p([0.3, 0.8])),
    "Bernoulli by logits": lambda D, p: D.Bernoulli(logits=p([0.0, -1.5])),
    "Beta": lambda D, p: D.Beta(p([2.5, 0.7]), p([1.5, 0.4])),
    "Beta above one": lambda D, p: D.Beta(p([2.5, 3.0]), p([1.5, 7.0])),
    "Binomial": lambda D, p: D.Binomial(4, p([0.3, 0.8])),
    "Binomial by logits": lambda D, p: D.Binomial(4, logits=p([0.3, -0.8])),
    "Binomial of two counts": lambda D, p: D.Binomial(p([3.0, 5.0]).detach(), p([0.3, 0.8])),
    "Categorical": lambda D, p: D.Categorical(p([[0.2, 0.5, 1.3], [1.0, 2.0, 0.5]])),
    "Categorical by logits": lambda D, p: D.Categorical(
        logits=p([[0.2, 0.5, -1.3], [1.0, -2.0, 0.5]])),
    "Cauchy": lambda D, p: D.Cauchy(p([0.5, -1.0]), p([1.0, 2.5])),
    "Chi2": lambda D, p: D.Chi2(p([3.0, 0.8])),
    "ContinuousBernoulli": lambda D, p: D.ContinuousBernoulli(p([0.3, 0.8])),
    "ContinuousBernoulli by logits": lambda D, p: D.ContinuousBernoulli(logits=p([0.3, -1.5])),
    "Dirichlet": lambda D, p: D.Dirichlet(p([[0.5, 2.0, 3.0], [0.4, 0.7, 0.2]])),
    "Exponential": lambda D, p: D.Exponential(p([0.5, 2.0])),
    "FisherSnedecor": lambda D, p: D.FisherSnedecor(p([3.0, 1.5]), p([5.0, 3.0])),
    "Gamma": lambda D, p: D.Gamma(p([2.5, 0.6]), p([1.5, 0.4])),
    "GeneralizedPareto": lambda D, p: D.GeneralizedPareto(
        p([0.5, -1.0]), p([1.0, 2.5]), p([0.3, -0.4])),
    "GeneralizedPareto, evenly": lambda D, p: D.GeneralizedPareto(
        p([0.5, -1.0]), p([1.0, 2.5]), p([-1.0, 1.5])),
    "Geometric": lambda D, p: D.Geometric(p([0.3, 0.8])),
    "Geometric by logits": lambda D, p: D.Geometric(logits=p([0.3, -0.8])),
    "Gumbel": lambda D, p: D.Gumbel(p([0.5, -1.0]), p([1.0, 2.5])),
    "HalfCauchy": lambda D, p: D.HalfCauchy(p([1.0, 2.5])),
    "HalfNormal": lambda D, p: D.HalfNormal(p([1.0, 2.5])),
    "Independent": lambda D, p: D.Independent(
        D.Normal(p([[0.5, -1.0], [2.0, 0.1]]), p([[1.0, 2.5], [0.4, 1.0]])), 1),
    "InverseGamma": lambda D, p: D.InverseGamma(p([3.5, 0.6]), p([1.5, 0.4])),
    "Kumaraswamy": lambda D, p: D.Kumaraswamy(p([2.5, 0.7]), p([1.5, 0.4])),
    "Laplace": lambda D, p: D.Laplace(p([0.5, -1.0]), p([1.0, 2.5])),
    "LKJCholesky": lambda D, p: D.LKJCholesky(3, p([0.7, 2.5])),
    "LKJCholesky of two": lambda D, p: D.LKJCholesky(2, p([1.0, 4.0])),
    "LogNormal": lambda D, p: D.LogNormal(p([0.5, -1.0]), p([0.5, 0.8])),
    "LogisticNormal": lambda D, p: D.LogisticNormal(
        p([[0.5, -1.0], [0.2, 0.3]]), p([[1.0, 0.5], [0.4, 0.7]])),
    "LowRankMultivariateNormal": lambda D, p: D.LowRankMultivariateNormal(
        p([[0.5, -1.0, 0.0], [0.2, 0.3, 1.0]]), p([[[1.0], [0.5], [-0.3]]] * 2),
        p([[0.4, 1.0, 2.0], [1.5, 0.6, 0.8]])),
    "MixtureSameFamily": lambda D, p: D.MixtureSameFamily(
        D.Categorical(p([[0.2, 0.5], [1.0, 2.0]])),
        D.Normal(p([[0.5, -1.0], [2.0, 0.1]]), p([[1.0, 2.5], [0.4, 1.0]]))),
    "Mixture of vectors": lambda D, p: D.MixtureSameFamily(
        D.Categorical(p([[0.2, 0.5], [1.0, 2.0]])),
        D.Dirichlet(p([[[0.5, 2.0, 3.0], [0.4, 0.7, 0.2]], [[1.5, 1.0, 2.0], [4.0, 7.0, 2.0]]]))),
    "Multinomial": lambda D, p: D.Multinomial(4, p([[0.2, 0.5, 1.3], [1.0, 2.0, 0.5]])),
    "Multinomial by logits": lambda D, p: D.Multinomial(
        3, logits=p([[0.2, 0.5, -1.3], [1.0, -2.0, 0.5]])),
    "MultivariateNormal": lambda D, p: D.MultivariateNormal(
        p([[0.5, -1.0], [0.2, 0.3]]), scale_tril=p([[1.5, 0.0], [0.4, 0.7]])),
    "MultivariateNormal by covariance": lambda D, p: D.MultivariateNormal(
        p([[0.5, -1.0], [0.2, 0.3]]), p([[2.0, 0.3], [0.3, 1.0]])),
    "MultivariateNormal by precision": lambda D, p: D.MultivariateNormal(
        p([0.5, -1.0]), precision_matrix=p([[[2.0, 0.3], [0.3, 1.0]], [[1.0, -0.4], [-0.4, 0.8]]])),
    "NegativeBinomial": lambda D, p: D.NegativeBinomial(p([2.5, 4.0]), p([0.3, 0.8])),
    "NegativeBinomial by logits": lambda D, p: D.NegativeBinomial(3, logits=p([0.3, -0.8])),
    "Normal": lambda D, p: D.Normal(p([0.5, -1.0]), p([1.0, 2.5])),
    "Normal of numbers": lambda D, p: D.Normal(0.5, 2.0).expand((2,)),
    "OneHotCategorical": lambda D, p: D.OneHotCategorical(p([[0.2, 0.5, 1.3], [1.0, 2.0, 0.5]])),
    "OneHotCategoricalStraightThrough": lambda D, p: D.OneHotCategoricalStraightThrough(
        logits=p([[0.2, 0.5, 1.3], [1.0, 2.0, 0.5]])),
    "Pareto": lambda D, p: D.Pareto(p([1.0, 2.5]), p([3.0, 1.5])),
    "Poisson": lambda D, p: D.Poisson(p([0.5, 12.5])),
    "RelaxedBernoulli": lambda D, p: D.RelaxedBernoulli(p(0.7), p([0.3, 0.8])),
    "RelaxedBernoulli by logits": lambda D, p: D.RelaxedBernoulli(p(0.7), logits=p([0.3, -0.8])),
    "RelaxedOneHotCategorical": lambda D, p: D.RelaxedOneHotCategorical(
        p(0.7), p([[0.2, 0.5, 1.3], [1.0, 2.0, 0.5]])),
    "StudentT": lambda D, p: D.StudentT(p([3.0, 1.5]), p([0.5, -1.0]), p([1.0, 2.5])),
    "TransformedDistribution": lambda D, p: D.TransformedDistribution(
        D.Normal(p([0.5, -1.0]), p([1.0, 2.5])),
        [D.AffineTransform(p([1.0, 2.0]), p([-2.0, 0.5])), D.SigmoidTransform()]),
    "Transformed vectors": lambda D, p: D.TransformedDistribution(
        D.Normal(p([[0.5, -1.0], [0.2, 0.3]]), 1.0), [D.StickBreakingTransform()]),
    "Uniform": lambda D, p: D.Uniform(p([-0.5, 0.25]), p([1.0, 2.5])),
    "Uniform in the unit interval": lambda D, p: D.Uniform(p([0.1, 0.25]), p([0.8, 1.0])),
    "VonMises": lambda D, p: D.VonMises(p([0.5, -7.0]), p([0.3, 12.5])),
    "Weibull": lambda D, p: D.Weibull(p([1.0, 2.5]), p([3.0, 1.5])),
    "Wishart": lambda D, p: D.Wishart(
        p([4.0, 7.5]), scale_tril=p([[1.5, 0.0], [0.4, 0.7]]).tril()),
    "Wishart by covariance": lambda D, p: D.Wishart(
        p([5.0, 3.5]), p([[[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.5]]] * 2)),
    "Wishart by precision": lambda D, p: D.Wishart(
        p([4.0, 3.5]), precision_matrix=p([[[2.0, 0.3], [0.3, 1.0]], [[1.0, -0.4], [-0.4, 0.8]]])),
}

#: For the divergences, distributions that fit to others above.
FURTHER: dict[str, Make] = {
    "Exponential, less": lambda D, p: D.Exponential(p([0.25, 1.0])),
    "Gamma, less": lambda D, p: D.Gamma(p([1.5, 2.6]), p([1.0, 0.4])),
    "Pareto, lower": lambda D, p: D.Pareto(p([0.05, 0.1]), p([2.5, 1.5])),
    "Uniform, wider": lambda D, p: D.Uniform(p([-1.5, -0.25]), p([1.5, 3.5])),
    "Bernoulli, certain": lambda D, p: D.Bernoulli(p([0.0, 1.0])),
    "Categorical, certain": lambda D, p: D.Categorical(p([[0.0, 0.5, 1.3], [1.0, 0.0, 0.0]])),
    "LogNormal, other": lambda D, p: D.LogNormal(p([0.1, 1.0]), p([0.5, 1.8])),
    "Binomial, less": lambda D, p: D.Binomial(3, p([0.4, 0.9])),
}


def build(torch: ModuleType, make: Make) -> tuple[Any, list[Any]]:
    """Make a distribution; return it with the leaves that it was made of."""
    leaves: list[Any] = []

    def leaf(values: Any) -> Any:
        leaves.append(torch.tensor(values, dtype=torch.float64, requires_grad=True))
        return leaves[-1]

    return make(torch.distributions, leaf), leaves


def values_of(torch: ModuleType, made: Any, seed: int = 0, count: int = 5) -> np.ndarray[Any, Any]:
    """Return samples, the same ones for every engine."""
    torch.manual_seed(seed)
    return made.sample((count,)).detach().numpy()
