"""Ops that return views, with the strides that PyTorch gives them.

This module has the views of all elements: other shapes, permuted dimensions, dimensions of size 1.
"""

from __future__ import annotations

from operator import index
from typing import Any

from ... import _state
from ...dtypes import FROM_NUMPY, type_name
from ...dtypes import as_dtype as as_python_type
from ...dtypes import dtype as Dtype
from ...frames import type_in_error
from ...op.arguments import INT, INT_LIST, INTS, given_ints
from ...op.declaration import F, Op
from ...op.publish import function
from ...shapes import infer_view, numel, view_strides, wrap_dim, wrap_dims
from ...tensor.tensor import Tensor
from ..creation.tensor_options import array_of as array_of  # re-exported for neighbouring modules
from ..creation.tensor_options import contiguous_format
from ..overloads import overloaded


def element_strides(array):
    """Return an array's strides in elements."""
    size = array.itemsize
    return tuple(stride // size for stride in array.strides)


def strided(xp, array, size, strides, offset=0):
    """View an array's memory with the given strides and an offset from its start, in elements."""
    item = array.itemsize
    return xp.as_strided(array, tuple(size), tuple(s * item for s in strides), offset * item)


def along(dim, key):
    """Return the NumPy key that applies `key` to dimension `dim`."""
    return (slice(None),) * dim + (key,)


def listed(sizes):
    """Return the sizes of `f(2, 3)` and `f((2, 3))` alike."""
    return tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes


# -------------------------------------------------------------------- reshaping


class Reshaping(Op, abstract=True):
    """The same elements in another shape; a -1 is inferred."""

    public = False

    def shape(self, size):
        return infer_view(size, numel(self))

    def grad_self(g, self_sizes):
        return F.reshape(g, self_sizes)


class View(Reshaping):
    """The same elements in another shape, without a copy; a -1 is inferred.

    Raises `RuntimeError` if no strides can express that shape.

    >>> from minigrad import arange
    >>> arange(6.0).view(2, -1)
    tensor([[0., 1., 2.],
            [3., 4., 5.]])
    """

    kind = "view"

    def forward(xp, self, size):
        size = infer_view(size, self.size)
        if self.size and self.flags.c_contiguous and (self.base is None or 1 not in self.shape):
            return self.reshape(size)
        if size == self.shape and 1 not in size:
            return self[...]
        strides = view_strides(self.shape, element_strides(self), size)
        if strides is None:
            raise RuntimeError(
                "view size is not compatible with input tensor's size and stride (at least one "
                "dimension spans across two contiguous subspaces). Use .reshape(...) instead.")
        return strided(xp, self, size, strides)

    def samples(make):
        yield make(2, 3, 4), (6, -1)
        yield make(2, 3), (3, 1, 2)
        yield make(), (1, 1)
        yield make(0, 3), (3, 0)


class UnsafeView(Reshaping):
    """`view` of memory that no other tensor uses, so the result does not count as a view.

    >>> from minigrad import ones
    >>> ones(2, 3).t().reshape(-1).shape
    torch.Size([6])
    """

    def forward(xp, self, size):
        return self.reshape(infer_view(size, self.size))

    def samples(make):
        yield make(2, 3), (6,)
        yield make(2, 3, 4), (4, 6)


def check_other_size(array, dtype):
    """Raise `RuntimeError` unless the last dimension can be resized for another dtype."""
    to_view = (f"to view {type_name(FROM_NUMPY[array.dtype])} as {type_name(dtype)} (different "
               "element sizes)")
    if not array.ndim:
        raise RuntimeError(f"self.dim() cannot be 0 {to_view}")
    step = array.strides[-1] // array.itemsize
    if array.size > 1 and step != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 {to_view}, but got {step}")
    times = dtype.itemsize // array.itemsize
    if times and array.shape[-1] % times:
        raise RuntimeError(f"self.size(-1) must be divisible by {times} {to_view}, but got "
                           f"{array.shape[-1]}")


def as_dtype(input, dtype):
    """Reinterpret the bytes as another dtype; the last dimension is resized to fit."""
    dtype = as_python_type(dtype)
    if not isinstance(dtype, Dtype):
        raise TypeError("view(): its argument must be sizes or a torch.dtype, not "
                        f"{type_in_error(dtype)}")
    array = array_of(input)
    if dtype.itemsize != array.itemsize:
        check_other_size(array, dtype)
    view = array.view(dtype.numpy)
    if not isinstance(input, Tensor):
        return view
    result = Tensor._plain(view)
    result._counter = input._shared_counter()
    return result


@function()
def view(input, *size, dtype=None):
    """Return the elements in another shape, or the same bytes as another dtype, without a copy.

    >>> from minigrad import ones
    >>> ones(2, 3).view(6)
    tensor([1., 1., 1., 1., 1., 1.])
    """
    if len(size) == 1 and isinstance(size[0], type):
        size = (as_python_type(size[0]),)
    if dtype is None and len(size) == 1 and hasattr(size[0], "is_floating_point"):
        dtype = None if isinstance(size[0], Tensor) else size[0]
    if dtype is not None:
        return as_dtype(input, dtype)
    if not size:
        raise TypeError("view() received an invalid combination of arguments - got (), but "
                        "expected one of: (torch.dtype dtype), (tuple of ints size)")
    return View(input, given_ints("view", "size", size))


class ReshapeAlias(View):
    """The same elements in another shape, without a copy, for a tensor with gaps.

    >>> from minigrad import arange
    >>> arange(6.0).view(3, 2)[:, 0].reshape(3, 1).shape
    torch.Size([3, 1])
    """

@function()
def reshape(input, *sizes, shape=None):
    """Return the same elements in another shape: a view if strides permit, otherwise a copy.

    >>> from minigrad import arange
    >>> arange(4.0).reshape(2, 2)
    tensor([[0., 1.],
            [2., 3.]])
    """
    sizes = given_ints("reshape", "shape", sizes if shape is None else (shape,))
    array = array_of(input)
    if array is input and not _state.observers.count:  # frequent in formulas
        try:
            return array.reshape(sizes)
        except (ValueError, TypeError):
            pass  # View raises the error
    if not array.flags.c_contiguous:
        size = infer_view(sizes, array.size)
        if view_strides(array.shape, element_strides(array), size) is None:
            return UnsafeView(F.clone(input, memory_format=contiguous_format), size)
        return ReshapeAlias(input, size)
    return View(input, sizes)


@function()
def view_as(input, other):
    """Return `input` viewed in the shape of `other`.

    >>> from minigrad import ones
    >>> ones(6).view_as(ones(2, 3)).shape
    torch.Size([2, 3])
    """
    return View(input, other.shape)


@function()
def reshape_as(input, other):
    """Return `input` reshaped to the shape of `other`.

    >>> from minigrad import ones
    >>> ones(6).reshape_as(ones(2, 3)).shape
    torch.Size([2, 3])
    """
    return reshape(input, other.shape)


@function()
def ravel(input):
    """Return all elements in one dimension: a view if the memory is contiguous.

    >>> from minigrad import ones
    >>> ones(2, 2).ravel()
    tensor([1., 1., 1., 1.])
    """
    if not array_of(input).flags.c_contiguous:
        input = F.clone(input, memory_format=contiguous_format)
    return View(input, (-1,))


@function()
def flatten(input, start_dim=0, end_dim=-1):
    """Flatten the dimensions from `start_dim` to `end_dim` into one.

    >>> from minigrad import ones
    >>> ones(2, 3, 4).flatten(1).shape
    torch.Size([2, 12])
    """
    shape = array_of(input).shape
    start, end = wrap_dim(start_dim, len(shape)), wrap_dim(end_dim, len(shape))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(input, (1,))
    if start == end:
        return input
    return reshape(input, (*shape[:start], numel(shape[start : end + 1]), *shape[end + 1 :]))


@function()
def unflatten(input, dim, sizes):
    """Unflatten dimension `dim` into dimensions of `sizes`, one of which may be -1.

    >>> from minigrad import ones
    >>> ones(6, 2).unflatten(0, (2, -1)).shape
    torch.Size([2, 3, 2])
    """
    shape = array_of(input).shape
    if not shape:
        raise RuntimeError("unflatten got an unexpected error:\nDimension specified as "
                           f"{dim} but tensor has no dimensions")
    dim = wrap_dim(dim, len(shape))
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    try:
        inner = infer_view(sizes, shape[dim])
    except RuntimeError:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({shape[dim]}) in the input tensor") from None
    return View(input, (*shape[:dim], *inner, *shape[dim + 1 :]))


# -------------------------------------------------------------------- permuting dimensions


class Transpose(Op):
    """The tensor with two dimensions swapped.

    >>> from minigrad import ones
    >>> ones(2, 3, 4).transpose(0, -1).shape
    torch.Size([4, 3, 2])
    """

    kind = "view"
    node, inplace = "TransposeBackward0", True

    def shape(self, dim0, dim1):
        dims = list(range(len(self)))
        dim0, dim1 = wrap_dim(dim0, len(self)), wrap_dim(dim1, len(self))
        if dims:
            dims[dim0], dims[dim1] = dim1, dim0
        return tuple(self[d] for d in dims)

    def forward(xp, self, dim0, dim1):
        if self.ndim:
            return self.swapaxes(dim0, dim1)
        Transpose.shape((), dim0, dim1)
        return self[...]

    def grad_self(g, dim0, dim1):
        return F.transpose(g, dim0, dim1)

    def samples(make):
        yield make(2, 3, 4), 0, -1
        yield make(2, 3), 1, 1
        yield make(), 0, -1
        yield make(0, 3), 0, 1


class T(Op):
    """The transpose of a matrix; vectors and zero-dimensional tensors are unchanged.

    >>> from minigrad import ones
    >>> ones(2, 3).t().shape
    torch.Size([3, 2])
    """

    kind = "view"
    inplace = True

    def shape(self):
        return tuple(reversed(self))

    def forward(xp, self):
        if self.ndim > 2:
            raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is "
                               f"{self.ndim}D")
        return self.transpose()

    def grad_self(g):
        return F.t(g)

    def samples(make):
        yield make(2, 3)
        yield make(3)
        yield make()


