"""Comparisons, logic and bitwise operations, all without a gradient.

Source: https://docs.pytorch.org/docs/stable/torch.html#comparison-ops
"""

from ...backend import is_batch
from ...dtypes import type_name
from ...frames import type_in_error
from ...op.arguments import require
from ...op.declaration import Binary, F, Op, Unary
from ...op.publish import function, overridable
from ...tensor.tensor import Tensor, method
from ..overloads import alias, is_number


class Comparison(Binary, abstract=True):
    """A comparison of two tensors, or of a tensor and a number."""

    numbers = ("other",)
    nondifferentiable = True

    def samples(make):
        yield make.ints(3, 4), make.ints(4)
        yield make(3, 1), make(4)
        yield make(2), 1.5
        yield make.bools(2), make.bools(2)
        yield make(0, 2), make(2)


class Question(Unary, abstract=True):
    """A test of each element of one tensor."""

    out = ""
    inplace = False
    nondifferentiable = True

    def samples(make):
        yield from (make(3, 4), make.ints(3), make.bools(2), make(), make(0, 2))


# -------------------------------------------------------------------- comparisons


class Eq(Comparison):
    """True where two tensors, or a tensor and a number, are equal.

    >>> from minigrad import tensor
    >>> tensor([1, 2]) == 2
    tensor([False,  True])
    """

    function = "equal"
    dunder = ("__eq__",)


class Ne(Comparison):
    """True where two tensors, or a tensor and a number, differ.

    >>> from minigrad import tensor
    >>> tensor([1, 2]) != 2
    tensor([ True, False])
    """

    function = "not_equal"
    dunder = ("__ne__",)


class Lt(Comparison):
    """True where `self` is less than `other`.

    >>> from minigrad import tensor
    >>> tensor([1, 2]) < 2
    tensor([ True, False])
    """

    function = "less"
    dunder = ("__lt__",)


class Le(Comparison):
    """True where `self` is less than or equal to `other`.

    >>> from minigrad import tensor
    >>> tensor([1, 2]) <= tensor([1, 1])
    tensor([ True, False])
    """

    function = "less_equal"
    dunder = ("__le__",)


class Gt(Comparison):
    """True where `self` is greater than `other`.

    >>> from minigrad import tensor
    >>> tensor([1, 2]) > 1
    tensor([False,  True])
    """

    function = "greater"
    dunder = ("__gt__",)


class Ge(Comparison):
    """True where `self` is greater than or equal to `other`.

    >>> from minigrad import tensor
    >>> tensor([1, 2]) >= 2
    tensor([False,  True])
    """

    function = "greater_equal"
    dunder = ("__ge__",)


alias(Ne, "not_equal")
alias(Lt, "less")
alias(Le, "less_equal")
alias(Gt, "greater")
alias(Ge, "greater_equal")


# -------------------------------------------------------------------- tests of elements


class Isnan(Question):
    """True where an element is NaN.

    >>> from minigrad import isnan, tensor
    >>> isnan(tensor([1.0, float("nan")]))
    tensor([False,  True])
    """

class Isinf(Question):
    """True where an element is infinite.

    >>> from minigrad import isinf, tensor
    >>> isinf(tensor([1.0, float("-inf")]))
    tensor([False,  True])
    """

class Isfinite(Question):
    """True where an element is neither infinite nor NaN.

    >>> from minigrad import isfinite, tensor
    >>> isfinite(tensor([1.0, float("nan")]))
    tensor([ True, False])
    """

class Isposinf(Question):
    """True where an element is positive infinity.

    >>> from minigrad import isposinf, tensor
    >>> isposinf(tensor([float("-inf"), float("inf")]))
    tensor([False,  True])
    """

    out = "exact"
    def forward(xp, self):
        return xp.logical_and(xp.isinf(self), self > 0)


class Isneginf(Question):
    """True where an element is negative infinity.

    >>> from minigrad import isneginf, tensor
    >>> isneginf(tensor([float("-inf"), float("inf")]))
    tensor([ True, False])
    """

    out = "exact"
    def forward(xp, self):
        return xp.logical_and(xp.isinf(self), self < 0)


