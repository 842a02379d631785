"""Load a module when a program first uses one of its names.

A package lists its names in imports that only type checkers read, without loading them:

    if TYPE_CHECKING:
        from .adam import Adam, AdamW
    else:
        __getattr__, __dir__ = on_demand.attributes(__name__)

`python -m minigrad.utils.stubs` copies these names to `_names.py`, and adds the names of
operations.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from types import ModuleType
from typing import Any

from ._names import NAMES

__all__ = ["attributes", "later", "module_of", "names_in", "rows"]

_PACKAGE = __name__.partition(".")[0]

#: The package itself, which PyTorch's `autograd` imports, but ours may not, being in a lower layer.
ABOVE = {"autograd": {"torch": ""}}


def attributes(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's `__getattr__` and `__dir__`, with all its names.

    >>> find, names = attributes("minigrad.optim")
    >>> find("Adam").__name__, "Adam" in names()
    ('Adam', True)
    """
    path = package.partition(".")[2]
    places = {name: (module, original) for module, name, original in rows(NAMES.get(path, {}))}
    places.update((name, (module, ".")) for name, module in ABOVE.get(path, {}).items())

    def find(name: str) -> Any:
        if name not in places:
            # Either minigrad leaves this PyTorch name out, or it does not exist.
            return import_module(f"{_PACKAGE}.compat").attribute(package, name)
        where, original = places[name]
        module = module_of(where)
        found = module if original == "." else getattr(module, original)
        setattr(sys.modules[package], name, found)  # so that Python finds it next time
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *places})

    if any(where == f"{path}.{name}" != original for name, (where, original) in places.items()):
        sys.modules[package].__class__ = Package
    return find, names


class Package(ModuleType):
    """A package with functions named like its modules, such as `backward` in `backward.py`.

    Otherwise Python would replace the function with each module that it imports.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in names_in(self.__name__)):
            super().__setattr__(name, value)


class later:
    """A module that is imported when one of its attributes is first used.

    >>> init = later("nn.init")
    >>> init.zeros_.__name__
    'zeros_'
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Any:
        found = getattr(module_of(self._path), name)
        setattr(self, name, found)
        return found


def module_of(path: str) -> Any:
    """Import a module of the package by its path below it; "" means the package.

    >>> module_of("nn.init").__name__
    'minigrad.nn.init'
    """
    return import_module(f"{_PACKAGE}.{path}" if path else _PACKAGE)


def rows(table: dict[str, str]) -> Iterable[tuple[str, str, str]]:
    """Yield the module, the name, and its name in that module from a table of `_names.py`.

    "random=." means the module itself.

    >>> list(rows({"ops.random.sampling": "random=. Generator"}))
    [('ops.random.sampling', 'random', '.'), ('ops.random.sampling', 'Generator', 'Generator')]
    """
    for module, names in table.items():
        for each in names.split():
            name, _, original = each.partition("=")
            yield module, name, original or name


def names_in(package: str) -> list[str]:
    """Return the names that a package exports from its modules, without the modules.

    >>> "Linear" in names_in("minigrad.nn"), "linear" in names_in("minigrad.nn")
    (True, False)
    """
    return [name for _, name, original in rows(NAMES.get(package.partition(".")[2], {}))
            if original != "."]

