"""A backward pass to given inputs with its order, formulas and saved values looked up beforehand.

The rows of a jacobian take the same nodes in the same order with the same saved values, so a
`Replay` finds these once: each pass is then a list of formulas.  A single pass to given inputs is
shorter that way too.  It does what `GraphTask` does, for graphs of ops alone: hooks, Functions and
observers are the engine's.

NOTE [Order without counting]
    A node is newer than the nodes behind it, so going from the newest to the oldest every node has
    all its gradients when its turn comes.  That is the engine's order too.  A graph built by
    several threads, whose numbers cannot be compared, is left to the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from .. import _state
from ..backend import backend_of
from ..engine.graph_task import on_tensors
from ..engine.match_metadata import fit
from ..graph.accumulate_grad import AccumulateGrad
from ..graph.node import Node
from ..tensor.tensor import Tensor

Array = Any
Gradient = Any  # an array or a tensor
Place = tuple[Any, int]  # an output of a node's forward: where gradients add up
#: One edge of a node: its formula as a function of the gradient, the place that its result goes to
#: with the shape and dtype wanted there, and its number among the node's edges.
Emitter = tuple[Callable[[Gradient], Gradient], Place, tuple[int, ...], Any, int]
#: A node, its output and the edges that matter; None for these where it has several outputs.
Step = tuple[Node, list[Place], "list[Emitter] | None"]


class Replay:
    """The backward passes between some edges of a graph.

    >>> from minigrad import tensor
    >>> x = tensor([1.0, 2.0], requires_grad=True)
    >>> Replay.of([(x * x)._edge()], [x._edge()]).run([tensor([1.0, 10.0])._array])
    [array([ 2., 40.], dtype=float32)]
    """

    def __init__(self, steps: list[Step], starts: Sequence[Place], goals: Sequence[Place],
                 arrays: bool) -> None:
        self.steps = steps
        self.starts = starts
        self.goals = goals
        self.arrays = arrays

    @classmethod
    def of(cls, starts: Sequence[Any], goals: Sequence[Any], arrays: bool = True) -> Replay | None:
        """Return the passes from `starts` to `goals`; None where only the engine will do.

        Gradients are arrays, or tensors that record what is done with them.
        """
        if _state.observers.count or _state.anomaly.enabled or (arrays and on_tensors(False)):
            return None
        known = edges_behind([node for node, _ in starts])
        if known is None:
            return None
        needed = {node for node, _ in goals if node is not None}
        oldest_first = sorted(known, key=attrgetter("sequence"))
        running = []
        for node in oldest_first:
            if any(after in needed for after, _ in known[node]):
                needed.add(node)
                running.append(node)
        if any(node.extras is not None for node in needed):
            return None
        steps = []
        for node in reversed(running):
            if not hasattr(node, "op"):
                return None
            places = [(node, i) for i in range(node.num_inputs)]
            steps.append((node, places, emitters_of(node, known[node], needed, arrays)))
        return cls(steps, starts, goals, arrays)

    def release(self) -> None:
        """Drop what the nodes saved, as a pass does that keeps no graph."""
        for node, _, _ in self.steps:
            node.release()

    def run(self, grads: Sequence[Gradient]) -> list[Gradient | None]:
        """Return the gradients that arrive at the goals, for these gradients at the starts."""
        arrived: dict[Place, Gradient] = {}
        found, arrays = arrived.get, self.arrays
        for start, grad in zip(self.starts, grads, strict=True):
            before = found(start)
            arrived[start] = grad if before is None else before + grad
        for node, places, emitters in self.steps:
            if emitters is None:
                self.run_node(node, places, arrived)
                continue
            g = found(places[0])
            if g is None:
                continue
            for formula, place, shape, dtype, position in emitters:
                result = formula(g)
                if result is None:
                    continue
                array = result if arrays else result._array
                if getattr(array, "shape", None) != shape or array.dtype is not dtype:
                    result = fit(result, *place, node, position)
                before = found(place)
                arrived[place] = result if before is None else added(before, result)
        return [found(goal) for goal in self.goals]

    def run_node(self, node: Node, places: list[Place], arrived: dict[Place, Gradient]) -> None:
        """Run a node with several outputs or a list of inputs."""
        grads = [arrived.get(place) for place in places]
        results = node.apply_arrays(grads, None) if self.arrays else node.apply_tensors(grads)
        for position, (result, (after, index)) in enumerate(zip(results, node.edges, strict=True)):
            if result is not None and after is not None:
                result = fit(result, after, index, node, position)
                before = arrived.get((after, index))
                arrived[after, index] = result if before is None else added(before, result)


def added(before: Gradient, result: Gradient) -> Gradient:
    """Return the sum of two gradients; NumPy adds arrays without dimensions to a number."""
    total = before + result
    return np.asarray(total) if isinstance(total, np.generic) else total


def edges_behind(starts: Sequence[Any]) -> dict[Any, Any] | None:
    """Return the edges of all nodes that are reached; None if some are not older than before."""
    known: dict[Any, Any] = {}
    stack = list(starts)
    while stack:
        node = stack.pop()
        if node is None or node in known:
            continue
        edges = known[node] = edges_of(node)
        for after, _ in edges:
            if after is None:
                continue
            if after.sequence >= node.sequence and not isinstance(after, AccumulateGrad):
                return None
            stack.append(after)
    return known


def edges_of(node: Any) -> Sequence[Place]:
    """Return a node's edges as plain pairs."""
    if node.arity == 1:
        return ((node.next0, node.index0),)
    if node.arity == 2:
        return ((node.next0, node.index0), (node.next1, node.index1))
    edges: Sequence[Place] = node.edges
    return edges


