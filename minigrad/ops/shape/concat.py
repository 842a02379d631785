"""Joining and repeating tensors, and building diagonals and grids."""

from __future__ import annotations

from operator import index
from typing import Any

from ...backend import BACKENDS
from ...backend.memory_layout import channels_last, in_rows, is_channels_last
from ...device import place_on
from ...engine.validate import sum_to
from ...frames import type_in_error, warn_user
from ...op.arguments import INT, given_ints
from ...op.declaration import F, Op
from ...op.publish import function
from ...shapes import broadcast, is_expandable_to, wrap_dim
from ...tensor.attributes import Size
from ...tensor.tensor import Tensor, method
from ..checks import at_each_run
from ..creation.tensor_options import contiguous_format, sizes
from .slicing import diagonal_geometry
from .view import array_of, listed


def offsets(lengths):
    """Return where each part starts when parts of these lengths are concatenated."""
    starts, at = [], 0
    for n in lengths:
        starts.append(at)
        at += n
    return starts


# -------------------------------------------------------------------- joining


class Joined(Op, abstract=True):
    """An op that joins a list of tensors."""

    public, promote = False, "result"
    list_of_tensors = "tensors"


class Cat(Joined):
    """The tensors concatenated along `dim`; their other dimensions must be equal.

    >>> from minigrad import cat, ones, zeros
    >>> cat([ones(2), zeros(1)])
    tensor([1., 1., 0.])
    """

    kind = "linear"

    def shape(tensors, dim=0):
        if not tensors:
            raise ValueError("torch.cat(): expected a non-empty list of Tensors")
        for i, t in enumerate(tensors):
            if not t:
                raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be "
                                   "concatenated")
        joined = [t for t in tensors if t != (0,)] or [(0,)]
        first = joined[0]
        dim = wrap_dim(dim, len(first))
        for i, t in enumerate(tensors):
            if t == (0,):
                continue
            if len(t) != len(first):
                raise RuntimeError("Tensors must have same number of dimensions: got "
                                   f"{len(first)} and {len(t)}")
            for d, (a, b) in enumerate(zip(first, t)):
                if a != b and d != dim:
                    raise RuntimeError(
                        f"Sizes of tensors must match except in dimension {dim}. Expected size "
                        f"{a} but got size {b} for tensor number {i} in the list.")
        return (*first[:dim], sum(t[dim] for t in joined), *first[dim + 1 :])

    def forward(xp, tensors, dim=0):
        # PyTorch lets an empty vector join anything, for backward compatibility.
        nonempty = [t for t in tensors if t.shape != (0,)] or tensors
        joined = xp.concatenate(nonempty, dim)
        if all(map(is_channels_last, nonempty)):
            return channels_last(joined)
        return in_rows(joined)

    def grad_tensors(g, tensors_sizes, dim):
        empty = [sizes == (0,) for sizes in tensors_sizes]
        lengths = [0 if e else sizes[dim] for e, sizes in zip(empty, tensors_sizes)]
        return [F.new_zeros(g, (0,)) if e else F.slice(g, dim, start, start + n)
                for e, start, n in zip(empty, offsets(lengths), lengths)]

    def samples(make):
        yield [make(2, 3), make(1, 3)],
        yield [make(2, 3), make(2, 1), make(2, 0)], -1
        yield [make(2), make(0)],


def sequence_of_tensors(name, tensors):
    """Return a sequence; raise `TypeError` for any other value."""
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
                        f"{type_in_error(tensors)}")
    return tensors


def some_tensors(name, tensors):
    """Return a nonempty sequence; raise `RuntimeError` if it is empty."""
    if not sequence_of_tensors(name, tensors):
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return tensors


@function(method_too=False, aliases=("concat", "concatenate"), out="cast apart")
def cat(tensors, dim=0):
    """Concatenate the tensors along `dim`; their other dimensions must be equal.

    >>> from minigrad import cat, ones, zeros
    >>> cat([ones(2), zeros(1)])
    tensor([1., 1., 0.])
    """
    return Cat(sequence_of_tensors("cat", tensors), dim)


