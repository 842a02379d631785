"""Pictures of what the engine recorded, and of what it does with it."""

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
