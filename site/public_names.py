"""The public modules and their names, and where a reader imports a name from."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType

__all__ = ["MODULES", "import_of", "public"]

#: The public modules, by the name of their page.
MODULES = {
    "minigrad": "minigrad",
    "tensor": "minigrad.tensor.tensor",
    "autograd": "minigrad.autograd",
    "autograd.graph": "minigrad.autograd.graph",
    "autograd.functional": "minigrad.autograd.functional",
    "autograd.forward_ad": "minigrad.autograd.forward_ad",
    "autograd.profiler": "minigrad.autograd.profiler",
    "func": "minigrad.func",
    "nn": "minigrad.nn",
    "nn.functional": "minigrad.nn.functional",
    "nn.init": "minigrad.nn.init",
    "nn.utils": "minigrad.nn.utils",
    "nn.utils.parametrize": "minigrad.nn.utils.parametrize",
    "nn.utils.parametrizations": "minigrad.nn.utils.parametrizations",
    "nn.utils.prune": "minigrad.nn.utils.prune",
    "nn.models": "minigrad.nn.models",
    "optim": "minigrad.optim",
    "optim.lr_scheduler": "minigrad.optim.lr_scheduler",
    "linalg": "minigrad.linalg",
    "special": "minigrad.special",
    "masked": "minigrad.masked",
    "distributions": "minigrad.distributions",
    "distributions.constraints": "minigrad.distributions.constraints",
    "amp": "minigrad.amp",
    "cuda": "minigrad.cuda",
    "backends.cudnn": "minigrad.backends.cudnn",
    "backends.mps": "minigrad.backends.mps",
    "utils.benchmark": "minigrad.utils.benchmark",
    "utils.checkpoint": "minigrad.utils.checkpoint",
    "utils.data": "minigrad.utils.data",
    "utils.exchange": "minigrad.utils.exchange",
    "utils.safetensors": "minigrad.utils.safetensors",
    "viz": "minigrad.viz",
    "op": "minigrad.op.declaration",
}


def public(module: ModuleType) -> list[str]:
    """Return a module's public names: its `__all__`, else what it defines itself."""
    if hasattr(module, "__all__"):
        return [each for each in module.__all__ if not each.startswith("_")]
    return [name for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__]


def import_of(name: str, module: ModuleType) -> tuple[str, str]:
    """Return where a name of a module's text is imported from, and what is imported.

    >>> import minigrad.nn.conv as conv
    >>> import_of("Conv2d", conv), import_of("Tensor", conv), import_of("math", conv)
    (('minigrad.nn', 'Conv2d'), ('minigrad', 'Tensor'), ('', 'math'))
    """
    value = vars(module)[name]
    if isinstance(value, ModuleType):
        parent, _, last = value.__name__.rpartition(".")
        return (parent, last) if last == name else ("", f"{value.__name__} as {name}")
    return _homes().get((name, id(value)), module.__name__), name


@cache
def _homes() -> dict[tuple[str, int], str]:
    """Return the first public module of each public value, by its name and identity."""
    found: dict[tuple[str, int], str] = {}
    for path in MODULES.values():
        module = importlib.import_module(path)
        for name in public(module):
            found.setdefault((name, id(getattr(module, name, None))), path)
    return found
