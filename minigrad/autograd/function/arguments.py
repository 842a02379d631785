"""The arguments of `Function.apply` in the order of `forward`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any

Args = tuple[Any, ...]
KEYWORD_KINDS = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)


@lru_cache(maxsize=256)
def signature_of(forward: Callable[..., Any]) -> inspect.Signature:
    """Return a cached signature, since computing it costs more than running most Functions."""
    return inspect.signature(forward)


def with_defaults(forward: Callable[..., Any], args: Args, kwargs: dict[str, Any]
                  ) -> tuple[Args, dict[str, Any]]:
    """Bind arguments to a `forward` without `ctx`, with defaults, since `setup_context` needs them.

    >>> with_defaults(lambda x, y=3: None, (1,), {})
    ((1, 3), {})
    """
    bound = signature_of(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


def by_position(forward: Callable[..., Any], args: Args, kwargs: dict[str, Any]) -> Args:
    """Append keyword arguments to the positional ones, since `backward` numbers all inputs.

    >>> by_position(lambda ctx, x, y=None: None, (1,), {"y": 2})
    (1, 2)
    """
    parameters = list(signature_of(forward).parameters.values())[1:]
    names = [p.name for p in parameters if p.kind not in KEYWORD_KINDS]
    for name in kwargs:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if name in names[:len(args)]:
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    rest = names[len(args) : 1 + max(map(names.index, kwargs))]
    for position, name in enumerate(rest, len(args)):
        if name not in kwargs:
            raise TypeError(f"forward() missing required argument: '{name}' (position {position})")
    return (*args, *[kwargs[name] for name in rest])
