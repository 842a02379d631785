"""Reductions that combine all elements along some dimensions: sum, mean, var, norm and theirs.

An op whose PyTorch node has two names, one for the reduction to a single element and one for
the reduction along dimensions, is two ops here and a function that chooses between them.
"""

import math
import warnings

from .. import dtypes
from ..apply import type_name
from ..op import F, Op
from ..publish import function
from ..shapes import reduced, scalar, wrap_dims
from .along import extent, restored


def axes(array, dim):
    """Return `dim` as NumPy's `axis`: a tuple counted from the front, None for all."""
    return None if dim is None else wrap_dims(dim, array.ndim)


def numpy_type(dtype):
    """Return the array library's name for a dtype; None stays None."""
    return None if dtype is None else dtype.numpy


def whole(array, dtype):
    """Return the array dtype in which a sum or product of `array` is formed: int64 for integers."""
    if dtype is None and array.dtype.kind != "f":
        return dtypes.int64.numpy
    return numpy_type(dtype)


def wide(xp, array):
    """Return float16 as float32, in which PyTorch accumulates it; others as they are."""
    return array.astype(xp.float32) if array.dtype == xp.float16 else array


def require_float(array, message):
    """Raise `message`, with the dtype's name put in, unless the elements are floating."""
    if array.dtype.kind != "f":
        name = type_name(dtypes.from_numpy_dtype(array.dtype))
        raise RuntimeError(message.format(name))


# ------------------------------------------------------------------------------- sum, mean


class SumAll(Op):
    """The sum of all elements; integers and booleans are summed as int64.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).sum()
    tensor(3.)
    """

    jvp = "linear"
    name, node, public, shape = "sum", "SumBackward0", False, scalar

    def forward(xp, self, *, dtype=None):
        return xp.add.reduce(self, axis=None, dtype=whole(self, dtype))

    def grad_self(g, self_sizes): return F.expand(g, self_sizes)

    def samples(make):
        yield make(3, 4)
        yield make()
        yield make(0, 3)


class Sum(Op):
    """The sum along dimensions; integers and booleans are summed as int64.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 2.0], [3.0, 4.0]]).sum(0)
    tensor([4., 6.])
    """

    jvp = "linear"
    node, public, shape = "SumBackward1", False, reduced

    def forward(xp, self, dim, keepdim=False, *, dtype=None):
        return xp.add.reduce(self, axis=axes(self, dim), keepdims=keepdim,
                             dtype=whole(self, dtype))

    def grad_self(g, self_sizes, dim, keepdim):
        return F.expand(restored(g, self_sizes, dim, keepdim), self_sizes)

    def samples(make):
        yield make(3, 4), 0
        yield make(2, 3, 4), (0, -1)
        yield make(2, 3, 4), (1, 2), True
        yield make(), 0
        yield make(0, 3), 0


@function()
def sum(input, dim=None, keepdim=False, *, dtype=None):
    """Return the sum of all elements, or along `dim`.

    >>> from minigrad import ones
    >>> ones(2, 3).sum(dim=1, keepdim=True).shape
    torch.Size([2, 1])
    """
    if dim is None and not keepdim:
        return SumAll(input, dtype=dtype)
    return Sum(input, dim, keepdim, dtype=dtype)


def average(xp, array, dim=None, keepdim=False, dtype=None):
    """Return the mean of a bare array, accumulated in float32 at least; nan where it is empty."""
    if dtype is not None:
        array = array.astype(dtype.numpy)
    require_float(array, "mean(): could not infer output dtype. Input dtype must be either a "
                         "floating point or complex dtype. Got: {}")
    total = xp.add.reduce(wide(xp, array), axis=axes(array, dim), keepdims=keepdim)
    return (total / (extent(array.shape, dim) or math.nan)).astype(array.dtype, copy=False)


