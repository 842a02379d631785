"""In-place random writes of further distributions: log-normal, Cauchy, geometric.

On the CPU, all of them draw the same numbers as PyTorch: in float64, one after another.

Source: https://docs.pytorch.org/docs/stable/torch.html#in-place-random-sampling
"""

import math

import numpy as np

from ...dtypes import type_name
from ...op.publish import documented, inplace_caller
from ...tensor.tensor import method
from .generator import source
from .sampling import Drawing, drawn_like, numbers


def require_floating(name, dtype):
    """Raise `RuntimeError` unless a dtype is floating-point."""
    if dtype.kind != "f":
        raise RuntimeError(f"{name} distribution is a continuous probability distribution. dtype "
                           f"must be a floating point but you specified {type_name(dtype)}")


def transformed(generator, change, normal=False):
    """Return a function that draws numbers in float64 and returns `change(xp, numbers)`."""

    def draw(xp, shape, dtype):
        bits = source(xp, generator)
        if normal:
            drawn = bits.normal(shape, np.dtype(np.float64), 0.0, 1.0, in_pairs=True)
        else:
            drawn = bits.uniform(shape, np.dtype(np.float64), 0.0, 1.0)
        return change(xp, numbers(xp, drawn)).astype(dtype)

    return draw


class LogNormal(Drawing):
    """Log-normal random numbers, written in place.

    Raises `RuntimeError` unless std > 0.  Source: `torch.Tensor.log_normal_`.

    >>> from minigrad import manual_seed, zeros
    >>> _ = manual_seed(0)
    >>> zeros(2).log_normal_()
    tensor([59.2634,  1.5116])
    """

    def forward(xp, self, mean=1.0, std=2.0, *, generator=None):
        if not std > 0:
            raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
        if self.dtype.kind != "f":
            raise NotImplementedError(
                f"\"log_normal_cpu\" not implemented for '{type_name(self.dtype)}'")
        return drawn_like(xp, self, transformed(
            generator, lambda xp, x: xp.exp(x * std + mean), normal=True))

    def samples(make): yield make(3, 4), 0.0, 1e-300


class Cauchy(Drawing):
    """Cauchy-distributed random numbers, written in place.

    Raises `RuntimeError` unless sigma > 0.  Source: `torch.Tensor.cauchy_`.

    >>> from minigrad import manual_seed, zeros
    >>> _ = manual_seed(0)
    >>> zeros(2).cauchy_().shape
    torch.Size([2])
    """

    def forward(xp, self, median=0.0, sigma=1.0, *, generator=None):
        if not sigma > 0:
            raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
        require_floating("Cauchy", self.dtype)
        return drawn_like(xp, self, transformed(
            generator, lambda xp, x: median + sigma * xp.tan(math.pi * (x - 0.5))))

    def samples(make): yield make(3, 4), 2.0, 1e-300


class Geometric(Drawing):
    """The number of trials with probability `p` up to the first success, written in place.

    Raises `RuntimeError` unless 0 < p < 1.  Source: `torch.Tensor.geometric_`.

    >>> from minigrad import manual_seed, zeros
    >>> _ = manual_seed(0)
    >>> zeros(3).geometric_(0.5).min() >= 1
    tensor(True)
    """

    def forward(xp, self, p, *, generator=None):
        if not 0 < p < 1:
            raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
        return drawn_like(xp, self, transformed(
            generator, lambda xp, x: xp.ceil(xp.log(x) / math.log1p(-p))))

    def samples(make): yield make(3, 4), 1 - 1e-16


for _op in (LogNormal, Cauchy, Geometric):
    method(_op.name + "_")(documented(inplace_caller(_op), _op, _op.name + "_"))
