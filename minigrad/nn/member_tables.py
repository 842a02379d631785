"""The tables of a module's parameters, buffers and submodules, and methods to fill them."""

from __future__ import annotations

from typing import Any

from ..tensor.tensor import Parameter, Tensor
from .global_hooks import on_buffer, on_module, on_parameter, replaced

TABLES = ("_parameters", "_buffers", "_modules")


class MemberTables:
    """The three tables of a module, with methods to add a member."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under a name; `None` reserves the name.

        >>> from minigrad import nn
        >>> net = nn.Module()
        >>> net.register_parameter("scale", nn.Parameter())
        >>> list(net.state_dict())
        ['scale']
        """
        self._check_name("parameter", name)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(f"cannot assign '{type_name(param)}' object to parameter '{name}' "
                                "(torch.nn.Parameter or None required)")
            if param.grad_fn is not None:
                raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'. Model "
                                 "parameters must be created explicitly. To express "
                                 f"'{name}' as a function of another Tensor, compute the value in "
                                 "the forward() method.")
            param = replaced(on_parameter, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the state but is not trained.

        A buffer that is not `persistent` is left out of `state_dict`.

        >>> from minigrad import nn, zeros
        >>> net = nn.Module()
        >>> net.register_buffer("mean", zeros(2))
        >>> net.state_dict()
        OrderedDict([('mean', tensor([0., 0.]))])
        """
        self._check_name("buffer", name)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{type_name(tensor)}' object to buffer '{name}' "
                            "(torch Tensor or None required)")
        self._buffers[name] = replaced(on_buffer, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Any) -> None:
        """Add a submodule under a name; `None` reserves the name.

        >>> from minigrad import nn
        >>> net = nn.Module()
        >>> net.add_module("layer", nn.ReLU())
        >>> net.layer
        ReLU()
        """
        if module is not None and not isinstance(module, MemberTables):
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        self._check_name("module", name)
        self._modules[name] = replaced(on_module, self, name, module)

    def register_module(self, name: str, module: Any) -> None:
        """Add a submodule under a name; an alias of `add_module`.

        >>> from minigrad import nn
        >>> net = nn.Module()
        >>> net.register_module("layer", nn.ReLU())
        >>> net.layer
        ReLU()
        """
        self.add_module(name, module)

    def _check_name(self, member: str, name: Any) -> None:
        table = f"_{member}s"
        if table not in self.__dict__:
            raise AttributeError(f"cannot assign {member} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{member} name should be a string. Got {type_name(name)}")
        if "." in name:
            shown = f", got: {name}" if member == "module" else ""
            raise KeyError(f'{member} name can\'t contain "."{shown}')
        if name == "":
            raise KeyError(f'{member} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[table]:
            raise KeyError(f"attribute '{name}' already exists")


def type_name(value: Any) -> str:
    """Return the name of a value's type for error messages."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return str(value.type())
    module, name = type(value).__module__, type(value).__name__
    return name if module == "builtins" else f"{module}.{name}"
