# Stage 13b, Optimizers: the exercise for minigrad/optim/sgd.py.
# Made by `minigrad dev build`. The lesson is lessons/13b_optimizers.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 13b
# docs/en/glossary.md explains the names used inside the package.

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
        # 13b.2 Gradient descent (about 13 lines)
        # `downhill` returns the direction against which a parameter moves: the gradient,
        # changed by the options of the group. `SGD.update` takes the plain step with it.
        #   p = [2.0, -3.0], g = [1.0, -4.0], lr = 0.5
        #   no options      -> downhill [1.0, -4.0],  then p is [1.5, -1.0]
        #   maximize        -> downhill [-1.0, 4.0],  then p is [2.5, -5.0]
        #   weight_decay 0.25 with maximize   -> downhill [-0.5, 3.25]
        #   weight_decay 0.25 -> downhill [1.5, -4.75]; if decoupled [1.0, -4.0]
        # Mind:
        # - Write only to p's array, and never to the gradient.
        # - With `group["momentum"]`, `self._update_with_momentum(...)` takes the same
        #   arguments and does everything.
        # - `lr` may be a one-element Tensor: use `float(lr)`.
        # Use: `xp = backend_of(array)` and `xp.empty_like(array)` for `room`, although
        # NumPy's operators are enough. Some groups don't have "decoupled_weight_decay".
        raise NotImplementedError("13b.2 Gradient descent is yours to write")

    def _update_with_momentum(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Take one step with a velocity, and keep it in the state."""
        # 13b.3 Momentum (about 17 lines)
        # Take one step with a velocity v, which the state keeps from step to step. Each step
        # shrinks the old v by the momentum and adds g, the direction from `downhill`.
        #   p = 2.0, lr 0.5, momentum 0.5; g = 1.0, then g = 3.0
        #   no options     -> v is 1.0, then 3.5;  p is 1.5, then -0.25
        #   dampening 0.25 -> v is 1.0, then 0.5 * 1.0 + 0.75 * 3.0
        #   nesterov       -> p moves against g + 0.5 * v, with the new v: to 1.25, -1.125
        # Mind:
        # - The first v is the whole g, in a new array: the gradient's memory isn't yours, and
        #   NumPy turns `-g` into a number if g has no dimensions.
        # - `lr` isn't part of v.
        # Use: `remember(state, "momentum_buffer", array)`, `buffer(state,
        # "momentum_buffer")`.
        raise NotImplementedError("13b.3 Momentum is yours to write")
