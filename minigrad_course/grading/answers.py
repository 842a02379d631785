"""Comparing an answer to a probe with the reference engine's.

An answer was written by a learner's process: it may have any form that JSON has.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

__all__ = ["difference", "same"]

#: Two engines may add in another order; a finite difference is never this near.
CLOSE = 1e-13


def same(answer: Any, expected: Any) -> bool:
    """Tell whether two answers agree: the same types and shapes, numbers up to rounding."""
    if isinstance(expected, dict) and isinstance(answer, dict):
        if "float" in expected:
            return set(answer) == {"float"} and _near([answer["float"]], [expected["float"]])
        if "array" in expected:
            return ({k: v for k, v in answer.items() if k != "array"}
                    == {k: v for k, v in expected.items() if k != "array"}
                    and _near(answer.get("array"), expected["array"]))
        return answer.keys() == expected.keys() and all(same(answer[key], each)
                                                        for key, each in expected.items())
    if isinstance(expected, list) and isinstance(answer, list):
        return len(answer) == len(expected) and all(
            same(a, b) for a, b in zip(answer, expected, strict=True))
    return type(answer) is type(expected) and bool(answer == expected)


def _near(answers: Any, expected: list[str]) -> bool:
    if not isinstance(answers, list) or len(answers) != len(expected):
        return False
    try:
        pairs = [(float.fromhex(a), float.fromhex(b)) for a, b in
                 zip(answers, expected, strict=True)]
    except (TypeError, ValueError, OverflowError):
        return False
    scale = max((abs(b) for _, b in pairs if math.isfinite(b)), default=0.0)
    return all(a == b or (math.isnan(a) and math.isnan(b))
               or abs(a - b) <= CLOSE * max(scale, abs(b)) for a, b in pairs)


def difference(answer: Any, expected: Any) -> str:
    """Say how an answer differs, in words that no answer chose: it may hold the probes' seeds."""
    if not isinstance(answer, dict):
        return "a probe was not answered"
    if "raises" in answer and "raises" not in expected:
        return f"a probe raised {_raised(answer)} where the reference engine returns a value"
    if "raises" in expected and "raises" not in answer:
        return f"a probe returned a value where the reference engine raises {expected['raises']}"
    if "raises" in expected:
        return f"a probe raised {_raised(answer)} where the reference raises {expected['raises']}"
    return "a probe returned other values than the reference engine"


def _raised(answer: dict[str, Any]) -> str:
    """Return the name of an exception of Python's own; any other name is not repeated."""
    name = answer["raises"]
    known = vars(builtins).get(name) if isinstance(name, str) else None
    if isinstance(known, type) and issubclass(known, BaseException):
        return known.__name__
    return "an exception of another kind"
