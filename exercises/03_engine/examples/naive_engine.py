# Stage 03, The engine: the exercise for minigrad/examples/naive_engine.py.
# Made by `minigrad dev build`. The lesson is lessons/03_engine.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 03
# docs/en/glossary.md explains the names used inside the package.

"""The obvious engine sends every gradient on immediately until it reaches a leaf.

It walks the graph that minigrad records, and its result is right whenever it finishes.  Stage 03
begins with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.validate import validate_outputs
from ..graph.accumulate_grad import AccumulateGrad
from ..graph.node import Node
from ..tensor.tensor import Tensor

Array = Any


class NaiveEngine:
    """A backward pass that follows every path.

    `gradients` maps each leaf to its gradient so far, and `calls` counts the calls of nodes.
    """

    def __init__(self) -> None:
        self.gradients: dict[Tensor, Array] = {}
        self.calls = 0

    def backward(self, result: Tensor) -> dict[Tensor, Array]:
        """Return the gradient of the sum of `result` with respect to each leaf it depends on."""
        node, index = result._edge()
        if node is not None:
            self.send(node, index, np.ones_like(result._array))
        return self.gradients

    def send(self, node: Node, index: int, grad: Array) -> None:
        """Pass `node` the gradient of output `index`, and send its results on immediately.

        The node of a leaf is an `AccumulateGrad`, whose `variable` is the leaf.
        """
        # 03.1 The obvious engine (about 7 lines)
        # At the node of a leaf, add the gradient to `self.gradients[node.variable]`. Call
        # every other node, and send each result along its edge.
        #   x * x at x = 3.0                 -> {x: 6.0}, after 1 call
        #   x * y + x at x = 2.0, y = 5.0    -> {x: 6.0, y: 2.0}, after 2 calls
        # Mind:
        # - Never write to an array, because other code may hold it.
        # - If the target or the result is `None`, don't send anything.
        # Use: `self.call(node, index, grad)` returns one result for each `(target, number)`
        # in `node.edges`.
        raise NotImplementedError("03.1 The obvious engine is yours to write")

    def call(self, node: Node, index: int, grad: Array) -> Sequence[Array | None]:
        """Call a node with the gradient of one output; return a result for each of its edges.

        A result is an array with the receiver's shape, or `None` for zero.
        """
        self.calls += 1
        grads: list[Array | None] = [None] * node.num_inputs
        grads[index] = grad
        results = validate_outputs(node, grads, node.apply_arrays(grads, None))
        return [None if result is None else result.value for result in results]
