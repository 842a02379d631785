"""Adagrad divides gradients by the root of the sum of all earlier squares.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.Adagrad.html
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..backend import backend_of
from ..device import place_on
from ..ops.creation.create import tensor
from ..tensor.tensor import Tensor
from .checks import check_at_least_zero, check_lr, check_options
from .optimizer import Optimizer, downhill
from .state_arrays import Array, Group, State, buffer, counted, remember


class Adagrad(Optimizer):
    """p -= lr * grad / (sqrt(sum of grad²) + eps); `lr_decay` lowers lr over the steps.

    >>> from minigrad import optim, tensor
    >>> x = tensor([1.0], requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> optim.Adagrad([x], lr=0.1).step(); x
    tensor([0.9000], requires_grad=True)
    """

    counts_steps, fused_formula = True, "adagrad"

    def __init__(self, params: Iterable[Any], lr: float = 1e-2, lr_decay: float = 0,
                 weight_decay: float = 0, initial_accumulator_value: float = 0, eps: float = 1e-10,
                 foreach: bool | None = None, *, maximize: bool = False,
                 differentiable: bool = False, fused: bool | None = None) -> None:
        check_lr(lr)
        check_at_least_zero("lr_decay value", lr_decay)
        check_at_least_zero("weight_decay value", weight_decay)
        check_at_least_zero("initial_accumulator_value value", initial_accumulator_value)
        check_at_least_zero("epsilon value", eps)
        check_options(differentiable, fused, foreach)
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "fused": fused,
        })
        for group in self.param_groups:
            for parameter in group["params"]:
                self._begin(group, parameter, self.state[parameter])

    def _begin(self, group: Group, parameter: Tensor, state: State) -> None:
        array = parameter._array
        state["step"] = tensor(0.0)
        with place_on(array):
            total = remember(state, "sum", backend_of(array).zeros_like(array))
            total += group["initial_accumulator_value"]

    def update(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Add to the sum and take one step."""
        xp = backend_of(array)
        lr = float(group["lr"]) / (1 + (counted(state) - 1) * group["lr_decay"])
        for p, g, total, change, room in self.cache_blocks(array, grad, buffer(state, "sum")):
            g = downhill(xp, group, p, g, room)
            xp.add(total, xp.multiply(g, g, change), total)
            xp.add(xp.sqrt(total, change), group["eps"], change)
            xp.divide(g, change, change)
            xp.subtract(p, xp.multiply(change, lr, change), p)
