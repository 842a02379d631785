"""Real and imaginary parts, conjugates and angles, as functions of real numbers.

Source: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

import math

from ...op.declaration import F, Unary
from ...op.publish import function
from ...tensor.tensor import method
from ..info import checked
from .comparison import Question


class Angle(Unary):
    """The angle of a number in radians: 0, or pi for negative numbers; NaN stays NaN.

    >>> from minigrad import angle, tensor
    >>> angle(tensor([2.0, -2.0]))
    tensor([0.0000, 3.1416])
    """

    out = "cast"
    promote = "float"
    inplace = False

    def forward(xp, self):
        return xp.where(xp.isnan(self), self, (self < 0) * math.pi).astype(self.dtype)

    def grad_self(g):
        return F.zeros_like(g)

    def samples(make):
        yield from (make(3, 4, low=0.3), make(3, low=-2.0, high=-0.3), make(low=0.3), make(0, 2))


class Isreal(Question):
    """True for every element, because minigrad has only real numbers.

    >>> from minigrad import isreal, tensor
    >>> isreal(tensor([1.0, -2.0]))
    tensor([True, True])
    """

    def forward(xp, self):
        return xp.ones(self.shape, bool)


@function(method_too=False, event=False)
def real(input):
    """Return the tensor itself, which is its real part. Source: `torch.real`.

    >>> from minigrad import real, tensor
    >>> real(tensor([1.0, -2.0]))
    tensor([ 1., -2.])
    """
    return checked("real", input)


@function(method_too=False, event=False)
def imag(input):
    """Raise `RuntimeError`, because real numbers have no imaginary part.  Source: `torch.imag`.

    >>> from minigrad import imag, tensor
    >>> imag(tensor(1.0))
    Traceback (most recent call last):
    RuntimeError: imag is not implemented for tensors with non-complex dtypes.
    """
    raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")


@function(event=False)
def conj(input):
    """Return the tensor itself, which is its complex conjugate. Source: `torch.conj`.

    >>> from minigrad import conj, tensor
    >>> conj(tensor([1.0, -2.0]))
    tensor([ 1., -2.])
    """
    return checked("conj", input)


@function(event=False, out="exact")
def conj_physical(input):
    """Return the tensor itself, or write it to `out`.  Source: `torch.conj_physical`.

    >>> from minigrad import conj_physical, tensor
    >>> conj_physical(tensor([1.0, -2.0]))
    tensor([ 1., -2.])
    """
    return checked("conj_physical", input)


@function(event=False)
def resolve_conj(input):
    """Return the tensor itself, which is never lazily conjugated.  Source: `torch.resolve_conj`.

    >>> from minigrad import resolve_conj, tensor
    >>> resolve_conj(tensor([1.0]))
    tensor([1.])
    """
    return checked("resolve_conj", input)


@function(event=False)
def resolve_neg(input):
    """Return the tensor itself, which is never lazily negated.  Source: `torch.resolve_neg`.

    >>> from minigrad import resolve_neg, tensor
    >>> resolve_neg(tensor([1.0]))
    tensor([1.])
    """
    return checked("resolve_neg", input)


@function(event=False)
def is_conj(input):
    """Return False: no tensor is lazily conjugated.  Source: `torch.is_conj`.

    >>> from minigrad import is_conj, tensor
    >>> is_conj(tensor(1.0))
    False
    """
    checked("is_conj", input)
    return False


@function(event=False)
def is_neg(input):
    """Return False: no tensor is lazily negated.  Source: `torch.is_neg`.

    >>> from minigrad import is_neg, tensor
    >>> is_neg(tensor(1.0))
    False
    """
    checked("is_neg", input)
    return False


@method("conj_physical_")
def conj_physical_(self):
    """Return the tensor itself, unchanged. Source: `torch.Tensor.conj_physical_`.

    >>> from minigrad import tensor
    >>> tensor([1.0, -2.0]).conj_physical_()
    tensor([ 1., -2.])
    """
    return self


method("real")(property(real))  # type: ignore[type-var]  # works for a property too
method("imag")(property(imag))  # type: ignore[type-var]  # likewise