class Stack(Joined):
    """Tensors of equal shape, joined along a new dimension `dim`.

    >>> from minigrad import ones, stack, zeros
    >>> stack([ones(2), zeros(2)], 1)
    tensor([[1., 0.],
            [1., 0.]])
    """

    kind = "linear"

    def shape(tensors, dim=0):
        if not tensors:
            raise RuntimeError("stack expects a non-empty TensorList")
        first = tensors[0]
        dim = wrap_dim(dim, len(first) + 1)
        for i, t in enumerate(tensors):
            if t != first:
                raise RuntimeError(f"stack expects each tensor to be equal size, but got "
                                   f"{list(first)} at entry 0 and {list(t)} at entry {i}")
        return (*first[:dim], len(tensors), *first[dim:])

    def forward(xp, tensors, dim=0):
        return in_rows(xp.stack(tensors, dim))

    def grad_tensors(g, tensors_sizes, dim):
        return [F.select(g, dim, i) for i in range(len(tensors_sizes))]

    def samples(make):
        yield [make(2, 3), make(2, 3)], -1
        yield [make(2, 3), make(2, 3)], 1
        yield [make(), make()],


@function(method_too=False, out="cast apart")
def stack(tensors, dim=0):
    """Join tensors of equal shape along a new dimension `dim`.

    >>> from minigrad import ones, stack, zeros
    >>> stack([ones(2), zeros(2)], 1)
    tensor([[1., 0.],
            [1., 0.]])
    """
    return Stack(sequence_of_tensors("stack", tensors), dim)


@function(method_too=False)
def atleast_1d(*tensors):
    """Return each tensor with at least one dimension.

    >>> from minigrad import tensor, atleast_1d
    >>> atleast_1d(tensor(1.0))
    tensor([1.])
    """
    return each(lambda t: t if array_of(t).ndim else F.reshape(t, (1,)), tensors)


@function(method_too=False)
def atleast_2d(*tensors):
    """Return each tensor with at least two dimensions; a vector becomes a row.

    >>> from minigrad import ones, atleast_2d
    >>> atleast_2d(ones(3)).shape
    torch.Size([1, 3])
    """

    def grown(t):
        ndim = array_of(t).ndim
        return t if ndim > 1 else F.unsqueeze(t, 0) if ndim else F.reshape(t, (1, 1))

    return each(grown, tensors)


@function(method_too=False)
def atleast_3d(*tensors):
    """Return each tensor with at least three dimensions; a matrix gets a new last one.

    >>> from minigrad import ones, atleast_3d
    >>> atleast_3d(ones(3)).shape, atleast_3d(ones(2, 3)).shape
    (torch.Size([1, 3, 1]), torch.Size([2, 3, 1]))
    """

    def grown(t):
        ndim = array_of(t).ndim
        if ndim > 2:
            return t
        if not ndim:
            return F.reshape(t, (1, 1, 1))
        return F.unsqueeze(t if ndim == 2 else F.unsqueeze(t, 0), -1)

    return each(grown, tensors)


def each(function, tensors):
    """Apply a function to one tensor, or to each of several tensors or of a sequence."""
    if len(tensors) == 1 and not isinstance(tensors[0], (tuple, list)):
        return function(tensors[0])
    return tuple(function(t) for t in listed(tensors))


@function(method_too=False, out="cast apart")
def hstack(tensors):
    """Stack tensors horizontally: along dimension 1, or vectors along 0.

    >>> from minigrad import hstack, ones
    >>> hstack([ones(2, 1), ones(2, 2)]).shape
    torch.Size([2, 3])
    """
    tensors = each(atleast_1d, (some_tensors("hstack", tensors),))
    return cat(tensors, 0 if array_of(tensors[0]).ndim == 1 else 1)


@function(method_too=False, aliases=("row_stack",), out="cast apart")
def vstack(tensors):
    """Stack tensors vertically, along dimension 0; vectors become rows.

    >>> from minigrad import ones, vstack
    >>> vstack([ones(2), ones(3, 2)]).shape
    torch.Size([4, 2])
    """
    return cat(atleast_2d(some_tensors("vstack", tensors)), 0)


