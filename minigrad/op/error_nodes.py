"""Nodes for operations without a formula that still have to appear in the graph.

NOTE [Interrupted writes]
    A few microseconds pass between an in-place write and the update of the tensor's history.  If
    Ctrl-C, a lack of memory or a user's hook interrupts them, the values are new, at least in part,
    while the history is old, and backward would silently return a wrong gradient.  Therefore the
    tensor's history becomes an `InterruptedWrite`, which raises in backward.  The write is also
    counted, so that tensors saved before it raise.  If the interruption happens before the write,
    the tensor stays unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..backend import backend_of
from ..graph.node import NaryNode, Node, assign_sequence_nr
from ..tensor.tensor import Tensor

if TYPE_CHECKING:
    from .declaration import Op

Array = Any


class NotImplemented_(NaryNode):
    """The node of an operation that PyTorch cannot differentiate; it raises in backward."""

    def __init__(self, op: type[Op]) -> None:
        super().__init__()
        reason = op.not_implemented_derivative
        if not isinstance(reason, str):
            reason = f"derivative for aten::{op.name} is not implemented"
        self.message, self.shown_as = reason, "NotImplemented"
        if known := re.match("the derivative for '(.*)'", reason):  # PyTorch's op has a node
            self.shown_as = known[1].title().replace("_", "") + "Backward"

    def error(self) -> Exception:
        """Return the error of a backward pass, a `NotImplementedError` if PyTorch has a node."""
        kind = RuntimeError if self.shown_as == "NotImplemented" else NotImplementedError
        return kind(self.message)

    def name(self) -> str:
        return self.shown_as

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        raise self.error()

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        raise self.error()


def no_tangent(op: type[Op]) -> Exception:
    """Return PyTorch's error for an op without derivative that receives a tangent.

    >>> from .declaration import REGISTRY
    >>> no_tangent(REGISTRY["Heaviside"])
    NotImplementedError('Trying to use forward AD with aten::heaviside that does not support it.')
    """
    reason = op.not_implemented_derivative
    if isinstance(reason, str) and "derivative" not in reason:
        return RuntimeError(reason)
    return NotImplementedError(f"Trying to use forward AD with aten::{op.name} that does not "
                               "support it.")


class Constant(NaryNode):
    """The node of an in-place write whose gradient is zero, such as `eq_`."""

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
    """The node of an in-place write that was interrupted; it raises in backward."""

    def __init__(self, what: str, error: BaseException) -> None:
        super().__init__()
        self.extras, self.sequence = None, 1 << 61  # run first, so that it raises early
        self.message = (
            f"an in-place write by {what} was interrupted by {type(error).__name__}: the values of "
            "this tensor may not match its history, so no gradient can be computed through it. "
            "Create the tensor again, or call detach_() to keep its current values.")

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        raise RuntimeError(self.message)

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        raise RuntimeError(self.message)


def poison_history(target: Tensor, recorded: bool, inputs: Sequence[Any], what: str,
              error: BaseException, counted: bool = False) -> None:
    """Count an interrupted write and, if it was `recorded`, make backward through it raise.

    `inputs` are the tensors that the write depended on, `what` names the write, and `counted` says
    that the write was already counted.  See NOTE [Interrupted writes].
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
    sources = [t if t._view is None else t._view.base for t in tensors]  # a view's node may raise
    node.set_edges([t._edge() for t in sources if t._requires_grad])
    base._node, base._index, base._requires_grad = node, 0, True


def node_without_formula(op: type[Op], values: list[Any]) -> Node:
    """Return the node for an op without formulas; the caller has checked that it needs one."""
    node: NaryNode = (
        NotImplemented_(op) if op.not_implemented_derivative else Constant(op.node_type.__name__))
    node.extras = None
    if op.not_implemented_derivative:
        node.sequence = 1 << 61  # run first, so that it raises early
    else:
        assign_sequence_nr(node)  # anomaly mode records the node's creator here
    tensors = [values[i] for i in op.tensor_positions]
    node.set_edges([t._edge() if isinstance(t, Tensor) and t.requires_grad else (None, 0)
                    for t in tensors])
    return node
