"""Pictures of recorded graphs and of backward passes."""

from .graph import Graph, graph
from .stepper import BackwardSteps, backward_steps
from .walk import node_saves, saved_tensors, walk

__all__ = [
    "BackwardSteps",
    "Graph",
    "backward_steps",
    "graph",
    "node_saves",
    "saved_tensors",
    "walk",
]
