"""Cartesian products and combinations of vectors.

Source: https://docs.pytorch.org/docs/stable/torch.html#other-operations
"""

from itertools import pairwise

from ...op.declaration import F
from ...op.publish import function


def require_vector(input):
    """Raise unless a tensor has one dimension."""
    if input.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")


@function(method_too=False)
def cartesian_prod(*tensors):
    """Return all rows with one element of each vector; a single vector is returned unchanged.

    Raises `RuntimeError` unless all tensors have one dimension.  Source: `torch.cartesian_prod`.

    >>> from minigrad import cartesian_prod, tensor
    >>> cartesian_prod(tensor([1, 2]), tensor([3, 4])).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    for vector in tensors:
        require_vector(vector)
    if len(tensors) == 1:
        return tensors[0]
    return F.stack([F.flatten(grid) for grid in F.meshgrid(*tensors, indexing="ij")], 1)


@function(method_too=False)
def combinations(input, r: int = 2, with_replacement=False):
    """Return the combinations of `r` elements of a vector, one per row.

    Only `with_replacement` repeats an element in a row.  Raises `RuntimeError` unless the tensor
    has one dimension and r >= 0.  Source: `torch.combinations`.

    >>> from minigrad import combinations, tensor
    >>> combinations(tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    require_vector(input)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return F.new_empty(input, (0,))
    grids = F.meshgrid(*[F.arange(input.shape[0], device=input.device)] * r, indexing="ij")
    before = F.le if with_replacement else F.lt
    wanted = F.ones_like(grids[0]).bool()
    for left, right in pairwise(grids):
        wanted = F.logical_and(wanted, before(left, right))
    return F.stack([F.index_select(input, 0, F.masked_select(grid, wanted)) for grid in grids], 1)
