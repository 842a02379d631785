"""Reductions that select an element: max, min, median, mode, kthvalue and their positions.

Where several elements are the largest, a reduction of everything (and amax) shares its gradient
evenly among them; a reduction along one dimension gives it to the element that its index names.
"""

from ...backend.kernels_scan import accumulate
from ...op.declaration import F, Op
from ...op.publish import function
from ...shapes import reduced, scalar, wrap_dim
from ..overloads import is_tensor, require
from .dims import restored, spread
from .sum_mean import axes


def several(shape, dim=-1, keepdim=False):
    """The shapes of values and indices of a reduction along one dimension."""
    return [reduced(shape, dim, keepdim)] * 2


def require_elements(name, array, dim):
    """Raise unless there is something to select from."""
    if not array.size:
        refuse_nothing(name, array.shape, dim)


def refuse_nothing(name, shape, dim):
    """Raise unless what a dimension holds is something, where all together is nothing."""
    if dim in (None, (), []):
        raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() "
                           "== 0. Specify the reduction dim with the 'dim' argument.")
    for d in dim if isinstance(dim, (tuple, list)) else (dim,):
        d = wrap_dim(d, len(shape))
        if shape[d] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")


def extreme_shape(name):
    """Return the shape rule of a reduction that needs elements; it says so first."""
    def shape(self, dim=None, keepdim=False):
        if 0 in self:
            refuse_nothing(name, self, dim)
        return reduced(self, dim, keepdim)

    return shape


def chosen(xp, array, index, dim, keepdim):
    """Return the elements that `index`, of size one along `dim`, names, and the index."""
    if array.ndim == 0:
        return array.copy(), index.reshape(())
    values = xp.take_along_axis(array, index, dim)
    return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))


def at_least_1d(array):
    """Return a 0-d array as one of one element."""
    return array if array.ndim else array.reshape(1)


def evenly(g, x, value, sizes=(), dim=None, keepdim=False):
    """Return `g` shared among the elements that equal the reduced `value`."""
    g, value = restored(g, sizes, dim, keepdim), restored(value, sizes, dim, keepdim)
    mask = F.eq(x, value)
    return F.div(g * mask, F.sum(mask, dim, dim is not None))


def evenly_among_all(g, x, value):
    """Return `g` shared among the elements that equal the one `value`; nan equals nan here."""
    is_number = F.eq(value, value)
    mask = F.eq(x, value) if is_number else F.ne(x, x)
    return F.where(mask, F.div(g, F.sum(mask)), 0)


# ------------------------------------------------------------------------------- max, min


class MaxAll(Op):
    """The largest element; nan if there is one.

    >>> from minigrad import tensor
    >>> tensor([1.0, 3.0, 2.0]).max()
    tensor(3.)
    """

    name, node, public, shape = "max", "MaxBackward1", False, scalar

    def forward(xp, self):
        require_elements("max", self, None)
        return self.max()

    def grad_self(g, self, result): return evenly_among_all(g, self, result)

    def samples(make):
        yield make(3, 4, distinct=True)
        yield make()


class MinAll(Op):
    """The smallest element; nan if there is one.

    >>> from minigrad import tensor
    >>> tensor([1.0, 3.0, 2.0]).min()
    tensor(1.)
    """

    name, node, public, shape = "min", "MinBackward1", False, scalar

    def forward(xp, self):
        require_elements("min", self, None)
        return self.min()

    def grad_self(g, self, result): return evenly_among_all(g, self, result)

    def samples(make):
        yield make(3, 4, distinct=True)
        yield make()


class MaxDim(Op):
    """The largest elements along a dimension, and where they are (the first, of equal ones).

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0, 2.0]]).max(1).indices
    tensor([1])
    """

    name, node, public, shape = "max", "MaxBackward0", False, several
    outputs = ("values", "indices")

    def forward(xp, self, dim, keepdim=False):
        require_elements("max", self, dim)
        index = xp.argmax(at_least_1d(self), axis=dim, keepdims=True)
        return chosen(xp, self, index, dim, keepdim)

    def grad_self(g_values, indices, self_sizes, dim, keepdim):
        return spread(g_values, self_sizes, dim, indices, keepdim)

    def samples(make):
        yield make(3, 4, distinct=True), 0
        yield make(2, 3, 4, distinct=True), -2, True
        yield make(), 0


class MinDim(Op):
    """The smallest elements along a dimension, and where they are (the first, of equal ones).

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0, 2.0]]).min(1).indices
    tensor([0])
    """

    name, node, public, shape = "min", "MinBackward0", False, several
    outputs = ("values", "indices")

    def forward(xp, self, dim, keepdim=False):
        require_elements("min", self, dim)
        index = xp.argmin(at_least_1d(self), axis=dim, keepdims=True)
        return chosen(xp, self, index, dim, keepdim)

    def grad_self(g_values, indices, self_sizes, dim, keepdim):
        return spread(g_values, self_sizes, dim, indices, keepdim)

    def samples(make):
        yield make(3, 4, distinct=True), 0
        yield make(2, 3, 4, distinct=True), -2, True
        yield make(), 0


