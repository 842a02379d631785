"""Random counts: the Poisson distribution.

Source: https://docs.pytorch.org/docs/stable/generated/torch.poisson.html
"""

from __future__ import annotations

from typing import Any

from ...op.publish import function
from ...tensor.tensor import Tensor
from .generator import Generator, of_each_example, source
from .sampling import Drawing, chances, floating, numbers


class Poisson(Drawing):
    """Numbers of the Poisson distributions whose means are the elements of a tensor.

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
    """Draw from Poisson distributions whose means are the elements of `input`.

    The gradient is zero. `RuntimeError` where a mean is negative. Source: `torch.poisson`.

    >>> from minigrad import poisson, zeros
    >>> poisson(zeros(2))
    tensor([0., 0.])
    """
    return Poisson(of_each_example(input), generator)
