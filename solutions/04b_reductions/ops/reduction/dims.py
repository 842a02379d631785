# Stage 04b, Reductions, matrix products, indices: the solution for minigrad/ops/reduction/dims.py.
# Made by `minigrad dev build`. The lesson is lessons/04b_reductions.md.

"""What formulas that work along dimensions share; written with `F`, so for arrays and tensors."""

from ...op.declaration import F
from ...shapes import numel, reduced, wrap_dims


def extent(sizes, dim):
    """Return how many elements a reduction of `dim` makes one of."""
    return numel(sizes[d] for d in wrap_dims(dim, len(sizes)))


def restored(value, sizes, dim, keepdim):
    """Return a reduced value with its lost dimensions back, of size one; 0-d stays as it is."""
    if keepdim or dim is None:
        return value
    return F.reshape(value, reduced(sizes, dim, True))


def spread(g, sizes, dim, index, keepdim):
    """Return zeros of `sizes` with `g` at the places that `index` names along `dim`."""
    if not sizes:
        return F.clone(g)  # memory of its own, as where there are dimensions
    if not keepdim:
        g, index = F.unsqueeze(g, dim), F.unsqueeze(index, dim)
    return F.scatter(F.new_zeros(g, sizes), dim, index, g)


def flipped(x, dim):
    """Return the elements along `dim` in reverse order."""
    return F.flip(x, (dim,))


def shifted(x, dim, first):
    """Return the elements moved one place along `dim`; `first(part)` makes what comes first."""
    head = F.narrow(x, dim, 0, 1)
    return F.cat([first(head), F.narrow(x, dim, 0, x.shape[dim] - 1)], dim)
