"""Module: a part of a network, with its parameters, its buffers and its parts.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Self

from ..dtypes import dtype, float16, float32, float64
from ..graph import RemovableHandle
from ..tensor import Parameter, Tensor
from . import state
from .hooks import BackwardHook
from .members import Members

Hook = Callable[..., Any]

_HOOK_TABLES = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks",
                "_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks")


class Module(Members):
    """The base of all layers and networks; a subclass says in `forward` what it computes.

    Parameters, modules and (by `register_buffer`) buffers that are set as attributes are found
    by `parameters()`, moved by `to()` and kept by `state_dict()`.

    >>> from minigrad import nn
    >>> class Twice(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.layer = nn.Linear(3, 3)
    ...     def forward(self, x):
    ...         return self.layer(self.layer(x))
    >>> [name for name, _ in Twice().named_parameters()]
    ['layer.weight', 'layer.bias']
    """

    training: bool
    _non_persistent_buffers_set: set[str]
    _forward_pre_hooks: OrderedDict[int, tuple[Hook, bool]]
    _forward_hooks: OrderedDict[int, tuple[Hook, bool, bool]]
    _backward_pre_hooks: OrderedDict[int, Hook]
    _backward_hooks: OrderedDict[int, Hook]
    _state_dict_hooks: OrderedDict[int, Hook]
    _load_state_dict_pre_hooks: OrderedDict[int, Hook]
    _load_state_dict_post_hooks: OrderedDict[int, Hook]

    def __init__(self) -> None:
        put = super().__setattr__
        put("training", True)
        put("_parameters", {})
        put("_buffers", {})
        put("_modules", {})
        put("_non_persistent_buffers_set", set())
        for table in _HOOK_TABLES:
            put(table, OrderedDict())

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result; every subclass says how."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required '
                                  '"forward" function')

    # ---------------------------------------------------------------- calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (self._forward_pre_hooks or self._forward_hooks or self._backward_hooks
                or self._backward_pre_hooks):
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        pending = {k: v for k, v in self._forward_hooks.items() if v[2]}  # always_call
        try:
            for hook, with_kwargs in list(self._forward_pre_hooks.values()):
                args, kwargs = _before(self, hook, with_kwargs, args, kwargs)
            watch = None
            if self._backward_hooks or self._backward_pre_hooks:
                watch = BackwardHook(self, self._backward_hooks.values(),
                                     self._backward_pre_hooks.values())
                args = watch.watch_inputs(args)
            result = self.forward(*args, **kwargs)
            for key, (hook, with_kwargs, _) in list(self._forward_hooks.items()):
                pending.pop(key, None)
                new = (hook(self, args, kwargs, result) if with_kwargs
                       else hook(self, args, result))
                result = result if new is None else new
            return result if watch is None else watch.watch_outputs(result)
        except Exception:
            for hook, with_kwargs, _ in pending.values():
                hook(self, args, kwargs, None) if with_kwargs else hook(self, args, None)
            raise

    def register_forward_pre_hook(self, hook: Hook, *, prepend: bool = False,
                                  with_kwargs: bool = False) -> RemovableHandle:
        """Call `hook(module, args)` before forward; a result replaces the arguments."""
        return _register(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_hook(self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False,
                              always_call: bool = False) -> RemovableHandle:
        """Call `hook(module, args, output)` after forward; a result replaces the output."""
        return _register(self._forward_hooks, (hook, with_kwargs, always_call), prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the inputs' gradients are there.

        A result replaces `grad_input`.
        """
        return _register(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` before the gradients enter the module.

        A result replaces `grad_output`.
        """
        return _register(self._backward_pre_hooks, hook, prepend)

    # ---------------------------------------------------------------- attributes

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under a name; None keeps the name free for one."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is None:
            self._parameters[name] = None
        elif not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{type_name(param)}' object to parameter '{name}' "
                            "(torch.nn.Parameter or None required)")
        elif param.grad_fn is not None:
            raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'. Model "
                             "parameters must be created explicitly. To express "
                             f"'{name}' as a function of another Tensor, compute the value in the "
                             "forward() method.")
        else:
            self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is part of the state but not trained.

        One that is not `persistent` stays out of `state_dict`.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{type_name(tensor)}' object to buffer '{name}' "
                            "(torch Tensor or None required)")
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a part under a name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = module

    register_module = add_module

    def _check_name(self, kind: str, name: Any, table: Mapping[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type_name(name)}")
        if "." in name:
            shown = f', got: {name}' if kind == "module" else ""
            raise KeyError(f'{kind} name can\'t contain "."{shown}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in table:
            raise KeyError(f"attribute '{name}' already exists")

    def __getattr__(self, name: str) -> Any:
        for table in ("_parameters", "_buffers", "_modules"):
            if table in self.__dict__ and name in self.__dict__[table]:
                return self.__dict__[table][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        tables = self.__dict__
        parameters = tables.get("_parameters")
        if isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, keep="_parameters")
            self.register_parameter(name, value)
        elif parameters is not None and name in parameters:
            if value is not None:
                raise TypeError(f"cannot assign '{type_name(value)}' as parameter '{name}' "
                                "(torch.nn.Parameter or None expected)")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if "_modules" not in tables:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, keep="_modules")
            self._modules[name] = value
        elif name in tables.get("_modules", ()):
            if value is not None:
                raise TypeError(f"cannot assign '{type_name(value)}' as child module '{name}' "
                                "(torch.nn.Module or None expected)")
            self._modules[name] = value
        elif name in tables.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"cannot assign '{type_name(value)}' as buffer '{name}' "
                                "(torch.nn.Buffer, torch.Tensor or None expected)")
            self._buffers[name] = value
        else:
            super().__setattr__(name, value)

    def _forget(self, name: str, keep: str) -> None:
        """Remove an attribute wherever it stands, but in the table `keep`."""
        self.__dict__.pop(name, None)
        for table in ("_parameters", "_buffers", "_modules"):
            if table != keep:
                self.__dict__.get(table, {}).pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name: str) -> None:
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = [*super().__dir__(), *self._parameters, *self._buffers, *self._modules]
        return sorted(n for n in names if not n[:1].isdigit())

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)
        for table in _HOOK_TABLES:
            self.__dict__.setdefault(table, OrderedDict())

    # ---------------------------------------------------------------- changing all of it

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Call `fn` with every part and at last with the module itself."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Put the module and all its parts into training mode, or out of it."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Put the module and all its parts into evaluation mode: `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Switch `requires_grad` of all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros."""
        for parameter in self.parameters():
            zero_grad(parameter, set_to_none)

    def _apply(self, fn: Callable[[Tensor], Tensor]) -> Self:
        """Replace the data of all parameters, gradients and buffers by `fn` of it."""
        for module in self.modules():
            for parameter in module._parameters.values():
                if parameter is not None:
                    grad, parameter.data = parameter._grad, fn(parameter.data)
                    if grad is not None:
                        parameter.grad = fn(grad.data).requires_grad_(grad.requires_grad)
            for name, buffer in module._buffers.items():
                module._buffers[name] = None if buffer is None else fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move to a device, or to a floating-point dtype, or to those of a tensor."""
        wanted = next((a for a in (*args, kwargs.get("dtype")) if isinstance(a, dtype)), None)
        if wanted is not None and not wanted.is_floating_point:
            raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got "
                            f"desired dtype={wanted}")
        if args and isinstance(args[0], Tensor):
            args, wanted = (args[0].device, args[0].dtype, *args[1:]), args[0].dtype
        whole = [a for a in args if not isinstance(a, dtype)]
        others = {k: v for k, v in kwargs.items() if k != "dtype"}

        def move(tensor: Tensor) -> Tensor:
            if tensor.is_floating_point():
                return tensor.to(*args, **kwargs)
            return tensor.to(*whole, **others) if whole or others else tensor

        return self._apply(move)

    def type(self, dst_type: Any) -> Self:
        """Cast all parameters and buffers to a dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Self:
        """Cast all floating-point parameters and buffers to float32."""
        return self.to(float32)

    def double(self) -> Self:
        """Cast all floating-point parameters and buffers to float64."""
        return self.to(float64)

    def half(self) -> Self:
        """Cast all floating-point parameters and buffers to float16."""
        return self.to(float16)

    def cpu(self) -> Self:
        """Move to the host's memory."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Move to a GPU."""
        return self._apply(lambda t: t.cuda(device))

    # ---------------------------------------------------------------- keeping its state

    def state_dict(self, *, destination: Any = None, prefix: str = "",
                   keep_vars: bool = False) -> Any:
        """Return all parameters and persistent buffers by dotted name, sharing their memory."""
        return state.collect(self, destination, prefix, keep_vars)

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True,
                        assign: bool = False) -> Any:
        """Copy a state into this module; with `strict` the names have to match exactly.

        Returns the missing and the unexpected names; with `assign` the tensors are taken over
        instead of copied.
        """
        return state.load(self, state_dict, strict, assign)

    def get_extra_state(self) -> Any:
        """Return what else `state_dict` is to keep; override together with `set_extra_state`."""
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be "
                           "called.")

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` gave."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be "
                           "called.")

    def register_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after the state is collected."""
        return _register(self._state_dict_hooks, hook)

    _register_state_dict_hook = register_state_dict_post_hook

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, ...)` before the module's part is loaded."""
        return _register(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after the module is loaded."""
        return _register(self._load_state_dict_post_hooks, hook)

    # ---------------------------------------------------------------- printing

    def extra_repr(self) -> str:
        """Return what stands between the brackets when the module is printed."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr().split("\n") if self.extra_repr() else []
        children = [f"({name}): {indented(repr(part))}" for name, part in self._modules.items()]
        if len(extra) == 1 and not children:
            return f"{self._get_name()}({extra[0]})"
        lines = "".join(f"\n  {line}" for line in extra + children)
        return f"{self._get_name()}({lines}\n)" if lines else f"{self._get_name()}()"


def _before(module: Module, hook: Hook, with_kwargs: bool, args: tuple[Any, ...],
            kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments as a forward pre-hook leaves them."""
    if with_kwargs:
        new = hook(module, args, kwargs)
        if new is None:
            return args, kwargs
        if not (isinstance(new, tuple) and len(new) == 2):
            raise RuntimeError("forward pre-hook must return None or a tuple of (new_args, "
                               f"new_kwargs), but got {new}.")
        return new
    new = hook(module, args)
    if new is None:
        return args, kwargs
    return (new if isinstance(new, tuple) else (new,)), kwargs


def _register(table: OrderedDict[int, Any], entry: Any, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(table)
    table[handle.id] = entry
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


def zero_grad(tensor: Tensor, set_to_none: bool) -> None:
    """Drop a tensor's gradient, or fill it with zeros and cut it off its history."""
    grad = tensor._grad
    if grad is None:
        return
    if set_to_none:
        tensor.grad = None
        return
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()


def type_name(value: Any) -> str:
    """Return the name by which errors call the type of a value."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return str(value.type())
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def indented(text: str) -> str:
    """Indent all lines but the first by two blanks."""
    return text.replace("\n", "\n  ")
