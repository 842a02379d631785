"""An import finder that lets one module be imported under another module's name."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import CodeType, ModuleType
from typing import Any, cast

__all__ = ["AnotherName"]


class AnotherName(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules by another name than theirs: the import gives the module itself.

    A subclass says in `new_name` what a module's own name is.
    """

    def new_name(self, name: str) -> str | None:
        """Return the name of the module that `name` stands for; None for other names."""
        raise NotImplementedError

    def find_spec(self, name: str, path: Any = None,
                  target: ModuleType | None = None) -> importlib.machinery.ModuleSpec | None:
        """Return a spec for `name` if it stands for a module that is there."""
        new = self.new_name(name)
        found = None if new is None else importlib.util.find_spec(new)
        if found is None:
            return None
        return importlib.machinery.ModuleSpec(
            name, self, origin=found.origin,
            is_package=found.submodule_search_locations is not None)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """Let the import system make a module object; `exec_module` replaces it."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Put the module itself into `sys.modules`, from where the import returns it."""
        name = module.__name__
        sys.modules[name] = importlib.import_module(self.new_name(name) or name)

    def get_code(self, name: str) -> CodeType | None:
        """Return the module's code, for `python -m` with the other name."""
        new = self.new_name(name) or name
        found = importlib.util.find_spec(new)
        return cast(importlib.abc.InspectLoader, found.loader).get_code(new) if found else None
