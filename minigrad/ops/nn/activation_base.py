"""The base of activation functions, and the slope 0 of those with a kink."""

from ...op.declaration import Unary
from ...tensor.tensor import Tensor
from ..math.clamp_where_fill import FillNumber


class Activation(Unary, abstract=True):
    """An activation function; the samples keep away from kinks."""

    out = ""
    inplace = method = False

    def samples(make):
        yield make(3, 4, low=0.6, high=2)
        yield make(3, 4, low=-2, high=-0.6)
        yield make(low=0.2, high=0.3)
        yield make(0, 2)


def zero_depending_on(input):
    """Return zero; for a tensor zeros that depend on it, by a slope of zero.

    So the slope of a kinked line has a derivative, and a second backward pass finds a way.
    """
    return FillNumber(input, 0) if isinstance(input, Tensor) else 0
