"""Ops along a dimension that keep it, such as cumulative sums and differences; and products.

NOTE [Gradients of products]
    The derivative of a product with respect to one factor is the product of the others.  If no
    factor is zero, that is the product divided by the factor.  Otherwise, `others` multiplies the
    factors before and after it.  For cumprod, the sum over all later products is a first-order
    recurrence, `LinearScan`, whose gradient is a recurrence in the other direction.  Neither
    divides, so all derivatives are correct at zeros too.
"""

import math

from ... import dtypes
from ...backend.kernels_scan import accumulate
from ...backend.memory_layout import in_rows
from ...dtypes import c_name, from_numpy_dtype, numpy_of
from ...op.arguments import require
from ...op.declaration import F, Op
from ...op.publish import function
from ...shapes import reduced, wrap_dim
from ...tensor.tensor import Tensor
from .dims import flipped, shift_by_one, unsqueeze_reduced
from .reduction import FullReduction, Reduction, accumulation_dtype, axes


def checked(shape, dim, *_):
    """Return the shape unchanged; `dim` must be one of its dimensions."""
    wrap_dim(dim, len(shape))
    return tuple(shape)


def checked_twice(shape, dim, *_):
    """Return the shapes of values and indices, both unchanged."""
    return [checked(shape, dim)] * 2


# ------------------------------------------------------------------------------- products


def has_zero(x):
    """Return whether an element is zero."""
    return bool(F.any(F.eq(x, 0)))


def others(x, dim):
    """Return, for each element, the product of all the others along `dim`."""
    before = shift_by_one(F.cumprod(x, dim), dim, F.ones_like)
    after = shift_by_one(F.cumprod(flipped(x, dim), dim), dim, F.ones_like)
    return before * flipped(after, dim)


class ProdAll(FullReduction):
    """The product of all elements; integers and booleans are multiplied as int64.

    >>> from minigrad import tensor
    >>> tensor([2.0, 3.0]).prod()
    tensor(6.)
    """

    overload = "prod", 0

    def forward(xp, self, *, dtype=None):
        return xp.multiply.reduce(self, axis=None, dtype=accumulation_dtype(self, dtype))

    def grad_self(g, self, result, self_sizes):
        if math.prod(self_sizes) == 1 and (not self_sizes or has_zero(self)):
            return F.clone(F.expand(g, self_sizes))
        if not has_zero(self):
            return g * result / self
        return g * F.reshape(others(F.reshape(self, (-1,)), 0), self_sizes)


class Prod(Reduction):
    """The product along a dimension; integers and booleans are multiplied as int64.

    >>> from minigrad import tensor
    >>> tensor([[2.0, 3.0], [4.0, 5.0]]).prod(0)
    tensor([ 8., 15.])
    """

    overload = "prod", 1

    def forward(xp, self, dim, keepdim=False, *, dtype=None):
        return xp.multiply.reduce(self, axis=axes(self, dim), keepdims=keepdim,
                                  dtype=accumulation_dtype(self, dtype))

    def grad_self(g, self, result, self_sizes, dim, keepdim):
        g = unsqueeze_reduced(g, self_sizes, dim, keepdim)
        if not self_sizes or (self_sizes[dim] == 1 and has_zero(self)):
            return F.clone(g)
        if not has_zero(self):
            return g * unsqueeze_reduced(result, self_sizes, dim, keepdim) / self
        return g * others(self, dim)

    def samples(make):
        yield make(3, 2, low=0.5), 0
        yield make(2, 3, 2, low=0.5), -2, True
        yield make(), 0


@function(out="exact dtype dim overlap expanded")
def prod(input, dim: int | None = None, keepdim=False, *, dtype=None):
    """Return the product of all elements, or along `dim`.

    >>> from minigrad import tensor
    >>> tensor([[2, 3]]).prod(dim=1)
    tensor([6])
    """
    if dim is None:
        return ProdAll(input, dtype=dtype)
    return Prod(input, dim, keepdim, dtype=dtype)


class LinearScan(Op):
    """A first-order recurrence along a dimension: y[k] = self[k] y[k - 1] + other[k].

    >>> from minigrad import ones
    >>> LinearScan(ones(3), ones(3), 0)
    tensor([1., 2., 3.])
    """

    node = "LinearScanBackward0"
    public = False

    def shape(decay, shape, dim): return checked(shape, dim)

    def forward(xp, self, other, dim):
        result = other.copy()
        steps, decay = xp.moveaxis(result, dim, 0), xp.moveaxis(self, dim, 0)
        for k in range(1, steps.shape[0]):
            steps[k] += decay[k] * steps[k - 1]
        return result

    def grad_self(g, self, result, dim):
        return reverse_scan(self, g, dim) * shift_by_one(result, dim, F.zeros_like)

    def grad_other(g, self, dim): return reverse_scan(self, g, dim)

    def samples(make):
        yield make(4), make(4), 0
        yield make(2, 3), make(2, 3), -1


