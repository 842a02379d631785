"""Elementwise selection, by bounds or by a mask, and overwriting.

Source: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

import numpy as np

from ...backend.memory_layout import in_rows
from ...dtypes import c_name, from_numpy_dtype, type_name, uint8
from ...frames import type_in_error, warn_user_once
from ...op.apply import apply
from ...op.arguments import NUMBERS, require
from ...op.declaration import Binary, F, Op, Unary
from ...op.inplace import apply_inplace
from ...op.publish import function
from ...op.type_promotion import fitting
from ...shapes import broadcast
from ...tensor.tensor import Tensor, from_array, method
from ..overloads import is_number, is_tensor, overloaded, refuse_integers
from ..shape.convert import converted
from .ties import tangent_of

# -------------------------------------------------------------------- clamping


def limited(xp, array, low, high):
    """Clamp an array; if the bounds cross, the upper one wins.

    An element equal to a bound stays unchanged, even -0.0, because NumPy returns the second of two
    equal operands.
    """
    if low is not None:
        array = xp.maximum(low, array)
    return array if high is None else xp.minimum(high, array)


def within(array, low, high):
    """Return where an array or tensor is within its bounds; either bound may be `None`."""
    if low is None:
        return F.le(array, high)
    above = F.ge(array, low)
    return above if high is None else F.logical_and(above, F.le(array, high))


def clamped_tangent(self, min, max, of_self, of_min, of_max):
    """Return the tangent of a clamped tensor.

    As in PyTorch, an element equal to its only bound takes that bound's tangent, and its own if
    there are two bounds.
    """
    if max is None:
        return F.where(F.gt(self, min), of_self, of_min)
    if min is None:
        return F.where(F.lt(self, max), of_self, of_max)
    inside = F.where(F.lt(self, min), of_min, F.where(F.gt(self, max), of_max, of_self))
    return F.where(F.gt(min, max), of_max, inside)


class Clamp(Unary, abstract=True):
    """Clamp the elements to bounds; outside of them the gradient is zero."""

    optional = ("min", "max")
    promote = "result"

    def forward(xp, self, min, max):
        return limited(xp, self, min, max)

    def grad_self(g, self, min, max):
        return F.where(within(self, min, max), g, 0)


class ClampNumbers(Clamp):
    """Clamp the elements between two numbers; outside of them the gradient is zero.

    >>> from minigrad import tensor
    >>> tensor([-1.0, 0.5, 2.0]).clamp(0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """

    numbers = ("min", "max")
    numbers_fit = True
    overload = "clamp", ""
    tensors = ("self", "min", "max")

    def samples(make):
        yield make(3, 4, low=-0.9, high=0.9), -1.0, 1
        yield make(3, low=1.1), None, 1
        yield make(low=-0.4, high=0.4), 0.5, None


class ClampTensors(Clamp):
    """Clamp the elements between the elements of two tensors; the shapes broadcast.

    >>> from minigrad import tensor
    >>> tensor([-1.0, 2.0]).clamp(max=tensor([0.0, 1.0]))
    tensor([-1.,  1.])
    """

    shape = broadcast
    overload = "clamp", 0

    def grad_min(g, self, min, max):
        if min is None:
            return None
        below = F.lt(self, min)
        return F.where(below if max is None else F.logical_and(F.lt(min, max), below), g, 0)

    def grad_max(g, self, min, max):
        if max is None:
            return None
        above = F.gt(self, max)
        return F.where(above if min is None else F.logical_or(F.lt(max, min), above), g, 0)

    def jvp(op, values, outputs, tangents):
        return (clamped_tangent(*values, *(tangent_of(tangents, i) for i in range(3))),)

    def samples(make):
        yield make(3, 4, low=-0.9, high=0.9), make(4, low=-2, high=-1), make(3, 1, low=1)
        yield make(3, 4, low=-0.9, high=0.9), make(4, low=1, high=2), None
        yield make(2, low=0.5), None, make(low=0, high=0.4)


class ClampMinNumber(ClampNumbers):
    """Replace elements below a number by the number.

    >>> from minigrad import tensor
    >>> tensor([-1, 2]).clamp_min(0)
    tensor([0, 2])
    """

    overload = "clamp_min", ""


class ClampMinTensor(ClampTensors):
    """The larger of each element and its lower bound in a tensor.

    >>> from minigrad import tensor
    >>> tensor([-1, 2]).clamp_min(tensor([0]))
    tensor([0, 2])
    """

    overload = "clamp_min", 1
    jvp = None  # type: ignore[assignment]  # a tie takes the tangent of `self`

    def samples(make):
        yield make(3, 4, low=-0.9, high=0.9), make(4, low=1, high=2), None
        yield make(3, low=-0.9, high=0.9), make(low=-2, high=-1), None


class ClampMaxNumber(ClampNumbers):
    """Replace elements above a number by the number.

    >>> from minigrad import tensor
    >>> tensor([-1, 2]).clamp_max(0)
    tensor([-1,  0])
    """

    overload = "clamp_max", ""


class ClampMaxTensor(ClampTensors):
    """The smaller of each element and its upper bound in a tensor.

    >>> from minigrad import tensor
    >>> tensor([-1, 2]).clamp_max(tensor([0]))
    tensor([-1,  0])
    """

    overload = "clamp_max", 1
    jvp = None  # type: ignore[assignment]  # a tie takes the tangent of `self`

    def samples(make):
        yield make(3, 4, low=-0.9, high=0.9), None, make(4, low=1, high=2)
        yield make(3, low=-0.9, high=0.9), None, make(low=-2, high=-1)


@overloaded(aliases=("clip",), out="cast")
def clamp(input, min=None, max=None):
    """Clamp all elements between `min` and `max`, numbers or tensors.  Source: `torch.clamp`.

    >>> from minigrad import clamp, tensor
    >>> clamp(tensor([-1.0, 0.5, 2.0]), min=0)
    tensor([0.0000, 0.5000, 2.0000])
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    return ClampTensors if is_tensor(min) or is_tensor(max) else ClampNumbers, input, min, max


@overloaded(out="cast")
def clamp_min(input, min):
    """Clamp all elements from below to `min`, a number or a tensor.  Source: `torch.clamp_min`.

    >>> from minigrad import clamp_min, tensor
    >>> clamp_min(tensor([-1, 2]), 0)
    tensor([0, 2])
    """
    return ClampMinNumber if is_number(min) else ClampMinTensor, input, min, None


@overloaded(out="cast")
def clamp_max(input, max):
    """Clamp all elements from above to `max`, a number or a tensor.  Source: `torch.clamp_max`.

    >>> from minigrad import clamp_max, tensor
    >>> clamp_max(tensor([-1, 2]), 0)
    tensor([-1,  0])
    """
    return ClampMaxNumber if is_number(max) else ClampMaxTensor, input, None, max


# -------------------------------------------------------------------- interpolation


class LerpTensor(Binary):
    """`self + weight * (end - self)` with a tensor of weights; the shapes broadcast.

    >>> from minigrad import tensor
    >>> tensor([0.0, 10.0]).lerp(tensor([1.0, 20.0]), tensor([0.5, 1.0]))
    tensor([ 0.5000, 20.0000])
    """

    promote = None
    overload = "lerp", 1

    def forward(xp, self, end, weight):
        if getattr(weight, "shape", None) == () and weight.dtype != self.dtype:
            # one weight may be of another dtype, and is promoted with integers
            if end.dtype == self.dtype and "biuf".index(weight.dtype.kind) > "biuf".index(
                    self.dtype.kind):
                self, end = self.astype(weight.dtype), end.astype(weight.dtype)
            weight = weight.astype(self.dtype)
        for name, array in (("end", end), ("weight", weight)):
            if getattr(array, "dtype", self.dtype) != self.dtype:
                raise RuntimeError(f"expected dtype {c_name(self.dtype)} for `{name}` but got "
                                   f"dtype {c_name(array.dtype)}")
        if self.dtype.kind != "f":
            broadcast(self.shape, end.shape, getattr(weight, "shape", ()))
            kernel = "scalar" if isinstance(weight, (int, float)) else "tensor"
            require(self, "f", f"lerp_kernel_{kernel}")
        away = end - self
        # Start from the nearer end, so that the weights 0 and 1 return the ends exactly.
        if isinstance(weight, (int, float)):
            return self + weight * away if abs(weight) < 0.5 else end - away * (1 - weight)
        return xp.where(xp.abs(weight) < 0.5, self + weight * away, end - away * (1 - weight))

    def grad_self(g, weight):
        return g * (1 - weight)

    def grad_end(g, weight):
        return g * weight

    def grad_weight(g, self, end, weight):
        return g * (end - self)

    def samples(make):
        yield make(3, 4), make(4), make(3, 1, low=0, high=1)
        yield make(2), make(2), make()


class LerpNumber(LerpTensor):
    """`self + weight * (end - self)` with a number as the weight.

    >>> from minigrad import tensor
    >>> tensor([0.0, 10.0]).lerp(tensor([1.0, 20.0]), 0.5)
    tensor([ 0.5000, 15.0000])
    """

    overload = "lerp", 0
    tensors = ("self", "end")  # the weight is a number, not a saved tensor
    grad_weight = None  # type: ignore[assignment]  # a number has none

    def samples(make):
        yield make(3, 4), make(4), 0.3
        yield make(2), make(2), 2


@overloaded(out="cast")
def lerp(input, end, weight):
    """Interpolate linearly between `input` and `end`. Source: `torch.lerp`.

    >>> from minigrad import lerp, tensor
    >>> lerp(tensor([1.0, 2.0]), tensor([3.0, 6.0]), 0.25)
    tensor([1.5000, 3.0000])
    """
    return LerpNumber if is_number(weight) else LerpTensor, input, end, weight


# -------------------------------------------------------------------- by a mask


class Where(Op):
    """`self` where the condition is true, `other` elsewhere; the shapes broadcast.

    >>> from minigrad import tensor, where
    >>> where(tensor([True, False]), tensor([1.0, 2.0]), 0)
    tensor([1., 0.])
    """

    kind = "elementwise"
    numbers = numbers_fit = True
    shape = broadcast
    tensors = ("condition", "self", "other")
    promote = "result"
    promoted = ("self", "other")
    public = False

    def forward(xp, condition, self, other):
        char = condition.dtype.char
        if char == "B":  # a byte mask, from before bool tensors
            condition = condition != 0
        elif char != "?":
            dtype = type_name(from_numpy_dtype(condition.dtype))
            raise RuntimeError("where expected condition to be a boolean tensor, but got a tensor "
                               f"with dtype {dtype}")
        return xp.select(condition, self, other)

    def grad_self(g, condition):
        return F.where(condition, g, 0)

    def grad_other(g, condition):
        return F.where(condition, 0, g)

    def samples(make):
        yield make.bools(3, 4), make(3, 4), make(4)
        yield make.bools(3, 1), make(4), make()
        yield make.bools(2), make(2), 1.5
        yield make.bools(), 0, make(2)
        yield make.bools(0, 2), make(2), make(2)


@function(method_too=False, out="exact")
def where(condition, input=None, other=None):
    """Select from `input` where the condition is true, else from `other`.

    Without `input` and `other`, return the indices where the condition is true.

    Source: `torch.where`.

    >>> from minigrad import tensor, where
    >>> where(tensor([True, False]), 1, 2)
    tensor([1, 2])
    """
    if input is None and other is None:
        return F.nonzero(condition, as_tuple=True)
    if isinstance(condition, Tensor) and condition.dtype is uint8:
        warn_user_once("where received a uint8 condition tensor. This behavior is deprecated and "
                       "will be removed in a future version of PyTorch. Use a boolean condition "
                       "instead.")
    return Where(condition, input, other)


@method("where")
def where_method(self, condition, other):
    """Select from the tensor where the condition is true, else from `other`.

    >>> from minigrad import tensor
    >>> x = tensor([-1.0, 2.0])
    >>> x.where(x > 0, tensor(0.0))
    tensor([0., 2.])
    """
    return Where(condition, self, other)


def fill_value(xp, array, mask, value):
    """Return the value in the array's dtype; raise `RuntimeError` for a bad mask or value."""
    if mask.dtype.kind != "b":
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype "
                           f"{c_name(mask.dtype)}")
    if getattr(value, "ndim", 0):
        raise RuntimeError("masked_fill_ only supports a 0-dimensional value tensor, but got "
                           f"tensor with {value.ndim} dimension(s).")
    if hasattr(value, "astype"):
        return value.astype(array.dtype)
    return xp.number(fitting(value, array.dtype))


