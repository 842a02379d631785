# Stage 04a, Operators, element by element: the exercise for minigrad/ops/math/arithmetic.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04a
# docs/en/glossary.md explains the names used inside the package.

"""Elementwise arithmetic: sum, difference, product, quotient, negation.

An op has no instances: `self` and `other` are its operands.  `Unary` and `Binary` supply a
`forward` that calls the backend's function of the same name, such as `multiply`; see NOTE [A
formula's argument names are its save list] in op/declaration.py.  Swapped operands and products
within sums are in arithmetic_variants.py.

Source: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

from ...op.declaration import Binary, Unary
from ..overloads import alias
from .arithmetic_support import BOOL_NEGATION, BOOL_SUBTRACTION, pairs, pairs_with_alpha, scaled


class Add(Binary):
    """The sum `self + alpha * other`; the shapes broadcast, and the dtypes are promoted.

    >>> from minigrad import tensor
    >>> tensor([1, 2]).add(tensor([10, 20]), alpha=2)
    tensor([21, 42])
    """

    node = "AddBackward0"
    numbers = True
    dunder = ("__add__", "__radd__")
    commutative = True
    samples = pairs_with_alpha

    def forward(xp, self, other, *, alpha=1):
        return xp.add(self, scaled(xp, other, alpha))

    def forward_inplace(xp, self, other, *, alpha=1):
        xp.add(self, scaled(xp, other, alpha), out=self)

    def grad_self(g):
        # 04a.4 Sums, products, quotients (about 9 lines)
        # Each formula returns the gradient of one input, in the shape of the result. Add is
        # self + alpha * other, and Sub is self - alpha * other. With self = 2, other = 5, g =
        # 10:
        #   Add, alpha=3    -> self: 10;   other: 30
        #   Sub, alpha=3    -> self: 10;   other: -30
        #   Mul             -> self: 50;   other: 20
        #   Div             -> self: 2;    other: -0.8
        #   Neg             -> self: -10
        # Mind:
        # - The square of a large divisor is infinite, and so may be `g` times the numerator.
        #   In float32, 1e30 / 1e25 still has the gradients 1e-25 and -1e-20.
        # - The formulas are differentiated again, so use only `+ - * /` and the arguments,
        #   without writing to them.
        raise NotImplementedError("04a.4 Sums, products, quotients is yours to write")

    def grad_other(g, alpha):
        # 04a.4 Sums, products, quotients: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums, products, quotients is yours to write")


class Sub(Binary):
    """The difference `self - alpha * other`; the shapes broadcast, and the dtypes are promoted.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]) - 1
    tensor([0., 1.])
    """

    node = "SubBackward0"
    numbers = True
    reject_bool = True
    dunder = ("__sub__",)
    samples = pairs_with_alpha

    def forward(xp, self, other, *, alpha=1):
        try:
            return xp.subtract(self, scaled(xp, other, alpha))
        except TypeError:
            raise RuntimeError(BOOL_SUBTRACTION) from None

    def forward_inplace(xp, self, other, *, alpha=1):
        xp.subtract(self, scaled(xp, other, alpha), out=self)

    def grad_self(g):
        # 04a.4 Sums, products, quotients: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums, products, quotients is yours to write")

    def grad_other(g, alpha):
        # 04a.4 Sums, products, quotients: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums, products, quotients is yours to write")


class Mul(Binary):
    """The elementwise product; the shapes broadcast, and the dtypes are promoted.

    >>> from minigrad import tensor
    >>> tensor([1, 2]) * 1.5
    tensor([1.5000, 3.0000])
    """

    node = "MulBackward0"
    function = "multiply"
    numbers = True
    float32_scalars = ("other",)
    dunder = ("__mul__", "__rmul__")
    commutative = True
    samples = pairs

    def forward_inplace(xp, self, other):
        xp.multiply(self, other, out=self)

    def grad_self(g, other):
        # 04a.4 Sums, products, quotients: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums, products, quotients is yours to write")

    def grad_other(g, self):
        # 04a.4 Sums, products, quotients: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums, products, quotients is yours to write")


class Div(Binary):
    """The quotient `self / other`, floating-point even for integers.

    >>> from minigrad import tensor
    >>> tensor([1, 2]) / 2
    tensor([0.5000, 1.0000])
    """

    overload = "div", 0
    function = "divide"
    numbers = True
    float32_scalars = ("other",)
    promote = "float"
    dunder = ("__truediv__",)
    samples = pairs

    def forward_inplace(xp, self, other):
        xp.divide(self, other, out=self)

    def grad_self(g, other):
        # 04a.4 Sums, products, quotients: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums, products, quotients is yours to write")

    def grad_other(g, self, other):
        # 04a.4 Sums, products, quotients: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums, products, quotients is yours to write")


class Neg(Unary):
    """The negative of each element; raises for bool tensors.

    >>> from minigrad import tensor
    >>> -tensor([1.0, -2.0])
    tensor([-1.,  2.])
    """

    out = "exact"
    promote = "result"
    dunder = ("__neg__",)

    def forward(xp, self):
        try:
            return xp.negative(self)
        except TypeError:
            raise RuntimeError(BOOL_NEGATION) from None

    def grad_self(g):
        # 04a.4 Sums, products, quotients: see the task at `Add.grad_self`.
        raise NotImplementedError("04a.4 Sums, products, quotients is yours to write")


alias(Sub, "subtract")
alias(Mul, "multiply")
alias(Neg, "negative")
