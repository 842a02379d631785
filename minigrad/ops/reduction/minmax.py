"""Reductions that select an element: max, min, median, mode, kthvalue and their indices.

If several elements tie, a reduction of all elements (and amax) distributes its gradient evenly
among them, while a reduction along one dimension gives it to the element at the returned index.
"""

from typing import Any

from ...backend import kernels_order
from ...backend.kernels_scan import accumulate
from ...op.arguments import require
from ...op.declaration import F, Op
from ...op.publish import function
from ...shapes import reduced, wrap_dim
from ..overloads import is_tensor
from .dims import scatter_reduced, unsqueeze_reduced
from .reduction import FullReduction, Reduction, axes


def values_and_indices(shape, dim=-1, keepdim=False):
    """Return the shapes of values and indices of a reduction along one dimension."""
    return [reduced(shape, dim, keepdim)] * 2


def require_elements(name, array, dim):
    """Raise if there are no elements to select from."""
    if not array.size:
        refuse_empty(name, array.shape, dim)


def refuse_empty(name, shape, dim):
    """Raise for a reduction of an empty tensor, unless the dimensions in `dim` are nonempty."""
    if dim in (None, (), []):
        raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() "
                           "== 0. Specify the reduction dim with the 'dim' argument.")
    for d in dim if isinstance(dim, (tuple, list)) else (dim,):
        d = wrap_dim(d, len(shape))
        if shape[d] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")


def extreme_shape(name):
    """Return the shape rule of a reduction that needs elements, which it checks first."""
    def shape(self, dim=None, keepdim=False):
        if 0 in self:
            refuse_empty(name, self, dim)
        return reduced(self, dim, keepdim)

    return shape


def chosen(xp, array, index, dim, keepdim):
    """Return the elements at `index`, which has size one along `dim`, and the index."""
    if array.ndim == 0:
        return array.copy(), index.reshape(())
    values = xp.take_along_axis(array, index, dim)
    return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))


def at_least_1d(array):
    """Return a zero-dimensional array as a vector of one element."""
    return array if array.ndim else array.reshape(1)


def share_among_equal(g, x, value, sizes=(), dim=None, keepdim=False):
    """Divide `g` evenly among the elements that equal the reduced `value`."""
    g, value = (unsqueeze_reduced(t, sizes, dim, keepdim) for t in (g, value))
    mask = F.eq(x, value)
    return F.div(g * mask, F.sum(mask, dim, dim is not None))


# ------------------------------------------------------------------------------- max, min


class OfAllElements(FullReduction, abstract=True):
    """A reduction of all elements to one of them; tied elements share the gradient."""

    def grad_self(g, self, result):
        mask = F.eq(self, result) if F.eq(result, result) else F.ne(self, self)  # or the nans
        return F.where(mask, F.div(g, F.sum(mask)), 0)

    def samples(make):
        yield make(3, 4, distinct=True)
        yield make()


class AlongDim(Op, abstract=True):
    """A reduction along one dimension that returns elements and their indices."""

    out = "exact"
    shape, outputs = values_and_indices, ("values", "indices")

    def grad_self(g_values, indices, self_sizes, dim, keepdim):
        return scatter_reduced(g_values, self_sizes, dim, indices, keepdim)

    def samples(make):
        yield make(3, 4, distinct=True), 0
        yield make(2, 3, 4, distinct=True), -2, True
        yield make(), 0


def largest_or_smallest(name):
    """Return the forward of `max` or `min` of all elements."""
    def forward(xp, self):
        require_elements(name, self, None)
        return getattr(self, name)()

    return forward


def index_along_dim(name):
    """Return the forward of `max` or `min` along a dimension."""
    def forward(xp, self, dim, keepdim=False):
        require_elements(name, self, dim)
        find = xp.argmax if name == "max" else xp.argmin
        return chosen(xp, self, find(at_least_1d(self), axis=dim, keepdims=True), dim, keepdim)

    return forward


