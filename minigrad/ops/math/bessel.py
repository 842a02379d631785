"""Bessel functions of the first and second kind, and modified ones, some of them scaled.

They are computed on the CPU. As in PyTorch, only the modified functions of the first kind have
derivatives.

Source: https://docs.pytorch.org/docs/stable/special.html
"""

from ...backend import special_bessel
from ...op.declaration import F, Unary
from .host import of_host


class Bessel(Unary, abstract=True):
    """A function of one tensor, computed on the CPU; as in PyTorch, it has no derivative."""

    promote, inplace, method = "float", False, False
    nondifferentiable = detached = True

    def samples(make):
        # beyond 2, PyTorch's J and Y are accurate to six digits
        yield from (make(3, 4, low=0.5, high=2), make(low=0.5, high=2), make(0, 2))


class SpecialBesselJ0(Bessel):
    """The Bessel function of the first kind of order 0.

    >>> from minigrad import special, tensor
    >>> special.bessel_j0(tensor([0.0, 1.0]))
    tensor([1.0000, 0.7652])
    """

    name = "special_bessel_j0"
    forward = of_host(special_bessel.bessel_j0)


class SpecialBesselJ1(Bessel):
    """The Bessel function of the first kind of order 1.

    >>> from minigrad import special, tensor
    >>> special.bessel_j1(tensor([0.0, 1.0]))
    tensor([0.0000, 0.4401])
    """

    name = "special_bessel_j1"
    forward = of_host(special_bessel.bessel_j1)


class SpecialBesselY0(Bessel):
    """The Bessel function of the second kind of order 0: -inf at 0, nan below.

    >>> from minigrad import special, tensor
    >>> special.bessel_y0(tensor([0.0, 1.0]))
    tensor([  -inf, 0.0883])
    """

    name = "special_bessel_y0"
    forward = of_host(special_bessel.bessel_y0)


class SpecialBesselY1(Bessel):
    """The Bessel function of the second kind of order 1: -inf at 0, nan below.

    >>> from minigrad import special, tensor
    >>> special.bessel_y1(tensor([1.0]))
    tensor([-0.7812])
    """

    name = "special_bessel_y1"
    forward = of_host(special_bessel.bessel_y1)


class SpecialModifiedBesselI0(Bessel):
    """The modified Bessel function of the first kind of order 0; `i0` also has a derivative.

    >>> from minigrad import special, tensor
    >>> special.modified_bessel_i0(tensor([1.0]))
    tensor([1.2661])
    """

    name = "special_modified_bessel_i0"
    forward = of_host(special_bessel.i0)


class SpecialModifiedBesselI1(Bessel):
    """The modified Bessel function of the first kind of order 1; `i1` also has a derivative.

    >>> from minigrad import special, tensor
    >>> special.modified_bessel_i1(tensor([1.0]))
    tensor([0.5652])
    """

    name = "special_modified_bessel_i1"
    forward = of_host(special_bessel.i1)


class SpecialModifiedBesselK0(Bessel):
    """The modified Bessel function of the second kind of order 0: inf at 0, nan below.

    >>> from minigrad import special, tensor
    >>> special.modified_bessel_k0(tensor([1.0]))
    tensor([0.4210])
    """

    name = "special_modified_bessel_k0"
    forward = of_host(special_bessel.k0)


class SpecialModifiedBesselK1(Bessel):
    """The modified Bessel function of the second kind of order 1: inf at 0, nan below.

    >>> from minigrad import special, tensor
    >>> special.modified_bessel_k1(tensor([1.0]))
    tensor([0.6019])
    """

    name = "special_modified_bessel_k1"
    forward = of_host(special_bessel.k1)


class SpecialScaledModifiedBesselK0(Bessel):
    """exp(x) times the modified Bessel function of the second kind of order 0.

    >>> from minigrad import special, tensor
    >>> special.scaled_modified_bessel_k0(tensor([1.0]))
    tensor([1.1445])
    """

    name = "special_scaled_modified_bessel_k0"
    forward = of_host(special_bessel.k0e)


class SpecialScaledModifiedBesselK1(Bessel):
    """exp(x) times the modified Bessel function of the second kind of order 1.

    >>> from minigrad import special, tensor
    >>> special.scaled_modified_bessel_k1(tensor([1.0]))
    tensor([1.6362])
    """

    name = "special_scaled_modified_bessel_k1"
    forward = of_host(special_bessel.k1e)


class SpecialSphericalBesselJ0(Bessel):
    """sin(x) / x, and 1 at 0: the spherical Bessel function of order 0.

    >>> from minigrad import special, tensor
    >>> special.spherical_bessel_j0(tensor([0.0, 1.0]))
    tensor([1.0000, 0.8415])
    """

    name = "special_spherical_bessel_j0"
    forward = of_host(special_bessel.spherical_bessel_j0)


class SpecialAiryAi(Bessel):
    """The Airy function Ai, a solution of y'' = x y that vanishes far to the right.

    >>> from minigrad import special, tensor
    >>> special.airy_ai(tensor([0.0, 1.0]))
    tensor([0.3550, 0.1353])
    """

    name = "special_airy_ai"
    forward = of_host(special_bessel.airy_ai)


# -------------------------------------------------------------------- differentiable functions


class OfI(Unary, abstract=True):
    """A modified Bessel function of the first kind."""

    promote = "float"
    inplace = method = False

    def samples(make):
        yield from (make(3, 4, low=0.5, high=3), make(low=2, high=3), make(0, 2))


def over(result, x):
    """Return `result / x`, or its limit 1/2 at zero."""
    zero = F.eq(x, 0)
    return F.where(zero, 0.5, result / F.where(zero, 1, x))


class I0(OfI):
    """The modified Bessel function of the first kind of order 0; its derivative is `i1`.

    >>> from minigrad import i0, tensor
    >>> i0(tensor([0.0, 1.0]))
    tensor([1.0000, 1.2661])
    """

    inplace = method = True
    forward = of_host(special_bessel.i0)

    def grad_self(g, self):
        return g * F.special_i1(self)

    def samples(make):
        yield from (make(3, 4, low=-3, high=3), make(low=2, high=3), make(0, 2))


class SpecialI0e(OfI):
    """exp(-|x|) times `i0`.

    >>> from minigrad import special, tensor
    >>> special.i0e(tensor([0.0, 1.0]))
    tensor([1.0000, 0.4658])
    """

    name, node = "special_i0e", "SpecialI0EBackward0"
    forward = of_host(special_bessel.i0e)

    def grad_self(g, self, result):
        return g * (F.special_i1e(self) - F.sign(self) * result)

    def samples(make):
        yield from (make(3, 4, low=-3, high=3), make(low=20, high=30), make(0, 2))


class SpecialI1(OfI):
    """The modified Bessel function of the first kind of order 1.

    >>> from minigrad import special, tensor
    >>> special.i1(tensor([0.0, 1.0]))
    tensor([0.0000, 0.5652])
    """

    name = "special_i1"
    forward = of_host(special_bessel.i1)

    def grad_self(g, self, result):
        return g * (F.i0(self) - over(result, self))


class SpecialI1e(OfI):
    """exp(-|x|) times `special.i1`.

    >>> from minigrad import special, tensor
    >>> special.i1e(tensor([0.0, 1.0]))
    tensor([0.0000, 0.2079])
    """

    name, node = "special_i1e", "SpecialI1EBackward0"
    forward = of_host(special_bessel.i1e)

    def grad_self(g, self, result):
        return g * (F.special_i0e(self) - F.sign(self) * result - over(result, self))
