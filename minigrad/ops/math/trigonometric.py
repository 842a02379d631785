"""Trigonometric and hyperbolic functions and their inverses; tanh is in exp_log.py.

Source: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

import math

from ...op.declaration import Binary, F
from ..overloads import alias
from .smooth import Above, Smooth
from .ties import tangent_of

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
    """The inverse sine, in radians; d asin(x) = dx / sqrt(1 - x**2).

    >>> from minigrad import asin, tensor
    >>> asin(tensor([0.0, 1.0]))
    tensor([0.0000, 1.5708])
    """

    function = "arcsin"

    def grad_self(g, self):
        return g * F.rsqrt(1 - self * self)


class Acos(Smooth):
    """The inverse cosine, in radians; d acos(x) = -dx / sqrt(1 - x**2).

    >>> from minigrad import acos, tensor
    >>> acos(tensor([0.0, 1.0]))
    tensor([1.5708, 0.0000])
    """

    function = "arccos"

    def grad_self(g, self):
        return g * -F.rsqrt(1 - self * self)


class Atan(Smooth):
    """The inverse tangent, in radians; d atan(x) = dx / (1 + x**2).

    >>> from minigrad import atan, tensor
    >>> atan(tensor([0.0, 1.0]))
    tensor([0.0000, 0.7854])
    """

    function = "arctan"

    def grad_self(g, self):
        return g / (self * self + 1)


def inverse_square(x, y):
    """Return 1 / (x^2 + y^2), or 0 where both are zero."""
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

    def jvp(op, values, outputs, tangents):
        self, other = values
        tangent = inverse_square(self, other) * (
            other * tangent_of(tangents, 0) - self * tangent_of(tangents, 1))
        origin = F.logical_and(F.eq(self, 0), F.eq(other, 0))
        return (F.where(origin, math.nan, tangent),)  # where backward gives 0, as in PyTorch


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
    """sin(pi x) / (pi x), or 1 at zero.

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
    """Convert degrees to radians.

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
    """Convert radians to degrees.

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
