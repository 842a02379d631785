# Stage 15, Compiling: the backward pass as a program: the exercise for minigrad/aot/trace/joint.py.
# Made by `minigrad dev build`. The lesson is lessons/15_compile.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 15
# docs/en/glossary.md explains the names used inside the package.

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
        # 15.4 The joint program (about 15 lines)
        # Record a backward pass by running the engine on traced arrays. `backward_steps`
        # returns the Values of the tangents (the gradients of the roots) and of the leaves'
        # gradients. `apply` runs one node.
        #   root x.exp(), leaves [x, y]           -> [tangent], [mul, None], with a step mul
        #   formulas of an op raise Unrecordable  -> recording.formulas(...), a single step
        # Mind:
        # - A tangent is an input, "tangent", with its root's shape and dtype.
        # - First go back to before the attempt. Only an op (`is_op`) has formulas, so other
        #   nodes raise.
        # - Leave the leaves' `.grad` alone.
        # - A formula may write to a gradient, so read each at the end.
        # Use: `_state.program.get()`, `execute`, `_edge()`, `as_traced`,
        # `self.nodes_to_execute`.
        raise NotImplementedError("15.4 The joint program is yours to write")


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
    # 15.4 The joint program: see the task at `RecordingTask.apply`.
    raise NotImplementedError("15.4 The joint program is yours to write")


def as_traced(recording: Recording, gradient: Any) -> TracedArray:
    """Return a gradient as a traced array; one that depends on no input is a constant."""
    if isinstance(gradient, Tensor):
        gradient = gradient._array
    if type(gradient) is TracedArray:
        return gradient
    array = np.array(gradient)
    return recording.traced(array, recording.value("constant", array, constant=True))
