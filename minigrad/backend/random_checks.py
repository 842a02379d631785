"""Argument checks of all random generators, with PyTorch's errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import c_name


def check_seed(seed: int) -> int:
    """Return a seed; negative ones are taken modulo 2**64.

    Raises `ValueError` outside [-2**63, 2**64).
    """
    if not -(2**63) <= seed < 2**64:
        raise ValueError("Overflow when unpacking long long")
    return seed % 2**64


def check_bounds(low: float, high: float) -> None:
    """Raise `RuntimeError` if low > high."""
    if low > high:
        raise RuntimeError(
            "uniform_ expects to return a [from, to) range, "
            f"but found from={low:g} > to={high:g}"
        )


def check_deviation(std: float) -> None:
    """Raise `RuntimeError` if std < 0."""
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")


def check_span(low: int, high: int, dtype: Any) -> None:
    """Raise `RuntimeError` if [low, high) has no integer, or one that does not fit the dtype."""
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    _check_holds("from", low, dtype)
    _check_holds("to - 1", high - 1, dtype)


def _check_holds(what: str, value: int, dtype: Any) -> None:
    if dtype.kind == "f":
        fits = abs(value) <= float(np.finfo(dtype).max)
    else:
        info = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        fits = info[0] <= value <= info[1]
    if not fits:
        raise RuntimeError(f"{what} is out of bounds for {c_name(dtype)}")


def check_chance(p: float) -> None:
    """Raise `RuntimeError` if a probability is outside [0, 1]."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")


def check_chances(p: Any) -> None:
    """Raise `RuntimeError` if one of an array's probabilities is outside [0, 1]."""
    if not ((p >= 0) & (p <= 1)).all():
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this "
            "error message be improved?  If so, please report an enhancement request "
            "to PyTorch.)"
        )


def check_rate(rate: float) -> None:
    """Raise `RuntimeError` if rate <= 0."""
    if not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")


def check_rates(rates: Any) -> None:
    """Raise `RuntimeError` if a rate of a Poisson distribution is negative or NaN."""
    if not (rates >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")


def check_count(n: int) -> None:
    """Raise `RuntimeError` if `n` is negative."""
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")


def check_samples(categories: int, count: int, replacement: bool) -> None:
    """Raise `RuntimeError` if `count` indices cannot be drawn from that many categories."""
    if count <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if categories > 2**24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if not replacement and count > categories:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )


def check_weights(p: Any, least: Any, greatest: Any, as_race: bool = True) -> None:
    """Raise `RuntimeError` for weights that are negative, not finite or, in a row, all zero.

    `least` and `greatest` are the extremes of `p`, or NaN if it contains one.  PyTorch has a
    different error text if the draws are not a race, that is, many draws with replacement.
    """
    if not (least >= 0 and greatest < math.inf):
        if as_race:
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        which = "= infinity or NaN" if least >= 0 else "< 0"
        raise RuntimeError(f"invalid multinomial distribution (encountering probability entry "
                           f"{which})")
    if not (greatest > 0 if p.ndim == 1 else (p.sum(-1) > 0).all()):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
