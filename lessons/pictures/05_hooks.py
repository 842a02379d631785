"""Pictures of lesson 05."""

from __future__ import annotations

from itertools import pairwise

import minigrad as torch
from minigrad_course.pictures import Arrow, Box, Drawing, Picture, beside, graph, stacked
from minigrad_course.pictures.graphs import short


def order_of_hooks() -> Picture:
    """Where hooks wait around a node."""
    boxes = {
        "arrived": Box("gradients have arrived", code=False, kind="on-gradient"),
        "tensor": Box("hooks of its tensors", notes=("05.2, 05.3",), code=False),
        "retain": Box("retain_grad", notes=("fills .grad, 05.4",)),
        "pre": Box("pre-hooks of the node", notes=("05.5",), code=False),
        "formula": Box("the node's formula", code=False, kind="on-gradient",
                       notes=("at a leaf: .grad += gradient,", "hooks after accumulation, 05.6")),
        "post": Box("hooks of the node", notes=("05.5",), code=False),
        "go": Box("results are sent on", code=False, kind="on-gradient")}
    names = list(boxes)
    arrows = [Arrow(start, end, kind="gradient-line")
              for start, end in pairwise(names)]
    return Picture(
        graph(boxes, arrows, down=True), "Where hooks run around a node",
        "From top to bottom: all gradients for a node have arrived; hooks of the tensors it made; "
        "retain_grad fills their .grad; pre-hooks of the node; the node's own formula, at a leaf "
        "the addition to .grad and its hooks after accumulation; hooks of the node; results are "
        "sent to the next nodes.",
        "The engine goes through these steps once for each node. The numbers refer to the "
        "exercises.")


def _pass(hook: bool) -> tuple[Drawing, float]:
    p = torch.tensor(3.0, requires_grad=True)
    q = torch.tensor(0.5, requires_grad=True)
    c = p * q
    seen = []
    c.register_hook(lambda grad: seen.append(grad.item()))
    if hook:
        c.register_hook(lambda grad: grad.clamp(-1.0, 1.0))
        c.register_hook(lambda grad: seen.append(grad.item()))
    c.exp().backward()
    at_c = f"∂ {short(seen[0])}" + (f" → {short(seen[1])}" if hook else "")
    boxes = {"p": Box("p", grad=f"∂ {short(p.grad.item())}", leaf=True),
             "q": Box("q", grad=f"∂ {short(q.grad.item())}", leaf=True),
             "c": Box("c", grad=at_c, kind="on-gradient" if hook else "box",
                      notes=("clamp(-1, 1)",) if hook else ()),
             "d": Box("d", grad="∂ 1")}
    arrows = [Arrow(start, end, kind="gradient-line", backward=True)
              for start, end in ("pc", "qc", "cd")]
    return graph(boxes, arrows), p.grad.item()


def a_hook_cuts() -> Picture:
    """A hook that replaces a gradient."""
    (plain, before), (cut, after) = _pass(False), _pass(True)
    return Picture(
        stacked([plain, cut], titles=["Without a hook", "With a hook at c"]),
        "A hook replaces the gradient",
        "Two passes through d = exp(c), c = p * q. Without a hook the gradient at p is "
        f"{short(before)}. With a hook that clips the gradient at c to 1, it is {short(after)}, "
        "because the rest of the backward pass uses the hook's result.",
        "After `c`, the backward pass continues with the hook's result instead of the gradient.")


def a_circle() -> Picture:
    """What keeps a retained tensor in memory."""
    boxes = {"y": Box("y", notes=("the tensor",)), "node": Box("y.grad_fn", notes=("its node",)),
             "table": Box("table", notes=("of its hooks",)),
             "keep": Box("keep", notes=("the hook",))}
    arrows = [Arrow("y", "node"), Arrow("node", "table"), Arrow("table", "keep"),
              Arrow("y", "keep", "strong", "wrong-line", backward=True)]
    weak = [*arrows[:3], Arrow("y", "keep", "weak", "muted-line", backward=True)]
    return Picture(
        beside([graph(boxes, arrows, down=True), graph(boxes, weak, down=True)], 40,
               titles=["A reference cycle", "A weak reference"]),
        "A reference cycle, and how to break it",
        "The tensor y refers to its node, the node to the table of hooks, the table to the hook "
        "keep, and keep refers back to y, which makes a cycle. On the right, keep refers to y only "
        "weakly, so there is no cycle.",
        "On the left, each object keeps the next one alive. With the weak reference on the right, "
        "there's no cycle, so `y` is freed immediately.")
