"""Random number generators, and the default ones that ops use unless you pass one.

With the same seed, CPU generators return the same numbers as PyTorch; see `backend.random_mt`.
Each GPU has a separate default generator, which draws on that GPU; see `backend.random_philox`.

Source: https://docs.pytorch.org/docs/stable/random.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ... import _state
from ...backend import backend_of
from ...backend.random_mt import MersenneTwister
from ...cuda import random as of_devices
from ...device import CPU, as_device, backend_for, device
from ...frames import type_in_error
from ...op.publish import function
from ...tensor.tensor import Tensor, from_array


class Generator:
    """A source of random numbers with a separate state.  Source: `torch.Generator`.

    >>> from minigrad import Generator, randint
    >>> randint(0, 10, (3,), generator=Generator().manual_seed(0))
    tensor([4, 9, 3])
    """

    __module__ = "minigrad"  # as in PyTorch: pickles name it

    def __init__(self, device: device | str | int = "cpu") -> None:
        own = backend_for(device).generators
        self._source: Any = MersenneTwister() if own is None else own.new()
        self._device = CPU if own is None else as_device(device)
        if own is not None and (self._device.index or 0) >= backend_for(device).device_count():
            raise RuntimeError("The device_index is invalid.")

    @property
    def device(self) -> device:
        """The device of the generator.

        >>> from minigrad import Generator
        >>> Generator().device
        device(type='cpu')
        """
        return self._device

    def manual_seed(self, seed: int) -> Generator:
        """Restart the generator from `seed`, and return the generator itself.

        >>> from minigrad import Generator
        >>> Generator().manual_seed(7).initial_seed()
        7
        """
        self._source.manual_seed(int(seed))
        return self

    def seed(self) -> int:
        """Restart from a seed drawn from the operating system, and return the seed.

        >>> from minigrad import Generator
        >>> generator = Generator(); generator.seed() == generator.initial_seed()
        True
        """
        return int(self._source.seed())

    def initial_seed(self) -> int:
        """Return the seed that the generator was last started from.

        >>> from minigrad import Generator
        >>> Generator().manual_seed(7).initial_seed()
        7
        """
        return int(self._source.initial_seed())

    def get_state(self) -> Tensor:
        """Return the state that determines the next numbers, as a uint8 tensor on the CPU.

        It has 5056 elements, or 16 for a GPU generator.

        >>> from minigrad import Generator, rand
        >>> generator = Generator(); state = generator.get_state(); state.shape, state.dtype
        (torch.Size([5056]), torch.uint8)
        >>> first = rand(1, generator=generator); _ = generator.set_state(state)
        >>> first == rand(1, generator=generator)
        tensor([True])
        """
        return from_array(self._source.get_state())

    def set_state(self, new_state: Tensor) -> Generator:
        """Continue from a state returned by `get_state`; raise for anything else.

        >>> from minigrad import Generator, rand
        >>> one, other = Generator().manual_seed(7), Generator()
        >>> _ = other.set_state(one.get_state())
        >>> rand(2, generator=one), rand(2, generator=other)
        (tensor([0.5349, 0.1988]), tensor([0.5349, 0.1988]))
        """
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type_in_error(new_state)}")
        array = new_state._array
        self._source.set_state(np.ascontiguousarray(backend_of(array).to_host(array)))
        return self

    def clone_state(self) -> Generator:
        """Return a new generator that draws the same numbers from here on.

        >>> from minigrad import Generator, rand
        >>> generator = Generator().manual_seed(7); other = generator.clone_state()
        >>> rand(2, generator=generator), rand(2, generator=other)
        (tensor([0.5349, 0.1988]), tensor([0.5349, 0.1988]))
        """
        other = Generator(self.device)
        other.set_state(self.get_state())
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        """Let `copy` and `pickle` make a new generator with the same state."""
        return restored, (str(self.device), self.initial_seed(), self.get_state())


def restored(device: str, seed: int, state: Tensor) -> Generator:
    """Return a new generator with the given initial seed and state."""
    return Generator(device).manual_seed(seed).set_state(state)


default_generator = Generator()
default_generator.seed()

#: The generator that replaces the default one on this thread, for example in a data loader worker.
of_this_thread: ContextVar[Generator | None] = ContextVar("of_this_thread", default=None)


def current() -> Generator:
    """Return the default generator of this thread."""
    return of_this_thread.get() or default_generator


def source(xp: Any, generator: Generator | None) -> Any:
    """Return the source of a generator, or of the default one, for arrays of a backend.

    This is a `MersenneTwister`, which draws on the CPU, or an object with the same methods that
    draws on the current device.  Raises `RuntimeError` if the generator belongs to another device.
    """
    if _state.randomness.get() == "error":
        raise RuntimeError("vmap: called random operation while in randomness error mode. Please "
                           "either use the 'same' or 'different' randomness flags on vmap or "
                           "perform the randomness operation out of vmap")
    if _state.drawn.get() is not None:
        raise RuntimeError("vmap: Cannot ask for different inplace randomness on an unbatched "
                           "tensor. This will appear like same randomness. Give the operation a "
                           "batched tensor, or use what `rand` or `randn` draws.")
    if _state.observers.count and (recording := _state.program.get()) is not None:
        recording.draws_from(current() if generator is None else generator)
    if generator is None:
        return current()._source if xp.generators is None else xp.generators.default()
    if not isinstance(generator, Generator):
        raise TypeError("argument 'generator' must be torch.Generator, not "
                        f"{type_in_error(generator)}")
    wanted = "cpu" if xp.generators is None else xp.device_type
    if generator.device.type != wanted:
        raise RuntimeError(f"Expected a '{wanted}' device type for generator but found "
                           f"'{generator.device.type}'")
    return generator._source


#: The error if examples should share random numbers, but a batch determines their distribution.
BY_A_BATCH = ("Vmap does not currently support same randomness with a batched tensor input: "
              "numbers that are the same for all examples have to be drawn without one.")


def for_each_example(draw: Callable[[tuple[int, ...]], Tensor]) -> Tensor:
    """Call `draw(sizes)`, which returns a tensor `(*sizes, ...)`; return each example's part of it.

    `sizes` are the batch sizes of `vmap(randomness="different")`, or () outside of it.
    """
    batches = _state.drawn.get()
    if batches is None:
        return draw(())
    with _state.having(_state.drawn, None):
        drawn = draw(batches.sizes)
    example: Tensor = batches.example(drawn)
    return example


def of_each_example(value: Any) -> Any:
    """Return a copy of a tensor for each example if the examples draw different numbers."""
    batches = _state.drawn.get()
    if batches is None or not isinstance(value, Tensor) or batches.holds(value):
        return value
    if _state.randomness.get() == "same" and backend_of(value._array).run_op is not None:
        return value  # a batch of an inner `vmap`
    return batches.example(batches.of(value).clone())


def manual_seed(seed: int) -> Generator:
    """Restart the generators of all devices from `seed`.  Source: `torch.manual_seed`.

    >>> from minigrad import manual_seed, rand
    >>> _ = manual_seed(0)
    >>> rand(2)
    tensor([0.4963, 0.7682])
    """
    if of_this_thread.get() is None:  # a data loader worker seeds only itself
        of_devices.manual_seed_all(seed)
    return current().manual_seed(seed)


def seed() -> int:
    """Restart all devices from a seed of the operating system.  Source: `torch.seed`.

    >>> from minigrad import initial_seed, seed
    >>> seed() == initial_seed()
    True
    """
    chosen = current().seed()
    if of_this_thread.get() is None:
        of_devices.manual_seed_all(chosen)
    return chosen


def initial_seed() -> int:
    """Return the default generator's initial seed.  Source: `torch.initial_seed`.

    >>> from minigrad import initial_seed, manual_seed
    >>> _ = manual_seed(7)
    >>> initial_seed()
    7
    """
    return current().initial_seed()


def get_rng_state() -> Tensor:
    """Return the state of the default generator.  Source: `torch.get_rng_state`.

    >>> from minigrad import get_rng_state
    >>> get_rng_state().shape
    torch.Size([5056])
    """
    return current().get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Set the state of the default generator.  Source: `torch.set_rng_state`.

    >>> from minigrad import equal, get_rng_state, rand, set_rng_state
    >>> state = get_rng_state()
    >>> first = rand(2)
    >>> set_rng_state(state)
    >>> equal(first, rand(2))
    True
    """
    current().set_state(new_state)


