# Stage 15, Compiling: the backward pass as a program: the solution for minigrad/aot/flow.py.
# Made by `minigrad dev build`. The lesson is lessons/15_compile.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

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
    while SINK in (before := shortest_path(network)):
        steps, node = [], SINK
        while node != SOURCE:
            steps.append((before[node], node))
            node = before[node]
        flow = min(network[begin][end] for begin, end in steps)
        if flow == inf:
            raise ValueError(NO_CUT)
        for begin, end in steps:
            network[begin][end] -= flow
            network[end][begin] += flow
    after = able_to_reach_sink(network)
    return {node[0] for node in after
            if type(node) is tuple and node[1] == 1 and (node[0], 0) not in after}


def able_to_reach_sink(network: Network) -> set[Any]:
    """Return the nodes from which more can flow to the sink.

    The cut in front of these nodes computes less again than any other cheapest cut.
    """
    found, stack = {SINK}, [SINK]
    while stack:
        end = stack.pop()
        for begin in network[end]:  # each edge has one in the other direction
            if network[begin].get(end, 0) > 0 and begin not in found:
                found.add(begin)
                stack.append(begin)
    return found


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
