"""Variants of Adam: maximum norm (Adamax), Nesterov momentum (NAdam), rectified start (RAdam).

Source: https://docs.pytorch.org/docs/stable/optim.html#algorithms
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..backend import backend_of
from ..ops.creation.create import tensor
from .adam import average
from .checks import check_at_least_zero, check_betas, check_lr, check_options
from .optimizer import Optimizer, downhill
from .state_arrays import Array, Group, State, buffer, counted, start


class _AdamVariant(Optimizer):
    """Base of Adam's variants, with their common options."""

    counts_steps = True

    def __init__(self, params: Iterable[Any], options: Group) -> None:
        check_lr(options["lr"])
        check_at_least_zero("epsilon value", options["eps"])
        check_betas(options["betas"])
        check_at_least_zero("weight_decay value", options["weight_decay"])
        check_at_least_zero("momentum_decay value", options.get("momentum_decay", 0))
        check_options(options["differentiable"])
        super().__init__(params, options)


class Adamax(_AdamVariant):
    """p -= lr * m / u, where m averages the gradient and u is a decaying maximum of its magnitude.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.Adamax.html

    >>> from minigrad import optim, tensor
    >>> x = tensor([1.0], requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> optim.Adamax([x], lr=0.1).step(); x
    tensor([0.9000], requires_grad=True)
    """

    fused_formula = "adamax"

    def __init__(self, params: Iterable[Any], lr: float = 2e-3,
                 betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False,
                 differentiable: bool = False, capturable: bool = False) -> None:
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        })

    def update(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Update the average and the maximum, and take one step."""
        xp, (beta1, beta2) = backend_of(array), group["betas"]
        if not state:
            start(xp, state, array, "exp_avg", "exp_inf")
        rate = float(group["lr"]) / (1 - beta1 ** counted(state))
        remembered = buffer(state, "exp_avg"), buffer(state, "exp_inf")
        for p, g, mean, largest, change, room in self.cache_blocks(array, grad, *remembered):
            g = downhill(xp, group, p, g, room)
            xp.multiply(xp.subtract(g, mean, change), 1 - beta1, change)
            xp.add(mean, change, mean)
            xp.add(xp.abs(g, change), group["eps"], change)
            xp.multiply(largest, beta2, largest)
            xp.maximum(largest, change, out=largest)
            xp.multiply(xp.divide(mean, largest, change), rate, change)
            xp.subtract(p, change, p)


class NAdam(_AdamVariant):
    """Adam with Nesterov momentum that looks one step ahead.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.NAdam.html

    >>> from minigrad import optim, tensor
    >>> x = tensor([1.0], requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> optim.NAdam([x], lr=0.1).step(); x
    tensor([0.8944], requires_grad=True)
    """

    fused_formula = "nadam"

    def __init__(self, params: Iterable[Any], lr: float = 2e-3,
                 betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, momentum_decay: float = 4e-3,
                 decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
                 maximize: bool = False, capturable: bool = False,
                 differentiable: bool = False) -> None:
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "momentum_decay": momentum_decay, "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable,
        })

    def update(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Update both averages and take one step."""
        xp, (beta1, beta2), lr = backend_of(array), group["betas"], float(group["lr"])
        if not state:
            start(xp, state, array, "exp_avg", "exp_avg_sq")
            averages = {name: state.pop(name) for name in ("exp_avg", "exp_avg_sq")}
            state.update({"mu_product": tensor(1.0), **averages})
        count, product = counted(state), buffer(state, "mu_product")

        def momentum(step: float) -> float:
            decay: float = 0.96 ** (step * group["momentum_decay"])
            return beta1 * (1.0 - 0.5 * decay)

        now, next_momentum = momentum(count), momentum(count + 1)
        product *= now
        spread = math.sqrt(1 - beta2**count)
        of_grad = lr * spread * (1 - now) / (1 - float(product))
        of_mean = lr * spread * next_momentum / (1 - float(product) * next_momentum)
        shrink = 1 - lr * group["weight_decay"] if group["decoupled_weight_decay"] else 1
        remembered = buffer(state, "exp_avg"), buffer(state, "exp_avg_sq")
        for p, g, mean, square, change, room in self.cache_blocks(array, grad, *remembered):
            if shrink != 1:
                xp.multiply(p, shrink, p)
            g = downhill(xp, group, p, g, room)
            average(xp, g, mean, square, beta1, beta2, change)
            xp.multiply(g, of_grad, room)
            xp.add(room, xp.multiply(mean, of_mean, change), room)
            xp.add(xp.sqrt(square, change), group["eps"] * spread, change)
            xp.subtract(p, xp.divide(room, change, change), p)


class RAdam(_AdamVariant):
    """Adam that ignores the squared gradients until it has averaged enough of them.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.RAdam.html

    >>> from minigrad import optim, tensor
    >>> x = tensor([1.0], requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> optim.RAdam([x], lr=0.1).step(); x
    tensor([0.7000], requires_grad=True)
    """

    fused_formula = "radam"

    def __init__(self, params: Iterable[Any], lr: float = 1e-3,
                 betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, decoupled_weight_decay: bool = False, *,
                 foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
                 differentiable: bool = False) -> None:
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable,
        })

    def update(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Update both averages and take one step."""
        xp, (beta1, beta2), lr = backend_of(array), group["betas"], float(group["lr"])
        if not state:
            start(xp, state, array, "exp_avg", "exp_avg_sq")
        count = counted(state)
        rate, unseen = lr / (1 - beta1**count), 1 - beta2**count
        # The effective length of the average of squares, now and in the limit.
        most = 2 / (1 - beta2) - 1
        length = most - 2 * count * beta2**count / unseen
        adapt = length > 5.0
        if adapt:
            rate *= math.sqrt((length - 4) * (length - 2) * most
                              / ((most - 4) * (most - 2) * length) * unseen)
        shrink = 1 - lr * group["weight_decay"] if group["decoupled_weight_decay"] else 1
        remembered = buffer(state, "exp_avg"), buffer(state, "exp_avg_sq")
        for p, g, mean, square, change, room in self.cache_blocks(array, grad, *remembered):
            if shrink != 1:
                xp.multiply(p, shrink, p)
            average(xp, downhill(xp, group, p, g, room), mean, square, beta1, beta2, change)
            xp.multiply(mean, rate, change)
            if adapt:
                xp.add(xp.sqrt(square, room), group["eps"], room)
                xp.divide(change, room, change)
            xp.subtract(p, change, p)