class States:
    """The states of the default generators: of the CPU, and of some or all GPUs."""

    def __init__(self, devices: Iterable[Any] | None = None) -> None:
        self.cpu = get_rng_state()
        where = of_devices.in_use() if devices is None else devices
        self.devices = [(each, of_devices.get_rng_state(each)) for each in where]

    def restore(self) -> None:
        """Set the generators back to these states."""
        set_rng_state(self.cpu)
        for each, state in self.devices:
            of_devices.set_rng_state(state, each)


@contextmanager
def fork_rng(devices: Iterable[Any] | None = None, enabled: bool = True) -> Iterator[None]:
    """Restore the states of the default generators at the end of the block.

    This covers the CPU and the GPUs in `devices`, or all GPUs for `None`.

    Source: `torch.random.fork_rng`.

    >>> from minigrad.ops.random.generator import fork_rng
    >>> before = get_rng_state()
    >>> with fork_rng():
    ...     _ = manual_seed(1)
    >>> bool((get_rng_state().numpy() == before.numpy()).all())
    True
    """
    if not enabled:
        yield
        return
    before = States(devices)
    try:
        yield
    finally:
        before.restore()


for _function in (manual_seed, seed, initial_seed, get_rng_state, set_rng_state):
    function(method_too=False)(_function)
