"""Where two traces differ first, and in what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .interpret import Outcome, Trace
from .program import Program, from_gradients, target

#: How far apart values may lie, relative to the largest of the tensor.
TOLERANCE = {"float64": 1e-6, "float32": 1e-3, "float16": 5e-2, "bfloat16": 5e-1}


@dataclass
class Difference:
    """The first thing that differs."""

    kind: str  # a word for tables: "value", "refused", "is_leaf", "grad.value", ...
    where: str  # the line, or the name looked at in the end
    theirs: Any
    ours: Any

    def __str__(self) -> str:
        return f"{self.kind} in `{self.where}`\n  PyTorch:  {self.theirs}\n  minigrad: {self.ours}"


def compare(program: Program, theirs: Trace, ours: Trace) -> Difference | None:
    """Return the first difference of two traces of a program."""
    private = from_gradients(program)
    for line, a, b in zip(program, theirs.outcomes, ours.outcomes):
        if a.error != b.error:
            kind = ("accepted" if b.error is None else "refused" if a.error is None else "error")
            return Difference(kind, line, said(a), said(b))
        if a.error is not None and refused_late(line, a.text):
            return None  # what the memory holds now is nobody's business
        counted = target(line) not in private
        for what, x, y, public in (("", a.value, b.value, counted),
                                     ("seen.", a.seen, b.seen, False)):
            if (found := differ(x, y, public)) is not None:
                return Difference(what + found[0], line, *found[1:])
    for name in theirs.state.keys() | ours.state.keys():
        found = differ(theirs.state.get(name), ours.state.get(name),
                       name not in private)
        if found is not None:
            return Difference("end." + found[0], name, *found[1:])
    return None


def refused_late(line: str, text: str) -> bool:
    """Tell whether PyTorch has refused a write when it had already written."""
    return "Inplace update to inference tensor" in text or "masked_scatter_(" in line


def said(outcome: Outcome) -> str:
    return "no error" if outcome.error is None else f"{outcome.error}: {outcome.text[:200]}"


def differ(x: Any, y: Any, public: bool) -> tuple[str, Any, Any] | None:
    """Return what differs first between two descriptions, and both sides of it."""
    if isinstance(x, dict) and isinstance(y, dict):
        for key in x:
            if key in ("version", "is_view", "grad_fn", "output_nr") and not public:
                continue
            found = differ(x[key], y.get(key), public and key != "grad")
            if found is not None:
                if key == "value" and x["dtype"] != y["dtype"]:
                    return "dtype", x["dtype"], y["dtype"]
                return key if found[0] == "value" else f"{key}.{found[0]}", *found[1:]
        return None
    if isinstance(x, list) and isinstance(y, list):
        if len(x) != len(y):
            return "length", x, y
        for a, b in zip(x, y):
            if (found := differ(a, b, public)) is not None:
                return found
        return None
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return None if close(x, y) else ("value", x, y)
    if isinstance(x, float) and isinstance(y, float):
        return None if close(np.array(x), np.array(y)) else ("value", x, y)
    return None if type(x) is type(y) and x == y else ("value", x, y)


def close(x: np.ndarray, y: np.ndarray) -> bool:
    """Tell whether arrays agree to what their dtype allows."""
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    if x.dtype.kind != "f":
        return bool((x == y).all())
    tolerance = TOLERANCE[x.dtype.name]
    with np.errstate(all="ignore"):
        finite = np.abs(x[np.isfinite(x)])
        return np.allclose(y, x, tolerance, tolerance * finite.max(initial=1e-3), equal_nan=True)
