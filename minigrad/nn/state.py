"""Saving and loading a module's state, a dictionary of tensors by dotted name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..autograd.grad_mode import no_grad
from ..tensor.tensor import Parameter, Tensor
from .uninitialized import is_lazy

if TYPE_CHECKING:
    from .module_state import ModuleState

EXTRA = "_extra_state"


class _Keys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]


class _IncompatibleKeys(_Keys):
    """The names missing from a state, and the names that the module does not have."""

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


def overrides(module: ModuleState, method: str) -> bool:
    """Return whether a module's class overrides a method of `Module`."""
    found = getattr(type(module), method)
    base = f"{__package__}.module_state", f"ModuleState.{method}"
    return (found.__module__, found.__qualname__) != base


def persistent(module: ModuleState) -> dict[str, Tensor]:
    """Return a module's own parameters and persistent buffers."""
    buffers = {name: buffer for name, buffer in module._buffers.items()
               if name not in module._non_persistent_buffers_set}
    return {name: t for name, t in {**module._parameters, **buffers}.items() if t is not None}


# -------------------------------------------------------------------- collecting


def collect(module: ModuleState, destination: Any, prefix: str, keep_vars: bool) -> Any:
    """Return the state of a module and all its submodules; see `Module.state_dict`."""
    if destination is None:
        destination = OrderedDict()
        vars(destination)["_metadata"] = OrderedDict()  # PyTorch keeps modules' versions here
    local = {"version": module._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = local
    for hook in module._state_dict_pre_hooks.values():
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, part in module._modules.items():
        if part is not None:
            part.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook, may_replace in module._state_dict_hooks.values():
        result = hook(module, destination, prefix, local)
        if result is not None:
            if not may_replace:
                raise RuntimeError("state_dict post-hook must return None")
            destination = result
    return destination


def collect_own(module: ModuleState, destination: Any, prefix: str, keep_vars: bool) -> None:
    """Add the module's own members to the state."""
    for name, tensor in persistent(module).items():
        destination[prefix + name] = tensor if keep_vars else tensor.detach()
    if overrides(module, "get_extra_state"):
        destination[prefix + EXTRA] = module.get_extra_state()


# -------------------------------------------------------------------- loading


def load(module: ModuleState, state_dict: Mapping[str, Any], strict: bool, assign: bool) -> Any:
    """Copy a state into a module and all its submodules; see `Module.load_state_dict`."""
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    found = _IncompatibleKeys([], [])
    errors: list[str] = []
    metadata = getattr(state_dict, "_metadata", None) or {}
    _load(module, OrderedDict(state_dict), metadata, "", assign, found, errors)
    if strict:
        quoted = [", ".join(f'"{key}"' for key in keys) for keys in found]
        if found.unexpected_keys:
            errors.insert(0, f"Unexpected key(s) in state_dict: {quoted[1]}. ")
        if found.missing_keys:
            errors.insert(0, f"Missing key(s) in state_dict: {quoted[0]}. ")
    if errors:
        raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t"
                           + "\n\t".join(errors))
    return found


def _load(module: ModuleState, state: OrderedDict[str, Any], metadata: Mapping[str, Any],
          prefix: str, assign: bool, found: _IncompatibleKeys, errors: list[str]) -> None:
    local = dict(metadata.get(prefix[:-1], {}))
    if assign:
        local["assign_to_params_buffers"] = assign
    module._load_from_state_dict(state, prefix, local, True, *found, errors)
    for name, part in module._modules.items():
        if part is not None:
            below = f"{prefix}{name}."
            inside = OrderedDict((k, v) for k, v in state.items() if k.startswith(below))
            _load(part, inside, metadata, below, assign, found, errors)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, found) is not None:
            raise AssertionError("Hooks registered with ``register_load_state_dict_post_hook`` are "
                                 "not expected to return new values, if incompatible_keys need to "
                                 "be modified, it should be done inplace.")


def load_own(module: ModuleState, state: Any, prefix: str, local: Mapping[str, Any], strict: bool,
             missing: list[str], unexpected: list[str], errors: list[str]) -> None:
    """Load the module's own members from the state; collect missing and unexpected names."""
    given = (state, prefix, local, strict, missing, unexpected, errors)
    for hook, with_module in module._load_state_dict_pre_hooks.values():
        hook(module, *given) if with_module else hook(*given)
    own = persistent(module)
    assign = local.get("assign_to_params_buffers", False)
    for name, tensor in own.items():
        key = prefix + name
        if key in state:
            error = _put(module, name, tensor, state[key], key, assign)
            if error is not None:
                errors.append(error)
        elif strict and not _may_be_missing(name, local):
            missing.append(key)
    known = set(own)
    if overrides(module, "set_extra_state"):
        known.add(EXTRA)
        if prefix + EXTRA in state:
            module.set_extra_state(state[prefix + EXTRA])
        elif strict:
            missing.append(prefix + EXTRA)
    for key in state if strict else ():
        if key.startswith(prefix):
            first, dot, _ = key[len(prefix):].partition(".")
            if first not in (module._modules if dot else known):
                unexpected.append(key)


def _may_be_missing(name: str, local: Mapping[str, Any]) -> bool:
    """Return whether older versions of the state did not have this name yet."""
    return name == "num_batches_tracked" and (local.get("version") or 1) < 2


def _put(module: ModuleState, name: str, tensor: Tensor, value: Any, key: str,
         assign: bool) -> str | None:
    """Copy one tensor of a state into the module; return an error message, or `None`."""
    if not isinstance(value, Tensor):
        if not hasattr(value, "__array__"):
            return (f'While copying the parameter named "{key}", expected torch.Tensor or '
                    f"Tensor-like object from checkpoint but received {type(value)}")
        value = Tensor._plain(np.asarray(value))
    if is_lazy(tensor) and is_lazy(value):
        return None
    if not tensor.shape and tuple(value.shape) == (1,):
        value = value[0]
    if tuple(value.shape) != tuple(tensor.shape):
        return (f"size mismatch for {key}: copying a param with shape {value.shape} from "
                f"checkpoint, the shape in current model is {tensor.shape}.")
    try:
        if assign:
            if isinstance(tensor, Parameter):
                if not isinstance(value, Parameter):
                    value = Parameter(value, requires_grad=tensor.requires_grad)
                value.requires_grad_(tensor.requires_grad)
            setattr(module, name, value)
        else:
            with no_grad():
                tensor.copy_(value)
    except Exception as error:
        return (f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{tensor.size()} and whose dimensions in the checkpoint are {value.size()}, an "
                f"exception occurred : {error.args}.")
    return None
