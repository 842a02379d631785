"""How programs find names that minigrad leaves out or loads on demand.

`attribute` resolves them as attributes of modules: `torch.fft`, `from minigrad import fft`. The
statement `import torch.fft` needs a finder, `LeftOutModules`, which `as_torch` adds to
`sys.meta_path`; a plain `import minigrad` leaves `sys.meta_path` unchanged.  Everything is loaded
or created only on first use.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, cast

from .left_out import MODULES, left_out
from .stand_ins import LeftOutModule, give_methods, stand_in

__all__ = ["LATER", "RENAMED", "WITH", "LeftOutModules", "attribute", "install"]

_PACKAGE = __name__.partition(".")[0]

#: Modules that load when a program first uses them as attributes.  An import statement finds their
#: files without this table.
LATER = ("backends.cuda", "nn.grad", "optim.swa_utils", "utils._pytree", "utils.benchmark",
         "utils.dlpack", "utils.hooks", "utils.tensorboard")

#: PyTorch's modules whose names are in a module of another name here.
RENAMED: dict[str, str] = {
    "accelerator.memory": "cuda.memory", "amp.autocast_mode": "amp", "autograd.profiler_legacy":
    "autograd.profiler", "cuda.amp.autocast_mode": "amp", "cuda.amp.common": "cuda.amp",
    "cuda.amp.grad_scaler": "amp", "nn.utils.init": "nn.utils.fusion",
    "nn.utils.stateless": "func", "optim.adadelta": "optim", "optim.adamax": "optim",
    "optim.adamw": "optim", "optim.nadam": "optim", "optim.radam": "optim",
    "profiler.profiler": "profiler", "signal.windows.windows": "signal.windows",
}

#: Functions and classes that are loaded with a module, and that module.
WITH: dict[str, str] = {
    "testing.assert_allclose": "compat.testing", "testing.make_tensor": "compat.testing",
    "utils.swap_tensors": "utils.swapping", "ops.aten": "compat.aten", "Future": "futures",
    "GradScaler": "amp", "fork": "jit", "wait": "jit", "DisableTorchFunction": "_C",
    "DisableTorchFunctionSubclass": "_C",
    "func.functionalize": "func.in_place_writes",
}


def attribute(module: str, name: str) -> Any:
    """Return the meaning of `name` in a module of minigrad; raise `AttributeError` if undefined.

    >>> attribute("minigrad", "complex64")
    torch.complex64
    """
    path = f"{module}.{name}".partition(".")[2]
    if path in MODULES:
        found: Any = left_out_module(f"{_PACKAGE}.{path}")
    elif path in RENAMED:
        found = importlib.import_module(f"{_PACKAGE}.{RENAMED[path]}")
    elif path in LATER:
        found = importlib.import_module(f"{_PACKAGE}.{path}")
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
    """Replacement for a module where Python looks up names similar to a missing one.

    Python searches when it shows the error, but gives up if there are more than 750 names; the
    `dir` of this object leaves out dissimilar names. A program that calls `hasattr` does not pay
    for this.

    >>> [name in dir(Near("tensro", "minigrad")) for name in ("tensor", "linspace")]
    [True, False]
    """

    def __init__(self, name: str, module: str) -> None:
        self.name = name
        self.module = module

    def __dir__(self) -> list[str]:
        """Return the names with about the same length and letters."""
        length, letters = len(self.name), set(self.name.lower())
        return [each for each in dir(sys.modules[self.module])
                if abs(len(each) - length) <= 2 and len(letters ^ set(each.lower())) <= 2]


def is_module(path: str) -> bool:
    """Return whether a name below `torch` is a left-out module, or inside one."""
    while path and path not in MODULES:
        path = path.rpartition(".")[0]
    return bool(path)


def left_out_module(name: str) -> ModuleType:
    """Return the only stand-in for a left-out module, by its name below minigrad.

    The stand-in is put into `sys.modules`, so that an import under `as_torch` returns the same
    object.
    """
    if name not in sys.modules:
        spec = LeftOutModules().find_spec(name)
        assert spec is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
    return sys.modules[name]


class LeftOutModules:
    """Finds modules that are left out; it must follow the finders of modules that exist."""

    def find_spec(self, name: str, path: Any = None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        """Return a spec for a left-out module, or for a module inside one."""
        package, _, rest = name.partition(".")
        if package != _PACKAGE or not is_module(rest):
            return None
        return ModuleSpec(name, cast(Any, self), is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the stand-in for the module."""
        return LeftOutModule(spec.name, f"Left out: minigrad "
                                        f"{left_out(spec.name.partition('.')[2])}.")

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing, since a stand-in has no code."""


def install() -> None:
    """Add the left-out methods to tensors."""
    give_methods()
