"""Functions of the normal distribution, entropies, and the Hurwitz zeta function.

Source: https://docs.pytorch.org/docs/stable/special.html
"""

import math

from ...backend import special_normal
from ...op.declaration import Binary, F
from .host import of_host, of_host_pair
from .smooth import Smooth


class OfSpecial(Smooth, abstract=True):
    """A function that is published only in the `special` module."""

    inplace = method = False

    def samples(make):
        yield from (make(3, 4, low=0.1, high=0.9), make(low=0.1, high=0.9), make(0, 2))


class SpecialErfcx(OfSpecial):
    """exp(x**2) erfc(x); its derivative is 2 x result - 2 / sqrt(pi).

    >>> from minigrad import special, tensor
    >>> special.erfcx(tensor([0.0, 9.0]))
    tensor([1.0000, 0.0623])
    """

    forward = of_host(special_normal.erfcx)

    def grad_self(g, self, result):
        return g * (2 * self * result - 2 / math.sqrt(math.pi))


class SpecialNdtr(OfSpecial):
    """The standard normal cumulative distribution function; its derivative is the density.

    >>> from minigrad import special, tensor
    >>> special.ndtr(tensor([0.0, 1.0]))
    tensor([0.5000, 0.8413])
    """

    node = "MulBackward0"  # the last op that PyTorch runs
    forward = of_host(special_normal.ndtr)

    def grad_self(g, self):
        return g * F.exp(self * self / -2) / math.sqrt(2 * math.pi)


class SpecialLogNdtr(OfSpecial):
    """The logarithm of `special.ndtr`, accurate even far below zero.

    >>> from minigrad import special, tensor
    >>> special.log_ndtr(tensor([0.0, -10.0]))
    tensor([ -0.6931, -53.2313])
    """

    forward = of_host(special_normal.log_ndtr)

    def grad_self(g, self):
        return g / F.special_erfcx(self / -math.sqrt(2)) * math.sqrt(2 / math.pi)


class SpecialNdtri(OfSpecial):
    """The inverse of `special.ndtr`: infinite at 0 and 1, and nan outside.

    >>> from minigrad import special, tensor
    >>> special.ndtri(tensor([0.25, 1.0]))
    tensor([-0.6745,     inf])
    """

    forward = of_host(special_normal.ndtri)

    def grad_self(g, self):
        result = F.special_ndtri(self)
        return g * F.exp(result * result / 2) * math.sqrt(2 * math.pi)


class SpecialEntr(OfSpecial):
    """-x log(x), with 0 at 0 and -inf below; its derivative is -1 - log(x).

    >>> from minigrad import special, tensor
    >>> special.entr(tensor([0.0, 0.5, -1.0]))
    tensor([0.0000, 0.3466,   -inf])
    """

    def forward(xp, self):
        positive = xp.where(self > 0, self, xp.ones_like(self))
        result = 0 - positive * xp.log(positive)
        return xp.where(xp.isnan(self), self, xp.where(self < 0, -xp.inf, result)).astype(
            self.dtype)

    def grad_self(g, self):
        return g * (-1 - F.log(self))


class SpecialXlog1py(Binary):
    """self * log1p(other), or 0 where `self` is 0 and `other` is not nan.

    >>> from minigrad import special, tensor
    >>> special.xlog1py(tensor([0.0, 2.0]), tensor([-1.0, 1.0]))
    tensor([0.0000, 1.3863])
    """

    name, node = "special_xlog1py", "SpecialXlog1PyBackward0"
    promote, numbers = "float", True
    inplace = method = False

    def forward(xp, self, other):
        zero = (self == 0) & ~xp.isnan(other)
        return self * xp.log1p(xp.where(zero, xp.zeros_like(other), other))

    def grad_self(g, self, other):
        zero = F.logical_and(F.eq(self, 0), F.le(other, -1))
        return g * F.where(zero, 0, F.log1p(F.where(zero, 0, other)))

    def grad_other(g, self, other):
        return g * (self / (other + 1))


class SpecialZeta(Binary):
    """The Hurwitz zeta function: the sum of (other + k)**-self over k = 0, 1, 2, ...

    As in PyTorch, there is no derivative with respect to `self`.

    >>> from minigrad import special, tensor
    >>> special.zeta(tensor([2.0]), tensor([1.0]))
    tensor([1.6449])
    """

    promote, numbers = "float", True
    inplace = method = False
    forward = of_host_pair(special_normal.zeta)

    def grad_self(g):
        raise NotImplementedError("the derivative for 'zeta' is not implemented.")

    def grad_other(g, self, other):
        return -g * self * F.special_zeta(self + 1, other)

    def samples(make):
        yield make(3, 4, low=2, high=5).detach(), make(3, 4, low=0.5, high=3)
        yield make(3, 1, low=2, high=5).detach(), make(low=0.5, high=9)
        yield make(0, 2, low=2).detach(), make(2, low=0.5)
