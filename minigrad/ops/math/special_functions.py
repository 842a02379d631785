"""The error function, the gamma function and related ones; copysign, nextafter, nan_to_num.

Source: https://docs.pytorch.org/docs/stable/special.html
"""

import math

from ...op.arguments import require
from ...op.declaration import Binary, F, Unary
from ...op.publish import function
from ...tensor.tensor import method
from ..overloads import is_number, overloaded
from .smooth import Above, Smooth


class Erf(Smooth):
    """The error function; its derivative is 2 exp(-x**2) / sqrt(pi).

    >>> from minigrad import erf, tensor
    >>> erf(tensor([0.0, 1.0]))
    tensor([0.0000, 0.8427])
    """

    def grad_self(g, self):
        return g * (F.exp(-(self * self)) * (2 / math.sqrt(math.pi)))


class Erfc(Smooth):
    """1 - erf(x), accurate even for large x.

    >>> from minigrad import erfc, tensor
    >>> erfc(tensor([0.0, 1.0]))
    tensor([1.0000, 0.1573])
    """

    def grad_self(g, self):
        return g * (F.exp(-(self * self)) * (-2 / math.sqrt(math.pi)))


class Erfinv(Smooth):
    """The inverse of erf; its derivative is sqrt(pi) exp(result**2) / 2.

    >>> from minigrad import erfinv, tensor
    >>> erfinv(tensor([0.0, 0.5, 1.0]))
    tensor([0.0000, 0.4769,    inf])
    """

    def grad_self(g, self):
        result = F.erfinv(self)  # recomputed, so that the result may be written to in place
        return g * (F.exp(result * result) * (math.sqrt(math.pi) / 2))


class Lgamma(Above):
    """The logarithm of |Gamma(x)|; its derivative is digamma.

    >>> from minigrad import lgamma, tensor
    >>> lgamma(tensor([1.0, 5.0]))
    tensor([0.0000, 3.1781])
    """

    def grad_self(g, self):
        return g * F.digamma(self)


class Digamma(Above):
    """The derivative of the logarithm of Gamma; its derivative is polygamma(1).

    >>> from minigrad import digamma, tensor
    >>> digamma(tensor([1.0, 0.5]))
    tensor([-0.5772, -1.9635])
    """

    def grad_self(g, self):
        return g * F.polygamma(1, self)


class Polygamma(Above):
    """The n-th derivative of digamma.

    >>> from minigrad import polygamma, tensor
    >>> polygamma(1, tensor([1.0, 0.5]))
    tensor([1.6449, 4.9348])
    """

    public = False

    def forward(xp, self, n):
        if n < 0:
            raise RuntimeError("polygamma(n, x) does not support negative n.")
        return xp.polygamma(self, n) if n else xp.digamma(self)

    def grad_self(g, self, n):
        return g * F.polygamma(n + 1, self)

    def samples(make):
        yield make(3, 4, low=0.5, high=3), 0
        yield make(3, 4, low=0.5, high=3), 1
        yield make(low=0.5, high=3), 2


@function(method_too=False, out="cast")
def polygamma(n, input):
    """Return the `n`-th derivative of digamma.  Source: `torch.polygamma`.

    >>> from minigrad import polygamma, tensor
    >>> polygamma(2, tensor([1.0]))
    tensor([-2.4041])
    """
    return Polygamma(input, n)


@method("polygamma")
def polygamma_method(self, n):
    """Return the `n`-th derivative of digamma.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).polygamma(1)
    tensor([1.6449, 0.6449])
    """
    return Polygamma(self, n)


@method("igamma_")
def igamma_(self, other):
    """Replace each element by `igamma(self, other)`, in place.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).igamma_(tensor([1.0, 1.0]))
    tensor([0.6321, 0.2642])
    """
    return self.copy_(Igamma(self, other))


@method("igammac_")
def igammac_(self, other):
    """Replace each element by `igammac(self, other)`, in place.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).igammac_(tensor([1.0, 1.0]))
    tensor([0.3679, 0.7358])
    """
    return self.copy_(Igammac(self, other))


@method("polygamma_")
def polygamma_(self, n):
    """Replace each element by the `n`-th derivative of digamma, in place.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).polygamma_(1)
    tensor([1.6449, 0.6449])
    """
    return self.copy_(Polygamma(self, n))


@function(out="cast")
def mvlgamma(input, p: int):
    """Return the logarithm of the multivariate gamma function of dimension `p`.

    Raises `RuntimeError` for p < 1.  Source: `torch.mvlgamma`.

    >>> from minigrad import mvlgamma, tensor
    >>> mvlgamma(tensor([2.0]), 2)
    tensor([0.4516])
    """
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    total = F.lgamma(input)
    for i in range(1, p):
        total = total + F.lgamma(input - i / 2)
    return total + p * (p - 1) / 4 * math.log(math.pi)