@function(method_too=False, out="cast apart")
def dstack(tensors):
    """Stack tensors depthwise, along dimension 2.

    >>> from minigrad import dstack, ones
    >>> dstack([ones(2), ones(2)]).shape
    torch.Size([1, 2, 2])
    """
    return cat(atleast_3d(some_tensors("dstack", tensors)), 2)


@function(method_too=False, out="cast apart")
def column_stack(tensors):
    """Stack tensors horizontally; vectors become columns.

    >>> from minigrad import column_stack, ones
    >>> column_stack([ones(2), ones(2, 3)]).shape
    torch.Size([2, 4])
    """
    return hstack([F.reshape(t, (-1, 1)) if array_of(t).ndim < 2 else t
                   for t in some_tensors("column_stack", tensors)])


class BlockDiag(Joined):
    """A block diagonal matrix of the given matrices; vectors count as rows.

    >>> from minigrad import block_diag, ones
    >>> block_diag(ones(1, 2), ones(1))
    tensor([[1., 1., 0.],
            [0., 0., 1.]])
    """

    no_batching = "rare: the blocks may be batched or not"

    def shape(tensors):
        for i, t in enumerate(tensors):
            if len(t) > 2:
                raise RuntimeError("torch.block_diag: Input tensors must have 2 or fewer "
                                   f"dimensions. Input {i} has {len(t)} dimensions")
        blocks = [as_matrix(t) for t in tensors]
        return (sum(n for n, _ in blocks), sum(m for _, m in blocks))

    def forward(xp, tensors):
        shapes = [t.shape for t in tensors]
        if not tensors:
            return xp.zeros((1, 0))
        result = xp.zeros(BlockDiag.shape(shapes), tensors[0].dtype)
        for t, (rows, columns) in zip(tensors, block_places(shapes)):
            result[rows, columns] = t
        return result

    def grad_tensors(g, tensors_sizes):
        blocks = []
        for size, (rows, columns) in zip(tensors_sizes, block_places(tensors_sizes)):
            block = F.slice(g, 0, rows.start, rows.stop)
            block = F.slice(block, 1, columns.start, columns.stop)
            blocks.append(F.reshape(F.clone(block) if len(size) == 1 else block, size))
        return blocks

    def samples(make):
        yield [make(2, 3), make(1, 2), make(2), make()],


def as_matrix(shape):
    """Return a shape as the shape of a matrix; a vector becomes a row."""
    return (1,) * (2 - len(shape)) + tuple(shape)


def block_places(shapes):
    """Return the rows and columns of each block."""
    blocks = [as_matrix(s) for s in shapes]
    starts = zip(offsets(n for n, _ in blocks), offsets(m for _, m in blocks))
    return [(slice(i, i + n), slice(j, j + m)) for (i, j), (n, m) in zip(starts, blocks)]


@function(method_too=False)
def block_diag(*tensors):
    """Return a block diagonal matrix of the given matrices; vectors count as rows.

    >>> from minigrad import block_diag, ones
    >>> block_diag(ones(1, 2), ones(1))
    tensor([[1., 1., 0.],
            [0., 0., 1.]])
    """
    return BlockDiag(listed(tensors))


# -------------------------------------------------------------------- repeated


class Repeat(Op):
    """The whole tensor repeated along each dimension; new dimensions are first.

    >>> from minigrad import arange
    >>> arange(2.0).repeat(2, 2)
    tensor([[0., 1., 0., 1.],
            [0., 1., 0., 1.]])
    """

    varargs = "repeats"

    def shape(self, repeats):
        if len(repeats) < len(self):
            raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number "
                               "of dimensions of tensor")
        sizes = (1,) * (len(repeats) - len(self)) + self
        result = tuple(n * r for n, r in zip(sizes, repeats))
        if any(r < 0 for r in repeats):
            raise RuntimeError("Trying to create tensor with negative dimension "
                               f"{min(result)}: {list(result)}")
        return result

    def forward(xp, self, repeats):
        Repeat.shape(self.shape, repeats)
        return in_rows(xp.tile(self, tuple(repeats)))

    def grad_self(g, self_sizes, repeats):
        if 0 in repeats:
            return F.new_zeros(g, self_sizes)
        lead = len(repeats) - len(self_sizes)
        sizes = (1,) * lead + tuple(self_sizes)
        pairs = F.reshape(g, [n for pair in zip(repeats, sizes) for n in pair])
        copies = (*range(0, 2 * len(sizes), 2), *range(1, 2 * lead, 2))
        return F.sum(pairs, copies) if sizes else g

    def samples(make):
        yield make(2, 3), (2, 1)
        yield make(3), (2, 1, 3)
        yield make(2), (0, 2)
        yield make(), (2,)
        yield make(), ()


