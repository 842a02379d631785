"""Random numbers on the device, with one launch per draw; the host keeps the offset.

They differ from PyTorch's numbers, which depend on the device's size.

NOTE [Random numbers in a captured graph]
    A capture fixes the arguments of its launches, including the offset.  So inside a capture the
    kernels get their offset relative to the start of the capture, and a pointer to a seed and
    offset on the device.  Before each repetition, a small kernel writes the generator's current
    state there, and the generator advances by the words that the graph draws.  That way each
    repetition draws new numbers, and a seed set between two repetitions takes effect.
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np
from cupyx.scipy.special import gammaln

from ..random_binomial import binomial_numbers
from ..random_checks import (
    check_bounds,
    check_chance,
    check_chances,
    check_count,
    check_deviation,
    check_rate,
    check_rates,
    check_samples,
    check_span,
    check_weights,
)
from ..random_counts import poisson_numbers
from ..random_gamma import gamma_numbers
from ..random_philox import DEFAULT_SEED, PhiloxState, first_seed
from .launch import each
from .layout import wide_type
from .place import capturing

Array = Any
Shape = int | tuple[int, ...]

#: Maximum number of generators in one graph.
PLACES = 8


class Capture:
    """The generators from which captured work draws."""

    def __init__(self) -> None:
        self.held = cupy.empty((PLACES, 2), np.uint64)  # outside its memory
        self.drawn: dict[Philox, tuple[Array, int, int]] = {}  # state, seed, first offset
        self.counts: dict[Philox, int] = {}  # words that a repetition takes

    def of(self, source: Philox) -> tuple[Array, int, int]:
        """Return a generator's state on the device, with its first seed and offset."""
        if source not in self.drawn:
            if len(self.drawn) == PLACES:
                raise RuntimeError(f"a graph can draw from at most {PLACES} generators")
            place = self.held[len(self.drawn)]
            self.drawn[source] = place, source.initial_seed(), source.offset
        return self.drawn[source]

    def took(self, source: Philox, words: int) -> None:
        """Record that a repetition takes at least this many words."""
        self.counts[source] = max(words, self.counts.get(source, 0))

    def finish(self) -> None:
        """Reset the generators, since captured draws have not happened yet."""
        for source, (_, _, offset) in self.drawn.items():
            source.offset = offset

    def renew(self) -> None:
        """Write the generators' states for the next repetition, in the current stream."""
        for source, (place, _, _) in self.drawn.items():
            start = source.take(self.counts[source] // 4)
            each("hold_position", place.dtype, 1, place, np.uint64(source.initial_seed()),
                 np.uint64(start))


class Generators:
    """The devices' default generators, created on first use, and new ones."""

    def __init__(self) -> None:
        self.of_devices: dict[int, Philox] = {}
        self.capture: Capture | None = None

    def default(self, index: int | None = None) -> Philox:
        """Return the generator of a device, by default the current one."""
        if index is None:
            index = cupy.cuda.Device().id
        found = self.of_devices.get(index)
        if found is None:
            found = self.of_devices.setdefault(index, Philox(self, first_seed(index)))
        return found

    def new(self) -> Philox:
        """Return a new generator."""
        return Philox(self)

    def begin_capture(self) -> None:
        """Make the draws of a capturing stream differ in each repetition."""
        if self.capture is not None:
            raise RuntimeError("only one graph can be captured at a time: end the other first")
        self.capture = Capture()

    def end_capture(self) -> Capture:
        """Return the draws to renew before each repetition."""
        assert self.capture is not None
        capture, self.capture = self.capture, None
        capture.finish()
        return capture


class Philox(PhiloxState):
    """A generator on the device; it returns new arrays there, in row-major order.

    It has the methods and errors of `MersenneTwister`.
    """

    device_type = "cuda"

    def __init__(self, owner: Generators, seed: int = DEFAULT_SEED) -> None:
        self.owner = owner
        super().__init__(seed)

    def drawn(self, kernel: str, out: Array, per: int, *args: Any,
              reads: tuple[Array, ...] = ()) -> Array:
        """Fill an array with a kernel that makes `per` numbers from each counter."""
        part = -(-out.size // per)
        with self._lock:
            held, seed, offset = None, self._seed, self.offset
            capture = self.owner.capture
            if capture is not None and capturing():
                held, seed, start = capture.of(self)
                if seed != self._seed:
                    raise RuntimeError("a generator's seed cannot change while a graph is captured")
                offset -= start
                capture.took(self, offset + 4 * part)
            self.take(part)
        each(kernel, out.dtype, part, *reads, out, out.size, part, *args, np.uint64(seed),
             np.uint64(offset % 2**64), held)
        return out

    def uniform(self, shape: Shape, dtype: Any = np.float32, low: float = 0.0,
                high: float = 1.0) -> Array:
        """Return uniform numbers from [low, high)."""
        check_bounds(low, high)
        out = cupy.empty(shape, dtype)
        return self.drawn("draw_uniform", out, per(out), float(low), float(high))

    def normal(self, shape: Shape, dtype: Any = np.float32, mean: float = 0.0, std: float = 1.0, *,
               in_pairs: bool = False) -> Array:
        """Return normal numbers, by the Box-Muller transform."""
        check_deviation(std)
        out = cupy.empty(shape, dtype)
        return self.drawn("draw_normal", out, per(out), float(mean), float(std))

    def randint(self, low: int, high: int, shape: Shape, dtype: Any = np.int64) -> Array:
        """Return uniform integers from [low, high), in any dtype that holds them."""
        dtype = np.dtype(dtype)
        check_span(low, high, dtype)
        out = cupy.empty(shape, np.int64 if dtype.kind == "f" else dtype)
        span = high - low
        self.drawn("draw_whole", out, 4 if span < 2**28 else 2, np.uint64(low % 2**64),
                   np.uint64(span % 2**64))
        return out.astype(dtype, copy=False)

    def whole(self, top: int, shape: Shape, dtype: Any) -> Array:
        """Return uniform integers from [0, top]."""
        return self.randint(0, top + 1, shape, dtype)

    def randperm(self, n: int, dtype: Any = np.int64) -> Array:
        """Return the numbers 0 to n - 1 in random order, by sorting random 64-bit numbers."""
        check_count(n)
        keys = self.randint(-(2**63), 2**63, n)
        return cupy.argsort(keys).astype(dtype, copy=False)

    def bernoulli(self, p: Any, shape: Shape | None = None, dtype: Any = None) -> Array:
        """Return ones with probability `p`, a number or an array to broadcast, else zeros."""
        chance, chances = 0.0, None
        if isinstance(p, cupy.ndarray):
            if not capturing():
                check_chances(p)
            shape, dtype = p.shape if shape is None else shape, dtype or p.dtype
            chances = cupy.ascontiguousarray(cupy.broadcast_to(p, shape).astype(np.float64))
        else:
            check_chance(p)
            chance, shape, dtype = float(p), () if shape is None else shape, dtype or np.float32
        out = cupy.empty(shape, dtype)
        one = np.ones((), out.dtype).view(f"u{out.dtype.itemsize}")[()]
        return self.drawn("draw_bernoulli", out, 4, chance, chances, one)

    def exponential(self, shape: Shape, dtype: Any = np.float32, rate: float = 1.0) -> Array:
        """Return numbers from the exponential distribution with mean 1 / rate."""
        check_rate(rate)
        out = cupy.empty(shape, dtype)
        return self.drawn("draw_exponential", out, per(out), float(rate))

    def multinomial(self, p: Array, count: int, replacement: bool = False) -> Array:
        """Return `count` indices into each row of weights `p`, (n,) or (m, n), as int64."""
        check_samples(p.shape[-1], count, replacement)
        if not capturing():
            least, greatest = (p.min(), p.max()) if p.size else (0, 0)
            check_weights(p, least, greatest, not replacement or count == 1)
        p = p.astype(wide_type(p.dtype), copy=False)
        if not replacement or count == 1:
            # The largest element of p / exponential noise has index i with probability p[i].
            race = p / self.exponential(p.shape, p.dtype)
            return cupy.argsort(-race, axis=-1)[..., :count]
        marks = cupy.cumsum(p.reshape(-1, p.shape[-1]).astype(np.float64), axis=1)
        marks = marks / marks[:, -1:]
        rows = cupy.arange(marks.shape[0]).reshape(-1, 1)
        draws = self.uniform((marks.shape[0], count), np.float64)
        # Shift row r into the range from r to r + 1, so that one search serves all rows.
        found = cupy.searchsorted((marks + rows).reshape(-1), (draws + rows).reshape(-1), "right")
        found = found.reshape(draws.shape) - rows * p.shape[-1]
        return cupy.minimum(found, p.shape[-1] - 1).reshape(*p.shape[:-1], count)

    def poisson(self, rates: Array) -> Array:
        """Return numbers from the Poisson distributions with these means, in their dtype."""
        refuse_capture("poisson")
        check_rates(rates)
        counts = poisson_numbers(cupy, rates, gammaln,
                                 lambda: self.uniform(rates.shape, np.float64))
        return counts.astype(rates.dtype)

    def binomial(self, trials: Array, chances: Array) -> Array:
        """Return how many of `trials` succeed with these chances, in the dtype of `trials`."""
        refuse_capture("binomial")
        counts = binomial_numbers(cupy, trials, chances, gammaln,
                                  lambda: self.uniform(trials.shape, np.float64))
        return counts.astype(trials.dtype)

    def gamma(self, shapes: Array) -> Array:
        """Return numbers from the gamma distributions with these shapes and rate 1, in float64."""
        refuse_capture("_standard_gamma")
        return gamma_numbers(cupy, shapes, lambda: self.uniform(shapes.shape, np.float64),
                             lambda: self.normal(shapes.shape, np.float64))

    def dropout(self, x: Array, keep: float, scale: float) -> tuple[Array, Array]:
        """Return dropout's result, elements kept at random and scaled or else zero, and its mask.

        One launch computes both.
        """
        x = cupy.ascontiguousarray(x)
        out, mask = cupy.empty_like(x), cupy.empty(x.shape, bool)
        self.drawn("dropout", out, 4, keep, scale, reads=(x, mask))
        return out, mask


def refuse_capture(name: str) -> None:
    """Raise `RuntimeError` while a graph is captured, for draws that repeat until some fit."""
    if capturing():
        raise RuntimeError(f"{name}() asks the device when it is done, which a graph that is "
                           "captured cannot do; draw outside of it")


def per(out: Array) -> int:
    """Return how many numbers a counter's four words make."""
    return 2 if out.dtype == np.float64 else 4