class MaxAll(OfAllElements):
    """The largest element, or nan if any element is nan.

    >>> from minigrad import tensor
    >>> tensor([1.0, 3.0, 2.0]).max()
    tensor(3.)
    """

    forward = largest_or_smallest("max")
    overload = "max", 1


class MinAll(OfAllElements):
    """The smallest element, or nan if any element is nan.

    >>> from minigrad import tensor
    >>> tensor([1.0, 3.0, 2.0]).min()
    tensor(1.)
    """

    forward = largest_or_smallest("min")
    overload = "min", 1


class MaxDim(AlongDim):
    """The largest elements along a dimension, and their indices (the first of equal ones).

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0, 2.0]]).max(1).indices
    tensor([1])
    """

    forward = index_along_dim("max")
    overload = "max", 0


class MinDim(AlongDim):
    """The smallest elements along a dimension, and their indices (the first of equal ones).

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0, 2.0]]).min(1).indices
    tensor([0])
    """

    forward = index_along_dim("min")
    overload = "min", 0


@function(out="exact overlap")
def max(input, dim: Any = None, keepdim=False, *, other=None):
    """Return the largest element; along `dim` also indices; of two tensors elementwise.

    >>> from minigrad import tensor
    >>> tensor([1.0, 4.0]).max(), tensor([1.0, 4.0]).max(tensor([2.0, 3.0]))
    (tensor(4.), tensor([2., 4.]))
    """
    if other is not None or is_tensor(dim):
        return F.maximum(input, dim if other is None else other)
    return MaxAll(input) if dim is None else MaxDim(input, dim, keepdim)


@function(out="exact overlap")
def min(input, dim: Any = None, keepdim=False, *, other=None):
    """Return the smallest element; along `dim` also indices; of two tensors elementwise.

    >>> from minigrad import tensor
    >>> tensor([1.0, 4.0]).min(), tensor([1.0, 4.0]).min(tensor([2.0, 3.0]))
    (tensor(1.), tensor([1., 3.]))
    """
    if other is not None or is_tensor(dim):
        return F.minimum(input, dim if other is None else other)
    return MinAll(input) if dim is None else MinDim(input, dim, keepdim)


class ExtremeAlongDims(Reduction, abstract=True):
    """The largest or smallest elements along dimensions; tied ones share the gradient."""

    out = "exact overlap expanded"

    def grad_self(g, self, result, self_sizes, dim, keepdim):
        return share_among_equal(g, self, result, self_sizes, dim, keepdim)

    def samples(make):
        yield make(3, 4, distinct=True)
        yield make(2, 3, 4, distinct=True), (0, -1)
        yield make(3, 4, distinct=True), 1, True


def extreme_along_dims(name, extreme):
    """Return the forward of `amax` or `amin`."""
    def forward(xp, self, dim=None, keepdim=False):
        require_elements(name, self, dim)
        return getattr(self, extreme)(axis=axes(self, dim), keepdims=keepdim)

    return forward


class Amax(ExtremeAlongDims):
    """The largest elements along dimensions; tied elements share the gradient.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0], [2.0, 0.0]]).amax((0, 1))
    tensor(3.)
    """

    shape, forward = extreme_shape("amax"), extreme_along_dims("amax", "max")


class Amin(ExtremeAlongDims):
    """The smallest elements along dimensions; tied elements share the gradient.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0], [2.0, 0.0]]).amin((0, 1))
    tensor(0.)
    """

    shape, forward = extreme_shape("amin"), extreme_along_dims("amin", "min")


class Aminmax(Op):
    """The smallest and the largest elements, of all or along one dimension.

    >>> from minigrad import tensor
    >>> tensor([1.0, 3.0, 2.0]).aminmax().max
    tensor(3.)
    """

    out = "exact"
    shape = values_and_indices
    kind = "reduction"
    outputs, materialize = ("min", "max"), False

    def forward(xp, self, *, dim: int | None = None, keepdim=False):
        if dim is None and not self.size:
            raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the "
                               "operation has no identity.")
        require_elements("aminmax", self, dim)
        axis = axes(self, dim)
        return self.min(axis=axis, keepdims=keepdim), self.max(axis=axis, keepdims=keepdim)

    def grad_self(g_min, g_max, self, min, max, self_sizes, dim, keepdim):
        parts = [share_among_equal(g, self, value, self_sizes, dim, keepdim)
                 for g, value in ((g_min, min), (g_max, max)) if g is not None]
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]

    def samples(make):
        yield make(3, 4, distinct=True)
        yield make(3, 4, distinct=True), {"dim": 1}
        yield make(3, 4, distinct=True), {"dim": 0, "keepdim": True}


