"""Saving and loading a module's parameters and buffers, with hooks for both.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..frames import warn_user
from ..graph.hooks import RemovableHandle, register
from . import state
from .module_call import Hook, Table
from .module_tables import ModuleTables

__all__ = ["ModuleState"]


class ModuleState(ModuleTables):
    """The part of `Module` that saves and loads its state."""

    _version: int = 1  # version of the state's layout

    _state_dict_pre_hooks: Table
    _state_dict_hooks: Table
    _load_state_dict_pre_hooks: Table
    _load_state_dict_post_hooks: Table

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "",
                   keep_vars: bool = False) -> dict[str, Any]:
        """Return all parameters and persistent buffers by dotted name.

        The tensors share the module's memory; they are detached unless `keep_vars`.

        >>> from minigrad import nn
        >>> list(nn.Linear(3, 2).state_dict())
        ['weight', 'bias']
        """
        if args:
            warn_user("Positional args are being deprecated, use kwargs instead. Refer to "
                      "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn."
                      "Module.state_dict for details.", FutureWarning)
            named = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
            destination = named["destination"] if destination is None else destination
            prefix = prefix or named.get("prefix", "")
            keep_vars = keep_vars or named.get("keep_vars", False)
        return state.collect(self, destination, prefix, keep_vars)

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True,
                        assign: bool = False) -> Any:
        """Copy a state into this module; with `strict` the names must match exactly.

        Returns the missing and the unexpected names. With `assign` the module takes the tensors
        themselves instead of copying them. A `RuntimeError` lists all mismatches.

        >>> from minigrad import nn
        >>> nn.Linear(3, 2).load_state_dict(nn.Linear(3, 2).state_dict())
        <All keys matched successfully>
        """
        return state.load(self, state_dict, strict, assign)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Add the module's own members to the state; override it to add more."""
        state.collect_own(self, destination, prefix, keep_vars)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: dict[str, Any],
                              strict: bool, missing_keys: list[str], unexpected_keys: list[str],
                              error_msgs: list[str]) -> None:
        """Load the module's own members from the state; override it to change the state first."""
        state.load_own(self, state_dict, prefix, local_metadata, strict, missing_keys,
                       unexpected_keys, error_msgs)

    def get_extra_state(self) -> Any:
        """Return extra state for `state_dict`; override it together with `set_extra_state`.

        >>> from minigrad import nn
        >>> class Counter(nn.Module):
        ...     count = 3
        ...     def get_extra_state(self): return self.count
        >>> dict(Counter().state_dict())
        {'_extra_state': 3}
        """
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be "
                           "called. Please file an issue at https://github.com/pytorch/pytorch/"
                           "issues/new?template=bug-report.yml to report this bug.")

    def set_extra_state(self, state: Any) -> None:
        """Load the value that `get_extra_state` returned.

        >>> from minigrad import nn
        >>> class Counter(nn.Module):
        ...     count = 3
        ...     def get_extra_state(self): return self.count
        ...     def set_extra_state(self, state): self.count = state
        >>> counter = Counter(); _ = counter.load_state_dict({"_extra_state": 7}); counter.count
        7
        """
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be "
                           "called. Please file an issue at https://github.com/pytorch/pytorch/"
                           "issues/new?template=bug-report.yml to report this bug.")

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(module, prefix, keep_vars)` to run before the state is collected.

        >>> from minigrad import nn
        >>> net = nn.Sequential(nn.Linear(1, 1))
        >>> handle = net[0].register_state_dict_pre_hook(lambda layer, prefix, keep: print(prefix))
        >>> list(net.state_dict())
        0.
        ['0.weight', '0.bias']
        """
        return register(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(module, state_dict, prefix, local_metadata)` to run on a collected state.

        >>> from minigrad import nn
        >>> layer = nn.Linear(1, 1)
        >>> handle = layer.register_state_dict_post_hook(lambda layer, kept, *_: kept.update(n=3))
        >>> list(layer.state_dict())
        ['weight', 'bias', 'n']
        """
        return register(self._state_dict_hooks, (hook, False))

    def _register_state_dict_hook(self, hook: Hook) -> RemovableHandle:
        """Register a hook on the collected state; its result, if any, replaces the state."""
        return register(self._state_dict_hooks, (hook, True))

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(module, state_dict, prefix, ...)` to run before a module loads its state.

        >>> from minigrad import nn, ones
        >>> def rename(layer, state, prefix, *_):
        ...     state[prefix + "weight"] = state.pop(prefix + "kernel")
        >>> layer = nn.Linear(2, 1, bias=False)
        >>> handle = layer.register_load_state_dict_pre_hook(rename)
        >>> _ = layer.load_state_dict({"kernel": ones(1, 2)}); layer.weight.data
        tensor([[1., 1.]])
        """
        return register(self._load_state_dict_pre_hooks, (hook, True))

    def _register_load_state_dict_pre_hook(self, hook: Hook,
                                           with_module: bool = False) -> RemovableHandle:
        """Register a hook to run before loading; it gets the module only if `with_module`."""
        return register(self._load_state_dict_pre_hooks, (hook, with_module))

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(module, incompatible_keys)` to run after the module is loaded.

        >>> from minigrad import nn
        >>> layer = nn.Linear(2, 1)
        >>> handle = layer.register_load_state_dict_post_hook(lambda layer, found: print(found))
        >>> _ = layer.load_state_dict({}, strict=False)
        _IncompatibleKeys(missing_keys=['weight', 'bias'], unexpected_keys=[])
        """
        return register(self._load_state_dict_post_hooks, hook)
