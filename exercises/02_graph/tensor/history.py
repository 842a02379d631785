# Stage 02, The graph: nodes, edges and leaves: the exercise for minigrad/tensor/history.py.
# Made by `minigrad dev build`. The lesson is lessons/02_graph.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 02
# docs/en/glossary.md explains the names used inside the package.

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
        # 02.3 Leaves and results (about 7 lines)
        # `grad_fn` is the node that made this tensor, or None for a leaf. `is_leaf` is True
        # if no recorded operation made it. `_edge()` returns the pair (node, number) at which
        # its gradient arrives.
        #   x requires grad   x.grad_fn, x.is_leaf, x._edge()  -> None, True, (its end, 0)
        #   c does not        c.grad_fn, c.is_leaf, c._edge()  -> None, True, (None, 0)
        #   y = x * 3         y.grad_fn, y.is_leaf, y._edge()  -> node, False, (node, 0)
        #   low, high = x.unbind()               high._edge()  -> (high.grad_fn, 1)
        # Mind:
        # - A write may have changed the history of a view. If `self._view` isn't None, the
        #   node is `self._view.current_node(self)`, otherwise it's `self._node`.
        # Use: `_index`, the tensor's number among the outputs; `_requires_grad`;
        # `_accumulator()`, the end of a leaf.
        raise NotImplementedError("02.3 Leaves and results is yours to write")

    @property
    def grad_fn(self: Any) -> Node | None:
        """The node whose backward receives this tensor's gradient; `None` for a leaf.

        >>> from minigrad import tensor
        >>> x = tensor(2.0, requires_grad=True); x.grad_fn is None, (x * 3).grad_fn.name()
        (True, 'MulBackward0')
        """
        # 02.3 Leaves and results: see the task at `TensorHistory.is_leaf`.
        raise NotImplementedError("02.3 Leaves and results is yours to write")

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
        # 02.3 Leaves and results: see the task at `TensorHistory.is_leaf`.
        raise NotImplementedError("02.3 Leaves and results is yours to write")

    def _accumulator(self: Any) -> AccumulateGrad:
        """Return the leaf's only `AccumulateGrad`; create it unless one is alive."""
        # 02.2 One AccumulateGrad for each leaf (about 7 lines)
        # A leaf has a single AccumulateGrad for all of its uses. Return it, and create it
        # unless one is alive. The graphs hold it, but the leaf must not keep it alive.
        #   end = x._accumulator()             -> an AccumulateGrad, end.variable is x
        #   x._accumulator() is end            -> True, as long as `end` is held
        #   del end; x._accumulator()          -> a new one: the old one was freed
        # Mind:
        # - Several threads may ask, so look and create under `_accumulator_lock`.
        # Use: `AccumulateGrad(self)`; `extras = self._ensure_extras()`. At first,
        # `extras.accumulator` is None. Later, it's a weak reference, `ref(node)`.
        raise NotImplementedError("02.2 One AccumulateGrad for each leaf is yours to write")

    def _adopt(self: Any, accumulator: AccumulateGrad) -> None:
        """Send this leaf's gradients to the `AccumulateGrad` of another leaf."""
        self._ensure_extras().accumulator = ref(accumulator)
        self.__dict__["_kept_accumulator"] = accumulator