class MaskedFillNumber(Op):
    """The tensor with a number where the mask is true.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).masked_fill(tensor([True, False]), -1)
    tensor([-1.,  2.])
    """

    numbers = ("value",)
    overload = "masked_fill", 0
    allow_self_overlap = True
    shape = broadcast
    tensors = ("self", "mask", "value")
    inplace = True

    def forward(xp, self, mask, value):
        return in_rows(xp.where(mask, fill_value(xp, self, mask, value), self))

    def forward_inplace(xp, self, mask, value):
        xp.copyto(self, fill_value(xp, self, mask, value), where=mask)

    def grad_self(g, mask):
        return F.where(mask, 0, g)

    def samples(make):
        yield make(3, 4), make.bools(3, 4), 1.5
        yield make(3, 1), make.bools(4), 0
        yield make(), make.bools(), 2


class MaskedFillTensor(MaskedFillNumber):
    """The tensor with the value of a zero-dimensional tensor where the mask is true.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).masked_fill(tensor([True, False]), tensor(-1.0))
    tensor([-1.,  2.])
    """

    overload = "masked_fill", 1

    def grad_value(g, mask):
        return F.where(mask, g, 0)

    def samples(make):
        yield make(3, 4), make.bools(4), make()
        yield make(2), make.bools(3, 1), make()


