"""Loads a state dict into an optimizer, replacing parameter numbers with parameters.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.load_state_dict.html
"""

from __future__ import annotations

import copy
from collections import defaultdict
from typing import Any

import numpy as np

from ..tensor.tensor import Tensor

__all__ = ["fitted", "loaded"]


def loaded(param_groups: list[dict[str, Any]], state_dict: dict[str, Any]) -> dict[str, Any]:
    """Return the state and groups of a state dict, with parameters in place of their numbers.

    Groups and parameters are matched by order; raises `ValueError` if the sizes differ.
    """
    saved = copy.deepcopy(state_dict["param_groups"])
    if len(saved) != len(param_groups):
        raise ValueError("loaded state dict has a different number of parameter groups")
    groups = list(zip(param_groups, saved, strict=True))
    for group, other in groups:
        if len(group["params"]) != len(other["params"]):
            raise ValueError("loaded state dict contains a parameter group that doesn't match "
                             "the size of optimizer's group")
    parameters = {number: parameter for group, other in groups
                  for number, parameter in zip(other["params"], group["params"], strict=True)}
    state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
    for key, values in state_dict["state"].items():
        parameter = parameters.get(key)
        if parameter is None:
            state[key] = values
        else:
            state[parameter] = {n: fitted(n, v, parameter) for n, v in values.items()}
    for group, other in groups:
        other["params"] = group["params"]
        if "param_names" in group:
            other.setdefault("param_names", group["param_names"])
    return {"state": state, "param_groups": saved}


def fitted(name: str, value: Any, parameter: Tensor) -> Any:
    """Return a loaded value with the dtype and device of its parameter.

    A tensor that already matches is not copied, so two optimizers may share it. To avoid that,
    `copy.deepcopy` the state dict, as in PyTorch.
    """
    if not isinstance(value, Tensor):
        if not hasattr(value, "__array__"):
            return copy.deepcopy(value)
        value = Tensor._plain(np.asarray(value).copy())  # another library's tensor
    if name == "step":
        return value
    return value.to(parameter.device, parameter.dtype if parameter.is_floating_point() else None)
