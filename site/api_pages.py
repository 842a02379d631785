"""The API's pages: what is public of each module, told from its docstrings by mkdocstrings."""

from __future__ import annotations

import importlib
import inspect
import sys
from functools import cache
from types import ModuleType
from typing import Any

from api_families import FAMILIES, family_of
from op_pages import page_name
from op_pages import pages as op_names
from prose import front_matter, summary, table
from public_names import MODULES, public
from tensor_page import tensor_sections

import minigrad
from minigrad.op.declaration import F

__all__ = ["MODULES", "api_page", "family_page", "family_pages", "index_page", "page_of", "public"]

#: Pages that are not called by their module.
TITLES = {"tensor": "minigrad.Tensor"}


def page_of(name: str) -> str:
    """Return the address of a module's page, from the API's folder."""
    return f"{name}/index.md" if name in FAMILIES else f"{name}.md"


def index_page() -> str:
    """Return the page that lists the API's modules, and the families of the large ones."""
    rows = []
    for name, module in MODULES.items():
        families = ", ".join(f"[{title}]({address})" for address, title in family_pages(name))
        rows.append([f"[`{module}`]({page_of(name)})", _meaning(importlib.import_module(module)),
                     families])
    return (front_matter(title="API") + "# API\n\n"
            "Names, arguments and errors are PyTorch's. [Operations](../ops/index.md) have pages "
            "of their own. Of a large module a table says on which page each name is told; the "
            "search knows them all.\n\n"
            + table(["module", "what it holds", "pages"], rows))


def family_pages(name: str) -> list[tuple[str, str]]:
    """Return the pages that a module is parted into: address from the API's folder, and title."""
    if name not in FAMILIES:
        return []
    found = dict(family_of(name, _module_of(path)) for path in _told(name)[0])
    order = list(FAMILIES[name])
    return [(f"{name}/{page}.md", found[page])
            for page in sorted(found, key=lambda page: (page not in order, page in order
                                                        and order.index(page)))]


def api_page(name: str) -> str:
    """Return the page of one public module."""
    module = importlib.import_module(MODULES[name])
    told, linked = _told(name)
    ops = "../../ops" if name in FAMILIES else "../ops"
    title = TITLES.get(name, module.__name__)
    search = {"boost": 4} if name == "tensor" else {}
    parts = [front_matter(title=title, description=_meaning(module), search=search),
             f"# {title}\n", f"{_meaning(module)}\n"]
    parts += [_contents(name, told, address, title) for address, title in family_pages(name)]
    if linked:
        parts += ["## Operations { #operations }\n",
                  table(["operation", "what it computes"],
                        [[f"[`{each}`]({ops}/{page}.md)", words] for each, page, words in linked])]
    if name not in FAMILIES:
        parts += [_directive(path) for path in told]
    if name == "tensor":
        parts[3:3] = [tensor_sections()]
    return "\n".join(parts)


def family_page(name: str, address: str) -> str:
    """Return one of the pages that a module is parted into."""
    title = dict(family_pages(name))[address]
    module = MODULES[name]
    return "\n".join([
        front_matter(title=f"{title} ({module})"), f"# {title}\n",
        f"Part of [`{module}`](index.md), whose page lists all its names.\n",
        *map(_directive, _members(name, _told(name)[0], address))])


def _directive(path: str) -> str:
    """Return what mkdocstrings fills: a class tells also what it has from bases without a page."""
    value = getattr(importlib.import_module(_module_of(path)), path.rpartition(".")[2])
    if value is minigrad.Tensor:  # its attributes and methods have a page
        return f"::: {path}\n    options:\n      members: []\n"
    names: list[str] = []
    for base in value.__mro__[1:] if inspect.isclass(value) else ():
        if id(base) in _elsewhere() or base is getattr(minigrad, base.__name__, None):
            break
        if _home(base).startswith("minigrad") and not base.__name__.startswith("_"):
            names += [name for name in vars(base)
                      if not name.startswith("_") and name not in (*vars(value), *names)]
    return f"::: {path}\n" + (f"    options:\n      inherited_members: {names}\n" if names else "")


def _members(name: str, told: list[str], address: str) -> list[str]:
    return [path for path in told
            if address == f"{name}/{family_of(name, _module_of(path))[0]}.md"]


def _contents(name: str, told: list[str], address: str, title: str) -> str:
    page, rows = address.partition("/")[2], []
    for path in _members(name, told, address):
        last = path.rpartition(".")[2]
        value = getattr(importlib.import_module(_module_of(path)), last)
        rows.append([f"[`{last}`]({page}#{path})", summary(value.__doc__)])
    return f"## [{title}]({page})\n\n" + table(["name", "what it is"], rows)


@cache
def _told(name: str) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Return what a module's docstrings tell, by path, and its operations: name, page, meaning."""
    module = importlib.import_module(MODULES[name])
    told, linked = [], []
    for each in public(module):
        value = getattr(module, each, None)
        if name == "minigrad" and _has_page(value):
            continue
        if _is_op(value, each):
            linked.append((each, page_name(_op_page(value, each) or each), summary(value.__doc__)))
        elif _is_told(value, each, module):
            told.append(f"{_home(value)}.{value.__qualname__}")
    return sorted(set(told), key=_last_name), linked


def _meaning(module: ModuleType) -> str:
    return summary(module.__doc__)


def _module_of(path: str) -> str:
    return path.rpartition(".")[0]


def _last_name(path: str) -> tuple[str, str]:
    return path.rpartition(".")[2].lower(), path  # cuda has Stream and stream


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


@cache
def _homes() -> dict[int, str]:
    """Return the module whose text defines it, for each class and function, by its identity."""
    for path in MODULES.values():  # so that each file with a public name is loaded
        module = importlib.import_module(path)
        for each in public(module):
            getattr(module, each, None)
    modules = {module.__name__: module for name, module in sys.modules.items()
               if name.startswith("minigrad.") and getattr(module, "__file__", None)}
    return {id(vars(module)[each]): name for name, module in modules.items()
            for each in _defined(name) if each in vars(module)}


def _home(value: Any) -> str:
    """Return the module that defines a value; classes of `nn` name PyTorch's modules instead."""
    return _homes().get(id(value)) or getattr(value, "__module__", None) or ""


def _is_told(value: Any, name: str, module: ModuleType) -> bool:
    """Whether a value is a class or function that stands in the text of one of our modules."""
    if not (inspect.isclass(value) or inspect.isfunction(value)) or not value.__doc__:
        return False
    where = _home(value)
    if not where.startswith("minigrad"):
        return False
    try:
        return value.__qualname__ in _defined(where)
    except (ImportError, OSError, TypeError):
        return False


@cache
def _elsewhere() -> frozenset[int]:
    return frozenset(
        id(getattr(module, each)) for path in MODULES.values() if path != "minigrad"
        for module in [importlib.import_module(path)]
        for each in public(module) if hasattr(module, each))


def _has_page(value: Any) -> bool:
    return id(value) in _elsewhere()
