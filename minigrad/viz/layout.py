"""Layout of a directed acyclic graph in layers, from the top down.

This is Sugiyama's method, in four steps.  A node's *layer* is the length of the longest path to it
from a node without predecessors, so every edge leads down.  An edge across several layers gets a
point in each layer in between, so that it can bend around boxes.  Within the layers, nodes are
*ordered* by the mean position of their neighbours, sweep after sweep, and the order with the fewest
crossings is kept.  Finally, each layer's nodes move as close to their neighbours as the order and a
gap between boxes allow.

Source: K. Sugiyama, S. Tagawa, M. Toda, "Methods for visual understanding of hierarchical system
structures", IEEE Transactions on Systems, Man, and Cybernetics 11 (1981).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Point = tuple[float, float]

GAP = 26.0  # between two boxes of a layer
ROW_GAP = 46.0  # between two layers
PORT_GAP = 16.0  # between the ends of two edges at one box
MARGIN = 24.0
SWEEPS = 12


@dataclass(frozen=True)
class Layout:
    """The result: the centres of the boxes, and the points on each edge."""

    centres: list[Point]
    routes: list[list[Point]]
    width: float
    height: float


def layered(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Layout:
    """Place boxes of the given widths and heights; `edges` are pairs of box numbers.

    Raises `ValueError` if the edges form a cycle.

    >>> found = layered([(40, 20)] * 3, [(0, 1), (0, 2), (1, 2)])
    >>> [y for _, y in found.centres], len(found.routes)
    ([34.0, 100.0, 166.0], 3)
    """
    layer = longest_ways(len(sizes), edges)
    widths = [width for width, _ in sizes]
    chains: list[list[int]] = []  # for each edge, the boxes and points on it, ends included
    for start, end in edges:
        between = range(layer[start] + 1, layer[end])
        first = len(widths)
        widths += [PORT_GAP] * len(between)
        layer += between
        chains.append([start, *range(first, first + len(between)), end])
    rows: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for number, row in enumerate(layer):
        rows[row].append(number)
    above: list[list[int]] = [[] for _ in layer]
    below: list[list[int]] = [[] for _ in layer]
    for chain in chains:
        for upper, lower in pairwise(chain):
            below[upper].append(lower)
            above[lower].append(upper)
    rows = ordered(rows, above, below)
    x = spread(rows, widths, above, below)
    heights = [max((sizes[n][1] for n in row if n < len(sizes)), default=0.0) for row in rows]
    y, top = [], MARGIN
    for height in heights:
        y.append(top + height / 2)
        top += height + ROW_GAP
    left = min((x[n] - widths[n] / 2 for n in range(len(x))), default=0.0) - MARGIN
    x = [place - left for place in x]
    right = max((x[n] + widths[n] / 2 for n in range(len(x))), default=0.0)
    centres = [(x[n], y[layer[n]]) for n in range(len(x))]
    return Layout(centres[:len(sizes)], routed(chains, centres, sizes), right + MARGIN,
                  max(top - ROW_GAP, 0.0) + MARGIN)


def longest_ways(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Return the layer of each node: the length of the longest path to it.

    >>> longest_ways(3, [(0, 1), (0, 2), (1, 2)])
    [0, 1, 2]
    """
    waiting = [0] * count
    after: list[list[int]] = [[] for _ in range(count)]
    for start, end in edges:
        waiting[end] += 1
        after[start].append(end)
    layer = [0] * count
    ready = [n for n in range(count) if not waiting[n]]
    for node in ready:  # grows during the loop, one layer after the other
        for end in after[node]:
            waiting[end] -= 1
            if not waiting[end]:  # so this is the last of its predecessors, and the farthest
                layer[end] = layer[node] + 1
                ready.append(end)
    if len(ready) != count:
        raise ValueError("the edges form a cycle, so there are no layers")
    return layer