class MeanAll(Op):
    """The mean of all elements; `RuntimeError` unless they are floating.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).mean()
    tensor(1.5000)
    """

    jvp = "linear"
    name, node, public, shape = "mean", "MeanBackward0", False, scalar

    def forward(xp, self, *, dtype=None): return average(xp, self, dtype=dtype)

    def grad_self(g, self_sizes):
        return F.expand(g / (extent(self_sizes, None) or 1), self_sizes)

    def samples(make):
        yield make(3, 4)
        yield make()


class Mean(Op):
    """The mean along dimensions; `RuntimeError` unless the elements are floating.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 2.0], [3.0, 4.0]]).mean(0)
    tensor([2., 3.])
    """

    jvp = "linear"
    node, public, shape = "MeanBackward1", False, reduced

    def forward(xp, self, dim, keepdim=False, *, dtype=None):
        return average(xp, self, dim, keepdim, dtype)

    def grad_self(g, self_sizes, dim, keepdim):
        share = restored(g, self_sizes, dim, keepdim) / (extent(self_sizes, dim) or 1)
        return F.expand(share, self_sizes)

    def samples(make):
        yield make(3, 4), 0
        yield make(2, 3, 4), (0, -1)
        yield make(2, 3, 4), (1, 2), True
        yield make(), -1


@function()
def mean(input, dim=None, keepdim=False, *, dtype=None):
    """Return the mean of all elements, or along `dim`; `RuntimeError` for integers.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0]]).mean(dim=1)
    tensor([2.])
    """
    if dim is None and not keepdim:
        return MeanAll(input, dtype=dtype)
    return Mean(input, dim, keepdim, dtype=dtype)


class Nansum(Op):
    """The sum of the elements that are not nan; integers are summed as int64.

    >>> from minigrad import nan, tensor
    >>> tensor([1.0, nan]).nansum()
    tensor(1.)
    """

    node, shape = "NansumBackward", reduced

    def forward(xp, self, dim=None, keepdim=False, *, dtype=None):
        numbers = xp.where(xp.isnan(self), 0, self) if self.dtype.kind == "f" else self
        return xp.add.reduce(numbers, axis=axes(self, dim), keepdims=keepdim,
                             dtype=whole(self, dtype))

    def grad_self(g, self, self_sizes, dim, keepdim):
        return F.where(F.eq(self, self), restored(g, self_sizes, dim, keepdim), 0)

    def samples(make):
        yield make(3, 4)
        yield make(2, 3), -1
        yield make(2, 3, 4), (0, 1), True
        yield make()


@function()
def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    """Return the mean of the elements that are not nan; `RuntimeError` for integers.

    >>> from minigrad import nan, tensor
    >>> tensor([1.0, 3.0, nan]).nanmean()
    tensor(2.)
    """
    if input.dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
        raise RuntimeError("nanmean(): expected input to have floating point or complex dtype "
                           f"but got {type_name(input.dtype)}")
    count = F.sum(F.eq(input, input), dim, keepdim)
    return F.nansum(input, dim, keepdim, dtype=dtype) / count


# ------------------------------------------------------------------------------- var, std


def variance(xp, array, dim, keepdim, correction, name):
    """Return the variance of a bare array, accumulated in float32 at least."""
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


def variance_backward(g, x, sizes, dim, keepdim, correction):
    """Return the gradient of the variance of `x`."""
    n = extent(sizes, dim)
    if dim is None and n <= correction:
        return F.expand(g * math.inf, sizes)
    factor = math.inf if n == correction else 2 / (n - correction)
    return restored(g, sizes, dim, keepdim) * factor * (x - F.mean(x, dim, True))


class Var(Op):
    """The variance along dimensions, with n - correction degrees of freedom.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0]]).var(1)
    tensor([2.])
    """

    node, public, shape = "VarBackward1", False, reduced

    def forward(xp, self, dim=None, keepdim=False, *, correction=1):
        return variance(xp, self, dim, keepdim, correction, "var")

    def grad_self(g, self, self_sizes, dim, keepdim, correction):
        return variance_backward(g, self, self_sizes, dim, keepdim, correction)

    def samples(make):
        yield make(3, 4)
        yield make(2, 3, 4), (0, -1)
        yield make(3, 4), 0, True, {"correction": 0}


