# Stage 10, Anomaly mode: the exercise for minigrad/autograd/anomaly_mode.py.
# Made by `minigrad dev build`. The lesson is lessons/10_anomaly.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 10
# Names of the package's inside are explained in docs/en/glossary.md.

"""Anomaly mode: which line of the forward made the node whose backward failed.

While it is on, each node that is made keeps the call stack in its metadata, and the node that is
being evaluated, which is its parent in a double backward.  When a node's backward raises, both are
shown in warnings.  A gradient with NaN raises.

Source: https://docs.pytorch.org/docs/stable/autograd.html#anomaly-detection
"""

from __future__ import annotations

import functools
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from .. import _state
from ..backend import backend_of
from ..batching import BatchedArray
from ..engine.frames import user_frame
from ..graph.node import Node
from ..tensor.tensor import Tensor

TRACEBACK, PARENT = "traceback_", "parent_"  # keys of a node's metadata

_evaluating: ContextVar[Node | None] = ContextVar("evaluating", default=None)


def is_anomaly_enabled() -> bool:
    """Tell whether anomaly mode is on.

    >>> is_anomaly_enabled()
    False
    """
    return _state.anomaly.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Tell whether anomaly mode, when it is on, looks for NaN in gradients."""
    return _state.anomaly.check_nan


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode on or off, for all threads."""
    # 10.2 The switch (about 16 lines)
    # `set_anomaly_enabled(enabled, check_nan)` sets `enabled` and `check_nan` of
    # `_state.anomaly`. When the mode goes from off to on it calls
    # `_state.observers.enter(remember_origin)`, from on to off
    # `_state.observers.leave(remember_origin)`; otherwise neither. `_Restored.__init__`
    # remembers both values as `prev` and `prev_check_nan` (ask `is_anomaly_enabled()` and
    # `is_anomaly_check_nan_enabled()`), `__exit__` puts them back with
    # set_anomaly_enabled. `detect_anomaly(check_nan)`: does what _Restored does, keeps
    # check_nan and gives the warning "Anomaly Detection has been enabled. This mode will
    # increase the runtime and should only be enabled for debugging." at the caller's line
    # (stacklevel 2); entering the block switches on. `set_detect_anomaly(mode,
    # check_nan)`: does what _Restored does, then switches at once.
    raise NotImplementedError("10.2 The switch is yours to write")


class _Restored:
    """Puts the mode back that was in force when it was made."""

    def __init__(self) -> None:
        # 10.2 The switch: see the task at `set_anomaly_enabled`.
        raise NotImplementedError("10.2 The switch is yours to write")

    def __enter__(self) -> None:
        """Enter the mode."""

    def __exit__(self, *exc: object) -> None:
        # 10.2 The switch: see the task at `set_anomaly_enabled`.
        raise NotImplementedError("10.2 The switch is yours to write")


class detect_anomaly(_Restored):
    """Run a block in anomaly mode: errors in backward name the forward's line, NaN raises.

    >>> import warnings; from minigrad import tensor
    >>> warnings.simplefilter("ignore")  # it warns that it is slow
    >>> x = tensor(0.0, requires_grad=True)
    >>> with detect_anomaly():
    ...     (x.sqrt() * 0).backward()
    Traceback (most recent call last):
        ...
    RuntimeError: Function 'SqrtBackward' returned nan values in its 0th output. This gradient \
is a single number.
    """

    def __init__(self, check_nan: bool = True) -> None:
        # 10.2 The switch: see the task at `set_anomaly_enabled`.
        raise NotImplementedError("10.2 The switch is yours to write")

    def __enter__(self) -> None:
        # 10.2 The switch: see the task at `set_anomaly_enabled`.
        raise NotImplementedError("10.2 The switch is yours to write")


