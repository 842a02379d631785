"""Module hooks that run for every module, and the functions that register them.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.modules.module.register_module_forward_hook.html
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..graph.hooks import RemovableHandle, register

Hook = Callable[..., Any]
Table = OrderedDict[int, Any]

forward_pre: Table = OrderedDict()
forward: Table = OrderedDict()
forward_with_kwargs: Table = OrderedDict()
forward_always: Table = OrderedDict()
backward_pre: Table = OrderedDict()
backward: Table = OrderedDict()  # full backward hooks
backward_of_old: Table = OrderedDict()  # the deprecated backward hooks
on_parameter: Table = OrderedDict()
on_buffer: Table = OrderedDict()
on_module: Table = OrderedDict()


def replaced(table: Table, module: Any, name: str, member: Any) -> Any:
    """Run the registration hooks on a member and return it; a hook's result replaces it."""
    for hook in table.values():
        new = hook(module, name, member)
        member = member if new is None else new
    return member


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Register `hook(module, args)` to run before the forward of every module.

    >>> from minigrad import nn, ones
    >>> with register_module_forward_pre_hook(lambda module, args: print(module)):
    ...     _ = nn.Sequential(nn.ReLU())(ones(1))
    Sequential(
      (0): ReLU()
    )
    ReLU()
    """
    return register(forward_pre, hook)


def register_module_forward_hook(hook: Hook, *, with_kwargs: bool = False,
                                 always_call: bool = False) -> RemovableHandle:
    """Register `hook(module, args, output)` to run after the forward of every module."""
    marked = [t for t, on in ((forward_with_kwargs, with_kwargs), (forward_always, always_call))
              if on]
    return register(forward, hook, False, *marked)


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Register `hook(module, grad_output)` to run before gradients enter any module."""
    return register(backward_pre, hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Register `hook(module, grad_input, grad_output)` to run once gradients left any module."""
    _one_kind(backward_of_old)
    return register(backward, hook)


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """Register a hook on the last node of every module. Deprecated: use the full backward hook."""
    _one_kind(backward)
    return register(backward_of_old, hook)


def _one_kind(others: Table) -> None:
    if others:
        raise RuntimeError("Cannot use both regular backward hooks and full backward hooks as a "
                           "global Module hook. Please use only one of them.")


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Register `hook(module, name, parameter)` for new parameters; its result replaces them."""
    return register(on_parameter, hook)


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Register `hook(module, name, buffer)` for new buffers; its result replaces them."""
    return register(on_buffer, hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Register `hook(module, name, part)` for new submodules; its result replaces them."""
    return register(on_module, hook)
