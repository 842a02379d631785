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
    mode = _state.anomaly
    if enabled and not mode.enabled:
        _state.observers.enter(remember_origin)
    elif mode.enabled and not enabled:
        _state.observers.leave(remember_origin)
    mode.enabled, mode.check_nan = enabled, check_nan


class _Restored:
    """Base that stores the current mode in `prev` and `prev_check_nan`, and restores it on exit."""

    def __init__(self) -> None:
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()

    def __enter__(self) -> None:
        """Do nothing: `set_detect_anomaly` has switched the mode already."""

    def __exit__(self, *exc: object) -> None:
        set_anomaly_enabled(self.prev, self.prev_check_nan)


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
        super().__init__()
        set_anomaly_enabled(mode, check_nan)


# -------------------------------------------------------------------- called by the engine


def remember_origin(node: Node) -> None:
    """Store the user's call stack in a new node, and the node being evaluated as its parent.

    `metadata[TRACEBACK]` is a list of strings from `traceback.format_stack` that ends with the
    user's line. `metadata[PARENT]` is missing if no node is being evaluated.
    """
    frame, _ = user_frame()
    node.metadata[TRACEBACK] = traceback.format_stack(frame)
    parent = _evaluating.get()
    if parent is not None:
        node.metadata[PARENT] = parent


def watched(evaluate: Callable[[Node, Any], None]) -> Callable[[Node, Any], None]:
    """Wrap a function of (node, buffer) so that it reports the node's origin if it fails."""

    def call(node: Node, buffer: Any) -> None:
        outer = _evaluating.get()
        try:
            _evaluating.set(node)
            evaluate(node, buffer)
        except Exception:
            warn_of_origin(node)
            raise
        finally:
            _evaluating.set(outer)

    return call


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
    trace = _trace(node)
    if not trace:
        _warn(NO_TRACE.format(name=node.name()))
        return
    _warn(CAUSED.format(name=node.name(), trace=trace))
    parent = node.metadata.get(PARENT)
    while parent is not None:
        _warn(INDUCED.format(name=parent.name(), trace=_trace(parent) or MADE_WHILE_OFF))
        parent = parent.metadata.get(PARENT)


def _trace(node: Node) -> str:
    """Return the call stack that a node stores as one string, perhaps empty."""
    return "".join(node.metadata.get(TRACEBACK, ()))


def _warn(text: str) -> None:
    """Issue a warning that points to the user's line."""
    warnings.warn(text, stacklevel=user_frame()[1])


def check_nan(node: Node, grads: Sequence[Any]) -> None:
    """Raise `RuntimeError` if one of the gradients that a node returned contains NaN."""
    for position, grad in enumerate(grads):
        array = floating_array(grad)
        if array is None:
            continue
        found = backend_of(array).to_host(array != array)
        if found.any():
            raise RuntimeError(RETURNED_NAN.format(
                name=node.name(), position=position, where=describe(found)))


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
