"""Comparisons, logic, bits: what has no gradient.

Source: https://docs.pytorch.org/docs/stable/torch.html#comparison-ops
"""

from ...dtypes import type_name
from ...op.declaration import Op
from ...op.publish import function
from ...shapes import broadcast, same
from ...tensor.tensor import Tensor
from ..overloads import alias, is_number, require


class Comparison(Op, abstract=True):
    """What the operations of two tensors in this file share."""

    numbers = True
    shape = broadcast
    promote = "result"
    inplace = True
    nondifferentiable = True

    def samples(make):
        yield make.ints(3, 4), make.ints(4)
        yield make(3, 1), make(4)
        yield make(2), 1.5
        yield make.bools(2), make.bools(2)
        yield make(0, 2), make(2)


class Question(Op, abstract=True):
    """What the questions about one tensor share."""

    shape = same
    nondifferentiable = True

    def samples(make):
        yield from (make(3, 4), make.ints(3), make(), make(0, 2))


# -------------------------------------------------------------------- comparisons


class Eq(Comparison):
    """Where two tensors, or a tensor and a number, are equal.

    >>> from minigrad import tensor
    >>> tensor([1, 2]) == 2
    tensor([False,  True])
    """

    dunder = ("__eq__",)

    def forward(xp, self, other):
        return xp.equal(self, other)


class Ne(Comparison):
    """Where two tensors, or a tensor and a number, differ.

    >>> from minigrad import tensor
    >>> tensor([1, 2]) != 2
    tensor([ True, False])
    """

    dunder = ("__ne__",)

    def forward(xp, self, other):
        return xp.not_equal(self, other)


class Lt(Comparison):
    """Where the first one is less.

    >>> from minigrad import tensor
    >>> tensor([1, 2]) < 2
    tensor([ True, False])
    """

    dunder = ("__lt__",)

    def forward(xp, self, other):
        return xp.less(self, other)


class Le(Comparison):
    """Where the first one is less or equal.

    >>> from minigrad import tensor
    >>> tensor([1, 2]) <= tensor([1, 1])
    tensor([ True, False])
    """

    dunder = ("__le__",)

    def forward(xp, self, other):
        return xp.less_equal(self, other)


class Gt(Comparison):
    """Where the first one is greater.

    >>> from minigrad import tensor
    >>> tensor([1, 2]) > 1
    tensor([False,  True])
    """

    dunder = ("__gt__",)

    def forward(xp, self, other):
        return xp.greater(self, other)


class Ge(Comparison):
    """Where the first one is greater or equal.

    >>> from minigrad import tensor
    >>> tensor([1, 2]) >= 2
    tensor([False,  True])
    """

    dunder = ("__ge__",)

    def forward(xp, self, other):
        return xp.greater_equal(self, other)


alias(Ne, "not_equal")
alias(Lt, "less")
alias(Le, "less_equal")
alias(Gt, "greater")
alias(Ge, "greater_equal")


# -------------------------------------------------------------------- questions


class Isnan(Question):
    """Where an element is not a number.

    >>> from minigrad import isnan, tensor
    >>> isnan(tensor([1.0, float("nan")]))
    tensor([False,  True])
    """

    def forward(xp, self):
        return xp.isnan(self)


class Isinf(Question):
    """Where an element is infinite.

    >>> from minigrad import isinf, tensor
    >>> isinf(tensor([1.0, float("-inf")]))
    tensor([False,  True])
    """

    def forward(xp, self):
        return xp.isinf(self)


class Isfinite(Question):
    """Where an element is a number and not infinite.

    >>> from minigrad import isfinite, tensor
    >>> isfinite(tensor([1.0, float("nan")]))
    tensor([ True, False])
    """

    def forward(xp, self):
        return xp.isfinite(self)


class Isposinf(Question):
    """Where an element is plus infinity.

    >>> from minigrad import isposinf, tensor
    >>> isposinf(tensor([float("-inf"), float("inf")]))
    tensor([False,  True])
    """

    def forward(xp, self):
        return xp.logical_and(xp.isinf(self), self > 0)


class Isneginf(Question):
    """Where an element is minus infinity.

    >>> from minigrad import isneginf, tensor
    >>> isneginf(tensor([float("-inf"), float("inf")]))
    tensor([ True, False])
    """

    def forward(xp, self):
        return xp.logical_and(xp.isinf(self), self < 0)


