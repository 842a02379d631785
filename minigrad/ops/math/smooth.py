"""Base classes for smooth functions of one tensor, which convert integers to floating point."""

from ...op.declaration import Unary


class Smooth(Unary, abstract=True):
    """A smooth function of one floating-point tensor."""

    promote = "float"

    def samples(make):
        yield from (make(3, 4, low=-0.9, high=0.9), make(low=0.1, high=0.9), make(0, 2))


class Above(Smooth, abstract=True):
    """A `Smooth` function that is sampled at positive numbers."""

    def samples(make):
        yield from (make(3, 4, low=1.1, high=3), make(low=1.1, high=3), make(0, 2))
