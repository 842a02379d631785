"""ASGD: gradient descent that also averages the parameters along its path.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.ASGD.html
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..backend import backend_of
from ..ops.creation.create import tensor
from .checks import check_at_least_zero, check_lr, check_options
from .optimizer import Optimizer, downhill
from .state_arrays import Array, Group, State, buffer, counted, remember, start


class ASGD(Optimizer):
    """p -= eta * (grad + lambd * p), with eta = lr / (1 + lambd * lr * step) ** alpha.

    From step `t0` on, the state `ax` is the average of the parameters; before that, their last
    value.

    >>> from minigrad import optim, tensor
    >>> x = tensor([1.0], requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> optim.ASGD([x], lr=0.1, lambd=0.0).step(); x
    tensor([0.7000], requires_grad=True)
    """

    def __init__(self, params: Iterable[Any], lr: float = 1e-2, lambd: float = 1e-4,
                 alpha: float = 0.75, t0: float = 1e6, weight_decay: float = 0,
                 foreach: bool | None = None, maximize: bool = False,
                 differentiable: bool = False, capturable: bool = False) -> None:
        check_lr(lr)
        check_at_least_zero("weight_decay value", weight_decay)
        check_options(differentiable)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable,
        })

    def update(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Take one step and update the average."""
        xp = backend_of(array)
        lr, lambd = float(group["lr"]), group["lambd"]
        if not state:
            start(xp, state, array)
            state["eta"], state["mu"] = tensor(lr), tensor(1.0)
            remember(state, "ax", xp.zeros_like(array))
        step = counted(state)
        eta, mu = float(state["eta"]), float(state["mu"])
        for p, g, average, change, room in self.cache_blocks(array, grad, buffer(state, "ax")):
            g = downhill(xp, group, p, g, room)
            xp.multiply(g, eta, change)
            xp.multiply(p, 1 - lambd * eta, p)
            xp.subtract(p, change, p)
            xp.multiply(xp.subtract(p, average, change), mu, change)
            xp.add(average, change, average)
        state["eta"].fill_(lr / (1 + lambd * lr * step) ** group["alpha"])
        state["mu"].fill_(1 / max(1, step - group["t0"]))