def position(name, kernel):
    """Return the forward of `argmax` or `argmin`; without `dim` the index is flat."""
    def forward(xp, self, dim: int | None = None, keepdim=False):
        if self.dtype.kind == "b":
            raise RuntimeError(f"{name}(): does not support bool input")
        if dim is None and self.size == 0:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for "
                             "input.numel() == 0.")
        require_elements(name, self, dim)
        require(self, "iuf", name + "_cpu")
        if self.ndim == 0:
            wrap_dim(dim or 0, 0)
            return xp.zeros((), xp.int64)
        return getattr(xp, name)(self, axis=dim, keepdims=keepdim)

    return forward


class Position(Op, abstract=True):
    """The index of an element along a dimension, or among all elements."""

    out = "exact overlap expanded"
    shape, nondifferentiable = reduced, True
    backend_call = position

    def samples(make):
        yield make(3, 4, distinct=True)
        yield make(3, 4, distinct=True), -1, True


class Argmax(Position):
    """The index of the largest element, the first of equal ones.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0], [2.0, 0.0]]).argmax(dim=1)
    tensor([1, 0])
    """


class Argmin(Position):
    """The index of the smallest element, the first of equal ones.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0], [2.0, 0.0]]).argmin(dim=1)
    tensor([0, 1])
    """


# ------------------------------------------------------------------------------- order statistics


