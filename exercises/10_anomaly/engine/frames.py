# Stage 10, Anomaly mode: the exercise for minigrad/engine/frames.py.
# Made by `minigrad dev build`. The lesson is lessons/10_anomaly.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 10
# Names of the package's inside are explained in docs/en/glossary.md.

"""The user's frame: the innermost frame of the call stack that is not the package's own."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

_PACKAGE = __name__.partition(".")[0]


def is_internal(frame: FrameType) -> bool:
    """Tell whether a frame runs code of the package."""
    return is_ours(frame.f_globals)


def is_ours(names: dict[str, Any]) -> bool:
    """Tell whether a module is the package's, by its global names; see `is_internal`."""
    # 10.1 Whose frame is it (about 9 lines)
    # `is_ours(names)`: tell whether a module is the package's, by its global names: its
    # `__name__` (missing: the user's) is `_PACKAGE` itself or begins with `_PACKAGE` and
    # a dot. `user_frame()`: walk outwards (`f_back`) from the function that called
    # user_frame, `sys._getframe(1)`, to the first frame that is not the package's
    # (`is_internal(frame)`), and return it with its depth: 1 for the caller itself, 2 for
    # the caller's caller, and so on, which is what `warnings.warn` wants as `stacklevel`.
    # Where every frame is the package's return the caller and 1.
    raise NotImplementedError("10.1 Whose frame is it is yours to write")


def user_frame() -> tuple[FrameType, int]:
    """Return the innermost frame of the user's, and how many frames of the package lie within.

    If there is none, as in the package's own examples, it is the caller's.
    """
    # 10.1 Whose frame is it: see the task at `is_ours`.
    raise NotImplementedError("10.1 Whose frame is it is yours to write")
