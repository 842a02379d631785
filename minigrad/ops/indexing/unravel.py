"""Conversion of flat indices to one index per dimension.

Source: https://docs.pytorch.org/docs/stable/generated/torch.unravel_index.html
"""

from collections.abc import Sequence
from itertools import accumulate
from operator import mul

from ...op.arguments import is_int
from ...op.declaration import F
from ...op.publish import function


@function(method_too=False)
def unravel_index(indices, shape):
    """Return the index along each dimension of `shape` for flat indices.

    Raises `TypeError` if the indices or sizes are not integers, and `ValueError` if a size is
    negative.  Source: `torch.unravel_index`.

    >>> from minigrad import tensor, unravel_index
    >>> unravel_index(tensor([1, 5]), (2, 3))
    (tensor([0, 1]), tensor([1, 2]))
    """
    if indices.is_floating_point() or str(indices.dtype) == "torch.bool":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, Sequence)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for size in sizes:
        if not is_int(size):
            raise TypeError("expected 'shape' sequence to only contain ints, but got "
                            f"{type(size)}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    widths = [*accumulate((1, *sizes[:0:-1]), mul)][::-1] if sizes else []
    return tuple(F.remainder(F.div(indices, width, rounding_mode="floor"), size)
                 for width, size in zip(widths, sizes, strict=True))
