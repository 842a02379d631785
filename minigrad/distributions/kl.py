"""The Kullback-Leibler divergence: the mean of log p(x) - log q(x) over samples x of p.

`register_kl` takes a function for a pair of classes; the most specific pair serves.  The pairs
are in `kl_same` and `kl_cross`.

Source: https://docs.pytorch.org/docs/stable/distributions.html#module-torch.distributions.kl
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

__all__ = ["kl_divergence", "register_kl"]

Divergence = Callable[[Any, Any], Any]

#: The functions, by the classes of p and q.
REGISTRY: dict[tuple[type, type], Divergence] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Divergence], Divergence]:
    """Register a function for the divergence of a pair of classes, and of their subclasses.

    TypeError unless both are classes.

    >>> from minigrad import zeros
    >>> from minigrad.distributions import Normal, kl_divergence, register_kl
    >>> class Point(Normal): pass
    >>> @register_kl(Point, Point)
    ... def nothing(p, q): return zeros(p.batch_shape)
    >>> kl_divergence(Point(0.0, 1.0), Point(1.0, 1.0))
    tensor(0.)
    """
    if not (isinstance(type_p, type) and isinstance(type_q, type)):
        raise TypeError("issubclass() arg 1 must be a class")  # PyTorch takes any class

    def give(function: Divergence) -> Divergence:
        REGISTRY[type_p, type_q] = function
        return function

    return give


def chosen(p: type, q: type) -> Divergence | None:
    """Return the function of the most specific pair, that nearest to p's class; None if none."""
    found = [pair for pair in REGISTRY if issubclass(p, pair[0]) and issubclass(q, pair[1])]
    if not found:
        return None
    near = [(p.__mro__.index(a), q.__mro__.index(b)) for a, b in found]
    by_left = found[near.index(min(near))]
    by_right = found[near.index(min(near, key=lambda place: place[::-1]))]
    if REGISTRY[by_left] is not REGISTRY[by_right]:
        warnings.warn(f"Ambiguous kl_divergence({p.__name__}, {q.__name__}). Please register_kl("
                      f"{by_left[0].__name__}, {by_right[1].__name__})", RuntimeWarning,
                      stacklevel=3)
    return REGISTRY[by_left]


def kl_divergence(p: Any, q: Any) -> Any:
    """Return the divergence of p from q, of the shape of their batch.

    `NotImplementedError` for a pair that nothing is registered for.

    >>> from minigrad.distributions import Normal
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    function = chosen(type(p), type(q))
    if function is None:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} "
                                  f"and q type {type(q).__name__}")
    return function(p, q)
