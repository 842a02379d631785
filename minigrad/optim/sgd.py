"""Gradient descent, with momentum.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .optimizer import Array, Group, Optimizer, State, buffer, check_options, remember


class SGD(Optimizer):
    """p -= lr * v with v = momentum * v + (1 - dampening) * (grad + weight_decay * p).

    The first v is the gradient itself; `nesterov` takes grad + momentum * v in place of v.

    >>> from minigrad import optim, tensor
    >>> x = tensor([1.0], requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> optim.SGD([x], lr=0.1).step(); x
    tensor([0.7000], requires_grad=True)
    """

    def __init__(self, params: Iterable[Any], lr: float = 1e-3, momentum: float = 0,
                 dampening: float = 0, weight_decay: float = 0, nesterov: bool = False, *,
                 maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
                 fused: bool | None = None) -> None:
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
        })  # fmt: skip

    def update(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Take one step downhill."""
        momentum = group["momentum"]
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"]:
            grad = grad + group["weight_decay"] * array
        if momentum:
            if state.get("momentum_buffer") is None:
                velocity = remember(state, "momentum_buffer", grad.copy())
            else:
                velocity = buffer(state, "momentum_buffer")
                velocity *= momentum
                velocity += grad if not group["dampening"] else grad * (1 - group["dampening"])
            grad = grad + momentum * velocity if group["nesterov"] else velocity
        array -= grad * float(group["lr"])
