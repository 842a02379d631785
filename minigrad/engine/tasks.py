"""Which backward pass is running on this thread, and which nodes it will run.

Hooks and checkpointing need to know this.  If passes are nested, the innermost one counts.
"""

from __future__ import annotations

from typing import Any

from ..graph.node import Node
from .engine import _running

Task = Any


def current_task() -> Task | None:
    """Return the innermost backward pass that is running on this thread, or `None`.

    >>> current_task() is None
    True
    """
    tasks = _running.tasks
    return tasks[-1] if tasks else None


def will_execute(node: Node) -> bool:
    """Return whether the current backward pass reaches `node`; raise if no pass is running.

    A node that only captures a gradient for `grad` counts as reached.
    """
    task = current_task()
    if task is None:
        raise RuntimeError("_get_should_execute_nodes should only be called during the backward "
                           "pass")
    needed = task.nodes_to_execute
    return task.reaches(node) and (needed is None or node in needed)


def is_checkpoint_valid() -> bool:
    """Return whether all running passes cover the whole graph, without `grad` or `inputs`.

    Reentrant checkpointing requires that, because it accumulates into leaves.
    """
    return all(task.nodes_to_execute is None for task in _running.tasks)
