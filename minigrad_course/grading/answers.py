"""Compare an answer to a probe with the reference engine's answer.

A learner's process wrote the answer, so it can be any JSON value.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

__all__ = ["difference", "same"]

#: Two engines may add in a different order; a finite difference never gets this close.
CLOSE = 1e-13


def same(answer: Any, expected: Any) -> bool:
    """Return whether two answers agree: equal types and shapes, numbers equal up to rounding."""
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
               or (math.isfinite(b) and abs(a - b) <= CLOSE * scale) for a, b in pairs)


def difference(answer: Any, expected: Any) -> str:
    """Describe a difference without quoting the answer, which may contain the probes' seeds."""
    if not isinstance(answer, dict):
        return "a probe got no answer"
    if "raises" in answer and "raises" not in expected:
        return f"a probe raised {_raised(answer)}, but the reference engine returns a value"
    if "raises" in expected and "raises" not in answer:
        return f"a probe returned a value, but the reference engine raises {expected['raises']}"
    if "raises" in expected:
        return (f"a probe raised {_raised(answer)}, but the reference engine raises "
                f"{expected['raises']}")
    return "a probe returned different values than the reference engine"


def _raised(answer: dict[str, Any]) -> str:
    """Return the name of a built-in exception; any other name could carry a message."""
    name = answer["raises"]
    known = vars(builtins).get(name) if isinstance(name, str) else None
    if isinstance(known, type) and issubclass(known, BaseException):
        return known.__name__
    return "an exception that is not built in"
