# Stage 04b, Reductions, matrix products, indices: the exercise for minigrad/ops/reduction/vector_norm.py.
# Made by `minigrad dev build`. The lesson is lessons/04b_reductions.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04b
# docs/en/glossary.md explains the names used inside the package.

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
    # 04b.3 Norms and logsumexp (about 18 lines)
    # Return the gradient of the p-norm. For `Logsumexp`, log(sum(exp(self))), it's g
    # times the softmax. `g`, `norm` and `result` have lost their dimensions.
    #   p = 3: x = [3, -4], norm 4.4979, g = 10  -> [4.4485, -7.9085]
    #   p = 2: x = [0, 3], norm 3, g = 1         -> [0, 1]; its slope at the 0 is 0.3333
    #   p = inf: x = [-5, 1, 5], norm 5, g = 3   -> [-1.5, 0, 1.5]
    #   p = -inf: x = [3, -1, 2], norm 1, g = 2  -> [0, -2, 0]
    #   p = 0.5: x = [0, 2], norm 2, g = 3       -> [0, 3]
    #   logsumexp: self = [1000, 1000], g = 3    -> [1.5, 1.5]
    # Mind:
    # - p = 0 counts elements: return zeros like x.
    # - Where the norm is 0, the gradient is 0, and for p < 1, also where an element is.
    # - Along a dimension, only elements of the same slice share.
    # - exp(self) may overflow where the softmax doesn't.
    # Use: `unsqueeze_reduced`, `F.sign`, `F.abs`, `F.pow`, `F.eq`, `F.where`, `F.sum(t,
    # dim, keepdim)`, `F.exp`, `F.zeros_like`; they work on arrays and tensors.
    raise NotImplementedError("04b.3 Norms and logsumexp is yours to write")


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
        # 04b.3 Norms and logsumexp: see the task at `norm_backward`.
        raise NotImplementedError("04b.3 Norms and logsumexp is yours to write")
