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
        "go": Box("results go on", code=False, kind="on-gradient")}
    names = list(boxes)
    arrows = [Arrow(start, end, kind="gradient-line")
              for start, end in pairwise(names)]
    return Picture(
        graph(boxes, arrows, down=True), "The places around a node where hooks wait",
        "From top to bottom: all gradients for a node have arrived; hooks of the tensors it made; "
        "retain_grad fills their .grad; pre-hooks of the node; the node's own formula, at a leaf "
        "the addition to .grad and its hooks after accumulation; hooks of the node; results go to "
        "the nodes that they are for.",
        "The engine passes these places once for each node. The numbers are the exercises.")


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
        "A hook takes the gradient's place",
        "Two passes through d = exp(c), c = p * q. Without a hook the gradient at p is "
        f"{short(before)}. With a hook that cuts the gradient at c to 1 it is {short(after)}: all "
        "that comes after c sees the hook's answer.",
        "Whatever lies behind `c` sees the hook's answer instead of the gradient.")


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
               titles=["Held in a circle", "Held weakly"]),
        "A circle of references, and how it is opened",
        "The tensor y holds its node, the node holds the table of hooks, the table holds the hook "
        "keep, and keep holds y: a circle. On the right keep holds y by a weak reference only, so "
        "the circle is open.",
        "On the left nobody lets go. The weak reference on the right opens the circle, so `y` goes "
        "at once.")
