"""Lets minigrad replace torch, for programs that contain `import torch`.

Two import finders do this, and only `as_torch` adds them to `sys.meta_path`: after a plain `import
minigrad`, imports work as in any other Python process.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType, TracebackType
from typing import Any, cast

from .. import version
from ..torch_version import FOLLOWED, TorchVersion
from .found import RENAMED, LeftOutModules

__all__ = ["as_torch"]

_PACKAGE = __name__.partition(".")[0]

NOTE = (f"{_PACKAGE} replaces torch in this process. `python -m {_PACKAGE}` says where to find the "
        "list of what it has and what it leaves out.")


def as_torch() -> None:
    """Make `import torch` return minigrad, including submodules, until the process ends.

    Each module exists only once: `torch.nn` is `minigrad.nn`.  An error about a name that minigrad
    lacks says that minigrad replaces torch.  `__version__` becomes the version of PyTorch that
    minigrad follows.  Raises `RuntimeError` if PyTorch was imported before.

    >>> import subprocess, sys
    >>> program = '''
    ... import minigrad
    ... minigrad.as_torch()
    ... import torch
    ... from torch.autograd.functional import jacobian
    ... print(torch.nn is minigrad.nn, jacobian(lambda x: x * x, torch.tensor(3.0)))
    ... '''
    >>> subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
    'True tensor(6.)\\n'
    """
    package = sys.modules[_PACKAGE]
    known = sys.modules.get("torch", package)
    if known is not package:
        raise RuntimeError(f"as_torch: PyTorch was imported before, from {known.__file__}; call "
                           "as_torch before the first import of torch")
    if not any(type(finder) is _TorchNames for finder in sys.meta_path):
        sys.meta_path.insert(0, _TorchNames())
        sys.meta_path.append(LeftOutModules())
        sys.excepthook = _Noted(sys.excepthook)
    for module in (package, version):  # programs compare it to find out which features there are
        vars(module)["__version__"] = TorchVersion(FOLLOWED)
    for name in [name for name in sys.modules if name.partition(".")[0] == _PACKAGE]:
        sys.modules["torch" + name.removeprefix(_PACKAGE)] = sys.modules[name]


class _TorchNames(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds minigrad's modules under PyTorch's names: importing `torch.nn` returns `minigrad.nn`.

    It must precede the finder of files, which would load each module a second time.
    """

    def find_spec(self, name: str, path: Any = None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        """Return a spec for `name` if minigrad has this module."""
        own = _own_name(name)
        found = None if own is None else importlib.util.find_spec(own)
        if found is None:
            return None
        return ModuleSpec(name, self, origin=found.origin,
                          is_package=found.submodule_search_locations is not None)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Let the import system create a module object for `exec_module` to replace."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Put minigrad's module into `sys.modules`, because the import returns that entry."""
        name = module.__name__
        sys.modules[name] = importlib.import_module(_own_name(name) or name)

    def get_code(self, name: str) -> CodeType | None:
        """Return the module's code, for `python -m torch.name`."""
        own = _own_name(name) or name
        found = importlib.util.find_spec(own)
        return cast(importlib.abc.InspectLoader, found.loader).get_code(own) if found else None


def _own_name(name: str) -> str | None:
    """Return minigrad's name for the torch module `name`, or `None` if minigrad lacks it."""
    first, _, rest = name.partition(".")
    if name == "functorch":
        return f"{_PACKAGE}.compat.functorch"
    module = _module(rest) if first == "torch" else None
    return None if module is None else module.__name__


def _module(path: str) -> ModuleType | None:
    """Return the module `torch.path`, or `None`.

    >>> _module("optim.lr_scheduler").__name__, _module("tensor"), _module("no.such")
    ('minigrad.optim.lr_scheduler', None, None)
    """
    module = sys.modules[_PACKAGE]
    path = RENAMED.get(path, path)
    for name in path.split(".") if path else ():
        found, file = getattr(module, name, None), f"{module.__name__}.{name}"
        # `autograd.gradcheck` is both a function and a file; PyTorch has no folder `tensor`.
        may_hide = hasattr(module, "__path__") and (
            found is None or module is not sys.modules[_PACKAGE])
        if not isinstance(found, ModuleType) and may_hide and importlib.util.find_spec(file):
            found = importlib.import_module(file)
        if not isinstance(found, ModuleType):
            return None
        module = found
    return module


class _Noted:
    """An excepthook that adds a note to errors about names that minigrad lacks."""

    def __init__(self, before: Any) -> None:
        self.before = before

    def __call__(self, error_class: type[BaseException], error: BaseException,
                 traceback: TracebackType | None) -> None:
        """Add the note, and show the error with the previous hook."""
        if _of_a_missing_name(error):
            error.add_note(NOTE)
        self.before(error_class, error, traceback)


def _of_a_missing_name(error: BaseException) -> bool:
    """Return whether an error is about a missing module or attribute of torch."""
    if isinstance(error, ImportError):
        return (error.name or "").partition(".")[0] in ("torch", _PACKAGE)
    if not isinstance(error, AttributeError):
        return False
    owner = error.obj if isinstance(error.obj, ModuleType | type) else type(error.obj)
    where = owner.__name__ if isinstance(owner, ModuleType) else owner.__module__
    return where.partition(".")[0] == _PACKAGE