@overloaded()
def masked_fill(input, mask, value):
    """Fill with `value` where the mask is true.  Source: `torch.masked_fill`.

    >>> from minigrad import masked_fill, tensor
    >>> masked_fill(tensor([1, 2]), tensor([True, False]), 7)
    tensor([7, 2])
    """
    refuse_integers(input, value)
    return MaskedFillNumber if is_number(value) else MaskedFillTensor, input, mask, value


# -------------------------------------------------------------------- overwriting


class FillNumber(Op):
    """The tensor with every element overwritten by a number.

    >>> from minigrad import zeros
    >>> zeros(2).fill_(3)
    tensor([3., 3.])
    """

    numbers = ("value",)
    overload = "fill", 0
    allow_self_overlap = True
    tensors = ("self", "value")
    inplace = True

    def forward_inplace(xp, self, value):
        if getattr(value, "ndim", 0):
            raise RuntimeError("fill_ only supports 0-dimension value tensor but got tensor with "
                               f"{value.ndim} dimensions.")
        if not hasattr(value, "dtype"):
            value = fitting(value, self.dtype)[()]
        xp.copyto(self, value, casting="unsafe")
        return self

    def grad_self(g):
        return F.zeros_like(g)

    def samples(make):
        yield make(3, 4), 2.5
        yield make(), 0


