# Stage 04b, Reductions, matrix products, indices: the exercise for minigrad/ops/reduction/sum_mean.py.
# Made by `minigrad dev build`. The lesson is lessons/04b_reductions.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04b
# docs/en/glossary.md explains the names used inside the package.

"""Reductions that combine all elements along some dimensions: sum, mean, var and variants.

Some ops have two node names in PyTorch, one for the reduction to a single element and one for the
reduction along dimensions.  Each of them is two ops here, and a function that chooses one.
"""

import math
import warnings
from typing import Any

from ... import dtypes
from ...dtypes import type_name
from ...op.apply import apply
from ...op.declaration import F, Op, unary_samples
from ...op.publish import function
from ...shapes import reduced, scalar, wrap_dims
from .dims import extent, unsqueeze_reduced


def axes(array, dim):
    """Return `dim` as NumPy's `axis`: a tuple of nonnegative dimensions, or `None` for all."""
    return None if dim is None else wrap_dims(dim, array.ndim)


def numpy_type(dtype):
    """Return the array library's type for a dtype; `None` stays `None`."""
    return None if dtype is None else dtypes.numpy_of(dtype)


def accumulation_dtype(array, dtype):
    """Return the dtype in which a sum or product accumulates: int64 for integers."""
    if dtype is None:
        return None if array.dtype.kind == "f" else dtypes.int64.numpy
    return dtypes.numpy_of(dtype)


def wide(xp, array):
    """Return float16 as float32, in which PyTorch accumulates it, and others unchanged."""
    return array.astype(xp.float32) if array.dtype == xp.float16 else array


def require_float(array, message):
    """Raise `message`, formatted with the dtype's name, unless the array is floating-point."""
    if array.dtype.kind != "f":
        name = type_name(dtypes.from_numpy_dtype(array.dtype))
        raise RuntimeError(message.format(name))


class FullReduction(Op, abstract=True):
    """A reduction of all elements to one."""

    shape, samples = scalar, unary_samples


class Reduction(Op, abstract=True):
    """A reduction along dimensions."""

    kind, shape = "reduction", reduced

    def samples(make):
        yield make(3, 4), 0
        yield make(2, 3, 4), (0, -1)
        yield make(2, 3, 4), (1, 2), True
        yield make(), -1
        yield make(0, 3), 0


# ------------------------------------------------------------------------------- sum, mean


class SumAll(FullReduction):
    """The sum of all elements; integers and booleans are summed as int64.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).sum()
    tensor(3.)
    """

    kind = "linear"
    overload = "sum", 0

    def forward(xp, self, dtype=None):
        return xp.add.reduce(self, axis=None, dtype=accumulation_dtype(self, dtype))

    def grad_self(g, self_sizes):
        # 04b.1 Sums and means (about 9 lines)
        # `extent` returns how many elements a reduction along `dim` combines into one, and
        # `unsqueeze_reduced` puts the lost dimensions back as ones. With both, write the
        # gradients of sum and mean.
        #   extent((2, 3, 4), (0, -1))                     -> 8
        #   unsqueeze_reduced(value, (2, 3, 4), 1, False)  -> shape (2, 1, 4)
        #   Sum:  self_sizes (2, 3), dim 1, g = [10, 20]   -> [[10, 10, 10], [20, 20, 20]]
        #   Mean: the same                                 -> rows of 3.3333 and 6.6667
        #   MeanAll: self_sizes (2, 3), g = 12             -> 2 for each element
        # Mind:
        # - With `keepdim`, or if `dim` is `None`, return `value` as it is.
        # - An empty input gets an empty gradient, without a warning.
        # - `F.expand` returns a view, but the mean's gradient must own its memory.
        # Use: `wrap_dims(dim, ndim)`, a tuple for any `dim`; `numel(numbers)`, their product;
        # `reduced(sizes, dim, keepdim)`, the shape after a reduction; `F.reshape`,
        # `F.expand(t, sizes)`.
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
        return xp.add.reduce(self, axis=axes(self, dim), keepdims=keepdim,
                             dtype=accumulation_dtype(self, dtype))

    def grad_self(g, self_sizes, dim, keepdim):
        # 04b.1 Sums and means: see the task at `SumAll.grad_self`.
        raise NotImplementedError("04b.1 Sums and means is yours to write")


@function(out="exact dtype dim overlap expanded")
def sum(input, dim=None, keepdim=False, *, dtype=None):
    """Return the sum of all elements, or along `dim`.

    >>> from minigrad import ones
    >>> ones(2, 3).sum(dim=1, keepdim=True).shape
    torch.Size([2, 1])
    """
    if dim is None and not keepdim:
        return apply(SumAll, [input, dtype])
    return Sum(input, dim, keepdim, dtype=dtype)


def average(xp, array, dim=None, keepdim=False, dtype=None):
    """Return the mean of a bare array, accumulated in at least float32; nan if it is empty."""
    if dtype is not None:
        array = array.astype(dtypes.numpy_of(dtype))
    given = "Input" if dtype is None else "Optional"
    require_float(array, f"mean(): could not infer output dtype. {given} dtype must be either a "
                         "floating point or complex dtype. Got: {}")
    total = xp.add.reduce(wide(xp, array), axis=axes(array, dim), keepdims=keepdim)
    return (total / (extent(array.shape, dim) or math.nan)).astype(array.dtype, copy=False)


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


