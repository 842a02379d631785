"""hsplit, vsplit and dsplit: splits along a fixed axis.

Source: https://docs.pytorch.org/docs/stable/torch.html#indexing-slicing-joining-mutating-ops
"""

from ...frames import type_in_error
from ...op.declaration import F
from ...op.publish import function


def split_along(name, input, indices_or_sections, dim, least):
    """Split a tensor along `dim`; an int must divide the dimension evenly."""
    shape = tuple(input.shape)
    if len(shape) < least:
        raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, but "
                           f"got a tensor with {len(shape)} dimensions!")
    if not isinstance(indices_or_sections, (int, tuple, list)):
        raise TypeError(f"{name}() received an invalid combination of arguments - got "
                        f"({type_in_error(indices_or_sections)}), but expected one of: (int "
                        "sections), (tuple of ints indices)")
    if isinstance(indices_or_sections, int) and (
            indices_or_sections <= 0 or shape[dim] % indices_or_sections):
        raise RuntimeError(f"torch.{name} attempted to split along dimension {dim}, but the size "
                           f"of the dimension {shape[dim]} is not divisible by the split_size "
                           f"{indices_or_sections}!")
    return F.tensor_split(input, indices_or_sections, dim)


@function()
def hsplit(input, indices_or_sections):
    """Split along dimension 1, or along the only dimension of a vector.

    `indices_or_sections` is the number of equal pieces, or the indices to split at.

    Source: `torch.hsplit`.

    >>> from minigrad import arange
    >>> arange(4.0).hsplit(2)
    (tensor([0., 1.]), tensor([2., 3.]))
    """
    return split_along("hsplit", input, indices_or_sections, 0 if input.ndim == 1 else 1, 1)


@function()
def vsplit(input, indices_or_sections):
    """Split along dimension 0; see `hsplit`.  Source: `torch.vsplit`.

    >>> from minigrad import arange
    >>> arange(4.0).reshape(2, 2).vsplit(2)
    (tensor([[0., 1.]]), tensor([[2., 3.]]))
    """
    return split_along("vsplit", input, indices_or_sections, 0, 2)


@function()
def dsplit(input, indices_or_sections):
    """Split along dimension 2; see `hsplit`.  Source: `torch.dsplit`.

    >>> from minigrad import ones
    >>> [piece.shape for piece in ones(2, 3, 4).dsplit([1])]
    [torch.Size([2, 3, 1]), torch.Size([2, 3, 3])]
    """
    return split_along("dsplit", input, indices_or_sections, 2, 3)
