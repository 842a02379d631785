"""Exponentials and logarithms to other bases, near zero, and of sums; the inverse of sigmoid.

Source: https://docs.pytorch.org/docs/stable/special.html
"""

import math

from ...op.declaration import Binary, F, Unary
from ..overloads import is_number, overloaded
from .smooth import Above, Smooth


class Exp2(Smooth):
    """2 to the power of each element; d 2**x = 2**x log(2) dx.

    >>> from minigrad import exp2, tensor
    >>> exp2(tensor([0.0, 3.0]))
    tensor([1., 8.])
    """

    def grad_self(g, result):
        return g * result * math.log(2)


class Expm1(Smooth):
    """exp(x) - 1, accurate near zero; its derivative is exp(x).

    >>> from minigrad import expm1, tensor
    >>> expm1(tensor([0.0, 1.0]))
    tensor([0.0000, 1.7183])
    """

    def grad_self(g, result):
        return g * (result + 1)


class Log2(Above):
    """The logarithm to base 2; d log2(x) = dx / (x log(2)).

    >>> from minigrad import log2, tensor
    >>> log2(tensor([1.0, 8.0]))
    tensor([0., 3.])
    """

    def grad_self(g, self):
        return g / (self * math.log(2))


class Log10(Above):
    """The logarithm to base 10; d log10(x) = dx / (x log(10)).

    >>> from minigrad import log10, tensor
    >>> log10(tensor([1.0, 10.0]))
    tensor([0., 1.])
    """

    def grad_self(g, self):
        return g / (self * math.log(10))


class Log1p(Smooth):
    """log(1 + x), accurate near zero; its derivative is 1 / (1 + x).

    >>> from minigrad import log1p, tensor
    >>> log1p(tensor([0.0, 1.0]))
    tensor([0.0000, 0.6931])
    """

    node = "Log1PBackward"

    def grad_self(g, self):
        return g / (self + 1)


class Logaddexp(Binary):
    """log(exp(x) + exp(y)), without overflow; its derivatives are the shares of the two terms.

    >>> from minigrad import logaddexp, tensor
    >>> logaddexp(tensor([0.0, 1000.0]), tensor([0.0, 1000.0]))
    tensor([6.9315e-01, 1.0007e+03])
    """

    inplace = False
    kernel = "f", "logaddexp_cpu"

    def grad_self(g, self, other):
        return g * F.sigmoid(self - other)

    def grad_other(g, self, other):
        return g * F.sigmoid(other - self)


class Logaddexp2(Logaddexp):
    """log2(2**x + 2**y), without overflow.

    >>> from minigrad import logaddexp2, tensor
    >>> logaddexp2(tensor([3.0]), tensor([3.0]))
    tensor([4.])
    """

    kernel = "f", "logaddexp2_cpu"
    function = "logaddexp2"

    def grad_self(g, self, other):
        return g * F.sigmoid((self - other) * math.log(2))

    def grad_other(g, self, other):
        return g * F.sigmoid((other - self) * math.log(2))


class XlogyTensors(Binary):
    """x log(y), or zero where x is zero.

    >>> from minigrad import tensor
    >>> tensor([0.0, 2.0]).xlogy(tensor([0.0, 1.0]))
    tensor([0., 0.])
    """

    overload = "xlogy", 0
    promote = "float"

    def forward(xp, self, other):
        nothing = xp.logical_and(self == 0, ~xp.isnan(other))
        return xp.where(nothing, xp.zeros((), self.dtype), self * xp.log(other))

    def grad_self(g, self, other):
        nothing = F.logical_and(F.eq(self, 0), F.le(other, 0))
        return F.where(nothing, 0, F.xlogy(g, other))

    def grad_other(g, self, other):
        return g * self / other


class XlogyOfNumber(XlogyTensors):
    """x log(y) for a number x.

    >>> from minigrad import tensor, xlogy
    >>> xlogy(2, tensor([1.0]))
    tensor([0.])
    """

    overload = "xlogy", 1
    numbers = ("self",)
    inplace = False
    grad_self = None  # type: ignore[assignment]  # a number has none

    def samples(make):
        yield 2.5, make(3, 4, low=0.5)


class XlogyNumber(XlogyTensors):
    """x log(y) for a number y.

    >>> from minigrad import tensor
    >>> tensor([3.0]).xlogy(1)
    tensor([0.])
    """

    overload = "xlogy", 2
    numbers = ("other",)
    grad_other = None  # type: ignore[assignment]  # a number has none

    def grad_self(g, self, other):
        slope = F.xlogy(g, other)
        return F.where(F.eq(self, 0), 0, slope) if other <= 0 else slope

    def samples(make):
        yield make(3, 4), 2.5


@overloaded(out="cast")
def xlogy(input, other):
    """Return `input * log(other)`, or zero where `input` is zero.  Source: `torch.xlogy`.

    >>> from minigrad import tensor, xlogy
    >>> xlogy(tensor([0.0, 3.0]), tensor([0.0, 1.0]))
    tensor([0., 0.])
    """
    if is_number(input):
        return XlogyOfNumber, input, other
    return XlogyNumber if is_number(other) else XlogyTensors, input, other


class Logit(Unary):
    """log(x / (1 - x)), the inverse of sigmoid; `eps` first clamps x to [eps, 1 - eps].

    >>> from minigrad import logit, tensor
    >>> logit(tensor([0.5, 1.0]), eps=0.5)
    tensor([0., 0.])
    """

    promote = "float"

    def forward(xp, self, eps=None):
        if eps is not None:
            self = xp.minimum(xp.maximum(self, eps), 1 - eps)
        return xp.log(self / (1 - self))

    def grad_self(g, self, eps):
        slope = g / (self * (1 - self))
        low, outside = (0, math.nan) if eps is None else (eps, 0)
        beyond = F.logical_or(F.lt(self, low), F.gt(self, 1 - low))
        return F.where(beyond, outside, slope)

    def samples(make):
        yield make(3, 4, low=0.1, high=0.9)
        yield make(3, 4, low=0.1, high=0.9), 0.05
        yield make(3, low=0.1, high=0.2), 0.3
