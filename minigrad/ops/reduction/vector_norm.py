"""Norms of vectors, and the logarithm of a sum of exponentials.

The norm has two node names in PyTorch, one for all elements and one along dimensions, so it's two
ops here, and a function in `norms` chooses one.
"""

import math

from ...op.declaration import F
from ...shapes import reduced
from .array_norm import norm_of
from .dims import unsqueeze_reduced
from .reduction import Reduction, axes, wide
from .slope_of_norm import without_slope_at_zero


def norm_backward(g, x, norm, sizes, p, dim, keepdim):
    """Return the gradient of the p-norm: g sign(x) (|x| / norm)^(p - 1), zero where undefined.

    For p = inf or -inf, the elements whose absolute value is the norm share g equally, each with
    its sign.
    """
    if p == 0:
        return F.zeros_like(x)
    g = unsqueeze_reduced(g, sizes, dim, keepdim)
    norm = unsqueeze_reduced(norm, sizes, dim, keepdim)
    if p == 1:
        return g * F.sign(x)
    if abs(p) == math.inf:
        mask = F.logical_or(F.eq(F.abs(x), norm), F.ne(x, x))
        return F.where(mask, F.div(g, F.sum(mask, dim, dim is not None)), 0) * F.sign(x)
    ratio = x / F.where(F.eq(norm, 0), math.inf, norm)  # gradient 0 if all elements are zero
    if p == 2:
        return g * ratio
    ratio = F.abs(ratio)
    if p < 1:
        ratio = F.where(F.eq(ratio, 0), math.inf, ratio)  # and at a zero, whose power is infinite
    return g * F.sign(x) * F.pow(ratio, p - 1)


class Norm(Reduction):
    """The p-norm along dimensions: (sum |x|^p)^(1/p); p = 0 counts nonzeros, inf is the maximum.

    >>> from minigrad import tensor
    >>> tensor([[3.0, 4.0]]).norm(dim=1)
    tensor([5.])
    """

    overload = "norm", 1

    def shape(x, p=2, *rest):
        return reduced(x, *rest)

    def forward(xp, self, p=2, dim=None, keepdim=False, *, dtype=None):
        return norm_of(xp, self, p, dim, keepdim, dtype)

    def grad_self(g, self, result, self_sizes, p, dim, keepdim):
        if p == 0:
            return None  # as in PyTorch, although the node exists
        if 1 < p <= 2:  # PyTorch's formulas for other orders give 0, or NaN anyway
            result = without_slope_at_zero(result)
        return norm_backward(g, self, result, self_sizes, p, dim, keepdim)

    def samples(make):
        yield make(3, 4)
        yield make(2, 3, 4), 1, (0, -1)
        yield make(3, 4), 3, 0, True
        yield make(3, low=0.5), 1.5
        yield make(3, 4, distinct=True), math.inf, 1
        yield make(3, low=0.5), -1


class NormAll(Norm):
    """The p-norm of all elements as one vector: (sum |x|^p)^(1/p).

    >>> from minigrad import tensor
    >>> tensor([[3.0], [4.0]]).norm()
    tensor(5.)
    """

    overload = "norm", 0


class Logsumexp(Reduction):
    """log(sum(exp(x))) along dimensions, without overflow.

    >>> from minigrad import tensor
    >>> tensor([1000.0, 1000.0]).logsumexp(0)
    tensor(1000.6932)
    """

    out = "cast overlap"
    promote = "float"

    def forward(xp, self, dim, keepdim=False):
        axis, work = axes(self, dim), wide(xp, self)
        if self.size == 0:
            return xp.full(reduced(self.shape, dim, keepdim), -math.inf, self.dtype)
        largest = work.max(axis=axis, keepdims=True)
        largest = xp.where(xp.isinf(largest), 0, largest)
        total = xp.add.reduce(xp.exp(work - largest), axis=axis, keepdims=True)
        result = (xp.log(total) + largest).astype(self.dtype, copy=False)
        return result.reshape(reduced(self.shape, dim, keepdim))

    def grad_self(g, self, result, self_sizes, dim, keepdim):
        softmax = F.exp(self - unsqueeze_reduced(result, self_sizes, dim, keepdim))
        return unsqueeze_reduced(g, self_sizes, dim, keepdim) * softmax
