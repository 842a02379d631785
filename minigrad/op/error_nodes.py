"""The nodes of operations that have no formula, and yet a place in the graph.

NOTE [Writes that are broken off]
    Between the write to memory and the new history lie some microseconds in which Ctrl-C, a lack
    of memory or a user's hook may raise.  The values are then new, or half new, and the history
    is old: its gradient would be wrong without an error.  So the tensor's history becomes an
    `InterruptedWrite`, which raises in backward; the write is counted, so tensors saved before it
    raise too.  If nothing was written yet, nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..backend import backend_of
from ..graph.node import NaryNode, Node, assign_sequence_nr
from ..tensor.tensor import Tensor

if TYPE_CHECKING:
    from .declaration import Op

Array = Any


class NotImplemented_(NaryNode):
    """The node of an operation that PyTorch cannot differentiate: backward through it raises."""

    def __init__(self, op: type[Op]) -> None:
        super().__init__()
        reason = op.not_implemented_derivative
        self.message = reason if isinstance(reason, str) else (
            f"derivative for aten::{op.name} is not implemented")

    def name(self) -> str:
        return "NotImplemented"

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        raise RuntimeError(self.message)

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        raise RuntimeError(self.message)


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
        return [zeros] * len(self.edges)

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        (g,) = grads
        zeros = None if g is None else Tensor._plain(backend_of(g._array).zeros(
            g._array.shape, g._array.dtype))
        return [zeros] * len(self.edges)


class InterruptedWrite(NaryNode):
    """The node of a write that was broken off: backward through it raises."""

    def __init__(self, what: str, error: BaseException) -> None:
        super().__init__()
        self.extras, self.sequence = None, 1 << 61  # it raises as soon as it can
        self.message = (
            f"a write in place by {what} was broken off by {type(error).__name__}: the values of "
            "this tensor are not known to be what its history says, so there is no gradient "
            "through it. Make it anew; or, where its values may stay as they are, detach_() it.")

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        raise RuntimeError(self.message)

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        raise RuntimeError(self.message)


def poison_history(target: Tensor, recorded: bool, inputs: Sequence[Any], what: str,
              error: BaseException, counted: bool = False) -> None:
    """Count a write that was broken off and, if it was `recorded`, refuse gradients through it.

    See NOTE [Writes that are broken off]; `inputs` are what the write depended on, and `what` says
    which write it was.  A write may have been `counted` already.
    """
    if not counted:
        target._bump()
    if not recorded:
        return
    base = target if target._view is None else target._view.base
    if base._requires_grad and base._node is None:  # a leaf has no history that could be wrong
        return
    node = InterruptedWrite(what, error)
    node.shape, node.dtype = base._array.shape, base._array.dtype
    tensors = [target, *(t for t in inputs if isinstance(t, Tensor))]
    sources = [t if t._view is None else t._view.base for t in tensors]  # asking a view may raise
    node.set_edges([t._edge() for t in sources if t._requires_grad])
    base._node, base._index, base._requires_grad = node, 0, True


def node_without_formula(op: type[Op], values: list[Any]) -> Node:
    """Make the node for an op without formulas; the caller has seen that one is needed."""
    node: NaryNode = (
        NotImplemented_(op) if op.not_implemented_derivative else Constant(op.node_type.__name__))
    node.extras = None
    if op.not_implemented_derivative:
        node.sequence = 1 << 61  # it raises as soon as it can
    else:
        assign_sequence_nr(node)  # anomaly mode notes here who made it
    tensors = [values[i] for i in op.tensor_positions]
    node.set_edges([t._edge() if isinstance(t, Tensor) and t.requires_grad else (None, 0)
                    for t in tensors])
    return node
