# Stage 04b, Reductions, matrix products, indices: the exercise for minigrad/ops/reduction/sum_mean.py.
# Made by `minigrad dev build`. The lesson is lessons/04b_reductions.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04b
# docs/en/glossary.md explains the names used inside the package.

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
        # 04b.1 Sums and means (about 9 lines)
        # `extent` returns how many elements a reduction along `dim` combines into one, and
        # `unsqueeze_reduced` puts the lost dimensions back as ones. Write the gradients of
        # sum and mean.
        #   extent((2, 3, 4), (0, -1))                     -> 8
        #   unsqueeze_reduced(value, (2, 3, 4), 1, False)  -> shape (2, 1, 4)
        #   Sum:  self_sizes (2, 3), dim 1, g = [10, 20]   -> [[10, 10, 10], [20, 20, 20]]
        #   Mean: the same                                 -> rows of 3.3333 and 6.6667
        #   MeanAll: self_sizes (2, 3), g = 12             -> 2 for each element
        # Mind:
        # - With `keepdim` or `dim=None`, return `value` as it is.
        # - An empty input gets an empty gradient, without a warning.
        # - `F.expand` returns a view, but the mean's gradient must own its memory. Don't
        #   write to `g`.
        # Use: `wrap_dims(dim, ndim)`, a tuple for any `dim`; `numel(numbers)`, their product;
        # `reduced(sizes, dim, keepdim)`, the reduced shape; `F.reshape`, `F.expand(t,
        # sizes)`.
        raise NotImplementedError("04b.1 Sums and means is yours to write")


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
        # 04b.1 Sums and means: see the task at `SumAll.grad_self`.
        raise NotImplementedError("04b.1 Sums and means is yours to write")


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
        # 04b.1 Sums and means: see the task at `SumAll.grad_self`.
        raise NotImplementedError("04b.1 Sums and means is yours to write")


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
        # 04b.1 Sums and means: see the task at `SumAll.grad_self`.
        raise NotImplementedError("04b.1 Sums and means is yours to write")


def variance_backward(g, x, sizes, dim, keepdim, correction):
    """Return the gradient of the variance of `x`, an array or tensor of shape `sizes`."""
    # 04b.2 Variance and standard deviation (about 7 lines)
    # Return the gradient of the variance of `x` along `dim`, and then the gradient of the
    # standard deviation, which is its root (`result`). The variance divides by n -
    # correction, where n is the number of elements that became one.
    #   variance: x = [1, 2, 6], g = 1, dim None, correction 1  -> [-2, -1, 3]
    #   variance: the same, g = 3, correction 0                 -> [-4, -2, 6]
    #   std: x = [[2, 2, 2], [1, 2, 3]], dim 1, g = [5, 4]      -> [[0, 0, 0], [-2, 0, 2]]
    # Mind:
    # - Where the standard deviation is 0, its gradient is 0 and not nan.
    # - If n - correction isn't positive, return `undefined_variance_backward(...)`, given
    #   above.
    # - Don't write to the arguments.
    # Use: `extent`, `unsqueeze_reduced`, `F.mean(x, dim, True)`, `F.where`, `F.eq`; all
    # of them work on arrays and tensors.
    raise NotImplementedError("04b.2 Variance and standard deviation is yours to write")


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
        # 04b.2 Variance and standard deviation: see the task at `variance_backward`.
        raise NotImplementedError("04b.2 Variance and standard deviation is yours to write")


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
