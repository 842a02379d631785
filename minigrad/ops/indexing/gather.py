"""Reading, adding and writing whole slices or single elements along one dimension."""

from __future__ import annotations

from ...backend import backend_of, kernels_index
from ...backend.memory_layout import in_rows
from ...dtypes import from_numpy_dtype, type_name
from ...frames import type_in_error
from ...op.arguments import NUMBERS
from ...op.declaration import F, Op
from ...op.inplace import apply_inplace
from ...op.publish import function
from ...op.type_promotion import fitting
from ...shapes import broadcast, numel, wrap_dim
from ...tensor.tensor import Tensor, method
from ..overloads import refuse_integers
from ..shape.as_strided import geometry_of, refuse_beyond_memory
from ..shape.slicing import IntoZeros
from ..shape.view import along, array_of


def check_index(index, size, message, negative=False, error=RuntimeError):
    """Raise unless all indices are below `size`, and nonnegative unless `negative` is set."""
    lowest = -size if negative else 0
    if not (index.size and backend_of(index).may_ask()):
        return
    if bool((index.min() < lowest) | (index.max() >= size)):
        wrong = index[(index < lowest) | (index >= size)][0].item()
        raise error(message.format(index=wrong, size=size))


def dtype_name(array):
    """Return the name of an array's dtype in PyTorch's error messages."""
    return type_name(from_numpy_dtype(array.dtype))


BOUNDS = "index {{index}} is out of bounds for dimension {} with size {{size}}"


# -------------------------------------------------------------------- whole slices


def checked_vector(name, self, dim, index):
    """Check the dimension and the index; return the wrapped dimension, the index, the size."""
    dim = wrap_dim(dim, self.ndim)
    if index.dtype.kind != "i" or index.itemsize < 4:
        raise RuntimeError(f"{name}(): Expected dtype int32 or int64 for index")
    if index.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector")
    return dim, index.reshape(-1), self.shape[dim] if self.ndim else 1


def check_selected(array, dim, index):
    """Raise the error of PyTorch's kernel unless all indices are in range."""
    size = array.shape[dim] if array.ndim else 1
    if index.size and not size and array.ndim > 1:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if array.ndim > 1 and (dim == 1 or not array.size):
        check_index(index, size, f"INDICES element is out of DATA bounds, id={{index}} "
                                 f"axis_dim={size}", error=RuntimeError)
    check_index(index, size, "index out of range in self", error=IndexError)


class IndexSelect(Op):
    """The slices along `dim` that the vector `index` selects.

    Raises `IndexError` if an index is out of range.

    >>> from minigrad import eye, tensor
    >>> eye(3).index_select(0, tensor([2, 0]))
    tensor([[0., 0., 1.],
            [1., 0., 0.]])
    """

    out = "exact apart"
    tensors = ("self", "index")

    def shape(self, dim, index):
        dim = wrap_dim(dim, len(self))
        return (*self[:dim], numel(index), *self[dim + 1 :]) if self else ()

    def forward(xp, self, dim, index):
        dim, index, _ = checked_vector("index_select", self, dim, index)
        if not self.ndim and index.size != 1:
            raise RuntimeError("index_select(): Index to scalar can have only 1 value, got "
                               f"{index.size} value(s)")
        check_selected(self, dim, index)
        return xp.take(self, index, axis=dim) if self.ndim else self.copy()

    def grad_self(g, self_sizes, dim, index):
        return F.index_select_backward(g, self_sizes, dim, index)

    def samples(make):
        yield make(3, 4), 0, make.ints(5, high=3)
        yield make(3, 4), -1, make.ints(2, high=4)
        yield make(3), 0, make.ints(0, high=3)
        yield make(3, 4), 0, make.ints(high=3)


class IndexSelectBackward(IntoZeros):
    """Index-add `grad` along `dim` into zeros of shape `self_sizes`.

    >>> from minigrad import index_select_backward, ones, tensor
    >>> index_select_backward(ones(3), (2,), 0, tensor([1, 1, 0]))
    tensor([1., 2.])
    """

    tensors = ("grad", "index")

    def forward(xp, grad, self_sizes, dim, index):
        return IndexAdd.forward_inplace(xp, xp.zeros(self_sizes, grad.dtype), dim, index, grad)

    def grad_grad(g, dim, index):
        return F.index_select(g, dim, index)

    def samples(make):
        yield make(2, 4), (3, 4), 0, make.ints(2, high=3)


