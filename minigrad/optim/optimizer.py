"""Optimizer: groups of parameters with their options, and what is remembered of each parameter.

Source: https://docs.pytorch.org/docs/stable/optim.html#torch.optim.Optimizer
"""

from __future__ import annotations

import copy
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from ..autograd.grad_mode import enable_grad, no_grad
from ..nn.module import type_name, zero_grad
from ..tensor import Tensor

Array = Any
Group = dict[str, Any]
State = dict[str, Any]


class Optimizer:
    """The base of all optimizers; a subclass says in `update` how a parameter moves.

    Or it overrides `step` as a whole.

    >>> from minigrad import optim, tensor
    >>> class Halving(optim.Optimizer):
    ...     def update(self, group, array, grad, state):
    ...         array *= 0.5
    >>> x = tensor([4.0], requires_grad=True)
    >>> x.sum().backward(); Halving([x], {}).step(); x
    tensor([2.], requires_grad=True)
    """

    def __init__(self, params: Iterable[Any], defaults: Group) -> None:
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of "
                            f"Tensors or dicts, but got {type_name(params)}")
        self.defaults = defaults
        self.state: defaultdict[Any, State] = defaultdict(dict)
        self.param_groups: list[Group] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters with options of their own: `{"params": [...], "lr": 0.1}`."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but "
                            "the ordering of tensors in sets will change between runs. Please use "
                            "a list instead.")
        params = [params] if isinstance(params, Tensor) else list(params)
        params = [p[1] if isinstance(p, tuple) and len(p) == 2 else p for p in params]
        for parameter in params:
            if not isinstance(parameter, Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is "
                                f"{type_name(parameter)}")
            if not (parameter.is_leaf or parameter.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        if len(set(params)) != len(params):
            warnings.warn("optimizer contains a parameter group with duplicate parameters; in "
                          "future, this will cause an error; see "
                          "github.com/pytorch/pytorch/issues/40967 for more information",
                          stacklevel=3)
        known = {p for group in self.param_groups for p in group["params"]}
        if not known.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append({**self.defaults, **param_group, "params": params})

    # ---------------------------------------------------------------- moving

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros."""
        for group in self.param_groups:
            for parameter in group["params"]:
                zero_grad(parameter, set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move all parameters that have a gradient; a closure computes the loss anew first."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                grad = parameter._grad
                if grad is not None:
                    state = self.state.get(parameter) or {}
                    self.update(group, parameter._array, grad._array, state)
                    parameter._bump()
                    if state:
                        self.state[parameter] = state
        return loss

    def update(self, group: Group, array: Array, grad: Array, state: State) -> None:
        """Move one parameter's array in place; `grad` must not be written to."""
        raise NotImplementedError

    # ---------------------------------------------------------------- keeping its state

    def state_dict(self) -> dict[str, Any]:
        """Return the state by the parameters' numbers, and the groups with these numbers."""
        numbers: dict[Tensor, int] = {}
        groups = []
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(parameter, len(numbers))
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[p] for p in group["params"]]
            groups.append(packed)
        state = {numbers.get(key, key): value for key, value in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state; numbers are matched with parameters in order."""
        saved = copy.deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for group, other in zip(self.param_groups, saved, strict=True):
            if len(group["params"]) != len(other["params"]):
                raise ValueError("loaded state dict contains a parameter group that doesn't match "
                                 "the size of optimizer's group")
        parameters = {number: parameter
                      for group, other in zip(self.param_groups, saved, strict=True)
                      for number, parameter in zip(other["params"], group["params"], strict=True)}
        self.state = defaultdict(dict)
        for key, values in state_dict["state"].items():
            parameter = parameters.get(key)
            self.state[key if parameter is None else parameter] = (
                copy.deepcopy(values) if parameter is None
                else {name: fitted(name, value, parameter) for name, value in values.items()})
        for group, other in zip(self.param_groups, saved, strict=True):
            other["params"] = group["params"]
            defaults = {k: v for k, v in group.items() if k not in other}
            group.clear()
            group.update(defaults | other)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


def fitted(name: str, value: Any, parameter: Tensor) -> Any:
    """Return a loaded value in the dtype and on the device of its parameter."""
    if not isinstance(value, Tensor):
        return copy.deepcopy(value)
    with no_grad():
        if name == "step" or not parameter.is_floating_point():
            return value.detach().clone()
        return value.detach().to(parameter.device, parameter.dtype, copy=True)


def buffer(state: State, name: str) -> Array:
    """Return the array of a remembered tensor."""
    return state[name]._array


def remember(state: State, name: str, array: Array) -> Array:
    """Keep an array in the state, as a tensor, and return it."""
    state[name] = Tensor._plain(array)
    return array


def check_options(differentiable: bool, fused: bool | None, foreach: bool | None) -> None:
    """Raise where options contradict each other or ask for what is not there."""
    if differentiable:
        raise RuntimeError("differentiable optimizers are not supported")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
