"""The joint program: the engine runs the backward pass on traced arrays, which records it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import _state
from ...engine.engine import execute
from ...engine.graph_task import GraphTask
from ...tensor.tensor import Tensor
from ..program import Value
from .arrays import TracedArray
from .recording import Recording
from .refusal import Unrecordable


class RecordingTask(GraphTask):
    """A backward pass that records the ops of each formula, or else the formulas as one step."""

    def apply(self, node: Any, grads: Sequence[Any]) -> Sequence[Any]:
        """Run a node; return the gradients of its inputs."""
        recording = _state.program.get()
        if not node.is_op:
            return super().apply(node, grads)
        before = recording.mark()
        try:
            return super().apply(node, grads)
        except Unrecordable:
            recording.go_back(before)
        return recording.formulas(node, grads, self.nodes_to_execute)


def backward(recording: Recording, roots: Sequence[Tensor], leaves: Sequence[Tensor]
             ) -> tuple[list[Value], list[Value | None]]:
    """Record the backward pass; return the Values of the roots' gradients and of the leaves'."""
    if not roots or not leaves:
        return [], [None] * len(leaves)
    try:
        return backward_steps(recording, roots, leaves)
    except Unrecordable:
        raise
    except Exception as error:
        raise recording.refuse(f"the backward pass raises {type(error).__name__}: "
                               f"{error}") from error


def backward_steps(recording: Recording, roots: Sequence[Tensor], leaves: Sequence[Tensor]
                   ) -> tuple[list[Value], list[Value | None]]:
    """Record the steps of a backward pass; return what `backward` returns."""
    tangents = [recording.input(np.zeros(t._array.shape, t._array.dtype), "tangent")
                for t in roots]
    values = [t.value for t in tangents]
    found = execute([t._edge() for t in roots], tangents, False, False,
                    [leaf._edge() for leaf in leaves], accumulate=False, task_class=RecordingTask)
    return values, [None if g is None else recording.read(as_traced(recording, g)) for g in found]


def as_traced(recording: Recording, gradient: Any) -> TracedArray:
    """Return a gradient as a traced array; one that depends on no input is a constant."""
    if isinstance(gradient, Tensor):
        gradient = gradient._array
    if type(gradient) is TracedArray:
        return gradient
    array = np.array(gradient)
    return recording.traced(array, recording.value("constant", array, constant=True))
