"""Functions of arrays for steps that are more than one call of an op's forward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...op.node import OpNode

Array = Any


def without_effects(run: Callable[..., Any], positions: tuple[int, ...]) -> Callable[..., Any]:
    """Return a forward that returns new arrays instead of writing to some of its arguments."""

    def call(xp: Any, *arrays: Any) -> list[Array]:
        copies = [a.copy("K") if i in positions else a for i, a in enumerate(arrays)]
        results = run(xp, *copies)
        results = results if isinstance(results, (list, tuple)) else [results]
        return [*map(xp.as_array, results), *(copies[i] for i in positions)]

    return call


def with_copies(run: Callable[..., Any], positions: tuple[int, ...]) -> Callable[..., Any]:
    """Return a forward that copies the results that share memory with an argument."""

    def call(xp: Any, *arrays: Any) -> list[Array]:
        results = list(map(xp.as_array, run(xp, *arrays)))
        return [r.copy("K") if i in positions else r for i, r in enumerate(results)]

    return call


class RunFormulas:
    """The formulas of a node as one function from arrays to the wanted gradients."""

    def __init__(self, op: Any, wanted: tuple[bool, ...], names: tuple[str, ...]) -> None:
        self.op = op
        self.wanted = wanted  # for each edge
        self.names = names  # of the arguments
        self.present: list[int] = []  # the edges for which a formula returned a gradient

    def __call__(self, xp: Any, *values: Any) -> list[Array]:
        node = KnownNode(self.op, self.wanted, dict(zip(self.names, values, strict=True)))
        results = node.run((), None, arrays=True)
        self.present = [i for i, (r, w) in enumerate(zip(results, self.wanted, strict=True))
                        if w and r is not None]
        return [xp.as_array(results[i]) for i in self.present]


class KnownNode(OpNode):
    """A node whose formulas run on given values, instead of the ones that a node saves."""

    def __init__(self, op: Any, wanted: Sequence[bool], known: dict[str, Any]) -> None:
        self.op = op
        self.edges = [(self if each else None, 0) for each in wanted]
        self.known = known

    def named_values(self, grads: Sequence[Any], arrays: bool) -> dict[str, Any]:
        """Return the given values."""
        return self.known
