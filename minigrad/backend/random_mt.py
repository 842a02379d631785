"""PyTorch's CPU random numbers in NumPy: the same Mersenne Twister, the same words per number.

After the same `manual_seed` every fill gives PyTorch's numbers, bit for bit if PyTorch uses AVX2 or
AVX-512. Only float64 numbers that pass through `log`, `sin` and `cos` may differ by a few units in
the last place, because these functions differ between C libraries. States can be exchanged between
the two libraries.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from itertools import chain, count, repeat
from typing import Any, Self

import numpy as np

from minigrad.backend import fused

from . import random_checks
from .random_binomial import binomial_number
from .random_counts import poisson_number
from .random_gamma import gamma_number

Array = np.ndarray[Any, np.dtype[Any]]
Shape = int | tuple[int, ...]
Drawn = Callable[[], float]

DEFAULT_SEED = 67280421310721
_WORDS = 624
_BLOCK = 1 << 16  # numbers made at a time, few enough to stay in the cache
_32, _53_BITS = np.uint64(32), np.uint64(2**53 - 1)
_STEP, _NEGATIVE_STEP = np.asarray(2.0**-53), np.asarray(-2.0**-53)
_MANY = 2000  # from this many numbers on, float64 is faster than parts

# The record that torch.get_rng_state() returns as bytes.
_STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", _WORDS),
        ("normal_x", "<f8"),
        ("normal_y", "<f8"),
        ("normal_rho", "<f8"),
        ("normal_is_valid", "<i4"),
        ("padding", "<i4"),
        ("float_normal", "<f4"),
        ("float_normal_is_valid", "<i4"),
    ]
)


class MersenneTwister:
    """The generator of `torch.Generator()`; every fill is a new C-contiguous array.

    Threads may share it, because each fill takes all its words at once. Source:
    `at::CPUGeneratorImpl`.

    >>> MersenneTwister(0).randint(0, 10, 5)
    array([4, 9, 3, 0, 3])
    """

    device_type = "cpu"

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self._lock = threading.RLock()
        self._bits = np.random.MT19937(0)
        self._seeder = np.random.RandomState(self._bits)
        self.manual_seed(seed)

    # Seeds and states

    def manual_seed(self, seed: int) -> Self:
        """Restart with the sequence of `seed`; negative seeds are taken modulo 2**64.

        Raises `ValueError` outside [-2**63, 2**64). Source: `torch.Generator.manual_seed`.

        >>> MersenneTwister().manual_seed(-1).initial_seed() == 2**64 - 1
        True
        """
        with self._lock:
            self._seed = random_checks.check_seed(seed)
            # Like the original mt19937, PyTorch seeds with the low half only.
            self._seeder.seed(self._seed % 2**32)
            self._untouched = True
            self._second_normal: float | None = None
        return self

    def seed(self) -> int:
        """Restart with a seed from the operating system and return it. Source: `torch.seed`."""
        seed = int.from_bytes(os.urandom(8), "little") % 2**53
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """Return the seed of the sequence. Source: `torch.initial_seed`.

        >>> MersenneTwister(7).initial_seed()
        7
        """
        return self._seed

    def get_state(self) -> Array:
        """Return the state of the generator, a uint8 array of shape (5056,).

        The bytes equal those from `torch.get_rng_state()` after the same calls.

        >>> MersenneTwister(0).get_state().shape
        (5056,)
        """
        record = np.zeros(1, _STATE)
        with self._lock:
            twister: Any = self._bits.state["state"]
            # Both libraries renew all words when they run out; only the count differs.
            taken = 0 if self._untouched else twister["pos"]
            record["seed"] = self._seed
            record["left"] = 1 if self._untouched else _WORDS + 1 - taken
            record["seeded"] = 1
            record["next"] = taken
            record["words"] = twister["key"]
            if self._second_normal is not None:
                record["normal_y"] = self._second_normal
                record["normal_is_valid"] = 1
        return record.view(np.uint8)

    def set_state(self, state: Array) -> None:
        """Set the state to a result of `get_state` (or `torch.get_rng_state`).

        Raises `RuntimeError` if `state` is not such a record.

        >>> generator = MersenneTwister(0)
        >>> start = generator.get_state()
        >>> first = generator.uniform(3)
        >>> generator.set_state(start)
        >>> bool((generator.uniform(3) == first).all())
        True
        """
        if state.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if state.size != _STATE.itemsize:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE.itemsize} "
                f"but found the input RNG state size to be {state.size}"
            )
        record = np.frombuffer(state.tobytes(), _STATE)[0]
        left, taken = int(record["left"]), int(record["next"])
        if not record["seeded"] or not 1 <= left <= _WORDS or taken > _WORDS:
            raise RuntimeError("Invalid mt19937 state")
        with self._lock:
            self._seed = int(record["seed"])
            self._untouched = left == 1 and taken == 0
            words = record["words"].astype(np.uint32)
            self._bits.state = {
                "bit_generator": "MT19937",
                "state": {"key": words, "pos": _WORDS + 1 - left},
            }
            valid = record["normal_is_valid"]
            self._second_normal = float(record["normal_y"]) if valid else None

    # Fills

    def random_raw(self, count: int) -> Array:
        """Return the next `count` 32-bit words as uint64 of shape (count,).

        >>> int(MersenneTwister(0).random_raw(1)[0])
        2357136044
        """
        with self._lock:
            self._untouched = self._untouched and not count
            return self._bits.random_raw(count)

    def uniform(
        self, shape: Shape, dtype: Any = np.float32, low: float = 0.0, high: float = 1.0,
        out: Array | None = None,
    ) -> Array:
        """Return uniform numbers from [low, high); float64 has 53 random bits, other dtypes 24.

        `out`, a C-contiguous array of this shape and dtype, receives them if given. Raises
        `RuntimeError` if low > high. Source: `torch.rand`, `torch.Tensor.uniform_`.

        >>> MersenneTwister(0).uniform(2)
        array([0.4962566, 0.7682218], dtype=float32)
        """
        random_checks.check_bounds(low, high)
        dtype = np.dtype(dtype)
        wide = _compute_type(dtype)
        start, last = wide(low), dtype.type(wide(high))
        factor = wide(high) - start
        values = np.empty(shape, dtype) if out is None else out
        flat = values.reshape(-1)
        rounds_up = flat.size < _MANY or _largest(wide, factor, start).astype(dtype) == last
        with self._lock:
            for at in range(0, flat.size, _BLOCK):
                part = flat[at : at + _BLOCK]
                exact = self._scaled_unit(part.size, wide, factor, start)
                part[...] = exact if wide is dtype.type else exact.astype(wide)
                if rounds_up and part.max() == last:  # which is excluded
                    part[part == last] = start
        return values

    def normal(
        self, shape: Shape, dtype: Any = np.float32, mean: float = 0.0, std: float = 1.0, *,
        in_pairs: bool = False
    ) -> Array:
        """Return normal numbers, by the Box-Muller transform.

        Fewer than 16 numbers are computed in float64, pair by pair, and an unused half is kept for
        the next such call; 16 or more are computed in blocks of 16, in the result's precision.
        PyTorch also works `in_pairs` if it writes to memory that is not contiguous. Raises
        `RuntimeError` if std < 0. Source: `torch.randn`, `torch.Tensor.normal_`.

        >>> MersenneTwister(0).normal(2)
        array([ 1.5409961, -0.2934289], dtype=float32)
        """
        random_checks.check_deviation(std)
        dtype = np.dtype(dtype)
        wide = _compute_type(dtype)
        size = _size(shape)
        if size < 16 or in_pairs:
            values = _scaled(self._pairs_of_normals(size), np.float64(std), np.float64(mean))
            values = values.astype(wide)
        else:
            values = self._blocks_of_normals(size, dtype, wide)
            values = _scaled(values, wide(std), wide(mean))
        return values.astype(dtype, copy=False).reshape(shape)

    def randint(self, low: int, high: int, shape: Shape, dtype: Any = np.int64) -> Array:
        """Return uniform integers from [low, high), in any dtype that holds them.

        Raises `RuntimeError` if the range is empty or does not fit. Source: `torch.randint`.

        >>> MersenneTwister(0).randint(0, 100, 3)
        array([44, 39, 33])
        """
        dtype = np.dtype(dtype)
        random_checks.check_span(low, high, dtype)
        span, size = high - low, _size(shape)
        # Use two words if one would favour small numbers too much.
        words = self.random_raw(size) if span < 2**28 else self._double_words(size)
        if span < 2**64:
            words = words % np.uint64(span)
        # The sum wraps around at 64 bits, which also gives negative numbers.
        values = words + np.uint64(low % 2**64)
        return values.view(np.int64).astype(dtype).reshape(shape)

    def whole(self, top: int, shape: Shape, dtype: Any) -> Array:
        """Return uniform integers from [0, top], with one word each up to 32 bits.

        Source: `torch.Tensor.random_`.

        >>> MersenneTwister(0).whole(255, 2, np.uint8)
        array([172,  47], dtype=uint8)
        """
        dtype = np.dtype(dtype)
        if dtype.itemsize == 8:
            return self.randint(0, top + 1, shape, dtype)
        words = self.random_raw(_size(shape)) % np.uint64(top + 1)
        return words.astype(dtype).reshape(shape)

    def randperm(self, n: int, dtype: Any = np.int64) -> Array:
        """Return the numbers 0 to n - 1 in random order. Source: `torch.randperm`.

        >>> MersenneTwister(0).randperm(5)
        array([4, 0, 1, 3, 2])
        """
        random_checks.check_count(n)
        steps = max(n - 1, 0)
        choices = np.arange(n, n - steps, -1, dtype=np.uint64)
        partners = self.random_raw(steps) % choices + np.arange(steps, dtype=np.uint64)
        order = list(range(n))
        # Each swap depends on earlier ones, so this loop cannot be an array operation.
        for i, j in enumerate(partners.tolist()):
            order[i], order[j] = order[j], order[i]
        return np.array(order, dtype=dtype)

    def bernoulli(self, p: float | Array, shape: Shape | None = None, dtype: Any = None) -> Array:
        """Return ones with probability `p`, else zeros.

        An array `p` is broadcast to `shape`, and its shape and dtype are the defaults; for a
        number, the defaults are () and float32. Raises `RuntimeError` if p is outside [0, 1].
        Source: `torch.bernoulli`, `torch.Tensor.bernoulli_`.

        >>> MersenneTwister(0).bernoulli(0.5, 4)
        array([0., 0., 1., 0.], dtype=float32)
        """
        if isinstance(p, np.ndarray):
            random_checks.check_chances(p)
            shape, dtype = p.shape if shape is None else shape, dtype or p.dtype
            wide = _compute_type(p.dtype)
            chance: Any = np.broadcast_to(p.astype(wide), shape)
            hits: Array = self._unit(_size(shape), wide).reshape(shape) < chance
        else:
            random_checks.check_chance(p)
            shape, dtype = () if shape is None else shape, dtype or np.float32
            # PyTorch compares a float64 number, for every dtype of the result, with p.
            words = self._double_words(_size(shape)) & _53_BITS
            hits = (words < np.uint64(math.ceil(p * 2**53))).reshape(shape)
        return hits.astype(dtype)

    def exponential(self, shape: Shape, dtype: Any = np.float32, rate: float = 1.0) -> Array:
        """Return numbers from the exponential distribution with mean 1 / rate.

        Raises `RuntimeError` if rate <= 0. Source: `torch.Tensor.exponential_`.

        >>> MersenneTwister(0).exponential(2).dtype
        dtype('float32')
        """
        random_checks.check_rate(rate)
        values = self._doubles(_size(shape), _NEGATIVE_STEP)
        np.log1p(values, out=values)
        if rate == 1:
            np.negative(values, out=values)
        else:
            values *= -1.0 / rate
        values = values.astype(_compute_type(dtype)).reshape(shape)
        return values if values.dtype == dtype else values.astype(dtype)

    def multinomial(self, p: Array, count: int, replacement: bool = False) -> Array:
        """Return `count` int64 indices into each row of weights `p`, (n,) or (m, n).

        Raises `RuntimeError` if weights are negative, not finite or all zero, or if `count` is too
        large without replacement. Source: `torch.multinomial`.

        >>> MersenneTwister(0).multinomial(np.float32([0, 1, 0]), 1)
        array([1])
        """
        random_checks.check_samples(p.shape[-1], count, replacement)
        least = np.minimum.reduce(p, None) if p.size else 0
        greatest = np.maximum.reduce(p, None) if p.size else 0
        random_checks.check_weights(p, least, greatest, not replacement or count == 1)
        if not replacement or count == 1:
            # The largest element of p / exponential noise has index i with probability p[i].
            turned = p.ndim == 2 and 0 < p.strides[0] < p.strides[1]  # draw in memory order
            noise = self.exponential(p.shape[::-1] if turned else p.shape, p.dtype)
            race = p / (noise.T if turned else noise)
            if count == 1:
                return race.argmax(-1, keepdims=True).astype(np.int64, copy=False)
            order: Array = np.argsort(-race, axis=-1, kind="stable")
            return order[..., :count].astype(np.int64, copy=False)
        marks = np.cumsum(p, axis=-1, dtype=_compute_type(p.dtype))
        marks = marks / marks[..., -1:]
        draws = self._unit(_size((*p.shape[:-1], count)), np.float64)
        rows = zip(marks.reshape(-1, p.shape[-1]), draws.reshape(-1, count), strict=True)
        found = [np.searchsorted(row.astype(np.float64), draw) for row, draw in rows]
        return np.array(found, dtype=np.int64).reshape(*p.shape[:-1], count)

    def poisson(self, rates: Array) -> Array:
        """Return numbers from the Poisson distributions with these means, in their dtype.

        Raises `RuntimeError` if a rate is negative. Source: `torch.poisson`.

        >>> MersenneTwister(0).poisson(np.float32([0.0, 100.0])).dtype
        dtype('float32')
        """
        random_checks.check_rates(rates)
        counts = self._one_by_one(lambda draw, _: [
            poisson_number(rate, draw) for rate in rates.ravel().tolist()])
        return np.array(counts, rates.dtype).reshape(rates.shape)

    def binomial(self, trials: Array, chances: Array) -> Array:
        """Return how many of `trials` succeed with these chances, in the dtype of `trials`.

        Source: `torch.binomial`.

        >>> MersenneTwister(0).binomial(np.float32([5.0, 0.0]), np.float32([1.0, 0.5]))
        array([5., 0.], dtype=float32)
        """
        pairs = list(zip(trials.ravel().tolist(), chances.ravel().tolist()))
        counts = self._one_by_one(lambda draw, _: [
            binomial_number(trial, chance, draw) for trial, chance in pairs])
        return np.array(counts, trials.dtype).reshape(trials.shape)

    def gamma(self, shapes: Array) -> Array:
        """Return numbers from the gamma distributions with these shapes and rate 1, in float64.

        Source: `torch._standard_gamma`.

        >>> MersenneTwister(0).gamma(np.float32([0.5, 100.0])).dtype
        dtype('float64')
        """
        numbers = self._one_by_one(lambda draw, normal: [
            gamma_number(shape, draw, normal) for shape in shapes.ravel()])
        return np.array(numbers, np.float64).reshape(shapes.shape)

    # Helpers

    def _one_by_one(self, work: Callable[[Drawn, Drawn], list[Any]]) -> list[Any]:
        """Return the result of `work` on two functions: one draws uniform, one normal numbers."""
        with self._lock:
            start, used = self.get_state(), count()
            waiting = [] if self._second_normal is None else [self._second_normal]
            ahead = chain.from_iterable(self._unit(512, np.float64).tolist() for _ in repeat(None))

            def draw() -> float:
                next(used)
                return next(ahead)

            def normal() -> float:
                if not waiting:
                    waiting.extend(reversed(_pair(draw(), draw())))
                return waiting.pop()

            results = work(draw, normal)
            self.set_state(start)
            self._unit(next(used), np.float64)  # at most the number of words that were used
            self._second_normal = waiting[0] if waiting else None
        return results

    def _double_words(self, count: int) -> Array:
        """Return the next 2 `count` words in pairs, the first one in the upper half."""
        if count >= _MANY:
            with self._lock:
                self._untouched = False
                return self._seeder.randint(0, 2**64, count, np.uint64)
        words = self.random_raw(2 * count)
        double: Array = words[0::2] << _32
        double |= words[1::2]
        return double

    def _doubles(self, count: int, step: Array) -> Array:
        """Return `count` multiples of `step`, by 0 to 2**53 - 1."""
        words = self._double_words(count)
        words &= _53_BITS
        return words * step

    def _unit(self, count: int, wide: Any) -> Array:
        """Return `count` numbers from [0, 1) with as many random bits as the dtype `wide` holds."""
        if wide is np.float64:
            return self._doubles(count, _STEP)
        with self._lock:
            return self._low_bits(count).astype(np.float32) * np.float32(2.0**-24)

    def _scaled_unit(self, count: int, wide: Any, factor: Any, term: Any) -> Array:
        """Return `count` numbers factor * x + term, x from [0, 1), to be rounded once to `wide`."""
        if wide is np.float64 or count < _MANY:
            return _scaled(self._unit(count, wide), factor, term)
        # The product of two float32 numbers is exact in float64.
        exact: Array = self._low_bits(count).astype(np.float64)
        exact *= np.float64(factor) * 2.0**-24
        exact += term
        return exact

    def _low_bits(self, count: int) -> Array:
        """Return the low 24 bits of the next `count` words, as int32 for faster conversions."""
        self._untouched = self._untouched and not count
        words: Any
        if count < _MANY:
            words = self._bits.random_raw(count).astype(np.uint32)
            words &= np.uint32(2**24 - 1)
        else:  # the legacy generator masks words without rejecting any, and never changes
            words = self._seeder.randint(0, 2**24, count, dtype=np.uint32)
        return words.view(np.int32)

    def _pairs_of_normals(self, count: int) -> Array:
        """Apply Box-Muller to pairs; keep an unused half of the last one for the next call."""
        with self._lock:
            waiting = [] if self._second_normal is None or not count else [self._second_normal]
            left = count - len(waiting)
            unit = self._unit(left + left % 2, np.float64)
            pairs: Any
            if count < 16:  # faster one by one
                pairs = [both for pair in unit.reshape(-1, 2).tolist() for both in _pair(*pair)]
            else:
                radius = np.sqrt(-2.0 * np.log1p(-unit[1::2]))
                angle = 2.0 * math.pi * unit[0::2]
                pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).ravel()
            if count:  # the saved number must equal the C library's to the last bit
                self._second_normal = _pair(*unit[-2:].tolist())[1] if left % 2 else None
            return np.concatenate([waiting, pairs[:left]])

    def _blocks_of_normals(self, count: int, dtype: Any, wide: Any) -> Array:
        """Apply Box-Muller to blocks of 16; if 16 does not divide `count`, recompute the last 16.

        float16 draws only whole blocks; other types also draw the tail's first numbers, which the
        last block then replaces.
        """
        whole = count - count % 16
        if whole == count:
            return _box_muller(self._unit(count, wide))
        drawn = whole if dtype == np.float16 else count
        unit = self._unit(drawn + 16, wide)
        values = np.empty(count, wide)
        values[:whole] = _box_muller(unit[:whole])
        values[-16:] = _box_muller(unit[-16:])
        return values


def _pair(turn: float, draw: float) -> tuple[float, float]:
    """Return two normal numbers from two uniform ones."""
    radius = math.sqrt(-2.0 * math.log1p(-draw))
    angle = 2.0 * math.pi * turn
    return radius * math.cos(angle), radius * math.sin(angle)


def _size(shape: Shape) -> int:
    return shape if isinstance(shape, int) else math.prod(shape)


def _compute_type(dtype: Any) -> Any:
    """Return the dtype to compute in, since PyTorch computes float16 numbers in float32."""
    return np.float64 if dtype == np.float64 else np.float32


def _scaled(values: Array, factor: Any, term: Any) -> Array:
    unchanged = factor == 1 and term == 0
    return values if unchanged else fused.multiply_add(values, factor, term)


def _largest(wide: Any, factor: Any, term: Any) -> Any:
    """Return the largest number that `_scaled_unit` makes, in `wide`."""
    return _scaled(np.asarray([1 - np.finfo(wide).epsneg], wide), factor, term).astype(wide)[0]


def _box_muller(unit: Array) -> Array:
    """Return normal numbers from uniform ones; in each 16, 8 give radii, then 8 angles."""
    normals = np.empty_like(unit).reshape(-1, 2, 8)
    halves = unit.reshape(-1, 2, 8)
    # In blocks that stay in the processor's cache.
    for start in range(0, len(halves), 2048):
        piece = slice(start, start + 2048)
        draws, turns = 1 - halves[piece, 0], halves[piece, 1]
        if unit.dtype == np.float32:
            radius = np.sqrt(-2 * fused.log(draws))
            sine, cosine = fused.sincos(turns * np.float32(2 * math.pi))
        else:
            radius, angle = np.sqrt(-2 * np.log(draws)), turns * (2 * math.pi)
            sine, cosine = np.sin(angle), np.cos(angle)
        normals[piece, 0] = radius * cosine
        normals[piece, 1] = radius * sine
    return normals.reshape(-1)
