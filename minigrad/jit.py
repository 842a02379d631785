"""`torch.jit`: annotations for programs that TorchScript could compile; they run as written.

`script` returns its argument. minigrad does not trace, save or load scripts, and leaves out these
names.

Source: https://docs.pytorch.org/docs/stable/jit.html
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from typing import Any, Final, Union, get_args, get_origin

from .compat import attribute
from .frames import warn_user
from .futures import Future

__all__ = ["Final", "Future", "annotate", "export", "fork", "ignore", "interface", "is_scripting",
           "is_tracing", "isinstance", "script", "script_if_tracing", "script_method", "unused",
           "wait"]

__path__: list[str] = []  # for modules below it that are left out
del annotations  # one of these modules has this name

_is = isinstance
UNIONS = (Union, types.UnionType)
#: Container types without the type of their items, and their names.
WITHOUT_INNER: dict[Any, str] = {
    list: "list", dict: "dict", tuple: "tuple",
    **{getattr(typing, name): name for name in ("List", "Dict", "Tuple", "Optional")}}


def script(obj: Any = None, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None,
           example_inputs: Any = None) -> Any:
    """Return `obj` unchanged, with a warning. Source: `torch.jit.script`.

    >>> import warnings
    >>> import minigrad as torch
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     torch.jit.script(torch.exp) is torch.exp
    True
    """
    warn_user("torch.jit.script: minigrad does not compile, so it returns its argument",
              UserWarning)
    return obj


def _overload(func: Any) -> Any:
    """Return `func`, a declaration of types for the compiler."""
    return func


def _overload_method(func: Any) -> Any:
    """Return `func`, a declaration of a method's types for the compiler."""
    return func


def script_if_tracing(fn: Any) -> Any:
    """Return `fn`, since minigrad does not trace. Source: `torch.jit.script_if_tracing`."""
    return fn


def script_method(fn: Any) -> Any:
    """Return `fn`, a method, since minigrad does not compile."""
    return fn


def ignore(drop: Any = False, **options: Any) -> Any:
    """Return the annotated function, or a decorator that does. Source: `torch.jit.ignore`.

    Raises `RuntimeError` unless the argument is a function or a bool.

    >>> import minigrad as torch
    >>> @torch.jit.ignore
    ... def double(x): return 2 * x
    >>> double(2)
    4
    """
    if callable(drop):
        return drop
    if not _is(drop, bool):
        raise RuntimeError("Argument to @torch.jit.ignore must be a bool or a function but got "
                           f"{drop}")
    return lambda fn: fn


def unused(fn: Any) -> Any:
    """Return `fn`, an annotation for the compiler. Source: `torch.jit.unused`."""
    return fn


def export(fn: Any) -> Any:
    """Return `fn`, an annotation for the compiler. Source: `torch.jit.export`."""
    return fn


def interface(obj: Any) -> Any:
    """Return `obj`, a class: an annotation for the compiler."""
    return obj


def is_scripting() -> bool:
    """Return False, since minigrad does not compile. Source: `torch.jit.is_scripting`.

    >>> import minigrad as torch
    >>> torch.jit.is_scripting()
    False
    """
    return False


def is_tracing() -> bool:
    """Return False, since minigrad does not trace. Source: `torch.jit.is_tracing`."""
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return the value and ignore the type. Source: `torch.jit.annotate`.

    >>> import minigrad as torch
    >>> torch.jit.annotate(list[int], [])
    []
    """
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Return whether `obj` has a type, or one of several; checks lists, dicts and tuples inside.

    Warns about an empty container, whose inner type is unknown. Raises `RuntimeError` for a
    container type without an inner type. Source: `torch.jit.isinstance`.

    >>> import minigrad as torch
    >>> torch.jit.isinstance([1, 2], list[int]), torch.jit.isinstance({"a": 1}, dict[str, str])
    (True, False)
    """
    if _is(target_type, tuple):
        return any(isinstance(obj, one) for one in target_type)
    if target_type in WITHOUT_INNER:
        name = WITHOUT_INNER[target_type]
        without, add, example = ("contained types", "contained type", "int, int") if (
            name in ("dict", "Dict")) else ("a contained type", "a contained type", "int")
        raise RuntimeError(f"Attempted to use {name} without {without}. Please add {add}, e.g. "
                           f"{name}[{example}]")
    origin, inner = get_origin(target_type), get_args(target_type)
    if origin is None:
        return _is(obj, target_type)
    if origin in UNIONS:
        return obj is None or any(isinstance(obj, one) for one in inner)
    if not _is(obj, origin):
        return False
    if not obj:
        warn_user("The inner type of a container is lost when calling torch.jit.isinstance in "
                  "eager mode. For example, List[int] would become list and therefore falsely "
                  "return True for List[float] or List[str].")
    if origin is dict:
        key, value = inner
        return all(isinstance(k, key) and isinstance(v, value) for k, v in obj.items())
    if origin is tuple:
        return len(obj) == len(inner) and all(map(isinstance, obj, inner))
    return all(isinstance(one, inner[0]) for one in obj)


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """Run a function immediately, and return a future of its result, as PyTorch outside scripts."""
    future: Future[Any] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future[Any]) -> Any:
    """Return the result of a future."""
    return future.wait()


def __getattr__(name: str) -> Any:
    return attribute(__name__, name)