def reverse_scan(decay, g, dim):
    """Return z with z[k] = decay[k + 1] z[k + 1] + g[k]."""
    later = shift_by_one(flipped(decay, dim), dim, F.ones_like)
    return flipped(LinearScan(later, flipped(g, dim), dim), dim)


# ------------------------------------------------------------------------------- cumulative


def scanned(xp, scan, x, dim, dtype=None):
    """Run `scan` on an array along a dimension, and return it in the array's shape."""
    axis = wrap_dim(dim, x.ndim)
    result = scan(x, axis=axis if x.ndim else None, dtype=accumulation_dtype(x, dtype))
    return xp.asarray(result.reshape(x.shape), order="C")


def reverse_cumsum(g, sizes, dim):
    """Return, for each element, the sum of it and all later ones along `dim`."""
    if not sizes or sizes[dim] == 1 or 0 in sizes:
        return g
    return flipped(F.cumsum(flipped(g, dim), dim), dim)


def cumulated(name):
    """Return the forward of `cumsum` or `cumprod`, and its in-place variant."""
    def forward(xp, self, dim, *, dtype=None):
        wrap_dim(dim, self.ndim)
        if dtype is not None and self.ndim and self.size:
            require(xp.empty(0, numpy_of(dtype)), "iuf", f"{name}_out_cpu")
        return scanned(xp, getattr(xp, name), self, dim, dtype)

    def forward_inplace(xp, self, dim, *, dtype=None):
        wrap_dim(dim, self.ndim)
        if dtype is not None and numpy_of(dtype) != self.dtype:
            given, wanted = (c_name(from_numpy_dtype(d)) for d in (self.dtype, numpy_of(dtype)))
            raise RuntimeError(f"Bad in-place call: input tensor dtype {given} and output tensor "
                               f"dtype {wanted} should match")
        if self.ndim and self.size:  # PyTorch rejects bools only here
            require(self, "iuf", f"{name}_out_cpu")
        self[...] = scanned(xp, getattr(xp, name), self, dim)

    return forward, forward_inplace


class Cumulative(Op, abstract=True):
    """A cumulative sum or product along a dimension."""

    out = "exact dtype"
    shape, inplace = checked, True

    def samples(make):
        yield make(3, 4, low=0.5), 0
        yield make(2, 3, 4, low=0.5), -2
        yield make(), 0
        yield make(0, 2), 0


class Cumsum(Cumulative):
    """The cumulative sums along a dimension; integers are summed as int64.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0, 3.0]).cumsum(0)
    tensor([1., 3., 6.])
    """

    forward, forward_inplace = cumulated("cumsum")

    def grad_self(g, self_sizes, dim): return reverse_cumsum(g, self_sizes, dim)


class Cumprod(Cumulative):
    """The cumulative products along a dimension; integers are multiplied as int64.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0, 3.0]).cumprod(0)
    tensor([1., 2., 6.])
    """

    forward, forward_inplace = cumulated("cumprod")

    def grad_self(g, self, result, self_sizes, dim):
        if not self_sizes:
            return g
        if not has_zero(self):
            return reverse_cumsum(g * result, self_sizes, dim) / self
        return shift_by_one(result, dim, F.ones_like) * reverse_scan(self, g, dim)


def running(extreme):
    """Return the forward of `cummax` or `cummin`: the values, and the latest index of each."""
    def forward(xp, self, dim):
        if not self.ndim:
            wrap_dim(dim, 0)
            return self.copy(), xp.zeros((), xp.int64)
        values = xp.asarray(accumulate(xp, getattr(xp, extreme), self, dim), order="C")
        behind = self.ndim - 1 - wrap_dim(dim, self.ndim)
        positions = xp.arange(self.shape[dim]).reshape((-1,) + (1,) * behind)
        reached = (self == values) | (self != self)
        indices = accumulate(xp, xp.maximum, xp.where(reached, positions, 0), dim)
        return values, xp.asarray(indices, order="C")

    return forward


class RunningExtreme(Op, abstract=True):
    """A running maximum or minimum; the gradient goes to the element it was taken from."""

    out = "exact overlap expanded"
    shape, outputs = checked_twice, ("values", "indices")

    def grad_self(g_values, indices, self_sizes, dim, self):
        if 0 in self_sizes:
            return self  # as in PyTorch
        return F.scatter_add(F.new_zeros(g_values, self_sizes), dim, indices, g_values)

    def samples(make):
        yield make(3, 4, distinct=True), 0
        yield make(2, 3, 4, distinct=True), -1
        yield make(), 0


