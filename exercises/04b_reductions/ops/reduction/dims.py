# Stage 04b, Reductions, matrix products, indices: the exercise for minigrad/ops/reduction/dims.py.
# Made by `minigrad dev build`. The lesson is lessons/04b_reductions.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04b
# Names of the package's inside are explained in docs/en/glossary.md.

"""Helpers of formulas that work along dimensions; written with `F`, for arrays and tensors."""

from ...op.declaration import F
from ...shapes import numel, reduced, wrap_dims


def extent(sizes, dim):
    """Return how many elements a reduction of `dim` makes one of."""
    # 04b.1 Sums and means (about 9 lines)
    # `extent(sizes, dim)` (sizes: a tuple) returns how many elements a reduction along
    # `dim` makes one of: the product of the sizes of the dimensions that `wrap_dims(dim,
    # len(sizes))` names (it turns None, a number or a sequence into a tuple counted from
    # the front). `unsqueeze_reduced(value, sizes, dim, keepdim)` returns `value`, the
    # result of reducing something of shape `sizes`, with its lost dimensions back as
    # ones: the shape that `reduced(sizes, dim, True)` gives, by `F.reshape`. With
    # `keepdim`, or where `dim` is None and the result 0-d, it is returned as it is. Both
    # are used by every reduction. With them write the gradients of sum and mean, over all
    # elements and along `dim`: each element of the input gets the gradient of the result
    # it went into, a mean's share being that over the number of elements. `F.expand(t,
    # sizes)` repeats dimensions of size one. `self_sizes` is the input's shape. An empty
    # input may not divide by zero.
    raise NotImplementedError("04b.1 Sums and means is yours to write")


def unsqueeze_reduced(value, sizes, dim, keepdim):
    """Unsqueeze the dimensions that a reduction removed; a 0-d value stays as it is."""
    # 04b.1 Sums and means: see the task at `extent`.
    raise NotImplementedError("04b.1 Sums and means is yours to write")


def scatter_reduced(g, sizes, dim, index, keepdim):
    """Scatter a reduced `g` along `dim` into zeros of shape `sizes`."""
    if not sizes:
        return F.clone(g)  # memory of its own, as where there are dimensions
    if not keepdim:
        g, index = F.unsqueeze(g, dim), F.unsqueeze(index, dim)
    return F.scatter(F.new_zeros(g, sizes), dim, index, g)


def flipped(x, dim):
    """Return the elements along `dim` in reverse order."""
    return F.flip(x, (dim,))


def shift_by_one(x, dim, first):
    """Shift the elements by one along `dim`; `first(part)` makes the new first element."""
    head = F.narrow(x, dim, 0, 1)
    return F.cat([first(head), F.narrow(x, dim, 0, x.shape[dim] - 1)], dim)
