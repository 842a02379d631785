"""`torch.ops.aten`: the functions of the package under the names of PyTorch's operators.

>>> import minigrad as torch
>>> torch.ops.aten.add.Tensor(torch.ones(1), torch.ones(1))
tensor([2.])
"""

from __future__ import annotations

from typing import Any

from ..ops import FILES, function

__all__ = ["Packet", "aten"]


class Packet:
    """An operator with its overloads, such as `aten.add` with `aten.add.Tensor`.

    All of them call the package's function, since it chooses by its arguments.
    """

    def __init__(self, name: str, overload: str = "") -> None:
        self.__name__ = name
        self._overload = overload

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return function(self.__name__)(*args, **kwargs)

    def __getattr__(self, name: str) -> Packet:
        if name.startswith("_") or self._overload:
            raise AttributeError(f"The underlying op of 'aten.{self.__name__}' has no overload "
                                 f"name '{name}'")
        found = self.__dict__[name] = Packet(self.__name__, name)
        return found

    def __repr__(self) -> str:
        if self._overload:
            return f"<OpOverload(op='aten.{self.__name__}', overload='{self._overload}')>"
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


class Namespace:
    """The namespace of operators `aten`."""

    def __getattr__(self, name: str) -> Packet:
        if name not in FILES:
            raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")
        found = self.__dict__[name] = Packet(name)
        return found


aten = Namespace()
