"""Exponentials, logarithms, trigonometric and hyperbolic functions.

All of them turn integers into floating-point numbers.

Source: https://docs.pytorch.org/docs/stable/special.html
"""

import math

from ...op.declaration import Binary, F, Unary
from ..overloads import alias, is_number, overloaded


class Smooth(Unary, abstract=True):
    """A smooth function of one floating-point tensor."""

    promote = "float"

    def samples(make):
        yield from (make(3, 4, low=-0.9, high=0.9), make(low=0.1, high=0.9), make(0, 2))


class Above(Smooth, abstract=True):
    """The same, with samples of positive numbers."""

    def samples(make):
        yield from (make(3, 4, low=1.1, high=3), make(low=1.1, high=3), make(0, 2))


# -------------------------------------------------------------------- exponentials and logarithms


class Exp(Smooth):
    """e to the power of each element; d exp(x) = exp(x) dx.

    >>> from minigrad import exp, tensor
    >>> exp(tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """

    def grad_self(g, result):
        return g * result


class Exp2(Smooth):
    """2 to the power of each element; d 2**x = 2**x log(2) dx.

    >>> from minigrad import exp2, tensor
    >>> exp2(tensor([0.0, 3.0]))
    tensor([1., 8.])
    """

    def grad_self(g, result):
        return g * result * math.log(2)


class Expm1(Smooth):
    """exp(x) - 1, exact near zero; its derivative is exp(x).

    >>> from minigrad import expm1, tensor
    >>> expm1(tensor([0.0, 1.0]))
    tensor([0.0000, 1.7183])
    """

    def grad_self(g, result):
        return g * (result + 1)


class Log(Above):
    """The natural logarithm; d log(x) = dx / x.

    >>> from minigrad import log, tensor
    >>> log(tensor([1.0, 0.0]))
    tensor([0., -inf])
    """

    def grad_self(g, self):
        return g / self


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
    """log(1 + x), exact near zero; its derivative is 1 / (1 + x).

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
    """x log(y), which is zero where x is, whatever y.

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
    """x log(y) with a number x.

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
    """x log(y) with a number y.

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
    """Return `input * log(other)`, zero where `input` is zero. Source: `torch.xlogy`.

    >>> from minigrad import tensor, xlogy
    >>> xlogy(tensor([0.0, 3.0]), tensor([0.0, 1.0]))
    tensor([0., 0.])
    """
    if is_number(input):
        return XlogyOfNumber, input, other
    return XlogyNumber if is_number(other) else XlogyTensors, input, other


# -------------------------------------------------------------------- the logistic function


class Sigmoid(Smooth):
    """1 / (1 + exp(-x)); its derivative is s (1 - s).

    >>> from minigrad import sigmoid, tensor
    >>> sigmoid(tensor([0.0, 100.0]))
    tensor([0.5000, 1.0000])
    """

    in_float32 = True

    def forward(xp, self):
        return 1 / (1 + xp.exp(-self))

    def grad_self(g, result):
        return g * (1 - result) * result


