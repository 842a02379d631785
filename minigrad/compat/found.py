"""How the names of this folder are found: as attributes of modules, and by imports.

Nothing is loaded or made before a program asks for it.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, cast

from ..utils.moved_modules import AnotherName
from .left_out import MODULES, left_out
from .stand_ins import LeftOutModule, give_methods, stand_in

__all__ = ["LATER", "WITH", "LaterModules", "LeftOutModules", "attribute", "install"]

_PACKAGE = __name__.partition(".")[0]

#: Modules that are loaded when a program asks for them, by their names below `torch`, and where
#: they are in minigrad.
LATER = {
    **{name: f"compat.{name}" for name in ("accelerator", "compiler", "functional", "futures",
                                           "jit")},
    "nn.parallel": "compat.data_parallel",
    "utils.tensorboard": "compat.tensorboard",
    **{name: name for name in ("backends.cuda", "distributions", "utils.benchmark", "utils.dlpack",
                               "utils.hooks")},
}

#: Functions and classes that are loaded with a module, and that module.
WITH: dict[str, str] = {
    "TypedStorage": "ops.shape.storages", "UntypedStorage": "ops.shape.storages",
    "compile": "compat.compiler", "testing.assert_allclose": "compat.testing",
    "testing.make_tensor": "compat.testing", "nn.DataParallel": "compat.data_parallel",
    "utils.swap_tensors": "utils.swapping",
    **dict.fromkeys((
        "are_deterministic_algorithms_enabled", "get_deterministic_debug_mode",
        "get_float32_matmul_precision", "get_num_interop_threads",
        "is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled",
        "set_default_tensor_type", "set_deterministic_debug_mode", "set_flush_denormal",
        "set_float32_matmul_precision", "set_num_interop_threads", "set_warn_always",
        "use_deterministic_algorithms"), "compat.settings"),
}


def attribute(module: str, name: str) -> Any:
    """Return what stands for `name` in a module of minigrad; `AttributeError` if nothing does.

    >>> attribute("minigrad", "complex64")
    torch.complex64
    """
    path = f"{module}.{name}".partition(".")[2]
    if path in MODULES or path in LATER:
        found: Any = importlib.import_module(f"{_PACKAGE}.{path}")
    elif path in WITH:
        found = getattr(importlib.import_module(f"{_PACKAGE}.{WITH[path]}"), name)
    else:
        found = stand_in(path)
    if found is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name,
                             obj=Near(name, module))
    setattr(sys.modules[module], name, found)
    return found


class Near:
    """Stands for a module where Python looks for a name like one that is missing.

    Python looks when it shows the error, and not at all among more than 750 names; `dir` of this
    leaves out those that are unlike. A program that asks with `hasattr` pays for none of it.

    >>> [name in dir(Near("tensro", "minigrad")) for name in ("tensor", "linspace")]
    [True, False]
    """

    def __init__(self, name: str, module: str) -> None:
        self.name = name
        self.module = module

    def __dir__(self) -> list[str]:
        """Return the names of about the same length and letters."""
        length, letters = len(self.name), set(self.name.lower())
        return [each for each in dir(sys.modules[self.module])
                if abs(len(each) - length) <= 2 and len(letters ^ set(each.lower())) <= 2]


def is_module(path: str) -> bool:
    """Tell whether a name below `torch` is that of a module that is left out, or is below one."""
    while path and path not in MODULES:
        path = path.rpartition(".")[0]
    return bool(path)


class LeftOutModules:
    """Finds modules that are left out, after all finders of modules that are there."""

    def find_spec(self, name: str, path: Any = None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        """Return a spec for a module that is left out, or for one below it."""
        package, _, rest = name.partition(".")
        if package != _PACKAGE or not is_module(rest):
            return None
        return ModuleSpec(name, cast(Any, self), is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the stand-in for the module."""
        return LeftOutModule(spec.name, f"Left out: minigrad "
                                        f"{left_out(spec.name.partition('.')[2])}.")

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: a stand-in runs nothing."""


class LaterModules(AnotherName):
    """Finds the modules of this folder by the names that they have in PyTorch."""

    def new_name(self, name: str) -> str | None:
        """Return where the module is that a name below minigrad stands for."""
        package, _, rest = name.partition(".")
        where = LATER.get(rest, rest) if package == _PACKAGE else rest
        return None if where == rest else f"{_PACKAGE}.{where}"

    def exec_module(self, module: ModuleType) -> None:
        """Put the module itself into `sys.modules`, and let it answer for names left out."""
        name = module.__name__
        super().exec_module(module)
        found = vars(sys.modules[name])
        found["__getattr__"] = _finding(name, found.get("__getattr__"))


def install() -> None:
    """Let imports and attributes find what is in this folder, and give tensors their methods."""
    sys.meta_path.extend((LaterModules(), LeftOutModules()))
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