def median_index(xp, array, dim, skip_nan):
    """Return the index of the lower median along `dim`, or of a nan unless `skip_nan`."""
    index = None if skip_nan else kernels_order.median(xp.moveaxis(array, dim, -1))
    if index is not None:
        return xp.moveaxis(index, -1, dim)
    order = xp.argsort(array, axis=dim, kind="stable")  # nan sorts last
    missing = xp.isnan(array)
    numbers = array.shape[dim] - missing.sum(axis=dim, keepdims=True)
    if skip_nan:
        return xp.take_along_axis(order, xp.maximum(numbers - 1, 0) // 2, dim)
    middle = xp.take_along_axis(order, xp.zeros_like(numbers) + (array.shape[dim] - 1) // 2, dim)
    first_missing = xp.argmax(missing, axis=dim, keepdims=True)
    return xp.where(numbers < array.shape[dim], first_missing, middle)


def median_of_all(xp, array, skip_nan):
    """Return the lower median of all elements."""
    flat = array.reshape(-1)
    if not flat.size:
        return xp.full((), xp.nan, array.dtype)
    require(array, "iuf", "median_cpu")
    return flat[median_index(xp, flat, 0, skip_nan)[0]]


class MedianAll(OfAllElements):
    """The lower median of all elements, or nan if any element is nan.

    >>> from minigrad import tensor
    >>> tensor([4.0, 1.0, 3.0, 2.0]).median()
    tensor(2.)
    """

    no_batching = "rare: it sorts all elements of an example"
    overload = "median", 0

    def forward(xp, self): return median_of_all(xp, self, skip_nan=False)


class NanmedianAll(OfAllElements):
    """The lower median of the elements that are not nan.

    >>> from minigrad import nan, tensor
    >>> tensor([4.0, nan, 3.0, 2.0]).nanmedian()
    tensor(3.)
    """

    no_batching = "rare: it sorts all elements of an example"
    overload = "nanmedian", 0

    def forward(xp, self): return median_of_all(xp, self, skip_nan=True)


def median_along_dim(name):
    """Return the forward of `median` or `nanmedian` along a dimension."""
    def forward(xp, self, dim=-1, keepdim=False):
        require_elements(name, self, dim)
        require(self, "iuf", "median_out")
        index = median_index(xp, at_least_1d(self), dim, skip_nan=name == "nanmedian")
        return chosen(xp, self, index, dim, keepdim)

    return forward


class MedianDim(AlongDim):
    """The lower medians along a dimension, and their indices.

    >>> from minigrad import tensor
    >>> tensor([[4.0, 1.0, 3.0]]).median(1).indices
    tensor([2])
    """

    forward = median_along_dim("median")
    overload = "median", 1


class NanmedianDim(AlongDim):
    """The lower medians along a dimension, ignoring nan, and their indices.

    >>> from minigrad import nan, tensor
    >>> tensor([[4.0, nan, 3.0]]).nanmedian(1).indices
    tensor([2])
    """

    forward = median_along_dim("nanmedian")
    overload = "nanmedian", 1


@function(out="exact dim")
def median(input, dim: int | None = None, keepdim=False):
    """Return the median of all elements, or along `dim` the medians with their indices.

    >>> from minigrad import tensor
    >>> tensor([4.0, 1.0, 3.0]).median()
    tensor(3.)
    """
    return MedianAll(input) if dim is None else MedianDim(input, dim, keepdim)


@function(out="exact dim")
def nanmedian(input, dim: int | None = None, keepdim=False):
    """Return the median, ignoring nan, or along `dim` the medians with their indices.

    >>> from minigrad import nan, tensor
    >>> tensor([4.0, nan, 3.0]).nanmedian()
    tensor(3.)
    """
    return NanmedianAll(input) if dim is None else NanmedianDim(input, dim, keepdim)


class Mode(AlongDim):
    """The most frequent elements along a dimension, the smallest one if several tie.

    The index is the last one at which the element occurs.

    >>> from minigrad import tensor
    >>> tensor([3, 1, 3, 1]).mode().indices
    tensor(3)
    """

    def forward(xp, self, dim=-1, keepdim=False):
        require_elements("mode", self, dim)
        array = xp.moveaxis(at_least_1d(self), dim, -1)
        order = xp.argsort(array, axis=-1, kind="stable")
        ranked = xp.take_along_axis(array, order, -1)
        places = xp.arange(array.shape[-1])
        begins = xp.ones(array.shape, bool)
        begins[..., 1:] = ranked[..., 1:] != ranked[..., :-1]
        run = places - accumulate(xp, xp.maximum, xp.where(begins, places, 0), -1)
        longest = xp.argmax(run, axis=-1, keepdims=True)
        index = xp.moveaxis(xp.take_along_axis(order, longest, -1), -1, dim)
        return chosen(xp, self, index, dim, keepdim)


class Kthvalue(AlongDim):
    """The k-th smallest elements along a dimension, counted from 1, and their indices.

    >>> from minigrad import tensor
    >>> tensor([3.0, 1.0, 2.0]).kthvalue(2).values
    tensor(2.)
    """

    out = "exact apart"
    def shape(shape, k, dim=-1, keepdim=False): return [reduced(shape, dim, keepdim)] * 2

    def forward(xp, self, k, dim=-1, keepdim=False):
        array = at_least_1d(self)
        axis = wrap_dim(dim, array.ndim)
        require_elements("kthvalue", self, dim)
        if not 0 < k <= array.shape[axis]:
            raise RuntimeError("kthvalue(): selected number k out of range for dimension "
                               f"{axis}")
        if self.ndim:
            require(self, "iuf", "kthvalue_cpu")
        order = xp.argsort(array, axis=axis, kind="stable")
        return chosen(xp, self, xp.take(order, xp.array([k - 1]), axis=axis), dim, keepdim)

    def samples(make):
        # Far apart, so that they stay distinct as integers; ties have no defined index.
        yield make(3, 4, low=0, high=50, distinct=True), 2
        yield make(2, 3, 4, low=0, high=100, distinct=True), 1, 0, True
        yield make(), 1, 0
