"""Orthogonal polynomials, with a degree for each element; as in PyTorch, without derivatives.

The degree is truncated to an integer; for a negative degree the result is 0.

Source: https://docs.pytorch.org/docs/stable/special.html
"""

from ...backend import special_polynomials as polynomials
from ...op.declaration import Binary
from .host import of_host_pair


class Polynomial(Binary, abstract=True):
    """The polynomial of degree `other` at `self`."""

    promote, numbers = "float", True
    inplace = method = False
    nondifferentiable = detached = True

    def samples(make):
        yield make(3, 4).detach(), make.ints(3, 4, high=5)
        yield make(0, 2).detach(), make.ints(2, high=5)


class SpecialChebyshevPolynomialT(Polynomial):
    """Chebyshev polynomials of the first kind: 1, x, 2 x**2 - 1 ...

    >>> from minigrad import special, tensor
    >>> special.chebyshev_polynomial_t(tensor([2.0]), 2)
    tensor([7.])
    """

    forward = of_host_pair(polynomials.chebyshev_t)


class SpecialChebyshevPolynomialU(Polynomial):
    """Chebyshev polynomials of the second kind: 1, 2 x, 4 x**2 - 1 ...

    >>> from minigrad import special, tensor
    >>> special.chebyshev_polynomial_u(tensor([2.0]), 2)
    tensor([15.])
    """

    forward = of_host_pair(polynomials.chebyshev_u)


class SpecialChebyshevPolynomialV(Polynomial):
    """Chebyshev polynomials of the third kind: 1, 2 x - 1 ...

    >>> from minigrad import special, tensor
    >>> special.chebyshev_polynomial_v(tensor([2.0]), 2)
    tensor([11.])
    """

    forward = of_host_pair(polynomials.chebyshev_v)


class SpecialChebyshevPolynomialW(Polynomial):
    """Chebyshev polynomials of the fourth kind: 1, 2 x + 1 ...

    >>> from minigrad import special, tensor
    >>> special.chebyshev_polynomial_w(tensor([2.0]), 2)
    tensor([19.])
    """

    forward = of_host_pair(polynomials.chebyshev_w)


class SpecialShiftedChebyshevPolynomialT(Polynomial):
    """Chebyshev polynomials of the first kind at 2 x - 1.

    >>> from minigrad import special, tensor
    >>> special.shifted_chebyshev_polynomial_t(tensor([2.0]), 2)
    tensor([17.])
    """

    forward = of_host_pair(polynomials.shifted_t)


class SpecialShiftedChebyshevPolynomialU(Polynomial):
    """Chebyshev polynomials of the second kind at 2 x - 1.

    >>> from minigrad import special, tensor
    >>> special.shifted_chebyshev_polynomial_u(tensor([2.0]), 2)
    tensor([35.])
    """

    forward = of_host_pair(polynomials.shifted_u)


class SpecialShiftedChebyshevPolynomialV(Polynomial):
    """Chebyshev polynomials of the third kind at 2 x - 1.

    >>> from minigrad import special, tensor
    >>> special.shifted_chebyshev_polynomial_v(tensor([2.0]), 2)
    tensor([29.])
    """

    forward = of_host_pair(polynomials.shifted_v)


class SpecialShiftedChebyshevPolynomialW(Polynomial):
    """Chebyshev polynomials of the fourth kind at 2 x - 1.

    >>> from minigrad import special, tensor
    >>> special.shifted_chebyshev_polynomial_w(tensor([2.0]), 2)
    tensor([41.])
    """

    forward = of_host_pair(polynomials.shifted_w)


class SpecialHermitePolynomialH(Polynomial):
    """Physicist's Hermite polynomials: 1, 2 x, 4 x**2 - 2 ...

    >>> from minigrad import special, tensor
    >>> special.hermite_polynomial_h(tensor([2.0]), 2)
    tensor([14.])
    """

    forward = of_host_pair(polynomials.hermite_h)


class SpecialHermitePolynomialHe(Polynomial):
    """Probabilist's Hermite polynomials: 1, x, x**2 - 1 ...

    >>> from minigrad import special, tensor
    >>> special.hermite_polynomial_he(tensor([2.0]), 2)
    tensor([3.])
    """

    forward = of_host_pair(polynomials.hermite_he)


class SpecialLaguerrePolynomialL(Polynomial):
    """Laguerre polynomials: 1, 1 - x, (x**2 - 4 x + 2) / 2 ...

    >>> from minigrad import special, tensor
    >>> special.laguerre_polynomial_l(tensor([2.0]), 2)
    tensor([-1.])
    """

    forward = of_host_pair(polynomials.laguerre_l)


class SpecialLegendrePolynomialP(Polynomial):
    """Legendre polynomials: 1, x, (3 x**2 - 1) / 2 ...

    >>> from minigrad import special, tensor
    >>> special.legendre_polynomial_p(tensor([2.0]), 2)
    tensor([5.5000])
    """

    forward = of_host_pair(polynomials.legendre_p)
