"""Float32 functions of one number beside float64: the error is at most PyTorch's, plus one unit.

The functions are found by calling what PyTorch has under `torch.special`, `torch.nn.functional`
and as methods of tensors, and we have as well.
"""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import minigrad

torch = pytest.importorskip("torch", reason="the error is compared with PyTorch's")

RANGES = [(-1, 1), (1e-3, 4), (-8, 8), (1, 40)]
#: What draws numbers has no exact value.
RANDOM = {"rrelu", "dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d",
          "dropout2d", "dropout3d", "bernoulli", "poisson", "rand_like", "randn_like", "empty_like"}
#: Where NumPy's own code for float32 errs by two units or more, and we hand the error on.
NUMPYS = {"asin", "arcsin", "celu", "cosh", "elu", "entr", "exp", "exp2", "expm1", "log", "log10",
          "log1p", "log2", "logsigmoid", "mish", "selu", "softplus", "tan"}
#: Where a value near zero is a difference of large ones.  PyTorch's float64 errs in the seventh
#: digit of the Bessel functions and the sixth of the Airy function; ours are compared with mpmath
#: in test_special_functions.py.
NEAR_ZERO = {"airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "tanhshrink"}


def named(engine, path):
    for part in path.split("."):
        engine = getattr(engine, part)
    return engine


def is_elementwise(function) -> bool:
    """Tell whether a function of PyTorch maps each float32 number on its own."""
    few = torch.tensor([0.3, 0.7, 0.45])
    try:
        whole, apart = function(few), torch.stack([function(each) for each in few])
    except Exception:  # it wants other arguments
        return False
    return (whole.dtype == torch.float32 and whole.shape == few.shape
            and torch.allclose(whole, apart, rtol=1e-6)
            and not torch.equal(whole, function(few.flip(0))))


def of_one_number() -> list[str]:
    names = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of deprecated names
        for there, here, home in [(torch.Tensor, minigrad, ""),
                                  (torch.special, minigrad.special, "special."),
                                  (torch.nn.functional, minigrad.nn.functional, "nn.functional.")]:
            for name in sorted(set(dir(there)) & set(dir(here)) - RANDOM):
                function = getattr(torch if there is torch.Tensor else there, name, None)
                if (callable(function) and not inspect.isclass(function)
                        and not name.startswith("_") and not name.endswith("_")
                        and is_elementwise(function)):
                    names.append(home + name)
    return names


def largest_error(values, exact) -> float:
    """Return the largest error in units of the last place, where both are finite."""
    with np.errstate(all="ignore"):
        errors = np.abs(values.astype(np.float64) - exact) / np.spacing(
            np.abs(exact).astype(np.float32))
    return float(np.max(errors, where=np.isfinite(errors), initial=0.0))


def errors_of(name: str, low: float, high: float) -> tuple[float, float]:
    """Return the largest error of our function and of PyTorch's between two numbers."""
    x = np.random.default_rng(0).uniform(low, high, 4000).astype(np.float32)
    ours, theirs = named(minigrad, name), named(torch, name)
    exact = theirs(torch.tensor(x, dtype=torch.float64)).numpy()
    return (largest_error(ours(minigrad.tensor(x)).numpy(), exact),
            largest_error(theirs(torch.tensor(x)).numpy(), exact))


def test_the_search_finds_the_functions():
    found = of_one_number()
    assert len(found) > 90
    assert {"erf", "sigmoid", "special.i0e", "nn.functional.gelu"} <= set(found)
    assert {name.rpartition(".")[2] for name in found} >= NUMPYS | NEAR_ZERO


@pytest.mark.parametrize("name", of_one_number())
def test_the_error_is_at_most_one_unit_above_pytorchs(name):
    short = name.rpartition(".")[2]
    if short in NEAR_ZERO:
        x = np.random.default_rng(0).uniform(0.1, 9, 4000).astype(np.float32)
        ours = named(minigrad, name)(minigrad.tensor(x)).numpy()
        exact = named(minigrad, name)(minigrad.tensor(x, dtype=minigrad.float64)).numpy()
        np.testing.assert_allclose(ours, exact, rtol=2e-7, atol=3e-7)
        return
    for low, high in RANGES:
        ours, theirs = errors_of(name, low, high)
        assert ours <= (max(theirs + 1, 4) if short in NUMPYS else theirs + 1), (low, high)
