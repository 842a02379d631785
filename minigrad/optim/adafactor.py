"""Adafactor stores a matrix of second moments as one row and one column.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.Adafactor.html, after Shazeer
and Stern, "Adafactor: adaptive learning rates with sublinear memory cost" (2018).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..backend import Backend, backend_of
from ..ops.creation.create import tensor
from .checks import check_one_element, check_sign
from .optimizer import Optimizer
from .state_arrays import Array, Group, State, buffer, counted, remember


class Adafactor(Optimizer):
    """p -= size * grad / sqrt(second moment); the size scales with the parameter.

    For a matrix the state holds `row_var` and `col_var`, the means of grad² along its last two
    dimensions; their product approximates the second moment. `lr` is the largest relative step. An
    update whose root mean square exceeds `d` is scaled down. Raises `ValueError` for an option out
    of its range.

    >>> from minigrad import optim, tensor
    >>> x = tensor([[1.0, 1.0]], requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> optim.Adafactor([x], lr=0.1).step(); x
    tensor([[0.9000, 0.9000]], requires_grad=True)
    """

    counts_steps = True

    def __init__(self, params: Iterable[Any], lr: float = 1e-2, beta2_decay: float = -0.8,
                 eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0,
                 weight_decay: float = 0.0, *, foreach: bool | None = None,
                 maximize: bool = False) -> None:
        check_one_element(lr)
        check_sign("Learning rate", lr)
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None:
            check_sign("epsilon1", eps[0])
        check_sign("epsilon2", eps[1])
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        check_sign("weight_decay", weight_decay)
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d,
            "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
        })

    def update(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Update the second moment and take one step that scales with the parameter."""
        xp = backend_of(array)
        lr, (eps1, eps2) = float(group["lr"]), group["eps"]
        eps1 = xp.finfo(array.dtype).eps if eps1 is None else eps1
        if not state:
            begin(xp, state, grad)
        step = counted(state)
        size = max(eps2, root_mean_square(xp, array)) * min(lr, 1 / math.sqrt(step))
        if group["weight_decay"]:
            xp.multiply(array, 1 - lr * group["weight_decay"], array)
        moment = second_moment(xp, state, grad, step ** group["beta2_decay"], eps1)
        change = grad / xp.sqrt(xp.maximum(moment, eps1 * eps1))
        size /= max(1.0, root_mean_square(xp, change) / group["d"])
        xp.add(array, change * (size if group["maximize"] else -size), array)


def begin(xp: Backend, state: State, grad: Array) -> None:
    """Create the step count and the second moment, factored if there are two dimensions."""
    state["step"] = tensor(0.0)
    if grad.ndim > 1:
        shape = grad.shape
        remember(state, "row_var", xp.zeros((*shape[:-1], 1), grad.dtype))
        remember(state, "col_var", xp.zeros((*shape[:-2], 1, shape[-1]), grad.dtype))
    else:
        remember(state, "variance", xp.zeros_like(grad))


def second_moment(xp: Backend, state: State, grad: Array, weight: float, eps: float) -> Array:
    """Move the averages towards grad² by `weight`, and return the second moment."""
    squares = grad * grad
    if grad.ndim < 2:
        variance = buffer(state, "variance")
        variance += (squares - variance) * weight
        return variance
    rows, columns = buffer(state, "row_var"), buffer(state, "col_var")
    rows += (squares.mean(axis=-1, keepdims=True) - rows) * weight
    columns += (squares.mean(axis=-2, keepdims=True) - columns) * weight
    return rows @ columns / xp.maximum(rows.mean(axis=-2, keepdims=True), eps)


def root_mean_square(xp: Backend, array: Array) -> float:
    """Return the root mean square as a Python float."""
    return float(xp.sqrt((array * array).sum())) / math.sqrt(array.size)
