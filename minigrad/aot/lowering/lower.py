"""Lowering: an op's step becomes the NumPy calls that its forward makes.

NOTE [Lowering]
    A program of ops hides what they have in common.  GELU's derivative computes the same error
    function as its forward, but inside a single step no pass can find it.  Therefore each forward
    runs once on sketches, and the NumPy calls that it makes take the place of its step.  Then both
    halves share equal calls, the cut may save a value in the middle of an op, and a call may write
    over an operand.  If a forward does anything else, its step stays as it is.
"""

from __future__ import annotations

from itertools import chain, count
from typing import Any

import numpy as np

from ... import _state
from ..program import Step, Value, replace_values, values_among
from ..trace.record import Recorded, simplify
from .backend import sketching
from .sketch import Opaque, Sketch, layout


def lower(recorded: Recorded) -> None:
    """Replace steps by NumPy calls where that is possible, and share the equal ones."""
    recorded.forward = [each for step in recorded.forward for each in calls_of(step)]
    recorded.backward = [each for step in recorded.backward for each in calls_of(step)]
    undo_double_transposes(recorded)
    simplify(recorded)
    taken = {v.name for v in (*recorded.inputs, *recorded.tangents)}
    for step in (*recorded.forward, *recorded.backward):
        for value in step.outputs:
            value.name = unused(value.name, taken)
            taken.add(value.name)


def undo_double_transposes(recorded: Recorded) -> None:
    """Let the backward half use a matrix itself in place of the transpose of its transpose.

    The forward half keeps both, because each result of the function is another tensor.
    """
    transposed = {id(step.outputs[0]): step.arguments[0]
                  for step in (*recorded.forward, *recorded.backward) if step.op == "T"}
    undone: dict[int, Value] = {}
    for step in recorded.backward:
        step.arguments = replace_values(step.arguments, undone)
        if step.op == "T" and id(step.arguments[0]) in transposed:
            undone[id(step.outputs[0])] = transposed[id(step.arguments[0])]
    recorded.gradients = [replace_values(each, undone) for each in recorded.gradients]


def unused(wanted: str, taken: set[str]) -> str:
    """Return a name that is not taken, such as add, add_1 or add_2."""
    names = chain([wanted], (f"{wanted}_{number}" for number in count(1)))
    return next(name for name in names if name not in taken)


def calls_of(step: Step) -> list[Step]:
    """Return the steps that take the place of one, with the same outputs, or that one itself."""
    if step.random or step.view or not step.outputs:
        return [step]
    steps: list[Step] = []
    sketches = {id(v): Sketch(stand_in(v), steps, v) for v in values_among(step.arguments)}
    try:
        results = run(step, sketches)
    except Exception:  # of any kind, because a forward may do anything with an array
        return [step]
    sketched = [each.inner for each in results]
    made = [id(each.value) for each in results]
    fresh = {id(v) for each in steps if not each.view for v in each.outputs}
    if not (fresh.issuperset(made) and len(set(made)) == len(made)
            and list(map(layout, sketched)) == list(map(layout, step.outputs))):
        return [step]
    outputs = dict(zip(made, step.outputs, strict=True))
    for each in steps:
        each.arguments = replace_values(each.arguments, outputs)
        each.outputs = [outputs.get(id(v), v) for v in each.outputs]
    return steps


def run(step: Step, sketches: dict[int, Sketch]) -> list[Sketch]:
    """Run a step on sketches of its Values."""
    def given(argument: Any) -> Any:
        if type(argument) is Value:
            return sketches[id(argument)]
        return type(argument)(map(given, argument)) if type(argument) in (list, tuple) else argument

    with _state.having(_state.grad_enabled, False):
        result = step.call(sketching, *map(given, step.arguments))
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    if not all(type(each) is Sketch for each in results):
        raise Opaque("a result that depends on no operand")
    return results


def stand_in(value: Value) -> np.ndarray[Any, Any]:
    """Return an array of ones with the shape, dtype and strides of a Value."""
    reach = [(n - 1) * s for n, s in zip(value.shape, value.strides, strict=True)]
    span = sum(map(abs, reach)) if 0 not in value.shape else 0
    room = np.ones(span // value.dtype.itemsize + 1, value.dtype)
    first = sum(-each for each in reach if each < 0) if span else 0
    return np.ndarray(value.shape, value.dtype, room, first, value.strides)
