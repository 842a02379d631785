# Stage 13b, Optimizers: the exercise for minigrad/optim/sgd.py.
# Made by `minigrad dev build`. The lesson is lessons/13b_optimizers.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 13b
# Names of the package's inside are explained in docs/en/glossary.md.

"""Gradient descent, with momentum.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..backend import backend_of
from .optimizer import (
    Array,
    Group,
    Optimizer,
    State,
    buffer,
    check_lr,
    check_options,
    downhill,
    remember,
)


class SGD(Optimizer):
    """p -= lr * v with v = momentum * v + (1 - dampening) * (grad + weight_decay * p).

    The first v is the gradient itself; `nesterov` takes grad + momentum * v in place of v.

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
        check_lr(lr)
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
        """Take one step downhill."""
        # 13b.2 Downhill (about 13 lines)
        # `downhill(xp, group, array, grad, room)` returns an array: what a parameter has to
        # move *against*. That is the gradient; turned around with `group["maximize"]`; plus
        # `group["weight_decay"]` times the parameter's array, which is never turned around.
        # With `group.get("decoupled_weight_decay")` the decay is left out here. Neither
        # `array` nor `grad` may be written to. `room` is an array of the same shape that you
        # may write to and return; you may as well make new ones. `SGD.update(group, array,
        # grad, state)`: if `group["momentum"]` is not zero,
        # `self._update_with_momentum(group, array, grad, state)` does everything. Otherwise
        # subtract `lr` times what `downhill` returns from the array, in place. Nothing is
        # remembered. `xp = backend_of(array)` has the array functions (`xp.multiply(a, b,
        # out)` and so on); plain `-=`, `*` and `+` do as well. `self.cache_blocks(a, b, ...)`
        # gives tuples of pieces of these arrays, each with two arrays to compute in; it saves
        # time on large arrays, and you need not use it.
        raise NotImplementedError("13b.2 Downhill is yours to write")

    def _update_with_momentum(self, group: Group, array: Array, grad: Array, state: State) -> None:
        # 13b.3 Momentum (about 17 lines)
        # `_update_with_momentum(group, array, grad, state)` takes one step with a velocity v
        # that is kept in `state["momentum_buffer"]`. Let g be what `downhill` returns. The
        # first time v is g, and is kept as a new array: `remember(state, "momentum_buffer",
        # array)` keeps an array, and `buffer(state, "momentum_buffer")` gives it back later.
        # From then on v = momentum * v + (1 - dampening) * g, in place. The parameter moves
        # by -lr * v; with `group["nesterov"]` by -lr * (g + momentum * v) with the new v. The
        # array is changed in place, and the gradient not at all. The learning rate is no part
        # of v.
        raise NotImplementedError("13b.3 Momentum is yours to write")
