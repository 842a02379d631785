"""Flipped, rolled and rotated tensors, and triangles of matrices."""

from __future__ import annotations

from typing import Any

from ...backend.memory_layout import in_rows, laid_out_like
from ...dtypes import as_dtype, int32, int64, type_name
from ...dtypes import dtype as Dtype
from ...op.declaration import F, Op
from ...op.publish import function
from ...shapes import wrap_dim, wrap_dims
from .view import array_of


class Flip(Op):
    """A copy with the elements reversed along `dims`.

    >>> from minigrad import arange
    >>> arange(3.0).flip(0)
    tensor([2., 1., 0.])
    """

    varargs = "dims"

    def shape(self, dims):
        flip_dims(len(self), dims)
        return self

    def forward(xp, self, dims):
        flipped = xp.flip(self, flip_dims(self.ndim, dims))
        return flipped.copy("C") if self.flags.c_contiguous else laid_out_like(flipped, self)

    def grad_self(g, dims):
        return F.flip(g, dims)

    def samples(make):
        yield make(2, 3), (0,)
        yield make(2, 3), (0, -1)
        yield make(2, 3), ()
        yield make(), (0,)


def flip_dims(ndim, dims):
    """Return the dimensions to flip, wrapped to nonnegative."""
    dims = (dims,) if isinstance(dims, int) else dims
    return wrap_dims(dims, ndim) if dims else ()


@function()
def fliplr(input):
    """Reverse dimension 1.

    >>> from minigrad import eye
    >>> eye(2).fliplr()
    tensor([[0., 1.],
            [1., 0.]])
    """
    if array_of(input).ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return Flip(input, (1,))


@function()
def flipud(input):
    """Reverse dimension 0.

    >>> from minigrad import arange
    >>> arange(3.0).flipud()
    tensor([2., 1., 0.])
    """
    if array_of(input).ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return Flip(input, (0,))


class Roll(Op):
    """The elements shifted by `shifts` along `dims`, wrapping around at the end.

    Without `dims`, the tensor is flattened before rolling, and then restored.

    >>> from minigrad import arange
    >>> arange(3.0).roll(1)
    tensor([2., 0., 1.])
    """

    def shape(self, shifts, dims=()):
        roll_arguments(len(self), shifts, dims)
        return self

    def forward(xp, self, shifts, dims=()):
        shifts, dims = roll_arguments(self.ndim, shifts, dims)
        if dims is not None and self.ndim:
            return xp.roll(in_rows(self), shifts, dims)
        result = self.copy("C")
        if dims is None:
            result.reshape(-1)[...] = xp.roll(result.reshape(-1), shifts)
        return result

    def grad_self(g, shifts, dims):
        back = -shifts if isinstance(shifts, int) else tuple(-s for s in shifts)
        return F.roll(g, back, dims)

    def samples(make):
        yield make(2, 3), 1
        yield make(2, 3), (1, -2), (0, 1)
        yield make(4), -1, 0
        yield make(0, 2), 1, 0


def roll_arguments(ndim, shifts, dims):
    """Return shifts and dimensions in NumPy's form."""
    shifts = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    dims = (dims,) if isinstance(dims, int) else tuple(dims or ())
    if not shifts:
        raise RuntimeError("`shifts` required")
    if not dims and len(shifts) == 1:
        return shifts[0], None
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:"
                           f"{len(dims)}")
    if not ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    return shifts, tuple(wrap_dim(d, ndim) for d in dims)


