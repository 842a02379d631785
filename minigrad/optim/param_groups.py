"""The groups of parameters that an optimizer steps, and their options."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from .. import _state
from ..autograd.profiler import record_function
from ..nn.module import zero_grad
from ..tensor.tensor import Tensor
from .cache_blocks import CacheBlocks
from .checks import check_apart, check_group, params_and_names
from .hooks import StepHooks
from .multi_tensor import check_capture, skips_on_device, step_on_devices
from .state_arrays import Group, State


class ParamGroups(StepHooks):
    """The part of an optimizer that keeps its parameters, their options and their state."""

    #: Whether a step depends on the number of steps, which is counted on the host.
    counts_steps = False
    #: The fused formula that steps all parameters of a GPU in one kernel, if there is one.
    fused_formula: str | None = None
    #: Options of later versions of PyTorch, so a loaded state may lack them.
    later_options: frozenset[str] = frozenset((
        "amsgrad", "capturable", "centered", "decoupled_weight_decay", "differentiable", "foreach",
        "fused", "maximize", "nesterov"))

    def __init__(self, params: Iterable[Any], defaults: Group) -> None:
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of "
                            f"Tensors or dicts, but got {params.type()}")
        self._make_hooks()
        self.cache_blocks = CacheBlocks()
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
        """Add parameters with separate options: `{"params": [...], "lr": 0.1}`."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params, names = params_and_names(param_group["params"])
        check_group(param_group, params, self.defaults)
        named = {"param_names": names} if names else {}
        group = {**self.defaults, **param_group, **named, "params": params}
        check_apart(group, self.param_groups)
        param_group.update(group)
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros."""
        if _state.observers.count:
            with record_function(f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"):
                self._zero_grad(set_to_none)
        else:
            self._zero_grad(set_to_none)

    def _zero_grad(self, set_to_none: bool) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                zero_grad(parameter, set_to_none)

    def _to_step(self, group: Group) -> Iterable[Tensor]:
        """Return the parameters of a group that `step` has to move: on a CPU all of them.

        Parameters on a GPU are moved here, by fused kernels. Raises if a captured graph would
        repeat a step count.
        """
        if self.counts_steps:
            check_capture(self, group)
        return step_on_devices(self, group)

    def _skips_on_device(self) -> bool:
        """Return whether a step reads `found_inf` on the device; called by `GradScaler`."""
        return skips_on_device(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_hooks()
        self.cache_blocks = CacheBlocks()
        for group in self.param_groups:
            for name in self.later_options & self.defaults.keys():
                group.setdefault(name, self.defaults[name])

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines += [*([""] if number else []), f"Parameter Group {number}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])
