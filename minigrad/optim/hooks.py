"""Optimizer hooks around steps, and around saving and loading the state.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.register_step_pre_hook.html
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from .. import _state
from ..autograd.profiler import record_function
from ..backend.float_errors import ignoring_float_errors
from ..graph.hooks import RemovableHandle, register

Hook = Callable[..., Any]

TABLES = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks",
          "_optimizer_state_dict_pre_hooks", "_optimizer_state_dict_post_hooks",
          "_optimizer_load_state_dict_pre_hooks", "_optimizer_load_state_dict_post_hooks")

before_all_steps: OrderedDict[int, Hook] = OrderedDict()
after_all_steps: OrderedDict[int, Hook] = OrderedDict()


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """Register `hook(optimizer, args, kwargs)` to run before each step of any optimizer.

    >>> from minigrad import optim, zeros
    >>> x = zeros(1, requires_grad=True)
    >>> with register_optimizer_step_pre_hook(lambda stepped, *_: print(type(stepped).__name__)):
    ...     optim.SGD([x]).step(); optim.Adam([x]).step()
    SGD
    Adam
    """
    return register(before_all_steps, hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """Register `hook(optimizer, args, kwargs)` to run after each step of any optimizer.

    >>> from minigrad import optim, tensor
    >>> x = tensor([1.0], requires_grad=True)
    >>> x.sum().backward()
    >>> with register_optimizer_step_post_hook(lambda *given: print(x.tolist())):
    ...     optim.SGD([x], lr=0.5).step(); optim.SGD([x], lr=0.25).step()
    [0.5]
    [0.25]
    """
    return register(after_all_steps, hook)


class StepHooks:
    """The hooks of an optimizer, with methods to register them."""

    _optimizer_step_pre_hooks: OrderedDict[int, Hook]
    _optimizer_step_post_hooks: OrderedDict[int, Hook]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Hook]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Hook]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Hook]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Hook]
    #: Whether it has stepped under a learning-rate scheduler; None without a scheduler.
    _opt_called: bool | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "step" in vars(cls):
            setattr(cls, "step", hooked(vars(cls)["step"]))  # noqa: B010  # a method to mypy
        if "update" in vars(cls):
            setattr(cls, "update", ignoring_float_errors(vars(cls)["update"]))  # noqa: B010  # too

    def _make_hooks(self) -> None:
        for table in TABLES:
            self.__dict__.setdefault(table, OrderedDict())

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(optimizer, args, kwargs)` to run before each step; a result replaces both.

        >>> from minigrad import optim, zeros
        >>> optimizer = optim.SGD([zeros(1, requires_grad=True)])
        >>> with optimizer.register_step_pre_hook(lambda *given: print("here it goes")):
        ...     optimizer.step()
        here it goes
        """
        return register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(optimizer, args, kwargs)` to run after each step.

        >>> from minigrad import optim, tensor
        >>> x = tensor([1.0], requires_grad=True)
        >>> x.sum().backward()
        >>> optimizer = optim.SGD([x], lr=0.5)
        >>> with optimizer.register_step_post_hook(lambda *given: print("moved to", x.tolist())):
        ...     optimizer.step()
        moved to [0.5]
        """
        return register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Register `hook(optimizer)` to run before the state is collected.

        >>> from minigrad import optim, zeros
        >>> optimizer = optim.SGD([zeros(1, requires_grad=True)], lr=0.5)
        >>> handle = optimizer.register_state_dict_pre_hook(lambda optimizer: print("saving"))
        >>> kept = optimizer.state_dict()
        saving
        """
        return register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Register `hook(optimizer, state_dict)` to run on a collected state, which it may replace.

        >>> from minigrad import optim, zeros
        >>> optimizer = optim.SGD([zeros(1, requires_grad=True)], lr=0.5)
        >>> handle = optimizer.register_state_dict_post_hook(
        ...     lambda optimizer, kept: {**kept, "epoch": 3})
        >>> optimizer.state_dict()["epoch"]
        3
        """
        return register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Hook,
                                          prepend: bool = False) -> RemovableHandle:
        """Register `hook(optimizer, state_dict)` to run before loading; it may replace the state.

        >>> from minigrad import optim, zeros
        >>> optimizer = optim.SGD([zeros(1, requires_grad=True)], lr=0.5)
        >>> handle = optimizer.register_load_state_dict_pre_hook(
        ...     lambda optimizer, kept: print("loading", sorted(kept)))
        >>> optimizer.load_state_dict(optimizer.state_dict())
        loading ['param_groups', 'state']
        """
        return register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Hook,
                                           prepend: bool = False) -> RemovableHandle:
        """Register `hook(optimizer)` to run after a state is loaded.

        >>> from minigrad import optim, zeros
        >>> optimizer = optim.SGD([zeros(1, requires_grad=True)], lr=0.5)
        >>> handle = optimizer.register_load_state_dict_post_hook(
        ...     lambda optimizer: print("lr is", optimizer.param_groups[0]["lr"]))
        >>> optimizer.load_state_dict(optimizer.state_dict())
        lr is 0.5
        """
        return register(self._optimizer_load_state_dict_post_hooks, hook, prepend)


def hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the method `step` so that it calls the hooks, under a name that profiles show."""

    @functools.wraps(step)
    def call(self: StepHooks, *args: Any, **kwargs: Any) -> Any:
        if self._opt_called is False:
            self._opt_called = True
        if _state.observers.count:
            with record_function(f"Optimizer.step#{type(self).__name__}.step"):
                return with_hooks(step, self, args, kwargs)
        try:
            has_hooks = bool(self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks
                             or before_all_steps or after_all_steps)
        except AttributeError:  # a subclass that only passes calls on needs no `super().__init__()`
            has_hooks = False
        return (with_hooks(step, self, args, kwargs) if has_hooks
                else step(self, *args, **kwargs))

    return call


def with_hooks(step: Callable[..., Any], optimizer: StepHooks, args: tuple[Any, ...],
               kwargs: dict[str, Any]) -> Any:
    """Take a step with the hooks before and after it; their `args` include the optimizer."""
    args = (optimizer, *args)
    for hook in [*before_all_steps.values(), *optimizer._optimizer_step_pre_hooks.values()]:
        new = hook(optimizer, args, kwargs)
        if new is not None:
            if not (isinstance(new, tuple) and len(new) == 2):
                raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), "
                                   f"but got {new}.")
            args, kwargs = new
    result = step(*args, **kwargs)
    for hook in [*optimizer._optimizer_step_post_hooks.values(), *after_all_steps.values()]:
        hook(optimizer, args, kwargs)
    return result
