"""One pass run many times, for the rows of a jacobian: what does not change is looked up once.

Beside a pass for each row, the jacobian of a network from 100 to 100 takes 0.4 of the time: the row
"jacobian, row by row" of `python benchmarks/functional.py`, with and without `jacobian_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..backend import BACKENDS, backend_of
from ..engine.input_buffer import combine
from ..engine.validate import match_metadata
from ..graph.node import GraphRoot
from ..tensor.tensor import Tensor
from .planned_task import PlannedTask, edges_of

Array = Any
#: The key under which gradients add up: a node, or a node and the number of its output.
Place = Any


def place_of(node: Any, index: int) -> Place:
    """Return the key under which the gradients of an output add up."""
    return node if node is None or node.num_inputs == 1 else (node, index)


class Replay:
    """The pass from one output to some inputs, on arrays; it keeps the graph."""

    def __init__(self, output: Tensor, inputs: Sequence[Tensor]) -> None:
        start, ends = output._edge(), [x._edge() for x in inputs]
        task = PlannedTask(True, False)
        root = GraphRoot([start], [None])
        task.find_nodes_to_execute(root, {node for node, _ in ends if node is not None})
        self.needed: set[Any] = task.nodes_to_execute or set()
        self.start, self.ends = place_of(*start), [place_of(*end) for end in ends]
        watched = [node for node in self.needed if node.extras is not None]
        self.possible = (task.order is not None and not watched and start[0] is not None
                         and start[0].extras is None)
        self.steps = []
        for node in task.order or ():
            edges = [(position, place_of(end, index), *end.metadata_of(index), end, index)
                     for position, (end, index) in enumerate(edges_of(node)) if end in self.needed]
            if edges:
                self.possible = self.possible and node.is_op
                grads = [place_of(node, i) for i in range(node.num_inputs)]
                self.steps.append((node, grads, edges))

    def run(self, grad: Array) -> list[Array | None]:
        """Return the gradients that arrive at the inputs for one at the output."""
        arrived: dict[Place, Array] = {self.start: grad}
        needed, taken = self.needed, arrived.get
        for node, places, edges in self.steps:
            results = node.apply_arrays([*map(taken, places)], needed)
            for position, place, shape, dtype, end, index in edges:
                result = results[position]
                if result is None:
                    continue
                if type(result) not in BACKENDS or result.dtype is not dtype or (
                        result.shape != shape):
                    result = match_metadata(result, end, index, node, position)
                before = taken(place)
                arrived[place] = result if before is None else combine(before, result)
        return [*map(taken, self.ends)]


def jacobian_rows(output: Tensor, inputs: Sequence[Tensor]) -> list[Tensor | None] | None:
    """Return the rows of an output's jacobian for each input, as one tensor each.

    None if a node on the way needs the engine; None in the list where nothing depends on an input.
    """
    replay = Replay(output, inputs)
    if not replay.possible:
        return None
    array, size = output._array, output.numel()
    xp = backend_of(array)
    units = xp.zeros((size, *array.shape), array.dtype)
    units.reshape(-1)[:: size + 1] = 1
    stacks: list[Any] = [None] * len(inputs)
    for i in range(size):
        for j, found in enumerate(replay.run(units[i, ...])):
            if found is not None:
                if stacks[j] is None:
                    stacks[j] = xp.zeros((size, *found.shape), found.dtype)
                stacks[j][i] = found
    return [None if stack is None else Tensor._plain(stack) for stack in stacks]
