"""Generators of random numbers, and the default one that everything uses unless told otherwise.

After the same seed they give PyTorch's numbers; see `backend.random_mt`.

Source: https://docs.pytorch.org/docs/stable/random.html
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from .. import _state
from ..backend.random_mt import MersenneTwister
from ..device import CPU, backend_for, device
from ..tensor import Tensor, from_array


class Generator:
    """A source of random numbers with a state of its own. Source: `torch.Generator`.

    >>> from minigrad import Generator, randint
    >>> randint(0, 10, (3,), generator=Generator().manual_seed(0))
    tensor([4, 9, 3])
    """

    def __init__(self, device: device | str = "cpu") -> None:
        backend_for(device)
        self._twister = MersenneTwister()

    @property
    def device(self) -> device:
        """Where the numbers are made: the CPU, whatever device they go to."""
        return CPU

    def manual_seed(self, seed: int) -> Generator:
        """Start the sequence of numbers that belongs to `seed`; returns the generator itself."""
        self._twister.manual_seed(int(seed))
        return self

    def seed(self) -> int:
        """Start from a seed that the operating system gives, and return it."""
        return self._twister.seed()

    def initial_seed(self) -> int:
        """Return the seed that the sequence began with."""
        return self._twister.initial_seed()

    def get_state(self) -> Tensor:
        """Return all that the next numbers depend on, as a uint8 tensor of 5056 elements."""
        return from_array(self._twister.get_state())

    def set_state(self, new_state: Tensor) -> None:
        """Go on from what `get_state` returned; `TypeError` or `RuntimeError` for anything else."""
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        self._twister.set_state(np.ascontiguousarray(new_state.numpy()))

    def clone_state(self) -> Generator:
        """Return a new generator that will give the same numbers."""
        other = Generator()
        other.set_state(self.get_state())
        return other


default_generator = Generator()
default_generator.seed()

#: What takes the default generator's place on its thread, as in a data loader's workers.
of_this_thread: ContextVar[Generator | None] = ContextVar("of_this_thread", default=None)


def current() -> Generator:
    """Return the generator that is used here unless told otherwise."""
    return of_this_thread.get() or default_generator


def twister(generator: Generator | None) -> MersenneTwister:
    """Return the source of a generator, of the default one for None."""
    if _state.randomness.get() == "error":
        raise RuntimeError("vmap: called random operation while in randomness error mode. Please "
                           "either use the 'same' or 'different' randomness flags on vmap or "
                           "perform the randomness operation out of vmap")
    if generator is None:
        return current()._twister
    if not isinstance(generator, Generator):
        raise TypeError("argument 'generator' must be torch.Generator, not "
                        f"{type(generator).__name__}")
    return generator._twister


def manual_seed(seed: int) -> Generator:
    """Start the default generator's sequence that belongs to `seed`. Source: `torch.manual_seed`.

    >>> from minigrad import manual_seed, rand
    >>> _ = manual_seed(0)
    >>> rand(2)
    tensor([0.4963, 0.7682])
    """
    return current().manual_seed(seed)


def seed() -> int:
    """Start the default generator from a seed of the operating system's. Source: `torch.seed`.

    >>> from minigrad import initial_seed, seed
    >>> seed() == initial_seed()
    True
    """
    return current().seed()


def initial_seed() -> int:
    """Return the seed the default generator began with. Source: `torch.initial_seed`.

    >>> from minigrad import initial_seed, manual_seed
    >>> _ = manual_seed(7)
    >>> initial_seed()
    7
    """
    return current().initial_seed()


def get_rng_state() -> Tensor:
    """Return the default generator's state. Source: `torch.get_rng_state`.

    >>> from minigrad import get_rng_state
    >>> get_rng_state().shape
    torch.Size([5056])
    """
    return current().get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Set the default generator's state. Source: `torch.set_rng_state`.

    >>> from minigrad import equal, get_rng_state, rand, set_rng_state
    >>> state = get_rng_state()
    >>> first = rand(2)
    >>> set_rng_state(state)
    >>> equal(first, rand(2))
    True
    """
    current().set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """Put the default generator's state back on leaving. Source: `torch.random.fork_rng`.

    >>> from minigrad.ops.generator import fork_rng
    >>> before = get_rng_state()
    >>> with fork_rng():
    ...     _ = manual_seed(1)
    >>> bool((get_rng_state().numpy() == before.numpy()).all())
    True
    """
    before = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(before)
