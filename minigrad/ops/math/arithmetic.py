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
        return g

    def grad_other(g, alpha):
        return g if alpha == 1 else g * alpha


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
        return g

    def grad_other(g, alpha):
        return -g if alpha == 1 else g * -alpha


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
        return g * other

    def grad_other(g, self):
        return g * self


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
        return g / other

    def grad_other(g, self, other):
        return -g * ((self / other) / other)


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
        return -g


alias(Sub, "subtract")
alias(Mul, "multiply")
alias(Neg, "negative")
