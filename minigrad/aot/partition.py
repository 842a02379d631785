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

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from .buffers import roots_of
from .flow import SINK, SOURCE, Network, cheapest_cut
from .program import Step, Value, live_steps
from .trace.record import Recorded
from .trace.recording import PRODUCT

#: The greatest cost of a step that is computed again; at level 0, only views are.
LEVELS = (0, 1, 2, 3)


@dataclass(slots=True)
class Partition:
    """The joint program, cut in two."""

    forward: list[Step]
    backward: list[Step]
    saved: list[Value]  # inputs, constants aside, and results of forward steps
    free: set[int]  # the ids of the inputs that are saved as they are; others are copied

    @property
    def saved_bytes(self) -> int:
        """The size of the saved values, except for inputs that exist anyway."""
        return sum(value.nbytes for value in self.saved if id(value) not in self.free)


def partition(recorded: Recorded, budget: float = 1.0) -> Partition:
    """Cut a joint program so that the saved values fit a budget, if that is possible.

    The budget is a fraction of the bytes that it takes to save every value.  With 1, only steps
    that cost little are computed again, and with less, as few products of matrices as possible.
    """
    limit = budget * at_level(recorded, 0).saved_bytes
    for level in LEVELS[1:]:
        found = at_level(recorded, level)
        if found.saved_bytes <= limit:
            return found
    products = cheapest_products(recorded.forward)
    few, many = 0, len(products)  # too few, and enough where that is possible
    while few < many:
        middle = (few + many) // 2
        found = at_level(recorded, LEVELS[-1], products[:middle])
        if found.saved_bytes <= limit:
            many = middle
        else:
            few = middle + 1
    return at_level(recorded, LEVELS[-1], products[:many])


def cheapest_products(steps: Sequence[Step]) -> list[Step]:
    """Return the products of matrices, in the order of the work that it takes to get one byte back.

    Each number of a product takes as many multiplications as the inner dimension is long.
    """
    def price(step: Step) -> tuple[int, int]:
        *_, matrix = step.inputs()
        return matrix.shape[-2], step.outputs[0].nbytes

    return sorted((step for step in steps if step.cost == PRODUCT), key=price)


def at_level(recorded: Recorded, level: int, products: Sequence[Step] = ()) -> Partition:
    """Cut a joint program; only `products` and steps up to the level's cost are computed again."""
    if level == 0:
        return cut(recorded, {id(v) for step in recorded.forward if not step.view
                              for v in step.outputs})
    again = {id(step) for step in recorded.forward if step.cost <= level}
    again.update(map(id, products))
    return cut(recorded, cheapest_cut(flow_network(recorded, again)))


def flow_network(recorded: Recorded, again: set[int]) -> Network:
    """Return the network whose cheapest cut is the best set of values to save; see the NOTE.

    A value is an edge from `(id, 0)` to `(id, 1)`, and its capacity is its price in bytes.  Only
    the steps with ids in `again` may be computed again.
    """
    network: Network = {SOURCE: {}, SINK: {}}

    def edge(begin: Any, end: Any, capacity: float) -> None:
        network.setdefault(begin, {})[end] = capacity
        network.setdefault(end, {}).setdefault(begin, 0)

    read = {id(v) for step in recorded.backward for v in step.inputs()}
    read |= {id(v) for v in recorded.gradients}
    free = free_inputs(recorded)
    for value in recorded.inputs:
        price = 0 if id(value) in free else value.nbytes + 1
        edge((id(value), 0), (id(value), 1), price)
        edge(SOURCE, (id(value), 0), inf)
    for step in recorded.forward:
        for value in step.outputs:
            price = value.nbytes + 1  # so the cut with fewer values wins a tie
            edge((id(value), 0), (id(value), 1), inf if step.view else price)
            if id(step) not in again:
                edge(SOURCE, (id(value), 0), inf)
            for operand in step.inputs():
                if operand.array is None:
                    edge((id(operand), 1), (id(value), 0), inf)
    for place in read:
        if (place, 1) in network:
            edge((place, 1), SINK, inf)
    return network


def free_inputs(recorded: Recorded) -> set[int]:
    """Return the ids of the inputs that the eager backward pass reads too.

    It lets you write to the others before the backward pass, so these would have to be copied, just
    as the ones that the function writes to.
    """
    roots = roots_of(recorded.forward)
    read = recorded.read | {id(roots[place]) for place in recorded.read if place in roots}
    written = {write.input for write in recorded.written}
    return {id(value) for i, value in enumerate(recorded.inputs)
            if id(value) in read and i not in written}


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
    return Partition(live_steps(recorded.forward, [*outputs, *kept]), backward, kept,
                     free_inputs(recorded))
