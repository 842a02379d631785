"""Views of some of the elements, and ops that return several views.

NOTE [Gradients of views]
    A view selects elements, so its gradient puts them back into zeros.  For each view that omits
    elements, there is an op that does this, named as in PyTorch (`select_backward`, ...), and its
    gradient is the view again.
"""

from __future__ import annotations

from itertools import pairwise

from ...backend import kernels_index
from ...op.arguments import INT, NOT_GIVEN
from ...op.declaration import F, Op
from ...op.publish import function, with_aliases
from ...shapes import wrap_dim
from ...tensor.tensor import Tensor, method
from .view import along, array_of, element_strides, strided

# -------------------------------------------------------------------- parts


class Select(Op):
    """The elements at `index` of dimension `dim`, which is removed.

    Raises `IndexError` if `index` is out of range.

    >>> from minigrad import arange
    >>> arange(6.0).view(2, 3).select(1, -1)
    tensor([2., 5.])
    """

    kind = "view"

    def shape(self, dim, index):
        if not self:
            raise IndexError("select() cannot be applied to a 0-dim tensor.")
        dim = wrap_dim(dim, len(self))
        if not -self[dim] <= index < self[dim]:
            raise IndexError(f"select(): index {index} out of range for tensor of size "
                             f"{list(self)} at dimension {dim}")
        return (*self[:dim], *self[dim + 1 :])

    def forward(xp, self, dim, index: int):
        if dim < 0:
            dim = wrap_dim(dim, self.ndim)
        return self[(*(slice(None),) * dim, index.__index__(), ...)]

    def grad_self(g, self_sizes, dim, index):
        return F.select_backward(g, self_sizes, dim, index)

    def samples(make):
        yield make(2, 3, 4), 1, 2
        yield make(2, 3), -1, -1
        yield make(3), 0, 0


class IntoZeros(Op, abstract=True):
    """The backward of a view: `grad` in zeros of the input's sizes, the second argument."""

    method = False

    def shape(grad, input_sizes, *_):
        return tuple(input_sizes)


class SelectBackward(IntoZeros):
    """Zeros of shape `input_sizes` with `grad` at `index` of `dim`.

    >>> from minigrad import ones, select_backward
    >>> select_backward(ones(()), (3,), 0, 1)
    tensor([0., 1., 0.])
    """

    def forward(xp, grad, input_sizes, dim, index):
        result = xp.zeros(input_sizes, grad.dtype)
        result[along(dim % result.ndim, index)] = grad
        return result

    def grad_grad(g, dim, index):
        return F.select(g, dim, index)

    def samples(make):
        yield make(2, 4), (2, 3, 4), 1, -1


class Slice(Op):
    """Every `step`-th element of dimension `dim` from `start` up to `end`, both clamped.

    >>> from minigrad import arange
    >>> arange(6.0)[1:5:2]
    tensor([1., 3.])
    """

    kind = "view"
    method = False

    def shape(self, dim=0, start=None, end=None, step=1):
        dim = wrap_dim(dim, len(self))
        first, last, step = slice(start, end, step).indices(self[dim])
        return (*self[:dim], len(range(first, last, step)), *self[dim + 1 :])

    def forward(xp, self, dim=0, start=None, end=None, step=1):
        dim = wrap_dim(dim, self.ndim)
        if step <= 0:
            raise RuntimeError("slice step must be positive")
        if not self.ndim:
            raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
        first, last, step = slice(start, end, step).indices(self.shape[dim])
        part = self[along(dim, slice(first, max(first, last), step))]
        if first and not part.size:  # in NumPy, an empty part starts at the array's start
            steps = element_strides(part)
            part = strided(xp, self, part.shape, steps, first * element_strides(self)[dim])
        return part

    def grad_self(g, self_sizes, dim, start, end, step):
        return F.slice_backward(g, self_sizes, dim, start, end, step)

    def samples(make):
        yield make(2, 5), 1, 1, 4, 2
        yield make(5), 0, -3
        yield make(2, 3), -1, 0, 100
        yield make(3, 2), 0, 2, 1


class SliceBackward(IntoZeros):
    """Zeros of shape `input_sizes` with `grad` in the slice.

    >>> from minigrad import ones, slice_backward
    >>> slice_backward(ones(2), (4,), 0, 1, 3, 1)
    tensor([0., 1., 1., 0.])
    """

    def forward(xp, grad, input_sizes, dim, start, end, step):
        result = xp.zeros(input_sizes, grad.dtype)
        result[along(dim % result.ndim, slice(start, end, step))] = grad
        return result

    def grad_grad(g, dim, start, end, step):
        return F.slice(g, dim, start, end, step)

    def samples(make):
        yield make(2, 2), (2, 5), -1, 1, 5, 2


