"""rrelu: leaky relu with a random slope for each negative element.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.rrelu.html
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend import backend_of
from ...device import place_on
from ...op.declaration import F
from ...op.publish import function
from ...tensor.tensor import Tensor
from ..checks import at_each_run
from ..random.generator import Generator, source


def slopes(input: Tensor, lower: float, upper: float, training: bool,
           generator: Generator | None) -> Any:
    """Return the factor of each element: 1 if it is positive, else the slope."""
    for name, bound in (("Lower", lower), ("Upper", upper)):
        if not np.isfinite(bound):
            raise RuntimeError(f"rrelu: {name.lower()} bound must be finite, got {bound}")
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    with place_on(input._array):
        return drawn_slopes(input, lower, upper, training, generator)


@at_each_run
def drawn_slopes(input: Tensor, lower: float, upper: float, training: bool,
                 generator: Generator | None) -> Tensor:
    """Return the slopes, drawn if `training`."""
    return Tensor._plain(array_of_slopes(input._array, lower, upper, training, generator))


def array_of_slopes(array: Any, lower: float, upper: float, training: bool,
                    generator: Generator | None) -> Any:
    """Return the array of slopes."""
    xp = backend_of(array)
    low = array <= 0
    noise = xp.ones(array.shape, array.dtype)
    if training:
        draws = source(xp, generator)
        if xp.generators is not None:  # draw for every element, so that the CPU need not count
            return xp.where(low, draws.uniform(array.shape, array.dtype, lower, upper), noise)
        # one number for each nonpositive element, in row-major order
        drawn = draws.uniform(int(low.sum()), np.float64, lower, upper)
        noise[low] = xp.from_host(drawn.astype(array.dtype))
    else:
        noise[low] = (lower + upper) / 2
    return noise


@function(method_too=False)
def rrelu(input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, *,
          generator: Generator | None = None) -> Any:
    """Return x, times a random slope from [lower, upper) where negative; the mean if not training.

    Source: `torch.rrelu`.

    >>> from minigrad import rrelu, tensor
    >>> rrelu(tensor([-2.0, 3.0]), 0.25, 0.75)
    tensor([-1.,  3.])
    """
    return F.mul(input, slopes(input, lower, upper, training, generator))


@function(method_too=False)
def rrelu_(input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, *,
           generator: Generator | None = None) -> Tensor:
    """Apply `rrelu` in place. Source: `torch.rrelu_`.

    >>> from minigrad import rrelu_, tensor
    >>> rrelu_(tensor([-2.0, 3.0]), 0.25, 0.75)
    tensor([-1.,  3.])
    """
    return input.mul_(slopes(input, lower, upper, training, generator))
