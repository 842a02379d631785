"""Gradient descent with momentum.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..backend import backend_of
from .checks import check_one_element, check_options
from .optimizer import Optimizer, downhill
from .state_arrays import Array, Group, State, buffer, remember


class SGD(Optimizer):
    """p -= lr * v with v = momentum * v + (1 - dampening) * (grad + weight_decay * p).

    The first v is the gradient itself; `nesterov` uses grad + momentum * v instead of v.

    >>> from minigrad import optim, tensor
    >>> x = tensor([1.0], requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> optim.SGD([x], lr=0.1).step(); x
    tensor([0.7000], requires_grad=True)
    """

    fused_formula = "sgd"

    def __init__(self, params: Iterable[Any], lr: float = 1e-3, momentum: float = 0,
                 dampening: float = 0, weight_decay: float = 0, nesterov: bool = False, *,
                 maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
                 fused: bool | None = None) -> None:
        check_one_element(lr)
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_options(differentiable, fused, foreach)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach,
            "differentiable": differentiable, "fused": fused,
        })

    def update(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Take one step downhill; without momentum, keep no state."""
        xp, lr = backend_of(array), float(group["lr"])
        if group["momentum"]:
            self._update_with_momentum(group, array, grad, state)
            return
        for p, g, change, room in self.cache_blocks(array, grad):
            xp.multiply(downhill(xp, group, p, g, room), lr, change)
            xp.subtract(p, change, p)

    def _update_with_momentum(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Take one step with a velocity, and keep it in the state."""
        xp, lr = backend_of(array), float(group["lr"])
        momentum, dampening = group["momentum"], group["dampening"]
        first = state.get("momentum_buffer") is None
        if first:
            remember(state, "momentum_buffer", xp.zeros_like(array))
            dampening = 0
        velocity = buffer(state, "momentum_buffer")
        for p, g, v, change, room in self.cache_blocks(array, grad, velocity):
            g = downhill(xp, group, p, g, room)
            xp.multiply(v, momentum, v)
            xp.add(v, xp.multiply(g, 1 - dampening, change) if dampening else g, v)
            if group["nesterov"]:
                xp.add(g, xp.multiply(v, momentum, change), change)
                xp.multiply(change, lr, change)
            else:
                xp.multiply(v, lr, change)
            xp.subtract(p, change, p)
