"""How the names of this folder are found: as attributes of modules, and by imports.

Nothing is loaded or made before a program asks for it.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .left_out import MODULES, left_out
from .stand_ins import LeftOutModule, give_methods, stand_in

__all__ = ["LeftOutModules", "attribute", "install"]

_PACKAGE = __name__.partition(".")[0]

#: Modules of which some names are in the tables, besides the package itself.
IN_PART = ("backends", "cuda", "linalg", "nn", "optim", "utils", "utils.data")


def attribute(module: str, name: str) -> Any:
    """Return what stands for `name` in a module of minigrad; `AttributeError` if nothing does.

    >>> attribute("minigrad", "complex64")
    torch.complex64
    """
    path = f"{module}.{name}".partition(".")[2]
    whole = path in MODULES
    found = importlib.import_module(f"{_PACKAGE}.{path}") if whole else stand_in(path)
    if found is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name,
                             obj=sys.modules[module])
    setattr(sys.modules[module], name, found)
    return found


def is_module(path: str) -> bool:
    """Tell whether a name below `torch` is that of a module that is left out, or is below one."""
    while path and path not in MODULES:
        path = path.rpartition(".")[0]
    return bool(path)


class LeftOutModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules that are left out, after all finders of modules that are there."""

    def find_spec(self, name: str, path: Any = None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        """Return a spec for a module that is left out, or for one below it."""
        package, _, rest = name.partition(".")
        if package != _PACKAGE or not is_module(rest):
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the stand-in for the module."""
        return LeftOutModule(spec.name, f"Left out: minigrad "
                                        f"{left_out(spec.name.partition('.')[2])}.")

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: a stand-in runs nothing."""


def install() -> None:
    """Let imports and attributes find what is in this folder, and give tensors their methods."""
    sys.meta_path.append(LeftOutModules())
    for path in IN_PART:
        module = sys.modules[f"{_PACKAGE}.{path}"]
        vars(module)["__getattr__"] = _finding(module.__name__, vars(module).get("__getattr__"))
    give_methods()


def _finding(module: str, own: Callable[[str], Any] | None) -> Callable[[str], Any]:
    """Return a module's `__getattr__`, which asks the one that it had first."""
    def find(name: str) -> Any:
        if own is not None:
            try:
                return own(name)
            except AttributeError:
                pass
        return attribute(module, name)

    return find
