# Stage 02, The graph: nodes, edges and leaves: the exercise for minigrad/tensor/autograd_meta.py.
# Made by `minigrad dev build`. The lesson is lessons/02_graph.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 02
# Names of the package's inside are explained in docs/en/glossary.md.

"""A tensor's place in the graph: the node that made it, or the `AccumulateGrad` of a leaf."""

from __future__ import annotations

from threading import Lock
from typing import Any
from weakref import ref

from ..graph.accumulate_grad import AccumulateGrad
from ..graph.node import Node

_accumulator_lock = Lock()


class AutogradMeta:
    """The part of `Tensor` that knows how the tensor came to be.

    A tensor made by a recorded operation has the operation's node in `_node` and is its output
    number `_index`.  A leaf has None there; if it requires grad, its gradient goes to an
    `AccumulateGrad` of its own, which is made when first asked for.
    """

    __slots__ = ()

    @property
    def is_leaf(self: Any) -> bool:
        """Whether no recorded operation made it."""
        # 02.3 Leaf or not (about 7 lines)
        # `grad_fn` is the node that made this tensor, None for a leaf. Where `self._view` is
        # None it stands in `self._node`; a view asks `self._view.current_node(self)` instead,
        # because a write through another view may have changed its history (stage 06).
        # `is_leaf` is True exactly where `grad_fn` is None; that holds of tensors that need
        # no gradient too. `_edge()` returns the pair (node, index) to which this tensor's
        # gradient goes: `grad_fn` and `self._index` (which output of that node the tensor is)
        # where there is a grad_fn; `(self._accumulator(), 0)` for a leaf that requires grad
        # (`self._requires_grad`); `(None, 0)` for any other.
        raise NotImplementedError("02.3 Leaf or not is yours to write")

    @property
    def grad_fn(self: Any) -> Node | None:
        """The node whose backward receives this tensor's gradient; None for a leaf."""
        # 02.3 Leaf or not: see the task at `AutogradMeta.is_leaf`.
        raise NotImplementedError("02.3 Leaf or not is yours to write")

    @grad_fn.setter
    def grad_fn(self: Any, value: Any) -> None:
        raise AttributeError("attribute 'grad_fn' of 'torch._C.TensorBase' objects is not writable")

    @property
    def output_nr(self: Any) -> int:
        """The tensor's number among the outputs of `grad_fn`."""
        index: int = self._index
        return index

    def _edge(self: Any) -> tuple[Node | None, int]:
        """Return where this tensor's gradient goes."""
        # 02.3 Leaf or not: see the task at `AutogradMeta.is_leaf`.
        raise NotImplementedError("02.3 Leaf or not is yours to write")

    def _accumulator(self: Any) -> AccumulateGrad:
        """Return the leaf's one `AccumulateGrad`, made when there is none alive."""
        # 02.2 One end for each leaf (about 9 lines)
        # Return this leaf's one AccumulateGrad. As long as somebody (a graph) holds it, every
        # call returns the same one; when nobody holds it any more, the next call makes a new
        # one, `AccumulateGrad(self)`. The leaf itself must not keep it alive: remember it as
        # a weak reference, `ref(node)`, in `meta.accumulator`, which is None until the first
        # time. `meta` is `self._autograd_meta()`, which makes it where `self._extras` is
        # still None. If the leaf has hooks (`meta.hooks`, a dictionary or None), a newly made
        # AccumulateGrad gets that very dictionary as `node._extras().tensor[0]`; without
        # hooks leave the node's extras alone. Two threads may ask at once and have to get the
        # same one: look and make under `_accumulator_lock`.
        raise NotImplementedError("02.2 One end for each leaf is yours to write")

    def _adopt(self: Any, accumulator: AccumulateGrad) -> None:
        """Let gradients of this leaf go where another leaf's go."""
        self._autograd_meta().accumulator = ref(accumulator)
        self.__dict__["_kept_accumulator"] = accumulator
