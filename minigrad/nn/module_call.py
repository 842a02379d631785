"""Calling a module: `forward`, with the forward and backward hooks around it.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..frames import warn_user
from ..graph.hooks import RemovableHandle, register
from . import global_hooks
from .hooks import BackwardHook, hook_last_node
from .pytorch_names import module_in_pytorch

Hook = Callable[..., Any]
Table = OrderedDict[int, Any]

#: Each module's hook tables; some of them only flag entries of another table.
HOOK_TABLES = (
    "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_forward_hooks",
    "_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_backward_pre_hooks",
    "_backward_hooks", "_state_dict_pre_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class ModuleCall:
    """The part of `Module` that calls `forward` and registers hooks for the call."""

    forward: Callable[..., Any]
    _forward_pre_hooks: Table
    _forward_pre_hooks_with_kwargs: Table
    _forward_hooks: Table
    _forward_hooks_with_kwargs: Table
    _forward_hooks_always_called: Table
    _backward_pre_hooks: Table
    _backward_hooks: Table
    _is_full_backward_hook: bool | None  # `None` before the first backward hook

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__module__ = module_in_pytorch(cls)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (self._backward_hooks or self._backward_pre_hooks or self._forward_hooks
                or self._forward_pre_hooks or global_hooks.forward_pre or global_hooks.forward
                or global_hooks.backward or global_hooks.backward_pre
                or global_hooks.backward_of_old):
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        called: set[int] = set()
        result = None
        try:
            args, kwargs = self._before(args, kwargs)
            full, old = self._backward_hooks_by_kind()
            pre = [*global_hooks.backward_pre.values(), *self._backward_pre_hooks.values()]
            watch = BackwardHook(self, full, pre) if full or pre else None
            if watch is not None:
                args = watch.watch_inputs(args)
            result = self.forward(*args, **kwargs)
            for key, hook in self._hooks_after().items():
                called.add(key)
                new = self._after(key, hook, args, kwargs, result)
                result = result if new is None else new
            if watch is not None:
                result = watch.watch_outputs(result)
            if old:
                hook_last_node(self, old, args, result)
            return result
        except Exception:
            always = {**global_hooks.forward_always, **self._forward_hooks_always_called}
            for key, hook in self._hooks_after().items():
                if key in always and key not in called:
                    self._after_error(key, hook, args, kwargs, result)
            raise

    def _hooks_after(self) -> dict[int, Hook]:
        """Return the current forward hooks, since `forward` may have removed some."""
        return {**global_hooks.forward, **self._forward_hooks}

    def _before(self, args: tuple[Any, ...],
                kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments after running the forward pre-hooks."""
        for key, hook in {**global_hooks.forward_pre, **self._forward_pre_hooks}.items():
            if key in self._forward_pre_hooks_with_kwargs:
                new = hook(self, args, kwargs)
                if new is None:
                    continue
                if not (isinstance(new, tuple) and len(new) == 2):
                    raise RuntimeError("forward pre-hook must return None or a tuple of (new_args, "
                                       f"new_kwargs), but got {new}.")
                args, kwargs = new
            else:
                new = hook(self, args)
                if new is not None:
                    args = new if isinstance(new, tuple) else (new,)
        return args, kwargs

    def _after(self, key: int, hook: Hook, args: Any, kwargs: Any, result: Any) -> Any:
        marked = (self._forward_hooks_with_kwargs, global_hooks.forward_with_kwargs)
        if any(key in marks for marks in marked):
            return hook(self, args, kwargs, result)
        return hook(self, args, result)

    def _after_error(self, key: int, hook: Hook, args: Any, kwargs: Any, result: Any) -> None:
        """Run an `always_call` hook after an error; if it fails too, warn."""
        try:
            self._after(key, hook, args, kwargs, result)
        except Exception as error:
            which = "global module" if key in global_hooks.forward else "module"
            warn_user(f"{which} forward hook with ``always_call=True`` raised an exception that"
                      f" was silenced as another error was raised in forward: {error}")

    def _backward_hooks_by_kind(self) -> tuple[list[Hook], list[Hook]]:
        """Return the full backward hooks, and the deprecated ones."""
        own = list(self._backward_hooks.values())
        old = list(global_hooks.backward_of_old.values())
        full = list(global_hooks.backward.values())
        return (full, old + own) if self._is_full_backward_hook is False else (full + own, old)

    # ---------------------------------------------------------------- registering hooks

    def register_forward_pre_hook(self, hook: Hook, *, prepend: bool = False,
                                  with_kwargs: bool = False) -> RemovableHandle:
        """Register `hook(module, args)` to run before forward; a result replaces the arguments.

        >>> from minigrad import nn, ones
        >>> layer = nn.Tanh()
        >>> handle = layer.register_forward_pre_hook(lambda module, args: print(args))
        >>> _ = layer(ones(1))
        (tensor([1.]),)
        """
        marked = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return register(self._forward_pre_hooks, hook, prepend, *marked)

    def register_forward_hook(self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False,
                              always_call: bool = False) -> RemovableHandle:
        """Register `hook(module, args, output)` to run after forward; a result replaces the output.

        With `always_call` it also runs after an error.

        >>> from minigrad import nn, ones
        >>> layer = nn.Identity()
        >>> handle = layer.register_forward_hook(lambda module, args, output: output + 1)
        >>> layer(ones(2))
        tensor([2., 2.])
        """
        marked = [table for table, on in ((self._forward_hooks_with_kwargs, with_kwargs),
                                          (self._forward_hooks_always_called, always_call)) if on]
        return register(self._forward_hooks, hook, prepend, *marked)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Register `hook(module, grad_input, grad_output)` to run once the inputs' gradients exist.

        Its result, unless `None`, replaces `grad_input`.

        >>> from minigrad import nn, ones
        >>> layer = nn.Tanh()
        >>> handle = layer.register_full_backward_hook(lambda module, into, out: print(out))
        >>> layer(ones(1, requires_grad=True)).backward()
        (tensor([1.]),)
        """
        self._one_kind_of_backward_hooks(full=True)
        return register(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Register `hook(module, grad_output)` to run before gradients enter the module.

        Its result, unless `None`, replaces `grad_output`.

        >>> from minigrad import nn, ones
        >>> layer, x = nn.ReLU(), ones(1, requires_grad=True)
        >>> handle = layer.register_full_backward_pre_hook(lambda module, grads: (grads[0] * 5,))
        >>> layer(x).backward(); x.grad
        tensor([5.])
        """
        return register(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """Register a hook on the last node of forward. Deprecated: use the full backward hook.

        `hook(module, grad_input, grad_output)` gets only that node's gradients.

        >>> from minigrad import nn, ones
        >>> layer, x = nn.Tanh(), ones(1, requires_grad=True) * 1
        >>> handle = layer.register_backward_hook(lambda module, into, out: print(out))
        >>> layer(x).backward()
        (tensor([1.]),)
        """
        self._one_kind_of_backward_hooks(full=False)
        return register(self._backward_hooks, hook)

    def _one_kind_of_backward_hooks(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError("Cannot use both regular backward hooks and full backward hooks on "
                               "a single Module. Please use only one of them.")
        self._is_full_backward_hook = full
