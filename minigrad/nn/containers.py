"""Modules that hold other modules in sequence, in a list, or by name.

Source: https://docs.pytorch.org/docs/stable/nn.html#containers
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from operator import index
from typing import Any, Self, overload

from .module import Module, indented

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


def position(key: Any, length: int) -> int:
    """Return a possibly negative list index as an index from the front."""
    key = index(key)
    if not -length <= key < length:
        raise IndexError(f"index {key} is out of range")
    return key % length


def pairs_of(given: Any, name: str, what: str) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of a mapping, or of a sequence of pairs, for the `update` of class `name`."""
    if not isinstance(given, Iterable):
        raise TypeError(f"{what}.update should be called with an iterable of key/value pairs, but "
                        f"got {type(given).__name__}")
    if hasattr(given, "items"):
        yield from given.items()
        return
    for place, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{name} update sequence element #{place} should be Iterable; is"
                            f"{type(pair).__name__}")
        pair = list(pair)
        if len(pair) != 2:
            raise ValueError(f"{name} update sequence element #{place} has length {len(pair)}; 2 "
                             "is required")
        yield pair[0], pair[1]


class _Row(Module):
    """Base of `Sequential` and `ModuleList` that name their modules "0", "1", ..."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def _name(self, key: Any) -> str:
        """Return the name of the module at a position."""
        return list(self._modules)[position(key, len(self))]

    @overload
    def __getitem__(self, key: slice) -> Self: ...

    @overload
    def __getitem__(self, key: Any) -> Module: ...

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self._part(list(self._modules.items())[key])
        return self._modules[self._name(key)]

    def _part(self, items: list[tuple[str, Module]]) -> Any:
        raise NotImplementedError

    def __setitem__(self, key: int, module: Module) -> None:
        setattr(self, self._name(key), module)

    def __delitem__(self, key: Any) -> None:
        names = list(self._modules)[key] if isinstance(key, slice) else [self._name(key)]
        for name in names:
            del self._modules[name]
        self._renumber(self._modules.values())

    def _renumber(self, modules: Iterable[Module]) -> None:
        self._modules = {str(i): module for i, module in enumerate(modules)}

    def append(self, module: Module) -> Self:
        """Append a module."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Append modules."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Insert a module before position `index`."""
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, key: Any) -> Any:
        """Remove a module, or the modules of a slice, and return them."""
        module = self[key]
        del self[key]
        return module


class Sequential(_Row):
    """Modules that run one after another: each takes the result of the previous one.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Sequential.html

    >>> from minigrad import nn
    >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU()); net
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    >>> net.extend([nn.Linear(3, 1), nn.Tanh()]).insert(2, nn.Dropout(0.5))
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
      (2): Dropout(p=0.5, inplace=False)
      (3): Linear(in_features=3, out_features=1, bias=True)
      (4): Tanh()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        for name, module in args[0].items() if named else enumerate(args):
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def _part(self, items: list[tuple[str, Module]]) -> Sequential:
        return type(self)(OrderedDict(items))

    def insert(self, index: int, module: Module) -> Self:
        """Insert a module before position `index`."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        super().insert(index, module)
        return self

    def __add__(self, other: Any) -> Sequential:
        return Sequential(*self, *self._checked(other))

    def __iadd__(self, other: Any) -> Self:
        return self.extend(self._checked(other))

    def _checked(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError("add operator supports only objects of Sequential class, but "
                             f"{type(other)} is given.")
        return other

    def __mul__(self, other: int) -> Sequential:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return Sequential(*[module for _ in range(other) for module in self])

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        for module in list(self * other)[len(self):]:
            self.append(module)
        return self


class ModuleList(_Row):
    """A list that registers the modules it holds; calling the modules is left to you.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html

    >>> from minigrad import nn
    >>> layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
    >>> layers.append(nn.ReLU()).extend([nn.Linear(2, 1), nn.Tanh()])
    ModuleList(
      (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)
      (3): ReLU()
      (4): Linear(in_features=2, out_features=1, bias=True)
      (5): Tanh()
    )
    >>> layers.insert(0, nn.Flatten()); layers.pop(-1), len(layers)
    (Tanh(), 6)
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _part(self, items: list[tuple[str, Module]]) -> ModuleList:
        return type(self)(module for _, module in items)

    def extend(self, modules: Iterable[Module]) -> Self:
        """Append modules; `TypeError` unless they are iterable."""
        if not isinstance(modules, Iterable):
            raise TypeError("ModuleList.extend should be called with an iterable, but got "
                            f"{type(modules).__name__}")
        return super().extend(modules)

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def insert(self, index: int, module: Module) -> None:
        """Insert a module before position `index`."""
        super().insert(index, module)

    def __repr__(self) -> str:
        """Return the usual text, but show a run of equal modules only once."""
        runs: list[tuple[int, int, str]] = []
        for i, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], i, text)
            else:
                runs.append((i, i, text))
        if not runs:
            return f"{self._get_name()}()"
        lines = [f"({a}): {text}" if a == b else f"({a}-{b}): {b - a + 1} x {text}"
                 for a, b, text in runs]
        body = "".join(f"\n  {indented(line)}" for line in lines)
        return f"{self._get_name()}({body}\n)"


class ModuleDict(Module):
    """A dictionary that registers the modules it holds; calling the modules is left to you.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleDict.html

    >>> from minigrad import nn
    >>> layers = nn.ModuleDict({"first": nn.ReLU(), "last": nn.Tanh()})
    >>> layers.update({"between": nn.Flatten()}); list(layers.keys())
    ['first', 'last', 'between']
    >>> layers.pop("first"), [name for name, _ in layers.items()], list(layers.values())
    (ReLU(), ['last', 'between'], [Tanh(), Flatten(start_dim=1, end_dim=-1)])
    >>> layers.clear(); len(layers)
    0
    """

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
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

    def pop(self, key: str) -> Any:
        """Remove a module and return it."""
        return self._modules.pop(key)

    def keys(self) -> Iterable[str]:
        """Return the modules' names."""
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return pairs of name and module."""
        return self._modules.items()

    def values(self) -> Iterable[Any]:
        """Return the modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules from a mapping or from pairs of name and module."""
        for name, module in pairs_of(modules, "ModuleDict", "ModuleDict"):
            self[name] = module
