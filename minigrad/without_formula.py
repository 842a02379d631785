"""The nodes of operations that have no formula, and yet a place in the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._state import number
from .backend import backend_of
from .graph import NaryNode, Node
from .tensor import Tensor

if TYPE_CHECKING:
    from .op import Op

Array = Any


class NotImplemented_(NaryNode):
    """The node of an operation that PyTorch cannot differentiate: backward through it raises."""

    def __init__(self, op_name: str) -> None:
        super().__init__()
        self.op_name = op_name

    def name(self) -> str:
        return "NotImplemented"

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        raise RuntimeError(f"derivative for aten::{self.op_name} is not implemented")

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        raise RuntimeError(f"derivative for aten::{self.op_name} is not implemented")


class Constant(NaryNode):
    """The node of a write of values that no longer depend on anything, such as `eq_`."""

    def __init__(self, shown_as: str) -> None:
        super().__init__()
        self.shown_as = shown_as

    def name(self) -> str:
        return self.shown_as

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        (g,) = grads
        zeros = None if g is None else backend_of(g).zeros(g.shape, g.dtype)
        return [zeros] * len(self.edge_list)

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        (g,) = grads
        zeros = None if g is None else Tensor._plain(backend_of(g._array).zeros(
            g._array.shape, g._array.dtype))
        return [zeros] * len(self.edge_list)


def node_without_formula(op: type[Op], values: list[Any]) -> Node:
    """Make the node for an op without formulas; the caller has seen that one is needed."""
    node: NaryNode
    if op.underivable:
        node = NotImplemented_(op.name)
        node.sequence = 1 << 61  # it raises as soon as it can
    else:
        node = Constant(op.node_type.__name__)
        number(node)
    node.extras = None
    tensors = [values[i] for i in op.tensor_positions]
    node.set_edges([t._edge() if isinstance(t, Tensor) and t.requires_grad else (None, 0)
                    for t in tensors])
    return node
