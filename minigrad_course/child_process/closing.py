"""Load the package's version of an exercise into a graded process, and close it.

NOTE [Sealed] in grading/sealed.py explains why.  A graded process calls `load_and_close` before it
loads any code of the learner's, and doesn't need the functions here afterwards: the guard is part
of the code of the functions that it protects, and its objects are constants of that code.
"""

from __future__ import annotations

import base64
import importlib.machinery
import importlib.util
import inspect
import marshal
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

__all__ = ["GUARD", "load_and_close"]

#: The first statement of a guarded function.  `close` puts built-in objects in place of the texts,
#: so that the guard looks up no name that a learner could bind.  It refuses every first argument
#: except the package's own ops and nodes, with the attributes that their classes had.
GUARD = """
if '<snapshot>'('<map>'('<id>', '<vars>'(FIRST if '<isinstance>'(FIRST, '<type>') else
                                         '<type>'(FIRST)).values())) != '<known>'(
        '<id>'(FIRST if '<isinstance>'(FIRST, '<type>') else '<type>'(FIRST))):
    raise RuntimeError("the package's version of this exercise accepts only the package's own ops")
"""


def _gone(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError("the package's version of this exercise has done its work and is gone")


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module from code that we received instead of from its file."""

    def __init__(self, name: str, file: str, packed: str) -> None:
        super().__init__(name, file)
        self.packed = packed

    def get_code(self, fullname: str) -> CodeType:
        """Return the code that we received, and forget it."""
        packed, self.packed = self.packed, ""
        return _unpacked(packed)


class _Finder:
    """Finds the sealed modules while the package is imported for the first time."""

    def __init__(self, sealed: dict[str, dict[str, Any]]) -> None:
        self.packed = {name: each["plain"] for name, each in sealed.items()}

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None
                  ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a sealed module; `None` leaves the name to other finders."""
        if name not in self.packed:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        assert spec is not None and spec.origin is not None
        spec.loader = _Loader(name, spec.origin, self.packed.pop(name))
        return spec


def load_and_close(sealed: dict[str, dict[str, Any]], prepare: Callable[[], Any]) -> None:
    """Import the package with these modules, call `prepare`, and close their functions.

    Raises RuntimeError if a function isn't closed afterwards.
    """
    finder: Any = _Finder(sealed)
    sys.meta_path.insert(0, finder)
    try:
        import_module("minigrad.ops").load_all()
        for name in sealed:
            import_module(name)
        prepare()
    finally:
        sys.meta_path.remove(finder)
    for name, each in sealed.items():
        module = sys.modules[name]
        for symbol in each["declaring"]:
            _function(module, symbol).__code__ = _gone.__code__
        known, alive = _snapshot()
        guarded = _unpacked(each["guarded"])
        for symbol in each["running"]:
            _function(module, symbol).__code__ = _bound(
                _code_of(guarded, symbol), known, alive)
        for symbol in (*each["declaring"], *each["running"]):
            _check(symbol, _function(module, symbol))
    sealed.clear()


def _check(symbol: str, function: FunctionType) -> None:
    """Raise RuntimeError if a function accepts an object of a class that it can't know."""
    count = len(inspect.signature(function).parameters)
    for stranger in (type("Stranger", (), {}), type("Stranger", (), {})()):
        try:
            function(*[stranger] * count)
        except RuntimeError as error:
            if str(error).startswith("the package's version of this exercise"):
                continue
        except Exception:
            pass
        raise RuntimeError(f"{symbol} is not sealed")


def _snapshot() -> tuple[dict[int, tuple[int, ...]], list[Any]]:
    """Return the ids of the attributes of all ops and nodes of the package, by the class's id.

    Also returns these objects, so that no other object can get one of the ids.  The tables that
    these classes share with their formulas become read-only.
    """
    found, alive = {}, []
    op = import_module("minigrad.op.declaration").Op
    node = import_module("minigrad.graph.node").Node
    prepared = import_module("minigrad.op.apply").Prepared
    for each in (*_subclasses(op), *_subclasses(node), prepared):
        for name, value in list(vars(each).items()):
            if type(value) is dict and not name.startswith("__"):
                setattr(each, name, MappingProxyType(dict(value)))
            elif type(value) is set:
                setattr(each, name, frozenset(value))
        found[id(each)] = tuple(map(id, vars(each).values()))
        alive += [each, *vars(each).values()]
    return found, alive


def _subclasses(base: type) -> Iterator[type]:
    waiting, seen = [base], {base}
    while waiting:
        each = waiting.pop()
        yield each
        new: set[type] = set(type.__subclasses__(each)) - seen
        seen |= new
        waiting += new


def _function(module: ModuleType, symbol: str) -> FunctionType:
    found: Any = module
    for name in symbol.split("."):
        found = inspect.getattr_static(found, name)
    found = inspect.unwrap(found)
    assert isinstance(found, FunctionType)
    return found


def _code_of(code: CodeType, symbol: str) -> CodeType:
    for name in symbol.split("."):
        code = next(each for each in code.co_consts
                    if isinstance(each, CodeType) and each.co_name == name)
    return code


def _bound(code: CodeType, known: dict[int, tuple[int, ...]], alive: list[Any]) -> CodeType:
    """Return the code of a guarded function with the objects that its guard uses."""
    objects = {"<snapshot>": tuple, "<map>": map, "<id>": id, "<type>": type,
               "<isinstance>": isinstance, "<vars>": type.__dict__["__dict__"].__get__,
               "<known>": known.get}
    constants = tuple(objects.get(each, each) if isinstance(each, str) else each
                      for each in code.co_consts)
    return code.replace(co_consts=(*constants, tuple(alive)))


def _unpacked(packed: str) -> CodeType:
    code = marshal.loads(base64.b64decode(packed))
    assert isinstance(code, CodeType)
    return code
