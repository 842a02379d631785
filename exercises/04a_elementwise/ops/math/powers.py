# Stage 04a, Operators, element by element: the exercise for minigrad/ops/math/powers.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04a
# docs/en/glossary.md explains the names used inside the package.

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
        # 04a.6 Powers at zero (about 7 lines)
        # Return the gradient of x ** n with respect to x. PowNumber has a number n. PowTensor
        # has a tensor n, which gets a gradient too. For x = 2, n = 3, g = 10:
        #   grad_self                              -> 120
        #   grad_exponent                          -> 55.4518, which is 10 * 8 * log(2)
        #   x = 0, n = 0: grad_self                -> 0, because x ** 0 is 1 for every x
        #   x = 0, n = 2: grad_exponent            -> 0, as for every n >= 0
        #   x = 0, n = -1: grad_exponent, g = 2    -> -inf, by the formula
        # Mind:
        # - A tensor may mix these cases, and 0 times infinity is nan.
        # - Don't write to the arguments.
        # Use: `F.pow`, `F.log`, `F.where(condition, a, b)`, `F.eq`, `F.ge`, `F.logical_and`,
        # `F.zeros_like`.
        raise NotImplementedError("04a.6 Powers at zero is yours to write")

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
        # 04a.6 Powers at zero: see the task at `PowNumber.grad_self`.
        raise NotImplementedError("04a.6 Powers at zero is yours to write")

    def grad_exponent(g, self, exponent, result):
        # 04a.6 Powers at zero: see the task at `PowNumber.grad_self`.
        raise NotImplementedError("04a.6 Powers at zero is yours to write")

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
        # 04a.5 Functions of one number (about 5 lines)
        # Return the gradient of exp, log, sqrt, sigmoid and tanh, from `g` and either the
        # input, `self`, or the `result` of forward. For self = 2, g = 10:
        #   Exp      -> 73.8906
        #   Log      -> 5
        #   Sqrt     -> 3.5355
        #   Sigmoid  -> 1.0499
        #   Tanh     -> 0.7065
        # Mind:
        # - At -1000 and 1000, the slopes of sigmoid and tanh are 0, not nan.
        # - The formulas are differentiated again, so use `+ - * /` and the arguments. Don't
        #   write to them.
        raise NotImplementedError("04a.5 Functions of one number is yours to write")
