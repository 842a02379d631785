# Stage 04a, Operators, element by element: the exercise for minigrad/ops/math/maximum.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04a
# docs/en/glossary.md explains the names used inside the package.

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
    # 04a.7 Gradients at a kink (about 2 lines)
    # relu passes `g` on where its result is positive, and returns 0 elsewhere, even at 0.
    # `share` returns the part of `g` that one operand of maximum or minimum gets: 0 if it
    # loses, half at a tie, and otherwise everything.
    #   relu at [-2, 0, 3], g = [5, 6, 7]  -> [0, 0, 7]
    #   share([8, 6, 5], loses=[False, True, False], tie=[False, False, True])  -> [8, 0, 2.5]
    # Mind:
    # - An infinite `g` must not turn a 0 into nan.
    # - Don't write to the arguments.
    # Use: `F.where(condition, a, b)`, `F.le`; `zero_depending_on(result)`, a 0 that keeps
    # second derivatives possible.
    raise NotImplementedError("04a.7 Gradients at a kink is yours to write")


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
