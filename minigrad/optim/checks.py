"""Checks of an optimizer's arguments: parameters, groups and options.

Source: https://docs.pytorch.org/docs/stable/optim.html#torch.optim.Optimizer
"""

from __future__ import annotations

from typing import Any

from ..frames import warn_user
from ..nn.module import type_name
from ..tensor.tensor import Tensor

__all__ = ["check_apart", "check_at_least_zero", "check_betas", "check_group", "check_lr",
           "check_one_element", "check_options", "check_sign", "params_and_names", "required"]

Group = dict[str, Any]


class _Required:
    """Placeholder for an option that every group must set."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def params_and_names(given: Any) -> tuple[list[Any], list[str]]:
    """Return a group's parameters, and their names if they were given as (name, tensor) pairs."""
    if isinstance(given, set):
        raise TypeError("optimizer parameters need to be organized in ordered collections, but "
                        "the ordering of tensors in sets will change between runs. Please use "
                        "a list instead.")
    given = [given] if isinstance(given, Tensor) else list(given)
    names = [p[0] for p in given if isinstance(p, tuple)]
    params = [p[1] if isinstance(p, tuple) else p for p in given]
    if names and len(names) != len(params):
        raise ValueError("all optimizer params should be with/without names. Some param names "
                         "are missing")
    return params, names


def check_group(group: Group, params: list[Any], defaults: Group) -> None:
    """Raise if a parameter is not a leaf tensor, or if an option is missing.

    Like PyTorch, warn if a parameter occurs twice.
    """
    for parameter in params:
        if not isinstance(parameter, Tensor):
            raise TypeError("optimizer can only optimize Tensors, but one of the params is "
                            f"{type_name(parameter)}")
        if not (parameter.is_leaf or parameter.retains_grad or defaults.get("differentiable")):
            raise ValueError("can't optimize a non-leaf Tensor")
    for name, default in defaults.items():
        if default is required and name not in group:
            raise ValueError("parameter group didn't specify a value of required optimization "
                             f"parameter {name}")
    if len(set(params)) != len(params):
        warn_user("optimizer contains a parameter group with duplicate parameters; in "
                  "future, this will cause an error; see "
                  "github.com/pytorch/pytorch/issues/40967 for more information")


def check_apart(new: Group, groups: list[Group]) -> None:
    """Raise if a group shares a parameter with other groups, or if only some groups have names."""
    for group in groups:
        if ("param_names" in new) != ("param_names" in group):
            which = "with names" if "param_names" in new else "without names"
            raise ValueError("all optimizer param groups should be with/without names. cannot "
                             f"add param group {which} to the optimizer")
    known = {p for group in groups for p in group["params"]}
    if not known.isdisjoint(new["params"]):
        raise ValueError("some parameters appear in more than one parameter group")


def check_at_least_zero(what: str, value: float) -> None:
    """Raise if an option is negative; the error calls it `what`."""
    if not 0.0 <= value:  # noqa: SIM300  # PyTorch's order, in the error for a str
        raise ValueError(f"Invalid {what}: {value}")


def check_sign(what: str, value: float) -> None:
    """Raise if an option is negative, with the error text of PyTorch's newer optimizers."""
    if not 0.0 <= value:  # noqa: SIM300  # PyTorch's order, in the error for a str
        raise ValueError(f"{what} should be >= 0 but is: {value}")


def check_one_element(lr: Any) -> None:
    """Raise if the learning rate is a tensor with several elements."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def check_lr(lr: Any) -> None:
    """Raise unless the learning rate is a single non-negative number."""
    check_one_element(lr)
    if not 0.0 <= lr:  # noqa: SIM300  # PyTorch's order, in the error for a str
        raise ValueError(f"Invalid learning rate: {lr}")


def check_betas(betas: tuple[float, float]) -> None:
    """Raise if one of the two factors is outside [0, 1)."""
    for index in range(2):
        if not 0.0 <= betas[index] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {betas[index]}")


def check_options(differentiable: bool, fused: bool | None = None,
                  foreach: bool | None = None) -> None:
    """Raise if options contradict each other or are not supported.

    `foreach` and `fused` choose among PyTorch's implementations; minigrad has one for each device.
    """
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