class VarAll(Var):
    """The variance of all elements, with n - correction degrees of freedom.

    >>> from minigrad import tensor
    >>> tensor([1.0, 3.0]).var()
    tensor(2.)
    """

    name, node, public = "var", "VarBackward0", False


class Std(Op):
    """The standard deviation along dimensions: the square root of the variance.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0]]).std(1, correction=0)
    tensor([1.])
    """

    node, public, shape = "StdBackward1", False, reduced

    def forward(xp, self, dim=None, keepdim=False, *, correction=1):
        return xp.sqrt(variance(xp, self, dim, keepdim, correction, "std"))

    def grad_self(g, self, result, self_sizes, dim, keepdim, correction):
        g_var = g / F.where(F.eq(result, 0), math.inf, result * 2)  # no slope where all are equal
        return variance_backward(g_var, self, self_sizes, dim, keepdim, correction)

    def samples(make):
        yield make(3, 4)
        yield make(2, 3, 4), (0, -1)
        yield make(3, 4), 0, True, {"correction": 0}


class StdAll(Std):
    """The standard deviation of all elements: the square root of the variance.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0, 3.0]).std()
    tensor(1.)
    """

    name, node, public = "std", "StdBackward0", False


def spread_arguments(dim, unbiased, correction):
    """Read the three ways to call var and std: `(unbiased)`, `(dim, unbiased)`, `correction=`."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return dim, int(unbiased) if correction is None else correction


@function()
def var(input, dim=None, unbiased=True, keepdim=False, *, correction=None):
    """Return the variance of all elements, or along `dim`; `RuntimeError` for integers.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0, 3.0]).var(), tensor([1.0, 3.0]).var(unbiased=False)
    (tensor(1.), tensor(1.))
    """
    dim, correction = spread_arguments(dim, unbiased, correction)
    op = VarAll if dim is None and not keepdim else Var
    return op(input, dim, keepdim, correction=correction)


@function()
def std(input, dim=None, unbiased=True, keepdim=False, *, correction=None):
    """Return the standard deviation of all elements, or along `dim`; `RuntimeError` for integers.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0, 3.0]).std()
    tensor(1.)
    """
    dim, correction = spread_arguments(dim, unbiased, correction)
    op = StdAll if dim is None and not keepdim else Std
    return op(input, dim, keepdim, correction=correction)


@function(method_too=False)
def var_mean(input, dim=None, unbiased=True, keepdim=False, *, correction=None):
    """Return the variance and the mean.

    >>> from minigrad import tensor, var_mean
    >>> var_mean(tensor([1.0, 3.0]))
    (tensor(2.), tensor(2.))
    """
    dim, correction = spread_arguments(dim, unbiased, correction)
    return F.var(input, dim, keepdim=keepdim, correction=correction), F.mean(input, dim, keepdim)


@function(method_too=False)
def std_mean(input, dim=None, unbiased=True, keepdim=False, *, correction=None):
    """Return the standard deviation and the mean.

    >>> from minigrad import std_mean, tensor
    >>> std_mean(tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """
    dim, correction = spread_arguments(dim, unbiased, correction)
    return F.std(input, dim, keepdim=keepdim, correction=correction), F.mean(input, dim, keepdim)


# ------------------------------------------------------------------------------- norms


def norm_of(xp, array, p, dim, keepdim, dtype):
    """Return the p-norm of a bare array of vectors along `dim`."""
    require_float(array, "linalg.vector_norm: Expected a floating point or complex tensor as "
                         "input. Got {}")
    out = array.dtype if dtype is None else dtype.numpy
    axis = axes(array, dim)
    size = xp.abs(wide(xp, array.astype(out, copy=False)))
    if (p < 0 or p == math.inf) and extent(array.shape, dim) == 0:
        raise RuntimeError(f"linalg.vector_norm cannot compute the {p:g} norm on an empty tensor "
                           "because the operation does not have an identity")
    if p == math.inf:
        norm = size.max(axis=axis, keepdims=keepdim)
    elif p == -math.inf:
        norm = size.min(axis=axis, keepdims=keepdim)
    elif p == 0:
        norm = xp.add.reduce(size != 0, axis=axis, keepdims=keepdim)
    elif p == 1:
        norm = xp.add.reduce(size, axis=axis, keepdims=keepdim)
    elif p == 2:
        norm = xp.sqrt(xp.add.reduce(size * size, axis=axis, keepdims=keepdim))
    else:
        norm = xp.power(xp.add.reduce(size**p, axis=axis, keepdims=keepdim), 1 / p)
    return norm.astype(out, copy=False)


def norm_backward(g, x, norm, sizes, p, dim, keepdim):
    """Return the gradient of the p-norm: sign(x) (|x| / norm)^(p - 1), zero where that has none."""
    if p == 0:
        return F.zeros_like(x)
    g, norm = restored(g, sizes, dim, keepdim), restored(norm, sizes, dim, keepdim)
    if p == 1:
        return g * F.sign(x)
    if abs(p) == math.inf:
        mask = F.logical_or(F.eq(F.abs(x), norm), F.ne(x, x))
        return F.where(mask, F.div(g, F.sum(mask, dim, dim is not None)), 0) * F.sign(x)
    ratio = x / F.where(F.eq(norm, 0), math.inf, norm)  # no slope where all elements are zero
    if p == 2:
        return g * ratio
    ratio = F.abs(ratio)
    if p < 1:
        ratio = F.where(F.eq(ratio, 0), math.inf, ratio)  # nor at one zero: its power is infinite
    return g * F.sign(x) * F.pow(ratio, p - 1)


class Norm(Op):
    """The p-norm along dimensions: (sum |x|^p)^(1/p); p = 0 counts, p = inf takes the largest.

    >>> from minigrad import tensor
    >>> tensor([[3.0, 4.0]]).norm(dim=1)
    tensor([5.])
    """

    node, public, shape = "NormBackward1", False, lambda x, p=2, *rest: reduced(x, *rest)

    def forward(xp, self, p=2, dim=None, keepdim=False, *, dtype=None):
        return norm_of(xp, self, p, dim, keepdim, dtype)

    def grad_self(g, self, result, self_sizes, p, dim, keepdim):
        return norm_backward(g, self, result, self_sizes, p, dim, keepdim)

    def samples(make):
        yield make(3, 4)
        yield make(2, 3, 4), 1, (0, -1)
        yield make(3, 4), 3, 0, True
        yield make(3, low=0.5), 1.5
        yield make(3, 4, distinct=True), math.inf, 1
        yield make(3, low=0.5), -1


class NormAll(Norm):
    """The p-norm of all elements as one vector: (sum |x|^p)^(1/p).

    >>> from minigrad import tensor
    >>> tensor([[3.0], [4.0]]).norm()
    tensor(5.)
    """

    name, node, public = "norm", "NormBackward0", False


class LinalgVectorNorm(Norm):
    """The vector norm of `torch.linalg`: (sum |x|^ord)^(1/ord) along dimensions.

    >>> from minigrad import linalg, tensor
    >>> linalg.vector_norm(tensor([3.0, 4.0]), 1)
    tensor(7.)
    """

    node, public = "LinalgVectorNormBackward", False


@function()
def norm(input, p="fro", dim=None, keepdim=False, *, dtype=None):
    """Return the p-norm of all elements, or along `dim`; "nuc" sums the singular values.

    >>> from minigrad import tensor
    >>> tensor([3.0, 4.0]).norm(), tensor([3.0, -4.0]).norm(1)
    (tensor(5.), tensor(7.))
    """
    if p is None or p == "fro":
        p = 2
    elif isinstance(p, str):
        return F.linalg_matrix_norm(input, p, (-2, -1) if dim is None else dim, keepdim,
                                    dtype=dtype)
    op = NormAll if dim is None and not keepdim else Norm
    return op(input, p, dim, keepdim, dtype=dtype)


@function()
def dist(input, other, p=2):
    """Return the p-norm of the difference.

    >>> from minigrad import dist, tensor
    >>> dist(tensor([1.0, 2.0]), tensor([4.0, 6.0]))
    tensor(5.)
    """
    return F.norm(F.sub(input, other), p)


class Logsumexp(Op):
    """log(sum(exp(x))) along dimensions, without overflow.

    >>> from minigrad import tensor
    >>> tensor([1000.0, 1000.0]).logsumexp(0)
    tensor(1000.6932)
    """

    node, promote, shape = "LogsumexpBackward", "float", reduced

    def forward(xp, self, dim, keepdim=False):
        axis, work = axes(self, dim), wide(xp, self)
        if self.size == 0:
            return xp.full(reduced(self.shape, dim, keepdim), -math.inf, self.dtype)
        largest = work.max(axis=axis, keepdims=True)
        largest = xp.where(xp.isinf(largest), 0, largest)
        total = xp.add.reduce(xp.exp(work - largest), axis=axis, keepdims=True)
        result = (xp.log(total) + largest).astype(self.dtype, copy=False)
        return result.reshape(reduced(self.shape, dim, keepdim))

    def grad_self(g, self, result, self_sizes, dim, keepdim):
        softmax = F.exp(self - restored(result, self_sizes, dim, keepdim))
        return restored(g, self_sizes, dim, keepdim) * softmax

    def samples(make):
        yield make(3, 4), 0
        yield make(2, 3, 4), (0, -1)
        yield make(3, 4), 1, True
        yield make(), 0


# ------------------------------------------------------------------------------- truth and counts


class Any(Op):
    """Whether any element is not zero; of uint8 the result is uint8.

    >>> from minigrad import tensor
    >>> tensor([0, 1]).any()
    tensor(True)
    """

    shape, nondifferentiable = reduced, True

    def forward(xp, self, dim=None, keepdim=False):
        found = xp.any(self, axis=axes(self, dim), keepdims=keepdim)
        return found.astype(self.dtype) if self.dtype == xp.uint8 else found

    def samples(make):
        yield make.ints(3, 4, high=2)
        yield make.bools(3, 4), 0
        yield make.bools(2, 3, 4), (0, 1), True


class All(Op):
    """Whether no element is zero; of uint8 the result is uint8.

    >>> from minigrad import tensor
    >>> tensor([0, 1]).all()
    tensor(False)
    """

    shape, nondifferentiable = reduced, True

    def forward(xp, self, dim=None, keepdim=False):
        found = xp.all(self, axis=axes(self, dim), keepdims=keepdim)
        return found.astype(self.dtype) if self.dtype == xp.uint8 else found

    def samples(make):
        yield make.ints(3, 4, high=2)
        yield make.bools(3, 4), 0
        yield make.bools(2, 3, 4), (0, 1), True


class CountNonzero(Op):
    """How many elements are not zero, as int64.

    >>> from minigrad import tensor
    >>> tensor([0.0, 2.0, 3.0]).count_nonzero()
    tensor(2)
    """

    shape, nondifferentiable = reduced, True

    def forward(xp, self, dim=None):
        return xp.add.reduce(self != 0, axis=axes(self, dim), dtype=xp.int64)

    def samples(make):
        yield make.ints(3, 4, high=2)
        yield make.ints(3, 4, high=2), -1
        yield make.bools(2, 3, 4), (0, 1)
