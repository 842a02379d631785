"""Variants of arithmetic: swapped operands, reciprocals, sums with a product or quotient.

Source: https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

from ...op.arguments import require
from ...op.declaration import Binary, F
from ...shapes import broadcast
from ...tensor.tensor import Tensor, method
from ..overloads import is_number, overloaded
from .arithmetic_support import BOOL_SUBTRACTION, pairs_with_alpha, scaled
from .smooth import Above


class Rsub(Binary):
    """The difference with its operands swapped, `other - alpha * self`.

    >>> from minigrad import rsub, tensor
    >>> rsub(tensor([1.0, 2.0]), tensor(5.0))
    tensor([4., 3.])
    """

    overload = "rsub", 0
    inplace = False
    numbers = ("other",)
    reject_bool = True
    samples = pairs_with_alpha

    def forward(xp, self, other, *, alpha=1):
        try:
            return xp.subtract(other, scaled(xp, self, alpha))
        except TypeError:
            raise RuntimeError(BOOL_SUBTRACTION) from None

    def grad_self(g, alpha):
        return -g if alpha == 1 else g * -alpha

    def grad_other(g):
        return g


class RsubNumber(Rsub):
    """A number minus a tensor.

    >>> from minigrad import tensor
    >>> 1 - tensor([1.0, 2.0])
    tensor([ 0., -1.])
    """

    overload = "rsub", 1
    grad_other = None  # type: ignore[assignment]  # a number has none

    def samples(make):
        yield make(3, 4), 2.5
        yield make(2), 3, {"alpha": 2}


@overloaded(inplace=False, method_too=False, dunder=("__rsub__",))
def rsub(input, other, *, alpha=1):
    """Return `other - alpha * input`; `other` may be a number. Source: `torch.rsub`.

    >>> from minigrad import rsub, tensor
    >>> rsub(tensor([1.0, 2.0]), 5)
    tensor([4., 3.])
    """
    return RsubNumber if is_number(other) else Rsub, input, other, alpha


@method("__rtruediv__")
def reversed_div(self, other):
    """Divide a number by a tensor."""
    return F.mul(F.reciprocal(self), other) if is_number(other) else NotImplemented


@method("__rdiv__")
def python_2_div(self, other):
    """Divide a number or tensor by the tensor, under the operator name of Python 2."""
    if not isinstance(self, Tensor):
        raise AttributeError(f"{type(self).__name__!r} object has no attribute 'reciprocal'")
    return self.reciprocal() * other


class Reciprocal(Above):
    """`1 / self`, floating-point even for integers.

    >>> from minigrad import reciprocal, tensor
    >>> reciprocal(tensor([2, 4]))
    tensor([0.5000, 0.2500])
    """

    def forward(xp, self):
        return xp.divide(1, self)

    def grad_self(g, result):
        return -g * (result * result)


class Addcmul(Binary):
    """`self + value * tensor1 * tensor2`; the shapes broadcast.

    >>> from minigrad import addcmul, tensor
    >>> addcmul(tensor([1.0]), tensor([2.0]), tensor([3.0]), value=10)
    tensor([61.])
    """

    def forward(xp, self, tensor1, tensor2, *, value=1):
        if self.dtype.kind != "f":
            value = int(value)
        if self.dtype.kind == "b":
            broadcast(self.shape, tensor1.shape, tensor2.shape)
            require(self, "iuf", "addcmul_cpu_out")
        return self + value * tensor1 * tensor2

    def grad_self(g):
        return g

    def grad_tensor1(g, tensor2, value):
        return g * (tensor2 * value)

    def grad_tensor2(g, tensor1, value):
        return g * (tensor1 * value)

    def samples(make):
        yield make(3, 4), make(3, 1), make(4)
        yield make(2), make(2), make(2), {"value": -0.5}
        yield make(), make(), make()


class Addcdiv(Binary):
    """`self + value * tensor1 / tensor2` for floating-point tensors; the shapes broadcast.

    >>> from minigrad import addcdiv, tensor
    >>> addcdiv(tensor([1.0]), tensor([3.0]), tensor([2.0]), value=10)
    tensor([16.])
    """

    def forward(xp, self, tensor1, tensor2, *, value=1):
        if tensor1.dtype.kind != "f":
            raise RuntimeError(
                "Integer division with addcdiv is no longer supported, and in a future  release "
                "addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv "
                "behavior can be implemented as (input + value * torch.trunc(tensor1 / "
                "tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / "
                "tensor2) for float inputs. The future addcdiv behavior is just the latter "
                "implementation: (input + value * tensor1 / tensor2), for all dtypes.")
        return self + value * (tensor1 / tensor2)

    def grad_self(g):
        return g

    def grad_tensor1(g, tensor2, value):
        return g * (value / tensor2)

    def grad_tensor2(g, tensor1, tensor2, value):
        return -g * (value * tensor1 / (tensor2 * tensor2))

    def samples(make):
        yield make(3, 4), make(3, 1), make(4, low=0.5)
        yield make(2), make(2), make(2, low=0.5), {"value": -0.5}
