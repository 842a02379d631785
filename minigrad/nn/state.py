"""The state of a module as a dictionary of tensors by dotted name: collecting and loading it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..autograd.grad_mode import no_grad
from ..tensor import Parameter, Tensor

if TYPE_CHECKING:
    from .module import Module

EXTRA = "_extra_state"


class _IncompatibleKeys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]


class IncompatibleKeys(_IncompatibleKeys):
    """The names that a state lacked, and those that the module does not know."""

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return "_" + super().__repr__()

    __str__ = __repr__


class StateDict(OrderedDict[str, Any]):
    """A dictionary of tensors that also carries each module's version, as PyTorch's does."""

    _metadata: OrderedDict[str, dict[str, Any]]


def overrides(module: Module, method: str) -> bool:
    """Tell whether a module's class has a method of its own in place of `Module`'s."""
    return getattr(type(module), method).__module__ != f"{__package__}.module"


def persistent(module: Module) -> dict[str, Tensor]:
    """Return a module's own parameters and persistent buffers."""
    buffers = {name: buffer for name, buffer in module._buffers.items()
               if name not in module._non_persistent_buffers_set}
    return {name: t for name, t in {**module._parameters, **buffers}.items() if t is not None}


def collect(module: Module, destination: Any, prefix: str, keep_vars: bool) -> Any:
    """Return the state of a module and all its parts; see `Module.state_dict`."""
    if destination is None:
        destination = StateDict()
        destination._metadata = OrderedDict()
    local = {"version": getattr(module, "_version", 1)}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = local
    for name, tensor in persistent(module).items():
        destination[prefix + name] = tensor if keep_vars else tensor.detach()
    if overrides(module, "get_extra_state"):
        destination[prefix + EXTRA] = module.get_extra_state()
    for name, part in module._modules.items():
        if part is not None:
            part.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in module._state_dict_hooks.values():
        result = hook(module, destination, prefix, local)
        destination = destination if result is None else result
    return destination


def load(module: Module, state_dict: Mapping[str, Any], strict: bool, assign: bool) -> Any:
    """Copy a state into a module and all its parts; see `Module.load_state_dict`."""
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    found = IncompatibleKeys([], [])
    errors: list[str] = []
    metadata = getattr(state_dict, "_metadata", None) or {}
    _load(module, StateDict(state_dict), metadata, "", strict, assign, found, errors)
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


def _load(module: Module, state: StateDict, metadata: Mapping[str, Any], prefix: str, strict: bool,
          assign: bool, found: IncompatibleKeys, errors: list[str]) -> None:
    local = metadata.get(prefix[:-1], {})
    for hook in module._load_state_dict_pre_hooks.values():
        hook(module, state, prefix, local, strict, *found, errors)
    for name, tensor in persistent(module).items():
        if prefix + name in state:
            error = _put(module, name, tensor, state[prefix + name], prefix + name, assign)
            if error is not None:
                errors.append(error)
        elif not _may_be_missing(module, name, local):
            found.missing_keys.append(prefix + name)
    own = set(persistent(module))
    if overrides(module, "set_extra_state"):
        own.add(EXTRA)
        if prefix + EXTRA in state:
            module.set_extra_state(state[prefix + EXTRA])
        else:
            found.missing_keys.append(prefix + EXTRA)
    for key in state:
        first, dot, _ = key[len(prefix):].partition(".")
        if first not in (module._modules if dot else own):
            found.unexpected_keys.append(key)
    for name, part in module._modules.items():
        if part is not None:
            below = f"{prefix}{name}."
            inside = StateDict((k, v) for k, v in state.items() if k.startswith(below))
            _load(part, inside, metadata, below, strict, assign, found, errors)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, found) is not None:
            raise AssertionError("Hooks registered with ``register_load_state_dict_post_hook`` are "
                                 "not expected to return new values, if incompatible_keys need to "
                                 "be modified, it should be done inplace.")


def _may_be_missing(module: Module, name: str, local: Mapping[str, Any]) -> bool:
    """A state of an older version may lack what that version did not have yet."""
    return name == "num_batches_tracked" and local.get("version", 2) < 2


def _put(module: Module, name: str, tensor: Tensor, value: Any, key: str,
         assign: bool) -> str | None:
    """Copy one tensor of a state; return what is wrong, or None."""
    if not isinstance(value, Tensor):
        if not hasattr(value, "__array__"):
            return (f'While copying the parameter named "{key}", expected torch.Tensor or '
                    f"Tensor-like object from checkpoint but received {type(value)}")
        value = Tensor._plain(np.asarray(value))
    if tuple(value.shape) != tuple(tensor.shape) and not (value.numel() == 1
                                                          and tensor.ndim == 0):
        return (f"size mismatch for {key}: copying a param with shape {value.shape} from "
                f"checkpoint, the shape in current model is {tensor.shape}.")
    if assign:
        if isinstance(tensor, Parameter) and not isinstance(value, Parameter):
            value = Parameter(value, requires_grad=tensor.requires_grad)
        setattr(module, name, value)
        return None
    with no_grad():
        tensor.copy_(value.reshape(tensor.shape))
    return None