class IndexAdd(Op):
    """Add `alpha` times the slices of `source` to the slices of `self` that `index` selects.

    >>> from minigrad import ones, tensor, zeros
    >>> zeros(3).index_add(0, tensor([1, 1]), ones(2))
    tensor([0., 2., 0.])
    """

    out = "exact"
    no_overlap = "after shapes"
    tensors, inplace = ("self", "index", "source"), True

    def shape(self, dim, index, source, alpha=1):
        check_source("index_add_", self, dim, index, source)
        return self

    def forward_inplace(xp, self, dim, index, source, *, alpha=1):
        at, index, size = checked_vector("index_add", self, dim, index)
        if source.dtype != self.dtype:
            raise RuntimeError(f"index_add_(): self ({dtype_name(self)}) and source "
                               f"({dtype_name(source)}) must have the same scalar type")
        check_source("index_add_", self.shape, dim, index.shape, source.shape)
        if not source.size or (self.ndim > 1 and not self.size):
            return self
        if self.ndim > 1:
            check_index(index, size, BOUNDS.format(at))
        else:
            check_index(index, size, "index out of range in self", error=IndexError)
        scaled = source if alpha == 1 else xp.multiply(source, alpha)
        return kernels_index.index_add(xp, self, at, index, scaled)

    def grad_self(g):
        return g

    def grad_source(g, dim, index, alpha, source):
        return F.index_select(g, dim, index) * alpha

    def samples(make):
        yield make(3, 4), 0, make.ints(2, high=3), make(2, 4), {"alpha": 2}
        yield make(3, 4), -1, make.ints(5, high=4), make(3, 5)


def check_source(name, self, dim, index, source):
    """Raise unless `source` has one slice for each index, of the shape of `self`'s slices."""
    dim = wrap_dim(dim, len(self))
    if dim and dim >= len(source):
        raise RuntimeError(f"{name}(): Indexing dim {dim} is out of bounds of the source tensor "
                           f"with dim {len(source)}")
    if not source and numel(index) != 1:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if source and source[dim] != numel(index):
        raise RuntimeError(f"{name}(): Number of indices ({numel(index)}) should be equal to "
                           f"source.size(dim): ({source[dim]}), for dim: {dim}")
    if len(self) != len(source) or any(
        a != b for i, (a, b) in enumerate(zip(self, source)) if i != dim
    ):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(self)} source.shape = {list(source)}")


def check_dims_copied(self, source):
    """Raise unless two shapes have equally many dimensions, or one of them is 0-d."""
    if self and source and len(self) != len(source):
        raise IndexError("index_copy_(): When source and destination are not scalars, their "
                         f"dimensionality must match. Source dimensionality ({len(source)}), "
                         f"destination dimensionality ({len(self)})")


def check_copied(self, dim, index, source):
    """Raise unless the slices of `source` can replace the ones that `index` selects."""
    check_dims_copied(self, source)
    wanted, offered = (shape[:dim] + shape[dim + 1:] for shape in (self, source))
    if wanted != offered:
        raise RuntimeError("index_copy_(): Source/destination tensor must have same slice shapes. "
                           f"Destination slice shape: {list(wanted)} at dimension {dim} and source "
                           f"slice shape: {list(offered)} at dimension 0.")
    if source and source[dim] != numel(index):
        raise IndexError(f"index_copy_(): Number of indices ({numel(index)}) should be equal to "
                         f"source.size(dim) ({source[dim]})")


class IndexCopy(Op):
    """Replace the slices along `dim` that `index` selects by the slices of `source`.

    >>> from minigrad import ones, tensor, zeros
    >>> zeros(3).index_copy(0, tensor([1]), ones(1))
    tensor([0., 1., 0.])
    """

    kind, out = "linear", "exact"
    no_overlap = True
    tensors, inplace = ("self", "index", "source"), True

    def shape(self, dim, index, source):
        check_copied(self, wrap_dim(dim, len(self)), index, source)
        return self

    def forward_inplace(xp, self, dim, index, source):
        at, index, size = checked_vector("index_copy_", self, dim, index)
        check_dims_copied(self.shape, source.shape)
        if source.dtype != self.dtype:
            raise RuntimeError("index_copy_(): self and source expected to have the same dtype, "
                               f"but got (self) {dtype_name(self)} and (source) "
                               f"{dtype_name(source)}")
        check_copied(self.shape, at, index.shape, source.shape)
        if nothing_to_write(self, at, index.size):
            return self
        check_index(index, size, "index_copy_(): " + BOUNDS.format(at), error=IndexError)
        self[along(at, index) if self.ndim else ...] = source if self.ndim else source.reshape(())
        return self

    def grad_self(g, dim, index):
        return F.index_fill(g, dim, index, 0)

    def grad_source(g, dim, index, source):
        return F.index_select(g, dim, index)

    def samples(make):
        yield make(3, 4), 0, make.ints(1, high=3), make(1, 4)
        yield make(3, 4), -1, make.ints(1, high=4), make(3, 1)


