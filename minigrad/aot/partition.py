"""Partition: which values the forward pass saves, and which the backward pass computes again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .program import Step, Value, live_steps
from .record import Recorded


@dataclass(slots=True)
class Partition:
    """The joint program, cut in two."""

    forward: list[Step]
    backward: list[Step]
    saved: list[Value]  # inputs, constants aside, and results of forward steps


def partition(recorded: Recorded) -> Partition:
    """Save what the backward pass needs; compute views again, which costs nothing."""
    return cut(recorded, {id(v) for step in recorded.forward if not step.view
                          for v in step.outputs})


def cut(recorded: Recorded, may_save: set[int]) -> Partition:
    """Cut a joint program so that the backward pass gets values in `may_save`, and inputs.

    What else it needs, it computes again.
    """
    makers = {id(v): step for step in recorded.forward for v in step.outputs}
    own = {id(v) for step in recorded.backward for v in step.outputs}
    own.update(map(id, recorded.tangents))
    saved: dict[int, Value] = {}
    again: set[int] = set()
    stack = [v for step in recorded.backward for v in step.inputs()]
    stack += [v for v in recorded.gradients if v is not None]
    while stack:
        value = stack.pop()
        if id(value) in own or value.array is not None or id(value) in saved:
            continue
        step = makers.get(id(value))
        if step is None or id(value) in may_save:
            saved[id(value)] = value
        elif id(step) not in again:
            again.add(id(step))
            stack += step.inputs()
    backward = [*(s for s in recorded.forward if id(s) in again), *recorded.backward]
    outputs: list[Any] = [r.value for r in recorded.results]
    outputs += [write.value for write in recorded.written]
    kept = list(saved.values())
    return Partition(live_steps(recorded.forward, [*outputs, *kept]),
                     [s for s in backward if not s.random], kept)
