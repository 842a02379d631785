"""Adam: steps of about equal length for every element, whatever the size of its gradients.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..backend import backend_of
from ..ops.create import tensor
from .optimizer import Array, Group, Optimizer, State, buffer, check_options, remember


class Adam(Optimizer):
    """p -= lr * m / (sqrt(v) + eps), m and v being averages of the gradient and of its square.

    Both averages start at zero and are corrected for it.  `weight_decay` is added to the
    gradient, or taken from the parameter with `decoupled_weight_decay`; `amsgrad` takes the
    largest v so far.

    >>> from minigrad import optim, tensor
    >>> x = tensor([1.0], requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> optim.Adam([x], lr=0.1).step(); x
    tensor([0.9000], requires_grad=True)
    """

    def __init__(self, params: Iterable[Any], lr: float = 1e-3,
                 betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None,
                 maximize: bool = False, capturable: bool = False, differentiable: bool = False,
                 fused: bool | None = None, decoupled_weight_decay: bool = False) -> None:
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps >= 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for index, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
        if not weight_decay >= 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        check_options(differentiable, fused, foreach)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        })  # fmt: skip

    def update(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Update both averages and take one step."""
        xp = backend_of(array)
        lr, (beta1, beta2) = float(group["lr"]), group["betas"]
        if not state:
            state["step"] = tensor(0.0)
            remember(state, "exp_avg", xp.zeros_like(array))
            remember(state, "exp_avg_sq", xp.zeros_like(array))
            if group["amsgrad"]:
                remember(state, "max_exp_avg_sq", xp.zeros_like(array))
        step = buffer(state, "step")
        step += 1
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"]:
            if group["decoupled_weight_decay"]:
                array *= 1 - lr * group["weight_decay"]
            else:
                grad = grad + group["weight_decay"] * array
        average, square = buffer(state, "exp_avg"), buffer(state, "exp_avg_sq")
        change = grad - average
        change *= 1 - beta1
        average += change
        xp.multiply(grad, grad, out=change)
        change *= 1 - beta2
        square *= beta2
        square += change
        if group["amsgrad"]:
            square = xp.maximum(buffer(state, "max_exp_avg_sq"), square,
                                out=buffer(state, "max_exp_avg_sq"))
        count = float(step)
        denominator = xp.sqrt(square, out=change)
        denominator /= math.sqrt(1 - beta2**count)
        denominator += group["eps"]
        xp.divide(average, denominator, out=change)
        change *= lr / (1 - beta1**count)
        array -= change


class AdamW(Adam):
    """Adam whose weight decay is taken from the parameter itself.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.AdamW.html

    >>> from minigrad import optim, tensor
    >>> x = tensor([1.0], requires_grad=True)
    >>> (x * 0).sum().backward()
    >>> optim.AdamW([x], lr=0.1, weight_decay=0.5).step(); x
    tensor([0.9500], requires_grad=True)
    """

    def __init__(self, params: Iterable[Any], lr: float = 1e-3,
                 betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False,
                 foreach: bool | None = None, capturable: bool = False,
                 differentiable: bool = False, fused: bool | None = None) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach,
                         maximize=maximize, capturable=capturable, differentiable=differentiable,
                         fused=fused, decoupled_weight_decay=True)
