"""The Kullback-Leibler divergence: the mean of log p(x) - log q(x) over samples x of p.

`register_kl` registers a function for a pair of classes; `kl_divergence` calls the one for the most
specific pair.  The modules `kl_same` and `kl_cross` register the built-in pairs.

Source: https://docs.pytorch.org/docs/stable/distributions.html#module-torch.distributions.kl
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..frames import warn_user

__all__ = ["kl_divergence", "register_kl"]

Divergence = Callable[[Any, Any], Any]

#: The registered functions, keyed by the classes of p and q.
REGISTRY: dict[tuple[type, type], Divergence] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Divergence], Divergence]:
    """Register a function that computes the divergence for two classes and their subclasses.

    Raises `TypeError` unless both arguments are classes.

    >>> from minigrad import zeros
    >>> from minigrad.distributions import Normal, kl_divergence, register_kl
    >>> class Point(Normal): pass
    >>> @register_kl(Point, Point)
    ... def nothing(p, q): return zeros(p.batch_shape)
    >>> kl_divergence(Point(0.0, 1.0), Point(1.0, 1.0))
    tensor(0.)
    """
    if not (isinstance(type_p, type) and isinstance(type_q, type)):
        raise TypeError("issubclass() arg 1 must be a class")  # PyTorch accepts any class too

    def give(function: Divergence) -> Divergence:
        REGISTRY[type_p, type_q] = function
        return function

    return give


def chosen(p: type, q: type) -> Divergence | None:
    """Return the function of the most specific matching pair, or `None`.

    If the pair nearest to p's class differs from the one nearest to q's, warns and returns the
    first.
    """
    found = [pair for pair in REGISTRY if issubclass(p, pair[0]) and issubclass(q, pair[1])]
    if not found:
        return None
    near = [(p.__mro__.index(a), q.__mro__.index(b)) for a, b in found]
    by_left = found[near.index(min(near))]
    by_right = found[near.index(min(near, key=lambda place: place[::-1]))]
    if REGISTRY[by_left] is not REGISTRY[by_right]:
        warn_user(f"Ambiguous kl_divergence({p.__name__}, {q.__name__}). Please register_kl("
                  f"{by_left[0].__name__}, {by_right[1].__name__})", RuntimeWarning)
    return REGISTRY[by_left]


def kl_divergence(p: Any, q: Any) -> Any:
    """Return the divergence KL(p || q), with the batch shape.

    Raises `NotImplementedError` if no function is registered for the two classes.

    >>> from minigrad.distributions import Normal
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    function = chosen(type(p), type(q))
    if function is None:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} "
                                  f"and q type {type(q).__name__}")
    return function(p, q)
