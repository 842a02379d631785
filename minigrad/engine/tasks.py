"""The backward pass that is running on this thread, and the nodes that it will run.

Hooks and recomputation ask this; a backward pass inside another one is the innermost.
"""

from __future__ import annotations

from typing import Any

from ..graph.node import Node
from .engine import _running

Task = Any


def current_task() -> Task | None:
    """Return the innermost backward pass that is running on this thread, or None.

    >>> current_task() is None
    True
    """
    tasks = _running.tasks
    return tasks[-1] if tasks else None


def will_execute(node: Node) -> bool:
    """Tell whether the backward pass that is running reaches `node`; `RuntimeError` outside one.

    A node that only captures a gradient for `grad` counts as reached.
    """
    task = current_task()
    if task is None:
        raise RuntimeError("_get_should_execute_nodes should only be called during the backward "
                           "pass")
    needed = task.nodes_to_execute
    return task.reaches(node) and (needed is None or node in needed)


def is_checkpoint_valid() -> bool:
    """Tell whether every pass under way runs the whole graph: none is `grad` or has `inputs`.

    Reentrant checkpointing accumulates into leaves, so it needs that.
    """
    return all(task.nodes_to_execute is None for task in _running.tasks)
