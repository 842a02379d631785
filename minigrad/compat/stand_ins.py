"""Stand-ins for left-out names: a program may refer to them and compare them, but not use them.

A stand-in is a class, as many of the names are in PyTorch. So `isinstance(x, stand_in)` is False
for all values, annotations may contain it, and a class may inherit from it.
"""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn

from ..dtypes import dtype
from ..ops.creation.tensor_options import Named
from ..tensor.tensor import Tensor
from .left_out import (
    ALIASES,
    ANSWERS,
    DTYPES,
    GIVEN,
    LAYOUTS,
    METHODS,
    error_text,
    left_out,
)

__all__ = ["LeftOut", "LeftOutModule", "give_methods", "stand_in"]


class LeftOut(type):
    """The metaclass of stand-ins that raises if one is called."""

    _path: str

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(error_text(cls._path, left_out(cls._path) or ""))

    def __getattr__(cls, name: str) -> Any:
        """Return the stand-in for a nested name, such as a constant of an enumeration."""
        if name.startswith("_"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        below = _class_for(f"{cls._path}.{name}")
        setattr(cls, name, below)
        return below

    def __getitem__(cls, parameters: Any) -> LeftOut:
        """Return the stand-in itself, for annotations with parameters."""
        return cls

    def __repr__(cls) -> str:
        return f"<torch.{cls._path}, which minigrad leaves out>"


def _class_for(path: str) -> LeftOut:
    name = path.rpartition(".")[2]
    return LeftOut(name, (), {"_path": path, "__module__": "minigrad", "__doc__": None})


class LeftOutModule(ModuleType):
    """A left-out module: it has every name, and using one raises an error that gives the reason.

    Some functions may be called, such as `torch.distributed.is_available()`.
    """

    __path__: list[str]
    __spec__: ModuleSpec

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name,
                                 obj=self)
        path = self.__name__.partition(".")[2]
        answers = ANSWERS.get(path, {})
        value = _answering(name, answers[name]) if name in answers else _class_for(f"{path}.{name}")
        setattr(self, name, value)
        return value


def _answering(name: str, answer: Any) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        if answer is not GIVEN:
            return answer
        return args[0] if args and args[0] is not None else lambda given: given  # a decorator

    function.__name__ = function.__qualname__ = name
    return function


_made: dict[str, Any] = {}


def stand_in(path: str) -> Any:
    """Return the only stand-in for a left-out name below `torch`, or `None` for other names.

    >>> stand_in("complex64"), stand_in("sparse_coo"), stand_in("SymInt")
    (torch.complex64, torch.sparse_coo, <torch.SymInt, which minigrad leaves out>)
    """
    path = ALIASES.get(path, path)
    if path not in _made:
        if any(path in names.split() for names in LAYOUTS.values()):
            _made[path] = Named(path)
        elif any(path in names for names in DTYPES.values()):
            _made[path] = _dtype_for(path)
        elif left_out(path) is not None:
            _made[path] = _class_for(path)
    return _made.get(path)


def _dtype_for(name: str) -> dtype:
    why, names = next((why, names) for why, names in DTYPES.items() if name in names)
    category, alike, size = names[name]
    made = dtype(name, category, alike, missing=error_text(name, why))
    made.itemsize = size
    return made


def give_methods() -> None:
    """Add the left-out methods to tensors."""
    for why, names in METHODS.items():
        for name in names.split():
            setattr(Tensor, name, _refusing(name, error_text(f"Tensor.{name}", why)))


def _refusing(name: str, text: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(text)

    method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    method.__doc__ = f"Raise `NotImplementedError`: {text.partition('. docs')[0]}."
    return method
