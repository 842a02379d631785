# Stage 04a, Operators, element by element: the exercise for minigrad/ops/math/powers.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04a
# Names of the package's inside are explained in docs/en/glossary.md.

"""Powers and roots, element by element.

Source: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

import math

from ... import dtypes
from ...op.arguments import require
from ...op.declaration import Binary, F, Unary
from ...op.publish import function
from ..overloads import is_number, overloaded
from .exp_log_trig import Above


class PowNumber(Unary):
    """A tensor to the power of a number.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]) ** 3
    tensor([1., 8.])
    """

    overload = "pow", 0

    def forward(xp, self, exponent):
        if self.dtype.kind != "f":
            if self.dtype.kind == "b":
                self = self.astype(xp.int64)
            if isinstance(exponent, float):
                self = self.astype(dtypes.get_default_dtype().numpy)
            elif exponent < 0:
                raise RuntimeError("Integers to negative integer powers are not allowed.")
        if exponent == 1:
            return self.copy()
        if exponent == -0.5:
            return 1 / xp.sqrt(self)
        # `**` turns squares and roots into one instruction; cubes are worth the same.
        return self * self * self if exponent == 3 else self ** (exponent + 0)

    def grad_self(g, self, exponent):
        # 04a.6 Powers (about 11 lines)
        # The gradients of powers and roots. PowNumber is `self ** exponent` with a Python
        # number as exponent; PowTensor has tensors for both (or a number as base, then
        # `grad_self` is not called); PowOfNumber is a number `self` to the power of a tensor,
        # for which `logarithm(self)` gives the number's logarithm. Where the exponent is 0
        # the result is constantly 1, so the gradient of the base is 0, even at base 0. Where
        # the base is 0 and the exponent is not negative, the gradient of the exponent is 0;
        # for negative bases it is nan. `F.pow`, `F.log`, `F.where(condition, a, b)`, `F.eq`,
        # `F.ge`, `F.logical_and` and `F.zeros_like` work on tensors and arrays. Sqrt and
        # Rsqrt (1 / sqrt) give you their `result`.
        raise NotImplementedError("04a.6 Powers is yours to write")

    def samples(make):
        yield make(3, 4), 2
        yield make(3, 4, low=0.5), -1.5
        yield make(), 3
        yield make(2), 1
        yield make(2), 0
        yield make(0, 2), 2.0


class PowTensor(Binary):
    """A tensor, or a number, to the power of a tensor; the shapes broadcast.

    >>> from minigrad import tensor
    >>> tensor([2.0, 3.0]) ** tensor([3.0, 2.0])
    tensor([8., 9.])
    """

    numbers: bool | tuple[str, ...] = True
    overload = "pow", 1

    def forward(xp, self, exponent):
        require(self, "iuf", "pow")
        if self.dtype.kind == "i" and (exponent < 0).any():
            odd = 1 - 2 * (exponent & 1)
            unit = xp.where(self == 1, 1, xp.where(self == -1, odd, 0)).astype(self.dtype)
            return xp.where(exponent < 0, unit, xp.power(self, xp.maximum(exponent, 0)))
        return xp.power(self, exponent)

    # The result is named to be saved in any case: PyTorch notices writes to it also where only
    # this formula runs.
    def grad_self(g, self, exponent, result):
        # 04a.6 Powers: see the task at `PowNumber.grad_self`.
        raise NotImplementedError("04a.6 Powers is yours to write")

    def grad_exponent(g, self, exponent, result):
        # 04a.6 Powers: see the task at `PowNumber.grad_self`.
        raise NotImplementedError("04a.6 Powers is yours to write")

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

    overload = "pow", 2
    numbers = ("self",)
    inplace = False
    grad_self = None  # type: ignore[assignment]  # a number has none

    def grad_exponent(g, self, exponent, result):
        # 04a.6 Powers: see the task at `PowNumber.grad_self`.
        raise NotImplementedError("04a.6 Powers is yours to write")

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


@overloaded(out="cast")
def square(input):
    """Return the squares. Source: `torch.square`.

    >>> from minigrad import square, tensor
    >>> square(tensor([1.0, -3.0]))
    tensor([1., 9.])
    """
    return PowNumber, input, 2


class Sqrt(Above):
    """The square root, NaN for negative numbers.

    >>> from minigrad import sqrt, tensor
    >>> sqrt(tensor([4.0, 9.0]))
    tensor([2., 3.])
    """

    def grad_self(g, result):
        # 04a.6 Powers: see the task at `PowNumber.grad_self`.
        raise NotImplementedError("04a.6 Powers is yours to write")


class Rsqrt(Above):
    """One over the square root.

    >>> from minigrad import rsqrt, tensor
    >>> rsqrt(tensor([4.0, 16.0]))
    tensor([0.5000, 0.2500])
    """

    def forward(xp, self):
        return 1 / xp.sqrt(self)

    def grad_self(g, result):
        # 04a.6 Powers: see the task at `PowNumber.grad_self`.
        raise NotImplementedError("04a.6 Powers is yours to write")