@function()
def max(input, dim=None, keepdim=False, *, other=None):
    """Return the largest element; along `dim` with the indices; of two tensors elementwise.

    >>> from minigrad import tensor
    >>> tensor([1.0, 4.0]).max(), tensor([1.0, 4.0]).max(tensor([2.0, 3.0]))
    (tensor(4.), tensor([2., 4.]))
    """
    if other is not None or is_tensor(dim):
        return F.maximum(input, dim if other is None else other)
    return MaxAll(input) if dim is None else MaxDim(input, dim, keepdim)


@function()
def min(input, dim=None, keepdim=False, *, other=None):
    """Return the smallest element; along `dim` with the indices; of two tensors elementwise.

    >>> from minigrad import tensor
    >>> tensor([1.0, 4.0]).min(), tensor([1.0, 4.0]).min(tensor([2.0, 3.0]))
    (tensor(1.), tensor([1., 3.]))
    """
    if other is not None or is_tensor(dim):
        return F.minimum(input, dim if other is None else other)
    return MinAll(input) if dim is None else MinDim(input, dim, keepdim)


class Amax(Op):
    """The largest elements along dimensions; equal ones share the gradient.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0], [2.0, 0.0]]).amax((0, 1))
    tensor(3.)
    """

    node, shape = "AmaxBackward", extreme_shape("amax")

    def forward(xp, self, dim=None, keepdim=False):
        require_elements("amax", self, dim)
        return self.max(axis=axes(self, dim), keepdims=keepdim)

    def grad_self(g, self, result, self_sizes, dim, keepdim):
        return evenly(g, self, result, self_sizes, dim, keepdim)

    def samples(make):
        yield make(3, 4, distinct=True)
        yield make(2, 3, 4, distinct=True), (0, -1)
        yield make(3, 4, distinct=True), 1, True


class Amin(Op):
    """The smallest elements along dimensions; equal ones share the gradient.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0], [2.0, 0.0]]).amin((0, 1))
    tensor(0.)
    """

    node, shape = "AminBackward", extreme_shape("amin")

    def forward(xp, self, dim=None, keepdim=False):
        require_elements("amin", self, dim)
        return self.min(axis=axes(self, dim), keepdims=keepdim)

    def grad_self(g, self, result, self_sizes, dim, keepdim):
        return evenly(g, self, result, self_sizes, dim, keepdim)

    def samples(make):
        yield make(3, 4, distinct=True)
        yield make(2, 3, 4, distinct=True), (0, -1)
        yield make(3, 4, distinct=True), 1, True


class Aminmax(Op):
    """The smallest and the largest elements, of all or along one dimension.

    >>> from minigrad import tensor
    >>> tensor([1.0, 3.0, 2.0]).aminmax().max
    tensor(3.)
    """

    node, outputs, materialize = "AminmaxBackward", ("min", "max"), False

    def shape(shape, dim=None, keepdim=False): return [reduced(shape, dim, keepdim)] * 2

    def forward(xp, self, *, dim=None, keepdim=False):
        require_elements("aminmax", self, dim)
        axis = axes(self, dim)
        return self.min(axis=axis, keepdims=keepdim), self.max(axis=axis, keepdims=keepdim)

    def grad_self(g_min, g_max, self, min, max, self_sizes, dim, keepdim):
        parts = [evenly(g, self, value, self_sizes, dim, keepdim)
                 for g, value in ((g_min, min), (g_max, max)) if g is not None]
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]

    def samples(make):
        yield make(3, 4, distinct=True)
        yield make(3, 4, distinct=True), {"dim": 1}
        yield make(3, 4, distinct=True), {"dim": 0, "keepdim": True}


def position(name, xp, array, find, dim, keepdim):
    """Return where `find` finds its element: counted through all elements where `dim` is None."""
    if array.dtype.kind == "b":
        raise RuntimeError(f"{name}(): does not support bool input")
    if dim is None and array.size == 0:
        raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == "
                         "0.")
    require_elements(name, array, dim)
    require(array, "iuf", name + "_cpu")
    if array.ndim == 0:
        wrap_dim(dim or 0, 0)
        return xp.zeros((), xp.int64)
    return find(array, axis=dim, keepdims=keepdim)


class Argmax(Op):
    """Where the largest element is, the first of equal ones.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0], [2.0, 0.0]]).argmax(dim=1)
    tensor([1, 0])
    """

    shape, nondifferentiable = reduced, True

    def forward(xp, self, dim=None, keepdim=False):
        return position("argmax", xp, self, xp.argmax, dim, keepdim)

    def samples(make):
        yield make(3, 4, distinct=True)
        yield make(3, 4, distinct=True), -1, True


class Argmin(Op):
    """Where the smallest element is, the first of equal ones.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0], [2.0, 0.0]]).argmin(dim=1)
    tensor([0, 1])
    """

    shape, nondifferentiable = reduced, True

    def forward(xp, self, dim=None, keepdim=False):
        return position("argmin", xp, self, xp.argmin, dim, keepdim)

    def samples(make):
        yield make(3, 4, distinct=True)
        yield make(3, 4, distinct=True), -1, True


