"""Pictures of lesson 02."""

from __future__ import annotations

import minigrad as torch
from minigrad import viz
from minigrad_course.pictures import (
    Arrow,
    Box,
    Picture,
    View,
    backward_graph,
    beside,
    graph,
    stacked,
    storage,
)
from minigrad_course.pictures.graphs import short


def two_graphs() -> Picture:
    """The program forward, and the graph that it left."""
    A = torch.tensor(2.0, requires_grad=True)
    B = torch.tensor(0.5, requires_grad=True)
    E = torch.tensor(1.0, requires_grad=True)
    C = A * B
    D = C.exp()
    F = D + E
    found = {"A": A, "B": B, "C": C, "D": D, "E": E, "F": F}
    steps = {"C": "A * B", "D": "C.exp()", "F": "D + E"}
    boxes = {name: Box(name, short(tensor.item()), notes=(steps[name],) if name in steps else (),
                       leaf=tensor.is_leaf) for name, tensor in found.items()}
    arrows = [Arrow(start, end, kind="forward-line")
              for start, end in ("AC", "BC", "CD", "DF", "EF")]
    return Picture(
        stacked([graph(boxes, arrows), backward_graph(F, {"A": A, "B": B, "E": E})],
                titles=["Forward: values", "Backward: gradients"]),
        "A program and the graph that it leaves",
        "Above, values go from A and B through C = A * B and D = C.exp() to F = D + E. Below, "
        "gradients go the other way: from AddBackward0 to ExpBackward and to the end at E, from "
        "ExpBackward to MulBackward0, and from there to the ends at A and B.",
        "Each box in the upper graph that isn't a leaf has its node in the lower one, where every "
        "arrow points the other way.")


def growing() -> Picture:
    """The graph after each of three operations."""
    A = torch.tensor(2.0, requires_grad=True)
    B = torch.tensor(0.5, requires_grad=True)
    E = torch.tensor(1.0, requires_grad=True)
    names = {"A": A, "B": B, "E": E}
    drawn, told, latest = [], [], A * B
    for step in (lambda C: C, torch.exp, lambda D: D + E):
        latest = step(latest)
        found = viz.graph(latest, names)
        boxes, arrows = {}, []
        for place, node in enumerate(found.nodes):
            leaf = hasattr(node, "variable")
            name = found.names.leaf(node.variable) if leaf else node.name()
            kind = "on-gradient" if node is latest.grad_fn else "box"
            boxes[str(place)] = Box(name, kind=kind, leaf=leaf)
            arrows += [Arrow(str(place), str(found.number[after]), kind="gradient-line")
                       for after, _ in node.next_functions if after is not None]
        drawn.append(graph(boxes, arrows, down=True))
        told.append(f"{latest.grad_fn.name()} is made, and the graph has {len(boxes)} nodes")
    return Picture(
        stacked([beside(drawn[:2], 70, ["C = A * B", "D = C.exp()"]),
                 beside(drawn[2:], titles=["F = D + E"])]),
        "The graph grows with each operation",
        f"Three stages of one graph. {'; then '.join(told)}. The new node is on top, and its "
        "arrows lead to the nodes that were there before.",
        "Each operation adds one node (filled) on top of the graph that's already there.")


def number_of_an_edge() -> Picture:
    """An edge to the second output of a node."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    low, high = x.unbind()
    y = 10 * high
    node = low.grad_fn
    waits = tuple(f"{each.output_nr}: gradient of {name}"
                  for name, each in (("low", low), ("high", high)))
    return Picture(
        backward_graph(y, {"x": x}, notes={node: waits}, numbers=True),
        "An edge is a node and a number",
        "MulBackward0 sends its gradient to UnbindBackward with the number 1. That node waits for "
        "two gradients, 0 for low and 1 for high, and sends one to the end at x.",
        "`UnbindBackward` takes two gradients. The number on the arrow says which of them this is.")


def one_array() -> Picture:
    """The same array under three names."""
    g = torch.tensor([1.0, 2.0])
    p = q = g  # handed on untouched
    p += 100
    views = [View(name, each, text, "on-gradient")
             for name, each, text in (("g", g, "the caller's"), ("p.grad", p, "handed on"),
                                      ("q.grad", q, "handed on"))]
    return Picture(
        storage(g.tolist(), views, "one array"),
        "One array under three names",
        "A single array of two numbers, 101 and 102, is seen by g, p.grad and q.grad: a write "
        "through one of them changes all three.",
        "Since no copy was made, the first write changes all three.")
