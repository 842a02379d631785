"""Reductions into the elements that an index selects: sum, product, mean, maximum and minimum.

`scatter_reduce` has an index for each element, and `index_reduce` has one for each slice, which is
the same as using that index for every element of the slice.
"""

from functools import partial

from ...backend import kernels_index
from ...frames import warn_user_once
from ...op.arguments import require
from ...op.declaration import F, Op
from ...shapes import wrap_dim
from ...tensor.tensor import Tensor
from ..math.ties import tangent_of
from .gather import check_index, check_source, dtype_name
from .scatter import Scatter, written

#: The function that combines two elements, by the name of the reduction.
COMBINES = {"sum": "add", "prod": "multiply", "mean": "add", "amax": "maximum", "amin": "minimum"}
#: The initial value with `include_self=False`; for the extremes, any source value works.
STARTS = {"sum": 0, "prod": 1, "mean": 0}


def reduce_into(xp, target, dim, index, source, reduce, include_self):
    """Reduce `source` in place into the elements of an array that `index` selects along `dim`."""
    if reduce == "mean":
        require(target, "iuf", "scatter_gather_tensor_cpu_reduce_mean")
    if not include_self:
        kernels_index.scatter_write(xp, target, dim, index, STARTS.get(reduce, source))
    if COMBINES[reduce] != "add":
        return kernels_index.scatter_combined(xp, target, dim, index, source, COMBINES[reduce])
    kernels_index.scatter_add(xp, target, dim, index, source)
    if reduce == "mean":
        count = (xp.ones if include_self else xp.zeros)(target.shape, target.dtype)
        kernels_index.scatter_add(xp, count, dim, index, xp.ones(index.shape, target.dtype))
        divide = xp.true_divide if target.dtype.kind == "f" else xp.floor_divide
        target[...] = divide(target, xp.maximum(count, 1))
    return target


# -------------------------------------------------------------------- gradients


def share(g, self, dim, index, src, reduce, include_self, result):
    """Return the part of `g` that goes to each source of a mean or an extreme.

    With `include_self=False`, the old element gets no gradient.  If it equals the extreme, it
    counts among the tied elements nevertheless, as in PyTorch, so its part is lost.
    """
    if reduce == "mean":
        own, others = F.ones_like(self), F.ones_like(src)
        if not include_self:
            own = F.scatter(own, dim, index, 0)
    else:
        own, others = same(self, result), same(src, F.gather(result, dim, index))
    return g / F.scatter_add(own, dim, index, others)


def same(x, value):
    """Return 1 where `x` equals `value`, else 0."""
    return F.where(F.eq(x, value), F.ones_like(x), 0)


def reduced_self(g, self, dim, index, src, reduce, include_self, result):
    """Return the gradient with respect to `self`."""
    if reduce == "prod":
        g = g * F.scatter_reduce(F.depend_on(F.ones_like(self), self), dim, index, src, "prod")
    elif reduce != "sum":
        g = share(g, self, dim, index, src, reduce, include_self, result)
        if reduce != "mean":
            g = g * same(self, result)
    return g if include_self else F.scatter(g, dim, index, 0)


def reduced_src(g, self, dim, index, src, reduce, include_self, result):
    """Return the gradient with respect to `src`."""
    if reduce == "sum":
        return F.gather(g, dim, index)
    if reduce == "prod":
        return others_multiplied(g, self, dim, index, src, include_self, result)
    g = F.gather(share(g, self, dim, index, src, reduce, include_self, result), dim, index)
    return g if reduce == "mean" else g * same(src, F.gather(result, dim, index))


def extreme_tangent(op, values, outputs, tangents):
    """Return the tangent of an extreme: the mean of the tied elements' tangents.

    Unlike in backward, an old element does not count with `include_self=False`.
    """
    self, dim, index, src, reduce, include_self = values
    if reduce not in ("amax", "amin") or include_self:
        return None
    if op.name == "index_reduce":
        index = of_slices(index, dim, tuple(src.shape))
    (result,) = outputs
    own = F.scatter(F.ones_like(self), dim, index, 0)
    tied = same(src, F.gather(result, dim, index))
    total = F.scatter_add(own * tangent_of(tangents, 0), dim, index,
                          F.zeros_like(src) + tied * tangent_of(tangents, 3))
    return (total / F.scatter_add(own, dim, index, tied),)


def others_multiplied(g, self, dim, index, src, include_self, result):
    """Return `g` times the product of the other factors, for each element of `src`.

    That product is the result divided by the element.  If the element is the only zero, it is the
    result with a 1 in its place.
    """
    zeros = F.eq(src, 0)
    count = F.gather(F.scatter_add(F.zeros_like(self), dim, index, same(src, 0)), dim, index)
    if isinstance(src, Tensor) and F.any(F.gt(count, 1)):
        src = SeveralZeros(src)
    alone = F.logical_and(zeros, F.eq(count, 1))
    without = F.scatter_reduce(self, dim, index, F.masked_fill(src, alone, 1), "prod",
                               include_self=include_self)
    return F.where(alone, F.gather(g * without, dim, index),
                   F.gather(g * result, dim, index) / F.masked_fill(src, zeros, 1))


