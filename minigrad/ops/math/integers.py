"""Common divisors and multiples of integers; decomposition into mantissa and exponent.

Source: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

from ...op.arguments import require
from ...op.declaration import Binary, F, Op


class Gcd(Binary):
    """The greatest common divisor of integers; not differentiable.  Source: `torch.gcd`.

    >>> from minigrad import gcd, tensor
    >>> gcd(tensor([12, 7]), tensor([18, 14]))
    tensor([6, 7])
    """

    kernel, nondifferentiable = ("iu", "gcd_cpu"), True

    def samples(make):
        yield make.ints(3, 4, high=20), make.ints(4, high=20)


class Lcm(Binary):
    """The least common multiple of integers; not differentiable.  Source: `torch.lcm`.

    >>> from minigrad import lcm, tensor
    >>> lcm(tensor([4, 7]), tensor([6, 14]))
    tensor([12, 14])
    """

    kernel, nondifferentiable = ("iu", "lcm_cpu"), True

    def samples(make):
        yield make.ints(3, 4, high=20), make.ints(4, high=20)


class Frexp(Op):
    """The mantissa, between 0.5 and 1 in absolute value, and the base-2 exponent of each element.

    Raises `RuntimeError` for integers.  Source: `torch.frexp`.

    >>> from minigrad import frexp, tensor
    >>> frexp(tensor([6.0])).mantissa
    tensor([0.7500])
    """

    out = "exact"
    outputs = "mantissa", "exponent"

    def shape(shape): return [tuple(shape)] * 2

    def forward(xp, self):
        if self.dtype.kind != "f":
            raise RuntimeError("torch.frexp() only supports floating-point dtypes")
        require(self, "f", "frexp_cpu")
        mantissa, exponent = xp.frexp(self)
        return mantissa, exponent.astype(xp.int32)

    def grad_self(g_mantissa, exponent):
        return g_mantissa / F.exp2(exponent)

    def samples(make):
        yield from (make(3, 4, low=0.6, high=0.9), make(low=2.2, high=3.8), make(0, 2))
