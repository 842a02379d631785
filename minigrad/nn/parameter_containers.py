"""Modules that hold parameters in a list or by name.

Source: https://docs.pytorch.org/docs/stable/nn.html#containers
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, KeysView, Mapping
from typing import Any, Self

from ..tensor.tensor import Parameter, Tensor
from .containers import pairs_of, position
from .module import Module

__all__ = ["ParameterDict", "ParameterList"]


class ParameterList(Module):
    """A list of parameters; tensors that you put in it become parameters.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ParameterList.html

    >>> from minigrad import nn, zeros
    >>> weights = nn.ParameterList([zeros(2)]).append(zeros(3)).extend([zeros(1, 4)])
    >>> weights
    ParameterList(
        (0): Parameter containing: [torch.float32 of size 2]
        (1): Parameter containing: [torch.float32 of size 3]
        (2): Parameter containing: [torch.float32 of size 1x4]
    )
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self._size))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return type(self)(self[i] for i in range(*key.indices(self._size)))
        return getattr(self, str(position(key, self._size)))

    def __setitem__(self, key: int, value: Any) -> None:
        setattr(self, str(position(key, self._size)), as_parameter(value))

    def append(self, value: Any) -> Self:
        """Append a parameter."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Append parameters."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError("ParameterList.extend should be called with an iterable, but got "
                            f"{type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def extra_repr(self) -> str:
        return described(enumerate(self), lambda tensor: str(tensor.dtype))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dictionary of parameters; tensors that you put in it become parameters.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ParameterDict.html

    >>> from minigrad import nn, zeros
    >>> weights = nn.ParameterDict({"a": zeros(2), "b": zeros(3)})
    >>> weights.update({"c": zeros(1)}); list(weights.keys()), len(list(weights.parameters()))
    (['a', 'b', 'c'], 3)
    >>> weights.get("d"), weights.setdefault("d", zeros(1)).requires_grad
    (None, True)
    >>> weights.pop("a").shape, weights.popitem()[0]
    (torch.Size([2]), 'd')
    >>> copy = weights.copy(); weights.clear(); len(weights)
    0
    >>> [(name, value.numel()) for name, value in copy.items()], len(list(copy.values()))
    ([('b', 3), ('c', 1)], 2)
    >>> list(weights.fromkeys(["x", "y"], 1.0).items())
    [('x', 1.0), ('y', 1.0)]
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, checked_key(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, checked_key(key), as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, checked_key(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def keys(self) -> KeysView[str]:
        """Return the parameters' names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return pairs of name and parameter."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """Return the parameters."""
        return (self[key] for key in self._keys)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the parameter with this name, or `default` if it does not exist."""
        return self[key] if key in self._keys else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the parameter with this name; if it does not exist, first set it to `default`."""
        if key not in self._keys:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Remove a parameter and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove the last parameter and return it with its name."""
        if not self._keys:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def clear(self) -> None:
        """Remove all parameters."""
        for key in list(self._keys):
            del self[key]

    def copy(self) -> ParameterDict:
        """Return a copy of the dictionary, with the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Return a new dictionary with one value for all names."""
        return ParameterDict([(key, default) for key in keys])

    def update(self, parameters: Any) -> None:
        """Add parameters from pairs or from a mapping; a plain dict is sorted by name first."""
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            parameters = sorted(parameters.items())
        for key, value in pairs_of(parameters, "ParameterDict", "ParametersDict"):
            self[key] = value

    def __or__(self, other: Any) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other: Any) -> Any:
        joined = other.copy()
        joined.update(self)
        return joined

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        return described(self.items(), lambda tensor: tensor.type())

    def __call__(self, input: Any = None) -> Any:
        raise RuntimeError("ParameterDict should not be called.")


def as_parameter(value: Any) -> Any:
    """Turn a tensor into a parameter, and return other values unchanged."""
    is_plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
    return Parameter(value) if is_plain else value


def checked_key(key: Any) -> str:
    """Return a name; raise `TypeError` if it is not a string."""
    if not isinstance(key, str):
        raise TypeError("Index given to ParameterDict cannot be used as a key as it is not a "
                        f"string (type is '{type(key).__name__}'). Open an issue on github if you "
                        "need non-string keys.")
    return key


def described(items: Iterable[tuple[Any, Any]], type_name: Any) -> str:
    """Return a line for each parameter with its name, `type_name(parameter)` and its size."""
    lines = []
    for key, value in items:
        if isinstance(value, Tensor):
            what = "Parameter" if isinstance(value, Parameter) else "Tensor"
            size = "x".join(map(str, value.shape))
            where = "" if value.device.type == "cpu" else f" ({value.device})"
            lines.append(f"  ({key}): {what} containing: "
                         f"[{type_name(value)} of size {size}{where}]")
        else:
            lines.append(f"  ({key}): Object of type: {type(value).__name__}")
    return "\n".join(lines)