class Signbit(Question):
    """True where the sign bit is set, which includes -0.0.

    >>> from minigrad import signbit, tensor
    >>> signbit(tensor([-0.0, 0.0]))
    tensor([ True, False])
    """

    out = "exact"
    def forward(xp, self):
        if self.dtype.kind == "f":
            return xp.signbit(self)
        return xp.zeros_like(self) if self.dtype.kind == "b" else self < 0


# -------------------------------------------------------------------- logic and bits


class Logical(Binary, abstract=True):
    """A logical operation; any nonzero number counts as true."""

    promote = None
    no_history = True
    nondifferentiable = True

    def samples(make):
        yield make.bools(3, 4), make.bools(4)
        yield make.ints(3, 1, high=2), make(4)
        yield make(0, 2), make(2)


class LogicalAnd(Logical):
    """True where both elements are nonzero.

    >>> from minigrad import logical_and, tensor
    >>> logical_and(tensor([True, True]), tensor([0, 5]))
    tensor([False,  True])
    """

class LogicalOr(Logical):
    """True where at least one of the elements is nonzero.

    >>> from minigrad import logical_or, tensor
    >>> logical_or(tensor([False, False]), tensor([0, 5]))
    tensor([False,  True])
    """

class LogicalXor(Logical):
    """True where exactly one of the elements is nonzero.

    >>> from minigrad import logical_xor, tensor
    >>> logical_xor(tensor([True, True]), tensor([0, 5]))
    tensor([ True, False])
    """

class LogicalNot(Question):
    """True where an element is zero.

    >>> from minigrad import logical_not, tensor
    >>> logical_not(tensor([0.0, 2.0]))
    tensor([ True, False])
    """

    out = "cast"
    inplace = no_history = True


class Bitwise(Binary, abstract=True):
    """A bitwise operation on integers or bools."""

    numbers = True
    nondifferentiable = True

    def samples(make):
        yield make.ints(3, 4), make.ints(4)
        yield make.ints(3, 1), 2
        yield make.bools(2), make.bools(2)


class BitwiseAnd(Bitwise):
    """The bitwise and of two integers, or the logical and of bools.

    >>> from minigrad import tensor
    >>> tensor([6, 5]) & 3
    tensor([2, 1])
    """

    kernel = "iub", "bitwise_and_cpu"
    dunder = ("__and__", "__rand__")
    commutative = True


class BitwiseOr(Bitwise):
    """The bitwise or of two integers, or the logical or of bools.

    >>> from minigrad import tensor
    >>> tensor([6, 5]) | 3
    tensor([7, 7])
    """

    kernel = "iub", "bitwise_or_cpu"
    dunder = ("__or__", "__ror__")
    commutative = True


class BitwiseXor(Bitwise):
    """The bitwise exclusive or of two integers, or the logical one of bools.

    >>> from minigrad import tensor
    >>> tensor([6, 5]) ^ 3
    tensor([5, 6])
    """

    kernel = "iub", "bitwise_xor_cpu"
    dunder = ("__xor__", "__rxor__")
    commutative = True


class BitwiseNot(Question):
    """The bitwise not of integers, or the logical not of bools.

    >>> from minigrad import tensor
    >>> ~tensor([True, False])
    tensor([False,  True])
    """

    inplace = True
    out = "exact"

    def forward(xp, self):
        require(self, "iub", "bitwise_not_cpu")
        return xp.invert(self)

    def samples(make):
        yield from (make.ints(3, 4), make.bools(2))


@method("__invert__")
@overridable
def __invert__(self):
    """Return the bitwise not; as in PyTorch, its error differs from the function's."""
    if self.is_floating_point():
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type "
                        "tensors")
    return F.bitwise_not(self)


class BitwiseLeftShift(Bitwise):
    """Shift the bits left by `other` places.

    >>> from minigrad import tensor
    >>> tensor([1, 3]) << 2
    tensor([ 4, 12])
    """

    kernel = "iu", "lshift_cpu"
    function = "left_shift"
    dunder = ("__lshift__", "__rlshift__")

    def samples(make):
        yield make.ints(3, 4), make.ints(4)
        yield make.ints(3, 1), 2


