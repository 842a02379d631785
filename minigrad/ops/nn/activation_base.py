"""The base class of activation functions, and the zero derivative of piecewise linear ones."""

from ...op.declaration import Unary
from ...tensor.tensor import Tensor
from ..math.clamp_where_fill import FillNumber


class Activation(Unary, abstract=True):
    """An activation function, sampled away from kinks."""

    out = ""
    inplace = method = False

    def samples(make):
        yield make(3, 4, low=0.6, high=2)
        yield make(3, 4, low=-2, high=-0.6)
        yield make(low=0.2, high=0.3)
        yield make(0, 2)


def zero_depending_on(input):
    """Return zero; for a tensor, return zeros that depend on it with derivative zero.

    This way, the derivative of a piecewise linear function is itself differentiable, so a second
    backward pass reaches the input.
    """
    return FillNumber(input, 0) if isinstance(input, Tensor) else 0


def depending_on(input, gradient):
    """Return a gradient; for tensors, let it depend on `input` with derivative zero."""
    return gradient + zero_depending_on(input) if isinstance(input, Tensor) else gradient


def softplus_of(xp, array):
    """Return log(1 + exp(x)), without overflow."""
    return xp.maximum(0, array) + xp.log1p(xp.exp(-xp.abs(array)))
