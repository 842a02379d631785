"""Quantiles: the values below which a given fraction of the elements falls.

Source: https://docs.pytorch.org/docs/stable/generated/torch.quantile.html
"""

from ...op.declaration import F
from ...op.publish import function
from ...shapes import wrap_dim
from ..checks import at_each_run
from ..overloads import is_tensor

#: How to compute a quantile that falls between two elements.
WAYS = ("linear", "lower", "higher", "midpoint", "nearest")


def checked_shares(name, input, q, interpolation):
    """Check the arguments and return `q` as a tensor."""
    if not input.numel():
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    number = not is_tensor(q)
    if number and not 0 <= q <= 1:
        raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q:g}")
    if not number and q.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if str(input.dtype) not in ("torch.float32", "torch.float64"):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if not number and q.dtype != input.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if interpolation not in WAYS:
        raise RuntimeError(f"{name}() interpolation must be one of linear, lower, higher, midpoint "
                           f"or nearest, but got {interpolation}")
    if number:
        return F.new_full(input, (), q)
    check_range(name, q)
    return q


@at_each_run
def check_range(name, q):
    """Raise unless all elements are in [0, 1]."""
    if not F.all(F.logical_and(F.ge(q, 0), F.le(q, 1))):
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")


def quantiles(name, input, q, dim, keepdim, interpolation, ignore_nan):
    """Return the quantiles along `dim`, with the dimension of `q` first."""
    q = checked_shares(name, input, q, interpolation)
    ndim = input.ndim
    if dim is None:
        rows, reduced = F.flatten(input), (1,) * ndim
    else:
        dim = wrap_dim(dim, ndim)
        rows = F.movedim(input, dim, -1) if ndim else F.reshape(input, (1,))
        reduced = (*input.shape[:dim], *(1,) * bool(ndim), *input.shape[dim + 1:])
    rows = F.sort(rows, -1)[0]
    missing = F.isnan(rows)
    last = rows.shape[-1] - 1
    shares = F.reshape(q, (-1,)) if q.ndim else F.unsqueeze(q, 0)
    if ignore_nan:
        count = F.sum(F.logical_not(missing), -1, keepdim=True)
        ranks = F.clamp(shares * (count - 1), min=0)
    else:  # nan sorts last
        ranks = F.masked_fill(F.expand(shares * last, (*rows.shape[:-1], -1)),
                              F.any(missing, -1, keepdim=True), last)
    if interpolation in ("lower", "higher", "nearest"):
        snap = {"lower": F.floor, "higher": F.ceil, "nearest": F.round}[interpolation]
        values = F.gather(rows, -1, snap(ranks).long())
    else:
        low = ranks.long()
        weights = F.full_like(ranks, 0.5) if interpolation == "midpoint" else ranks - low
        values = F.lerp(F.gather(rows, -1, low), F.gather(rows, -1, F.ceil(ranks).long()), weights)
    values = F.movedim(values, -1, 0)
    if keepdim:
        values = F.reshape(values, (values.shape[0], *reduced))
    return values if q.ndim else F.squeeze(values, 0)


@function(out="exact")
def quantile(input, q, dim: int | None = None, keepdim=False, *, interpolation="linear"):
    """Return the `q`-th quantiles of all elements, or along `dim`; nan where an element is nan.

    `q` is a number in [0, 1], or a vector, whose dimension then is the first one of the result.
    `interpolation` is used between two elements: linear, lower, higher, midpoint or nearest.
    Raises `RuntimeError` for other values or dtypes, or for an empty input.

    Source: `torch.quantile`.

    >>> from minigrad import quantile, tensor
    >>> quantile(tensor([1.0, 2.0, 3.0, 4.0]), 0.5)
    tensor(2.5000)
    """
    return quantiles("quantile", input, q, dim, keepdim, interpolation, False)


@function(out="exact")
def nanquantile(input, q, dim: int | None = None, keepdim=False, *, interpolation="linear"):
    """Return the quantiles, ignoring nan; nan where all elements are nan.

    Source: `torch.nanquantile`.

    >>> from minigrad import nanquantile, tensor
    >>> nanquantile(tensor([1.0, float("nan"), 3.0]), 0.5)
    tensor(2.)
    """
    return quantiles("nanquantile", input, q, dim, keepdim, interpolation, True)
