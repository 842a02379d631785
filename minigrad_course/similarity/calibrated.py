"""Weights and thresholds, from answers that were written without the package.

NOTE [Calibration]
    `tests/answers` contains answers whose authors knew the tasks alone.  Half of them decide how
    much an operation counts: fully if they do not have it, and 0 if half of them or more have it,
    because such an operation follows from the task.  The same half sets each stage's threshold,
    between the highest share that an independent answer could reach and a copy's share of 1.
    `benchmarks/similarity.py` writes these figures to `calibrated.json`, and reports on the other
    half of the answers.  A stage outside the course has no independent answers, so every operation
    counts there, the threshold is UNKNOWN, and at least UNKNOWN_LEAST operations must be in common.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["FILE", "LEAST", "UNKNOWN", "UNKNOWN_LEAST", "least", "threshold", "weight"]

FILE = Path(__file__).with_name("calibrated.json")
#: Report a stage only if at least this many operations are in common, after weighting.
LEAST = 4.0
#: The threshold of a stage without independent answers, and the operations that must be in common.
UNKNOWN, UNKNOWN_LEAST = 0.95, 40.0


@cache
def _read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def threshold(stage: str) -> float:
    """Return the share with the package from which an answer to a stage is reported."""
    return float(_read()["thresholds"].get(stage, UNKNOWN))


def least(stage: str) -> float:
    """Return how many operations must be in common before an answer to a stage is reported."""
    return LEAST if stage in _read()["thresholds"] else UNKNOWN_LEAST


def weight(hole: str, feature: str) -> float:
    """Return how much an operation counts in an exercise, from 0 to 1."""
    return weights(hole).get(feature, _unseen(hole))


@cache
def _unseen(hole: str) -> float:
    """Return the weight of an operation that no independent answer has."""
    is_measured = hole.partition(".")[0] in _read()["thresholds"]
    return 0.0 if is_measured and not _read()["answers"].get(hole) else 1.0


@cache
def weights(hole: str) -> dict[str, float]:
    """Return the weights of the operations that independent answers to an exercise have."""
    count = _read()["answers"].get(hole, 0)
    return {feature: max(0.0, 1 - 2 * number / count)
            for feature, number in _read()["features"].get(hole, {}).items()}
