"""Transforms: inverses, log determinants, shapes and sets, beside PyTorch's where it is there."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import minigrad
from minigrad import distributions
from tests._oracle import assert_close
from tests.support.engines import on_each_engine
from tests.support.parity import outcome

#: Expressions of the module `D` and the engine `torch`; with the shape of an argument.
TRANSFORMS = {
    "D.ExpTransform()": (3,),
    "D.SigmoidTransform()": (3,),
    "D.SoftplusTransform()": (3,),
    "D.TanhTransform()": (3,),
    "D.AffineTransform(1.0, -2.0)": (3,),
    "D.AffineTransform(torch.ones(2, 1, dtype=torch.float64), torch.ones(4).double() / 3)": (2, 4),
    "D.AffineTransform(0.5, 2.0, event_dim=1)": (2, 3),
    "D.ComposeTransform([D.ExpTransform(), D.PowerTransform(0.5)])": (3,),
    "D.ComposeTransform([D.StickBreakingTransform(), D.AffineTransform(1.0, 2.0)])": (2, 3),
    "D.ComposeTransform([D.AffineTransform(1.0, 2.0), D.StickBreakingTransform()])": (2, 3),
    "D.identity_transform": (3,),
    "D.ExpTransform().inv": (3,),
    "D.IndependentTransform(D.TanhTransform(), 1)": (2, 3),
    "D.ReshapeTransform((6,), (2, 3))": (4, 6),
    "D.StickBreakingTransform()": (2, 3),
    "D.CorrCholeskyTransform()": (2, 6),
    "D.CumulativeDistributionTransform(D.Normal(0.5, 2.0))": (3,),
    "D.StackTransform([D.ExpTransform(), D.identity_transform, D.TanhTransform()], 1)": (2, 3),
    "D.CatTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0)], 1, [1, 2])": (2, 3),
    "D.SoftmaxTransform()": (2, 3),
    "D.LowerCholeskyTransform()": (2, 3, 3),
    "D.PositiveDefiniteTransform()": (2, 3, 3),
    "D.AbsTransform()": (3,),
}
every = pytest.mark.parametrize(("text", "shape"), TRANSFORMS.items(), ids=TRANSFORMS)
NO_SLOPE = ("Softmax", "LowerCholesky", "PositiveDefinite", "Abs")


def made(torch, text):
    return eval(text, {"torch": torch, "D": torch.distributions})


def argument(torch, shape, positive):
    values = np.random.default_rng(0).normal(size=shape)
    return torch.tensor(np.exp(values) if positive else values, requires_grad=True)


@on_each_engine
@every
def test_the_inverse_leads_back(torch, text, shape):
    transform, x = made(torch, text), argument(torch, shape, ".inv" in text)
    y = transform(x)
    assert tuple(y.shape) == tuple(transform.forward_shape(x.shape))
    assert tuple(transform.inverse_shape(y.shape)) == tuple(shape)
    if not any(name in text for name in NO_SLOPE):
        assert_close(transform.inv(y).detach().numpy(), x.detach().numpy(), rtol=1e-6)
    assert_close(transform(transform.inv(y)).detach().numpy(), y.detach().numpy(), rtol=1e-6)
    assert bool(torch.all(transform.codomain.check(y))) or "Softmax" in text


@on_each_engine
@pytest.mark.parametrize(("text", "shape"), [
    (text, shape) for text, shape in TRANSFORMS.items()
    if not any(name in text for name in (*NO_SLOPE, "CorrChol", "Stick", "Cat"))])
def test_the_log_determinant_is_that_of_the_slopes(torch, text, shape):
    transform, x = made(torch, text), argument(torch, shape, ".inv" in text)
    y = transform(x)
    (slope,) = torch.autograd.grad(y.sum(), x)
    found = transform.log_abs_det_jacobian(x, y)
    wanted = np.log(np.abs(slope.numpy())).reshape(*found.shape, -1).sum(-1)
    assert_close(found.detach().numpy(), wanted, rtol=1e-6)


@on_each_engine
def test_the_log_determinant_of_vectors(torch):
    for name, rows in (("StickBreakingTransform", slice(0, 3)),
                       ("CorrCholeskyTransform", [3, 6, 7])):
        x = torch.tensor([0.3, -1.0, 0.6], dtype=torch.float64)
        transform = getattr(torch.distributions, name)()
        jacobian = torch.autograd.functional.jacobian(
            lambda x, transform=transform: transform(x).flatten(), x)
        chosen = jacobian.numpy()[rows]
        found = transform.log_abs_det_jacobian(x, transform(x)).item()
        assert found == pytest.approx(math.log(abs(np.linalg.det(chosen))), rel=1e-9)


@every
def test_as_in_pytorch(text, shape):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    found = []
    for engine in (minigrad, torch):
        transform, x = made(engine, text), argument(engine, shape, ".inv" in text)
        y = transform(x)
        results = [y, transform.inv(y)]
        if not any(name in text for name in NO_SLOPE):
            results.append(transform.log_abs_det_jacobian(x, y))
        total = sum((r * r).sum() for r in results)
        (slope,) = engine.autograd.grad(total, x)
        found.append(([r.detach().numpy() for r in (*results, slope)],
                      [repr(transform), str(transform.domain), str(transform.codomain),
                       bool(transform.bijective)]))
    (ours, shown), (theirs, told) = found
    for mine, other in zip(ours, theirs):
        assert mine.shape == other.shape
        assert_close(mine, other, rtol=1e-6, atol=1e-7)
    assert shown == told


WORDS = """
D.Transform(2)
D.ReshapeTransform((2,), (3,))
D.ReshapeTransform((2,), (2, 1))(torch.zeros(3))
D.ReshapeTransform((2, 1), (2,)).forward_shape((2,))
D.StickBreakingTransform().forward_shape(())
D.StickBreakingTransform().event_dim
D.ReshapeTransform((2,), (2, 1)).event_dim
D.CorrCholeskyTransform().forward_shape((4,))
D.CorrCholeskyTransform().inverse_shape((4, 3))
D.IndependentTransform(D.ExpTransform(), 2)(torch.zeros(3))
D.ExpTransform() == D.ExpTransform(), D.ExpTransform() == D.TanhTransform()
D.AffineTransform(0, 1) == D.AffineTransform(0, 1), D.AffineTransform(0, 1) == D.AffineTransform(0, 2)
D.PowerTransform(2) == D.PowerTransform(torch.tensor(2.)), D.ExpTransform().inv == D.ExpTransform().inv
D.ComposeTransform([D.ExpTransform()]) == D.ComposeTransform([D.ExpTransform()])
D.AffineTransform(0, -1).sign, D.AffineTransform(0, torch.tensor([2., -1.])).sign, D.PowerTransform(-1.0).sign
D.ComposeTransform([D.AffineTransform(0, -1), D.ExpTransform()]).sign
D.StickBreakingTransform().sign
D.StickBreakingTransform().domain, D.LowerCholeskyTransform().codomain
D.biject_to(D.constraints.positive), D.transform_to(D.constraints.simplex), D.biject_to(D.constraints.simplex)
D.biject_to(D.constraints.interval(torch.tensor(1.), 3.))(torch.zeros(2))
D.biject_to(D.constraints.less_than(2.))(torch.zeros(2))
D.biject_to(D.constraints.greater_than(2.))(torch.zeros(2))
D.biject_to(D.constraints.boolean)
D.biject_to(D.constraints.lower_cholesky)
D.transform_to(D.constraints.lower_cholesky)(torch.zeros(2, 2))
D.transform_to(D.constraints.independent(D.constraints.positive, 1))
D.biject_to(D.constraints.cat([D.constraints.real, D.constraints.positive], 0, [1, 2]))(torch.zeros(3))
D.biject_to(D.constraints.stack([D.constraints.real, D.constraints.positive], 0))(torch.zeros(2))
D.biject_to.register(3, lambda c: c)
"""


@pytest.mark.parametrize("text", WORDS.strip().splitlines())
def test_words(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    ours, theirs = (outcome(engine, text, D=engine.distributions) for engine in (minigrad, torch))
    assert ours == theirs.replace("ReciprocalBackward0", "ReciprocalBackward")


@on_each_engine
def test_a_cache_gives_the_argument_itself(torch):
    D = torch.distributions
    for transform in (D.ExpTransform(cache_size=1), D.AffineTransform(1.0, 2.0).with_cache(),
                      D.ExpTransform().inv.with_cache(1)):
        x = torch.tensor([0.5, 2.0])
        y = transform(x)
        assert transform.inv(y) is x and transform(x) is y
        assert transform.inv(y.clone()) is not x
    assert D.ExpTransform().inv.inv == D.ExpTransform()


def test_copies_and_pickles():
    transform = distributions.AffineTransform(1.0, 2.0)
    assert transform.inv.inv is transform
    for other in (copy.deepcopy(transform), pickle.loads(pickle.dumps(transform))):
        assert other == transform and other.inv.inv is other