class FillTensor(FillNumber):
    """The tensor with every element overwritten by the value of a zero-dimensional tensor.

    >>> from minigrad import tensor, zeros
    >>> zeros(2).fill_(tensor(3))
    tensor([3., 3.])
    """

    overload = "fill", 1
    allow_self_overlap = False

    def grad_value(g):
        return g

    def samples(make):
        yield make(3, 4), make()


@overloaded(function=False)
def fill(input, value):
    """Overwrite every element with `value`.  Source: `torch.Tensor.fill_`.

    >>> from minigrad import ones
    >>> ones(2).fill_(0.5)
    tensor([0.5000, 0.5000])
    """
    return FillNumber if is_number(value) else FillTensor, input, value


@function("fill", method_too=False)
def filled(input, value):
    """Return a tensor like `input` with every element equal to `value`.  Source: `torch.fill`.

    >>> from minigrad import fill, ones
    >>> fill(ones(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    return apply(FillNumber if is_number(value) else FillTensor, [input, value])


class Zero(Unary):
    """The tensor with every element overwritten by zero.

    >>> from minigrad import ones
    >>> ones(2).zero_()
    tensor([0., 0.])
    """

    function = "zeros_like"
    allow_self_overlap = True
    public = False

    def forward_inplace(xp, self):
        self.fill(0)

    def grad_self(g):
        return F.zeros_like(g)


@function()
def zero_(input):
    """Overwrite every element with zero.  Source: `torch.Tensor.zero_`.

    >>> from minigrad import ones
    >>> ones(2).zero_()
    tensor([0., 0.])
    """
    return apply_inplace(Zero, [input])


class Copy(Op):
    """The elements of `src`, converted to the dtype and broadcast to the shape of `self`.

    >>> from minigrad import tensor, zeros
    >>> zeros(2).copy_(tensor([1, 2]))
    tensor([1., 2.])
    """

    copies = True
    node = "CopyBackwards"
    shape = broadcast
    public = False

    def forward(xp, self, src):
        src = src.astype(self.dtype)
        return src if src.shape == self.shape else xp.broadcast_to(src, broadcast(self.shape,
                                                                                  src.shape))

    def forward_inplace(xp, self, src):
        if src.ndim > self.ndim:
            raise RuntimeError(f"output with shape {list(self.shape)} doesn't match the broadcast "
                               f"shape {list(broadcast(self.shape, src.shape))}")
        xp.copyto(self, src, casting="unsafe")

    def grad_self(g):
        return F.zeros_like(g)

    def grad_src(g):
        return g

    def samples(make):
        yield make(3, 4), make(3, 4)
        yield make(3, 4), make(4)
        yield make(2), make()


@method("copy_")
def copy_(self, src, non_blocking=False):
    """Overwrite the tensor with the elements of `src`, which receives the gradient.

    Source: `torch.Tensor.copy_`.

    >>> from minigrad import tensor, zeros
    >>> zeros(2, 2).copy_(tensor([1, 2]))
    tensor([[1., 2.],
            [1., 2.]])
    """
    if isinstance(src, NUMBERS):
        src = from_array(np.asarray(src))
    if not isinstance(src, Tensor):
        raise TypeError("copy_(): argument 'other' (position 1) must be Tensor, not "
                        f"{type_in_error(src)}")
    if type(self._array) is not np.ndarray or type(src._array) is not np.ndarray:
        src = converted(src, None, self.device, non_blocking=non_blocking)
    # Only floating-point tensors have gradients, so others get no history.
    return apply_inplace(Copy, [self, src if self.is_floating_point() else src.detach()])