class Logit(Unary):
    """log(x / (1 - x)), the inverse of sigmoid; with `eps` x is first brought within its reach.

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


# -------------------------------------------------------------------- trigonometric functions


class Sin(Smooth):
    """The sine of angles in radians; d sin(x) = cos(x) dx.

    >>> from minigrad import sin, tensor
    >>> sin(tensor([0.0, 1.0]))
    tensor([0.0000, 0.8415])
    """

    def grad_self(g, self):
        return g * F.cos(self)


class Cos(Smooth):
    """The cosine of angles in radians; d cos(x) = -sin(x) dx.

    >>> from minigrad import cos, tensor
    >>> cos(tensor([0.0, 1.0]))
    tensor([1.0000, 0.5403])
    """

    def grad_self(g, self):
        return g * -F.sin(self)


class Tan(Smooth):
    """The tangent of angles in radians; d tan(x) = (1 + tan(x)**2) dx.

    >>> from minigrad import tan, tensor
    >>> tan(tensor([0.0, 1.0]))
    tensor([0.0000, 1.5574])
    """

    def grad_self(g, result):
        return g * (1 + result * result)


class Asin(Smooth):
    """The angle whose sine is given; d asin(x) = dx / sqrt(1 - x**2).

    >>> from minigrad import asin, tensor
    >>> asin(tensor([0.0, 1.0]))
    tensor([0.0000, 1.5708])
    """

    function = "arcsin"

    def grad_self(g, self):
        return g * F.rsqrt(1 - self * self)


class Acos(Smooth):
    """The angle whose cosine is given; d acos(x) = -dx / sqrt(1 - x**2).

    >>> from minigrad import acos, tensor
    >>> acos(tensor([0.0, 1.0]))
    tensor([1.5708, 0.0000])
    """

    function = "arccos"

    def grad_self(g, self):
        return g * -F.rsqrt(1 - self * self)


class Atan(Smooth):
    """The angle whose tangent is given; d atan(x) = dx / (1 + x**2).

    >>> from minigrad import atan, tensor
    >>> atan(tensor([0.0, 1.0]))
    tensor([0.0000, 0.7854])
    """

    function = "arctan"

    def grad_self(g, self):
        return g / (self * self + 1)


def inverse_square(x, y):
    """Return 1 / (x^2 + y^2), and 0 where both are zero."""
    square = x * x + y * y
    return F.where(F.eq(square, 0), 0, F.reciprocal(square))


class Atan2(Binary):
    """The angle of the point (`other`, `self`), from -pi to pi.

    >>> from minigrad import atan2, tensor
    >>> atan2(tensor([1.0, 0.0]), tensor([1.0, -1.0]))
    tensor([0.7854, 3.1416])
    """

    function = "arctan2"
    promote = "float"

    def grad_self(g, self, other):
        return g * (other * inverse_square(self, other))

    def grad_other(g, self, other):
        return g * (-self * inverse_square(self, other))


class Hypot(Binary):
    """sqrt(x**2 + y**2), without overflow.

    >>> from minigrad import hypot, tensor
    >>> hypot(tensor([3.0]), tensor([4.0]))
    tensor([5.])
    """

    kernel = "f", "hypot_cpu"

    def grad_self(g, self, result):
        return g * (self / result)

    def grad_other(g, other, result):
        return g * (other / result)


class Sinc(Smooth):
    """sin(pi x) / (pi x), and 1 at zero.

    >>> from minigrad import sinc, tensor
    >>> sinc(tensor([0.0, 0.5]))
    tensor([1.0000, 0.6366])
    """

    in_float32 = True

    def forward(xp, self):
        angle = self * math.pi
        return xp.where(self == 0, xp.ones((), self.dtype), xp.sin(angle) / angle)

    def grad_self(g, self):
        angle = self * math.pi
        square = self * angle
        slope = g * ((angle * F.cos(angle) - F.sin(angle)) / square)
        return F.where(F.eq(square, 0), 0, slope)


class Deg2rad(Smooth):
    """Degrees turned into radians.

    >>> from minigrad import deg2rad, tensor
    >>> deg2rad(tensor([180.0]))
    tensor([3.1416])
    """

    node = "Deg2RadBackward"

    def forward(xp, self):
        return self * (math.pi / 180)

    def grad_self(g):
        return g * (math.pi / 180)


class Rad2deg(Smooth):
    """Radians turned into degrees.

    >>> from minigrad import rad2deg, tensor
    >>> rad2deg(tensor([3.0]))
    tensor([171.8873])
    """

    node = "Rad2DegBackward"

    def forward(xp, self):
        return self * (180 / math.pi)

    def grad_self(g):
        return g * (180 / math.pi)


# -------------------------------------------------------------------- hyperbolic functions


class Sinh(Smooth):
    """The hyperbolic sine; d sinh(x) = cosh(x) dx.

    >>> from minigrad import sinh, tensor
    >>> sinh(tensor([0.0, 1.0]))
    tensor([0.0000, 1.1752])
    """

    def grad_self(g, self):
        return g * F.cosh(self)


class Cosh(Smooth):
    """The hyperbolic cosine; d cosh(x) = sinh(x) dx.

    >>> from minigrad import cosh, tensor
    >>> cosh(tensor([0.0, 1.0]))
    tensor([1.0000, 1.5431])
    """

    def grad_self(g, self):
        return g * F.sinh(self)


class Tanh(Smooth):
    """The hyperbolic tangent; d tanh(x) = (1 - tanh(x)**2) dx.

    >>> from minigrad import tanh, tensor
    >>> tanh(tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    def grad_self(g, result):
        return g * (1 - result * result)


class Asinh(Smooth):
    """The inverse of sinh; its derivative is 1 / sqrt(x**2 + 1).

    >>> from minigrad import asinh, tensor
    >>> asinh(tensor([0.0, 1.0]))
    tensor([0.0000, 0.8814])
    """

    function = "arcsinh"

    def grad_self(g, self):
        return g * F.rsqrt(self * self + 1)


class Acosh(Above):
    """The inverse of cosh for x >= 1; its derivative is 1 / sqrt(x**2 - 1).

    >>> from minigrad import acosh, tensor
    >>> acosh(tensor([1.0, 2.0]))
    tensor([0.0000, 1.3170])
    """

    function = "arccosh"

    def grad_self(g, self):
        return g * F.rsqrt(self * self - 1)


class Atanh(Smooth):
    """The inverse of tanh; its derivative is 1 / (1 - x**2).

    >>> from minigrad import atanh, tensor
    >>> atanh(tensor([0.0, 0.5]))
    tensor([0.0000, 0.5493])
    """

    function = "arctanh"

    def grad_self(g, self):
        return g / (1 - self * self)


alias(Asin, "arcsin")
alias(Acos, "arccos")
alias(Atan, "arctan")
alias(Atan2, "arctan2")
alias(Asinh, "arcsinh")
alias(Acosh, "arccosh")
alias(Atanh, "arctanh")
