"""Names of tensors and nodes in pictures, from the caller or else from the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from weakref import ref

from ..graph.node import Node
from ..tensor.tensor import Tensor

GivenNames = Mapping[str, Any] | Iterable[tuple[str, Any]]


class Names:
    """The caller's names of leaves and results; values that are not tensors are ignored.

    >>> from minigrad import tensor
    >>> w = tensor([1.0], requires_grad=True)
    >>> names = Names({"w": w, "rate": 0.1})
    >>> names.leaf(w), names.label(w.exp().grad_fn)[:12]
    ('w', 'ExpBackward ')
    """

    def __init__(self, given: GivenNames | None = None) -> None:
        self._leaves: dict[int, tuple[ref[Any], str]] = {}  # weak: a picture keeps no tensor alive
        self._results: dict[tuple[Node, int], str] = {}
        for name, tensor in dict(given or {}).items():
            if not is_tensor(tensor):
                continue
            if tensor.grad_fn is None:
                self._leaves.setdefault(id(tensor), (ref(tensor), str(name)))
            else:
                self._results.setdefault((tensor.grad_fn, tensor.output_nr), str(name))

    def leaf(self, tensor: Tensor) -> str:
        """Return the name of a leaf: the caller's, its own, or an empty string."""
        known, name = self._leaves.get(id(tensor), (None, ""))
        return name if known is not None and known() is tensor else tensor.name or ""

    def result(self, tensor: Tensor) -> str:
        """Return the name of a result, or "result"."""
        if tensor.grad_fn is None:
            return self.leaf(tensor) or "result"
        return self._results.get((tensor.grad_fn, tensor.output_nr), "result")

    def of_outputs(self, node: Node) -> list[str]:
        """Return the names of the results of a node's operation, by output number."""
        found = [(index, name) for (other, index), name in self._results.items() if other is node]
        return [name for _, name in sorted(found)]

    def label(self, node: Node) -> str:
        """Return a node's text: its name, its number and the name of its result."""
        variable = getattr(node, "variable", None)
        if variable is not None:
            return " ".join(filter(None, (node.name(), self.leaf(variable), shape_text(variable))))
        called = (f"= {name}" for name in self.of_outputs(node))
        return " ".join([node.name(), f"#{node._sequence_nr()}", *called])

    def saved(self, name: str, tensor: Tensor | None) -> str:
        """Return a line about a saved tensor, with its name if it has one."""
        if tensor is None:
            return f"saved {name}: freed"
        known = self.leaf(tensor) if tensor.grad_fn is None else self._results.get(
            (tensor.grad_fn, tensor.output_nr), "")
        called = f" = {known}" if known else ""
        dtype = str(tensor.dtype).removeprefix("torch.")
        return f"saved {name}{called} {shape_text(tensor)} {dtype}"


def is_tensor(value: Any) -> bool:
    """Return whether `value` is a tensor that can be in a graph."""
    return hasattr(value, "grad_fn") and hasattr(value, "output_nr")


def shape_text(tensor: Any) -> str:
    """Return a shape as a plain tuple."""
    return str(tuple(tensor.shape))
