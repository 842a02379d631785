"""The classes and functions that `load` may call although they are not tensors or plain data."""

from __future__ import annotations

from typing import Any

__all__ = ["add_safe_globals", "by_name", "clear_safe_globals", "get_safe_globals", "safe_globals"]

_marked: list[Any] = []


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let `load` create objects of these classes, and call these functions.

    An item may be a pair of an object and the full name that files have for it. Source:
    `torch.serialization.add_safe_globals`.

    >>> import argparse, io
    >>> from minigrad import load, save
    >>> file = io.BytesIO()
    >>> save(argparse.Namespace(lr=0.1), file)
    >>> add_safe_globals([argparse.Namespace])
    >>> _ = file.seek(0)
    >>> load(file)
    Namespace(lr=0.1)
    >>> clear_safe_globals()
    """
    _marked.extend(each for each in list(safe_globals) if each not in _marked)


def get_safe_globals() -> list[Any]:
    """Return what `add_safe_globals` was given.

    >>> get_safe_globals()
    []
    """
    return list(_marked)


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` was given.

    >>> add_safe_globals([range])
    >>> clear_safe_globals()
    >>> get_safe_globals()
    []
    """
    _marked.clear()


class safe_globals:
    """A context in which `load` may also create objects of these classes.

    Source: `torch.serialization.safe_globals`.

    >>> with safe_globals([range]):
    ...     get_safe_globals()
    [<class 'range'>]
    >>> get_safe_globals()
    []
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self.safe_globals = list(safe_globals)

    def __enter__(self) -> None:
        add_safe_globals(self.safe_globals)

    def __exit__(self, *_: object) -> None:
        _marked[:] = [each for each in _marked if each not in self.safe_globals]


def by_name() -> dict[str, Any]:
    """Return the marked objects by their full names in a file."""
    result = {}
    for each in _marked:
        if not isinstance(each, tuple):
            result[f"{each.__module__}.{each.__qualname__}"] = each
        elif len(each) != 2:
            raise ValueError("Expected tuple of length 2 (global, str of callable full path), but "
                             f"got tuple of length: {len(each)}")
        elif not isinstance(each[1], str):
            raise TypeError("Expected second item in tuple to be str of callable full path, but "
                            f"got: {type(each[1])}")
        else:
            result[each[1]] = each[0]
    return result