@function(out="cast overlap")
def mean(input, dim=None, keepdim=False, *, dtype=None):
    """Return the mean of all elements, or along `dim`; raise `RuntimeError` for integers.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0]]).mean(dim=1)
    tensor([2.])
    """
    if dim is None and not keepdim:
        return MeanAll(input, dtype=dtype)
    return Mean(input, dim, keepdim, dtype=dtype)


class Nansum(Reduction):
    """The sum of the elements, with nan as zero; integers are summed as int64.

    >>> from minigrad import nan, tensor
    >>> tensor([1.0, nan]).nansum()
    tensor(1.)
    """

    out = "cast overlap expanded"

    def forward(xp, self, dim=None, keepdim=False, *, dtype=None):
        numbers = xp.where(xp.isnan(self), 0, self) if self.dtype.kind == "f" else self
        return xp.add.reduce(numbers, axis=axes(self, dim), keepdims=keepdim,
                             dtype=accumulation_dtype(self, dtype))

    def grad_self(g, self, self_sizes, dim, keepdim):
        return F.where(F.eq(self, self), unsqueeze_reduced(g, self_sizes, dim, keepdim), 0)

    def samples(make):
        yield make(3, 4)
        yield from Reduction.samples(make)


@function(out="cast overlap")
def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    """Return the mean of the elements that are not nan; raise `RuntimeError` for integers.

    >>> from minigrad import nan, tensor
    >>> tensor([1.0, 3.0, nan]).nanmean()
    tensor(2.)
    """
    if input.dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
        raise RuntimeError("nanmean(): expected input to have floating point or complex dtype "
                           f"but got {type_name(input.dtype)}")
    dtype = dtypes.as_dtype(dtype)
    if isinstance(dtype, dtypes.dtype) and not dtype.is_floating_point:
        raise RuntimeError("nanmean(): could not infer output dtype. Optional dtype must be either "
                           f"a floating point or complex dtype. Got: {type_name(dtype)}")
    count = F.sum(F.eq(input, input), dim, keepdim)
    return F.nansum(input, dim, keepdim, dtype=dtype) / count


# ------------------------------------------------------------------------------- var, std


def variance(xp, array, dim, keepdim, correction, name):
    """Return the variance of a bare array, accumulated in at least float32."""
    require_float(array, "std and var only support floating point and complex dtypes")
    work, axis = wide(xp, array), axes(array, dim)
    n = extent(array.shape, dim)
    centred = work - xp.add.reduce(work, axis=axis, keepdims=True) / (n or math.nan)
    total = xp.add.reduce(centred * centred, axis=axis, keepdims=keepdim)
    if n > correction:
        return (total / (n - correction)).astype(array.dtype, copy=False)
    warnings.warn(f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than "
                  "the reduction factor (input numel divided by output numel).", stacklevel=2)
    return xp.where(total > 0, math.inf, math.nan).astype(array.dtype)


def undefined_variance_backward(g, x, sizes, dim, keepdim, freedom):
    """Return PyTorch's gradient of a variance whose divisor, `freedom`, is zero or negative."""
    if dim is None or not sizes:
        return F.where(F.eq(x, F.mean(x)), g * math.nan, g * math.inf)
    of_one = variance_backward(g, x, sizes, dim, keepdim, extent(sizes, dim) - 1)
    return of_one / freedom if freedom else of_one * math.inf


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


def spread_arguments(dim, unbiased, correction):
    """Parse the three forms of var and std: `(unbiased)`, `(dim, unbiased)`, `correction=`."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return dim, int(unbiased) if correction is None else correction


@function(out="cast overlap expanded")
def var(input, dim: Any = None, unbiased=True, keepdim=False, *, correction=None):
    """Return the variance of all elements, or along `dim`; raise `RuntimeError` for integers.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0, 3.0]).var(), tensor([1.0, 3.0]).var(unbiased=False)
    (tensor(1.), tensor(1.))
    """
    dim, correction = spread_arguments(dim, unbiased, correction)
    op = VarAll if dim is None and not keepdim else Var
    return op(input, dim, keepdim, correction=correction)


@function(out="cast overlap expanded")
def std(input, dim: Any = None, unbiased=True, keepdim=False, *, correction=None):
    """Return the standard deviation of all elements, or along `dim`.

    Raises `RuntimeError` for integers.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0, 3.0]).std()
    tensor(1.)
    """
    dim, correction = spread_arguments(dim, unbiased, correction)
    op = StdAll if dim is None and not keepdim else Std
    return op(input, dim, keepdim, correction=correction)


@function(method_too=False)
def var_mean(input, dim: Any = None, unbiased=True, keepdim=False, *, correction=None):
    """Return the variance and the mean.

    >>> from minigrad import tensor, var_mean
    >>> var_mean(tensor([1.0, 3.0]))
    (tensor(2.), tensor(2.))
    """
    dim, correction = spread_arguments(dim, unbiased, correction)
    return F.var(input, dim, keepdim=keepdim, correction=correction), F.mean(input, dim, keepdim)


@function(method_too=False)
def std_mean(input, dim: Any = None, unbiased=True, keepdim=False, *, correction=None):
    """Return the standard deviation and the mean.

    >>> from minigrad import std_mean, tensor
    >>> std_mean(tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """
    dim, correction = spread_arguments(dim, unbiased, correction)
    return F.std(input, dim, keepdim=keepdim, correction=correction), F.mean(input, dim, keepdim)