@function()
def tile(input, *dims):
    """Repeat the whole tensor along each of the last dimensions.

    >>> from minigrad import arange
    >>> arange(2.0).tile(2)
    tensor([0., 1., 0., 1.])
    """
    dims = given_ints("tile", "dims", dims)
    return Repeat(input, (1,) * (array_of(input).ndim - len(dims)) + tuple(dims))


@function()
def repeat_interleave(input, repeats: Any = None, dim=None, *, output_size=None):
    """Repeat each element `repeats` times along `dim`; without `dim`, flatten the tensor first.

    `repeats` is a number, or a tensor with a number for each element along `dim`.  If `repeats` is
    the only argument, each index is repeated that many times.

    >>> from minigrad import arange
    >>> arange(2.0).repeat_interleave(2)
    tensor([0., 0., 1., 1.])
    """
    if repeats is None:
        return repeated(input)
    if not isinstance(repeats, Tensor):
        INT.check("repeat_interleave", "repeats", repeats, 1)
    if dim is None:
        input, dim = F.reshape(input, (-1,)), 0
    shape = array_of(input).shape
    dim = wrap_dim(dim, len(shape))
    if isinstance(repeats, Tensor):
        array = repeats._array
        if array.size == 1:
            repeats = int(array.item())
        elif array.shape != shape[dim : dim + 1]:
            raise RuntimeError(
                "repeats must have the same size as input along dim, but got repeats.size(0) = "
                f"{array.shape[0]} and input.size({dim}) = {shape[dim]}")
        else:
            indices = (repeated(repeats) if output_size is None
                       else repeated_to_size(repeats, output_size))
            return F.index_select(input, dim, indices)
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    spread = F.expand(F.unsqueeze(input, dim + 1),
                      (*shape[: dim + 1], repeats, *shape[dim + 1 :]))
    copied = F.clone(spread, memory_format=contiguous_format)
    return F.view(copied, (*shape[:dim], shape[dim] * repeats, *shape[dim + 1 :]))


def repeated(repeats):
    """Return each index repeated `repeats[index]` times."""
    array = repeats._array
    xp = BACKENDS[type(array)]
    with place_on(array):
        if array.size and bool(array.min() < 0):
            raise RuntimeError("repeats can not be negative")
        return Tensor._plain(xp.repeat(xp.arange(array.size), array.astype("intp", copy=False)))


@at_each_run
def repeated_to_size(repeats, size):
    """Return each index repeated `repeats[index]` times; raise unless that makes `size` indices."""
    indices = repeated(repeats)
    if indices.numel() != size:
        raise RuntimeError("allocated size does not match required size")
    return indices


# -------------------------------------------------------------------- diagonals and grids


class Diag(Op):
    """The diagonal of a matrix, or a matrix with a vector on its diagonal.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).diag()
    tensor([[1., 0.],
            [0., 2.]])
    """

    out = "exact overlap"
    def shape(self, diagonal=0):
        if len(self) == 1:
            return (self[0] + abs(diagonal),) * 2
        if len(self) == 2:
            return diagonal_geometry(self, (0, 0), diagonal, 0, 1)[0]
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {len(self)}D")

    def forward(xp, self, diagonal=0):
        Diag.shape(self.shape, diagonal)
        return xp.diag(self, diagonal).copy()

    def grad_self(g, self_sizes, diagonal):
        if len(self_sizes) == 1:
            return F.diagonal(g, diagonal)
        return F.diagonal_backward(g, self_sizes, diagonal, 0, 1)

    def samples(make):
        yield make(3)
        yield make(3), -1
        yield make(3, 4), 1


