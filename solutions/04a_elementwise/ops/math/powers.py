# Stage 04a, Operators, element by element: the solution for minigrad/ops/math/powers.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""Elementwise powers and the square root.

The function `pow` chooses between these ops and a third one, in pow.py.

Source: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

from ...op.arguments import require
from ...op.declaration import Binary, F, Unary
from .pow_support import integer_powers, number_power
from .smooth import Above


class PowNumber(Unary):
    """A tensor to the power of a number.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]) ** 3
    tensor([1., 8.])
    """

    overload = "pow", 0

    def forward(xp, self, exponent):
        return number_power(xp, self, exponent)

    def grad_self(g, self, exponent):
        if exponent == 0:
            return F.zeros_like(g)
        return g * (exponent * F.pow(self, exponent - 1))

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
            return integer_powers(xp, self, exponent)
        return xp.power(self, exponent)

    # Naming `result` saves it even if only this formula runs, because PyTorch detects writes to it
    # in that case too.
    def grad_self(g, self, exponent, result):
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


class Sqrt(Above):
    """The square root, NaN for negative numbers.

    >>> from minigrad import sqrt, tensor
    >>> sqrt(tensor([4.0, 9.0]))
    tensor([2., 3.])
    """

    def grad_self(g, result):
        return g / (2 * result)