def nothing_to_write(array, dim, count):
    """Return whether a write of `count` slices along `dim` is a no-op.

    PyTorch restrides the tensor with a stride of 0 along `dim` before it checks the indices.  So
    for an empty tensor, it reports that the memory is too small.
    """
    if not array.ndim or array.size:
        return False
    sizes = (*array.shape[:dim], count, *array.shape[dim + 1:])
    if 0 in sizes:
        return True
    _, strides, offset = geometry_of(array)
    refuse_beyond_memory(array, sizes, (*strides[:dim], 0, *strides[dim + 1:]), offset)
    return False


class IndexFill(Op, abstract=True):
    """Fill the slices along `dim` that `index` selects with one value."""

    no_overlap = allow_self_overlap = inplace = True

    def forward(xp, self, dim, index, value):
        copied = self.copy("C" if 0 in self.strides else "K")
        written = copied if self.size else self  # for an empty tensor, check the input's memory
        IndexFill.forward_inplace(xp, written, dim, index, value)
        return copied

    def forward_inplace(xp, self, dim, index, value):
        if ndim := getattr(value, "ndim", 0):
            raise RuntimeError("index_fill_ only supports a 0-dimensional value tensor, but got "
                               f"tensor with {ndim} dimension(s).")
        at, index, size = checked_vector("index_fill", self, dim, index)
        if nothing_to_write(self, at, index.size):
            return self
        check_index(index, size, BOUNDS.format(at), True, IndexError)
        self[along(at, index) if self.ndim else ...] = (
            value if hasattr(value, "dtype") else fitting(value, self.dtype)[()])
        return self

    def grad_self(g, dim, index):
        return F.index_fill(g, dim, index, 0)


class IndexFillNumber(IndexFill):
    """Fill the slices along `dim` that `index` selects with the number `value`.

    >>> from minigrad import tensor, zeros
    >>> zeros(3).index_fill(0, tensor([1]), 5)
    tensor([0., 5., 0.])
    """

    overload = "index_fill", 0
    tensors = ("self", "index")

    def samples(make):
        yield make(3, 4), 0, make.ints(2, high=3), 1.5
        yield make(3, 4), -1, make.ints(2, high=4), 0


class IndexFillTensor(IndexFill):
    """Fill the slices along `dim` that `index` selects with the 0-d tensor `value`.

    >>> from minigrad import tensor, zeros
    >>> zeros(3).index_fill(0, tensor([1]), tensor(5.0))
    tensor([0., 5., 0.])
    """

    no_batching = "each example may bring a value of its own"
    numbers = True
    overload = "index_fill", 1
    tensors = ("self", "index", "value")

    def grad_value(g, dim, index):
        named = F.index_fill(F.zeros_like(g), dim, index, 1)  # 1 even if repeated
        return F.sum(F.where(F.gt(named, 0), g, 0))

    def samples(make):
        yield make(3, 4), 0, make.ints(1, high=3), make()


@function()
def index_fill(input, dim, index, value):
    """Return `input` with the slices along `dim` that `index` selects filled with `value`.

    >>> from minigrad import tensor, zeros
    >>> zeros(3).index_fill(0, tensor([1]), 5)
    tensor([0., 5., 0.])
    """
    refuse_integers(input, value)
    if not isinstance(value, (Tensor, *NUMBERS)):
        raise TypeError("index_fill(): argument 'value' (position 4) must be Tensor or Number, not "
                        f"{type_in_error(value)}")
    op = IndexFillTensor if isinstance(value, Tensor) else IndexFillNumber
    return op(input, dim, index, value)


@method("index_fill_")
def index_fill_(self, dim, index, value):
    """Fill the slices along `dim` that `index` selects with `value`.

    >>> from minigrad import tensor, zeros
    >>> zeros(2, 3).index_fill_(1, tensor([0, 2]), 5)
    tensor([[5., 0., 5.],
            [5., 0., 5.]])
    """
    op = IndexFillTensor if isinstance(value, Tensor) else IndexFillNumber
    return apply_inplace(op, [self, dim, index, value])


# -------------------------------------------------------------------- one element each


