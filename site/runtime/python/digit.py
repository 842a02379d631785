"""A digit read by an engine, for the figure of the capstone (`site/widgets/digit.js`).

`minigrad` is imported at each call: it is the package's or, below `own.py`, the reader's.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["read"]


def read(pixels: list[int], hidden: dict[str, Any], output: dict[str, Any]) -> dict[str, Any]:
    """Return the ten digits' shares, and the slope of the loss for the one that is read.

    `pixels` are 64 numbers from 0 to 16; `hidden` and `output` have a layer's `weight` and `bias`.
    """
    torch = importlib.import_module("minigrad")
    functional = torch.nn.functional
    image = torch.tensor([each / 16 for each in pixels], dtype=torch.float64, requires_grad=True)
    x = image.reshape(1, 64)
    for number, layer in enumerate((hidden, output)):
        weight, bias = (torch.tensor(layer[name], dtype=torch.float64)
                        for name in ("weight", "bias"))
        x = functional.linear(functional.relu(x) if number else x, weight, bias)
    functional.cross_entropy(x, x.detach().argmax(1)).backward()
    return {"shares": torch.softmax(x.detach(), 1)[0].tolist(), "slope": image.grad.tolist()}