def emitters_of(node: Any, edges: Sequence[Place], needed: set[Any],
                arrays: bool) -> list[Emitter] | None:
    """Return the formulas of the edges that matter; None if they do not belong to one gradient."""
    op = node.op
    if node.num_inputs != 1 or op.outputs or op.list_of_tensors is not None:
        return None
    emitters: list[Emitter] = []
    for position, ((formula, names), (after, index)) in enumerate(
            zip(op.formulas.values(), edges, strict=True)):
        if after is not None and after in needed:
            shape, dtype = after.metadata_of(index)
            emitters.append((bound(node, formula, names, arrays), (after, index), shape, dtype,
                             position))
    return emitters


def bound(node: Any, formula: Callable[..., Gradient], names: Sequence[str],
          arrays: bool) -> Callable[[Gradient], Gradient]:
    """Return a formula with all it needs but the gradient."""
    if names == ("g",):
        return formula
    rest = [node.value(n, (None,), arrays) for n in names if n != "g"]
    if names[0] == "g":
        if len(rest) == 1:
            (only,) = rest
            return lambda g: formula(g, only)
        return lambda g: formula(g, *rest)
    if "g" not in names:
        return lambda g: formula(*(node.value(n, (g,), arrays) for n in names))
    at = list(names).index("g")
    return lambda g: formula(*rest[:at], g, *rest[at:])


def all_passes(output: Tensor, inputs: Sequence[Tensor]) -> list[Tensor | None] | None:
    """Return the rows of a jacobian by each input, from a pass for each element of the output.

    None where the engine has to run them; None in the list where nothing depends on the input.
    """
    replay = Replay.of([output._edge()], [x._edge() for x in inputs])
    if replay is None:
        return None
    array, size = output._array, output.numel()
    xp = backend_of(array)
    unit = xp.zeros((size, *array.shape), array.dtype)
    unit.reshape(-1)[:: size + 1] = 1
    rows: list[Any] = [None] * len(inputs)
    for i in range(size):
        for j, found in enumerate(replay.run([unit[i, ...]])):
            if found is None:
                continue
            if rows[j] is None:
                rows[j] = xp.zeros((size, *found.shape), found.dtype)
            rows[j][i] = found
    return [None if row is None else Tensor._plain(row) for row in rows]
