"""Functions whose text is written when they are first called.

Writing and compiling one takes about 0.3 ms, and a program uses few of the 380 operations.  So
each function begins as `unwritten`, whose first call writes the text, compiles it and puts the
code into the function itself, so every reference to the function runs it.  A debugger, a
traceback and `inspect.getsource` find the text in `linecache`.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable
from threading import RLock
from types import CodeType, FunctionType
from typing import Any

Function = Callable[..., Any]

#: The folder that generated texts seem to be in; debuggers expect a whole path.
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "<generated>")

_lock = RLock()


# On one line, so that a traceback shows the first line of the text for it.
def unwritten(*args: Any, **kwargs: Any) -> Any: return write_and_call(*args, **kwargs)  # type: ignore[name-defined] # noqa: F821 # a global of its own


class Text:
    """The source of one function, and its global names."""

    def __init__(self, source: str, names: dict[str, Any]) -> None:
        self.source, self.names = source, names


def unused(filename: str) -> str:
    """Return a path for a text; numbered if it is taken, because ops may share a name."""
    path = first = os.path.join(FOLDER, filename)
    number = 1
    while path in linecache.cache:
        number += 1
        path = f"{first} {number}"
    return path


class Written:
    """One function: the text that it has, or that it will get at its first call.

    >>> made = Written("double", "doubling.py", lambda: Text("def double(x): return 2 * x", {}))
    >>> made.function(4), made.source()
    (8, 'def double(x): return 2 * x')
    """

    def __init__(self, name: str, filename: str, write: Callable[[], Text]) -> None:
        self.name, self.filename, self.write = name, unused(filename), write
        self.start: CodeType = unwritten.__code__.replace(
            co_name=name, co_qualname=name, co_filename=self.filename, co_firstlineno=1)
        names = {"write_and_call": self, "__name__": __name__}  # the latter for `frames.is_ours`
        self.function: Any = FunctionType(self.start, names, name)
        self.forget()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Write the function, unless another thread did meanwhile, and call it."""
        with _lock:
            if self.function.__code__ is self.start:
                self.compile(self.write())
        return self.function(*args, **kwargs)

    def compile(self, text: Text) -> None:
        """Compile a text into the function; the code is set last, as other threads may call it."""
        linecache.cache[self.filename] = (len(text.source), None,
                                          text.source.splitlines(keepends=True), self.filename)
        made: dict[str, Any] = {}
        names = self.function.__globals__
        names.update(text.names)
        exec(compile(text.source, self.filename, "exec", dont_inherit=True), names, made)
        (function,) = made.values()
        self.function.__defaults__ = function.__defaults__
        self.function.__kwdefaults__ = function.__kwdefaults__
        self.function.__code__ = function.__code__

    def source(self) -> str:
        """Return the text, written now if it is not yet."""
        return "".join(linecache.getlines(self.filename))

    def forget(self) -> None:
        """Drop the text, because its declaration has changed; the next call writes it anew."""
        with _lock:
            self.function.__code__ = self.start
            lazily: Any = (lambda: self.write().source,)
            linecache.cache[self.filename] = lazily
