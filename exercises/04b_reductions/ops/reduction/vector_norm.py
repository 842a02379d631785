# Stage 04b, Reductions, matrix products, indices: the exercise for minigrad/ops/reduction/vector_norm.py.
# Made by `minigrad dev build`. The lesson is lessons/04b_reductions.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04b
# docs/en/glossary.md explains the names used inside the package.

"""Norms of vectors, and the logarithm of a sum of exponentials.

Some ops have two node names in PyTorch, one for the reduction to a single element and one for the
reduction along dimensions.  Each of them is two ops here, and a function that chooses one.
"""

import math

from ... import dtypes
from ...dtypes import type_name
from ...op.declaration import F
from ...op.publish import function
from ...shapes import reduced
from .dims import extent, unsqueeze_reduced
from .sum_mean import Reduction, axes, require_float, wide


def check_norm_dtype(name, given, wanted):
    """Raise unless the dtype `given` converts to the floating-point dtype `wanted` without loss."""
    wanted = dtypes.as_dtype(wanted)
    if not isinstance(wanted, dtypes.dtype):
        return
    if not wanted.is_floating_point:
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got "
                           f"{type_name(wanted)}")
    if dtypes.promote_types(given, wanted) is not wanted:
        raise RuntimeError(f"{name}: the dtype of the input ({type_name(given)}) should be "
                           "convertible without narrowing to the specified dtype "
                           f"({type_name(wanted)})")


def norm_of(xp, array, p, dim, keepdim, dtype):
    """Return the p-norm of a bare array of vectors along `dim`."""
    require_float(array, "linalg.vector_norm: Expected a floating point or complex tensor as "
                         "input. Got {}")
    check_norm_dtype("linalg.vector_norm", dtypes.from_numpy_dtype(array.dtype), dtype)
    out = array.dtype if dtype is None else dtypes.numpy_of(dtype)
    axis = axes(array, dim)
    size = xp.abs(wide(xp, array.astype(out, copy=False)))
    if (p < 0 or p == math.inf) and extent(array.shape, dim) == 0:
        raise RuntimeError(f"linalg.vector_norm cannot compute the {p:g} norm on an empty tensor "
                           "because the operation does not have an identity")
    if p == math.inf:
        norm = size.max(axis=axis, keepdims=keepdim)
    elif p == -math.inf:
        norm = size.min(axis=axis, keepdims=keepdim)
    elif p == 0:
        norm = xp.add.reduce(size != 0, axis=axis, keepdims=keepdim)
    elif p == 1:
        norm = xp.add.reduce(size, axis=axis, keepdims=keepdim)
    elif p == 2:
        norm = xp.sqrt(xp.add.reduce(size * size, axis=axis, keepdims=keepdim))
    else:
        norm = xp.power(xp.add.reduce(size**p, axis=axis, keepdims=keepdim), 1 / p)
    return norm.astype(out, copy=False)


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


class LinalgVectorNorm(Norm):
    """The vector norm of `torch.linalg`: (sum |x|^ord)^(1/ord) along dimensions.

    >>> from minigrad import linalg, tensor
    >>> linalg.vector_norm(tensor([3.0, 4.0]), 1)
    tensor(7.)
    """

    node, public = "LinalgVectorNormBackward", False


@function(out="exact overlap expanded")
def norm(input, p="fro", dim=None, keepdim=False, *, dtype=None):
    """Return the p-norm of all elements, or along `dim`; "nuc" sums the singular values.

    >>> from minigrad import tensor
    >>> tensor([3.0, 4.0]).norm(), tensor([3.0, -4.0]).norm(1)
    (tensor(5.), tensor(7.))
    """
    if p is None or p == "fro":
        p = 2
    elif isinstance(p, str):
        return F.linalg_matrix_norm(input, p, (-2, -1) if dim is None else dim, keepdim,
                                    dtype=dtype)
    op = NormAll if dim is None and not keepdim else Norm
    return op(input, p, dim, keepdim, dtype=dtype)


@function()
def dist(input, other, p=2):
    """Return the p-norm of the difference of two tensors.

    >>> from minigrad import dist, tensor
    >>> dist(tensor([1.0, 2.0]), tensor([4.0, 6.0]))
    tensor(5.)
    """
    return F.norm(F.sub(input, other), p)


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
