"""Random generators of GPUs: seeds and states.

Each GPU has a generator that makes numbers on the GPU.  Setting a seed without a GPU, or without
CuPy, has no effect, as in PyTorch.

Source: https://docs.pytorch.org/docs/stable/cuda.html#random-number-generator
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..backend import DEVICES
from ..backend.random_philox import first_seeds, random_seed
from ..tensor.tensor import Tensor, from_array
from .devices import Where, backend, device_count, index_of, is_initialized


def source(where: Where = None) -> Any:
    """Return the generator of a GPU."""
    return backend().generators.default(index_of(where))


def in_use() -> range:
    """Return the numbers of all GPUs, or an empty range before the first use of one."""
    found = DEVICES.get("cuda")
    return range(0 if found is None else found.device_count())


def manual_seed(seed: int) -> None:
    """Seed the current GPU's generator; a no-op without a GPU.

    >>> manual_seed(0)
    """
    if is_initialized():
        source().manual_seed(int(seed))
    else:
        first_seeds[0] = int(seed)


def manual_seed_all(seed: int) -> None:
    """Seed all GPUs' generators; a no-op without a GPU.

    >>> from minigrad import cuda
    >>> cuda.manual_seed_all(7)
    >>> [cuda.get_rng_state(index)[0].item() for index in range(cuda.device_count())]  # sevens
    [...]
    """
    first_seeds.clear()
    first_seeds[None] = int(seed)
    for index in in_use():
        source(index).manual_seed(int(seed))


def seed() -> None:
    """Seed the current GPU's generator from the operating system.

    >>> from minigrad import cuda
    >>> cuda.seed(); first = cuda.initial_seed() if cuda.is_available() else 1
    >>> cuda.seed(); first != (cuda.initial_seed() if cuda.is_available() else 2)
    True
    """
    manual_seed(random_seed())


def seed_all() -> None:
    """Seed all GPUs' generators with one seed from the operating system.

    >>> from minigrad import cuda
    >>> cuda.seed_all()
    """
    manual_seed_all(random_seed())


def initial_seed() -> int:
    """Return the seed of the current GPU's generator.

    >>> from minigrad import cuda
    >>> cuda.manual_seed(7)
    >>> cuda.initial_seed() if cuda.is_available() else 7
    7
    """
    return int(source().initial_seed())


def get_rng_state(device: Where = "cuda") -> Tensor:
    """Return the state of a GPU's generator: its seed and offset, 16 bytes on the CPU.

    >>> from minigrad import cuda
    >>> cuda.manual_seed(7)
    >>> cuda.get_rng_state().tolist()[:2] if cuda.is_available() else [7, 0]
    [7, 0]
    """
    return from_array(source(device).get_state())


def get_rng_state_all() -> list[Tensor]:
    """Return the states of all GPUs' generators.

    >>> from minigrad import cuda
    >>> len(cuda.get_rng_state_all()) == cuda.device_count()
    True
    """
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state(new_state: Tensor, device: Where = "cuda") -> None:
    """Set the state of a GPU's generator to a result of `get_rng_state`.

    >>> from minigrad import cuda, rand
    >>> if cuda.is_available():
    ...     state = cuda.get_rng_state()
    ...     first = rand(3, device="cuda").tolist()
    ...     cuda.set_rng_state(state); assert rand(3, device="cuda").tolist() == first
    """
    if not isinstance(new_state, Tensor):
        raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
    source(device).set_state(np.ascontiguousarray(new_state.numpy()))


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Set the states of all GPUs' generators.

    >>> from minigrad import cuda
    >>> cuda.set_rng_state_all(cuda.get_rng_state_all())
    """
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