@function()
def narrow(input, dim, start, length: int):
    """Return the `length` elements of dimension `dim` that begin at `start`.

    >>> from minigrad import arange
    >>> arange(5.0).narrow(0, 1, 3)
    tensor([1., 2., 3.])
    """
    shape = array_of(input).shape
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, Tensor) and (start.ndim or start.is_floating_point()
                                      or start._array.dtype == bool):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    INT.check("narrow", "start", start, 2)
    dim, start = wrap_dim(dim, len(shape)), start.__index__()
    size = shape[dim]
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but "
                         f"got {start})")
    start += size if start < 0 else 0
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return Slice(input, dim, start, start + length)


@function()
def narrow_copy(input, dim, start, length: int):
    """Return a copy of the `length` elements of dimension `dim` that begin at `start`.

    >>> from minigrad import arange
    >>> arange(5.0).narrow_copy(0, 1, 3)
    tensor([1., 2., 3.])
    """
    return F.clone(narrow(input, dim, start, length))


class Diagonal(Op):
    """The diagonal of dimensions `dim1` and `dim2`, as a new last dimension.

    >>> from minigrad import arange
    >>> arange(9.0).view(3, 3).diagonal(1)
    tensor([1., 5.])
    """

    kind = "view"

    def shape(self, offset=0, dim1=0, dim2=1):
        return diagonal_geometry(self, (0,) * len(self), offset, dim1, dim2)[0]

    def forward(xp, self, offset=0, dim1=0, dim2=1):
        return xp.as_strided(
            self, *diagonal_geometry(self.shape, self.strides, offset, dim1, dim2))

    def grad_self(g, self_sizes, offset, dim1, dim2):
        return F.diagonal_backward(g, self_sizes, offset, dim1, dim2)

    def samples(make):
        yield make(3, 4)
        yield make(3, 4), -1
        yield make(2, 3, 4), 1, 0, -1
        yield make(2, 2), 5


def diagonal_geometry(shape, strides, offset, dim1, dim2):
    """Return the shape, strides and offset of the view of a diagonal."""
    first, second = wrap_dim(dim1, len(shape)), wrap_dim(dim2, len(shape))
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    down, right = max(-offset, 0), max(offset, 0)
    length = max(min(shape[first] - down, shape[second] - right), 0)
    start = (down * strides[first] + right * strides[second]) if length else 0
    rest = [d for d in range(len(shape)) if d not in (first, second)]
    return ((*(shape[d] for d in rest), length),
            (*(strides[d] for d in rest), strides[first] + strides[second]), start)


class DiagonalBackward(IntoZeros):
    """Zeros of shape `input_sizes` with `grad` on a diagonal.

    >>> from minigrad import ones, diagonal_backward
    >>> diagonal_backward(ones(2), (2, 2), 0, 0, 1)
    tensor([[1., 0.],
            [0., 1.]])
    """

    def forward(xp, grad, input_sizes, offset, dim1, dim2):
        result = xp.zeros(input_sizes, grad.dtype)
        geometry = diagonal_geometry(result.shape, result.strides, offset, dim1, dim2)
        xp.as_strided(result, *geometry)[...] = grad
        return result

    def grad_grad(g, offset, dim1, dim2):
        return F.diagonal(g, offset, dim1, dim2)

    def samples(make):
        yield make(3, 2), (2, 3, 4), 1, 0, 2


