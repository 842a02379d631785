"""Functions that reduce all elements or, given `dim`, along dimensions: sum, mean, var, std."""

from typing import Any

from ...op.apply import apply
from ...op.publish import function
from .sum_mean import Mean, MeanAll, Std, StdAll, Sum, SumAll, Var, VarAll


@function(out="exact dtype dim overlap expanded")
def sum(input, dim=None, keepdim=False, *, dtype=None):
    """Return the sum of all elements, or along `dim`.

    >>> from minigrad import ones
    >>> ones(2, 3).sum(dim=1, keepdim=True).shape
    torch.Size([2, 1])
    """
    if dim is None and not keepdim:
        return apply(SumAll, [input, dtype])
    return Sum(input, dim, keepdim, dtype=dtype)


@function(out="cast overlap")
def mean(input, dim=None, keepdim=False, *, dtype=None):
    """Return the mean of all elements, or along `dim`; raise `RuntimeError` for integers.

    >>> from minigrad import tensor
    >>> tensor([[1.0, 3.0]]).mean(dim=1)
    tensor([2.])
    """
    if dim is None and not keepdim:
        return MeanAll(input, dtype=dtype)
    return Mean(input, dim, keepdim, dtype=dtype)


def spread_arguments(dim, unbiased, correction):
    """Parse the three forms of var and std: `(unbiased)`, `(dim, unbiased)`, `correction=`."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return dim, int(unbiased) if correction is None else correction


@function(out="cast overlap expanded")
def var(input, dim: Any = None, unbiased=True, keepdim=False, *, correction=None):
    """Return the variance of all elements, or along `dim`; raise `RuntimeError` for integers.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0, 3.0]).var(), tensor([1.0, 3.0]).var(unbiased=False)
    (tensor(1.), tensor(1.))
    """
    dim, correction = spread_arguments(dim, unbiased, correction)
    op = VarAll if dim is None and not keepdim else Var
    return op(input, dim, keepdim, correction=correction)


@function(out="cast overlap expanded")
def std(input, dim: Any = None, unbiased=True, keepdim=False, *, correction=None):
    """Return the standard deviation of all elements, or along `dim`.

    Raises `RuntimeError` for integers.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0, 3.0]).std()
    tensor(1.)
    """
    dim, correction = spread_arguments(dim, unbiased, correction)
    op = StdAll if dim is None and not keepdim else Std
    return op(input, dim, keepdim, correction=correction)
