"""The state of a counter-based generator: a seed, and the number of words drawn since.

Philox4x32-10 makes four random 32-bit words from a counter and a key: the key is the seed, and the
counter follows from the index of a word.  So words can be made in any order, by any number of
threads, and a state is just two numbers on the host.  The words themselves are made on the device,
in `cupy/sources_random.py`.

Source: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
2011.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Self

import numpy as np

from .random_checks import check_seed

DEFAULT_SEED = 67280421310721

# The byte layout of torch.cuda.get_rng_state().
_STATE = np.dtype([("seed", "<u8"), ("offset", "<u8")])

#: The initial seeds of the devices' default generators by device number, or None for all other
#: devices.  They may be set before such a generator exists, even before CuPy is imported.
first_seeds: dict[int | None, int] = {}


class PhiloxState:
    """A seed and an offset, which is the number of words drawn, a multiple of four.

    >>> PhiloxState(7).take(3), PhiloxState(7).initial_seed()
    (0, 7)
    """

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self._lock = threading.RLock()
        self._seed = self.offset = 0
        self.manual_seed(seed)

    def manual_seed(self, seed: int) -> Self:
        """Set the seed and restart; negative seeds are taken modulo 2**64."""
        with self._lock:
            self._seed, self.offset = check_seed(seed), 0
        return self

    def seed(self) -> int:
        """Restart with a seed from the operating system and return it."""
        seed = random_seed()
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """Return the current seed."""
        return self._seed

    def get_state(self) -> Any:
        """Return seed and offset as a uint8 array of shape (16,), in PyTorch's layout.

        >>> PhiloxState(1).get_state().tolist()
        [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        """
        record = np.zeros(1, _STATE)
        with self._lock:
            record["seed"], record["offset"] = self._seed, self.offset
        return record.view(np.uint8)

    def set_state(self, state: Any) -> None:
        """Set the state to a result of `get_state`; raise `RuntimeError` if it is not one.

        >>> state = PhiloxState(5)
        >>> state.set_state(PhiloxState(1).get_state()); state.initial_seed()
        1
        """
        if state.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if state.size != _STATE.itemsize:
            raise RuntimeError("RNG state is wrong size")
        record = np.frombuffer(state.tobytes(), _STATE)[0]
        if record["offset"] % 4:
            raise RuntimeError("offset must be a multiple of 4")
        with self._lock:
            self._seed, self.offset = int(record["seed"]), int(record["offset"])

    def take(self, counters: int) -> int:
        """Return the offset of the next words, and advance it by four for each counter."""
        with self._lock:
            start = self.offset
            self.offset = (start + 4 * counters) % 2**64
        return start


def random_seed() -> int:
    """Return a 53-bit seed from the operating system."""
    return int.from_bytes(os.urandom(8), "little") % 2**53


def first_seed(index: int) -> int:
    """Return the initial seed of a device's generator."""
    found = first_seeds.get(index, first_seeds.get(None))
    return random_seed() if found is None else found
