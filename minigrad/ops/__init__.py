"""All operations, one family per file; a file is loaded when a program first uses one of its ops.

`python -m minigrad.utils.stubs` lists the names in each file, so a new file needs no line here.

NOTE [Loading ops]
    `F.exp`, `Tensor.exp` and `minigrad.exp` exist before the file that declares `Exp` is loaded:
    as a `Later` in the class of `F`, as a `LaterMethod` in a base of `Tensor`, and as a name that
    the package's `__getattr__` knows.  The first one that a program uses loads the file and
    publishes what it declares.  If several threads use the same name at once, they wait for the
    import in Python's own lock.  The lock in this module covers only the publishing that follows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from threading import RLock
from typing import Any

from .._names import F_NAMES, FUNCTION_NAMES, METHODS
from ..on_demand import attributes, rows
from ..op.declaration import REGISTRY, F, Op
from ..op.publish import FUNCTIONS, publish
from ..tensor.protocols import PythonProtocols
from ..tensor.tensor import Tensor

#: The file of each public function, by the function's name.
FILES = {name: module for module, name, _ in rows(FUNCTION_NAMES)}

_PACKAGE = __package__.partition(".")[0]
_published: set[type[Op]] = set()
_publishing = RLock()


class Later:
    """A function of `F` whose file is not loaded yet; publishing replaces it."""

    def __init__(self, name: str, module: str) -> None:
        self.name, self.module = name, module

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        load(self.module)
        return vars(F)[self.name]


class LaterMethod(Later):
    """A method or property of tensors whose file is not loaded yet."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        load(self.module)
        return vars(Tensor)[self.name].__get__(instance, owner)

    def __set__(self, instance: Any, value: Any) -> None:
        load(self.module)
        setattr(instance, self.name, value)  # now goes to the published attribute


def load(module: str) -> None:
    """Import a module by its path inside the package, and publish the ops that it declares.

    >>> load("ops.math.bessel"); "SpecialBesselJ0" in REGISTRY
    True
    """
    import_module(f"{_PACKAGE}.{module}")
    with _publishing:
        for op in REGISTRY.declared():
            if op not in _published and _is_ready(op):
                publish(op)
                _published.add(op)


def function(name: str) -> Callable[..., Any]:
    """Return a public function by its name; raise `KeyError` if there is no such function.

    >>> function("special_entr").__name__
    'special_entr'
    """
    load(FILES[name])
    return FUNCTIONS[name]


@cache
def load_all() -> None:
    """Load every file.  Reading `REGISTRY` does this first.

    >>> load_all(); len(REGISTRY) > 300
    True
    """
    for file in walk_packages(__path__, f"{__name__}."):
        load(file.name.partition(".")[2])


def _is_ready(op: type[Op]) -> bool:
    """Return whether the file of a built-in op has been imported completely."""
    module = sys.modules.get(op.__module__)  # an import removes it for a moment
    return (op.__module__.startswith(f"{__name__}.") and module is not None
            and not getattr(module.__spec__, "_initializing", False))


REGISTRY.before_reading.append(load_all)
for _module, _name, _ in rows(F_NAMES):
    setattr(type(F), _name, Later(_name, _module))
for _module, _name, _ in rows(METHODS):
    setattr(PythonProtocols, _name, LaterMethod(_name, _module))

__getattr__ = attributes(__name__)[0]  # for `torch.ops.aten`
