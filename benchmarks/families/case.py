"""What a family draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

__all__ = ["Case", "Step", "gradients"]

#: Does the work once and returns a tensor or number; both libraries must agree on its size.
Step = Callable[[], Any]


class Case(NamedTuple):
    """Work that was drawn: what to call it, and how to prepare it for a library."""

    title: str
    build: Callable[[Any], Step]


def gradients(torch: Any, forward: Callable[[], Any], inputs: Sequence[Any]) -> Step:
    """Return a step that runs a function and its backward pass, for a random gradient.

    The step returns the first input's gradient.
    """
    result = forward().detach()
    weights = torch.randn(result.shape, dtype=result.dtype)
    return lambda: torch.autograd.grad(forward(), inputs, weights)[0]
