"""The table of all ops, which loads ops that no program has used yet when it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["Registry"]


class Registry(dict[str, Any]):
    """Maps class names to ops.

    Before the table is read, it calls the functions in `before_reading`; `ops/` registers one that
    loads all its files.  `declared` returns the ops that have been loaded, without this.

    >>> ops = Registry(Exp=1)
    >>> ops.before_reading.append(lambda: ops.update(Log=2))
    >>> ops.declared(), "Log" in ops, ops.declared()
    ((1,), True, (1, 2))
    """

    before_reading: list[Callable[[], object]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.before_reading = []

    def declared(self) -> tuple[Any, ...]:
        """Return the ops declared so far; another thread may be declaring one at the moment."""
        return tuple(super().values())

    def has(self, name: str) -> bool:
        """Return whether an op of this name has been declared so far."""
        return super().__contains__(name)

    def _load(self) -> None:
        for load in self.before_reading:
            load()

    def __missing__(self, name: str) -> Any:
        self._load()
        if not super().__contains__(name):
            raise KeyError(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        if not super().__contains__(name):
            self._load()
        return super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        self._load()
        return super().__iter__()

    def __len__(self) -> int:
        self._load()
        return super().__len__()

    def keys(self) -> Any:
        self._load()
        return super().keys()

    def values(self) -> Any:
        self._load()
        return super().values()

    def items(self) -> Any:
        self._load()
        return super().items()