class SeveralZeros(Op):
    """A tensor of factors, at least two of which are zeros of the same product.

    The first derivatives of such a product are zero.  The formulas that return these zeros do not
    depend on the factors, so they cannot be differentiated again.

    >>> from minigrad import tensor
    >>> SeveralZeros(tensor([0.0, 0.0]))
    tensor([0., 0.])
    """

    kind = "elementwise"
    public, nondifferentiable = False, True
    not_implemented_derivative = (
        "Double backward is unsupported for src when >1 zeros in src are scattered to the same "
        "position in self")

    def forward(xp, self):
        return self.copy()

    def samples(make):
        yield make(3)


# -------------------------------------------------------------------- the ops


class ScatterReduce(Scatter):
    """Reduce `src` into the elements of `self` that `index` selects along `dim`.

    `reduce` is "sum", "prod", "mean", "amax" or "amin". With `include_self=False`, the old values
    of the selected elements do not count.

    >>> from minigrad import ones, tensor
    >>> ones(3).scatter_reduce(0, tensor([2, 2]), tensor([4.0, 7.0]), "mean")
    tensor([1., 1., 4.])
    """

    out = "exact"
    node = "ScatterReduceBackward0"

    def forward_inplace(xp, self, dim, index, src, reduce, *, include_self=True):
        if reduce not in COMBINES:
            raise RuntimeError("reduce argument must be either sum, prod, mean, amax or amin, got "
                               f"{reduce}")
        write = partial(reduce_into, reduce=reduce, include_self=include_self)
        return written(xp, "scatter", write, self, dim, index, src)

    grad_self, grad_src, jvp = reduced_self, reduced_src, extreme_tangent

    def samples(make):
        for reduce in COMBINES:
            yield make(3, 4), 0, make.ints(2, 4, high=3), make(2, 4), reduce
            yield make(3, 4), -1, make.ints(3, 6, high=4), make(3, 6), reduce, {
                "include_self": False}
        yield make(), 0, make.ints(1, high=1), make(1), "prod", {"include_self": False}


def of_slices(index, dim, sizes):
    """Expand a vector of slice indices to an index for each element of the slices."""
    return F.expand(F.reshape(index, [n if d == wrap_dim(dim, len(sizes)) else 1
                                      for d, n in enumerate(sizes)]), sizes)


class IndexReduce(Op):
    """Reduce the slices of `source` into the slices of `self` that `index` selects along `dim`.

    `reduce` is "prod", "mean", "amax" or "amin". With `include_self=False`, the old values of the
    selected slices do not count.

    >>> from minigrad import ones, tensor
    >>> ones(3).index_reduce(0, tensor([2, 2]), tensor([4.0, 7.0]), "amax")
    tensor([1., 1., 7.])
    """

    out = "exact"
    node = "IndexReduceBackward0"
    no_overlap = "after shapes"
    tensors, inplace = ("self", "index", "source"), True

    def shape(self, dim, index, source, reduce, include_self=True):
        check_source("index_reduce_", self, dim, index, source)
        return self

    def forward_inplace(xp, self, dim, index, source, reduce, *, include_self=True):
        warn_user_once("index_reduce() is in beta and the API may change at any time.")
        check_slices(self, dim, index, source)
        if reduce == "sum" or reduce not in COMBINES:
            raise RuntimeError("index_reduce(): Expected reduce to be one of prod, mean, amax or "
                               f"amin but got {reduce}.")
        if not source.size:
            return self
        check_index(index.reshape(-1), self.shape[dim] if self.ndim else 1,
                    "index out of range in self", error=IndexError)
        return reduce_into(xp, self, wrap_dim(dim, self.ndim), of_slices(index, dim, source.shape),
                           source, reduce, include_self)

    def grad_self(g, self, dim, index, source, reduce, include_self, result, source_sizes):
        index = of_slices(index, dim, source_sizes)
        return reduced_self(g, self, dim, index, source, reduce, include_self, result)

    jvp = extreme_tangent

    def grad_source(g, self, dim, index, source, reduce, include_self, result, source_sizes):
        index = of_slices(index, dim, source_sizes)
        return reduced_src(g, self, dim, index, source, reduce, include_self, result)

    def samples(make):
        for reduce in ("prod", "mean", "amax", "amin"):
            yield make(3, 4), 0, make.ints(2, high=3), make(2, 4), reduce
            yield make(3, 4), -1, make.ints(5, high=4), make(3, 5), reduce, {"include_self": False}
        yield make(), 0, make.ints(high=1), make(), "prod", {"include_self": False}


def check_slices(self, dim, index, source):
    """Raise unless the slices of `source` can be reduced into the slices of `self`."""
    wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError("index_reduce_(): Index is supposed to be a vector, but got dim: "
                         f"{index.ndim} with type: {dtype_name(index)} and size: "
                         f"{list(index.shape)}")
    if index.dtype.kind != "i" or index.itemsize < 4:
        raise RuntimeError("index_reduce_(): Expected dtype int32/int64 for index but got: "
                           f"{dtype_name(index)}")
    if source.dtype != self.dtype:
        raise RuntimeError(f"index_reduce_(): self ({dtype_name(self)}) and source "
                           f"({dtype_name(source)}) must have the same scalar type")
    check_source("index_reduce_", self.shape, dim, index.shape, source.shape)
