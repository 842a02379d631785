"""Keeps the program's NumPy settings away from the work of operations.

NOTE [No warnings for infinities and NaN]
    PyTorch computes `1 / 0` and `exp(1000)` silently.  NumPy warns, raises, prints or calls a
    function, whichever the program that imports us has chosen with `np.seterr`, and Python may turn
    a warning into an error.  So each op sets NumPy's settings to "ignore" while it computes, and a
    backward pass does so once for all its nodes.  User code that runs in between, such as a hook or
    the `backward` of a Function, gets the program's settings back.

    `np.errstate` does the same, but entering and leaving it takes as long as two small products.
    It keeps the settings in a context variable, which we set and reset in a fifth of that time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np
from numpy._core import umath

__all__ = ["IGNORED", "ignoring_float_errors", "reset_float_errors", "set_float_errors",
           "starts_a_pass", "under_callers_settings"]

F = TypeVar("F", bound=Callable[..., Any])

#: The settings of a program that has not changed them.
DEFAULTS = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


def access_to_settings(umath: Any) -> tuple[Callable[..., Any], ...]:
    """Return functions that set NumPy's settings, reset them, and make a value to set.

    The first returns what the second expects.  Without NumPy's variable, both are slower.
    """
    if not hasattr(umath, "_extobj_contextvar"):
        return lambda new: np.seterr(**new), lambda old: np.seterr(**old), dict
    return umath._extobj_contextvar.set, umath._extobj_contextvar.reset, umath._make_extobj


set_float_errors, reset_float_errors, settings = access_to_settings(umath)
#: The settings under which operations compute.
IGNORED = settings(**dict.fromkeys(DEFAULTS, "ignore"))
#: The settings of the program that started the backward pass on this thread, if one is running.
callers: ContextVar[Any] = ContextVar("callers", default=None)


def ignoring_float_errors(function: F) -> F:
    """Make a function compute infinities and NaN silently under any settings of NumPy.

    >>> ignoring_float_errors(np.divide)(1.0, 0.0).item()
    inf
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        before = set_float_errors(IGNORED)
        try:
            return function(*args, **kwargs)
        finally:
            reset_float_errors(before)

    return call  # type: ignore[return-value]  # it has the same signature


def starts_a_pass(function: F) -> F:
    """Do the same for a backward pass, and remember the settings for user code that runs in it."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        before = set_float_errors(IGNORED)
        outer = callers.set(settings_in(before))
        try:
            return function(*args)
        finally:
            callers.reset(outer)
            reset_float_errors(before)

    return call  # type: ignore[return-value]  # it has the same signature


def settings_in(before: Any) -> Any:
    """Return the settings that `set_float_errors` has replaced, from what it returned."""
    replaced = getattr(before, "old_value", before)  # of a token
    return settings(**DEFAULTS) if replaced is getattr(before, "MISSING", None) else replaced


def under_callers_settings(function: F) -> F:
    """Run user code with the program's own settings if a backward pass calls it."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        own = callers.get()
        if own is None:
            return function(*args, **kwargs)
        before = set_float_errors(own)
        try:
            return function(*args, **kwargs)
        finally:
            reset_float_errors(before)

    return call  # type: ignore[return-value]  # it has the same signature
