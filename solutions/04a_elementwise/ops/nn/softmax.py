# Stage 04a, Operators, element by element: the solution for minigrad/ops/nn/softmax.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""The softmax along a dimension, and its logarithm.

A backend may supply its own kernel, named by `own_kernel`, which then runs instead of the formula.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html
"""

from ...backend.memory_layout import in_rows
from ...op.arguments import require
from ...op.declaration import F, Op
from ...op.publish import function
from ...shapes import wrap_dim
from ..kernels import own_kernel
from ..reduction.cumulative import checked
from ..reduction.reduction import numpy_type, wide


def stable_softmax(xp, x, axis):
    """Return exp(x) / sum(exp(x)) along an axis of a floating-point array, without overflow.

    >>> import numpy as np
    >>> stable_softmax(np, np.array([1000.0, 1000.0]), 0)
    array([0.5, 0.5])
    """
    e = xp.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def stable_log_softmax(xp, x, axis):
    """Return the log of the softmax, finite even where the softmax underflows to zero.

    >>> import numpy as np
    >>> stable_log_softmax(np, np.array([0.0, 1000.0]), 0)
    array([-1000.,     0.])
    """
    x = x - x.max(axis=axis, keepdims=True)
    return x - xp.log(xp.exp(x).sum(axis=axis, keepdims=True))


def run_along(xp, function, array, dim, dtype, kernel):
    """Run one of the two functions above on an array; handle integers, empty and 0-d arrays.

    float16 is computed in float32.
    """
    out = numpy_type(dtype) or array.dtype
    array = in_rows(array).astype(out, copy=False)
    dim = wrap_dim(dim, array.ndim)
    if not array.size:
        return array.copy()
    work = wide(xp, array) if array.ndim else wide(xp, array).reshape(1)
    require(array, "f", f"{kernel}{'_lastdim' * (dim == work.ndim - 1)}_kernel_impl")
    result = function(xp, work, dim)
    return result.astype(out, copy=False).reshape(array.shape)


class SoftmaxOp(Op, abstract=True):
    """A softmax or its logarithm."""

    out = "exact overlap"
    shape = checked

    def samples(make):
        yield make(3, 4), 0
        yield make(2, 3, 4), -1
        yield make(), 0
        yield make(0, 3), 1


class Softmax(SoftmaxOp):
    """exp(x) / sum(exp(x)) along a dimension.

    >>> from minigrad import tensor
    >>> tensor([0.0, 0.0]).softmax(0)
    tensor([0.5000, 0.5000])
    """

    @own_kernel("softmax")
    def forward(xp, self, dim, dtype=None):
        return run_along(xp, stable_softmax, self, dim, dtype, "softmax")

    @own_kernel("softmax_gradient")
    def grad_self(g, result, dim):
        weighted = g * result
        return weighted - result * F.sum(weighted, dim, True)


class LogSoftmax(SoftmaxOp):
    """log(softmax(x)) along a dimension, without overflow.

    >>> from minigrad import tensor
    >>> tensor([0.0, 0.0]).log_softmax(0)
    tensor([-0.6931, -0.6931])
    """

    @own_kernel("log_softmax")
    def forward(xp, self, dim, dtype=None):
        return run_along(xp, stable_log_softmax, self, dim, dtype, "log_softmax")

    @own_kernel("log_softmax_gradient")
    def grad_self(g, result, dim):
        return g - F.exp(result) * F.sum(g, dim, True)


@function(method_too=False)
def softmin(input, dim, dtype=None):
    """Return the softmax of the negated input.

    >>> from minigrad import softmin, tensor
    >>> softmin(tensor([0.0, 0.0]), 0)
    tensor([0.5000, 0.5000])
    """
    return F.softmax(-input, dim, dtype=dtype)
