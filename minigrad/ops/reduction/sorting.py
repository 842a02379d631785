"""Sorting and ops based on it: topk, unique, histograms, binary search."""

import math

from ...backend import kernels_order
from ...backend.memory_layout import laid_out_like
from ...op.arguments import require
from ...op.declaration import F, Op
from ...op.publish import function
from ...shapes import depends_on_values, wrap_dim
from .dims import scatter_reduced
from .minmax import at_least_1d, chosen


def ranking(xp, array, dim, descending):
    """Return the stable order of the elements along `dim`; nan counts as the largest."""
    if not descending:
        return xp.argsort(array, axis=dim, kind="stable")
    # Reversing before and after the sort keeps equal elements in order.
    order = xp.flip(xp.argsort(xp.flip(array, dim), axis=dim, kind="stable"), dim)
    return array.shape[dim] - 1 - order


def leading(xp, array, dim, count, largest):
    """Return the first `count` positions along `dim`, as `ranking` orders them."""
    order = kernels_order.leading(xp.moveaxis(array, dim, -1), count, largest)
    if order is not None:
        return xp.moveaxis(order, -1, dim)
    return ranking(xp, array, dim, largest)[(slice(None),) * dim + (slice(count),)]


class Ordered(Op, abstract=True):
    """Sorted elements along a dimension, and their indices."""

    outputs = ("values", "indices")

    def grad_self(g_values, indices, self_sizes, dim):
        return scatter_reduced(g_values, self_sizes, dim, indices, keepdim=True)


class Sort(Ordered):
    """The sorted elements along a dimension, and their original indices; the sort is stable.

    >>> from minigrad import tensor
    >>> tensor([3.0, 1.0, 2.0]).sort().indices
    tensor([1, 2, 0])
    """

    out = "exact"

    def shape(shape, dim=-1, *_):
        wrap_dim(dim, len(shape))
        return [tuple(shape)] * 2

    def forward(xp, self, dim=-1, descending=False, stable=False):
        order = ranking(xp, at_least_1d(self), wrap_dim(dim, self.ndim), descending)
        values, order = chosen(xp, self, order, dim, keepdim=True)
        return laid_out_like(values, self), laid_out_like(order, self)

    def samples(make):
        yield make(3, 4, distinct=True)
        yield make(2, 3, 4, distinct=True), 1, True
        yield make()


@function(out="exact")
def argsort(input, dim=-1, descending=False, stable=False):
    """Return the indices that sort the input along `dim`.

    >>> from minigrad import tensor
    >>> tensor([3.0, 1.0, 2.0]).argsort()
    tensor([1, 2, 0])
    """
    return F.sort(input, dim, descending, stable)[1]


@function(out="exact")
def msort(input):
    """Return the input sorted along its first dimension.

    >>> from minigrad import tensor
    >>> tensor([3.0, 1.0]).msort()
    tensor([1., 3.])
    """
    return F.sort(input, 0)[0]


class Topk(Ordered):
    """The k largest (or smallest) elements along a dimension, sorted, and their indices.

    >>> from minigrad import tensor
    >>> tensor([3.0, 1.0, 2.0]).topk(2).values
    tensor([3., 2.])
    """

    out = "exact"

    def shape(shape, k, dim=-1, *_):
        d = wrap_dim(dim, len(shape))
        if k < 0 or k > (shape[d] if shape else 1):
            raise RuntimeError("selected index k out of range")
        return [(*shape[:d], k, *shape[d + 1 :]) if shape else ()] * 2

    def forward(xp, self, k, dim=-1, largest=True, sorted=True):
        Topk.shape(self.shape, k, dim)
        if self.dtype == bool:
            raise RuntimeError("topk does not support bool dtypes on CPU")
        if not self.ndim:
            return self.copy(), xp.zeros((), xp.int64)
        d = wrap_dim(dim, self.ndim)
        order = leading(xp, self, d, k, largest).copy()
        return chosen(xp, self, order, dim, keepdim=True)

    def samples(make):
        yield make(3, 4, distinct=True), 2
        yield make(2, 3, 4, distinct=True), 1, 1, False
        yield make(3, distinct=True), 0


class Differing(Op, abstract=True):
    """The unique elements, the index into them for each input element, and the counts."""

    no_batching = "the size of the result depends on the values"
    public, many = False, True
    nondifferentiable = True
    shape = depends_on_values

    def samples(make):
        yield make.ints(3, 4, high=3)
        yield make.ints(3, 2, high=2), 0


