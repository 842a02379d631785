"""Nodes that run in a pass to given inputs although no gradient is asked of them, as in PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..graph.node import GraphRoot, Node

if TYPE_CHECKING:
    from .graph_task import GraphTask


def note_extra_nodes(task: GraphTask, root: GraphRoot, ends: set[Node], accumulate: bool) -> None:
    """Add the nodes to `task.nodes_to_execute` and `task.captures`; `ends` are the inputs'."""
    if accumulate:
        note_made_inputs(task, ends)
    if len(root.edges) == 1:
        note_lone_root(task, root)


def note_made_inputs(task: GraphTask, ends: set[Node]) -> None:
    """Have the nodes run that made the inputs into which a pass accumulates.

    Nobody uses their results, but their saved values are checked, and freed.
    """
    needed = task.nodes_to_execute or set()
    for node in ends:
        if node.is_op and not any(n in needed for n, _ in node.edges):
            task.captures[node] = {}


def note_lone_root(task: GraphTask, root: GraphRoot) -> None:
    """Have the hooks of a single root run, even where no input lies behind it."""
    ((node, _),) = root.edges
    needed = task.nodes_to_execute
    if needed is not None and node is not None and node not in needed:
        task.nodes_to_execute = needed | {node, root}
        task.captures[node] = {0: []}
