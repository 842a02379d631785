# Stage 10, Anomaly mode: the exercise for minigrad/autograd/anomaly_mode.py.
# Made by `minigrad dev build`. The lesson is lessons/10_anomaly.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 10
# docs/en/glossary.md explains the names used inside the package.

"""Anomaly mode: report which line of the forward pass created the node whose backward failed.

While it is on, each new node stores the call stack in its metadata, together with the node that is
being evaluated, which is its parent in a double backward.  When a node's backward raises, warnings
show both.  A gradient with NaN raises.

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
from ..frames import user_frame
from ..graph.node import Node
from ..tensor.tensor import Tensor

TRACEBACK, PARENT = "traceback_", "parent_"  # keys of a node's metadata

# The texts of the report; all except the last two are PyTorch's.
NO_TRACE = ("Error detected in {name}. No forward pass information available. Enable detect "
            "anomaly during forward pass for more information.")
CAUSED = "Error detected in {name}. Traceback of forward call that caused the error:\n{trace}"
INDUCED = ("\n\nPrevious calculation was induced by {name}. Traceback of forward call that induced "
           "the previous calculation:\n{trace}")
MADE_WHILE_OFF = "(made while anomaly mode was off)\n"  # the trace of a parent without one
RETURNED_NAN = "Function '{name}' returned nan values in its {position}th output.\n{where}"

_evaluating: ContextVar[Node | None] = ContextVar("evaluating", default=None)


def is_anomaly_enabled() -> bool:
    """Return whether anomaly mode is on.

    >>> is_anomaly_enabled()
    False
    """
    return _state.anomaly.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Return whether anomaly mode, when it is on, checks gradients for NaN.

    >>> with detect_anomaly(check_nan=False):
    ...     is_anomaly_check_nan_enabled()
    False
    """
    return _state.anomaly.check_nan


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode on or off for all threads.

    >>> set_anomaly_enabled(True); is_anomaly_enabled()
    True
    >>> set_anomaly_enabled(False); is_anomaly_enabled()
    False
    """
    # 10.2 The switch (about 11 lines)
    # Switch anomaly mode on and off. `set_anomaly_enabled` sets `enabled` and `check_nan`
    # of `_state.anomaly`. `set_detect_anomaly` switches immediately; as a block, it
    # restores both at the end.
    #   set_anomaly_enabled(True), then (True, False) -> on, check_nan False, one observer
    #   set_anomaly_enabled(False) when it is off     -> no observer leaves
    #   set_detect_anomaly(False) as an inner block   -> on again after the block
    # Mind:
    # - While the mode is on, exactly one `remember_origin` observes new nodes.
    # - An error in a block propagates.
    # Use: `_state.observers.enter(remember_origin)` and `.leave(...)`;
    # `is_anomaly_enabled()`, `is_anomaly_check_nan_enabled()`.
    raise NotImplementedError("10.2 The switch is yours to write")


class _Restored:
    """Base that stores the current mode in `prev` and `prev_check_nan`, and restores it on exit."""

    def __init__(self) -> None:
        # 10.2 The switch: see the task at `set_anomaly_enabled`.
        raise NotImplementedError("10.2 The switch is yours to write")

    def __enter__(self) -> None:
        """Do nothing: `set_detect_anomaly` has switched the mode already."""

    def __exit__(self, *exc: object) -> None:
        # 10.2 The switch: see the task at `set_anomaly_enabled`.
        raise NotImplementedError("10.2 The switch is yours to write")


class detect_anomaly(_Restored):
    """Run a block in anomaly mode: errors in backward name the forward's line, and NaN raises.

    >>> import warnings; from minigrad import tensor
    >>> warnings.simplefilter("ignore")  # it warns that it is slow
    >>> x = tensor(0.0, requires_grad=True)
    >>> with detect_anomaly():
    ...     (x.sqrt() * 0).backward()
    Traceback (most recent call last):
        ...
    RuntimeError: Function 'SqrtBackward' returned nan values in its 0th output.
    This gradient is a single number.
    """

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__()
        self.check_nan = check_nan
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and "
                      "should only be enabled for debugging.",
                      stacklevel=user_frame()[1])

    def __enter__(self) -> None:
        set_anomaly_enabled(True, self.check_nan)


class set_detect_anomaly(_Restored):
    """Switch anomaly mode on or off, immediately or for a `with` block.

    >>> with set_detect_anomaly(True):
    ...     is_anomaly_enabled()
    True
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        # 10.2 The switch: see the task at `set_anomaly_enabled`.
        raise NotImplementedError("10.2 The switch is yours to write")


# -------------------------------------------------------------------- called by the engine