class Rot90(Op):
    """The tensor rotated `k` times by 90 degrees, from the first of two dimensions to the second.

    >>> from minigrad import arange
    >>> arange(4.0).view(2, 2).rot90()
    tensor([[1., 3.],
            [0., 2.]])
    """

    def shape(self, k=1, dims=(0, 1)):
        if len(dims) != 2:
            raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
        if len(self) < 2:
            raise RuntimeError(f"expected total dims >= 2, but got total dims = {len(self)}")
        if dims[0] == dims[1] or abs(dims[0] - dims[1]) == len(self):
            raise RuntimeError("expected rotation dims to be different, but got dim0 = "
                               f"{dims[0]} and dim1 = {dims[1]}")
        for i, d in enumerate(dims):
            if not -len(self) <= d < len(self):
                raise RuntimeError(f"Rotation dim{i} out of range, dim{i} = {d}")
        first, second = wrap_dim(dims[0], len(self)), wrap_dim(dims[1], len(self))
        turned = list(self)
        if k % 2:
            turned[first], turned[second] = turned[second], turned[first]
        return tuple(turned)

    def forward(xp: Any, self: Any, k: int = 1, dims=(0, 1)):
        Rot90.shape(self.shape, k, dims)
        turned = xp.rot90(self, k, tuple(dims))
        if k % 2:
            return turned.copy("K")  # odd rotations return a transposed copy
        return turned.copy("C") if self.flags.c_contiguous else laid_out_like(turned, self)

    def grad_self(g, k, dims):
        return F.rot90(g, -k, dims)

    def samples(make):
        yield make(2, 3)
        yield make(2, 3), 2
        yield make(2, 3, 4), -1, (1, -1)


def require_matrices(name, sizes):
    """Return the sizes; raise `RuntimeError` unless they have at least two dimensions."""
    if len(sizes) < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    return sizes


def by_matrices(batch):
    """Return a batch of matrices, in row-major order unless the matrices are consecutive."""
    step = batch.itemsize * batch.shape[-1] * batch.shape[-2]
    for n, stride in zip(batch.shape[-3::-1], batch.strides[-3::-1]):
        if n != 1 and stride != step:
            return in_rows(batch)
        step *= n
    return batch


class Triangle(Op, abstract=True):
    """A triangle of matrices, with zeros elsewhere."""

    out = "exact overlap expanded"
    inplace = allow_self_overlap = True

    def samples(make):
        yield make(3, 4)
        yield make(2, 3, 3), -1
        yield make(2, 3, 3), 1


def triangular(name):
    """Return the shape rule, the forward and the formula of `tril` or `triu`."""
    def shape(self, diagonal=0):
        return require_matrices(name, self)

    def forward(xp, self, diagonal=0):
        require_matrices(name, self.shape)
        return getattr(xp, name)(by_matrices(self), diagonal)

    def grad_self(g, diagonal):
        return getattr(F, name)(g, diagonal)

    return shape, forward, grad_self


class Tril(Triangle):
    """The lower triangle of matrices, up to a diagonal; zeros elsewhere.

    >>> from minigrad import ones
    >>> ones(2, 2).tril()
    tensor([[1., 0.],
            [1., 1.]])
    """

    shape, forward, grad_self = triangular("tril")


class Triu(Triangle):
    """The upper triangle of matrices, starting at a diagonal; zeros elsewhere.

    >>> from minigrad import ones
    >>> ones(2, 2).triu()
    tensor([[1., 1.],
            [0., 1.]])
    """

    shape, forward, grad_self = triangular("triu")


def triangle(name, row, col, keep, dtype, device):
    """Return the indices of the ones that `keep` leaves in a matrix of ones, as two rows."""
    dtype = as_dtype(dtype)
    if isinstance(dtype, Dtype) and dtype not in (int32, int64):
        raise NotImplementedError(f"\"{name}\" not implemented for '{type_name(dtype)}'")
    return F.to(F.nonzero(keep(F.ones(row, col, device=device))).T.contiguous(), dtype or int64)


@function(method_too=False)
def tril_indices(row: int, col: int, offset=0, *, dtype=None, device=None):
    """Return the indices of the lower triangle of a matrix: row indices, column indices.

    >>> from minigrad import tril_indices
    >>> tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    return triangle("tril_indices", row, col, lambda ones: Tril(ones, offset), dtype, device)


@function(method_too=False)
def triu_indices(row: int, col: int, offset=0, *, dtype=None, device=None):
    """Return the indices of the upper triangle of a matrix: row indices, column indices.

    >>> from minigrad import triu_indices
    >>> triu_indices(2, 2)
    tensor([[0, 0, 1],
            [0, 1, 1]])
    """
    return triangle("triu_indices", row, col, lambda ones: Triu(ones, offset), dtype, device)