class Unique2(Differing):
    """The sorted unique elements, the index for each input element, and the counts.

    >>> from minigrad import tensor
    >>> Unique2(tensor([3, 1, 3]))[1]
    tensor([1, 0, 1])
    """

    name = "unique"
    not_implemented_derivative = "the derivative for '_unique2' is not implemented."

    def forward(xp, self, dim=None):
        values, inverse, counts = xp.unique(self, return_inverse=True, return_counts=True, axis=dim,
                                            equal_nan=False)
        if values.base is not None:  # rows that NumPy compared as single elements
            values = values.copy()
        return [values, inverse.reshape(self.shape if dim is None else -1), counts]

class UniqueConsecutive(Differing):
    """The elements that differ from their predecessor, the index for each input element, counts.

    >>> from minigrad import tensor
    >>> UniqueConsecutive(tensor([3, 3, 1]))[2]
    tensor([2, 1])
    """

    not_implemented_derivative = "the derivative for 'unique_consecutive' is not implemented."

    def forward(xp, self, dim=None):
        array = self.reshape(-1) if dim is None else xp.moveaxis(self, dim, 0)
        begins = xp.ones(array.shape[:1], bool)
        rows = array.reshape(array.shape[0], -1) if array.size else array
        if array.size:
            begins[1:] = (rows[1:] != rows[:-1]).any(axis=1)
        starts = xp.flatnonzero(begins)
        counts = xp.diff(xp.append(starts, array.shape[0]))
        inverse = xp.cumsum(begins, dtype=xp.int64) - 1
        values = array[starts] if dim is None else xp.moveaxis(array[starts], 0, dim)
        return [values, inverse.reshape(self.shape) if dim is None else inverse, counts]

def requested(op, input, dim, return_inverse, return_counts):
    """Run an op along `dim`; return the requested ones of (values, inverse, counts)."""
    values, inverse, counts = op(input, None if dim is None else wrap_dim(dim, input.ndim))
    result = (values, *[inverse] * return_inverse, *[counts] * return_counts)
    return result if len(result) > 1 else values


