"""Traversal of a recorded graph from its results to its leaves, and access to saved tensors.

It uses only attributes that PyTorch's nodes have as well: `next_functions`, `_saved_*`,
`saved_tensors`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..graph.node import Node
from ..tensor.tensor import Tensor
from .names import is_tensor


def root_nodes(tensors: Iterable[Tensor]) -> list[Node]:
    """Return the node at which the gradient of each tensor enters the graph.

    Raises `ValueError` for a tensor that does not require grad, because it has no graph.
    """
    roots = []
    for tensor in tensors:
        node = tensor.grad_fn if tensor.grad_fn is not None else tensor._edge()[0]
        if node is None:
            raise ValueError(
                "this tensor has no graph: it does not require grad, so nothing was recorded"
            )
        roots.append(node)
    return roots


def walk(roots: Sequence[Node]) -> Iterator[Node]:
    """Yield each node that is reachable from `roots` once, nearest first.

    >>> from minigrad import tensor
    >>> x = tensor(2.0, requires_grad=True)
    >>> [node.name() for node in walk([(x * x).exp().grad_fn])]
    ['ExpBackward', 'MulBackward0', 'AccumulateGrad']
    """
    level: list[Node] = list(dict.fromkeys(roots))
    seen = set(level)
    while level:
        following: list[Node] = []
        for node in level:
            yield node
            for successor, _ in node.next_functions:
                if successor is not None and successor not in seen:
                    seen.add(successor)
                    following.append(successor)
        level = following


def node_saves(node: Node) -> dict[str, Any]:
    """Return the values that a node saved for backward by name, with `None` for freed ones.

    >>> from minigrad import tensor
    >>> node_saves(tensor(1.0, requires_grad=True).exp().grad_fn)
    {'result': tensor(2.7183, grad_fn=<ExpBackward>)}
    """
    found: dict[str, Any] = {}
    for attribute in dir(node):
        if attribute != "saved_tensors" and not attribute.startswith("_saved"):
            continue
        if attribute in ("_saved", "_saved_tensors"):
            continue
        try:
            value = getattr(node, attribute)
        except RuntimeError:  # freed by a backward pass, or overwritten
            found[attribute.removeprefix("_saved_")] = None
            continue
        several = isinstance(value, tuple | list)
        for number, item in enumerate(value if several else (value,)):
            if is_tensor(item):
                suffix = f"[{number}]" if several else ""
                found[attribute.removeprefix("_saved_") + suffix] = item
    return found


def saved_tensors(tensors: Tensor | Iterable[Tensor]) -> list[Tensor]:
    """Return the tensors that the graph of `tensors` keeps alive, each memory once.

    They include parameters and inputs that a node saved. A tensor that does not require grad has no
    graph and keeps no tensor alive.

    >>> from minigrad import tensor
    >>> x = tensor([1.0, 2.0], requires_grad=True)
    >>> sum(t.nbytes for t in saved_tensors(x.exp().sum()))
    8
    """
    roots = root_nodes(t for t in as_list(tensors) if t.requires_grad)
    largest: dict[int, Tensor] = {}
    for node in walk(roots):
        for tensor in node_saves(node).values():
            if tensor is not None:
                known = largest.get(tensor.data_ptr())
                if known is None or known.nbytes < tensor.nbytes:
                    largest[tensor.data_ptr()] = tensor
    return list(largest.values())


def as_list(tensors: Tensor | Iterable[Tensor]) -> list[Tensor]:
    """Return one tensor or several as a list, since iterating over a tensor yields its rows."""
    several: Any = (tensors,) if is_tensor(tensors) else tensors
    return list(several)
