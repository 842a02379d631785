"""Pictures of lesson 13a."""

from __future__ import annotations

import minigrad as torch
from minigrad import nn
from minigrad_course.pictures import Arrow, Box, Curve, Picture, graph, plot, stacked


class _Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.last = nn.Linear(4, 2)
        self.scale = nn.Parameter(torch.ones(1))


def a_tree() -> Picture:
    """The modules of a net and what they hold."""
    net = _Net()
    boxes, arrows = {}, []
    for name, module in net.named_modules():
        notes = [f"{key} {tuple(value.shape)}"
                 for key, value in module.named_parameters(recurse=False)]
        buffers = [key for key, value in module.named_buffers(recurse=False) if value.dim()]
        boxes[name] = Box(name or "net", notes=(type(module).__name__.strip("_"), *notes, *buffers))
        if name:
            arrows.append(Arrow("", name))
    parts = ", ".join(name for name in boxes if name)
    return Picture(
        graph(boxes, arrows, down=True), "A network is a tree of modules",
        f"The root is the net, which holds the parameter scale. Below it are its parts {parts}, "
        "each with its parameters and their shapes; norm also has running moments, as buffers.",
        "Each module lists only its own members; the names along the path form `first.weight`.")


def two_searches() -> Picture:
    """What an assignment and a look-up do."""
    setting = graph({
        "set": Box("module.weight = Parameter(...)"), "hook": Box("__setattr__",
                                                                  notes=("for every assignment",)),
        "table": Box('_parameters["weight"]', kind="on-right",
                     notes=("and not in module.__dict__",))},
        [Arrow("set", "hook"), Arrow("hook", "table")], down=True)
    getting = graph({
        "get": Box("module.weight"),
        "usual": Box("the usual search", notes=("module.__dict__, the class",), code=False),
        "hook": Box("__getattr__", notes=("called only then",)),
        "table": Box("_parameters, _buffers, _modules", kind="on-right")},
        [Arrow("get", "usual"), Arrow("usual", "hook", "finds nothing"),
         Arrow("hook", "table")], down=True)
    return Picture(
        stacked([setting, getting], titles=["Assignment", "Look-up"]),
        "How an attribute finds its table",
        "An assignment module.weight = Parameter(...) goes through __setattr__ into "
        "_parameters, and not into module.__dict__. A look-up of module.weight searches "
        "module.__dict__ and the class; only if neither has the name, __getattr__ searches "
        "_parameters, _buffers and _modules.",
        "`__setattr__` sees every assignment, `__getattr__` only names that the usual search "
        "didn't find.")


def running_mean() -> Picture:
    """How a running mean approaches the mean of its batches."""
    batch = torch.tensor([[1.0], [3.0], [8.0]], dtype=torch.float64)
    curves = []
    for momentum, kind, at in ((0.1, "forward-line", 12), (None, "right-line", 9)):
        norm = nn.BatchNorm1d(1, momentum=momentum).double()
        points = [(0.0, 0.0)]
        for count in range(1, 31):
            norm(batch)
            points.append((float(count), norm.running_mean.item()))
        curves.append(Curve(points, f"momentum={momentum}", kind, at=at,
                            shift=(8, 14) if momentum else (0, -12), anchor="start"))
    mean = batch.mean().item()
    return Picture(
        plot(curves, "batches", "running mean", x_ticks=[0, 10, 20, 30],
             y_ticks=[0, mean / 2, mean], height=210),
        "The running mean of a batch norm",
        f"Each batch has the mean {mean:.0f}. With momentum 0.1 the running mean rises from 0 and "
        f"reaches {curves[0].points[10][1]:.2f} after ten batches; with momentum None it is "
        f"{mean:.0f} after the first.",
        "With momentum 0.1, it takes about twenty batches to forget the start at 0; the plain "
        "average forgets it at once.")
