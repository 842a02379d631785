# Stage 13b, Optimizers: the exercise for minigrad/optim/adam.py.
# Made by `minigrad dev build`. The lesson is lessons/13b_optimizers.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 13b
# docs/en/glossary.md explains the names used inside the package.

"""Adam takes steps of about the same length for every element, however large its gradients are.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..backend import Backend, backend_of
from ..tensor.tensor import Tensor
from .checks import check_at_least_zero, check_betas, check_lr, check_options
from .optimizer import Optimizer, downhill
from .state_arrays import Array, Group, State, counted, start


class Adam(Optimizer):
    """p -= lr * M / (sqrt(V) + eps), with averages of the gradient and of its square.

    The running averages m = beta1 * m + (1 - beta1) * g and v = beta2 * v + (1 - beta2) * g * g
    start at zero, which biases them. Step n corrects for this with M = m / (1 - beta1**n) and
    V = v / (1 - beta2**n). `weight_decay` adds a multiple of the parameter to the gradient; with
    `decoupled_weight_decay`, the parameter is first multiplied by 1 - lr * weight_decay instead.
    With `amsgrad`, V uses the largest v so far, element by element.

    >>> from minigrad import optim, tensor
    >>> x = tensor([1.0], requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> optim.Adam([x], lr=0.1).step(); x
    tensor([0.9000], requires_grad=True)
    """

    counts_steps, fused_formula = True, "adam"

    def __init__(self, params: Iterable[Any], lr: float = 1e-3,
                 betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None,
                 maximize: bool = False, capturable: bool = False, differentiable: bool = False,
                 fused: bool | None = None, decoupled_weight_decay: bool = False) -> None:
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and "
                             "foreach=True")
        check_lr(lr)
        check_at_least_zero("epsilon value", eps)
        check_betas(betas)
        check_at_least_zero("weight_decay value", weight_decay)
        if [type(beta) for beta in betas[:2]] not in ([float, float], [Tensor, Tensor]):
            raise ValueError("betas must be either both floats or both Tensors")
        if isinstance(betas[0], Tensor) and foreach and not capturable:
            raise ValueError("betas[0] as a Tensor is not supported for capturable=False and "
                             "foreach=True")
        check_options(differentiable, fused, foreach)
        super().__init__(params, {
            "lr": lr, "betas": tuple(float(beta) for beta in betas), "eps": eps,
            "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay,
        })

    def update(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Update both averages and take one step."""
        # 13b.4 Adam (about 25 lines)
        # `average` includes a gradient in both running averages. `Adam.update` takes one step
        # with them, and you can find the formulas in the docstring of `Adam`.
        #   betas (0.5, 0.75), eps 0, lr 0.1, p = 5.0; g = 4.0, then g = 6.0
        #   average  -> m is 2.0, v is 4.0;  then m is 4.0, v is 12.0
        #   update   -> p is 4.9;            then p is 4.7982
        #   AdamW with weight_decay 0.5: the first step leads to 4.65
        # Mind:
        # - The parameter and the averages change in place, but the gradient must stay
        #   unchanged.
        # - With `amsgrad`, v itself continues as before, and the largest v is kept too.
        # - `downhill` handles the other options, and it ignores a decoupled decay.
        # Use: `self._averages(group, array, state)`; `counted(state)` counts this step.
        raise NotImplementedError("13b.4 Adam is yours to write")

    def _averages(self, group: Group, array: Array, state: State) -> list[Array]:
        """Return the arrays of m, v and, with `amsgrad`, the largest v; they start at zero."""
        if not state:
            start(backend_of(array), state, array, "exp_avg", "exp_avg_sq",
                  *(["max_exp_avg_sq"] if group["amsgrad"] else []))
        return [value._array for name, value in state.items() if name != "step"]


def average(xp: Backend, grad: Array, mean: Array, square: Array, beta1: float, beta2: float,
            room: Array) -> None:
    """Update the running averages of the gradients and of their squares, in place.

    `room` is scratch memory with the shape of the gradient.
    """
    # 13b.4 Adam: see the task at `Adam.update`.
    raise NotImplementedError("13b.4 Adam is yours to write")


class AdamW(Adam):
    """Adam with decoupled weight decay, subtracted from the parameter itself.

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

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
