"""RMSprop and Adadelta divide gradients by the root of their running mean square.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.RMSprop.html
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..backend import backend_of
from .checks import check_at_least_zero, check_lr, check_options
from .optimizer import Optimizer, downhill
from .state_arrays import Array, Group, State, counted, start


class RMSprop(Optimizer):
    """p -= lr * grad / (sqrt(v) + eps), with v a running average of grad².

    `centered` subtracts the square of the average gradient from v. With `momentum` the quotients
    accumulate as in SGD.

    >>> from minigrad import optim, tensor
    >>> x = tensor([1.0], requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> optim.RMSprop([x], lr=0.1, alpha=0.0).step(); x
    tensor([0.9000], requires_grad=True)
    """

    fused_formula = "rmsprop"
    later_options = Optimizer.later_options | {"momentum"}

    def __init__(self, params: Iterable[Any], lr: float = 1e-2, alpha: float = 0.99,
                 eps: float = 1e-8, weight_decay: float = 0, momentum: float = 0,
                 centered: bool = False, capturable: bool = False, foreach: bool | None = None,
                 maximize: bool = False, differentiable: bool = False) -> None:
        check_lr(lr)
        check_at_least_zero("epsilon value", eps)
        check_at_least_zero("momentum value", momentum)
        check_at_least_zero("weight_decay value", weight_decay)
        check_at_least_zero("alpha value", alpha)
        check_options(differentiable)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable,
        })

    def update(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Update the averages and take one step."""
        xp = backend_of(array)
        alpha, momentum, lr = group["alpha"], group["momentum"], float(group["lr"])
        names = ["square_avg", *(["momentum_buffer"] if momentum > 0 else []),
                 *(["grad_avg"] if group["centered"] else [])]
        if not state:
            start(xp, state, array, *names)
        counted(state)
        remembered = [state[name]._array for name in names]
        for p, g, square, *more, change, room in self.cache_blocks(array, grad, *remembered):
            g = downhill(xp, group, p, g, room)
            xp.multiply(square, alpha, square)
            xp.multiply(xp.multiply(g, g, change), 1 - alpha, change)
            xp.add(square, change, square)
            if group["centered"]:
                mean = more[-1]
                xp.multiply(xp.subtract(g, mean, change), 1 - alpha, change)
                xp.add(mean, change, mean)
                xp.subtract(square, xp.multiply(mean, mean, change), change)
                xp.sqrt(change, change)
            else:
                xp.sqrt(square, change)
            xp.divide(g, xp.add(change, group["eps"], change), change)
            if momentum > 0:
                gathered = more[0]
                xp.multiply(gathered, momentum, gathered)
                change = xp.add(gathered, change, gathered)
            xp.subtract(p, xp.multiply(change, lr, room), p)


class Adadelta(Optimizer):
    """p -= lr * d, where d rescales the gradient by the ratio of the running sizes of d and grad.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.Adadelta.html

    >>> from minigrad import optim, tensor
    >>> x = tensor([1.0], requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> optim.Adadelta([x], eps=0.01).step(); x
    tensor([0.6855], requires_grad=True)
    """

    fused_formula = "adadelta"

    def __init__(self, params: Iterable[Any], lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6,
                 weight_decay: float = 0, foreach: bool | None = None, *, capturable: bool = False,
                 maximize: bool = False, differentiable: bool = False) -> None:
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_at_least_zero("epsilon value", eps)
        check_at_least_zero("weight_decay value", weight_decay)
        check_options(differentiable)
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        })

    def update(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Update both averages and take one step."""
        xp = backend_of(array)
        rho, eps, lr = group["rho"], group["eps"], float(group["lr"])
        names = "square_avg", "acc_delta"
        if not state:
            start(xp, state, array, *names)
        counted(state)
        remembered = [state[name]._array for name in names]
        for p, g, square, moved, change, room in self.cache_blocks(array, grad, *remembered):
            g = downhill(xp, group, p, g, room)
            xp.multiply(square, rho, square)
            xp.multiply(xp.multiply(g, g, change), 1 - rho, change)
            xp.add(square, change, square)
            # g * sqrt((moved + eps) / (square + eps)), in the one scratch array that is left
            xp.multiply(g, xp.sqrt(xp.add(moved, eps, change), change), room)
            xp.sqrt(xp.add(square, eps, change), change)
            xp.divide(room, change, room)
            xp.multiply(moved, rho, moved)
            xp.multiply(xp.multiply(room, room, change), 1 - rho, change)
            xp.add(moved, change, moved)
            xp.subtract(p, xp.multiply(room, lr, change), p)
