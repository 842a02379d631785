"""Powers and roots, signs, and rounding, element by element.

Source: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

import math

from .. import dtypes
from ..op import F, Op
from ..publish import function
from ..shapes import broadcast, same
from ..tensor import method
from .overloads import alias, is_number, overloaded, require


def positive_samples(make):
    """Yield samples away from zero."""
    yield from (make(3, 4, low=0.5), make(low=0.5), make(0, 2))


# -------------------------------------------------------------------- powers and roots


class PowNumber(Op):
    """A tensor to the power of a number.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]) ** 3
    tensor([1., 8.])
    """

    node = "PowBackward0"
    shape = same
    inplace = True
    public = False

    def forward(xp, self, exponent):
        if self.dtype.kind != "f":
            if self.dtype.kind == "b":
                self = self.astype(xp.int64)
            if isinstance(exponent, float):
                self = self.astype(dtypes.get_default_dtype().numpy)
            elif exponent < 0:
                raise RuntimeError("Integers to negative integer powers are not allowed.")
        if exponent == -0.5:
            return 1 / xp.sqrt(self)
        # `**` turns squares and roots into one instruction; cubes are worth the same.
        return self * self * self if exponent == 3 else self ** (exponent + 0)

    def grad_self(g, self, exponent):
        if exponent == 0:
            return F.zeros_like(g)
        return g * (exponent * (self if exponent == 2 else F.pow(self, exponent - 1)))

    def samples(make):
        yield make(3, 4), 2
        yield make(3, 4, low=0.5), -1.5
        yield make(), 3
        yield make(2), 1
        yield make(2), 0
        yield make(0, 2), 2.0


class PowTensor(Op):
    """A tensor, or a number, to the power of a tensor; the shapes broadcast.

    >>> from minigrad import tensor
    >>> tensor([2.0, 3.0]) ** tensor([3.0, 2.0])
    tensor([8., 9.])
    """

    node = "PowBackward1"
    shape = broadcast
    promote = "result"
    inplace = True
    public = False

    def forward(xp, self, exponent):
        require(self, "iuf", "pow")
        if self.dtype.kind == "i" and (exponent < 0).any():
            odd = 1 - 2 * (exponent & 1)
            unit = xp.where(self == 1, 1, xp.where(self == -1, odd, 0)).astype(self.dtype)
            return xp.where(exponent < 0, unit, xp.power(self, xp.maximum(exponent, 0)))
        return xp.power(self, exponent)

    def grad_self(g, self, exponent):
        slope = g * (exponent * F.pow(self, exponent - 1))
        return F.where(F.eq(exponent, 0), 0, slope)

    def grad_exponent(g, self, exponent, result):
        flat = F.logical_and(F.eq(self, 0), F.ge(exponent, 0))
        return g * F.where(flat, 0, result * F.log(self))

    def samples(make):
        yield make(3, 4, low=0.5), make(4)
        yield make(3, 1, low=0.5), make(4)
        yield make(low=0.5), make()
        yield make(0, 2), make(2)


def logarithm(number):
    """Return the logarithm of a Python number, infinite or NaN where there is none."""
    if number > 0:
        return math.log(number)
    return -math.inf if number == 0 else math.nan


class PowOfNumber(PowTensor):
    """A number to the power of a tensor.

    >>> from minigrad import tensor
    >>> 2 ** tensor([3, 4])
    tensor([ 8, 16])
    """

    node = "PowBackward2"
    inplace = False

    def grad_exponent(g, self, exponent, result):
        slope = g * (result * logarithm(self))
        return F.where(F.ge(exponent, 0), 0, slope) if self == 0 else slope

    def samples(make):
        yield 2.5, make(3, 4)
        yield 3, make()


@overloaded(dunder=("__pow__", "__rpow__"))
def pow(input, exponent):
    """Raise to a power; either operand may be a number. Source: `torch.pow`.

    >>> from minigrad import pow, tensor
    >>> pow(tensor([1, 2, 3]), 2)
    tensor([1, 4, 9])
    """
    if is_number(input):
        return PowOfNumber, input, exponent
    return PowNumber if is_number(exponent) else PowTensor, input, exponent


@function()
def float_power(input, exponent):
    """Raise to a power in float64. Source: `torch.float_power`.

    >>> from minigrad import float_power, tensor
    >>> float_power(tensor([2, 3]), 2)
    tensor([4., 9.], dtype=torch.float64)
    """
    base = float(input) if is_number(input) else input.to(dtypes.float64)
    return F.pow(base, float(exponent) if is_number(exponent) else exponent.to(dtypes.float64))


@overloaded()
def square(input):
    """Return the squares. Source: `torch.square`.

    >>> from minigrad import square, tensor
    >>> square(tensor([1.0, -3.0]))
    tensor([1., 9.])
    """
    return PowNumber, input, 2


class Sqrt(Op):
    """The square root, NaN for negative numbers.

    >>> from minigrad import sqrt, tensor
    >>> sqrt(tensor([4.0, 9.0]))
    tensor([2., 3.])
    """

    jvp = "elementwise"
    node = "SqrtBackward"
    shape = same
    promote = "float"
    inplace = True
    samples = positive_samples

    def forward(xp, self):
        return xp.sqrt(self)

    def grad_self(g, result):
        return g / (2 * result)


class Rsqrt(Op):
    """One over the square root.

    >>> from minigrad import rsqrt, tensor
    >>> rsqrt(tensor([4.0, 16.0]))
    tensor([0.5000, 0.2500])
    """

    jvp = "elementwise"
    node = "RsqrtBackward"
    shape = same
    promote = "float"
    inplace = True
    samples = positive_samples

    def forward(xp, self):
        return 1 / xp.sqrt(self)

    def grad_self(g, result):
        return -0.5 * g * (result * result * result)


# -------------------------------------------------------------------- signs


class Abs(Op):
    """The absolute value; its derivative at zero is taken to be zero.

    >>> from minigrad import tensor
    >>> tensor([-1, 2]).abs()
    tensor([1, 2])
    """

    node = "AbsBackward"
    shape = same
    promote = "result"
    inplace = True
    dunder = ("__abs__",)

    def forward(xp, self):
        require(self, "iuf", "abs_cpu")
        return xp.absolute(self)

    def grad_self(g, self):
        return g * F.sgn(self)

    def samples(make):
        yield from (make(3, 4, low=0.3), make(3, low=-2.0, high=-0.3), make(low=0.3), make(0, 2))


class Sign(Op):
    """-1, 0 or 1, the sign of each element.

    >>> from minigrad import sign, tensor
    >>> sign(tensor([-0.5, 0.0, 7.0]))
    tensor([-1.,  0.,  1.])
    """

    node = "SignBackward"
    shape = same
    inplace = True
    samples = Abs.samples

    def forward(xp, self):
        # Unlike NumPy's, the sign of NaN is zero.
        if self.dtype.kind == "f":
            return xp.subtract(self > 0, self < 0, dtype=self.dtype)
        return self.copy() if self.dtype.kind == "b" else xp.sign(self)

    def grad_self(g):
        return F.zeros_like(g)


class Sgn(Sign):
    """The sign of each element; `sign` for complex numbers, were there any.

    >>> from minigrad import sgn, tensor
    >>> sgn(tensor([-0.5, 0.0, 7.0]))
    tensor([-1.,  0.,  1.])
    """

    node = "SgnBackward"


@function()
def positive(input):
    """Return the tensor itself, which may not be bool. Source: `torch.positive`.

    >>> from minigrad import positive, tensor
    >>> positive(tensor([1, -2]))
    tensor([ 1, -2])
    """
    if input.dtype is dtypes.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


method("__pos__")(positive)


# -------------------------------------------------------------------- rounding


def rounded(ufunc, array, kernel):
    """Apply a rounding function; integers are round already."""
    require(array, "iuf", kernel)
    return ufunc(array) if array.dtype.kind == "f" else array.copy()


def offgrid(make):
    """Yield samples that rounding does not bring near a jump."""
    yield from (make(3, 4, low=1.2, high=1.4), make(low=-0.8, high=-0.6), make(0, 2))


class Floor(Op):
    """The largest integer that is not above, in the dtype of the input; its gradient is zero.

    >>> from minigrad import floor, tensor
    >>> floor(tensor([-1.5, 1.5]))
    tensor([-2.,  1.])
    """

    node = "FloorBackward"
    shape = same
    inplace = True
    samples = offgrid

    def forward(xp, self):
        return rounded(xp.floor, self, "floor_vml_cpu")

    def grad_self(g):
        return F.zeros_like(g)


class Ceil(Op):
    """The smallest integer that is not below, in the dtype of the input; its gradient is zero.

    >>> from minigrad import ceil, tensor
    >>> ceil(tensor([-1.5, 1.5]))
    tensor([-1.,  2.])
    """

    node = "CeilBackward"
    shape = same
    inplace = True
    samples = offgrid

    def forward(xp, self):
        return rounded(xp.ceil, self, "ceil_vml_cpu")

    def grad_self(g):
        return F.zeros_like(g)


class Trunc(Op):
    """The integer next towards zero, in the dtype of the input; its gradient is zero.

    >>> from minigrad import tensor, trunc
    >>> trunc(tensor([-1.5, 1.5]))
    tensor([-1.,  1.])
    """

    node = "TruncBackward"
    shape = same
    inplace = True
    samples = offgrid

    def forward(xp, self):
        return rounded(xp.trunc, self, "trunc_vml_cpu")

    def grad_self(g):
        return F.zeros_like(g)


class RoundToInteger(Op):
    """The nearest integer, of two the even one; its gradient is zero.

    >>> from minigrad import tensor
    >>> tensor([0.5, 1.5]).round()
    tensor([0., 2.])
    """

    node = "RoundBackward"
    shape = same
    inplace = True
    public = False
    samples = offgrid

    def forward(xp, self):
        return rounded(xp.rint, self, "round_vml_cpu")

    def grad_self(g):
        return F.zeros_like(g)


class RoundToDecimals(Op):
    """The nearest number with so many decimals; its gradient is zero.

    >>> from minigrad import tensor
    >>> tensor([1.26]).round(decimals=1)
    tensor([1.3000])
    """

    node = "RoundBackward1"
    shape = same
    inplace = True
    public = False

    def forward(xp, self, decimals):
        require(self, "f", "round_cpu")
        power = 10.0 ** abs(decimals)
        if decimals < 0:
            return xp.rint(self / power) * power
        return xp.rint(self * power) / power

    def grad_self(g):
        return F.zeros_like(g)

    def samples(make):
        yield make(3, 4, low=1.21, high=1.24), 1
        yield make(low=121, high=124), -1


@overloaded()
def round(input, *, decimals=0):
    """Round to the nearest integer or to `decimals` places, halves to even. Source: `torch.round`.

    >>> from minigrad import round, tensor
    >>> round(tensor([0.4, 2.5]))
    tensor([0., 2.])
    """
    return (RoundToDecimals, input, decimals) if decimals else (RoundToInteger, input)


class Frac(Op):
    """What is left of a number after `trunc`; it has the number's sign.

    >>> from minigrad import frac, tensor
    >>> frac(tensor([-1.5, 1.25]))
    tensor([-0.5000,  0.2500])
    """

    node = "FracBackward"
    shape = same
    inplace = True
    samples = offgrid

    def forward(xp, self):
        require(self, "f", "frac_cpu")
        return self - xp.trunc(self)

    def grad_self(g):
        return g


alias(Abs, "absolute")
alias(Trunc, "fix")
