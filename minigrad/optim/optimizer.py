"""Optimizer: groups of parameters with their options, and the state of each parameter.

Source: https://docs.pytorch.org/docs/stable/optim.html#torch.optim.Optimizer
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

from ..autograd.grad_mode import enable_grad
from ..backend import Backend
from .checks import (
    _Required,  # noqa: F401  # files of earlier versions name it here
    required,
)
from .hooks import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from .load_state import loaded
from .param_groups import ParamGroups
from .state_arrays import Array, Group, State

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook",
           "required"]


class Optimizer(ParamGroups):
    """Base of all optimizers; subclasses implement `update`, which moves one parameter.

    Alternatively, a subclass overrides `step`.  `params` are tensors, pairs of name and tensor, or
    dictionaries with `params` and options that override `defaults`.

    >>> from minigrad import optim, tensor
    >>> class Halving(optim.Optimizer):
    ...     def update(self, group, array, grad, state):
    ...         array *= 0.5
    >>> x = tensor([4.0], requires_grad=True)
    >>> halving = Halving([x], {"lr": 0.1})
    >>> x.sum().backward(); halving.step(); x
    tensor([2.], requires_grad=True)
    >>> halving.zero_grad(); print(x.grad)
    None
    >>> halving.add_param_group({"params": [tensor(1.0)], "lr": 0.2})
    >>> kept = halving.state_dict(); kept["param_groups"]
    [{'lr': 0.1, 'params': [0]}, {'lr': 0.2, 'params': [1]}]
    >>> halving.load_state_dict(kept)
    """

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Step all parameters that have a gradient; a closure recomputes the loss first.

        Returns the closure's result, or `None` without a closure.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in self._to_step(group):
                grad = parameter._grad
                if grad is not None:
                    state = self.state.get(parameter) or {}
                    parameter._bump()  # first, since Ctrl-C may arrive in between
                    self.update(group, parameter._array, grad._array, state)
                    if state:
                        self.state[parameter] = state
        return loss

    def update(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Move one parameter's array in place; do not write to `grad`.

        `state` is a dictionary in which a rule stores what it needs for this parameter; it starts
        empty.

        >>> import numpy
        >>> from minigrad import optim, zeros
        >>> optimizer, array = optim.SGD([zeros(1)], lr=0.5), numpy.array([1.0])
        >>> optimizer.update(optimizer.param_groups[0], array, numpy.array([3.0]), {}); array
        array([-0.5])
        """
        raise NotImplementedError

    # ---------------------------------------------------------------- state dicts

    def state_dict(self) -> dict[str, Any]:
        """Return the state by parameter number, and the groups with these numbers."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        packed = self._pack()
        for hook in self._optimizer_state_dict_post_hooks.values():
            new = hook(self, packed)
            packed = packed if new is None else new
        return packed

    def _pack(self) -> dict[str, Any]:
        """Return `state_dict` before hooks; it shares the state's values.

        All parameters of all groups are numbered consecutively, from 0.
        """
        parameters = chain.from_iterable(group["params"] for group in self.param_groups)
        numbers: dict[Any, int] = {}
        for number, parameter in enumerate(parameters):
            numbers.setdefault(parameter, number)
        groups = []
        for group in self.param_groups:
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[p] for p in group["params"]]
            groups.append(packed)
        state = {numbers.get(key, key): value for key, value in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state; numbers are matched to parameters by order."""
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            new = hook(self, state_dict)
            state_dict = state_dict if new is None else new
        self.__setstate__(loaded(self.param_groups, state_dict))
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

def downhill(xp: Backend, group: Group, array: Array, grad: Array, room: Array) -> Array:
    """Return the direction against which a parameter moves.

    It is the gradient, negated with `maximize`, plus `weight_decay` times the parameter. This
    function writes only to `room`, scratch memory with the same shape.
    """
    decay = group["weight_decay"]
    if decay and not group.get("decoupled_weight_decay"):
        xp.multiply(array, decay, room)
        combine = xp.subtract if group["maximize"] else xp.add
        return combine(room, grad, room)
    return xp.negative(grad, room) if group["maximize"] else grad