class Signbit(Question):
    """Where the sign is negative, that of -0.0 included.

    >>> from minigrad import signbit, tensor
    >>> signbit(tensor([-0.0, 0.0]))
    tensor([ True, False])
    """

    def forward(xp, self):
        if self.dtype.kind == "f":
            return xp.signbit(self)
        return xp.zeros_like(self) if self.dtype.kind == "b" else self < 0


# -------------------------------------------------------------------- logic and bits


class Logical(Op, abstract=True):
    """What the operations on truth values share; any number but zero counts as true."""

    shape = broadcast
    inplace = no_history = True
    nondifferentiable = True

    def samples(make):
        yield make.bools(3, 4), make.bools(4)
        yield make.ints(3, 1, high=2), make(4)
        yield make(0, 2), make(2)


class LogicalAnd(Logical):
    """Where both elements are other than zero.

    >>> from minigrad import logical_and, tensor
    >>> logical_and(tensor([True, True]), tensor([0, 5]))
    tensor([False,  True])
    """

    def forward(xp, self, other):
        return xp.logical_and(self, other)


class LogicalOr(Logical):
    """Where one element is other than zero.

    >>> from minigrad import logical_or, tensor
    >>> logical_or(tensor([False, False]), tensor([0, 5]))
    tensor([False,  True])
    """

    def forward(xp, self, other):
        return xp.logical_or(self, other)


class LogicalXor(Logical):
    """Where just one of the elements is other than zero.

    >>> from minigrad import logical_xor, tensor
    >>> logical_xor(tensor([True, True]), tensor([0, 5]))
    tensor([ True, False])
    """

    def forward(xp, self, other):
        return xp.logical_xor(self, other)


class LogicalNot(Question):
    """Where an element is zero.

    >>> from minigrad import logical_not, tensor
    >>> logical_not(tensor([0.0, 2.0]))
    tensor([ True, False])
    """

    inplace = no_history = True

    def forward(xp, self):
        return xp.logical_not(self)

    def samples(make):
        yield from (make(3, 4), make.bools(3), make.ints(2), make(0, 2))


class Bitwise(Op, abstract=True):
    """What the operations on bits share."""

    numbers = True
    shape = broadcast
    promote = "result"
    inplace = True
    nondifferentiable = True

    def samples(make):
        yield make.ints(3, 4), make.ints(4)
        yield make.ints(3, 1), 2
        yield make.bools(2), make.bools(2)


class BitwiseAnd(Bitwise):
    """The bits that both integers have; the logical and of bools.

    >>> from minigrad import tensor
    >>> tensor([6, 5]) & 3
    tensor([2, 1])
    """

    dunder = ("__and__", "__rand__")
    commutative = True

    def forward(xp, self, other):
        require(self, "iub", "bitwise_and_cpu")
        return xp.bitwise_and(self, other)


class BitwiseOr(Bitwise):
    """The bits that one of the integers has; the logical or of bools.

    >>> from minigrad import tensor
    >>> tensor([6, 5]) | 3
    tensor([7, 7])
    """

    dunder = ("__or__", "__ror__")
    commutative = True

    def forward(xp, self, other):
        require(self, "iub", "bitwise_or_cpu")
        return xp.bitwise_or(self, other)


class BitwiseXor(Bitwise):
    """The bits that just one of the integers has.

    >>> from minigrad import tensor
    >>> tensor([6, 5]) ^ 3
    tensor([5, 6])
    """

    dunder = ("__xor__", "__rxor__")
    commutative = True

    def forward(xp, self, other):
        require(self, "iub", "bitwise_xor_cpu")
        return xp.bitwise_xor(self, other)


class BitwiseNot(Bitwise):
    """All bits turned; the logical not of bools.

    >>> from minigrad import tensor
    >>> ~tensor([True, False])
    tensor([False,  True])
    """

    shape = same
    dunder = ("__invert__",)

    def forward(xp, self):
        if self.dtype.kind == "f":
            raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type "
                            "tensors")
        return xp.invert(self)

    def samples(make):
        yield from (make.ints(3, 4), make.bools(2))


class BitwiseLeftShift(Bitwise):
    """The bits moved up, by as many places as `other` says.

    >>> from minigrad import tensor
    >>> tensor([1, 3]) << 2
    tensor([ 4, 12])
    """

    dunder = ("__lshift__", "__rlshift__")

    def forward(xp, self, other):
        require(self, "iu", "lshift_cpu")
        return xp.left_shift(self, other)

    def samples(make):
        yield make.ints(3, 4), make.ints(4)
        yield make.ints(3, 1), 2


