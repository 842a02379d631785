"""Elementwise rounded quotients and remainders.

Source: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

from ...op.arguments import require
from ...op.declaration import Binary, F
from ..overloads import is_number, overloaded
from .arithmetic import Div
from .arithmetic_support import pairs


def check_divisor(xp, self, other, kernel):
    """Raise PyTorch's error for bools, and if integers are divided by zero."""
    require(self, "iuf", kernel)
    if self.dtype.kind in "iu" and self.size and xp.may_ask() and not other.all():
        raise RuntimeError("ZeroDivisionError")


class DivRounded(Binary):
    """The quotient rounded toward zero ("trunc") or down ("floor"); its gradient is zero.

    >>> from minigrad import div, tensor
    >>> div(tensor([-7, 7]), 2, rounding_mode="trunc")
    tensor([-3,  3])
    """

    numbers = True
    overload = "div", 2

    def forward(xp, self, other, rounding_mode):
        check_divisor(xp, self, other, f"div_{rounding_mode}_cpu")
        if rounding_mode == "floor":
            return xp.floor_divide(self, other)
        if self.dtype.kind == "f":
            return xp.trunc(self / other)
        return (self - xp.fmod(self, other)) // other

    def grad_self(g, other):
        return F.zeros_like(g)

    def grad_other(g, self, other):
        return F.zeros_like(g)

    def samples(make):
        yield make(3, 4, low=0.3, high=0.7), make(4, low=2.1, high=2.5), "floor"
        yield make(3, 1, low=-0.7, high=-0.3), make(4, low=0.1, high=0.12), "trunc"


@overloaded(aliases=("divide",), out="cast")
def div(input, other, *, rounding_mode=None):
    """Divide; `rounding_mode` "trunc" or "floor" rounds the result.  Source: `torch.div`.

    >>> from minigrad import div, tensor
    >>> div(tensor([-7, 7]), 2, rounding_mode="floor")
    tensor([-4,  3])
    """
    if rounding_mode is None:
        return Div, input, other
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError("div expected rounding_mode to be one of None, 'trunc', or 'floor' but "
                           f"found '{rounding_mode}'")
    return DivRounded, input, other, rounding_mode


@overloaded(out="cast")
def true_divide(input, other):
    """Divide; integers give floating-point results.  Source: `torch.true_divide`.

    >>> from minigrad import tensor, true_divide
    >>> true_divide(tensor([1, 2]), 4)
    tensor([0.2500, 0.5000])
    """
    return Div, input, other


class FloorDivide(Binary):
    """The quotient rounded down; as in PyTorch, it has no gradient.

    >>> from minigrad import tensor
    >>> tensor([-7, 7]) // 2
    tensor([-4,  3])
    """

    numbers = True
    nondifferentiable = not_implemented_derivative = True
    dunder = ("__floordiv__", "__rfloordiv__")
    samples = pairs

    def forward(xp, self, other):
        check_divisor(xp, self, other, "div_floor_cpu")
        return xp.floor_divide(self, other)


class Remainder(Binary):
    """The remainder of floor division, with the sign of `other`.

    >>> from minigrad import tensor
    >>> tensor([-3.0, 3.0]) % 2
    tensor([1., 1.])
    """

    numbers: bool | tuple[str, ...] = True
    overload = "remainder", 1

    def forward(xp, self, other):
        check_divisor(xp, self, other, "remainder_cpu")
        if self.dtype.kind != "f":
            return xp.remainder(self, other)
        rest = xp.fmod(self, other)  # here a zero has the sign of `self`
        return xp.where((rest != 0) & ((rest < 0) != (other < 0)), rest + other, rest)

    def grad_self(g):
        return g

    def grad_other(g, self, other):
        return -g * F.div(self, other, rounding_mode="floor")

    def samples(make):
        yield make(3, 4, low=2.3, high=2.7), make(4, low=1.8, high=2.2)
        yield make(3, 1, low=-0.6, high=-0.4), make(4, low=1.0)


class RemainderNumber(Remainder):
    """The remainder of floor division by a number.

    >>> from minigrad import tensor
    >>> tensor([5, 6]).remainder(4)
    tensor([1, 2])
    """

    overload = "remainder", 0
    numbers = ("other",)
    grad_other = None  # type: ignore[assignment]  # a number has none

    def samples(make):
        yield make(3, 4, low=2.3, high=2.7), 2.0


@overloaded(dunder=("__mod__", "__rmod__"), out="cast")
def remainder(input, other):
    """Return the remainder of floor division.  Source: `torch.remainder`.

    >>> from minigrad import remainder, tensor
    >>> remainder(tensor([-3, 3]), 2)
    tensor([1, 1])
    """
    return RemainderNumber if is_number(other) else Remainder, input, other


class Fmod(Binary):
    """The remainder of truncating division, with the sign of `self`.

    >>> from minigrad import fmod, tensor
    >>> fmod(tensor([-3.0, 3.0]), tensor([2.0]))
    tensor([-1.,  1.])
    """

    numbers = ("other",)
    overload = "fmod", 1

    def forward(xp, self, other):
        check_divisor(xp, self, other, "fmod_cpu")
        return xp.fmod(self, other)

    def grad_self(g):
        return g

    def grad_other(g, self, other):
        return -g * F.div(self, other, rounding_mode="trunc")

    samples = Remainder.samples


class FmodNumber(Fmod):
    """The remainder of truncating division by a number, with the sign of `self`.

    >>> from minigrad import tensor
    >>> tensor([-5, 6]).fmod(4)
    tensor([-1,  2])
    """

    overload = "fmod", 0
    numbers = ("other",)
    grad_other = None  # type: ignore[assignment]  # a number has none
    samples = RemainderNumber.samples


@overloaded(out="cast")
def fmod(input, other):
    """Return the remainder of truncating division.  Source: `torch.fmod`.

    >>> from minigrad import fmod, tensor
    >>> fmod(tensor([-3, 3]), 2)
    tensor([-1,  1])
    """
    return FmodNumber if is_number(other) else Fmod, input, other
