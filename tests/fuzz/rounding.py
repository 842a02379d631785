"""How far rounding alone moves the values of a program: what is nothing but rounding is compared
no closer than that.

The gradient of a sum of `softmax` is zero, and what a library returns for it is the rounding of
its own order of operations; divided by, or asked for its sign, that may become anything.  So
where values differ, the program is run again with its inputs moved by a few units in the last
place.  What moves in PyTorch itself may differ by as much.  A wrong gradient does not hide in that:
it is wrong by far more than it moves.  Numbers such as 0.5, at which operations have their kinks,
stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from .compare import TOLERANCE, Loose
from .interpret import Trace
from .program import Program

#: How many times a program is moved, and how many units in the last place its inputs move at most.
TIMES, UNITS = 8, 4

#: How many times as far as it moved a value may lie from the other library's.
MARGIN = 8

_INPUT = re.compile(r"torch\.tensor\(([^()]*), dtype=torch\.(float\d+)")
_NUMBER = re.compile(r"-?\d+\.\d+")


def moved(program: Program, seed: int) -> list[str]:
    """Return a program whose inputs are moved; equal numbers stay equal.

    >>> moved(["t0 = torch.tensor([0.1, 0.5, 0.1], dtype=torch.float64)"], 0) != moved([], 0)
    True
    """
    def move(text: str, dtype: str) -> str:
        number = float(text)
        if (4 * number).is_integer():
            return text
        units = Random(f"{seed} {text}").choice([u for u in range(-UNITS, UNITS + 1) if u])
        eps = float(np.finfo(dtype).eps)
        return repr(float(np.dtype(dtype).type(number) * np.float64(1 + units * eps)))

    return [_INPUT.sub(lambda found: found[0].replace(found[1], _NUMBER.sub(
        lambda number: move(number[0], found[2]), found[1])), line) for line in program]


def loosened(theirs: Trace, moves: Sequence[tuple[Trace, Trace]], ours: Trace) -> Trace:
    """Return PyTorch's trace with how far each value moved; `moves` are both libraries' traces."""
    scale = max((float(np.abs(a[np.isfinite(a)]).max(initial=0)) for outcome in ours.outcomes[:3]
                 for a in arrays(outcome.value) if a.dtype.kind == "f"), default=1.0)
    result = Trace()
    for i, outcome in enumerate(theirs.outcomes):
        result.outcomes.append(replace(outcome, **{what: joined(
            getattr(outcome, what), getattr(ours.outcomes[i], what),
            [tuple(getattr(t.outcomes[i], what) for t in pair) for pair in moves], scale)
            for what in ("value", "seen")}))
    for name, facts in theirs.state.items():
        result.state[name] = joined(
            facts, ours.state.get(name),
            [tuple(t.state.get(name) for t in pair) for pair in moves], scale)
    return result


def arrays(value: Any) -> list[np.ndarray]:
    """Return the arrays in a description."""
    if isinstance(value, dict):
        return [a for v in value.values() for a in arrays(v)]
    if isinstance(value, list):
        return [a for v in value for a in arrays(v)]
    return [value] if isinstance(value, np.ndarray) else []


def joined(theirs: Any, ours: Any, moves: Sequence[tuple[Any, ...]], scale: float) -> Any:
    """Return a description of PyTorch's with how far its arrays moved, wherever they are."""
    if isinstance(theirs, dict):
        return {key: joined(v, get(ours, key), [(get(a, key), get(b, key)) for a, b in moves],
                            scale) for key, v in theirs.items()}
    if isinstance(theirs, list):
        return [joined(v, get(ours, i), [(get(a, i), get(b, i)) for a, b in moves], scale)
                for i, v in enumerate(theirs)]
    if not isinstance(theirs, np.ndarray):
        return theirs
    own = [b for _, b in moves]
    theirs_moved = far(theirs, [a for a, _ in moves])
    allowed = MARGIN * theirs_moved
    if theirs.dtype.kind == "f" and isinstance(ours, np.ndarray):
        own_moved = far(ours, own)
        if own_moved.shape == theirs.shape:  # zero in one library, its rounding in the other
            allowed = np.maximum(allowed, np.minimum(
                MARGIN * own_moved, TOLERANCE[theirs.dtype.name] * scale))
    return Loose.of(theirs, allowed)


def get(value: Any, key: Any) -> Any:
    """Return an item of a description, or None where it has none."""
    if isinstance(value, dict):
        return value.get(key)
    return value[key] if isinstance(value, list) and isinstance(key, int) and key < len(
        value) else None


def far(value: np.ndarray, others: Sequence[Any]) -> np.ndarray:
    """Return how far each element lies from what it became when the inputs moved.

    That is infinitely far where it moved by half of itself, or became another whole number.
    """
    result = np.zeros(value.shape)
    for other in others:
        if not isinstance(other, np.ndarray) or (other.shape, other.dtype) != (
                value.shape, value.dtype):
            continue
        if value.dtype.kind != "f":
            result[value != other] = np.inf
            continue
        with np.errstate(all="ignore"):  # inf - inf is dealt with below
            a, b = value.astype(float), other.astype(float)
            step = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0, np.abs(b - a))
            step = np.where(np.isnan(step) | (step > np.abs(a) / 2), np.inf, step)
        result = np.maximum(result, step)
    finite = result[np.isfinite(result)].max(initial=0)
    return np.maximum(result, finite)  # as far as any of its neighbours