class Permute(Op):
    """The tensor with its dimensions in the order `dims`.

    >>> from minigrad import ones
    >>> ones(2, 3, 4).permute(2, 0, 1).shape
    torch.Size([4, 2, 3])
    """

    kind = "view"
    varargs = "dims"

    def shape(self, dims):
        if len(dims) != len(self):
            raise RuntimeError(
                "permute(sparse_coo): number of dimensions in the tensor input does not match the "
                "length of the desired ordering of dimensions i.e. input.dim() = "
                f"{len(self)} is not equal to len(dims) = {len(dims)}")
        wrapped = [wrap_dim(d, len(self)) for d in dims]
        if len(set(wrapped)) != len(wrapped):
            raise RuntimeError("permute(): duplicate dims are not allowed.")
        return tuple(self[d] for d in wrapped)

    def forward(xp, self, dims):
        if len(dims) != self.ndim:
            Permute.shape(self.shape, dims)
        return self.transpose(dims)

    def grad_self(g, dims):
        return F.permute(g, inverse_order(dims))

    def samples(make):
        yield make(2, 3, 4), (2, 0, 1)
        yield make(2, 3), (-1, 0)
        yield make(), ()


def inverse_order(dims):
    """Return the inverse of a permutation."""
    wrapped = [d % len(dims) for d in dims]
    return tuple(wrapped.index(d) for d in range(len(dims)))


