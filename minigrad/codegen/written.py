"""Functions whose code is generated when they are first called.

It takes about 0.3 ms to generate and compile a function, and a program uses few of the 380
operations.  Therefore each function starts as a copy of `unwritten`.  Its first call generates the
text, compiles it and replaces the function's `__code__`, so that every reference to the function
runs the new code.  Debuggers, tracebacks and `inspect.getsource` find the text in `linecache`.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable
from threading import RLock
from types import CodeType, FunctionType
from typing import Any

Function = Callable[..., Any]

#: The folder in the paths of generated texts, because debuggers expect an absolute path.
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "<generated>")

_lock = RLock()


# On one line, so that a traceback shows the first line of the text for it.
def unwritten(*args: Any, **kwargs: Any) -> Any: return write_and_call(*args, **kwargs)  # type: ignore[name-defined] # noqa: F821 # a global of its own


class Text:
    """The source of one function, and its global names."""

    def __init__(self, source: str, names: dict[str, Any]) -> None:
        self.source, self.names = source, names


def unused(filename: str) -> str:
    """Return an unused path for a text, with a number if needed, because ops may share a name."""
    path = first = os.path.join(FOLDER, filename)
    number = 1
    while path in linecache.cache:
        number += 1
        path = f"{first} {number}"
    return path


class Written:
    """A function whose text is generated at its first call.

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
        """Generate the function, unless another thread has done so meanwhile, and call it."""
        with _lock:
            if self.function.__code__ is self.start:
                self.compile(self.write())
        return self.function(*args, **kwargs)

    def compile(self, text: Text) -> None:
        """Compile a text into the function; set the code last, as other threads may call it."""
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
        """Return the text, which is generated now if it is not yet."""
        return "".join(linecache.getlines(self.filename))

    def forget(self) -> None:
        """Discard the text after a change of the declaration; the next call generates it again."""
        with _lock:
            self.function.__code__ = self.start
            lazily: Any = (lambda: self.write().source,)
            linecache.cache[self.filename] = lazily
