# Stage 04b, Reductions, matrix products, indices: the solution for minigrad/ops/reduction/dims.py.
# Made by `minigrad dev build`. The lesson is lessons/04b_reductions.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""Helpers for formulas that work along dimensions; written with `F`, for arrays and tensors."""

from ...op.declaration import F
from ...shapes import numel, reduced, wrap_dims


def extent(sizes, dim):
    """Return how many elements a reduction along `dim` combines into one."""
    return numel(sizes[d] for d in wrap_dims(dim, len(sizes)))


def unsqueeze_reduced(value, sizes, dim, keepdim):
    """Unsqueeze the dimensions that a reduction of shape `sizes` removed from `value`.

    With `keepdim`, they were kept; with `dim=None`, the result is 0-d and expands to any shape.
    """
    if keepdim or dim is None:
        return value
    return F.reshape(value, reduced(sizes, dim, True))


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
