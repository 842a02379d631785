"""A device that has shapes and no numbers: what would a network need, if it did not run?

    minigrad python --mine 12 ghost.py
    minigrad python --mine 12 ghost.py 4096 16384 4096       a batch, and the widths of layers
"""

from __future__ import annotations

import argparse
import itertools
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

import minigrad as torch
from minigrad import backend as backends
from minigrad.backend.kernels import Kernels
from minigrad.tensor import Tensor


class Ghost(NDArrayOperatorsMixin):
    """A shape and a dtype. `stand_in` has both, and the memory of one number for all elements."""

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.stand_in = np.broadcast_to(np.zeros((), dtype), shape)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self.stand_in, name)
        return (lambda *args, **more: ghostly(value(*args, **more))) if callable(value) else (
            ghostly(value))

    def __getitem__(self, key: Any) -> Any:
        return ghostly(self.stand_in[key])

    def __len__(self) -> int:
        return len(self.stand_in)

    def copy(self, order: str = "C") -> Ghost:
        """Return another ghost: `stand_in.copy` would make room for all elements."""
        return Ghost(self.shape, self.dtype)

    def astype(self, dtype: Any, **_: Any) -> Ghost:
        """Return a ghost of another dtype."""
        return Ghost(self.shape, dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **more: Any) -> Any:
        """Find out shape and dtype of `np.add(a, b)`, `a * b`, `np.add.reduce(a)` and the like."""
        if method == "reduce":
            return reduced(ufunc, *given, **more)
        # Arrays without elements have a dtype, and cost nothing.
        empty = [np.empty(0, each.dtype) if isinstance(each, Ghost) else each for each in given]
        shapes = [getattr(each, "shape", ()) for each in given]
        if ufunc is np.matmul:
            left, right = shapes
            shape = (*np.broadcast_shapes(left[:-2], right[:-2]), left[-2], right[-1])
            return Ghost(shape, np.result_type(*empty))
        return Ghost(np.broadcast_shapes(*shapes), ufunc(*empty).dtype)


def reduced(ufunc: np.ufunc, array: Ghost, axis: Any = 0, dtype: Any = None,
            keepdims: bool = False, **_: Any) -> Ghost:
    """Return what is left when dimensions are reduced."""
    axes = range(array.ndim) if axis is None else np.atleast_1d(axis) % array.ndim
    shape = tuple(1 if d in axes else n for d, n in enumerate(array.shape)
                  if keepdims or d not in axes)
    return Ghost(shape, dtype or ufunc.reduce(np.ones(1, array.dtype)).dtype)


def ghostly(value: Any) -> Any:
    """Return a ghost in the place of a NumPy array."""
    return Ghost(value.shape, value.dtype) if isinstance(value, np.ndarray) else value


class GhostBackend(Kernels):
    """NumPy's names, for ghosts."""

    name = device_type = "ghost"
    array_type: type = Ghost
    run_op = None

    def __getattr__(self, name: str) -> Any:
        value = getattr(np, name)
        if isinstance(value, type | np.ufunc) or not callable(value):
            return value  # a ufunc asks its arguments
        return lambda *given, **more: ghostly(value(*(
            each.stand_in if isinstance(each, Ghost) else each for each in given), **more))

    def as_array(self, value: Any) -> Any:
        """Return ghosts as they are; a number becomes a ghost of one."""
        return value if isinstance(value, Ghost) else ghostly(np.asarray(value))

    def as_strided(self, array: Any, shape: tuple[int, ...], *_: Any) -> Any:
        """Return another view of an array: its shape is all that counts."""
        return Ghost(shape, array.dtype)

    def from_host(self, array: Any) -> Any:
        """Forget the values of an array."""
        return ghostly(array)

    def to_host(self, array: Any) -> Any:
        """Refuse: there are no values."""
        raise RuntimeError("a ghost has no values")

    def device_index(self, array: Any) -> None:
        """There is one ghost device."""

    def place_of(self, arrays: Any) -> None:
        """No place has to be entered."""


def leaf(*shape: int) -> Any:
    """Return a ghost that requires grad."""
    return Tensor._plain(Ghost(shape, np.float64)).requires_grad_()


def size(tensor: Any) -> str:
    """Return a tensor's shape, and what it would take in memory."""
    count = int(np.prod(tensor.shape, dtype=object))
    return f"{tuple(tensor.shape)!s:16} {count * 8:>15,} bytes"


def main() -> None:
    """Run a network forward and backward."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sizes", nargs="*", type=int, default=[1000, 1, 1000],
                        help="the batch, then the widths of the layers (1000 1 1000)")
    sizes = parser.parse_args().sizes
    if len(sizes) < 3 or min(sizes) < 1:
        parser.error("a batch and at least two widths, all positive")
    backends.register(GhostBackend())
    x = leaf(*sizes[:2])
    weights = [leaf(*pair) for pair in itertools.pairwise(sizes[1:])]
    print(f"{'input':9} {size(x)}")
    for number, weight in enumerate(weights, 1):
        x = torch.matmul(x, weight).tanh()
        print(f"layer {number:<3} {size(x)}")
    x.sum().backward()
    for number, weight in enumerate(weights, 1):
        print(f"grad {number:<4} {size(weight.grad)}  on {weight.grad.device}")
    print("and not a number was computed")


if __name__ == "__main__":
    main()
