"""Load a module when a program first names something that is in it.

A package names what it offers in imports that only type checkers read, and loads none of it:

    if TYPE_CHECKING:
        from .adam import Adam, AdamW
    else:
        __getattr__, __dir__ = on_demand.attributes(__name__)

`python -m minigrad.utils.stubs` copies those names to `_names.py`, and adds those of operations.
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

#: The package itself, which PyTorch's `autograd` imports and ours, in a layer below, may not.
ABOVE = {"autograd": {"torch": ""}}


def attributes(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's `__getattr__` and `__dir__`, which know all names that it offers.

    >>> find, names = attributes("minigrad.optim")
    >>> find("Adam").__name__, "Adam" in names()
    ('Adam', True)
    """
    path = package.partition(".")[2]
    places = {name: (module, original) for module, name, original in rows(NAMES.get(path, {}))}
    places.update((name, (module, ".")) for name, module in ABOVE.get(path, {}).items())

    def find(name: str) -> Any:
        if name not in places:
            # A name that PyTorch has and minigrad leaves out, or one that nobody has.
            return import_module(f"{_PACKAGE}.compat").attribute(package, name)
        where, original = places[name]
        module = module_of(where)
        found = module if original == "." else getattr(module, original)
        setattr(sys.modules[package], name, found)  # the next time Python finds it there
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *places})

    if any(where == f"{path}.{name}" != original for name, (where, original) in places.items()):
        sys.modules[package].__class__ = Package
    return find, names


class Package(ModuleType):
    """A package with functions named as its modules, such as `backward` in `backward.py`.

    Python would put each module that it imports in the function's place.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in names_in(self.__name__)):
            super().__setattr__(name, value)


class later:
    """A module that is imported when one of its attributes is first asked for.

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
    """Import a module of the package by its path below it; "" is the package.

    >>> module_of("nn.init").__name__
    'minigrad.nn.init'
    """
    return import_module(f"{_PACKAGE}.{path}" if path else _PACKAGE)


def rows(table: dict[str, str]) -> Iterable[tuple[str, str, str]]:
    """Read a table of `_names.py`: yield the module, the name, and its name in that module.

    "random=." names the module itself.

    >>> list(rows({"ops.random.sampling": "random=. Generator"}))
    [('ops.random.sampling', 'random', '.'), ('ops.random.sampling', 'Generator', 'Generator')]
    """
    for module, names in table.items():
        for each in names.split():
            name, _, original = each.partition("=")
            yield module, name, original or name


def names_in(package: str) -> list[str]:
    """Return the names that a package offers from its modules, without the modules.

    >>> "Linear" in names_in("minigrad.nn"), "linear" in names_in("minigrad.nn")
    (True, False)
    """
    return [name for _, name, original in rows(NAMES.get(package.partition(".")[2], {}))
            if original != "."]

