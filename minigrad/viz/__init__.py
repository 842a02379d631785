"""Pictures of what the engine recorded."""

from .graph import Graph, graph
from .walk import node_saves, saved_tensors, walk

__all__ = ["Graph", "graph", "node_saves", "saved_tensors", "walk"]
