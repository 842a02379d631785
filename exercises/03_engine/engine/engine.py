# Stage 03, The engine: the exercise for minigrad/engine/engine.py.
# Made by `minigrad dev build`. The lesson is lessons/03_engine.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 03
# docs/en/glossary.md explains the names used inside the package.

"""The engine: runs each node of the graph once, as soon as all its gradients have arrived.

A backward pass is a `GraphTask`.  Starting at the roots, it counts how many edges lead into each
node.  Then it runs the ready nodes, latest forward first.  It adds each result to the buffer of the
node at the edge's end, and that node becomes ready when its last gradient arrives.  The engine does
not recurse, so a graph may be a million nodes deep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import local
from typing import Any

from .. import _state
from ..backend import DEVICES
from ..backend.float_errors import starts_a_pass
from ..graph.node import GraphRoot
from ..tensor.tensor import Tensor
from .graph_task import Edge, GraphTask
from .reentrant import MAX_DEPTH, in_fresh_thread

Value = Any  # an array or a tensor, see NOTE [Arrays or tensors] in input_buffer.py


#: The error of `queue_callback` if no pass is running.
NO_PASS = "Final callbacks can only be installed during backward pass."


class _Running(local):
    """The backward passes that are running on this thread, outermost first."""

    def __init__(self) -> None:
        self.tasks: list[GraphTask] = []


_running = _Running()

#: The default class of a pass; `codegen/` replaces it with one that plans the order of nodes.
task_type: type[GraphTask] = GraphTask


def jacobian_rows(output: Tensor, inputs: Sequence[Tensor]) -> list[Tensor | None] | None:
    """Return the rows of a jacobian by repeating one pass, or `None` if each row needs its own.

    `codegen/` replaces this function.
    """
    return None


def execute(edges: Sequence[Edge], grads: Sequence[Value], retain_graph: bool, create_graph: bool,
            inputs: Sequence[Edge] | None = None, accumulate: bool = True,
            task_class: type[GraphTask] | None = None) -> list[Value | None]:
    """Run a backward pass that starts with `grads` at `edges`; return the gradients of `inputs`.

    With `inputs`, only the nodes on a path to them run.  With `accumulate`, the pass adds to
    `.grad`; otherwise it returns the gradients and leaves every `.grad` alone.
    """
    on_tensors = bool(grads) and isinstance(grads[0], Tensor)
    task = (task_class or task_type)(retain_graph, create_graph, on_tensors)
    root = GraphRoot(edges, grads)
    if inputs is not None:
        task.end_at(root, inputs, accumulate)
    run = _run_here if len(_running.tasks) < MAX_DEPTH else in_fresh_thread(_run_here)
    run(task, root)
    return list(map(task.captured.get, range(len(inputs or ()))))


def _run_here(task: GraphTask, root: GraphRoot) -> None:
    """Run a task on this thread, in the grad mode that it needs.

    The order of these lines is safe even if Ctrl-C interrupts after any call: the function
    changes no state before the `try`, and it restores the mode, which takes a call, last.
    """
    # 03.8 Cleaning up after a pass (about 13 lines)
    # During `_run_here`, the grad mode is `task.create_graph`, and the task is last in
    # `_running.tasks`. `_run_nodes(task, root)` does the work. Then call and remove the
    # functions in `task.callbacks`. `queue_callback` adds one to the innermost pass.
    #   callbacks a, b, and a queues c   -> called a, b, c
    # Mind:
    # - Afterwards, mode and `_running.tasks` are as before, even after an error.
    # - If no pass is running, raise RuntimeError(NO_PASS).
    # Use: `_state.grad_enabled.get()`, `.set(mode)`.
    raise NotImplementedError("03.8 Cleaning up after a pass is yours to write")


@starts_a_pass
def _run_nodes(task: GraphTask, root: GraphRoot) -> None:
    """Run all nodes, under anomaly mode if it is enabled."""
    task.recorder, task.several_devices = _state.recorder.get(), len(DEVICES) > 1
    if _state.anomaly.enabled:
        _run_watched(task, root)
    else:
        task.count_dependencies(root)
        task.run(root)


def _run_watched(task: GraphTask, root: GraphRoot) -> None:
    """Run all nodes, and let anomaly mode check each of them."""
    task.evaluate = _state.anomaly.watched(task.evaluate)  # type: ignore[assignment]  # until `del`
    try:
        task.count_dependencies(root)
        task.run(root)
    finally:
        del task.evaluate


def queue_callback(callback: Callable[..., Any]) -> None:
    """Call `callback()` after the current backward pass has run all its nodes."""
    # 03.8 Cleaning up after a pass: see the task at `_run_here`.
    raise NotImplementedError("03.8 Cleaning up after a pass is yours to write")
