"""The functions `pow`, `square` and `float_power`; powers of a number; 1 / sqrt.

Source: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

import math

from ... import dtypes
from ...op.declaration import F
from ...op.publish import function
from ...tensor.tensor import method
from ..overloads import is_number, overloaded
from .powers import PowNumber, PowTensor
from .smooth import Above


def logarithm(number):
    """Return the logarithm of a Python number: -inf for 0, NaN for negative numbers."""
    if number > 0:
        return math.log(number)
    return -math.inf if number == 0 else math.nan


class PowOfNumber(PowTensor):
    """A number to the power of a tensor.

    >>> from minigrad import tensor
    >>> 2 ** tensor([3, 4])
    tensor([ 8, 16])
    """

    overload = "pow", 2
    numbers = ("self",)
    inplace = False
    grad_self = None  # type: ignore[assignment]  # a number has none

    def grad_exponent(g, self, exponent, result):
        slope = g * (result * logarithm(self))
        return F.where(F.ge(exponent, 0), 0, slope) if self == 0 else slope

    def samples(make):
        yield 2.5, make(3, 4)
        yield 3, make()


@overloaded(dunder=("__pow__", "__rpow__"), out="cast")
def pow(input, exponent):
    """Raise to a power; either operand may be a number. Source: `torch.pow`.

    >>> from minigrad import pow, tensor
    >>> pow(tensor([1, 2, 3]), 2)
    tensor([1, 4, 9])
    """
    if is_number(input):
        return PowOfNumber, input, exponent
    return PowNumber if is_number(exponent) else PowTensor, input, exponent


@function(out="exact")
def float_power(input, exponent):
    """Raise to a power in float64. Source: `torch.float_power`.

    >>> from minigrad import float_power, tensor
    >>> float_power(tensor([2, 3]), 2)
    tensor([4., 9.], dtype=torch.float64)
    """
    base = float(input) if is_number(input) else input.to(dtypes.float64)
    return F.pow(base, float(exponent) if is_number(exponent) else exponent.to(dtypes.float64))


@method("float_power_")
def float_power_(self, exponent):
    """Raise to a power in place; raise `RuntimeError` unless the dtype is float64.

    >>> from minigrad import float64, tensor
    >>> tensor([2.0, 3.0], dtype=float64).float_power_(2)
    tensor([4., 9.], dtype=torch.float64)
    """
    if self.dtype is not dtypes.float64:
        raise RuntimeError(f"the base given to float_power_ has dtype "
                           f"{dtypes.type_name(self.dtype)} but the operation's result requires "
                           "dtype Double")
    return self.pow_(float(exponent) if is_number(exponent) else exponent.to(dtypes.float64))


@overloaded(out="cast")
def square(input):
    """Return the square of each element.  Source: `torch.square`.

    >>> from minigrad import square, tensor
    >>> square(tensor([1.0, -3.0]))
    tensor([1., 9.])
    """
    return PowNumber, input, 2


class Rsqrt(Above):
    """One over the square root.

    >>> from minigrad import rsqrt, tensor
    >>> rsqrt(tensor([4.0, 16.0]))
    tensor([0.5000, 0.2500])
    """

    def forward(xp, self):
        return 1 / xp.sqrt(self)

    def grad_self(g, result):
        return -0.5 * g * (result * result * result)