class BitwiseRightShift(BitwiseLeftShift):
    """Shift the bits right by `other` places.

    >>> from minigrad import tensor
    >>> tensor([4, 13]) >> 2
    tensor([1, 3])
    """

    kernel = "iu", "rshift_cpu"
    function = "right_shift"
    dunder = ("__rshift__", "__rrshift__")


# -------------------------------------------------------------------- closeness and membership


class IscloseOp(Binary):
    """True where |x - y| is at most `atol + rtol |y|`.

    >>> from minigrad import isclose, tensor
    >>> isclose(tensor([1.0, 2.0]), tensor([1.0, 2.1]))
    tensor([ True, False])
    """

    promote = None
    inplace = False
    nondifferentiable = True
    public = False

    def forward(xp, self, other, rtol, atol, equal_nan):
        return xp.isclose(self, other, rtol=rtol, atol=atol, equal_nan=equal_nan)

    def samples(make):
        yield make(3, 4), make(4), 1e-5, 1e-8, False


@function()
def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return where |input - other| is at most `atol + rtol |other|`.  Source: `torch.isclose`.

    >>> from minigrad import isclose, tensor
    >>> isclose(tensor([1.0, 2.0]), tensor([1.0, 2.1]))
    tensor([ True, False])
    """
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{type_name(input.dtype)} did not match {type_name(other.dtype)}")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    result = IscloseOp(input, other, rtol, atol, equal_nan)
    if isinstance(result, Tensor):
        result._written_inside((not rtol == atol == 0) + (equal_nan and input.is_floating_point()))
    return result


@function()
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return a Python bool: whether all elements are close.  Source: `torch.allclose`.

    >>> from minigrad import allclose, tensor
    >>> allclose(tensor([1.0]), tensor([1.0 + 1e-9]))
    True
    """
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@function()
def equal(input, other):
    """Return whether two tensors have the same shape and equal elements.  Source: `torch.equal`.

    >>> from minigrad import equal, tensor
    >>> equal(tensor([1, 2]), tensor([1, 2]))
    True
    """
    for name, value in (("input", input), ("other", other)):
        if not isinstance(value, Tensor):
            raise TypeError(f"equal(): argument {name!r} must be Tensor, not "
                            f"{type_in_error(value)}")
    if is_batch(input._array) or is_batch(other._array):
        raise RuntimeError("Batching rule not implemented for aten::equal. We could not generate "
                           "a fallback.")
    return input._array.shape == other._array.shape and bool((input == other).all())


class IsinOp(Op):
    """True where an element is among the test elements.

    >>> from minigrad import isin, tensor
    >>> isin(tensor([1, 2, 3]), tensor([2, 3]))
    tensor([False,  True,  True])
    """

    no_batching = "each example has test elements of its own"
    numbers = True
    tensors = ("elements", "test_elements")
    nondifferentiable = True
    public = False

    def forward(xp, elements, test_elements, assume_unique, invert):
        return xp.isin(xp.asarray(elements), xp.asarray(test_elements),
                       assume_unique=assume_unique, invert=invert)

    def samples(make):
        yield make.ints(3, 4), make.ints(4), False, False
        yield make.ints(3, 4), 2, False, True


@function(method_too=False, out="exact")
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Return where an element is among the test elements.  Source: `torch.isin`.

    >>> from minigrad import isin, tensor
    >>> isin(tensor([1, 2, 3]), 2)
    tensor([False,  True, False])
    """
    if is_number(elements) and is_number(test_elements):
        raise TypeError("isin(): one of the arguments must be a Tensor")
    return IsinOp(elements, test_elements, assume_unique, invert)


class Heaviside(Binary):
    """0 below zero, 1 above zero, and `values` at zero.

    >>> from minigrad import heaviside, tensor
    >>> heaviside(tensor([-1.5, 0.0, 2.0]), tensor([0.5]))
    tensor([0.0000, 0.5000, 1.0000])
    """

    out = "exact"
    promote = None
    tensors = ("self", "values")
    nondifferentiable = not_implemented_derivative = True

    def forward(xp, self, values):
        if self.dtype != values.dtype:
            raise RuntimeError("heaviside is not yet implemented for tensors with different "
                               "dtypes.")
        return xp.where(self == 0, values, (self > 0).astype(self.dtype))

    def samples(make):
        yield make(3, 4), make(4)
        yield make.ints(3, 1), make.ints(4)
