"""Common divisors and multiples of whole numbers; numbers taken apart into powers of two.

Source: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

from ...op.arguments import require
from ...op.declaration import Binary, F, Op
from ...op.publish import function
from ...tensor.tensor import method
from ..overloads import is_tensor


class Gcd(Binary):
    """The greatest common divisor of whole numbers; there is no gradient. Source: `torch.gcd`.

    >>> from minigrad import gcd, tensor
    >>> gcd(tensor([12, 7]), tensor([18, 14]))
    tensor([6, 7])
    """

    kernel, nondifferentiable = ("iu", "gcd_cpu"), True

    def samples(make):
        yield make.ints(3, 4, high=20), make.ints(4, high=20)


class Lcm(Binary):
    """The least common multiple of whole numbers; there is no gradient. Source: `torch.lcm`.

    >>> from minigrad import lcm, tensor
    >>> lcm(tensor([4, 7]), tensor([6, 14]))
    tensor([12, 14])
    """

    kernel, nondifferentiable = ("iu", "lcm_cpu"), True

    def samples(make):
        yield make.ints(3, 4, high=20), make.ints(4, high=20)


class Frexp(Op):
    """A mantissa in [0.5, 1) with its sign, and the exponent of 2, for each element.

    `RuntimeError` for whole numbers. Source: `torch.frexp`.

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


@function(out="cast")
def ldexp(input, other):
    """Return `input` times 2 to the power `other`; the shapes broadcast. Source: `torch.ldexp`.

    >>> from minigrad import ldexp, tensor
    >>> ldexp(tensor([1.0, 3.0]), tensor([3, -1]))
    tensor([8.0000, 1.5000])
    """
    for place, value in enumerate((input, other), 1):
        if not is_tensor(value):
            name = "input" if value is input else "other"
            raise TypeError(f"ldexp(): argument '{name}' (position {place}) must be Tensor, not "
                            f"{type(value).__name__}")
    return input * F.pow(2.0, other)


@method("ldexp_")
def ldexp_(self, other):
    """Multiply by 2 to the power `other`, in place."""
    return self.mul_(F.pow(2.0, other))
