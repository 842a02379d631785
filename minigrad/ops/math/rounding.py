"""Elementwise signs and rounding.

Source: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

from ... import dtypes
from ...op.arguments import require
from ...op.declaration import F, Unary
from ...op.publish import function
from ...tensor.tensor import method
from ..overloads import alias, overloaded

# -------------------------------------------------------------------- signs


class Abs(Unary):
    """The absolute value; its derivative at zero is taken to be zero.

    >>> from minigrad import tensor
    >>> tensor([-1, 2]).abs()
    tensor([1, 2])
    """

    out = "exact"
    kernel = "iuf", "abs_cpu"
    function = "absolute"
    promote = "result"
    dunder = ("__abs__",)

    def grad_self(g, self):
        return g * F.sgn(self)

    def samples(make):
        yield from (make(3, 4, low=0.3), make(3, low=-2.0, high=-0.3), make(low=0.3), make(0, 2))


class Sign(Unary):
    """-1, 0 or 1, the sign of each element.

    >>> from minigrad import sign, tensor
    >>> sign(tensor([-0.5, 0.0, 7.0]))
    tensor([-1.,  0.,  1.])
    """

    out = "exact"
    samples = Abs.samples

    def forward(xp, self):
        # Unlike NumPy's, the sign of NaN is zero.
        if self.dtype.kind == "f":
            return xp.subtract(self > 0, self < 0, dtype=self.dtype)
        return self.copy() if self.dtype.kind == "b" else xp.sign(self)

    def grad_self(g):
        return F.zeros_like(g)


class Sgn(Sign):
    """The sign of each element: `sign`, which PyTorch extends to complex numbers.

    >>> from minigrad import sgn, tensor
    >>> sgn(tensor([-0.5, 0.0, 7.0]))
    tensor([-1.,  0.,  1.])
    """

    def grad_self(g, result, self):
        return F.zeros_like(g)


@function()
def positive(input):
    """Return the tensor itself; raise for a bool tensor.  Source: `torch.positive`.

    >>> from minigrad import positive, tensor
    >>> positive(tensor([1, -2]))
    tensor([ 1, -2])
    """
    if input.dtype is dtypes.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


method("__pos__")(positive)


# -------------------------------------------------------------------- rounding


def rounded(function, kernel):
    """Return a forward that applies a rounding function; integers are copied."""
    def forward(xp, self):
        require(self, "iuf", kernel)
        return getattr(xp, function)(self) if self.dtype.kind == "f" else self.copy()

    return forward


class Rounding(Unary, abstract=True):
    """A piecewise constant function: its gradient is zero."""

    out = "exact"
    def grad_self(g):
        return F.zeros_like(g)

    def samples(make):  # keep away from the jumps
        yield from (make(3, 4, low=1.2, high=1.4), make(low=-0.8, high=-0.6), make(0, 2))


class Floor(Rounding):
    """The element rounded down, in the dtype of the input; its gradient is zero.

    >>> from minigrad import floor, tensor
    >>> floor(tensor([-1.5, 1.5]))
    tensor([-2.,  1.])
    """

    forward = rounded("floor", "floor_vml_cpu")


class Ceil(Rounding):
    """The element rounded up, in the dtype of the input; its gradient is zero.

    >>> from minigrad import ceil, tensor
    >>> ceil(tensor([-1.5, 1.5]))
    tensor([-1.,  2.])
    """

    forward = rounded("ceil", "ceil_vml_cpu")


class Trunc(Rounding):
    """The element rounded toward zero, in the dtype of the input; its gradient is zero.

    >>> from minigrad import tensor, trunc
    >>> trunc(tensor([-1.5, 1.5]))
    tensor([-1.,  1.])
    """

    forward = rounded("trunc", "trunc_vml_cpu")


class RoundToInteger(Rounding):
    """The nearest integer, halves rounded to even; its gradient is zero.

    >>> from minigrad import tensor
    >>> tensor([0.5, 1.5]).round()
    tensor([0., 2.])
    """

    forward = rounded("rint", "round_vml_cpu")
    overload = "round", ""


class RoundToDecimals(Rounding):
    """The element rounded to a number of decimals; its gradient is zero.

    >>> from minigrad import tensor
    >>> tensor([1.26]).round(decimals=1)
    tensor([1.3000])
    """

    overload = "round", 1

    def forward(xp, self, decimals):
        require(self, "f", "round_cpu")
        power = 10.0 ** abs(decimals)
        if decimals < 0:
            return xp.rint(self / power) * power
        return xp.rint(self * power) / power

    def samples(make):
        yield make(3, 4, low=1.21, high=1.24), 1
        yield make(low=121, high=124), -1


@overloaded(out="exact")
def round(input, *, decimals=0):
    """Round to integers or to `decimals` places, halves to even.  Source: `torch.round`.

    >>> from minigrad import round, tensor
    >>> round(tensor([0.4, 2.5]))
    tensor([0., 2.])
    """
    return (RoundToDecimals, input, decimals) if decimals else (RoundToInteger, input)


class Frac(Rounding):
    """The fractional part, with the sign of the element.

    >>> from minigrad import frac, tensor
    >>> frac(tensor([-1.5, 1.25]))
    tensor([-0.5000,  0.2500])
    """

    def forward(xp, self):
        require(self, "f", "frac_cpu")
        return self - xp.trunc(self)

    def grad_self(g):
        return g


alias(Abs, "absolute")
alias(Trunc, "fix")
