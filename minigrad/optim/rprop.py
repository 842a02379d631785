"""Rprop steps by the sign of the gradient, with a separate step size for each element.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.Rprop.html
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..backend import backend_of
from .checks import check_lr
from .optimizer import Optimizer
from .state_arrays import Array, Group, State, buffer, counted, remember, start


class Rprop(Optimizer):
    """p -= size * sign(grad); sizes grow while the sign stays the same and shrink when it changes.

    `etas` are the factors for shrinking and growing, `step_sizes` the smallest and the largest
    size. An element whose sign has changed skips that step.

    >>> from minigrad import optim, tensor
    >>> x = tensor([1.0], requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> optim.Rprop([x], lr=0.1).step(); x
    tensor([0.9000], requires_grad=True)
    """

    def __init__(self, params: Iterable[Any], lr: float = 1e-2,
                 etas: tuple[float, float] = (0.5, 1.2),
                 step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False,
                 foreach: bool | None = None, maximize: bool = False,
                 differentiable: bool = False) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        if differentiable:
            raise NotImplementedError("Rprop: differentiable=True is not supported, because the "
                                      "derivative of a sign is zero")
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        })

    def update(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Adapt the sizes to the signs and take one step."""
        xp = backend_of(array)
        shrink, grow = group["etas"]
        least, most = group["step_sizes"]
        if not state:
            start(xp, state, array, "prev")
            sizes = remember(state, "step_size", xp.zeros_like(array))
            sizes += float(group["lr"])
        counted(state)
        gradient = xp.negative(grad) if group["maximize"] else grad
        previous, sizes = buffer(state, "prev"), buffer(state, "step_size")
        agreement = gradient * previous
        factors = xp.where(agreement > 0, grow, xp.where(agreement < 0, shrink, 1))
        xp.multiply(sizes, factors.astype(array.dtype), sizes)
        xp.clip(sizes, least, most, out=sizes)
        gradient = xp.where(agreement < 0, xp.zeros_like(gradient), gradient)
        xp.subtract(array, xp.sign(gradient) * sizes, array)
        previous[...] = gradient
