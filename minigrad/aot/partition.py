"""Partition: which values the forward pass saves, and which the backward pass computes again.

NOTE [The cheapest cut]
    The backward pass needs some values of the forward pass.  Each of them is either saved or
    computed again from other values, which must be saved or computed again in turn.  So the saved
    values separate the inputs from the backward pass: they are a cut in the graph of values, and
    its price is their size in bytes.  A maximum flow finds the minimum cut.  Bytes flow from the
    values that cannot be computed again to the values that the backward pass needs, at most as many
    through each value as it has, and the values that are full form the cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

from .buffers import roots_of
from .flow import SINK, SOURCE, Network, cheapest_cut
from .program import Step, Value, live_steps
from .trace.record import Recorded

#: The greatest cost of a step that is computed again; at level 0, only views are.
LEVELS = (0, 1, 2, 3)


@dataclass(slots=True)
class Partition:
    """The joint program, cut in two."""

    forward: list[Step]
    backward: list[Step]
    saved: list[Value]  # inputs, constants aside, and results of forward steps

    @property
    def saved_bytes(self) -> int:
        """The size of the saved values, except for inputs, because these exist anyway."""
        made = {id(v) for step in self.forward for v in step.outputs}
        return sum(v.nbytes for v in self.saved if id(v) in made)


def partition(recorded: Recorded, budget: float = 1.0) -> Partition:
    """Cut a joint program so that the saved values fit a budget, if that is possible.

    The budget is a fraction of the bytes that it takes to save every value.  With 1, only steps
    that cost little are computed again.
    """
    most = at_level(recorded, 0).saved_bytes
    for level in LEVELS[1:]:
        found = at_level(recorded, level)
        if found.saved_bytes <= budget * most:
            break
    return found


def at_level(recorded: Recorded, level: int) -> Partition:
    """Cut a joint program; steps that cost more than `level` are not computed again."""
    if level == 0:
        return cut(recorded, {id(v) for step in recorded.forward if not step.view
                              for v in step.outputs})
    return cut(recorded, cheapest_cut(flow_network(recorded, level)))


def flow_network(recorded: Recorded, level: int) -> Network:
    """Return the network whose cheapest cut is the best set of values to save; see the NOTE.

    A value is an edge from `(id, 0)` to `(id, 1)`, and its capacity is its price in bytes.
    """
    network: Network = {SOURCE: {}, SINK: {}}

    def edge(begin: Any, end: Any, capacity: float) -> None:
        network.setdefault(begin, {})[end] = capacity
        network.setdefault(end, {}).setdefault(begin, 0)

    read = {id(v) for step in recorded.backward for v in step.inputs()}
    read |= {id(v) for v in recorded.gradients}
    roots = roots_of(recorded.forward)
    kept = recorded.read | {id(roots[place]) for place in recorded.read if place in roots}
    for value in recorded.inputs:  # one that the eager backward pass does not read may change
        edge((id(value), 0), (id(value), 1), 0 if id(value) in kept else inf)
        edge(SOURCE, (id(value), 0), inf)
    for step in recorded.forward:
        for value in step.outputs:
            price = value.nbytes + 1  # so the cut with fewer values wins a tie
            edge((id(value), 0), (id(value), 1), inf if step.view else price)
            if step.cost > level:
                edge(SOURCE, (id(value), 0), inf)
            for operand in step.inputs():
                if operand.array is None:
                    edge((id(operand), 1), (id(value), 0), inf)
    for place in read:
        if (place, 1) in network:
            edge((place, 1), SINK, inf)
    return network


def cut(recorded: Recorded, may_save: set[int]) -> Partition:
    """Cut a joint program so that the backward pass gets values in `may_save`, and inputs.

    It computes all other values again, just before it first needs them.
    """
    makers = {id(v): step for step in recorded.forward for v in step.outputs}
    own = {id(v) for step in recorded.backward for v in step.outputs}
    own.update(map(id, recorded.tangents))
    saved: dict[int, Value] = {}
    backward: list[Step] = []
    done: set[int] = set()

    def provide(values: Any) -> None:
        stack = [(value, False) for value in values]
        while stack:
            value, ready = stack.pop()
            if id(value) in own or value.array is not None or id(value) in saved:
                continue
            step = makers.get(id(value))
            if step is None or id(value) in may_save:
                saved[id(value)] = value
            elif ready:
                if id(step) not in done:
                    done.add(id(step))
                    backward.append(step)
            elif id(step) not in done:
                stack.append((value, True))
                stack += [(operand, False) for operand in step.inputs()]

    for step in recorded.backward:
        provide(step.inputs())
        backward.append(step)
    provide(v for v in recorded.gradients if v is not None)
    outputs: list[Any] = [r.value for r in recorded.results]
    outputs += [write.value for write in recorded.written]
    kept = list(saved.values())
    return Partition(live_steps(recorded.forward, [*outputs, *kept]), backward, kept)
