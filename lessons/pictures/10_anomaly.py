"""Pictures of lesson 10."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad as torch
from minigrad_course.pictures import Arrow, Box, Picture, graph
from minigrad_course.pictures.graphs import short


def a_node_remembers() -> Picture:
    """What a node stores in the forward pass, and what the report shows in the backward pass."""
    boxes = {
        "line": Box("y = MyFunc.apply(x)", notes=("forward, anomaly mode on",), kind="on-forward"),
        "node": Box("MyFuncBackward", notes=("metadata:", "traceback_, the stack",
                                             "parent_, a node")),
        "raise": Box("apply raises", notes=("backward",), kind="on-gradient"),
        "told": Box("a warning with the line", notes=("then the error itself",), code=False,
                    kind="on-wrong")}
    arrows = [Arrow("line", "node", "makes", "forward-line"),
              Arrow("node", "told", "traceback_", "line"),
              Arrow("raise", "told", kind="wrong-line")]
    return Picture(
        graph(boxes, arrows, down=True), "A node remembers the line that made it",
        "In the forward pass, the line y = MyFunc.apply(x) creates a node, whose metadata stores "
        "the stack under traceback_ and a node under parent_. When the node raises in the backward "
        "pass, the warning shows the stored line, and then the error itself propagates.",
        "The stack is stored while the forward line is still running; the warning shows it later.")


def where_nan_comes_from() -> Picture:
    """Values and gradients of a root at zero."""
    w = torch.tensor([4.0, 0.0], requires_grad=True)
    root = w.sqrt()
    mask = torch.tensor([1.0, 0.0])
    product = root * mask
    loss = product.sum()
    for each in (root, product):
        each.retain_grad()
    loss.backward()

    def listed(tensor: Any) -> str:
        return f"[{', '.join(short(value) for value in tensor.tolist())}]"

    slope = 0.5 / np.sqrt(np.array([4.0, np.inf])) + np.array([0.0, np.inf])
    boxes = {
        "w": Box("w", listed(w), f"∂ {listed(w.grad)}", leaf=True, kind="on-wrong"),
        "root": Box("w.sqrt()", listed(root), f"∂ {listed(root.grad)}"),
        "product": Box("· [1, 0]", listed(product), f"∂ {listed(product.grad)}"),
        "loss": Box("loss", short(loss.item()), "∂ 1")}
    steps = [f"× [{short(slope[0])}, ∞]", f"× {listed(mask)}", "× 1"]
    names = list(boxes)
    arrows = [Arrow(start, end, step, "gradient-line", backward=True)
              for start, end, step in zip(names, names[1:], steps, strict=False)]
    return Picture(
        graph(boxes, arrows, down=True), "Zero times infinity is NaN",
        f"In the backward pass, the gradient of the product is {listed(product.grad)}, and the "
        f"gradient of the root is {listed(root.grad)}. The slope of the root is 0.25 at 4 and "
        f"infinite at 0, so the gradient at w is {listed(w.grad)}.",
        "All values are fine. The NaN appears on the last dashed arrow, as 0 · ∞.")