class SlidingWindows(Op):
    """All windows of `size` along `dimension`, `step` apart, as a new last dimension.

    >>> from minigrad import arange
    >>> arange(5.0).unfold(0, 2, 2)
    tensor([[0., 1.],
            [2., 3.]])
    """

    kind = "view"
    node, method = "UnfoldBackward", False

    def shape(self, dimension, size, step):
        shape = self or (1,)
        dim = wrap_dim(dimension, len(shape))
        if size > shape[dim]:
            raise RuntimeError(f"maximum size for tensor at dimension {dim} is {shape[dim]} but "
                               f"size is {size}")
        if size < 0:
            raise RuntimeError(f"size is {size} but must be >= 0")
        if step <= 0:
            raise RuntimeError(f"step is {step} but must be > 0")
        if not self:
            return (size,)
        return (*shape[:dim], (shape[dim] - size) // step + 1, *shape[dim + 1 :], size)

    def forward(xp, self, dimension, size, step):
        shape = SlidingWindows.shape(self.shape, dimension, size, step)
        if not self.ndim:
            return xp.as_strided(self, shape, (self.itemsize,))
        dim, strides = wrap_dim(dimension, self.ndim), list(self.strides)
        window = strides[dim]
        strides[dim] *= step
        return xp.as_strided(self, shape, (*strides, window))

    def grad_self(g, self_sizes, dimension, size, step):
        return F.unfold_backward(g, self_sizes, dimension, size, step)

    def samples(make):
        yield make(2, 5), 1, 2, 2
        yield make(5), 0, 3, 1
        yield make(4, 2), -2, 2, 1
        yield make(), 0, 1, 1


@method("unfold")
@with_aliases
def unfold(self, dimension, size: int, step: int):
    """Return all windows of `size` along `dimension`, `step` apart, as a new last dimension.

    >>> from minigrad import arange
    >>> arange(4.0).unfold(0, 3, 1)
    tensor([[0., 1., 2.],
            [1., 2., 3.]])
    """
    return SlidingWindows(self, dimension, size, step)


class UnfoldBackward(IntoZeros):
    """Add the windows of `unfold` back into zeros of shape `input_sizes`.

    >>> from minigrad import ones, unfold_backward
    >>> unfold_backward(ones(2, 2), (3,), 0, 2, 1)
    tensor([1., 2., 1.])
    """

    def forward(xp, grad, input_sizes, dim, size, step):
        return kernels_index.unfold_backward(xp, grad, input_sizes, dim, size, step)

    def grad_grad(g, dim, size, step):
        return F.sliding_windows(g, dim, size, step)

    def samples(make):
        yield make(4, 2, 3), (4, 5), 1, 3, 2


# -------------------------------------------------------------------- several views


class Pieces(Op, abstract=True):
    """Views of consecutive parts along `dim`."""

    kind, many = "view", True

    def grad_self(grads, dim):
        return F.cat(grads, dim)


class Split(Pieces):
    """Pieces of `split_size` along `dim`; the last one may be shorter.

    >>> from minigrad import arange
    >>> arange(3.0).split(2)
    (tensor([0., 1.]), tensor([2.]))
    """

    public = False

    def shape(self, split_size, dim=0):
        dim, starts = split_starts(self, split_size, dim)
        return [(*self[:dim], min(split_size, self[dim] - i), *self[dim + 1 :]) for i in starts]

    def forward(xp, self, split_size, dim=0):
        dim, starts = split_starts(self.shape, split_size, dim)
        return [self[along(dim, slice(i, i + split_size))] for i in starts]

    def samples(make):
        yield make(5, 2), 2
        yield make(2, 3), 1, -1
        yield make(2, 3), 7, 1


class SplitWithSizes(Pieces):
    """Pieces of the given sizes along `dim`, which must add up to its size.

    >>> from minigrad import arange
    >>> arange(3.0).split([1, 2])
    (tensor([0.]), tensor([1., 2.]))
    """

    def shape(self, split_sizes, dim=0):
        dim = checked_split_sizes(self, split_sizes, dim)
        return [(*self[:dim], n, *self[dim + 1 :]) for n in split_sizes]

    def forward(xp, self, split_sizes, dim=0):
        dim, pieces, start = checked_split_sizes(self.shape, split_sizes, dim), [], 0
        for n in split_sizes:
            pieces.append(self[along(dim, slice(start, start + n))])
            start += n
        return pieces

    def samples(make):
        yield make(5, 2), (1, 4)
        yield make(2, 3), [1, 0, 2], -1


class UnsafeSplit(Split):
    """`split` with pieces that do not count as views, so each may be written to in place.

    >>> from minigrad import arange
    >>> arange(3.0).unsafe_split(2)
    (tensor([0., 1.]), tensor([2.]))
    """

    kind, public = "", True


class UnsafeSplitWithSizes(SplitWithSizes):
    """`split_with_sizes` with pieces that do not count as views, so each may be written in place.

    >>> from minigrad import arange
    >>> arange(3.0).unsafe_split_with_sizes([1, 2])
    (tensor([0.]), tensor([1., 2.]))
    """

    kind = ""


class Unbind(Op):
    """The slices along `dim`, which is removed.

    >>> from minigrad import ones
    >>> ones(2, 2).unbind()
    (tensor([1., 1.]), tensor([1., 1.]))
    """

    kind = "view"
    many = True

    def shape(self, dim=0):
        if not self:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        dim = wrap_dim(dim, len(self))
        return [(*self[:dim], *self[dim + 1 :])] * self[dim]

    def forward(xp, self, dim=0):
        Unbind.shape(self.shape[:1], 0)
        before = (slice(None),) * wrap_dim(dim, self.ndim)
        return [self[(*before, i, ...)] for i in range(self.shape[len(before)])]

    def grad_self(grads, dim):
        return F.stack(grads, dim)

    def samples(make):
        yield make(3, 2)
        yield make(2, 3), -1
        yield make(2)


def split_starts(shape, split_size, dim):
    """Return the wrapped dimension and the start of each piece of a split."""
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size="
                           f"{split_size}")
    dim = wrap_dim(dim, len(shape))
    size = shape[dim]
    if size and not split_size:
        raise RuntimeError("split_size can only be 0 if dimension size is 0, but got dimension "
                           f"size of {size}")
    return dim, range(0, size or 1, split_size or 1)


