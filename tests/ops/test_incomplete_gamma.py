"""The incomplete gamma functions: values near and far, the derivative that there is not."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad
from minigrad import special
from tests._oracle import assert_close
from tests.support.engines import leaf, on_each_engine

#: a, x, and both shares, by mpmath with 40 digits.
VALUES = [
    (0.5, 0.25, 0.5204998778130465, 0.4795001221869535),
    (0.001, 0.5, 0.9994399333435292, 0.0005600666564707498),
    (3, 2, 0.32332358381693654, 0.6766764161830635),
    (3, 9, 0.9937678048936227, 0.006232195106377317),
    (9.5, 10, 0.6054218179139992, 0.3945781820860008),
    (50, 30, 0.0005188914625480343, 0.999481108537452),
    (50, 80, 0.9998692160234086, 0.00013078397659141034),
    (150, 100, 1.88421046603867e-06, 0.999998115789534),
    (150, 151, 0.5432697634436877, 0.4567302365563123),
    (150, 220, 0.9999997629550822, 2.3704491779647943e-07),
    (10000, 9700, 0.001234175584468492, 0.9987658244155315),
    (10000, 10200, 0.9767126778664011, 0.023287322133598805),
    (1e+06, 999000, 0.15865521357430365, 0.8413447864256963),
    (1e+06, 1.002e+06, 0.9771959041012301, 0.022804095898769864),
]


@pytest.mark.parametrize(("a", "x", "below", "above"), VALUES)
def test_values(a, x, below, above):
    a, x = minigrad.tensor(a, dtype=minigrad.float64), minigrad.tensor(x, dtype=minigrad.float64)
    assert_close(special.gammainc(a, x).numpy(), below, rtol=1e-11)
    assert_close(special.gammaincc(a, x).numpy(), above, rtol=1e-11)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_random_values_are_pytorchs(dtype):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    rng = np.random.default_rng(0)
    a = 10 ** rng.uniform(-2, 4, 2000)
    x = a * 10 ** rng.uniform(-1, 1, 2000)
    for name in ("igamma", "igammac"):
        ours, theirs = (getattr(engine, name)(*(
            engine.tensor(v, dtype=getattr(engine, dtype)) for v in (a, x)))
            for engine in (minigrad, torch))
        assert str(ours.dtype) == str(theirs.dtype)
        rtol = {"float64": 1e-7, "float32": 2e-4, "float16": 2e-2}[dtype]
        assert_close(ours.numpy(), theirs.numpy(), rtol=rtol, atol=rtol / 100)


@on_each_engine
@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_there_is_no_derivative_by_the_first(torch, name):
    a, x = leaf(torch, [2.0, 3.0]), leaf(torch, [1.0, 2.0])
    y = getattr(torch, name)(a, x)
    torch.autograd.grad(y.sum(), x, retain_graph=True)
    with pytest.raises(NotImplementedError, match=f"derivative for '{name}: input' is not impl"):
        y.sum().backward()
    assert x.grad is None


@on_each_engine
def test_integers_and_numbers_are_refused(torch):
    with pytest.raises(NotImplementedError, match="\"igamma_cpu\" not implemented for 'Long'"):
        torch.igamma(torch.tensor([1]), torch.tensor([1]))
    with pytest.raises(TypeError, match="argument 'other' .position 2. must be Tensor, not float"):
        torch.igamma(torch.tensor([1.0]), 2.0)
