# Stage 10, Anomaly mode: the solution for minigrad/frames.py.
# Made by `minigrad dev build`. The lesson is lessons/10_anomaly.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""The user's frame, and the names of types in errors."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

_PACKAGE = __name__.partition(".")[0]


def is_internal(frame: FrameType) -> bool:
    """Return whether a frame runs code of the package."""
    return is_ours(frame.f_globals)


def is_ours(names: dict[str, Any]) -> bool:
    """Return whether a module is the package's, by its global names; one without a name is not."""
    name = str(names.get("__name__", ""))
    return name == _PACKAGE or name.startswith(_PACKAGE + ".")


def user_frame() -> tuple[FrameType, int]:
    """Return the user's innermost frame and its depth, a `stacklevel` for `warnings.warn`.

    The function that calls user_frame has depth 1, its caller 2, and so on. If every frame belongs
    to the package, as in its own examples, return the caller's frame and 1.
    """
    caller = sys._getframe(1)
    frame: FrameType | None = caller
    depth = 1
    while frame is not None and is_internal(frame):
        frame = frame.f_back
        depth += 1
    return (caller, 1) if frame is None else (frame, depth)


#: Modules of Python's whose frames may be between the user's and the package's.
PASSED_THROUGH = ("contextlib", "copy", "functools", "pickle")

_warned: set[str] = set()


def warn_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's line, because that's where a warning can be acted on."""
    frame, level = user_frame()
    while (frame.f_back is not None and frame.f_globals.get("__name__") in PASSED_THROUGH) or (
            level > 1 and is_internal(frame) and frame.f_back is not None):
        frame = frame.f_back
        level += 1
    warnings.warn(text, category, stacklevel=level)


def warn_user_once(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn the first time that a process gives this warning, as PyTorch's C++ code does."""
    if text not in _warned:
        warn_user(text, category)
        _warned.add(text)


_HEAP_TYPE, _IMMUTABLE = 1 << 9, 1 << 8  # flags of CPython's types

#: Types that are written in C in PyTorch, and in Python here.
_IN_C = {"dtype": "torch.dtype", "device": "torch.device", "Size": "torch.Size",
         "layout": "torch.layout", "Generator": "torch._C.Generator"}


def type_in_error(value: Any) -> str:
    """Return the name of a value's type as errors from C code give it.

    A class that is written in Python goes by its name alone, and one in C by its module too.

    >>> import collections, re
    >>> type_in_error(1.5), type_in_error(re.compile("a")), type_in_error(collections.OrderedDict())
    ('float', 're.Pattern', 'collections.OrderedDict')
    """
    cls = type(value)
    if is_ours({"__name__": cls.__module__}):
        return _IN_C.get(cls.__name__, cls.__name__)
    in_python = cls.__flags__ & (_HEAP_TYPE | _IMMUTABLE) == _HEAP_TYPE
    if in_python or cls.__module__ == "builtins":
        return cls.__name__
    return f"{cls.__module__}.{cls.__name__}"