@method("mvlgamma_")
def mvlgamma_(self, p):
    """Replace each element by the log of the multivariate gamma function, in place.

    >>> from minigrad import tensor
    >>> tensor([2.0, 3.0]).mvlgamma_(2)
    tensor([0.4516, 1.5502])
    """
    return self.copy_(F.mvlgamma(self, p))


class Igamma(Binary):
    """The regularized lower incomplete gamma function P(self, other).

    It is the share of the integral of t**(self - 1) exp(-t) below `other`.  As in PyTorch, there is
    no derivative with respect to `self`.

    >>> from minigrad import igamma, tensor
    >>> igamma(tensor([1.0, 2.0]), tensor([1.0, 1.0]))
    tensor([0.6321, 0.2642])
    """

    node = "IgammaBackward0"
    inplace = False

    def forward(xp, self, other):
        require(self, "f", "igamma_cpu")
        return xp.gammainc(*xp.broadcast_arrays(self, other))

    def grad_self(g):
        raise NotImplementedError("the derivative for 'igamma: input' is not implemented.")

    def grad_other(g, self, other):
        return g * F.exp((self - 1) * F.log(other) - other - F.lgamma(self))

    def samples(make):
        yield make(3, 4, low=0.5, high=3).detach(), make(3, 4, low=0.5, high=3)
        yield make(3, 1, low=0.5, high=3).detach(), make(low=0.5, high=9)
        yield make(0, 2).detach(), make(2, low=0.5)


class Igammac(Igamma):
    """The regularized upper incomplete gamma function Q(self, other).

    It is the share of the integral of t**(self - 1) exp(-t) above `other`.  As in PyTorch, there is
    no derivative with respect to `self`.

    >>> from minigrad import igammac, tensor
    >>> igammac(tensor([1.0, 2.0]), tensor([1.0, 1.0]))
    tensor([0.3679, 0.7358])
    """

    node = "IgammacBackward0"

    def forward(xp, self, other):
        require(self, "f", "igammac_cpu")
        return xp.gammaincc(*xp.broadcast_arrays(self, other))

    def grad_self(g):
        raise NotImplementedError("the derivative for 'igammac: input' is not implemented.")

    def grad_other(g, self, other):
        return -Igamma.grad_other(g, self, other)


class CopysignTensors(Binary):
    """The magnitude of `self` with the sign of `other`; its derivative is 1, -1 or 0.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).copysign(tensor([-1.0, 1.0]))
    tensor([-1.,  2.])
    """

    function = "copysign"
    overload = "copysign", 0
    promote = "float"

    def grad_self(g, self, result):
        return g * F.where(F.eq(self, 0), 0, result / self)

    def grad_other(g, result, other_sizes):
        return F.new_zeros(g, other_sizes)

    def samples(make):
        yield make(3, 4, low=0.5), make(4, low=-2, high=-0.5)
        yield make(3, 1, low=-2, high=-0.5), make(low=0.5)


class CopysignNumber(CopysignTensors):
    """The magnitude of `self` with the sign of a number.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).copysign(-0.0)
    tensor([-1., -2.])
    """

    overload = "copysign", 1
    tensors = ("self",)
    grad_other = None  # type: ignore[assignment]  # a number has none

    def samples(make):
        yield make(3, 4, low=0.5), -1.0


@overloaded(out="cast")
def copysign(input, other):
    """Return the magnitude of `input` with the sign of `other`. Source: `torch.copysign`.

    >>> from minigrad import copysign, tensor
    >>> copysign(tensor([1.0, -2.0]), -1)
    tensor([-1., -2.])
    """
    return CopysignNumber if is_number(other) else CopysignTensors, input, other


class Nextafter(Binary):
    """The next representable number after each element, toward `other`.

    >>> from minigrad import nextafter, tensor
    >>> nextafter(tensor(1.0), tensor(2.0)).item()
    1.0000001192092896
    """

    kernel = "f", "nextafter_cpu"

    def grad_self(g, self, other):
        return F.where(F.eq(self, other), 0, g)

    def grad_other(g, other_sizes):
        return F.new_zeros(g, other_sizes)


class NanToNum(Unary):
    """Replace NaN and infinities, by default with 0 and the largest and smallest finite numbers.

    >>> from minigrad import nan_to_num, tensor
    >>> nan_to_num(tensor([1.0, float("nan"), float("inf")]), posinf=9)
    tensor([1., 0., 9.])
    """

    out = "exact"
    def forward(xp, self, nan=None, posinf=None, neginf=None):
        return xp.nan_to_num(self, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)

    def grad_self(g, self):
        return F.where(F.isfinite(self), g, 0)

    def samples(make):
        yield make(3, 4)
        yield make(2), 1.0, 2.0, 3.0
        yield make(0, 2)
