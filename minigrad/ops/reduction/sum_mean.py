"""Sum, mean, variance and standard deviation.

Each has two node names in PyTorch, one for the reduction to a single element and one for the
reduction along dimensions, so each is two ops here, and a function in `all_or_along` chooses one.
"""

import math

from ...op.declaration import F
from .array_moments import average, variance
from .dims import extent, unsqueeze_reduced
from .reduction import FullReduction, Reduction, accumulation_dtype, axes


class SumAll(FullReduction):
    """The sum of all elements; integers and booleans are summed as int64.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).sum()
    tensor(3.)
    """

    kind = "linear"
    overload = "sum", 0

    def forward(xp, self, dtype=None):
        return xp.sum(self, dtype=accumulation_dtype(self, dtype))

    def grad_self(g, self_sizes):
        return F.expand(g, self_sizes)


class Sum(Reduction):
    """The sum along dimensions; integers and booleans are summed as int64.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 2.0], [3.0, 4.0]]).sum(0)
    tensor([4., 6.])
    """

    kind = "linear reduction"
    overload = "sum", 1

    def forward(xp, self, dim, keepdim=False, *, dtype=None):
        return xp.sum(self, axis=axes(self, dim), keepdims=keepdim,
                      dtype=accumulation_dtype(self, dtype))

    def grad_self(g, self_sizes, dim, keepdim):
        return F.expand(unsqueeze_reduced(g, self_sizes, dim, keepdim), self_sizes)


class MeanAll(FullReduction):
    """The mean of all elements; raises `RuntimeError` unless they are floating-point.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).mean()
    tensor(1.5000)
    """

    kind = "linear"
    overload = "mean", 0

    def forward(xp, self, *, dtype=None): return average(xp, self, dtype=dtype)

    def grad_self(g, self_sizes):
        return F.expand(g, self_sizes) / extent(self_sizes, None)


class Mean(Reduction):
    """The mean along dimensions; raises `RuntimeError` unless the elements are floating-point.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 2.0], [3.0, 4.0]]).mean(0)
    tensor([2., 3.])
    """

    kind = "linear reduction"
    overload = "mean", 1

    def forward(xp, self, dim, keepdim=False, *, dtype=None):
        return average(xp, self, dim, keepdim, dtype)

    def grad_self(g, self_sizes, dim, keepdim):
        expanded = F.expand(unsqueeze_reduced(g, self_sizes, dim, keepdim), self_sizes)
        return expanded / extent(self_sizes, dim)


def variance_backward(g, x, sizes, dim, keepdim, correction):
    """Return the gradient of the variance of `x`, an array or tensor of shape `sizes`."""
    freedom = extent(sizes, dim) - correction
    if freedom <= 0:
        return undefined_variance_backward(g, x, sizes, dim, keepdim, freedom)
    return unsqueeze_reduced(g, sizes, dim, keepdim) * (2 / freedom) * (x - F.mean(x, dim, True))


class Spread(Reduction, abstract=True):
    """The variance or its square root."""

    def samples(make):
        yield make(3, 4)
        yield make(2, 3, 4), (0, -1)
        yield make(3, 4), 0, True, {"correction": 0}


class Var(Spread):
    """The variance along dimensions, with n - correction degrees of freedom.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0]]).var(1)
    tensor([2.])
    """

    overload = "var", 1

    def forward(xp, self, dim=None, keepdim=False, *, correction=1):
        return variance(xp, self, dim, keepdim, correction, "var")

    def grad_self(g, self, self_sizes, dim, keepdim, correction):
        return variance_backward(g, self, self_sizes, dim, keepdim, correction)


class VarAll(Var):
    """The variance of all elements, with n - correction degrees of freedom.

    >>> from minigrad import tensor
    >>> tensor([1.0, 3.0]).var()
    tensor(2.)
    """

    overload = "var", 0


class Std(Spread):
    """The standard deviation along dimensions: the square root of the variance.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0]]).std(1, correction=0)
    tensor([1.])
    """

    overload = "std", 1

    def forward(xp, self, dim=None, keepdim=False, *, correction=1):
        return xp.sqrt(variance(xp, self, dim, keepdim, correction, "std"))

    def grad_self(g, self, result, self_sizes, dim, keepdim, correction):
        equal = F.eq(result, 0)  # gradient 0 there, even if `g` is infinite
        g_var = F.where(equal, 0, g / F.where(equal, math.inf, result * 2))
        return variance_backward(g_var, self, self_sizes, dim, keepdim, correction)


class StdAll(Std):
    """The standard deviation of all elements: the square root of the variance.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0, 3.0]).std()
    tensor(1.)
    """

    overload = "std", 0


def undefined_variance_backward(g, x, sizes, dim, keepdim, freedom):
    """Return PyTorch's gradient of a variance whose divisor, `freedom`, is zero or negative."""
    if dim is None or not sizes:
        return F.where(F.eq(x, F.mean(x)), g * math.nan, g * math.inf)
    of_one = variance_backward(g, x, sizes, dim, keepdim, extent(sizes, dim) - 1)
    return of_one / freedom if freedom else of_one * math.inf