@function(aliases=("swapdims",))
def swapaxes(input, axis0, axis1):
    """Swap two dimensions, like `transpose`.

    >>> from minigrad import ones
    >>> ones(2, 3).swapaxes(0, 1).shape
    torch.Size([3, 2])
    """
    return Transpose(input, axis0, axis1)


@function(aliases=("moveaxis",))
def movedim(input, source: Any, destination: Any):
    """Move the dimensions `source` to `destination`; the others keep their order.

    >>> from minigrad import ones
    >>> ones(2, 3, 4).movedim(0, 2).shape
    torch.Size([3, 4, 2])
    """
    ndim = array_of(input).ndim
    kind = INT_LIST if isinstance(source, (tuple, list)) else INT
    destination = kind.check("movedim", "destination", destination, 2)
    from_, to = (d if isinstance(d, (tuple, list)) else (d,) for d in (source, destination))
    if len(from_) != len(to):
        raise RuntimeError("movedim: Invalid source or destination dims: source "
                           f"({list(from_)} dims) should contain the same number of dims as "
                           f"destination ({list(to)} dims)")
    moved = [wrap_dim(d, ndim) for d in from_]
    places = [wrap_dim(d, ndim) for d in to]
    for what, dims in (("source", moved), ("destination", places)):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{what}` "
                               f"({list(from_ if what == 'source' else to)})")
    if not ndim:
        return F.alias(input)
    rest = iter(d for d in range(ndim) if d not in moved)
    return Permute(input, tuple(
        moved[places.index(d)] if d in places else next(rest) for d in range(ndim)))


# -------------------------------------------------------------------- dimensions of size one


class Expand(Op):
    """Dimensions of size one repeated without a copy; -1 keeps a dimension's size.

    >>> from minigrad import tensor
    >>> tensor([[1.0], [2.0]]).expand(-1, 2)
    tensor([[1., 1.],
            [2., 2.]])
    """

    kind = "view"
    varargs = "size"

    def shape(self, size):
        if type(size) is not tuple or set(map(type, size)) - {int}:
            size = INTS.check("expand", "size", size, 0)
        size, lead = list(map(index, size)), len(size) - len(self)
        sizes = [old if n == -1 else n for n, old in zip(size[lead:], self, strict=False)]
        if lead < 0 or (lead and min(size[:lead]) < 0) or any(
                [old not in (1, n) for n, old in zip(sizes, self, strict=True)]):
            raise RuntimeError(not_expandable(self, size))
        return (*size[:lead], *sizes)

    def forward(xp: Any, self: Any, size: Any) -> Any:
        size = Expand.shape(self.shape, size)
        return xp.as_strided(self, size, expanded_strides(self, size))

    def grad_self(g, self_sizes):
        return g if self_sizes else F.sum(g)

    def samples(make):
        yield make(3, 1), (2, 3, 4)
        yield make(3, 1), (-1, 4)
        yield make(), (2, 2)
        yield make(1, 3), (0, 3)


def expanded_strides(array, size):
    """Return the strides of an array expanded to `size`: 0 along repeated dimensions."""
    lead = len(size) - array.ndim
    kept = zip(size[lead:], array.shape, array.strides, strict=True)
    strides = [0] * lead + [stride if n == old else 0 for n, old, stride in kept]
    return tuple(strides) if 1 not in size[:lead] else spanning_strides(strides, size, lead)


def spanning_strides(strides, size, lead):
    """Return strides where each new dimension of size one spans the dimensions after it."""
    for i in reversed(range(min(lead, len(size) - 1))):
        if size[i] == 1:
            strides[i] = strides[i + 1] * size[i + 1]
    return tuple(strides)


def not_expandable(shape, size):
    """Return the error text for a shape that cannot be expanded to `size`."""
    lead = len(size) - len(shape)
    if lead < 0:
        return (f"expand(torch.FloatTensor{{{list(shape)}}}, size={size}): the number of sizes "
                f"provided ({len(size)}) must be greater or equal to the number of dimensions in "
                f"the tensor ({len(shape)})")
    i = max(i for i, n in enumerate(size)
            if (n < 0 if i < lead else shape[i - lead] not in (1, n) and n != -1))
    if i < lead:
        return (f"The expanded size of the tensor ({size[i]}) isn't allowed in a leading, "
                f"non-existing dimension {i}")
    return (f"The expanded size of the tensor ({size[i]}) must match the existing size "
            f"({shape[i - lead]}) at non-singleton dimension {i}.  Target sizes: {list(size)}.  "
            f"Tensor sizes: {list(shape)}")


@function()
def expand_as(input, other):
    """Expand `input` to the shape of `other`.

    >>> from minigrad import ones
    >>> ones(3).expand_as(ones(2, 3)).shape
    torch.Size([2, 3])
    """
    return Expand(input, other.shape)


@function()
def broadcast_to(input, *size):
    """Expand `input` to `size`.

    >>> from minigrad import ones
    >>> ones(3).broadcast_to((2, 3)).shape
    torch.Size([2, 3])
    """
    return Expand(input, given_ints("broadcast_to", "size", size))


def unsqueezed(g, sizes):
    """Restore the squeezed dimensions; return `g` itself if its shape already matches."""
    return g if tuple(g.shape) == tuple(sizes) else F.reshape(g, sizes)


class Squeezing(Op, abstract=True):
    """The removal of dimensions of size one."""

    kind, inplace = "view", True

    def grad_self(g, self_sizes):
        return unsqueezed(g, self_sizes)


class SqueezeAll(Squeezing):
    """The tensor without its dimensions of size one.

    >>> from minigrad import ones
    >>> ones(1, 3, 1).squeeze().shape
    torch.Size([3])
    """

    overload = "squeeze", 0

    def shape(self):
        return tuple(n for n in self if n != 1)

    def forward(xp, self):
        return self.squeeze()

    def samples(make):
        yield make(1, 3, 1)
        yield make(1)
        yield make()


def squeezed_dims(shape, dim):
    """Return the dimensions in `dim`, a number or several, that have size one."""
    dims = wrap_dims(dim, len(shape)) if dim not in ((), []) else ()
    return tuple(d for d in dims if shape and shape[d] == 1)


class SqueezeDims(Squeezing):
    """The tensor with the dimensions in `dim` removed that have size one.

    >>> from minigrad import ones
    >>> ones(1, 3, 1).squeeze((0, 2)).shape
    torch.Size([3])
    """

    overload = "squeeze", 2

    def shape(self, dim):
        dims = squeezed_dims(self, dim)
        return tuple(n for i, n in enumerate(self) if i not in dims)

    def forward(xp, self, dim):
        return self.squeeze(squeezed_dims(self.shape, dim))

    def samples(make):
        yield make(1, 3, 1), (0, -1)
        yield make(1, 3, 1), (0, 1)


class SqueezeDim(SqueezeDims):
    """The tensor without dimension `dim`, if it has size one.

    >>> from minigrad import ones
    >>> ones(1, 3, 1).squeeze(-1).shape
    torch.Size([1, 3])
    """

    overload = "squeeze", 1

    def samples(make):
        yield make(1, 3, 1), 0
        yield make(1, 3, 1), 1
        yield make(), -1


@overloaded()
def squeeze(input, *args, dim=None):
    """Remove all dimensions of size one, or only those in `dim`.

    >>> from minigrad import ones
    >>> ones(1, 3, 1).squeeze(0).shape
    torch.Size([3, 1])
    """
    if dim is None:
        if not args:
            return SqueezeAll, input
        dim = args[0] if len(args) == 1 else args
    return SqueezeDims if isinstance(dim, (tuple, list)) else SqueezeDim, input, dim


class Unsqueeze(Op):
    """The tensor with a new dimension of size one at `dim`.

    >>> from minigrad import ones
    >>> ones(3).unsqueeze(-1).shape
    torch.Size([3, 1])
    """

    kind = "view"
    node, inplace = "UnsqueezeBackward0", True

    def shape(self, dim):
        dim = wrap_dim(dim, len(self) + 1)
        return (*self[:dim], 1, *self[dim:])

    def forward(xp, self, dim):
        dim = wrap_dim(dim, self.ndim + 1)
        shape, strides = self.shape, self.strides
        new = shape[dim] * strides[dim] if dim < self.ndim else self.itemsize
        return xp.as_strided(self, (*shape[:dim], 1, *shape[dim:]),
                             (*strides[:dim], new, *strides[dim:]))

    def grad_self(g, dim, self_sizes):
        return F.reshape(g, self_sizes)

    def samples(make):
        yield make(2, 3), 1
        yield make(2, 3), -1
        yield make(), 0
        yield make(0, 3), 0
