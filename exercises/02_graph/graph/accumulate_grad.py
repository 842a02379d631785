# Stage 02, The graph: nodes, edges and leaves: the exercise for minigrad/graph/accumulate_grad.py.
# Made by `minigrad dev build`. The lesson is lessons/02_graph.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 02
# Names of the package's inside are explained in docs/en/glossary.md.

"""The end of the graph at a leaf, where gradients become `.grad`."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

from .. import _state
from ..backend import backend_of
from ..backend.memory_layout import OVERLAP, holds_alone, is_dense, overlaps_itself
from ..shapes import broadcast
from .node import Node

Array = Any

_leaf_locks = [Lock() for _ in range(64)]


def lock_of(tensor: Any) -> Lock:
    """Return the lock under which `.grad` of a tensor is added to; some tensors share one."""
    return _leaf_locks[(id(tensor) >> 4) & 63]


class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds what arrives to `variable.grad`."""

    __slots__ = ("variable",)
    variable: Any

    def __init__(self, variable: Any) -> None:
        self.variable = variable
        self.shape, self.dtype = variable._array.shape, variable._array.dtype  # as they are now
        self.extras = None
        self.sequence = 1 << 61  # leaves run as soon as they are ready

    def accumulate(self, grad: Array, owned: bool) -> None:
        """Add `grad` to `variable.grad`; it may become `.grad` itself only when `owned`.

        NOTE [Who owns a gradient]
            An array may be written to, or become `.grad`, only if the engine allocated it and
            nobody else holds it: then `owned` is true and it is no view.  An array that a formula
            passed through, a hook saw, a Function returned or the caller gave is borrowed, and
            copied before it is first written to.  A view is accepted if it shows all of an array
            that nothing else refers to, such as the transpose that `t` returns.  A new `.grad`
            takes the strides of a dense leaf and is row-major otherwise.
        """
        # 02.5 Gradients that add up (about 31 lines)
        # Add the array `grad` to `.grad` of the leaf, `variable._grad` (a Tensor or None; its
        # array is `_array`). A variable that no longer requires grad (`_requires_grad`) gets
        # nothing; for any other call `self.check_is_leaf()` first, which is given. With no
        # `.grad` yet, make one: `variable._plain(array)` makes a Tensor of the array that
        # `new_grad(variable._array, grad, owned)` returns. That array must be the leaf's
        # alone: `grad` itself may be taken only where `owned` is true, it has the strides of
        # the leaf, and it is either no view (`grad.base is None`) or all that refers to the
        # array it looks at (`holds_alone(grad)`); in every other case copy it. Copying is
        # always right. The copy, `copy_for(leaf, grad)`, has the strides of the leaf's array
        # where that is dense (`is_dense(leaf)`) and is row-major (`grad.copy("C")`)
        # otherwise; it has grad's dtype. With a `.grad` that is there already,
        # `add_to(variable._grad, grad)` adds in place, whether it requires grad or not: the
        # same Tensor stays in `variable._grad`, and the write is counted by
        # `current._bump()`. Never write to `grad`. Threads may come at once: work under the
        # leaf's lock, `lock_of(variable)`.
        raise NotImplementedError("02.5 Gradients that add up is yours to write")

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        if grads[0] is not None:
            self.accumulate(grads[0], owned=False)
        return ()

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        """Accumulate a tensor; one with a history is kept with it, as double backward needs.

        A pass that is recorded adds it to `.grad` in a new tensor.
        """
        # 02.6 Gradients with a history (about 17 lines)
        # `grads` is a tuple of one gradient: a Tensor, or None, which changes nothing. A leaf
        # has no edges, so always return an empty tuple. As in 02.5 a variable that no longer
        # requires grad gets nothing, and `self.check_is_leaf()` comes before anything is
        # added. Where grad mode is off (`_state.grad_enabled.get()` is False) there is no
        # history to keep: do what `self.accumulate(grad._array, owned=False)` does. Where it
        # is on, the history has to be kept: with no `.grad` yet (`variable._grad` is None),
        # it becomes a copy of the gradient, made by tensor operations so that it is
        # differentiable, in memory of its own, with the strides of the leaf where that is
        # dense (`is_dense(variable._array)`) and row-major otherwise; with a `.grad` already
        # there, it becomes a new Tensor, the sum of the two with the histories of both.
        # Neither the gradient nor the earlier `.grad` is ever written to. Threads may come at
        # once: work under the leaf's lock, as in 02.5, but call `accumulate` before you take
        # it.
        raise NotImplementedError("02.6 Gradients with a history is yours to write")

    def check_is_leaf(self) -> None:
        """Raise if the variable is no leaf any more, which a write in place can bring about."""
        if self.variable.grad_fn is not None:
            raise RuntimeError("leaf variable has been moved into the graph interior")


def new_grad(leaf: Array, grad: Array, owned: bool) -> Array:
    """Return the array of a new `.grad`: `grad` itself where it may be, else a copy."""
    # 02.5 Gradients that add up: see the task at `AccumulateGrad.accumulate`.
    raise NotImplementedError("02.5 Gradients that add up is yours to write")


def copy_for(leaf: Array, grad: Array) -> Array:
    """Return a copy of a gradient, with the strides of a dense leaf."""
    # 02.5 Gradients that add up: see the task at `AccumulateGrad.accumulate`.
    raise NotImplementedError("02.5 Gradients that add up is yours to write")


def add_to(current: Any, grad: Array) -> None:
    """Add an array to a `.grad` in place."""
    # 02.5 Gradients that add up: see the task at `AccumulateGrad.accumulate`.
    raise NotImplementedError("02.5 Gradients that add up is yours to write")


def check_fit(shape: tuple[int, ...], arriving: tuple[int, ...]) -> None:
    """Raise unless gradients of one shape fit a `.grad` that was given another."""
    whole = broadcast(shape, arriving)  # raises where even that does not go
    if whole != shape:
        raise RuntimeError(f"output with shape {list(shape)} doesn't match the broadcast shape "
                           f"{list(whole)}") from None


def laid_out_as(like: Array, tensor: Any) -> Any:
    """Give a fresh tensor the strides of a dense array of its shape."""
    array = tensor._array
    if array.shape == like.shape and array.strides != like.strides and is_dense(like):
        tensor._array = backend_of(like).empty_like(like, dtype=array.dtype)
        tensor._array[...] = array
    return tensor
