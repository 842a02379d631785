"""Where the boxes of a graph stand: in layers, without overlap, near what they are joined to."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigrad.viz.layout import (
    GAP,
    MARGIN,
    crossings,
    layered,
    longest_ways,
    nearest,
    ordered,
    ports,
)


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 12))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    edges = draw(st.lists(pairs.filter(lambda e: e[0] < e[1]), max_size=25)) if count > 1 else []
    widths = draw(st.lists(st.integers(20, 200), min_size=count, max_size=count))
    return [(float(width), 40.0) for width in widths], edges


@given(graphs())
def test_boxes_do_not_overlap_and_edges_lead_down(graph):
    sizes, edges = graph
    found = layered(sizes, edges)
    assert found == layered(sizes, edges)
    for i, (x, y) in enumerate(found.centres):
        assert sizes[i][0] / 2 <= x - MARGIN + 1e-6
        assert x + sizes[i][0] / 2 <= found.width - MARGIN + 1e-6
        assert sizes[i][1] / 2 <= y <= found.height - sizes[i][1] / 2
        for j in range(i):
            other_x, other_y = found.centres[j]
            if other_y == y:
                assert abs(x - other_x) >= (sizes[i][0] + sizes[j][0]) / 2 + GAP - 1e-6
    for (start, end), route in zip(edges, found.routes, strict=True):
        assert all(lower > upper for (_, upper), (_, lower) in pairwise(route))
        assert route[0][1] == found.centres[start][1] + sizes[start][1] / 2
        assert route[-1][1] == found.centres[end][1] - sizes[end][1] / 2
        for (x, _), node in ((route[0], start), (route[-1], end)):
            assert abs(x - found.centres[node][0]) < sizes[node][0] / 2


def test_several_edges_between_two_boxes_are_apart():
    found = layered([(80.0, 40.0), (80.0, 40.0)], [(0, 1), (0, 1)])
    first, second = found.routes
    assert first[0][0] < second[0][0]
    assert first[-1][0] < second[-1][0]


def test_a_long_edge_passes_beside_the_box_between():
    found = layered([(80.0, 40.0)] * 3, [(0, 1), (1, 2), (0, 2)])
    (_, (x, y), _) = found.routes[2]
    assert y == found.centres[1][1]
    assert abs(x - found.centres[1][0]) > 40


def test_the_layer_is_the_length_of_the_longest_way():
    assert longest_ways(5, [(0, 1), (1, 2), (0, 2), (3, 2)]) == [0, 1, 2, 0, 0]


def test_a_cycle_is_refused():
    with pytest.raises(ValueError, match="cycle"):
        layered([(1.0, 1.0)] * 2, [(0, 1), (1, 0)])


def test_ordering_takes_crossings_away():
    rows, below = [[0, 1, 2], [3, 4, 5]], [[5], [4], [3], [], [], []]
    above = [[], [], [], [2], [1], [0]]
    assert crossings(rows, below) == 3
    assert crossings(ordered(rows, above, below), below) == 0


def test_nearest_keeps_what_is_wanted_where_it_can():
    assert nearest([0.0, 100.0], [10.0, 10.0]) == [0.0, 100.0]
    left, right = nearest([50.0, 50.0], [10.0, 30.0])
    assert right - left == 20 + GAP
    assert left + right == 100


def test_ports_lie_within_the_box():
    assert ports(1, 80) == [0]
    assert ports(2, 80) == [-8, 8]
    assert max(ports(30, 80)) < 40


def test_nothing_to_place():
    assert layered([], []).centres == []
