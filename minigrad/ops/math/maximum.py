"""The elementwise maximum and minimum of two tensors.

Source: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

from ...op.declaration import Binary, F


class Extreme(Binary, abstract=True):
    """The larger or the smaller of two elements."""

    inplace = False

    def samples(make):  # keep paired elements apart
        yield make(3, 4, low=0.1, high=1), make(3, 4, low=-1, high=-0.1)
        yield make(3, 1, low=-1, high=-0.1), make(4, low=0.1, high=1)
        yield make(low=0.1, high=1), make(2, low=-1, high=-0.1)
        yield make(0, 2), make(2)


def share(g, loses, tie):
    """Return one operand's part of `g`; `loses` and `tie` are bool.

    >>> import numpy as np
    >>> loses, tie = np.array([False, True, False]), np.array([False, False, True])
    >>> share(np.array([8.0, 8.0, 8.0]), loses, tie)
    array([8., 0., 4.])
    """
    return F.where(tie, g / 2, F.where(loses, 0, g))


class Maximum(Extreme):
    """The larger of two elements, or NaN if either is; a tie shares the gradient equally.

    >>> from minigrad import maximum, tensor
    >>> maximum(tensor([1, 5]), tensor([3]))
    tensor([3, 5])
    """

    def forward(xp, self, other):
        return xp.maximum(other, self)  # of 0.0 and -0.0, return `self`, as in PyTorch

    def grad_self(g, self, other):
        return share(g, F.lt(self, other), F.eq(self, other))

    def grad_other(g, self, other):
        return share(g, F.lt(other, self), F.eq(self, other))


class Minimum(Extreme):
    """The smaller of two elements, or NaN if either is; a tie shares the gradient equally.

    >>> from minigrad import minimum, tensor
    >>> minimum(tensor([1, 5]), tensor([3]))
    tensor([1, 3])
    """

    def forward(xp, self, other):
        return xp.minimum(other, self)

    def grad_self(g, self, other):
        return share(g, F.gt(self, other), F.eq(self, other))

    def grad_other(g, self, other):
        return share(g, F.gt(other, self), F.eq(self, other))
