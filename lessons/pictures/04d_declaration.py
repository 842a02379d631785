"""Pictures of lesson 04d."""

from __future__ import annotations

import numpy as np

import minigrad as torch
from minigrad.op import REGISTRY
from minigrad_course.pictures import Chip, Curve, Picture, plot, table


def save_lists() -> Picture:
    """What five ops keep for their formulas."""
    rows, told = [], []
    for name in ("Exp", "Sin", "Mul", "Add", "Sum"):
        node = REGISTRY[name].node_type
        tensors = list(node.saves)
        arguments = list(getattr(node, "keeps", ()))
        rows.append([name, [Chip(each, "on-forward") for each in tensors] or "–",
                     [Chip(each) for each in arguments] or "–"])
        told.append(f"{name} {', '.join(tensors) or 'none'}")
    return Picture(
        table(["op", "tensors", "plain arguments"], rows), "The save lists of five operations",
        f"A table of five operations. Tensors that they save: {'; '.join(told)}. Add keeps alpha, "
        "Sum keeps dim, keepdim and self_sizes.",
        "Blue is memory that stays alive until the backward pass.")


def slopes() -> Picture:
    """The function, its slope and the slope of that."""
    at = np.linspace(-4, 4, 41)
    x = torch.tensor(at).requires_grad_()
    y = torch.nn.functional.softplus(x)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    curves = [Curve([*zip(at.tolist(), values.tolist(), strict=True)], label, kind, place)
              for values, label, kind, place in (
                  (y, "log(1 + eˣ)", "forward-line", 34), (first, "slope", "gradient-line", 10),
                  (second, "slope of the slope", "line", 40))]
    return Picture(
        plot(curves, "x", "value", legend=(0.05, 0.03)), "Softplus and its two derivatives",
        "Three curves over x from -4 to 4: a smooth ramp; its slope, which rises from 0 to 1 and "
        "is 0.5 at 0; and the slope of that, a bump of height 0.25 at 0.",
        "You write the first two curves, and the engine works out the third.")