class Cummax(RunningExtreme):
    """The running maximum along a dimension, and its index (the last of equal elements).

    >>> from minigrad import tensor
    >>> tensor([1.0, 3.0, 2.0]).cummax(0).values
    tensor([1., 3., 3.])
    """

    forward = running("maximum")


class Cummin(RunningExtreme):
    """The running minimum along a dimension, and its index (the last of equal elements).

    >>> from minigrad import tensor
    >>> tensor([2.0, 3.0, 1.0]).cummin(0).values
    tensor([2., 2., 1.])
    """

    forward = running("minimum")


class Logcumsumexp(Op):
    """log(cumsum(exp(x))) along a dimension, without overflow.

    >>> from minigrad import tensor
    >>> tensor([1000.0, 1000.0]).logcumsumexp(0)
    tensor([1000.0000, 1000.6932])
    """

    out = "exact"
    shape = checked

    def forward(xp, self, dim):
        require(self, "f", "logcumsumexp_out_cpu")
        dim = wrap_dim(dim, self.ndim)
        if not self.ndim:
            return self.copy()
        return accumulate(xp, xp.logaddexp, in_rows(self), dim)

    def grad_self(g, self, result, self_sizes, dim):
        # No exponent is positive, because result increases along dim and is never below self.
        if not self_sizes or 0 in self_sizes:
            return g
        finite = F.where(F.eq(result, -math.inf), 0, result)
        decay = F.exp(shift_by_one(result, dim, F.zeros_like) - finite)
        return F.exp(self - finite) * reverse_scan(decay, g, dim)

    def samples(make):
        yield make(4), 0
        yield make(2, 3, 2), -2
        yield make(), 0


# ------------------------------------------------------------------------------- differences


@function(out="cast")
def diff(input, n: int = 1, dim=-1, prepend=None, append=None):
    """Return the n-th differences of neighbours along `dim`; for bools, whether they differ.

    >>> from minigrad import tensor
    >>> tensor([1, 4, 9]).diff()
    tensor([3, 5])
    """
    if not input.shape:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if n == 0:
        return F.clone(input)
    parts = [part for part in (prepend, input, append) if part is not None]
    result = F.cat(parts, dim) if len(parts) > 1 else input
    subtract = F.logical_xor if input.dtype in (dtypes.bool, dtypes.bool.numpy) else F.sub
    for _ in range(n):
        size = result.shape[dim]
        if size == 0:
            break
        result = subtract(F.narrow(result, dim, 1, size - 1), F.narrow(result, dim, 0, size - 1))
    return result


def trapezoids(y, x, dx, dim):
    """Return twice the area under each segment of `y`."""
    size = y.shape[dim]
    pieces = max(size - 1, 0)
    height = F.narrow(y, dim, size - pieces, pieces) + F.narrow(y, dim, 0, pieces)
    if x is None:
        return height * dx
    width = F.diff(x, dim=dim if len(x.shape) > 1 else 0)
    if len(x.shape) == 1:
        width = F.reshape(width, (-1,) + (1,) * (len(y.shape) - 1 - wrap_dim(dim, len(y.shape))))
    return height * width


@function(method_too=False, aliases=("trapz",))
def trapezoid(y, x=None, *, dx=1, dim=-1):
    """Integrate `y` along `dim` by the trapezoidal rule, with samples at `x` or `dx` apart.

    >>> from minigrad import tensor, trapezoid
    >>> trapezoid(tensor([1.0, 2.0, 3.0]))
    tensor(4.)
    """
    if not y.shape[dim]:
        result = F.new_zeros(y, reduced(tuple(y.shape), dim, False))
        if isinstance(result, Tensor):
            result._written_inside(1)
        return result
    if x is not None:
        return F.sum(trapezoids(y, x, dx, dim), dim) / 2
    ends = F.select(y, dim, 0) + F.select(y, dim, -1)
    return (F.sum(y, dim) - ends * 0.5) * dx


@function(method_too=False)
def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """Return the cumulative integral of `y` along `dim` by the trapezoidal rule.

    >>> from minigrad import cumulative_trapezoid, tensor
    >>> cumulative_trapezoid(tensor([1.0, 2.0, 3.0]))
    tensor([1.5000, 4.0000])
    """
    return F.cumsum(trapezoids(y, x, dx, dim), dim) / 2
