"""Bessel functions, polynomials and functions of the normal distribution, beside mpmath's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd import gradcheck, gradgradcheck

special = torch.special


@pytest.fixture(scope="module")
def mpmath() -> Any:
    return pytest.importorskip("mpmath", reason="its numbers are the other side")


#: In each range in which a formula of its own is used, and near its ends.
PLACES = [1e-9, 0.3, 1.7, 2.0, 3.3, 4.99, 5.01, 11.2, 24.9, 25.1, 60.0, 700.0]
BESSEL = {
    "bessel_j0": lambda m, x: m.besselj(0, x), "bessel_j1": lambda m, x: m.besselj(1, x),
    "bessel_y0": lambda m, x: m.bessely(0, x), "bessel_y1": lambda m, x: m.bessely(1, x),
    "i0": lambda m, x: m.besseli(0, x), "i1": lambda m, x: m.besseli(1, x),
    "i0e": lambda m, x: m.besseli(0, x) * m.exp(-x),
    "i1e": lambda m, x: m.besseli(1, x) * m.exp(-x),
    "modified_bessel_k0": lambda m, x: m.besselk(0, x),
    "modified_bessel_k1": lambda m, x: m.besselk(1, x),
    "scaled_modified_bessel_k0": lambda m, x: m.besselk(0, x) * m.exp(x),
    "scaled_modified_bessel_k1": lambda m, x: m.besselk(1, x) * m.exp(x),
    "erfcx": lambda m, x: m.exp(m.mpf(x) ** 2) * m.erfc(x),
    "log_ndtr": lambda m, x: m.log(m.ncdf(-x)),
}


@pytest.mark.parametrize("name", BESSEL)
def test_values(name, mpmath):
    sign = -1 if name == "log_ndtr" else 1
    x = torch.tensor(PLACES, dtype=torch.float64) * sign
    with mpmath.workdps(40):
        wanted = [float(BESSEL[name](mpmath, place)) for place in PLACES]
    scale = np.maximum(np.abs(wanted), 0.01 if name[:8] in ("bessel_j", "bessel_y") else 0)
    if name in ("bessel_j1", "i1", "i1e"):
        scale = np.abs(wanted)
    found = getattr(special, name)(x).numpy()
    assert (np.abs(found - wanted) <= 2e-12 * scale + 1e-300).all(), (found, wanted)


def test_zeta(mpmath):
    s, q = np.array([1.5, 2.0, 3.0, 7.25, 4.0]), np.array([0.2, 30.0, -2.5, 1.0, -0.75])
    with mpmath.workdps(30):
        wanted = [float(mpmath.zeta(int(a) if a == int(a) else a, b)) for a, b in zip(s, q)]
    assert np.allclose(special.zeta(torch.tensor(s), torch.tensor(q)).numpy(), wanted, 1e-13)


def test_the_inverse_of_the_normal_distribution():
    p = torch.tensor([1e-300, 1e-20, 0.001, 0.3, 0.5, 0.77, 0.999999], dtype=torch.float64)
    x = special.ndtri(p)
    torch.testing.assert_close(special.log_ndtr(x), p.log(), rtol=1e-12, atol=1e-15)
    edges = special.ndtri(torch.tensor([0.0, 1.0, 1.5]))
    assert edges[0] == -torch.inf and edges[1] == torch.inf and edges[2].isnan()


@pytest.mark.parametrize(("name", "polynomial"), [
    ("chebyshev_polynomial_t", np.polynomial.Chebyshev), ("legendre_polynomial_p",
                                                          np.polynomial.Legendre),
    ("hermite_polynomial_h", np.polynomial.Hermite),
    ("hermite_polynomial_he", np.polynomial.HermiteE),
    ("laguerre_polynomial_l", np.polynomial.Laguerre)])
def test_polynomials_are_numpys(name, polynomial):
    x = np.linspace(-2, 2, 9)
    for n in range(7):
        found = getattr(special, name)(torch.tensor(x), n).numpy()
        assert np.allclose(found, polynomial.basis(n)(x))


@pytest.mark.parametrize("shift", ["", "shifted_"])
def test_chebyshev_polynomials_by_sines(shift):
    t = np.linspace(0.1, 3, 7)
    x = torch.tensor(np.cos(t) if not shift else (np.cos(t) + 1) / 2)
    for n in (0, 1, 5):
        formulas = {"u": np.sin((n + 1) * t) / np.sin(t),
                    "v": np.cos((n + 0.5) * t) / np.cos(t / 2),
                    "w": np.sin((n + 0.5) * t) / np.sin(t / 2)}
        for kind, wanted in formulas.items():
            found = getattr(special, f"{shift}chebyshev_polynomial_{kind}")(x, n)
            assert np.allclose(found.numpy(), wanted)


@pytest.mark.parametrize("name", ["i0", "i0e", "i1", "i1e", "erfcx", "ndtr", "log_ndtr", "ndtri",
                                  "entr"])
def test_derivatives(name):
    x = torch.tensor([0.2, 0.5, 0.8], dtype=torch.float64, requires_grad=True)
    function = getattr(special, name)
    assert gradcheck(function, x, check_forward_ad=True) and gradgradcheck(function, x)


def test_the_slope_at_zero():
    x = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    for function in (special.i1, special.i1e):
        assert torch.autograd.grad(function(x).sum(), x)[0].item() == 0.5


def test_infinities_and_nan():
    x = torch.tensor([0.0, -1.0, torch.inf, torch.nan])
    assert special.bessel_y0(x).isnan().tolist() == [False, True, False, True]
    assert special.modified_bessel_k1(x)[0] == torch.inf
    assert special.entr(x).isneginf().tolist() == [False, True, True, False]
    assert special.xlog1py(torch.zeros(2), torch.tensor([-1.0, torch.nan])).isnan().tolist() == [
        False, True]
    assert special.zeta(torch.tensor([1.0, 0.5]), torch.ones(2)).isposinf().tolist() == [True,
                                                                                         False]


@pytest.mark.parametrize(("ours", "wanted"), [
    (lambda: torch.signal.windows.hann(7), np.hanning(7)),
    (lambda: torch.signal.windows.hamming(7), np.hamming(7)),
    (lambda: torch.signal.windows.blackman(7), np.blackman(7)),
    (lambda: torch.signal.windows.bartlett(7), np.bartlett(7)),
    (lambda: torch.signal.windows.kaiser(7, beta=5.0), np.kaiser(7, 5.0)),
    (lambda: torch.hann_window(6), np.hanning(7)[:6]),
    (lambda: torch.kaiser_window(7, False, 5.0), np.kaiser(7, 5.0)),
    (lambda: torch.bartlett_window(1), np.ones(1)),
])
def test_windows_are_numpys(ours, wanted):
    assert np.allclose(ours().numpy(), wanted, atol=1e-6)


@pytest.mark.parametrize("call", [
    lambda: torch.signal.windows.hann(-1), lambda: torch.signal.windows.gaussian(3, std=0),
    lambda: torch.signal.windows.hann(3, dtype=torch.int64),
    lambda: torch.signal.windows.general_cosine(3, a=[]),
    lambda: torch.signal.windows.exponential(3, center=1.0),
])
def test_windows_that_cannot_be(call):
    with pytest.raises(ValueError):
        call()


def test_exponentials_of_matrices():
    A = torch.tensor([[0.0, 30.0], [-30.0, 0.0]], dtype=torch.float64)
    wanted = [[np.cos(30), np.sin(30)], [-np.sin(30), np.cos(30)]]
    assert np.allclose(torch.matrix_exp(A).numpy(), wanted)
    x = (torch.randn(2, 3, 3, dtype=torch.float64)).requires_grad_()
    assert gradcheck(torch.matrix_exp, x) and gradgradcheck(torch.matrix_exp, x)


def test_failures_are_numbers():
    batch = torch.stack([torch.eye(2), -torch.eye(2), torch.zeros(2, 2)])
    assert torch.linalg.cholesky_ex(batch).info.tolist() == [0, 1, 1]
    inverse, info = torch.linalg.inv_ex(batch)
    assert info.tolist() == [0, 0, 1] and inverse[1].tolist() == [[-1, 0], [0, -1]]
    assert torch.linalg.solve_ex(batch, torch.ones(3, 2, 1)).info.tolist() == [0, 0, 1]
    with pytest.raises(torch.linalg.LinAlgError):
        torch.linalg.inv_ex(batch, check_errors=True)


def test_systems_of_tensors():
    A = torch.randn(2, 3, 6, dtype=torch.float64)
    x = torch.linalg.tensorsolve(A, torch.ones(2, 3, dtype=torch.float64))
    torch.testing.assert_close(torch.tensordot(A, x, 1), torch.ones(2, 3, dtype=torch.float64))
    inverse = torch.linalg.tensorinv(A, 2)
    torch.testing.assert_close(torch.tensordot(inverse, torch.ones(2, 3, dtype=torch.float64)), x)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_airy_function_beside_mpmath(mpmath, dtype):
    x = torch.tensor([*np.linspace(-30, 30, 61), -12.01, -4.01, -11.99, 0.99, 100, 150],
                     dtype=dtype)
    exact = np.array([float(mpmath.airyai(number)) for number in x.tolist()])
    bound = 3e-12 if dtype is torch.float64 else 3e-7
    found = special.airy_ai(x).numpy()
    scale = np.where(x.numpy() > 0, abs(exact), 1)  # on the left, it crosses zero
    assert (abs(found - exact) <= bound * scale + np.finfo(found.dtype).tiny).all()
