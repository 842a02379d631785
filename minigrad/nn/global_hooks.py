"""Global module hooks: their tables, and the functions that register them.

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
backward_of_old: Table = OrderedDict()  # the older backward hooks
on_parameter: Table = OrderedDict()
on_buffer: Table = OrderedDict()
on_module: Table = OrderedDict()


def replaced(table: Table, module: Any, name: str, member: Any) -> Any:
    """Return a member after the registration hooks ran; the result of a hook replaces it."""
    for hook in table.values():
        new = hook(module, name, member)
        member = member if new is None else new
    return member


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, args)` before the forward of every module.

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
    """Call `hook(module, args, output)` after the forward of every module."""
    marked = [t for t, on in ((forward_with_kwargs, with_kwargs), (forward_always, always_call))
              if on]
    return register(forward, hook, False, *marked)


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_output)` before the gradients enter any module."""
    return register(backward_pre, hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` when gradients have passed any module."""
    _one_kind(backward_of_old)
    return register(backward, hook)


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` on the last node of every module: deprecated."""
    _one_kind(backward)
    return register(backward_of_old, hook)


def _one_kind(others: Table) -> None:
    if others:
        raise RuntimeError("Cannot use both regular backward hooks and full backward hooks as a "
                           "global Module hook. Please use only one of them.")


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, parameter)` when a parameter is added; a result replaces it."""
    return register(on_parameter, hook)


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, buffer)` when a buffer is added; a result replaces it."""
    return register(on_buffer, hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, part)` when a submodule is added; a result replaces it."""
    return register(on_module, hook)
