# Stage 10, Anomaly mode: the exercise for minigrad/frames.py.
# Made by `minigrad dev build`. The lesson is lessons/10_anomaly.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 10
# docs/en/glossary.md explains the names used inside the package.

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
    # 10.1 The user's frame (about 9 lines)
    # Find the user's code on the call stack. `user_frame` starts at its caller and
    # returns the innermost frame outside the package, with its depth; `is_ours` decides
    # by name whether a module belongs to the package.
    #   is_ours({"__name__": "minigrad.ops.math"})   -> True; "minigrad" itself too
    #   is_ours({"__name__": "minigradient"})        -> False; also is_ours({})
    #   a user calls user_frame()                    -> (the user's frame, 1)
    #   user > minigrad.a > minigrad.b > user_frame  -> (the user's frame, 3)
    #   all frames belong to the package             -> (the caller's frame, 1)
    # Use: `_PACKAGE` ("minigrad"), `is_internal(frame)`; `sys._getframe(1)` is the
    # caller's frame, and `frame.f_back` is the next frame outwards, or None at the end.
    raise NotImplementedError("10.1 The user's frame is yours to write")


def user_frame() -> tuple[FrameType, int]:
    """Return the user's innermost frame and its depth, a `stacklevel` for `warnings.warn`.

    The function that calls user_frame has depth 1, its caller 2, and so on. If every frame belongs
    to the package, as in its own examples, return the caller's frame and 1.
    """
    # 10.1 The user's frame: see the task at `is_ours`.
    raise NotImplementedError("10.1 The user's frame is yours to write")


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