class set_detect_anomaly(_Restored):
    """Switch anomaly mode on or off; in a `with` statement, for the block.

    >>> with set_detect_anomaly(True):
    ...     is_anomaly_enabled()
    True
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        # 10.2 The switch: see the task at `set_anomaly_enabled`.
        raise NotImplementedError("10.2 The switch is yours to write")


# -------------------------------------------------------------------- what the engine calls


def remember_origin(node: Node) -> None:
    """Keep in a new node where it was made, and the node whose backward made it."""
    # 10.3 Remembering and watching (about 16 lines)
    # `remember_origin(node)` is called for each new node: keep the user's call stack, the
    # list that `traceback.format_stack(frame)` gives for the frame of `user_frame()`, as
    # `node.metadata[TRACEBACK]`; if a node is being evaluated (`_evaluating.get()` is not
    # None), keep that one as `node.metadata[PARENT]`. `watched(evaluate)` returns a
    # function of (node, buffer) that calls `evaluate(node, buffer)` with NumPy's
    # floating-point warnings off (`np.errstate(all="ignore")`). Meanwhile `_evaluating`
    # is this node; afterwards, however it ends, it is again what it was before. If an
    # Exception is raised, `warn_of_origin(node)` is called and the exception goes on.
    raise NotImplementedError("10.3 Remembering and watching is yours to write")


def watched(evaluate: Callable[[Node, Any], None]) -> Callable[[Node, Any], None]:
    """Return `evaluate(node, buffer)` that says, when it fails, where the node comes from.

    NumPy's own words about a division by zero would only hide that message.
    """
    # 10.3 Remembering and watching: see the task at `remember_origin`.
    raise NotImplementedError("10.3 Remembering and watching is yours to write")


def printed_if_refused(warn: Callable[[Node], None]) -> Callable[[Node], None]:
    """Return `warn(node)` that prints what it cannot warn of, as warnings are to be errors.

    The error that is under way is the one to come out.
    """

    @functools.wraps(warn)
    def call(node: Node) -> None:
        try:
            warn(node)
        except Warning as refused:
            print(f"{type(refused).__name__}: {refused}", file=sys.stderr)

    return call


@printed_if_refused
def warn_of_origin(node: Node) -> None:
    """Warn with the forward call that made a node, then with those that led to that call."""
    # 10.4 The report (about 17 lines)
    # `_trace(node)`: the trace that the node remembers, as one string; empty where it has
    # none. `warn_of_origin(node)` warns (`warnings.warn`, with the `stacklevel` that
    # `user_frame()` gives). A node without a trace: "Error detected in {name}. No forward
    # pass information available. Enable detect anomaly during forward pass for more
    # information.", and nothing else. Otherwise: "Error detected in {name}. Traceback of
    # forward call that caused the error:\n{trace}". Then for its parent, the parent's
    # parent, and so on (`metadata.get(PARENT)`), one warning each: "\n\nPrevious
    # calculation was induced by {name}. Traceback of forward call that induced the
    # previous calculation:\n{trace}"; where a parent has no trace, "(made while anomaly
    # mode was off)\n" stands in its place. {name} is `node.name()`.
    raise NotImplementedError("10.4 The report is yours to write")


def _trace(node: Node) -> str:
    # 10.4 The report: see the task at `warn_of_origin`.
    raise NotImplementedError("10.4 The report is yours to write")


def check_nan(node: Node, grads: Sequence[Any]) -> None:
    """Raise `RuntimeError` if one of the gradients that a node returned contains NaN."""
    # 10.5 Finding NaN (about 15 lines)
    # `check_nan(node, grads)`: each of `grads` is an array, a Tensor (its array is
    # `_array`) or None. The first one, in order, that is of a floating dtype (`dtype.kind
    # == "f"`) and contains a NaN raises RuntimeError "Function '{name}' returned nan
    # values in its {position}th output. {where}", the position counted from 0 among all
    # of grads, `where` from `describe(mask)`. Infinity is no NaN. The mask, as a NumPy
    # array, is `backend_of(array).to_host(...)`. `describe(found)`, given a mask of at
    # least one True: "This gradient is a single number." for 0 dimensions, else "This
    # gradient has the shape {shape as a list}; {count} of its {size} values are nan, the
    # first at index {index as a list}.".
    raise NotImplementedError("10.5 Finding NaN is yours to write")


def describe(found: Any) -> str:
    """Say where in a gradient NaN stands, given the mask of it.

    >>> describe(np.array([[False, True], [True, True]]))
    'This gradient has the shape [2, 2]; 3 of its 4 values are nan, the first at index [0, 1].'
    """
    # 10.5 Finding NaN: see the task at `check_nan`.
    raise NotImplementedError("10.5 Finding NaN is yours to write")


_state.anomaly.watched, _state.anomaly.check_gradients = watched, check_nan
