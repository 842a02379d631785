"""Distributions by themselves: moments of samples, densities that add up, errors, lazy import."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest

import minigrad
from minigrad import distributions
from minigrad.autograd import gradcheck
from tests._oracle import assert_close
from tests.distributions.cases import CASES, build, values_of
from tests.support.engines import on_each_engine
from tests.support.parity import outcome

each = pytest.mark.parametrize("make", CASES.values(), ids=CASES)


def quiet(function):
    try:
        return function()
    except NotImplementedError:
        return None


@each
def test_samples_have_the_moments(make):
    made, _ = build(minigrad, make)
    if isinstance(made, distributions.VonMises):
        return  # its moments are those of points on the circle: see below
    mean, variance = quiet(lambda: made.mean), quiet(lambda: made.variance)
    drawn = values_of(minigrad, made, count=4000)
    assert drawn.shape == (4000, *made.batch_shape, *made.event_shape)
    assert made.support.check(minigrad.from_numpy(drawn)).all()
    if mean is None:
        return
    mean, spread = mean.detach().numpy(), variance.detach().numpy()
    known = np.isfinite(mean) & np.isfinite(spread)
    error = np.sqrt(np.where(known, spread, 0) / 4000)
    assert (np.abs(drawn.mean(0) - mean) <= 6 * error + 1e-9)[known].all()


@each
def test_densities_add_up(make):
    made, _ = build(minigrad, make)
    if made.has_enumerate_support:
        values = quiet(made.enumerate_support)  # there is none for several counts
        if values is not None:
            assert_close(made.log_prob(values).exp().sum(0).detach().numpy(), np.ones(2))
        return
    if made.event_shape or made.support.is_discrete:
        return
    # between two shares of the samples, where the density is finite
    lows, highs = np.quantile(values_of(minigrad, made, count=400), [0.1, 0.9], axis=0)
    grid = np.linspace(lows, highs, 20_001)
    density = made.log_prob(minigrad.from_numpy(grid)).exp().detach().numpy()
    widths = np.diff(grid, axis=0)
    share = ((density[1:] + density[:-1]) / 2 * widths).sum(0)
    drawn = values_of(minigrad, made, seed=1, count=4000)
    inside = ((drawn >= lows) & (drawn <= highs)).mean(0)
    assert_close(share, inside, rtol=0, atol=0.05)


@each
def test_the_density_is_the_slope_of_the_distribution_function(make):
    made, _ = build(minigrad, make)
    values = minigrad.from_numpy(values_of(minigrad, made).copy())
    if not values.is_floating_point() or quiet(lambda: made.cdf(values)) is None:
        return
    values.requires_grad_()
    shares = made.cdf(values)
    (slope,) = minigrad.autograd.grad(shares.sum(), values)
    assert_close(slope.numpy(), made.log_prob(values).exp().detach().numpy(), rtol=1e-6)
    back = quiet(lambda: made.icdf(shares))
    if back is not None:
        assert_close(back.detach().numpy(), values.detach().numpy(), rtol=1e-6,
                     atol=1e-6 if back.dtype == minigrad.float32 else 1e-8)


@each
def test_gradients_of_densities_and_entropies(make):
    made, leaves = build(minigrad, make)
    values = minigrad.from_numpy(values_of(minigrad, made)[:2].copy())
    if "Binomial(total_count: torch.Size([2])" in str(made) or (
            "sion_m" in str(made) or "ance_m" in str(made)):
        return  # whole counts have no slopes; matrices are symmetric, so that steps are of pairs

    def rebuilt(*parts):
        given = iter(parts)
        return make(distributions, lambda _: next(given))

    wild = "Multivariate" in str(made) or "Wishart" in str(made) or "probs" in str(made)  # steps leave the constraint
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of inputs in single precision
        distributions.Distribution.set_default_validate_args(not wild)
        try:
            if leaves:
                assert gradcheck(lambda *parts: rebuilt(*parts).log_prob(values), leaves)
            if leaves and quiet(lambda: made.entropy()) is not None:
                assert gradcheck(lambda *parts: rebuilt(*parts).entropy(), leaves)
        finally:
            distributions.Distribution.set_default_validate_args(True)


@each
def test_a_moved_sample_keeps_its_share(make):
    """The gradient of a sample is -dF/da / p(x) by each parameter, where there is an F."""
    made, leaves = build(minigrad, make)
    if made.event_shape or not made.has_rsample or not leaves:
        return
    minigrad.manual_seed(1)
    drawn = made.rsample()
    fixed = drawn.detach().requires_grad_()
    shares = quiet(lambda: made.cdf(fixed))
    if shares is None or isinstance(
            made, (distributions.Gamma, distributions.InverseGamma)):  # igamma has no derivative by its first argument
        return
    density = minigrad.autograd.grad(shares.sum(), fixed, retain_graph=True)[0]
    for i in range(2):
        by_share = minigrad.autograd.grad(shares[i], leaves, retain_graph=True)
        by_sample = minigrad.autograd.grad(drawn[i], leaves, retain_graph=True)
        for a, b in zip(by_share, by_sample):
            assert_close(b.numpy(), (-a / density[i]).numpy(), rtol=1e-6)


@on_each_engine
def test_the_entropy_of_an_exponential_family_is_bregmans(torch):
    D = torch.distributions
    for made in (D.Bernoulli(torch.tensor([0.3, 0.8])), D.Exponential(torch.tensor([0.5, 2.0])),
                 D.Gamma(torch.tensor([0.5, 2.0]), 3.0)):
        by_bregman = D.ExponentialFamily.entropy(made)
        assert_close(by_bregman.detach().numpy(), made.entropy().numpy(), rtol=1e-5)


def test_the_mode_of_a_kumaraswamy_distribution_has_the_greatest_density():
    made = distributions.Kumaraswamy(minigrad.tensor([2.5, 3.0]), minigrad.tensor([1.5, 4.0]))
    grid = minigrad.linspace(0.001, 0.999, 999).unsqueeze(-1)
    found = grid[made.log_prob(grid).argmax(0), 0]
    assert_close(made.mode.numpy(), found.numpy(), rtol=0, atol=1e-3)
    none = distributions.Kumaraswamy(minigrad.tensor([0.5, 1.0]), minigrad.tensor([2.0, 1.0]))
    assert none.mode.isnan().all()


def test_the_entropy_by_bregman_has_the_right_gradient():
    rate = minigrad.tensor([0.5, 2.0], requires_grad=True)
    made = distributions.Exponential(rate)
    assert_close(minigrad.autograd.grad(
        distributions.ExponentialFamily.entropy(made).sum(), rate)[0].numpy(), [-2.0, -0.5])


def test_the_moments_of_angles():
    loc, concentration = minigrad.tensor([0.5, -7.0]), minigrad.tensor([0.3, 12.5])
    made = distributions.VonMises(loc, concentration)
    minigrad.manual_seed(0)
    angles = made.sample((20_000,)) - loc
    assert_close(angles.cos().mean(0).numpy(), (1 - made.variance).numpy(), rtol=0, atol=0.02)
    assert_close(angles.sin().mean(0).numpy(), [0.0, 0.0], rtol=0, atol=0.02)


def test_bessel_functions_of_angles_have_all_digits():
    mpmath = pytest.importorskip("mpmath", reason="compares with exact values")
    k = [1e-3, 0.7, 3.75, 40.0, 700.0, 1e5]
    made = distributions.VonMises(0.0, minigrad.tensor(k, dtype=minigrad.float64))
    with mpmath.workdps(40):
        ratios = [float(1 - mpmath.besseli(1, x) / mpmath.besseli(0, x)) for x in k]
        logs = [float(x - mpmath.log(2 * mpmath.pi * mpmath.besseli(0, x))) for x in k]
    assert_close(made.variance.numpy(), ratios, rtol=1e-9)
    assert_close(made.log_prob(minigrad.tensor(0.0)).numpy(), logs, rtol=1e-9)


def test_a_divergence_of_wisharts_is_the_mean_over_samples():
    D, kind = distributions, minigrad.float64
    p = D.Wishart(minigrad.tensor([4.0, 7.5], dtype=kind),
                  scale_tril=minigrad.tensor([[1.5, 0.0], [0.4, 0.7]], dtype=kind))
    q = D.Wishart(minigrad.tensor([5.0, 6.0], dtype=kind),
                  minigrad.tensor([[2.0, 0.1], [0.1, 1.0]], dtype=kind))
    minigrad.manual_seed(0)
    drawn = p.sample((20_000,))
    apart = p.log_prob(drawn) - q.log_prob(drawn)
    error = (apart.std(0) / len(drawn) ** 0.5).numpy()
    found = D.kl_divergence(p, q).detach().numpy()
    assert (abs(found - apart.mean(0).numpy()) < 5 * error).all()
    assert_close(D.kl_divergence(p, p).detach().numpy(), [0.0, 0.0])


def test_divergences_of_wisharts_have_gradients():
    df = minigrad.tensor([4.0, 7.5], dtype=minigrad.float64, requires_grad=True)
    factor = minigrad.tensor([[1.5, 0.0], [0.4, 0.7]], dtype=minigrad.float64, requires_grad=True)
    other = distributions.Wishart(5.0, minigrad.eye(2, dtype=minigrad.float64))

    def divergence(df, factor):
        made = distributions.Wishart(df, scale_tril=factor.tril())
        return distributions.kl_divergence(made, other)

    assert gradcheck(divergence, (df, factor))


def test_samples_of_wishart_have_the_gradient_by_their_factor():
    factor = minigrad.tensor([[1.5, 0.0], [0.4, 0.7]], dtype=minigrad.float64, requires_grad=True)

    def drawn(factor):
        minigrad.manual_seed(3)
        return distributions.Wishart(4.0, scale_tril=factor.tril()).rsample((2,))

    assert gradcheck(drawn, factor)


def test_wishart_warns_of_singular_samples_and_of_low_df():
    with pytest.warns(UserWarning, match="Low df values detected. Singular samples are highly"):
        low = distributions.Wishart(1.0001, minigrad.eye(2))
    minigrad.manual_seed(0)
    with pytest.warns(UserWarning, match="Singular sample detected"):
        low.sample((500,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # unlike PyTorch's, samples that are right give no warning
        distributions.Wishart(4.0, minigrad.eye(2)).sample((5,))


def test_one_number_of_degrees_of_freedom_serves_a_batch():
    made = distributions.Wishart(5.0, minigrad.eye(2).expand(3, 2, 2))
    assert made.mean.shape == made.mode.shape == made.variance.shape == (3, 2, 2)
    assert_close(made.mode[0].numpy(), 2 * np.eye(2))
    assert made.sample((4,)).shape == (4, 3, 2, 2)


@pytest.mark.parametrize("value", [0.25, 3.0])
def test_a_tail_has_second_derivatives_where_it_has_no_bend(value):
    leaves = [minigrad.tensor(x, dtype=minigrad.float64, requires_grad=True)
              for x in ([0.0, 0.1], [2.0, 4.0], [0.0, 0.0])]

    def density(*parts):
        made = distributions.GeneralizedPareto(*parts, validate_args=False)
        return made.log_prob(minigrad.tensor(value)), made.icdf(minigrad.tensor(0.7))

    # steps have to be larger than what counts as 0, and results have few digits there
    for leaf in leaves:
        leaf.requires_grad_()
    assert gradcheck(density, leaves)
    by_c = minigrad.autograd.functional.hessian(
        lambda c: density(leaves[0].detach(), leaves[1].detach(), c)[0].sum(), leaves[2].detach())
    z = (value - leaves[0].detach().numpy()) / leaves[1].detach().numpy()
    assert_close(by_c.numpy(), np.diag(z**2 - 2 * z**3 / 3), rtol=1e-9)


WORDS = """
D.Bernoulli()
D.Bernoulli(0.3, 0.2)
D.Bernoulli(1.5)
D.Bernoulli('a')
D.Normal(0.0, -1.0)
D.Normal(torch.zeros(2), torch.ones(3))
D.Normal(float('nan'), 1.0)
D.Uniform(1.0, 0.0)
D.Geometric(0.0)
D.Geometric(torch.tensor([0.0, 0.5]))
D.Poisson(-1.0)
D.Categorical(torch.tensor(1.0))
D.Categorical(logits=torch.tensor(1.0))
D.Categorical(torch.tensor([-1.0, 2.0]))
D.Dirichlet(torch.tensor(1.0))
D.Multinomial(torch.tensor(3), torch.ones(2))
D.Binomial(-1, torch.tensor(0.5))
D.Binomial(torch.tensor([2.0, 3.0]), torch.tensor(0.5)).enumerate_support()
D.Binomial(torch.tensor([2.0, 3.0]), torch.tensor(0.5)).entropy()
D.MultivariateNormal(torch.tensor(1.0), torch.eye(2))
D.MultivariateNormal(torch.zeros(2))
D.MultivariateNormal(torch.zeros(2), torch.ones(2))
D.MultivariateNormal(torch.zeros(2), scale_tril=torch.ones(2))
D.MultivariateNormal(torch.zeros(2), precision_matrix=torch.ones(2))
D.MultivariateNormal(torch.zeros(2), -torch.eye(2))
D.MultivariateNormal(torch.zeros(2), scale_tril=torch.ones(2, 2))
D.LowRankMultivariateNormal(torch.tensor(1.0), torch.ones(2, 1), torch.ones(2))
D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(3, 1), torch.ones(2))
D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(3))
D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(2), torch.ones(2))
D.Independent(D.Normal(0.0, 1.0), 1)
D.Independent(D.Bernoulli(torch.ones(2) / 2), 1).enumerate_support()
D.TransformedDistribution(D.Normal(0.0, 1.0), 3)
D.TransformedDistribution(D.Normal(0.0, 1.0), [3])
D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform())
D.MixtureSameFamily(3, D.Normal(0.0, 1.0))
D.MixtureSameFamily(D.Categorical(torch.ones(2)), 3)
D.MixtureSameFamily(D.Categorical(torch.ones(2)), D.Normal(torch.zeros(3), 1.0))
D.MixtureSameFamily(D.Categorical(torch.ones(2, 2)), D.Normal(torch.zeros(3, 2), 1.0))
D.Normal(0.0, 1.0).log_prob(1.0)
D.Normal(torch.zeros(2), 1.0).log_prob(torch.zeros(3))
D.Exponential(1.0).log_prob(torch.tensor(-1.0))
D.Dirichlet(torch.ones(2)).log_prob(torch.tensor([0.5, 0.5, 0.0]))
D.Dirichlet(torch.ones(2)).log_prob(torch.tensor([0.5, 0.6]))
D.Categorical(torch.ones(3)).log_prob(torch.tensor(4))
D.Normal(0.0, 1.0, validate_args=False).log_prob(1.0)
D.Exponential(1.0, validate_args=False).log_prob(torch.tensor(-1.0))
D.GeneralizedPareto(0.0, -1.0, 1.0)
D.GeneralizedPareto(0.0, 1.0, -1.0).log_prob(torch.tensor(1.5))
D.GeneralizedPareto(0.0, 1.0, torch.ones(2)), D.GeneralizedPareto.support.event_dim
D.LKJCholesky(1)
D.LKJCholesky(3, -1.0)
D.LKJCholesky(3, -0.25)
D.LKJCholesky(3).log_prob(torch.ones(3, 3))
D.LKJCholesky(3).mean
D.LKJCholesky(3).mode
D.LKJCholesky(3).rsample()
D.LKJCholesky(3, torch.ones(2)).expand((4, 2)).batch_shape, D.LKJCholesky(3).support
D.VonMises(0.0, -1.0)
D.VonMises(0.0, 1.0).rsample()
D.VonMises(0.0, 1.0).entropy()
D.VonMises(0.0, 1.0).cdf(torch.tensor(1.0))
D.VonMises(torch.zeros(2), torch.ones(3))
D.Wishart(4)
D.Wishart(4, torch.eye(2), scale_tril=torch.eye(2))
D.Wishart(4, torch.ones(2))
D.Wishart(1, torch.eye(2))
D.Wishart(torch.tensor([1.0, 4.0]), torch.eye(2))
D.Wishart(4, -torch.eye(2))
D.Wishart(4, scale_tril=torch.ones(2, 2))
D.Wishart(4, precision_matrix=torch.eye(3)), D.Wishart(4, torch.eye(2)).arg_constraints
D.Wishart(4, torch.eye(2)).log_prob(-torch.eye(2))
D.Wishart(4, torch.eye(2)).cdf(torch.eye(2))
D.Distribution().mean
D.Distribution().mode
D.Normal(0.0, 1.0).enumerate_support()
D.Normal(0.0, 1.0).sample_n(2).shape
D.Distribution.set_default_validate_args(3)
type('N', (D.Normal,), {'__init__': lambda self: D.Normal.__init__(self, 0.0, 1.0)})().expand((2,))
type('N', (D.Normal,), {})(0.0, 1.0).expand((2,))
D.kl_divergence(D.Normal(0.0, 1.0), D.Cauchy(0.0, 1.0))
D.kl_divergence(D.Normal(0.0, 1.0), D.Poisson(1.0))
D.kl_divergence(D.Independent(D.Normal(torch.zeros(2, 2), 1.0), 1), D.Independent(D.Normal(torch.zeros(2, 2), 1.0), 2))
D.kl_divergence(D.MultivariateNormal(torch.zeros(2), torch.eye(2)), D.MultivariateNormal(torch.zeros(3), torch.eye(3)))
D.constraints.dependent.check(torch.ones(1))
D.constraints.dependent.event_dim
D.constraints.dependent(event_dim=1).event_dim, D.constraints.dependent(is_discrete=True).is_discrete
D.constraints.is_dependent(D.Uniform.support), D.Uniform.support.event_dim, D.Uniform.support.is_discrete
D.constraints.independent(D.constraints.real, 2).check(torch.ones(1))
D.constraints.integer_interval(0, 2).check(torch.tensor([0.0, 1.5, 2.0, 3.0]))
D.constraints.half_open_interval(0.0, 1.0).check(torch.tensor([0.0, 1.0]))
D.constraints.less_than(1).check(torch.tensor([0.0, 1.0])), D.constraints.greater_than_eq(1)
D.constraints.one_hot.check(torch.tensor([[0.0, 1.0], [1.0, 1.0]]))
D.constraints.multinomial(3).check(torch.tensor([[0.0, 3.0], [2.0, 2.0]])), D.constraints.multinomial(3)
D.constraints.lower_triangular.check(torch.ones(2, 2)), D.constraints.lower_cholesky.check(torch.eye(2))
D.constraints.corr_cholesky.check(torch.eye(2)), D.constraints.corr_cholesky.check(2 * torch.eye(2))
D.constraints.square.check(torch.ones(2, 3)), D.constraints.symmetric.check(torch.ones(2, 2))
D.constraints.positive_semidefinite.check(torch.zeros(2, 2)), D.constraints.positive_definite.check(torch.zeros(2, 2))
D.constraints.cat([D.constraints.real, D.constraints.positive], 0, [1, 2]).check(torch.tensor([-1.0, 1.0, -1.0]))
D.constraints.stack([D.constraints.real, D.constraints.positive], 0).check(torch.tensor([-1.0, -1.0]))
D.constraints.boolean.check(torch.tensor([0, 1, 2])), D.constraints.nonnegative_integer, D.constraints.real_vector
D.utils.vec_to_tril_matrix(torch.ones(4)), D.utils.vec_to_tril_matrix(torch.ones(3), -1)
D.utils.tril_matrix_to_vec(torch.ones(2, 2), 2)
D.utils.broadcast_all(1, 'a')
"""


@pytest.mark.parametrize("text", WORDS.strip().splitlines())
def test_words(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    ours, theirs = (outcome(engine, text, D=engine.distributions) for engine in (minigrad, torch))
    assert ours.replace("minigrad.", "torch.") == theirs


def test_checks_can_be_switched_off():
    Distribution, Normal = distributions.Distribution, distributions.Normal
    Distribution.set_default_validate_args(False)
    try:
        Normal(0.0, -1.0)
        with pytest.raises(ValueError, match="Expected parameter scale"):
            Normal(0.0, -1.0, validate_args=True)
    finally:
        Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="Expected parameter scale"):
        Normal(0.0, -1.0)


@on_each_engine
def test_a_distribution_without_constraints_or_support_warns(torch):
    Bare = type("Bare", (torch.distributions.Distribution,), {})
    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        bare = Bare()
    with pytest.warns(UserWarning, match="does not define `support`"):
        bare._validate_sample(torch.zeros(()))


@on_each_engine
def test_the_nearest_pair_serves(torch):
    D = torch.distributions
    Left, Right = type("Left", (D.Normal,), {}), type("Right", (D.Normal,), {})
    D.register_kl(Left, D.Normal)(lambda p, q: "left")
    D.register_kl(D.Normal, Right)(lambda p, q: "right")
    assert D.kl_divergence(Left(0.0, 1.0), D.Normal(0.0, 1.0)) == "left"
    assert D.kl_divergence(D.Normal(0.0, 1.0), Right(0.0, 1.0)) == "right"
    with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(Left, Right\)"):
        D.kl_divergence(Left(0.0, 1.0), Right(0.0, 1.0))


@pytest.mark.parametrize("pair", [(3, int), ("a", int), (int, "a")])
def test_a_divergence_is_of_classes(pair):
    theirs = pytest.importorskip("torch", reason="compares with PyTorch").distributions
    errors = []
    for register in (distributions.register_kl, theirs.register_kl):
        assert callable(register(int, dict))  # any classes
        with pytest.raises(TypeError) as caught:
            register(*pair)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


def program(text):
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.slow
def test_it_is_imported_when_it_is_asked_for():
    assert program(
        "import sys, minigrad\n"
        "print('minigrad.distributions' in sys.modules)\n"
        "print(minigrad.distributions.Normal(0.0, 1.0), minigrad.distributions.__name__)\n"
    ) == "False\nNormal(loc: 0.0, scale: 1.0) minigrad.distributions\n"
    assert program("import minigrad.distributions as D; print(D.Normal(0.0, 1.0))"
                   ) == "Normal(loc: 0.0, scale: 1.0)\n"
    assert program("from minigrad import distributions as D; print(D.Normal(0.0, 1.0))"
                   ) == "Normal(loc: 0.0, scale: 1.0)\n"


@pytest.mark.slow
def test_it_stands_in_for_torch():
    assert program(
        "import minigrad; minigrad.as_torch()\n"
        "from torch.distributions import Normal, constraints\n"
        "from torch.distributions.normal import Normal as Same\n"
        "import torch, torch.distributions as D\n"
        "print(Normal is Same, Normal is minigrad.distributions.Normal, torch.distributions is D)\n"
    ) == "True True True\n"
