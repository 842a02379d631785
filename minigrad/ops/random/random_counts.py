"""Random counts from the Poisson and the binomial distribution.

Source: https://docs.pytorch.org/docs/stable/torch.html#random-sampling
"""

from __future__ import annotations

from typing import Any

from ...dtypes import type_name
from ...frames import type_in_error
from ...op.arguments import require
from ...op.declaration import Op
from ...op.publish import function
from ...shapes import broadcast
from ...tensor.tensor import Tensor
from .generator import Generator, of_each_example, source
from .sampling import Drawing, chances, floating, numbers


class Poisson(Drawing):
    """Samples of Poisson distributions with the elements of `self` as means.

    >>> from minigrad import poisson, zeros
    >>> poisson(zeros(2))
    tensor([0., 0.])
    """

    node = "PoissonBackward0"

    def forward(xp, self, generator=None):
        floating("poisson_cpu", self.dtype)
        return numbers(xp, source(xp, generator).poisson(chances(xp, self)))

    def samples(make):
        yield make(3, 4, low=1e-4, high=1e-4)
        yield make(0, 2)


@function(method_too=False)
def poisson(input: Tensor, generator: Generator | None = None) -> Any:
    """Draw from Poisson distributions with the elements of `input` as means.

    The gradient is zero.  Raises `RuntimeError` if a mean is negative.  Source: `torch.poisson`.

    >>> from minigrad import poisson, zeros
    >>> poisson(zeros(2))
    tensor([0., 0.])
    """
    return Poisson(of_each_example(input), generator)


class Binomial(Op):
    """The number of successes; the shapes of counts and probabilities broadcast.

    >>> from minigrad import binomial, tensor
    >>> binomial(tensor([3.0, 4.0]), tensor([0.0, 1.0]))
    tensor([0., 4.])
    """

    shape, public, tensors = broadcast, False, ("count", "prob")
    nondifferentiable = not_implemented_derivative = True

    def forward(xp, count, prob, generator=None):
        require(count, "f", "binomial")
        if prob.dtype != count.dtype:
            raise RuntimeError(f"Found dtype {type_name(prob.dtype)} but expected "
                               f"{type_name(count.dtype)}")
        pair = xp.broadcast_arrays(count, prob)
        return numbers(xp, source(xp, generator).binomial(*(chances(xp, each) for each in pair)))

    def samples(make):
        yield make(3, 4, low=3.0, high=3.0), make(3, 4, low=1.0, high=1.0)
        yield make(3, low=3.0, high=3.0), make(3, low=0.0, high=0.0)
        yield make(0, 2), make(0, 2)


@function(method_too=False)
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Any:
    """Draw the number of successes in `count` trials with probability `prob`; the shapes broadcast.

    Backward raises `RuntimeError`.  Raises `ValueError` unless both are floating-point.

    Source: `torch.binomial`.

    >>> from minigrad import binomial, tensor
    >>> binomial(tensor([3.0, 4.0]), tensor([0.0, 1.0]))
    tensor([0., 4.])
    """
    for position, (name, value) in enumerate((("count", count), ("prob", prob)), 1):
        if not isinstance(value, Tensor):
            raise TypeError(f"binomial(): argument '{name}' (position {position}) must be Tensor, "
                            f"not {type_in_error(value)}")
        if not value.is_floating_point():
            raise ValueError(f"binomial only supports floating-point dtypes for {name}, got: "
                             f"{type_name(value.dtype)}")
    return Binomial(of_each_example(count), of_each_example(prob), generator)