def ordered(rows: list[list[int]], above: list[list[int]],
            below: list[list[int]]) -> list[list[int]]:
    """Return the rows, each ordered so that few edges cross."""
    best, fewest = rows, crossings(rows, below)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        neighbours = above if down else below
        rows = [list(row) for row in rows]
        order = range(1, len(rows)) if down else range(len(rows) - 2, -1, -1)
        for i in order:
            other = {n: place for place, n in enumerate(rows[i - 1 if down else i + 1])}
            wanted = {
                n: mean([other[m] for m in neighbours[n]], float(place))
                for place, n in enumerate(rows[i])
            }
            rows[i].sort(key=wanted.__getitem__)
        count = crossings(rows, below)
        if count < fewest:
            best, fewest = rows, count
    return best


def crossings(rows: list[list[int]], below: list[list[int]]) -> int:
    """Count the pairs of edges that cross between neighbouring rows.

    >>> crossings([[0, 1], [2, 3]], [[3], [2], [], []])
    1
    """
    total = 0
    for upper, lower in pairwise(rows):
        place = {n: i for i, n in enumerate(lower)}
        ends = [place[m] for n in upper for m in sorted(below[n], key=place.__getitem__)]
        total += sum(ends[i] > end for j, end in enumerate(ends) for i in range(j))
    return total


def spread(rows: list[list[int]], widths: Sequence[float], above: list[list[int]],
           below: list[list[int]]) -> list[float]:
    """Return each node's horizontal position: near its neighbours, in the order of its row."""
    x = [0.0] * len(widths)
    for row in rows:
        for n, place in zip(row, nearest([0.0] * len(row), [widths[n] for n in row]), strict=True):
            x[n] = place
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = [mean([x[m] for m in above[n] + below[n]], x[n]) for n in row]
            for n, place in zip(row, nearest(wanted, [widths[n] for n in row]), strict=True):
                x[n] = place
    return x


def nearest(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Return the positions closest to the wanted ones that keep the order and do not overlap.

    Boxes that would overlap form a group at the average of its members' wanted positions, which
    minimises the sum of squared distances.

    >>> nearest([0, 0, 90], [10, 10, 10])
    [-18.0, 18.0, 90.0]
    """
    shifts, shift = [], 0.0  # offset of each from the first if all touch
    for i, width in enumerate(widths):
        if i:
            shift += (widths[i - 1] + width) / 2 + GAP
        shifts.append(shift)
    groups: list[tuple[float, int]] = []  # sum of the wanted positions of the first, and count
    for want, shift in zip(wanted, shifts, strict=True):
        total, size = want - shift, 1
        while groups and groups[-1][0] / groups[-1][1] > total / size:
            before, members = groups.pop()
            total, size = total + before, size + members
        groups.append((total, size))
    starts = [total / size for total, size in groups for _ in range(size)]
    return [start + shift for start, shift in zip(starts, shifts, strict=True)]


def routed(chains: list[list[int]], centres: list[Point],
           sizes: Sequence[tuple[float, float]]) -> list[list[Point]]:
    """Return the points of each edge; edges at the same box end at different points of it."""
    leaving: dict[int, list[int]] = {}
    arriving: dict[int, list[int]] = {}
    for i, chain in enumerate(chains):
        leaving.setdefault(chain[0], []).append(i)
        arriving.setdefault(chain[-1], []).append(i)
    starts, ends = {}, {}
    for node, several in leaving.items():
        several.sort(key=lambda i: (centres[chains[i][1]][0], i))
        for i, offset in zip(several, ports(len(several), sizes[node][0]), strict=True):
            starts[i] = (centres[node][0] + offset, centres[node][1] + sizes[node][1] / 2)
    for node, several in arriving.items():
        several.sort(key=lambda i: (centres[chains[i][-2]][0], i))
        for i, offset in zip(several, ports(len(several), sizes[node][0]), strict=True):
            ends[i] = (centres[node][0] + offset, centres[node][1] - sizes[node][1] / 2)
    return [
        [starts[i], *(centres[n] for n in chain[1:-1]), ends[i]] for i, chain in enumerate(chains)
    ]


def ports(count: int, width: float) -> list[float]:
    """Return the offsets from a box's middle at which its edges end."""
    gap = min(PORT_GAP, width / (count + 1))
    return [(i - (count - 1) / 2) * gap for i in range(count)]


def mean(numbers: Sequence[float], otherwise: float) -> float:
    """Return the mean, or `otherwise` if there are no numbers."""
    return sum(numbers) / len(numbers) if numbers else otherwise
