"""Covariances and correlation coefficients."""


from ...dtypes import from_numpy_dtype, type_name
from ...frames import type_in_error, warn_user
from ...op.declaration import F
from ...op.publish import function
from ..checks import at_each_run
from ..shape.view import array_of


def check_variables(name, input):
    """Raise unless `input` is one variable, or several as rows."""
    ndim = array_of(input).ndim
    if ndim > 2:
        raise RuntimeError(f"{name}(): expected input to have two or fewer dimensions but got an "
                           f"input with {ndim} dimensions")


def check_weights(name, weights, count, kinds, wanted):
    """Raise unless `weights` fit `count` observations and have a dtype of one of the `kinds`."""
    array = array_of(weights)
    if array.ndim > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {name} "
                           f"with {array.ndim} dimensions")
    if array.dtype.kind not in kinds:
        raise RuntimeError(f"cov(): expected {name} to have {wanted} dtype but got {name} with "
                           f"{type_name(from_numpy_dtype(array.dtype))} dtype")
    if array.size != count:
        raise RuntimeError(f"cov(): expected {name} to have the same numel as there are "
                           f"observations in the input but got {array.size} != {count}")
    if count:
        check_not_negative(name, weights)


@at_each_run
def check_not_negative(name, weights):
    """Raise if a weight is negative."""
    if F.lt(F.min(weights), 0):
        raise RuntimeError(f"cov(): {name} cannot be negative")


@at_each_run
def check_total(total):
    """Raise if the weights sum to zero."""
    if total == 0:
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")


@at_each_run
def check_freedom(freedom):
    """Warn if there are too few observations for the correction."""
    if freedom <= 0:
        warn_user("cov(): degrees of freedom is <= 0. Correction should be strictly less than "
                  "the number of observations.")


@function()
def cov(input, *, correction: int = 1, fweights=None, aweights=None):
    """Return the covariance matrix of the rows of a matrix, whose columns are observations.

    `fweights` is how often each observation occurred, `aweights` how much it counts.

    >>> from minigrad import cov, tensor
    >>> cov(tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    check_variables("cov", input)
    if array_of(input).dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    if not isinstance(correction, int):
        raise TypeError("cov(): argument 'correction' must be int, not "
                        f"{type_in_error(correction)}")
    rows = input if input.ndim == 2 else F.view(input, (1, -1))
    total = count = rows.shape[1]
    weights = fweights
    if fweights is not None:
        check_weights("fweights", fweights, count, "iu", "integral")
    if aweights is not None:
        check_weights("aweights", aweights, count, "f", "floating point")
        weights = aweights if weights is None else weights * aweights
    if weights is not None:
        total = F.sum(weights)
        check_total(total)

    def weighted(x):
        return x if weights is None else x * weights

    lost = correction
    if aweights is not None and correction:
        lost = correction * F.sum(weights * aweights) / total
    freedom = total - lost
    check_freedom(freedom)
    freedom = freedom * (freedom > 0)
    centred = rows - F.unsqueeze(F.div(F.sum(weighted(rows), 1), total), 1)
    return F.squeeze(F.div(F.mm(centred, F.t(weighted(centred))), freedom))


@function()
def corrcoef(input):
    """Return the correlation coefficients of the rows of a matrix.

    >>> from minigrad import corrcoef, tensor
    >>> corrcoef(tensor([[0.0, 1.0, 2.0], [4.0, 2.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    check_variables("corrcoef", input)
    c = F.cov(input)
    if not c.ndim:
        return c / c
    deviation = F.sqrt(F.diagonal(c))
    return F.clamp(c / F.unsqueeze(deviation, 1) / deviation, -1, 1)