def checked_split_sizes(shape, split_sizes, dim):
    """Check the pieces' sizes and return the wrapped dimension."""
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = wrap_dim(dim, len(shape))
    if any(n < 0 for n in split_sizes):
        raise RuntimeError("split_with_sizes expects split_sizes have only non-negative entries, "
                           f"but got split_sizes={list(split_sizes)}")
    if sum(split_sizes) != shape[dim]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {shape[dim]} (input tensor's "
            f"size at dimension {dim}), but got split_sizes={list(split_sizes)}")
    return dim


@function()
def split(input, split_size_or_sections=NOT_GIVEN, dim=0, *,
          split_size: tuple[int, ...] = NOT_GIVEN):
    """Split along `dim` into pieces of one size, or of the sizes in a sequence.

    >>> from minigrad import arange
    >>> arange(3.0).split(2)
    (tensor([0., 1.]), tensor([2.]))
    """
    if split_size is not NOT_GIVEN:  # the method's name for the argument
        split_size_or_sections = split_size
    if split_size_or_sections is NOT_GIVEN:
        raise TypeError('split() missing 1 required positional arguments: "split_size"')
    if isinstance(split_size_or_sections, (tuple, list)):
        return SplitWithSizes(input, split_size_or_sections, dim)
    return Split(input, split_size_or_sections, dim)


@function()
def chunk(input, chunks, dim=0):
    """Split into at most `chunks` pieces of one size along `dim`; the last one may be shorter.

    >>> from minigrad import arange
    >>> arange(3.0).chunk(2)
    (tensor([0., 1.]), tensor([2.]))
    """
    return in_chunks(input, chunks, dim, Split, SplitWithSizes)


@function()
def unsafe_chunk(input, chunks, dim=0):
    """`chunk` with pieces that do not count as views, so each may be written to in place.

    >>> from minigrad import arange
    >>> arange(3.0).unsafe_chunk(2)
    (tensor([0., 1.]), tensor([2.]))
    """
    return in_chunks(input, chunks, dim, UnsafeSplit, UnsafeSplitWithSizes)


def in_chunks(input, chunks, dim, by_size, by_sizes):
    """Cut `input` into chunks with one of the two ops."""
    shape = array_of(input).shape
    if not shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = shape[wrap_dim(dim, len(shape))]
    if not size:
        return by_sizes(input, [0] * chunks, dim)
    return by_size(input, -(-size // chunks), dim)


@function()
def tensor_split(input, indices_or_sections, dim=0):
    """Split along `dim` into a number of nearly equal pieces, or at the indices of a sequence.

    >>> from minigrad import arange
    >>> arange(3.0).tensor_split((1,))
    (tensor([0.]), tensor([1., 2.]))
    """
    shape = array_of(input).shape
    if not shape:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a "
                           "tensor with 0 dims")
    size = shape[wrap_dim(dim, len(shape))]
    if hasattr(indices_or_sections, "tolist"):
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, (tuple, list)):
        cuts = [0, *indices_or_sections, size]
    else:
        sections = indices_or_sections
        if sections <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
        least, longer = divmod(size, sections)
        cuts = [i * least + min(i, longer) for i in range(sections + 1)]
    return tuple(Slice(input, dim, start, end) for start, end in pairwise(cuts))
