"""The surroundings of a function: find all that it can reach, and notice if any of it changes.

NOTE [Surroundings]
    The surroundings of a function are the parameters, buffers and attributes of modules, the
    variables of enclosing functions and the globals that its code names, also inside lists, dicts
    and other objects.  A plain value is compared, and a tensor has to be the same object.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from itertools import chain
from operator import is_
from typing import Any

import numpy as np

from ...tensor.tensor import Tensor
from ..trace.refusal import Unrecordable
from .signature import is_plain

#: Objects whose attributes need no guard.
SETTLED = (type, types.ModuleType, types.BuiltinFunctionType, np.ufunc, staticmethod, property)

MISSING = object()
#: Follows the values of all dicts, so that one more or one fewer is a difference.
END = object()


class Surroundings:
    """Everything that a function can reach: tensors with their names, and values to compare."""

    def __init__(self, *roots: Any) -> None:
        self.tensors: list[tuple[str, Tensor]] = []
        self.dicts: list[dict[Any, Any]] = []  # such as the attributes of an object
        self.entries: list[tuple[Any, Any, Any]] = []  # single ones, such as globals
        self.cells: list[tuple[Any, Any]] = []
        self.items: list[tuple[Any, tuple[Any, ...]]] = []  # of lists
        self.arrays: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []
        self.held: list[Any] = []  # so that no id is used again
        self.seen: set[int] = set()
        for root in roots:
            self.reach(root, "")
        self.settle()

    def unchanged(self) -> bool:
        """Return whether everything is still as it was."""
        values = chain(chain.from_iterable(map(dict.values, self.full)), (END,))
        identical = not any(self.empty) and all(map(is_, values, self.values))
        if not identical and not self.equal_dicts():
            return False
        for where, key, before in self.entries:
            now = where.get(key, MISSING)
            if now is not before and not same(now, before):
                return False
        for cell, before in self.cells:
            now = content(cell)
            if now is not before and not same(now, before):
                return False
        for sequence, before in self.items:
            if len(sequence) != len(before):
                return False
            if not all(map(is_, sequence, before)) and not all(
                    now is then or same(now, then) for now, then in zip(sequence, before)):
                return False
        return not self.arrays or all(np.array_equal(now, then) for now, then in self.arrays)

    def settle(self) -> None:
        """Note which dicts are empty, and the values in the others."""
        self.copies = [dict(each) for each in self.dicts]
        self.full = [each for each in self.dicts if each]
        self.empty = [each for each in self.dicts if not each]
        self.values = [*chain.from_iterable(map(dict.values, self.full)), END]

    def equal_dicts(self) -> bool:
        """Return whether the dicts have the same keys and equal values."""
        return all(now.keys() == then.keys() and all(
            now[key] is then[key] or same(now[key], then[key]) for key in then)
            for now, then in zip(self.dicts, self.copies, strict=True))

    def reach(self, value: Any, name: str) -> None:
        """Note a value and what can be reached from it."""
        if isinstance(value, SETTLED) or is_plain(value) or id(value) in self.seen:
            if isinstance(value, type) and not is_library(value.__module__):
                self.reach_class(value, name)
            return
        self.seen.add(id(value))
        self.held.append(value)
        if len(self.seen) > 100_000:
            raise Unrecordable("torch.compile: the function can reach more than 100,000 objects")
        if hasattr(value, "__next__"):
            raise Unrecordable("torch.compile: the function can reach an iterator, and each "
                               "call would get another value from it")
        if isinstance(value, Tensor):
            self.tensors.append((name.replace("._parameters", "").replace("._buffers", "")
                                 .replace("._modules", "") or "captured", value))
        elif isinstance(value, types.FunctionType):
            self.reach_function(value, name)
        elif isinstance(value, types.MethodType):
            self.reach(value.__self__, name)
            self.reach(value.__func__, name)
        elif isinstance(value, functools.partial):
            for part in (value.func, value.args, value.keywords):
                self.reach(part, name)
        elif isinstance(value, dict):
            self.reach_dict(value, name)
        elif isinstance(value, (list, tuple, set, frozenset)):
            if not isinstance(value, tuple):
                self.items.append((value, tuple(value)))
            for position, each in enumerate(value):
                self.reach(each, f"{name}.{position}")
        elif isinstance(value, np.ndarray):
            self.arrays.append((value, value.copy()))
        elif hasattr(value, "__dict__") and has_state(type(value).__module__):
            self.reach_dict(vars(value), name)
            self.reach_class(type(value), name)

    def reach_dict(self, where: dict[Any, Any], name: str) -> None:
        """Note the entries of a dict, such as the attributes of an object."""
        self.dicts.append(where)
        for key, value in list(where.items()):
            self.reach(value, f"{name}.{key}" if name else str(key))

    def reach_class(self, kind: type, name: str) -> None:
        """Note the attributes of a user's class, and what its methods can reach."""
        for each in kind.__mro__:
            if not is_library(each.__module__) and id(each) not in self.seen:
                self.seen.add(id(each))
                names: Any = vars(each)
                for key, value in list(names.items()):
                    if not key.startswith("__") or isinstance(value, types.FunctionType):
                        self.entries.append((names, key, value))
                        self.reach(value, key)

    def reach_function(self, function: Any, name: str) -> None:
        """Note the globals that a user's function names, and its defaults."""
        if is_library(function.__module__ or ""):
            return
        for key, cell in zip(function.__code__.co_freevars, function.__closure__ or (),
                             strict=False):
            value = content(cell)
            self.cells.append((cell, value))
            self.reach(value, key)
        names = function.__globals__
        for key in names_in(function.__code__):
            value = names.get(key, MISSING)
            if value is not MISSING:
                self.entries.append((names, key, value))
                self.reach(value, key)
                if isinstance(value, types.ModuleType) and not is_library(value.__name__):
                    self.reach_module(value, function.__code__)
        self.reach(function.__defaults__, name)
        self.reach(function.__kwdefaults__, name)

    def reach_module(self, module: Any, code: Any) -> None:
        """Note the variables of a user's module that the code names."""
        for key in names_in(code):
            if key in vars(module):
                self.entries.append((vars(module), key, vars(module)[key]))
                self.reach(vars(module)[key], key)


def names_in(code: Any) -> Iterator[str]:
    """Yield the global names in code, and in the functions that are defined inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant)


def content(cell: Any) -> Any:
    """Return the content of a cell, or `MISSING` if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def same(now: Any, before: Any) -> bool:
    """Return whether two plain values are equal; other objects have to be identical."""
    return type(now) is type(before) and is_plain(now) and bool(
        now == before or (now != now and before != before))


def is_library(module: str) -> bool:
    """Return whether a module belongs to the package or is installed, so that it stays as it is."""
    top = module.partition(".")[0]
    return top in ("minigrad", "numpy", "torch", "builtins", "math", "functools", "itertools",
                   "collections", "typing", "dataclasses", "contextlib", "random", "time", "os",
                   "sys", "warnings", "operator", "copy", "re", "abc", "enum")


def has_state(module: str) -> bool:
    """Return whether objects of classes in a module may change: a user's, modules, optimizers."""
    return not is_library(module) or module.startswith(
        ("minigrad.nn", "minigrad.optim", "minigrad.distributions"))
