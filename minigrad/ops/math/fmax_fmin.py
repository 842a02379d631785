"""The elementwise maximum and minimum that ignore NaN.

Source: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

from ...op.declaration import F
from .maximum import Extreme
from .ties import tangent_of


def with_ties_to_self(wins, forward_wins):
    """Return the formulas for `fmax` or `fmin`; `wins` compares `self` with `other`.

    `forward_wins` compares them in forward mode, because there PyTorch's `fmax` breaks a tie the
    other way.
    """
    def grad_self(g, self, other):
        return F.where(F.logical_or(getattr(F, wins)(self, other), F.isnan(other)), g, 0)

    def grad_other(g, self, other):
        return F.where(F.logical_or(getattr(F, wins)(self, other), F.isnan(other)), 0, g)

    def jvp(op, values, outputs, tangents):
        self, other = values
        first = F.logical_or(getattr(F, forward_wins)(self, other), F.isnan(other))
        return (F.where(first, tangent_of(tangents, 0), tangent_of(tangents, 1)),)

    return grad_self, grad_other, jvp


class Fmax(Extreme):
    """The larger element, ignoring NaN; on a tie, `self` receives the gradient.

    >>> from minigrad import fmax, tensor
    >>> fmax(tensor([1.0, float("nan")]), tensor([3.0, 4.0]))
    tensor([3., 4.])
    """

    grad_self, grad_other, jvp = with_ties_to_self("ge", "gt")


class Fmin(Extreme):
    """The smaller element, ignoring NaN; on a tie, `self` receives the gradient.

    >>> from minigrad import fmin, tensor
    >>> fmin(tensor([1.0, float("nan")]), tensor([3.0, 4.0]))
    tensor([1., 4.])
    """

    grad_self, grad_other, jvp = with_ties_to_self("le", "le")
