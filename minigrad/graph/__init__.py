"""The graph that a backward pass walks: nodes, their edges, and what they save."""

from .node import Edge, GraphRoot, Node

__all__ = ["Edge", "GraphRoot", "Node"]
