"""The variance or the standard deviation together with the mean, as two outputs of one node."""

from typing import Any

from ...op.publish import function
from ...shapes import reduced
from .all_or_along import spread_arguments
from .array_moments import average, variance
from .sum_mean import Mean, Spread, Std, Var


def two_reduced(shape, dim=None, keepdim=False, *_):
    """Return the shapes of two results of a reduction."""
    return [reduced(shape, dim, keepdim)] * 2


class WithMean(Spread, abstract=True):
    """A variance or its square root, and the mean; the public functions return both as a tuple."""

    public = method = False
    shape, materialize = two_reduced, False

    def samples(make):
        yield make(3, 4), None
        yield make(2, 3, 4), (0, -1)
        yield make(3, 4), 0, {"keepdim": True, "correction": 0}


class VarMean(WithMean):
    """The variance and the mean.

    >>> from minigrad import tensor, var_mean
    >>> var_mean(tensor([[1.0, 3.0]]), 1)
    (tensor([2.]), tensor([2.]))
    """

    node = "VarMeanBackward0"
    outputs = ("var", "mean")

    def forward(xp, self, dim=None, keepdim=False, *, correction=1):
        var = variance(xp, self, dim, keepdim, correction, "var_mean")
        return var, average(xp, self, dim, keepdim)

    def grad_self(g_var, g_mean, self, self_sizes, dim, keepdim, correction):
        return given_sum(
            None if g_var is None else Var.grad_self(
                g_var, self, self_sizes, dim, keepdim, correction),
            None if g_mean is None else Mean.grad_self(g_mean, self_sizes, dim, keepdim))


class StdMean(WithMean):
    """The standard deviation and the mean.

    >>> from minigrad import std_mean, tensor
    >>> std_mean(tensor([[1.0, 3.0]]), 1, correction=0)
    (tensor([1.]), tensor([2.]))
    """

    node = "StdMeanBackward0"
    outputs = ("std", "mean")

    def forward(xp, self, dim=None, keepdim=False, *, correction=1):
        var = variance(xp, self, dim, keepdim, correction, "std_mean")
        return xp.sqrt(var), average(xp, self, dim, keepdim)

    def grad_self(g_std, g_mean, self, std, self_sizes, dim, keepdim, correction):
        return given_sum(
            None if g_std is None else Std.grad_self(
                g_std, self, std, self_sizes, dim, keepdim, correction),
            None if g_mean is None else Mean.grad_self(g_mean, self_sizes, dim, keepdim))


def given_sum(a, b):
    """Return the sum of two gradients; one may be `None`."""
    if a is None or b is None:
        return b if a is None else a
    return a + b


@function(method_too=False)
def var_mean(input, dim: Any = None, unbiased=True, keepdim=False, *, correction=None):
    """Return the variance and the mean.

    >>> from minigrad import tensor, var_mean
    >>> var_mean(tensor([1.0, 3.0]))
    (tensor(2.), tensor(2.))
    """
    dim, correction = spread_arguments(dim, unbiased, correction)
    return tuple(VarMean(input, dim, keepdim, correction=correction))


@function(method_too=False)
def std_mean(input, dim: Any = None, unbiased=True, keepdim=False, *, correction=None):
    """Return the standard deviation and the mean.

    >>> from minigrad import std_mean, tensor
    >>> std_mean(tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """
    dim, correction = spread_arguments(dim, unbiased, correction)
    return tuple(StdMean(input, dim, keepdim, correction=correction))
