# Stage 04b, Reductions, matrix products, indices: the exercise for minigrad/ops/reduction/dims.py.
# Made by `minigrad dev build`. The lesson is lessons/04b_reductions.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04b
# docs/en/glossary.md explains the names used inside the package.

"""Helpers for formulas that work along dimensions; written with `F`, for arrays and tensors."""

from ...op.declaration import F
from ...shapes import numel, reduced, wrap_dims


def extent(sizes, dim):
    """Return how many elements a reduction along `dim` combines into one."""
    # 04b.1 Sums and means (about 9 lines)
    # `extent` returns how many elements a reduction along `dim` combines into one, and
    # `unsqueeze_reduced` puts the lost dimensions back as ones. Write the gradients of
    # sum and mean.
    #   extent((2, 3, 4), (0, -1))                     -> 8
    #   unsqueeze_reduced(value, (2, 3, 4), 1, False)  -> shape (2, 1, 4)
    #   Sum:  self_sizes (2, 3), dim 1, g = [10, 20]   -> [[10, 10, 10], [20, 20, 20]]
    #   Mean: the same                                 -> rows of 3.3333 and 6.6667
    #   MeanAll: self_sizes (2, 3), g = 12             -> 2 for each element
    # Mind:
    # - With `keepdim` or `dim=None`, return `value` as it is.
    # - An empty input gets an empty gradient, without a warning.
    # - `F.expand` returns a view, but the mean's gradient must own its memory. Don't
    #   write to `g`.
    # Use: `wrap_dims(dim, ndim)`, a tuple for any `dim`; `numel(numbers)`, their product;
    # `reduced(sizes, dim, keepdim)`, the reduced shape; `F.reshape`, `F.expand(t,
    # sizes)`.
    raise NotImplementedError("04b.1 Sums and means is yours to write")


def unsqueeze_reduced(value, sizes, dim, keepdim):
    """Unsqueeze the dimensions that a reduction of shape `sizes` removed from `value`.

    With `keepdim`, they were kept; with `dim=None`, the result is 0-d and expands to any shape.
    """
    # 04b.1 Sums and means: see the task at `extent`.
    raise NotImplementedError("04b.1 Sums and means is yours to write")


def scatter_reduced(g, sizes, dim, index, keepdim):
    """Scatter a reduced `g` along `dim` into zeros of shape `sizes`."""
    if not sizes:
        return F.clone(g)  # a copy, as for tensors with dimensions
    if not keepdim:
        g, index = F.unsqueeze(g, dim), F.unsqueeze(index, dim)
    return F.scatter(F.new_zeros(g, sizes), dim, index, g)


def flipped(x, dim):
    """Return the elements along `dim` in reverse order."""
    return F.flip(x, (dim,))


def shift_by_one(x, dim, first):
    """Shift the elements by one along `dim`; `first(part)` returns the new first element."""
    head = F.narrow(x, dim, 0, 1)
    return F.cat([first(head), F.narrow(x, dim, 0, x.shape[dim] - 1)], dim)