class DiagEmbed(Op):
    """Zeros, with the last dimension of `self` on the diagonal of two new dimensions.

    >>> from minigrad import diag_embed, ones
    >>> diag_embed(ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    def shape(self, offset=0, dim1=-2, dim2=-1):
        ndim, size = len(self) + 1, self[-1] + abs(offset)
        first, second = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
        if first == second:
            raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
        rest = iter(self[:-1])
        return tuple(size if d in (first, second) else next(rest) for d in range(ndim))

    def forward(xp, self, offset=0, dim1=-2, dim2=-1):
        result = xp.zeros(DiagEmbed.shape(self.shape, offset, dim1, dim2), self.dtype)
        geometry = diagonal_geometry(result.shape, result.strides, offset, dim1, dim2)
        xp.as_strided(result, *geometry)[...] = self
        return result

    def grad_self(g, offset, dim1, dim2):
        return F.diagonal(g, offset, dim1, dim2)

    def samples(make):
        yield make(3)
        yield make(2, 3), 1, 0, 2


@function()
def diagflat(input, offset=0):
    """Return the matrix with all elements of `input` on its diagonal.

    >>> from minigrad import diagflat, ones
    >>> diagflat(ones(1, 2)).shape
    torch.Size([2, 2])
    """
    return DiagEmbed(F.reshape(input, (-1,)), offset)


@function(method_too=False)
def broadcast_shapes(*shapes):
    """Return the shape that the shapes broadcast to; raise `RuntimeError` if they do not.

    >>> from minigrad import broadcast_shapes
    >>> broadcast_shapes((2, 1), 3, (1, 1))
    torch.Size([2, 3])
    """
    sizes = [(index(each),) if hasattr(each, "__index__") else tuple(map(index, each))
             for each in shapes]
    return Size(broadcast(*sizes)) if sizes else Size(())


@function(method_too=False)
def broadcast_tensors(*tensors):
    """Expand all tensors to the shape that they broadcast to.

    >>> from minigrad import broadcast_tensors, ones
    >>> [t.shape for t in broadcast_tensors(ones(2, 1), ones(3))]
    [torch.Size([2, 3]), torch.Size([2, 3])]
    """
    tensors = listed(tensors)
    size = broadcast(*(tuple(array_of(t).shape) for t in tensors))
    return tuple(t if array_of(t).shape == size else F.expand(t, size) for t in tensors)


@method("sum_to_size")
def sum_to_size(self, *size, **options):
    """Sum over the dimensions along which `size` would broadcast to this tensor's shape.

    >>> from minigrad import ones
    >>> ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    size = sizes("sum_to_size", size, options)
    if not is_expandable_to(size, self.shape):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size "
                           f"{{{list(self.shape)}}}.")
    return sum_to(self, size)


@function(method_too=False)
def meshgrid(*tensors, indexing=None):
    """Return coordinate grids: each vector expanded along the dimensions of the others.

    `indexing` is "ij", or "xy" to swap the first two dimensions.

    >>> from minigrad import arange, meshgrid
    >>> meshgrid(arange(2), arange(3), indexing="ij")[0]
    tensor([[0, 0, 0],
            [1, 1, 1]])
    """
    tensors = some_tensors("meshgrid", listed(tensors))
    if indexing is None:
        warn_user("torch.meshgrid: in an upcoming release, it will be required to pass the "
                  "indexing argument.", UserWarning)
    elif indexing not in ("ij", "xy"):
        raise RuntimeError('torch.meshgrid: indexing must be one of "xy" or "ij", but received: '
                           f"{indexing}")
    for t in tensors:
        if array_of(t).ndim > 1:
            raise RuntimeError("torch.meshgrid: Expected 0D or 1D tensor in the tensor list but "
                               f"got: {t}")
    if len({array_of(t).dtype for t in tensors}) > 1:
        raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
    swap = indexing == "xy" and len(tensors) > 1
    if swap:
        tensors = (tensors[1], tensors[0], *tensors[2:])
    size = tuple(array_of(t).size for t in tensors)
    grids = [F.expand(F.view(t, (1,) * i + (-1,) + (1,) * (len(size) - 1 - i)), size)
             for i, t in enumerate(tensors)]
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)
