# Stage 02, The graph: nodes, edges and leaves: the solution for minigrad/tensor/history.py.
# Made by `minigrad dev build`. The lesson is lessons/02_graph.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""A tensor's history: the node that made it or, for a leaf, its `AccumulateGrad`."""

from __future__ import annotations

from threading import Lock
from typing import Any
from weakref import ref

from ..graph.accumulate_grad import AccumulateGrad
from ..graph.node import Node

_accumulator_lock = Lock()


class TensorHistory:
    """The part of `Tensor` that knows how the tensor was made and where its gradient goes.

    If a recorded operation made the tensor, `_node` is the operation's node and `_index` is the
    tensor's position among its outputs.  A leaf has no node.  If a leaf requires grad, its
    gradient goes to its `AccumulateGrad`, which is created on demand.
    """

    __slots__ = ()

    @property
    def is_leaf(self: Any) -> bool:
        """Whether the tensor was not made by a recorded operation.

        >>> from minigrad import tensor
        >>> x = tensor(2.0, requires_grad=True); x.is_leaf, (x * 3).is_leaf
        (True, False)
        """
        return self.grad_fn is None

    @property
    def grad_fn(self: Any) -> Node | None:
        """The node whose backward receives this tensor's gradient; `None` for a leaf.

        >>> from minigrad import tensor
        >>> x = tensor(2.0, requires_grad=True); x.grad_fn is None, (x * 3).grad_fn.name()
        (True, 'MulBackward0')
        """
        node: Node | None = self._node if self._view is None else self._view.current_node(self)
        return node

    @grad_fn.setter
    def grad_fn(self: Any, value: Any) -> None:
        raise AttributeError("attribute 'grad_fn' of 'torch._C.TensorBase' objects is not writable")

    @property
    def output_nr(self: Any) -> int:
        """The tensor's position among the outputs of `grad_fn`.

        >>> from minigrad import ones
        >>> [part.output_nr for part in ones(3, requires_grad=True).unbind()]
        [0, 1, 2]
        """
        index: int = self._index
        return index

    def _edge(self: Any) -> tuple[Node | None, int]:
        """Return the edge that this tensor's gradient follows."""
        node = self._node if self._view is None else self._view.current_node(self)
        if node is not None:
            return node, self._index
        return (self._accumulator(), 0) if self._requires_grad else (None, 0)

    def _accumulator(self: Any) -> AccumulateGrad:
        """Return the leaf's only `AccumulateGrad`; create it unless one is alive."""
        with _accumulator_lock:  # threads that share the leaf must get the same node
            extras = self._ensure_extras()
            node: AccumulateGrad | None = extras.accumulator and extras.accumulator()
            if node is None:
                node = AccumulateGrad(self)
                extras.accumulator = ref(node)
        return node

    def _adopt(self: Any, accumulator: AccumulateGrad) -> None:
        """Send this leaf's gradients to the `AccumulateGrad` of another leaf."""
        self._ensure_extras().accumulator = ref(accumulator)
        self.__dict__["_kept_accumulator"] = accumulator
