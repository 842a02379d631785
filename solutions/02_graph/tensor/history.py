# Stage 02, The graph: nodes, edges and leaves: the solution for minigrad/tensor/history.py.
# Made by `minigrad dev build`. The lesson is lessons/02_graph.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""A tensor's place in the graph: the node that made it, or the `AccumulateGrad` of a leaf."""

from __future__ import annotations

from threading import Lock
from typing import Any
from weakref import ref

from ..graph.accumulate_grad import AccumulateGrad
from ..graph.node import Node

_accumulator_lock = Lock()


class TensorHistory:
    """The part of `Tensor` that knows how the tensor was made, and where its gradient goes.

    A tensor made by a recorded operation has the operation's node in `_node` and is its output
    number `_index`.  A leaf has None there; if it requires grad, its gradient goes to an
    `AccumulateGrad` of its own, which is made when first asked for.
    """

    __slots__ = ()

    @property
    def is_leaf(self: Any) -> bool:
        """Whether no recorded operation made it.

        >>> from minigrad import tensor
        >>> x = tensor(2.0, requires_grad=True); x.is_leaf, (x * 3).is_leaf
        (True, False)
        """
        return self.grad_fn is None

    @property
    def grad_fn(self: Any) -> Node | None:
        """The node whose backward receives this tensor's gradient; None for a leaf.

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
        """The tensor's number among the outputs of `grad_fn`.

        >>> from minigrad import ones
        >>> [part.output_nr for part in ones(3, requires_grad=True).unbind()]
        [0, 1, 2]
        """
        index: int = self._index
        return index

    def _edge(self: Any) -> tuple[Node | None, int]:
        """Return where this tensor's gradient goes."""
        node = self._node if self._view is None else self._view.current_node(self)
        if node is not None:
            return node, self._index
        return (self._accumulator(), 0) if self._requires_grad else (None, 0)

    def _accumulator(self: Any) -> AccumulateGrad:
        """Return the leaf's one `AccumulateGrad`, made when there is none alive."""
        with _accumulator_lock:  # threads that share the leaf have to get the same one
            extras = self._ensure_extras()
            node: AccumulateGrad | None = extras.accumulator and extras.accumulator()
            if node is None:
                node = AccumulateGrad(self)
                extras.accumulator = ref(node)
        return node

    def _adopt(self: Any, accumulator: AccumulateGrad) -> None:
        """Let gradients of this leaf go where another leaf's go."""
        self._ensure_extras().accumulator = ref(accumulator)
        self.__dict__["_kept_accumulator"] = accumulator
