"""Nodes that PyTorch runs in a pass to given inputs, although the result does not need them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..graph.node import GraphRoot, Node

if TYPE_CHECKING:
    from .graph_task import GraphTask


def note_extra_nodes(task: GraphTask, root: GraphRoot, ends: set[Node], accumulate: bool) -> None:
    """Add such nodes to a task that ends at the nodes `ends`."""
    if accumulate:
        note_made_inputs(task, ends)
    if len(root.edges) == 1:
        note_lone_root(task, root)


def note_made_inputs(task: GraphTask, ends: set[Node]) -> None:
    """Make the pass run the nodes that made the inputs into which it accumulates.

    Their results are discarded, but their saved values are checked and freed.
    """
    needed = task.nodes_to_execute or set()
    for node in ends:
        if node.is_op and not any(n in needed for n, _ in node.edges):
            task.captures[node] = {}


def note_lone_root(task: GraphTask, root: GraphRoot) -> None:
    """Make the pass run the hooks of a single root, even if the root leads to no input."""
    ((node, _),) = root.edges
    needed = task.nodes_to_execute
    if needed is not None and node is not None and node not in needed:
        task.nodes_to_execute = needed | {node, root}
        task.captures[node] = {0: []}
