"""Muon: momentum for matrices, with steps that are nearly orthogonal.

NOTE [Numbers of eight bits]
    The iteration is designed for bfloat16, whose numbers have eight significant bits, and its
    result is inexact in any precision. NumPy has no bfloat16, so we compute each product in float32
    and round it to bfloat16: that way a step equals PyTorch's.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.Muon.html, after Jordan, "Muon:
an optimizer for hidden layers in neural networks" (2024).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..backend import Backend, backend_of
from .checks import check_one_element, check_sign
from .optimizer import Optimizer
from .state_arrays import Array, Group, State, buffer, remember

Coefficients = tuple[float, float, float]


class Muon(Optimizer):
    """p -= lr * orthogonal(momentum of grad), only for parameters with two dimensions.

    `adjust_lr_fn` scales lr by the shape (A, B): `"original"`, the default, by sqrt(max(1, A / B)),
    `"match_rms_adamw"` by 0.2 * sqrt(max(A, B)). Raises `ValueError` for a parameter that is not a
    matrix, and for an option out of its range.

    >>> from minigrad import optim, tensor
    >>> x = tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True)
    >>> (x * tensor([[3.0, 0.0], [0.0, 3.0]])).sum().backward()
    >>> optim.Muon([x], lr=0.1, weight_decay=0).step(); x
    tensor([[0.8875, 0.0000],
            [0.0000, 0.8875]], requires_grad=True)
    """

    later_options = frozenset()

    def __init__(self, params: Iterable[Any], lr: float = 1e-3, weight_decay: float = 0.1,
                 momentum: float = 0.95, nesterov: bool = True,
                 ns_coefficients: Coefficients = (3.4445, -4.775, 2.0315), eps: float = 1e-7,
                 ns_steps: int = 5, adjust_lr_fn: str | None = None) -> None:
        check_one_element(lr)
        check_sign("Learning rate", lr)
        check_sign("momentum", momentum)
        check_sign("weight decay", weight_decay)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        })
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.ndim != 2:
                    raise ValueError("Muon only supports 2D parameters whereas we found a "
                                     f"parameter with size: {parameter.size()}")

    def update(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Update the momentum, and step along its nearest orthogonal matrix."""
        xp = backend_of(array)
        lr, momentum = float(group["lr"]), group["momentum"]
        if not state:
            remember(state, "momentum_buffer", xp.zeros_like(grad))
        average = buffer(state, "momentum_buffer")
        average += (grad - average) * (1 - momentum)
        direction = grad + (average - grad) * momentum if group["nesterov"] else average
        change = orthogonal(xp, direction, group["ns_coefficients"], group["ns_steps"],
                            group["eps"])
        xp.multiply(array, 1 - lr * group["weight_decay"], array)
        rows, columns = array.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            lr *= 0.2 * math.sqrt(max(rows, columns))
        else:
            lr *= math.sqrt(max(1, rows / columns))
        xp.subtract(array, change.astype(array.dtype) * lr, array)


def orthogonal(xp: Backend, matrix: Array, coefficients: Coefficients, steps: int,
               eps: float) -> Array:
    """Return a float32 matrix with the same singular vectors and singular values near 1.

    Each step maps a singular value s to a*s + b*s³ + c*s⁵. Raises `ValueError` for a hundred steps
    or more, and unless there are three coefficients.

    >>> import numpy as np
    >>> from minigrad.backend import backend_of
    >>> matrix = np.diag([3.0, 0.5])
    >>> orthogonal(backend_of(matrix), matrix, (3.4445, -4.775, 2.0315), 5, 1e-7).round(1)
    array([[0.7, 0. ],
           [0. , 1. ]], dtype=float32)
    """
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    x = to_eight_bits(xp, matrix)
    tall = matrix.shape[0] > matrix.shape[1]
    x = x.T if tall else x
    length = to_eight_bits(xp, xp.sqrt((x * x).sum()))
    x = to_eight_bits(xp, x / xp.maximum(length, eps))
    for _ in range(steps):
        gram = to_eight_bits(xp, x @ x.T)
        factor = to_eight_bits(xp, b * gram + c * (gram @ gram))
        x = to_eight_bits(xp, a * x + factor @ x)
    return x.T if tall else x


def to_eight_bits(xp: Backend, array: Array) -> Array:
    """Round float32 numbers to bfloat16's eight bits, half to even.

    See NOTE [Numbers of eight bits].
    """
    bits = xp.asarray(array, dtype="float32").view("uint32")
    bits = bits + (0x7FFF + ((bits >> 16) & 1)).astype("uint32")
    return (bits & xp.asarray(0xFFFF0000, dtype="uint32")).view("float32")
