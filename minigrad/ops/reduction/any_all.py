"""Reductions to bools and counts: any, all, count_nonzero."""

from ...shapes import reduced
from .reduction import Reduction, axes


def asked(shape, dim=None, keepdim=False):
    """Return the shape of `any` and `all`; an empty `dim` reduces no dimension."""
    return shape if dim in ((), []) else reduced(shape, dim, keepdim)


def asked_axes(array, dim):
    """Return NumPy's `axis` for `any` and `all`; () tests each element separately."""
    return () if dim in ((), []) else axes(array, dim)


def combined(name, kernel):
    """Return the forward of `any` or `all`."""
    def forward(xp, self, dim=None, keepdim=False):
        result = getattr(xp, name)(self, axis=asked_axes(self, dim), keepdims=keepdim)
        return result.astype(self.dtype) if self.dtype == xp.uint8 else result

    return forward


class TruthReduction(Reduction, abstract=True):
    """A reduction to bools."""

    out = "exact overlap expanded"
    shape, nondifferentiable = asked, True
    backend_call = combined

    def samples(make):
        yield make.ints(3, 4, high=2)
        yield make.bools(3, 4), 0
        yield make.bools(2, 3, 4), (0, 1), True


class Any(TruthReduction):
    """True if any element is nonzero; for uint8 the result is uint8.

    >>> from minigrad import tensor
    >>> tensor([0, 1]).any()
    tensor(True)
    """


class All(TruthReduction):
    """True if all elements are nonzero; for uint8 the result is uint8.

    >>> from minigrad import tensor
    >>> tensor([0, 1]).all()
    tensor(False)
    """


class CountNonzero(Reduction):
    """The number of nonzero elements, as int64.

    >>> from minigrad import tensor
    >>> tensor([0.0, 2.0, 3.0]).count_nonzero()
    tensor(2)
    """

    nondifferentiable = True

    def forward(xp, self, dim=None):
        return xp.add.reduce(self != 0, axis=axes(self, dim), dtype=xp.int64)

    def samples(make):
        yield make.ints(3, 4, high=2)
        yield make.ints(3, 4, high=2), -1
        yield make.bools(2, 3, 4), (0, 1)
