"""`torch.compile` and its annotations: minigrad does not compile, so programs run as written.

Source: https://docs.pytorch.org/docs/stable/torch.compiler_api.html
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from .compat import attribute

__all__ = ["allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin",
           "disable", "is_compiling", "is_dynamo_compiling", "is_exporting", "list_backends",
           "nested_compile_region", "reset", "set_stance", "substitute_in_graph"]

#: Backends that do not compile in PyTorch either.
EAGER = ("eager", "eager_noexcept", "eager_debug")


def compile(model: Any = None, *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: Any = "inductor", mode: str | None = None, options: Any = None,
            disable: bool = False, **further: Any) -> Any:
    """Return `model` unchanged, with a warning; without a model, return a decorator.

    There is no warning with `disable=True` or the backend "eager". Raises `RuntimeError` if both
    `mode` and `options` are given. Source: `torch.compile`.

    >>> import minigrad as torch
    >>> torch.compile(torch.exp, backend="eager") is torch.exp
    True
    """
    if model is None:
        return lambda given: compile(given, backend=backend, mode=mode, options=options,
                                     disable=disable)
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified "
                           "at the same time.")
    if not disable and backend not in EAGER:
        warnings.warn("torch.compile: minigrad does not compile, so it returns its argument",
                      UserWarning, stacklevel=2)
    return model


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return `fn`, or a decorator that returns its function. Source: `torch.compiler`."""
    return unchanged if fn is None else fn


def unchanged(fn: Any) -> Any:
    """Return `fn`."""
    return fn


def allow_in_graph(fn: Any) -> Any:
    """Return `fn`, an annotation for the compiler. Source: `torch.compiler.allow_in_graph`."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """Return `fn`; it annotates code for the compiler. Source: `torch.compiler`."""
    return fn


def nested_compile_region(fn: Any = None, **options: Any) -> Any:
    """Return `fn`, or a decorator that returns its function: an annotation for the compiler."""
    return unchanged if fn is None else fn


def substitute_in_graph(original_fn: Any, *, can_constant_fold_through: bool = False,
                        skip_signature_check: bool = False) -> Callable[[Any], Any]:
    """Return a decorator that returns its function: an annotation for the compiler."""
    return unchanged


def reset() -> None:
    """Do nothing, since there is no compiled code. Source: `torch.compiler.reset`."""


def cudagraph_mark_step_begin() -> None:
    """Do nothing. Source: `torch.compiler.cudagraph_mark_step_begin`."""


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """Return an empty list: there are no compilers. Source: `torch.compiler.list_backends`."""
    return []


def set_stance(stance: str = "default", **options: Any) -> contextlib.AbstractContextManager[None]:
    """Choose how compiled code runs. It has no effect, and is also a context manager."""
    return _nothing()


@contextlib.contextmanager
def _nothing() -> Iterator[None]:
    yield


def is_compiling() -> bool:
    """Return False, since minigrad does not compile. Source: `torch.compiler.is_compiling`.

    >>> import minigrad as torch
    >>> torch.compiler.is_compiling()
    False
    """
    return False


def is_dynamo_compiling() -> bool:
    """Return False: minigrad does not compile. Source: `torch.compiler.is_dynamo_compiling`."""
    return False


def is_exporting() -> bool:
    """Return False, since minigrad does not export. Source: `torch.compiler.is_exporting`."""
    return False


def __getattr__(name: str) -> Any:
    return attribute(__name__, name)