def checked_gather(self, dim, index, source=None):
    """Check index and sizes, and return the wrapped dimension; see `gather`."""
    dim, name = wrap_dim(dim, len(self)), "self" if source is None else "source"
    if len(self or (1,)) != len(index or (1,)):
        raise RuntimeError(f"Index tensor must have the same number of dimensions as "
                           f"{'input' if name == 'self' else 'self'} tensor")
    if source is not None and len(source or (1,)) != len(index or (1,)):
        fits = all(i <= n for d, (i, n) in enumerate(zip(index, self)) if d != dim)
        if fits and source and len(source) < len(index) and all(
                i <= n for i, n in zip(index, source)):
            raise IndexError(f"Dimension out of range (expected to be in range of [{-len(source)}, "
                             f"{len(source) - 1}], but got {len(source)})")
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    too_large = any(i > n for d, (i, n) in enumerate(zip(index, self)) if d != dim)
    if source is None and too_large:
        d = next(d for d, (i, n) in enumerate(zip(index, self)) if d != dim and i > n)
        raise RuntimeError(f"Size does not match at dimension {d} expected index {list(index)} to "
                           f"be no larger than self {list(self)} apart from dimension {dim}")
    if source is not None and (too_large or any(i > n for i, n in zip(index, source))):
        raise RuntimeError(
            f"Expected index {list(index)} to be no larger than self {list(self)} apart from "
            f"dimension {dim} and to be no larger size than src {list(source)}")
    return dim


def check_positions(name, self, dim, index):
    """Raise unless `index` has integers that are in range for `dim`."""
    if index.dtype.kind != "i" or index.itemsize < 4:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    check_index(index, self.shape[dim] if self.ndim else 1, BOUNDS.format(dim))


class Gather(Op):
    """Pick elements along `dim`: for `dim=0`, `result[i][j] = self[index[i][j]][j]`.

    Raises `RuntimeError` if an index is out of range.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 2.0], [3.0, 4.0]]).gather(1, tensor([[0, 0], [1, 0]]))
    tensor([[1., 1.],
            [4., 3.]])
    """

    out = "exact apart"
    tensors = ("self", "index")

    def shape(self, dim, index, sparse_grad=False):
        if numel(index):
            checked_gather(self, dim, index)
        return index

    def forward(xp, self, dim, index, *, sparse_grad=False):
        if not index.size:
            return xp.zeros(index.shape, self.dtype)
        dim = checked_gather(self.shape, dim, index.shape)
        check_positions("gather", self, dim, index)
        if not self.ndim or not index.ndim:
            return self.reshape(-1)[index]
        covered = tuple(slice(None) if d == dim else slice(n) for d, n in enumerate(index.shape))
        return in_rows(xp.take_along_axis(self[covered], index, dim))

    def grad_self(g, self_sizes, dim, index, self):
        return F.gather_backward(g, self_sizes, dim, index)

    def samples(make):
        yield make(3, 4), 0, make.ints(2, 4, high=3)
        yield make(3, 4), -1, make.ints(2, 6, high=4)
        yield make(3), 0, make.ints(0, high=3)
        yield make(), 0, make.ints(high=1)


class GatherBackward(IntoZeros):
    """Scatter-add `grad` along `dim` into zeros of shape `self_sizes`.

    >>> from minigrad import gather_backward, ones, tensor
    >>> gather_backward(ones(3), (2,), 0, tensor([1, 1, 0]))
    tensor([1., 2.])
    """

    tensors = ("grad", "index")

    def forward(xp, grad, self_sizes, dim, index):
        result = xp.zeros(self_sizes, grad.dtype)
        if not index.size:
            return result
        dim = checked_gather(result.shape, dim, index.shape)
        check_positions("scatter_add", result, dim, index)
        return kernels_index.scatter_add(xp, result, dim, index, grad)

    def grad_grad(g, dim, index):
        return F.gather(g, dim, index)

    def samples(make):
        yield make(2, 4), (3, 4), 0, make.ints(2, 4, high=3)


@function(out="exact apart")
def take_along_dim(input, indices, dim: int | None = None):
    """Return `input.gather(dim, indices)`, broadcasting both; without `dim`, flatten them first.

    >>> from minigrad import take_along_dim, tensor
    >>> take_along_dim(tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([[1]]), 1)
    tensor([[2.],
            [4.]])
    """
    if dim is None:
        return Gather(F.reshape(input, (-1,)), 0, F.reshape(indices, (-1,)))
    sizes, wanted = array_of(input).shape, array_of(indices).shape
    if len(sizes) != len(wanted):
        raise RuntimeError("torch.take_along_dim(): input and indices should have the same number "
                           f"of dimensions, but got {len(sizes)} dimensions for input, and "
                           f"{len(wanted)} dimensions for indices")
    dim = wrap_dim(dim, len(sizes))
    if sizes and sizes[dim]:
        indices = F.remainder(indices, sizes[dim])
    common = broadcast((*sizes[:dim], 1, *sizes[dim + 1 :]), (*wanted[:dim], 1, *wanted[dim + 1 :]))
    return Gather(
        F.expand(input, (*common[:dim], sizes[dim], *common[dim + 1 :])), dim,
        F.expand(indices, (*common[:dim], wanted[dim], *common[dim + 1 :])))
