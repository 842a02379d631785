"""Where two traces differ first, and in what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .births import Births
from .interpret import Outcome, Trace
from .program import Program, from_gradients, target

#: How far apart values may lie, relative to the largest of the tensor.
TOLERANCE = {"float64": 1e-6, "float32": 1e-3, "float16": 5e-2, "bfloat16": 5e-1}


#: Kinds of differences after which the values may still be compared: how a tensor came about.
STRUCTURE = ("grad_fn", "is_view", "version", "output_nr", "length", "is_inference")


class Loose(np.ndarray):
    """An array whose elements may be off by `allowed`; see rounding.py."""

    allowed: np.ndarray

    @classmethod
    def of(cls, array: np.ndarray, allowed: np.ndarray) -> Loose:
        """Return an array with what its elements may be off by."""
        made = array.view(cls)
        made.allowed = allowed
        return made


@dataclass
class Difference:
    """Something that differs."""

    kind: str  # a word for tables: "value", "refused", "is_leaf", "grad.value", ...
    where: str  # the line, or the name looked at in the end
    theirs: Any
    ours: Any

    def __str__(self) -> str:
        return f"{self.kind} in `{self.where}`\n  PyTorch:  {self.theirs}\n  minigrad: {self.ours}"


def compare(program: Program, theirs: Trace, ours: Trace) -> Difference | None:
    """Return the first difference of two traces of a program.

    One in values, gradients or errors goes before one in structure, however late it comes: that
    a node has another name must not hide that a gradient is wrong.
    """
    structural = None
    for found in differences(program, theirs, ours):
        if found.kind.rpartition(".")[2] not in STRUCTURE:
            return found
        structural = structural or found
    return structural


def differences(program: Program, theirs: Trace, ours: Trace) -> Iterator[Difference]:
    """Yield the differences of two traces, until one took another way than the other."""
    private, births = from_gradients(program), Births()
    for line, a, b in zip(program, theirs.outcomes, ours.outcomes):
        if a.error != b.error:
            kind = ("accepted" if b.error is None else "refused" if a.error is None else "error")
            yield Difference(kind, line, said(a), said(b))
            return
        if a.error is not None and refused_late(line, a.text):
            return  # what the memory holds now is nobody's business
        births.note(line, a.value, b.value)
        counted = target(line) not in private
        for what, x, y, public in (("", *births.counted(target(line), a.value, b.value), counted),
                                     ("seen.", a.seen, b.seen, False)):
            for kind, *sides in differ(x, y, public):
                yield Difference(what + kind, line, *sides)
    for name in sorted(theirs.state.keys() | ours.state.keys()):
        states = births.counted(name, theirs.state.get(name), ours.state.get(name))
        for kind, *sides in differ(*states, name not in private):
            yield Difference("end." + kind, name, *sides)


def refused_late(line: str, text: str) -> bool:
    """Tell whether PyTorch has refused a write when it had already written."""
    return ("Inplace update to inference tensor" in text or "masked_scatter_(" in line
            or ("is out of bounds for dimension" in text and "] " in line)
            or ("put_(" in line and "out of range" in text)
            or ("_.apply(" in line and re.search("(modified inplace|in-place operation)", text)
                is not None))


def said(outcome: Outcome) -> str:
    return "no error" if outcome.error is None else f"{outcome.error}: {outcome.text[:200]}"


def differ(x: Any, y: Any, public: bool) -> Iterator[tuple[str, Any, Any]]:
    """Yield what differs between two descriptions, and both sides of it."""
    if isinstance(x, dict) and isinstance(y, dict):
        for key in x:
            if key in ("version", "is_view", "grad_fn", "output_nr") and not public:
                continue
            for found in differ(x[key], y.get(key), public and key != "grad"):
                if key == "value" and x["dtype"] != y["dtype"]:
                    yield "dtype", x["dtype"], y["dtype"]
                    return
                yield (key if found[0] == "value" else f"{key}.{found[0]}", *found[1:])
    elif isinstance(x, list) and isinstance(y, list):
        if len(x) != len(y):
            yield "length", x, y
            return
        for a, b in zip(x, y):
            yield from differ(a, b, public)
    elif not same(x, y):
        yield "value", x, y


def same(x: Any, y: Any) -> bool:
    """Tell whether two plain values agree."""
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return close(x, y)
    if isinstance(x, float) and isinstance(y, float):
        return close(np.array(x), np.array(y))
    return type(x) is type(y) and bool(x == y)


def close(x: np.ndarray, y: np.ndarray) -> bool:
    """Tell whether arrays agree to what their dtype allows."""
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    if isinstance(x, Loose):
        return bool(near(x, y, x.allowed).all())
    if x.dtype.kind != "f":
        return bool((x == y).all())
    return bool(near(x, y).all())


def near(x: np.ndarray, y: np.ndarray, allowed: np.ndarray | float = 0.0) -> np.ndarray:
    """Tell of each element whether it agrees, or is off by no more than is allowed."""
    x = np.asarray(x)
    if x.dtype.kind != "f":
        return np.asarray((x == y) | (allowed == np.inf))
    tolerance = TOLERANCE[x.dtype.name]
    with np.errstate(all="ignore"):  # inf - inf is among what is compared
        finite = np.abs(x[np.isfinite(x)])
        usual = np.isclose(y, x, tolerance, tolerance * finite.max(initial=1e-3), equal_nan=True)
        off = np.abs(y.astype(float) - x.astype(float))
        return np.asarray(usual | (off <= allowed) | (allowed == np.inf))