def remember_origin(node: Node) -> None:
    """Store the user's call stack in a new node, and the node being evaluated as its parent.

    `metadata[TRACEBACK]` is a list of strings from `traceback.format_stack` that ends with the
    user's line. `metadata[PARENT]` is missing if no node is being evaluated.
    """
    # 10.3 Remembering and watching (about 16 lines)
    # `remember_origin` stores in each new node where it was created. `watched(evaluate)`
    # returns a function that the engine calls instead of `evaluate`.
    #   remember_origin(mul)                      -> mul.metadata[TRACEBACK] is the stack
    #   watched(evaluate)(mul, b)                 -> runs evaluate(mul, b) once
    #   remember_origin(add) in evaluate(mul, b)  -> add.metadata[PARENT] is mul
    #   evaluate(mul, b) raises an Exception      -> warn_of_origin(mul), then the same error
    #   evaluate(mul, b) is interrupted           -> only the interrupt propagates
    # Mind:
    # - Evaluations can be nested, and each of them can fail.
    # Use: `_evaluating.get()`, `_evaluating.set(node)`, `traceback.format_stack(frame)`,
    # `user_frame()`.
    raise NotImplementedError("10.3 Remembering and watching is yours to write")


def watched(evaluate: Callable[[Node, Any], None]) -> Callable[[Node, Any], None]:
    """Wrap a function of (node, buffer) so that it reports the node's origin if it fails."""
    # 10.3 Remembering and watching: see the task at `remember_origin`.
    raise NotImplementedError("10.3 Remembering and watching is yours to write")


def printed_if_refused(warn: Callable[[Node], None]) -> Callable[[Node], None]:
    """Wrap `warn(node)` so that it prints its text if warnings are turned into errors.

    Otherwise the warning would replace the error that is already being raised.
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
    """Warn with the forward call that created a node, then with the calls that led to that one."""
    # 10.4 The report (about 9 lines)
    # Tell the user which forward call is to blame for an error in `node`. Issue one
    # warning for the node, then one for each of its ancestors: the parent, the parent's
    # parent, and so on.
    #   mul, parent pow, grandparent exp     -> CAUSED (mul), INDUCED (pow), INDUCED (exp)
    #   mul has no trace                     -> NO_TRACE (mul), and no other warning
    #   pow has no trace                     -> MADE_WHILE_OFF as its trace; exp follows
    # Use: `_warn(text)`, `_trace(node)` (empty if there is none), `node.name()`,
    # `node.metadata.get(PARENT)`; fill in the sentences at the top of this file with
    # `.format(name=..., trace=...)`.
    raise NotImplementedError("10.4 The report is yours to write")


def _trace(node: Node) -> str:
    """Return the call stack that a node stores as one string, perhaps empty."""
    return "".join(node.metadata.get(TRACEBACK, ()))


def _warn(text: str) -> None:
    """Issue a warning that points to the user's line."""
    warnings.warn(text, stacklevel=user_frame()[1])


def check_nan(node: Node, grads: Sequence[Any]) -> None:
    """Raise `RuntimeError` if one of the gradients that a node returned contains NaN."""
    # 10.5 Finding NaN (about 8 lines)
    # Look for NaN in the gradients that `node` returned. Raise RuntimeError with the text
    # RETURNED_NAN for the first gradient that contains NaN, whether it's an array or a
    # Tensor.
    #   check_nan(mul, (np.array([1.5, np.inf]), None))      -> passes, because inf is a value
    #   check_nan(mul, (None, np.array([2.5, np.nan, 3.5]))) -> RuntimeError with the text
    #     "Function 'MulBackward0' returned nan values in its 1th output.
    #     This gradient has the shape [3]; 1 of its 3 values are nan, the first at index [1]."
    # Mind:
    # - The position counts all gradients from 0, including missing ones.
    # Use: `floating_array(grad)`, `describe(mask)`; `backend_of(array).to_host(mask)`
    # returns a mask as a NumPy array.
    raise NotImplementedError("10.5 Finding NaN is yours to write")


def floating_array(grad: Any) -> Any:
    """Return a gradient's array, or `None` if it is missing or not floating point.

    >>> floating_array(np.array([1.5, 2.5])), floating_array(np.array([1, 2])), floating_array(None)
    (array([1.5, 2.5]), None, None)
    """
    array = grad._array if isinstance(grad, Tensor) else grad
    while isinstance(array, BatchedArray):
        array = array.inner  # a NaN in any example counts
    return None if array is None or array.dtype.kind != "f" else array


def describe(found: Any) -> str:
    """Describe where a gradient has NaN, given a mask of its NaN elements.

    >>> describe(np.array([[False, True], [True, True]]))
    'This gradient has the shape [2, 2]; 3 of its 4 values are nan, the first at index [0, 1].'
    """
    if not found.ndim:
        return "This gradient is a single number."
    first = [int(i) for i in np.unravel_index(int(found.argmax()), found.shape)]
    return (f"This gradient has the shape {list(found.shape)}; {int(found.sum())} of its "
            f"{found.size} values are nan, the first at index {first}.")


_state.anomaly.watched, _state.anomaly.check_gradients = watched, check_nan
