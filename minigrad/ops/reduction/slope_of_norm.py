"""The second derivative of a norm where the norm is zero."""

import math

from ...op.declaration import F, Op
from ...tensor.tensor import Tensor


class NoSlopeAtZero(Op):
    """Norms in a first derivative; their own derivative is NaN at zero, because it does not exist.

    >>> from minigrad import tensor
    >>> x = tensor([0.0, 2.0], requires_grad=True)
    >>> NoSlopeAtZero(x).sum().backward(); x.grad
    tensor([nan, 1.])
    """

    kind, public = "elementwise", False

    def forward(xp, self): return self.copy()

    def grad_self(g, self):
        return F.where(F.eq(self, 0), math.nan, g)

    def samples(make):
        yield make(3)


def without_slope_at_zero(norm):
    """Return the norm; a second derivative through it is NaN where it is zero, as in PyTorch."""
    return NoSlopeAtZero(norm) if isinstance(norm, Tensor) else norm
