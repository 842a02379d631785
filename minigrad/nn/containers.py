"""Modules that hold modules: in a row, in a list, by name; and lists of parameters.

Source: https://docs.pytorch.org/docs/stable/nn.html#containers
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from operator import index
from typing import Any, Self

from ..tensor import Parameter, Tensor
from .module import Module, indented, type_name


def _position(key: Any, length: int) -> int:
    """Return a list index counted from the front."""
    key = index(key)
    if not -length <= key < length:
        raise IndexError(f"index {key} is out of range")
    return key % length


class _Row(Module):
    """What Sequential and ModuleList share: modules under the names "0", "1", ..."""

    _modules: dict[str, Any]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def _names(self) -> list[str]:
        return list(self._modules)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self._part(self._names()[key])
        return self._modules[self._names()[_position(key, len(self))]]

    def _part(self, names: list[str]) -> Any:
        raise NotImplementedError

    def __setitem__(self, key: int, module: Module) -> None:
        setattr(self, self._names()[_position(key, len(self))], module)

    def __delitem__(self, key: Any) -> None:
        names = self._names()
        for name in (names[key] if isinstance(key, slice) else [names[_position(key, len(self))]]):
            del self._modules[name]
        self._renumber(list(self._modules.values()))

    def _renumber(self, modules: Iterable[Module]) -> None:
        self._modules = {str(i): module for i, module in enumerate(modules)}

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Put a module before position `index`."""
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, key: Any) -> Module:
        """Take a module out and return it."""
        module: Module = self[key]
        del self[key]
        return module

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]


class Sequential(_Row):
    """Modules in a row: each one gets what the one before it gave.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Sequential.html

    >>> from minigrad import nn
    >>> nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        for name, module in args[0].items() if named else enumerate(args):
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Any:
        for module in self:
            input = module(input)
        return input

    def _part(self, names: list[str]) -> Sequential:
        return type(self)(OrderedDict((name, self._modules[name]) for name in names))

    def __delitem__(self, key: Any) -> None:
        names = self._names()
        for name in (names[key] if isinstance(key, slice) else [names[_position(key, len(self))]]):
            del self._modules[name]
        if all(name.isdigit() for name in self._modules):
            self._renumber(list(self._modules.values()))

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError("add operator supports only objects of Sequential class, but "
                             f"{type(other)} is given.")
        return Sequential(*self, *other)


class ModuleList(_Row):
    """A list of modules whose parameters are found; it has no forward of its own.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html

    >>> from minigrad import nn
    >>> len(nn.ModuleList([nn.Linear(2, 2) for _ in range(3)]))
    3
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def _part(self, names: list[str]) -> ModuleList:
        return type(self)(self._modules[name] for name in names)

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def insert(self, index: int, module: Module) -> None:
        """Put a module before position `index`."""
        super().insert(index, module)

    def __repr__(self) -> str:
        """Return the usual text, with runs of equal modules shown once."""
        texts = [repr(module) for module in self]
        if not texts:
            return f"{self._get_name()}()"
        runs: list[tuple[int, int, str]] = []
        for i, text in enumerate(texts):
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], i, text)
            else:
                runs.append((i, i, text))
        lines = [f"({a}): {text}" if a == b else f"({a}-{b}): {b - a + 1} x {text}"
                 for a, b, text in runs]
        body = "".join(f"\n  {indented(line)}" for line in lines)
        return f"{self._get_name()}({body}\n)"


class ModuleDict(Module):
    """Modules by name; it has no forward of its own.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleDict.html

    >>> from minigrad import nn
    >>> list(nn.ModuleDict({"first": nn.ReLU(), "last": nn.Tanh()}).keys())
    ['first', 'last']
    """

    _modules: dict[str, Any]

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.update(modules or {})

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Take a module out and return it."""
        return self._modules.pop(key)

    def keys(self) -> Iterable[str]:
        """Return the names."""
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Module]]:
        """Return pairs of name and module."""
        return self._modules.items()

    def values(self) -> Iterable[Module]:
        """Return the modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules from a mapping or from pairs of name and module."""
        if not isinstance(modules, Iterable):
            raise TypeError("ModuleDict.update should be called with an iterable of key/value "
                            f"pairs, but got {type(modules).__name__}")
        pairs = modules.items() if isinstance(modules, (Mapping, ModuleDict)) else modules
        for name, module in pairs:
            self[name] = module


class ParameterList(Module):
    """A list of parameters; tensors that are set in it become parameters.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ParameterList.html

    >>> from minigrad import nn, zeros
    >>> len(list(nn.ParameterList([zeros(2), zeros(3)]).parameters()))
    2
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        self.extend(values or ())

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[i] for i in range(self._size))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return ParameterList(self[i] for i in range(*key.indices(self._size)))
        return getattr(self, str(_position(key, self._size)))

    def __setitem__(self, key: int, value: Any) -> None:
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, str(_position(key, self._size)), value)

    def append(self, value: Any) -> Self:
        """Add a parameter at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add parameters at the end."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError("ParameterList.extend should be called with an iterable, but got "
                            f"{type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def __repr__(self) -> str:
        lines = []
        for i, value in enumerate(self):
            what = type_name(value)
            if isinstance(value, Tensor):
                size = "x".join(map(str, value.shape))
                kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
                what = f"{kind} containing: [{value.dtype} of size {size}]"
            lines.append(f"\n    ({i}): {what}")
        return f"ParameterList({''.join(lines)}\n)" if lines else "ParameterList()"
