"""Lowering: an op's step becomes the NumPy calls that its forward makes.

NOTE [Lowering]
    A program of ops hides what they have in common.  The derivative of GELU computes the same error
    function as its forward, but inside a single step nothing can see that.  Therefore each forward
    runs once on sketches, and the NumPy calls that it makes take the place of its step.  Then equal
    calls are shared between the passes, the cut may save a value in the middle of an op, and chains
    of calls can be fused across ops.  A forward that does anything else keeps its step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _state
from ..program import Step, Value, replace_values, values_among
from ..trace.record import Recorded, simplify
from .sketch import Opaque, Sketch, layout, sketching


def lower(recorded: Recorded) -> None:
    """Replace the steps of a recorded call by NumPy calls where that is possible, and share them.
    """
    recorded.forward = [each for step in recorded.forward for each in calls_of(step)]
    recorded.backward = [each for step in recorded.backward for each in calls_of(step)]
    simplify(recorded)


def calls_of(step: Step) -> list[Step]:
    """Return the steps that a step consists of, or the step itself; the outputs are the same."""
    if step.random or step.view or not step.outputs:
        return [step]
    steps: list[Step] = []
    sketches: dict[int, Sketch] = {}
    for value in values_among(step.arguments):
        if id(value) not in sketches:
            sketches[id(value)] = Sketch(stand_in(value), steps, value)
    try:
        results = run(step, sketches)
        made = [result.value for result in results]
        fresh = {id(v) for each in steps if not each.view for v in each.outputs}
        if {*map(id, made)} <= fresh and len({*map(id, made)}) == len(made) == len(
                step.outputs) and all(layout(r.inner) == layout(v) for r, v in zip(
                    results, step.outputs, strict=True)):
            return with_outputs(steps, dict(zip(map(id, made), step.outputs, strict=True)))
    except Exception:  # any: a forward may do anything with an array, and then its step stays
        pass
    return [step]


def run(step: Step, sketches: dict[int, Sketch]) -> list[Sketch]:
    """Run a step on sketches."""
    def given(argument: Any) -> Any:
        if type(argument) is Value:
            return sketches[id(argument)]
        return type(argument)(map(given, argument)) if type(argument) in (list, tuple) else argument

    with _state.having(_state.grad_enabled, False):
        result = step.call(sketching, *map(given, step.arguments))
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    if not all(type(each) is Sketch for each in results):
        raise Opaque("a result that is no sketch")
    return results


def stand_in(value: Value) -> np.ndarray[Any, Any]:
    """Return an array of ones with the shape, dtype and strides of a Value."""
    span = sum((n - 1) * abs(s) for n, s in zip(value.shape, value.strides, strict=True))
    room = np.ones(span // value.dtype.itemsize + 1 if 0 not in value.shape else 1, value.dtype)
    return np.lib.stride_tricks.as_strided(room, value.shape, value.strides)


def with_outputs(steps: list[Step], outputs: dict[int, Value]) -> list[Step]:
    """Return steps whose results are the given Values, by the id of the ones that they replace."""
    for step in steps:
        step.arguments = replace_values(step.arguments, outputs)
        step.outputs = [outputs.get(id(v), v) for v in step.outputs]
    return steps
