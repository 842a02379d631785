"""Pieces along an axis that the name tells, and tensors with a part replaced.

Source: https://docs.pytorch.org/docs/stable/torch.html#indexing-slicing-joining-mutating-ops
"""

from ...op.declaration import F
from ...op.publish import function
from ...shapes import wrap_dim
from ...tensor.tensor import method


def split_along(name, input, indices_or_sections, dim, least):
    """Return pieces of a tensor along `dim`; sections must be of one size."""
    shape = tuple(input.shape)
    if len(shape) < least:
        raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, but "
                           f"got a tensor with {len(shape)} dimensions!")
    if not isinstance(indices_or_sections, (int, tuple, list)):
        raise TypeError(f"{name}() received an invalid combination of arguments - got "
                        f"({type(indices_or_sections).__name__}), but expected one of: (int "
                        "sections), (tuple of ints indices)")
    if isinstance(indices_or_sections, int) and (
            indices_or_sections <= 0 or shape[dim] % indices_or_sections):
        raise RuntimeError(f"torch.{name} attempted to split along dimension {dim}, but the size "
                           f"of the dimension {shape[dim]} is not divisible by the split_size "
                           f"{indices_or_sections}!")
    return F.tensor_split(input, indices_or_sections, dim)


@function()
def hsplit(input, indices_or_sections):
    """Pieces along the columns, or along the one dimension of a vector.

    `indices_or_sections` is the number of pieces, all of one size, or where to cut.
    Source: `torch.hsplit`.

    >>> from minigrad import arange
    >>> arange(4.0).hsplit(2)
    (tensor([0., 1.]), tensor([2., 3.]))
    """
    return split_along("hsplit", input, indices_or_sections, 0 if input.ndim == 1 else 1, 1)


@function()
def vsplit(input, indices_or_sections):
    """Pieces along the rows; see `hsplit`. Source: `torch.vsplit`.

    >>> from minigrad import arange
    >>> arange(4.0).reshape(2, 2).vsplit(2)
    (tensor([[0., 1.]]), tensor([[2., 3.]]))
    """
    return split_along("vsplit", input, indices_or_sections, 0, 2)


@function()
def dsplit(input, indices_or_sections):
    """Pieces along the third dimension; see `hsplit`. Source: `torch.dsplit`.

    >>> from minigrad import ones
    >>> [piece.shape for piece in ones(2, 3, 4).dsplit([1])]
    [torch.Size([2, 3, 1]), torch.Size([2, 3, 3])]
    """
    return split_along("dsplit", input, indices_or_sections, 2, 3)


# -------------------------------------------------------------------- a part replaced


def require_size(src, size):
    """Raise unless the source has the size of what it replaces."""
    if tuple(src.shape) != tuple(size):
        raise RuntimeError(f"expected src to have a size equal to the slice of self. src size = "
                           f"{list(src.shape)}, slice size = {list(size)}")


@function()
def select_scatter(input, src, dim: int, index: int):
    """A copy of `input` with `src` at `index` of dimension `dim`. Source: `torch.select_scatter`.

    >>> from minigrad import ones, zeros
    >>> zeros(2, 2).select_scatter(ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    part = F.select(input, dim, index)
    require_size(src, part.shape)
    dim = wrap_dim(dim, input.ndim)
    place = F.arange(input.shape[dim], device=input.device)[index].reshape(1)
    return F.index_copy(input, dim, place, F.unsqueeze(src.to(input.dtype), dim))


@function(out="exact")
def slice_scatter(input, src, dim: int = 0, start=None, end=None, step: int = 1):
    """A copy of `input` with `src` in the slice `start:end:step` of dimension `dim`.

    Source: `torch.slice_scatter`.

    >>> from minigrad import ones, zeros
    >>> zeros(4).slice_scatter(ones(2), start=1, end=3)
    tensor([0., 1., 1., 0.])
    """
    dim = wrap_dim(dim, input.ndim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    places = F.arange(input.shape[dim], device=input.device)[start:end:step]
    require_size(src, (*input.shape[:dim], len(places), *input.shape[dim + 1:]))
    return F.index_copy(input, dim, places, src.to(input.dtype))


# -------------------------------------------------------------------- conjugate transposes


def adjoint_of_matrix(self):
    """The matrix transposed; of real numbers that is the adjoint.

    >>> from minigrad import ones
    >>> ones(2, 3).H.shape
    torch.Size([3, 2])
    """
    if self.ndim not in (0, 2):
        advice = " For batches of matrices, consider using tensor.mH" if self.ndim > 2 else ""
        raise RuntimeError("tensor.H is only supported on matrices (2-D tensors). Got "
                           f"{self.ndim}-D tensor.{advice}")
    return F.transpose(self, 0, 1) if self.ndim else self


def adjoint_of_matrices(self):
    """The last two dimensions exchanged; of real numbers that is the adjoint.

    >>> from minigrad import ones
    >>> ones(2, 3, 4).mH.shape
    torch.Size([2, 4, 3])
    """
    if self.ndim == 1:
        raise RuntimeError("tensor.mH is only supported on matrices or batches of matrices. Got "
                           "1-D tensor.")
    return F.transpose(self, -2, -1) if self.ndim else self


method("H")(property(adjoint_of_matrix))  # type: ignore[type-var]  # no function, but may be given
method("mH")(property(adjoint_of_matrices))  # type: ignore[type-var]  # likewise
