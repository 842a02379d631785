"""Print the warnings and the error of failing code, without what differs between machines."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

__all__ = ["print_failure"]

#: A frame of a traceback: its location, and the code below it.
_FRAME = re.compile(r'  File ".*", line \d+, in (.+)\n((?:    .*\n?)*)')


def print_failure(function: Callable[[], object], *names: str) -> None:
    """Run a function that fails; print its warnings, then its error.

    Tracebacks in the warnings show the lines of the functions called `names`, without file paths.
    If `function` does not raise, raises AssertionError.

    >>> def late():
    ...     warnings.warn('Traceback:\\n  File "/a/b.py", line 3, in late\\n    x.sqrt()\\n')
    ...     raise ValueError("too late")
    >>> print_failure(late, "late")
    Traceback:
      File ..., line ..., in late
        x.sqrt()
    ValueError: too late
    """
    error: Exception | None = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            function()
        except Exception as problem:
            error = problem
    for text in dict.fromkeys(str(each.message) for each in caught):
        print(_FRAME.sub(lambda frame: _shortened(frame, names), text).rstrip("\n"))
    assert error is not None, f"{function.__name__} did not raise"
    print(f"{type(error).__name__}: {error}")


def _shortened(frame: re.Match[str], names: tuple[str, ...]) -> str:
    function, code = frame.groups()
    if function not in names:
        return ""
    return f"  File ..., line ..., in {function}\n{code}"