class BitwiseRightShift(BitwiseLeftShift):
    """The bits moved down, by as many places as `other` says.

    >>> from minigrad import tensor
    >>> tensor([4, 13]) >> 2
    tensor([1, 3])
    """

    dunder = ("__rshift__", "__rrshift__")

    def forward(xp, self, other):
        require(self, "iu", "rshift_cpu")
        return xp.right_shift(self, other)


# -------------------------------------------------------------------- closeness and membership


def same_dtype(input, other):
    """Raise unless two tensors have one dtype."""
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{type_name(input.dtype)} did not match {type_name(other.dtype)}")


class IscloseOp(Op):
    """Where |x - y| is at most `atol + rtol |y|`.

    >>> from minigrad import isclose, tensor
    >>> isclose(tensor([1.0, 2.0]), tensor([1.0, 2.1]))
    tensor([ True, False])
    """

    shape = broadcast
    nondifferentiable = True
    public = False

    def forward(xp, self, other, rtol, atol, equal_nan):
        return xp.isclose(self, other, rtol=rtol, atol=atol, equal_nan=equal_nan)

    def samples(make):
        yield make(3, 4), make(4), 1e-5, 1e-8, False


@function()
def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Tell where |input - other| is at most `atol + rtol |other|`. Source: `torch.isclose`.

    >>> from minigrad import isclose, tensor
    >>> isclose(tensor([1.0, 2.0]), tensor([1.0, 2.1]))
    tensor([ True, False])
    """
    same_dtype(input, other)
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    result = IscloseOp(input, other, rtol, atol, equal_nan)
    if isinstance(result, Tensor):
        result._written_inside((not rtol == atol == 0) + (equal_nan and input.is_floating_point()))
    return result


@function()
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Tell whether all elements are close; a Python bool. Source: `torch.allclose`.

    >>> from minigrad import allclose, tensor
    >>> allclose(tensor([1.0]), tensor([1.0 + 1e-9]))
    True
    """
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@function()
def equal(input, other):
    """Tell whether two tensors have the same shape and elements. Source: `torch.equal`.

    >>> from minigrad import equal, tensor
    >>> equal(tensor([1, 2]), tensor([1, 2]))
    True
    """
    for name, given in (("input", input), ("other", other)):
        if not isinstance(given, Tensor):
            raise TypeError(f"equal(): argument {name!r} must be Tensor, not "
                            f"{type(given).__name__}")
    a, b = input._array, other._array
    return a.shape == b.shape and a.dtype == b.dtype and bool((input == other).all())


class IsinOp(Op):
    """Where an element is among the test elements.

    >>> from minigrad import isin, tensor
    >>> isin(tensor([1, 2, 3]), tensor([2, 3]))
    tensor([False,  True,  True])
    """

    numbers = True
    shape = same
    tensors = ("elements", "test_elements")
    nondifferentiable = True
    public = False

    def forward(xp, elements, test_elements, assume_unique, invert):
        return xp.isin(xp.asarray(elements), xp.asarray(test_elements),
                       assume_unique=assume_unique, invert=invert)

    def samples(make):
        yield make.ints(3, 4), make.ints(4), False, False
        yield make.ints(3, 4), 2, False, True


@function(method_too=False)
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Tell where an element is among the test elements. Source: `torch.isin`.

    >>> from minigrad import isin, tensor
    >>> isin(tensor([1, 2, 3]), 2)
    tensor([False,  True, False])
    """
    if is_number(elements) and is_number(test_elements):
        raise TypeError("isin(): one of the arguments must be a Tensor")
    return IsinOp(elements, test_elements, assume_unique, invert)


class Heaviside(Op):
    """0 below zero, 1 above, `values` at zero.

    >>> from minigrad import heaviside, tensor
    >>> heaviside(tensor([-1.5, 0.0, 2.0]), tensor([0.5]))
    tensor([0.0000, 0.5000, 1.0000])
    """

    shape = broadcast
    tensors = ("self", "values")
    inplace = True
    nondifferentiable = not_implemented_derivative = True

    def forward(xp, self, values):
        if self.dtype != values.dtype:
            raise RuntimeError("heaviside is not yet implemented for tensors with different "
                               "dtypes.")
        return xp.where(self == 0, values, (self > 0).astype(self.dtype))

    def samples(make):
        yield make(3, 4), make(4)
        yield make.ints(3, 1), make.ints(4)