@function()
def unique(input, sorted=True, return_inverse=False, return_counts=False,
           dim: int | None = None):
    """Return the unique elements (or slices along `dim`), sorted.

    >>> from minigrad import tensor
    >>> tensor([3, 1, 3]).unique(return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    return requested(Unique2, input, dim, return_inverse, return_counts)


@function()
def unique_consecutive(input, return_inverse=False, return_counts=False,
                       dim: int | None = None):
    """Return the elements (or slices along `dim`) that differ from their predecessor.

    >>> from minigrad import tensor
    >>> tensor([1, 1, 2, 1]).unique_consecutive()
    tensor([1, 2, 1])
    """
    return requested(UniqueConsecutive, input, dim, return_inverse, return_counts)


class Bincount(Op):
    """Count each integer from 0 up, or sum its weights.

    >>> from minigrad import tensor
    >>> tensor([1, 1, 3]).bincount()
    tensor([0, 2, 0, 1])
    """

    no_batching = "the size of the result depends on the values"
    nondifferentiable = not_implemented_derivative = True
    tensors, shape = ("self", "weights"), depends_on_values

    def forward(xp, self, weights=None, minlength=0):
        require(self, "iu", "bincount_cpu")
        if self.ndim != 1 or (self.size and self.min() < 0):
            raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
        if minlength < 0:
            raise RuntimeError("minlength should be >= 0")
        if weights is not None and weights.shape != self.shape:
            raise RuntimeError("weights should be 1-d and have the same length as input")
        counts = xp.bincount(self, weights, minlength)
        return counts.astype(xp.float32) if weights is not None and weights.dtype == xp.float32 \
            else counts

    def samples(make):
        yield make.ints(5, high=4)
        yield make.ints(5, high=4), make.ints(5)


class Histc(Op):
    """Count the elements in each of `bins` equal parts of [min, max], both ends included.

    If min equals max, the input's range is used.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0, 1.0]).histc(4, 0, 3)
    tensor([0., 2., 1., 0.])
    """

    out = "exact overlap expanded"
    no_batching = "the bins of each example may lie elsewhere"
    nondifferentiable = detached = True

    def shape(shape, bins=100, *_): return (bins,)

    def forward(xp, self, bins=100, min=0, max=0):
        require(self, "f", "histogram_cpu")
        if bins <= 0:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for "
                               "dimension 0")
        if min == max and self.size:
            min, max = self.min().item(), self.max().item()
        if min == max:
            min, max = min - 1, max + 1
        if not (math.isfinite(min) and math.isfinite(max)):
            raise RuntimeError(f"torch.histogramdd: dimension 0's range [{min}, {max}] is not "
                               "finite")
        if min > max:
            raise RuntimeError("torch.histogram(): max must be larger than min")
        min, max = xp.asarray([min, max], self.dtype)
        inside = self[(self >= min) & (self <= max)]
        places = ((inside - min) * bins / (max - min)).astype("int64")
        return xp.bincount(xp.minimum(places, bins - 1), minlength=bins).astype(self.dtype)

    def samples(make):
        yield make(10), 4
        yield make(2, 5), 3, -1, 1


def places(xp, sequence, values, side):
    """Return where values would be inserted; a nan in the sequence counts as less than all others.

    PyTorch's binary search has this effect, while NumPy sorts a nan last.
    """
    if sequence.dtype.kind != "f" or (xp.may_ask() and not xp.isnan(sequence).any()):
        return xp.asarray(xp.searchsorted(sequence, values, side))
    low, high = xp.zeros(values.shape, xp.int64), xp.full(values.shape, len(sequence))
    for _ in range(len(sequence).bit_length()):
        middle, searching = (low + high) // 2, low < high
        current = sequence[xp.minimum(middle, len(sequence) - 1)]
        before = ~(current > values if side == "right" else current >= values)
        low = xp.where(searching & before, middle + 1, low)
        high = xp.where(searching & ~before, middle, high)
    return low


class Searchsorted(Op):
    """Insertion index of each value that keeps the (last dimension of the) sequence sorted.

    Equal elements go after the insertion point, or before it with right=True.

    >>> from minigrad import searchsorted, tensor
    >>> searchsorted(tensor([1, 3, 5]), tensor([3, 6]))
    tensor([1, 3])
    """

    out = "exact overlap"
    no_batching = "each example has a sequence of its own"
    numbers = ("input",)
    nondifferentiable, method, tensors = True, False, ("sorted_sequence", "input", "sorter")

    def shape(sequence, values, *_): return values if isinstance(values, tuple) else ()

    def forward(xp, sorted_sequence, input, *, out_int32=False, right=False, side=None,
                sorter=None):
        if side is not None and side not in ("left", "right"):
            raise RuntimeError("torch.searchsorted(): side can only be 'left' or 'right' but got "
                               f"{side}")
        if side == "left" and right:
            raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites, "
                               "got side of left while right was True")
        side = side or ("right" if right else "left")
        values = xp.asarray(input)
        if sorter is not None:
            sorted_sequence = xp.take_along_axis(sorted_sequence, sorter, -1)
        if sorted_sequence.ndim == 1:
            result = places(xp, sorted_sequence, values, side)
        else:
            if values.shape[:-1] != sorted_sequence.shape[:-1]:
                raise RuntimeError(
                    "torch.searchsorted(): boundaries tensor should be 1 dimension or the first "
                    "N-1 dimensions of boundaries tensor and input value tensor must match, but "
                    f"we got boundaries tensor {list(sorted_sequence.shape)} and input value "
                    f"tensor {list(values.shape)}")
            result = xp.empty(values.shape, xp.int64)
            for row in xp.ndindex(values.shape[:-1]):
                result[row] = places(xp, sorted_sequence[row], values[row], side)
        return result.astype(xp.int32 if out_int32 else xp.int64)

    def samples(make):
        yield make.ints(5).sort().values, make.ints(2, 3)


@function(method_too=False, out="exact")
def bucketize(input, boundaries, *, out_int32=False, right=False):
    """Return the index of the bucket that each element falls into.

    >>> from minigrad import bucketize, tensor
    >>> bucketize(tensor([0, 3, 9]), tensor([1, 3, 5]))
    tensor([0, 1, 3])
    """
    if len(boundaries.shape) != 1:
        raise RuntimeError("boundaries tensor must be 1 dimension, but got "
                           f"dim({len(boundaries.shape)})")
    return F.searchsorted(boundaries, input, out_int32=out_int32, right=right)