# ------------------------------------------------------------------------------- order statistics


def median_index(xp, array, dim, skip_nan):
    """Return where the lower median along `dim` is; a nan, if any is there, unless skipped."""
    order = xp.argsort(array, axis=dim, kind="stable")  # nan comes last
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


class MedianAll(Op):
    """The median of all elements, the lower one of two; nan if there is one.

    >>> from minigrad import tensor
    >>> tensor([4.0, 1.0, 3.0, 2.0]).median()
    tensor(2.)
    """

    name, node, public, shape = "median", "MedianBackward0", False, scalar

    def forward(xp, self): return median_of_all(xp, self, skip_nan=False)

    def grad_self(g, self, result): return evenly_among_all(g, self, result)

    def samples(make):
        yield make(3, 4, distinct=True)
        yield make()


class NanmedianAll(Op):
    """The median of the elements that are not nan, the lower one of two.

    >>> from minigrad import nan, tensor
    >>> tensor([4.0, nan, 3.0, 2.0]).nanmedian()
    tensor(3.)
    """

    name, node, public, shape = "nanmedian", "NanmedianBackward0", False, scalar

    def forward(xp, self): return median_of_all(xp, self, skip_nan=True)

    def grad_self(g, self, result): return evenly_among_all(g, self, result)

    def samples(make):
        yield make(3, 4, distinct=True)
        yield make()


class MedianDim(Op):
    """The medians along a dimension, the lower one of two, and where they are.

    >>> from minigrad import tensor
    >>> tensor([[4.0, 1.0, 3.0]]).median(1).indices
    tensor([2])
    """

    name, node, public, shape = "median", "MedianBackward1", False, several
    outputs = ("values", "indices")

    def forward(xp, self, dim=-1, keepdim=False):
        require_elements("median", self, dim)
        require(self, "iuf", "median_out")
        return chosen(xp, self, median_index(xp, at_least_1d(self), dim, False), dim, keepdim)

    def grad_self(g_values, indices, self_sizes, dim, keepdim):
        return spread(g_values, self_sizes, dim, indices, keepdim)

    def samples(make):
        yield make(3, 4, distinct=True), 0
        yield make(2, 3, 4, distinct=True), -1, True
        yield make(), 0


class NanmedianDim(Op):
    """The medians along a dimension of what is not nan, and where they are.

    >>> from minigrad import nan, tensor
    >>> tensor([[4.0, nan, 3.0]]).nanmedian(1).indices
    tensor([2])
    """

    name, node, public, shape = "nanmedian", "NanmedianBackward1", False, several
    outputs = ("values", "indices")

    def forward(xp, self, dim=-1, keepdim=False):
        require_elements("nanmedian", self, dim)
        require(self, "iuf", "median_out")
        return chosen(xp, self, median_index(xp, at_least_1d(self), dim, True), dim, keepdim)

    def grad_self(g_values, indices, self_sizes, dim, keepdim):
        return spread(g_values, self_sizes, dim, indices, keepdim)

    def samples(make):
        yield make(3, 4, distinct=True), 0
        yield make(2, 3, 4, distinct=True), -1, True


@function()
def median(input, dim=None, keepdim=False):
    """Return the median of all elements, or those along `dim` with their indices.

    >>> from minigrad import tensor
    >>> tensor([4.0, 1.0, 3.0]).median()
    tensor(3.)
    """
    return MedianAll(input) if dim is None else MedianDim(input, dim, keepdim)


@function()
def nanmedian(input, dim=None, keepdim=False):
    """Return the median of what is not nan, or those along `dim` with their indices.

    >>> from minigrad import nan, tensor
    >>> tensor([4.0, nan, 3.0]).nanmedian()
    tensor(3.)
    """
    return NanmedianAll(input) if dim is None else NanmedianDim(input, dim, keepdim)


class Mode(Op):
    """The most frequent elements along a dimension, the smallest of equally frequent ones.

    The index is that of the last such element.

    >>> from minigrad import tensor
    >>> tensor([3, 1, 3, 1]).mode().indices
    tensor(3)
    """

    node, shape, outputs = "ModeBackward", several, ("values", "indices")

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

    def grad_self(g_values, indices, self_sizes, dim, keepdim):
        return spread(g_values, self_sizes, dim, indices, keepdim)

    def samples(make):
        yield make(3, 4, distinct=True)
        yield make(2, 3, 4, distinct=True), 0, True
        yield make(), 0


class Kthvalue(Op):
    """The k-th smallest elements along a dimension, counted from 1, and where they are.

    >>> from minigrad import tensor
    >>> tensor([3.0, 1.0, 2.0]).kthvalue(2).values
    tensor(2.)
    """

    node, outputs = "KthvalueBackward", ("values", "indices")

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

    def grad_self(g_values, indices, self_sizes, dim, keepdim):
        return spread(g_values, self_sizes, dim, indices, keepdim)

    def samples(make):
        # Far apart, so that they stay distinct as integers: which of equal ones is open.
        yield make(3, 4, low=0, high=50, distinct=True), 2
        yield make(2, 3, 4, low=0, high=100, distinct=True), 1, 0, True
        yield make(), 1, 0
