# Stage 13b, Optimizers: the exercise for minigrad/optim/optimizer.py.
# Made by `minigrad dev build`. The lesson is lessons/13b_optimizers.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 13b
# docs/en/glossary.md explains the names used inside the package.

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
        # 13b.1 One optimizer step (about 14 lines)
        # Move every parameter that has a gradient, and look after the states. `update`
        # applies the rule.
        #   groups: a, b with lr 0.5; c, d with lr 2.0; c has no gradient
        #   step()        -> update(group, array, grad_array, state) for a, b and d
        #   step(closure) -> first closure(), once, recorded even under no_grad
        #   afterwards    -> self.state[a]: what update left in a's state; a._version: 1 more
        # Mind:
        # - A parameter without a gradient isn't written to and has no state. Zeros are a
        #   gradient.
        # - Each parameter has a separate state, and an empty one isn't kept.
        # Use: `self._to_step(group)` (the group's parameters), `parameter._bump()` (counts a
        # write), `_grad`, `_array`, `enable_grad()`.
        raise NotImplementedError("13b.1 One optimizer step is yours to write")

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
        # 13b.5 The state of an optimizer (about 11 lines)
        # Return a dictionary that another program can load. In that program, the parameters
        # are different objects, so numbers take their place.
        #   groups: a, b with lr 0.5; c with lr 2.0; only c has a state yet
        #   _pack() -> {"state": {2: self.state[c]}, "param_groups": groups} with
        #   groups   = [{"lr": 0.5, "params": [0, 1]}, {"lr": 2.0, "params": [2]}]
        # Mind:
        # - A group keeps all of its options, including unknown ones.
        # - The groups and "state" are new dictionaries, so that the optimizer doesn't change.
        #   The state of a parameter is `self.state[p]` itself, not a copy.
        raise NotImplementedError("13b.5 The state of an optimizer is yours to write")

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
