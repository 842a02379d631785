# Stage 15, Compiling: the backward pass as a program: the exercise for minigrad/aot/flow.py.
# Made by `minigrad dev build`. The lesson is lessons/15_compile.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 15
# docs/en/glossary.md explains the names used inside the package.

"""The cheapest cut of a network, by a maximum flow.

Source: L. R. Ford and D. R. Fulkerson, *Maximal flow through a network*, 1956; the shortest path
first, as J. Edmonds and R. M. Karp found in 1972.
"""

from __future__ import annotations

from collections import deque
from math import inf
from typing import Any

#: A capacity for each edge, by the node where it begins and the node where it ends.
Network = dict[Any, dict[Any, float]]

SOURCE, SINK = "source", "sink"

#: The text of the error for a network without a cut.
NO_CUT = "a value that the backward pass needs can be neither saved nor computed again"


def cheapest_cut(network: Network) -> set[int]:
    """Return the ids of the values whose edges are the cheapest cut of a network.

    A value with id `i` is the edge from `(i, 0)` to `(i, 1)`.  Each edge of the network also has
    one in the other direction, if only with capacity 0.  The capacities are changed.
    """
    # 15.6 The cheapest cut (about 22 lines)
    # Return the ids of the cheapest set of values that cuts every path from SOURCE to
    # SINK. Its price is the largest flow. For a chain a, b, c:
    #   cheapest_cut(network), prices 5, 3, 4   -> {b}
    #   cheapest_cut(network), prices 4, 2, 2   -> {c}
    #   able_to_reach_sink(network) with what's left of these prices  -> {SINK, (c, 1)}
    #   cheapest_cut(network), prices inf, inf  -> ValueError(NO_CUT)
    # Mind:
    # - Among equally cheap cuts, take the last before the sink.
    # - Flow that was sent along an edge can be taken back.
    # - Some prices are 0.
    # Use: `shortest_path(network)`.
    raise NotImplementedError("15.6 The cheapest cut is yours to write")


def able_to_reach_sink(network: Network) -> set[Any]:
    """Return the nodes from which more can flow to the sink.

    The cut in front of these nodes computes less again than any other cheapest cut.
    """
    # 15.6 The cheapest cut: see the task at `cheapest_cut`.
    raise NotImplementedError("15.6 The cheapest cut is yours to write")


def shortest_path(network: Network) -> dict[Any, Any]:
    """Return, for each node that more can flow to, the node before it on a shortest path.

    More can flow along each edge whose capacity is above 0.
    """
    reached: dict[Any, Any] = {SOURCE: None}
    queue = deque([SOURCE])
    while queue and SINK not in reached:
        begin = queue.popleft()
        for end, capacity in network[begin].items():
            if capacity > 0 and end not in reached:
                reached[end] = begin
                queue.append(end)
    return reached
