"""The API's pages: what is public of each module, told from its docstrings by mkdocstrings."""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from types import ModuleType
from typing import Any

from op_pages import page_name
from op_pages import pages as op_names
from prose import front_matter, summary, table

import minigrad
from minigrad.op import F

__all__ = ["MODULES", "api_page", "index_page"]

#: The public modules, by the name of their page.
MODULES = {
    "minigrad": "minigrad",
    "tensor": "minigrad.tensor",
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
    "nn.models": "minigrad.nn.models",
    "optim": "minigrad.optim",
    "optim.lr_scheduler": "minigrad.optim.lr_scheduler",
    "linalg": "minigrad.linalg",
    "amp": "minigrad.amp",
    "cuda": "minigrad.cuda",
    "utils.checkpoint": "minigrad.utils.checkpoint",
    "utils.data": "minigrad.utils.data",
    "utils.exchange": "minigrad.utils.exchange",
    "utils.safetensors": "minigrad.utils.safetensors",
    "viz": "minigrad.viz",
    "op": "minigrad.op",
}


def index_page() -> str:
    """Return the page that lists the API's modules."""
    rows = [[f"[`{module}`]({name}.md)", summary(importlib.import_module(module).__doc__)]
            for name, module in MODULES.items()]
    return (front_matter(title="API") + "# API\n\n"
            "Names, arguments and errors are PyTorch's. [Operations](../ops/index.md) have pages "
            "of their own.\n\n" + table(["module", "what it holds"], rows))


def api_page(name: str) -> str:
    """Return the page of one public module."""
    module = importlib.import_module(MODULES[name])
    told, linked = [], []
    for each in public(module):
        value = inspect.getattr_static(module, each, None)
        if name == "minigrad" and _has_page(value):
            continue
        if _is_op(value, each):
            address = f"../ops/{page_name(_op_page(value, each) or each)}.md"
            linked.append([f"[`{each}`]({address})", summary(value.__doc__)])
        elif _is_told(value, each, module):
            told.append(f"{value.__module__}.{value.__qualname__}")
    parts = [front_matter(title=module.__name__, description=summary(module.__doc__)),
             f"# {module.__name__}\n", f"{summary(module.__doc__)}\n"]
    if linked:
        parts += ["## Operations { #operations }\n",
                  table(["operation", "what it computes"], linked)]
    parts += [f"::: {path}\n" for path in sorted(set(told), key=_last_name)]
    if name == "tensor":
        parts += ["## Methods made from operations { #methods }\n", _methods()]
    return "\n".join(parts)


def _last_name(path: str) -> str:
    return path.rpartition(".")[2].lower()


def public(module: ModuleType) -> list[str]:
    """Return a module's public names: its `__all__`, else what it defines itself."""
    if hasattr(module, "__all__"):
        return [each for each in module.__all__ if not each.startswith("_")]
    return [name for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__]


def _is_op(value: Any, name: str) -> bool:
    return inspect.isfunction(value) and name in op_names() and _op_page(value, name) is not None


def _op_page(value: Any, name: str) -> str | None:
    made = getattr(value, "__name__", name)
    return next((each for each in (made, name) if each in op_names() and (
        value.__module__ == "minigrad" or value is getattr(F, each, None))), None)


@cache
def _defined(path: str) -> frozenset[str]:
    """Return the names that a module's text defines, in classes and functions."""
    import ast

    tree = ast.parse(inspect.getsource(importlib.import_module(path)))
    return frozenset(each.name for each in tree.body
                     if isinstance(each, ast.FunctionDef | ast.ClassDef))


def _is_told(value: Any, name: str, module: ModuleType) -> bool:
    """Whether a value is a class or function that stands in the text of one of our modules."""
    where = getattr(value, "__module__", None) or ""
    if not (inspect.isclass(value) or inspect.isfunction(value)) or not value.__doc__:
        return False
    if not where.startswith("minigrad"):
        return False
    try:
        return value.__qualname__ in _defined(where)
    except (ImportError, OSError, TypeError):
        return False


@cache
def _elsewhere() -> frozenset[int]:
    return frozenset(
        id(vars(module)[each]) for path in MODULES.values() if path != "minigrad"
        for module in [importlib.import_module(path)]
        for each in public(module) if each in vars(module))


def _has_page(value: Any) -> bool:
    return id(value) in _elsewhere()


def _methods() -> str:
    rows = []
    for name, ops in op_names().items():
        if hasattr(minigrad.Tensor, name):
            rows.append([f"[`{name}`](../ops/{page_name(name)}.md)", summary(ops[0].__doc__)])
    return table(["method", "what it computes"], rows)
