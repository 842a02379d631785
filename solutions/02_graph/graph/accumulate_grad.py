# Stage 02, The graph: nodes, edges and leaves: the solution for minigrad/graph/accumulate_grad.py.
# Made by `minigrad dev build`. The lesson is lessons/02_graph.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

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
    arity = 0
    variable: Any

    def __init__(self, variable: Any) -> None:
        self.variable = variable
        self.shape, self.dtype = variable._array.shape, variable._array.dtype  # as they are now
        self.extras = None
        self.sequence = 1 << 61  # leaves run as soon as they are ready
        if variable._extras is not None and variable._extras.hooks:
            self._extras().tensor[0] = variable._extras.hooks  # no copy: more may be registered

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
        variable = self.variable
        if not variable._requires_grad:  # any more: it was switched off after the forward pass
            return
        self.check_is_leaf()
        with lock_of(variable):
            if variable._grad is None:
                variable._grad = variable._plain(new_grad(variable._array, grad, owned))
            else:
                add_to(variable._grad, grad)

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        if grads[0] is not None:
            self.accumulate(grads[0], owned=False)
        return ()

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        """Accumulate a tensor; one with a history is kept with it, as double backward needs.

        A pass that is recorded adds it to `.grad` in a new tensor.
        """
        (grad,) = grads
        variable = self.variable
        if grad is None:
            return ()
        if not variable._requires_grad:  # any more
            return ()
        if not _state.grad_enabled.get():
            self.accumulate(grad._array, owned=False)
            return ()
        self.check_is_leaf()
        with lock_of(variable):
            current = variable._grad
            if current is None:
                variable._grad = differentiable_copy(variable, grad)
            else:
                variable._grad = laid_out_as(current._array, current + grad)
        return ()

    def check_is_leaf(self) -> None:
        """Raise if the variable is no leaf any more, which a write in place can bring about."""
        if self.variable.grad_fn is not None:
            raise RuntimeError("leaf variable has been moved into the graph interior")


def new_grad(leaf: Array, grad: Array, owned: bool) -> Array:
    """Return the array of a new `.grad`: `grad` itself where it may be, else a copy."""
    if owned and grad.strides == leaf.strides and (grad.base is None or holds_alone(grad)):
        return grad
    return copy_for(leaf, grad)


def copy_for(leaf: Array, grad: Array) -> Array:
    """Return a copy of a gradient, with the strides of a dense leaf; row-major for another leaf."""
    if not is_dense(leaf):
        return grad.copy("C")
    if grad.shape != leaf.shape:  # it was changed since
        check_fit(leaf.shape, grad.shape)
    fresh = backend_of(leaf).empty_like(leaf, dtype=grad.dtype)
    fresh[...] = grad
    return fresh


def differentiable_copy(leaf: Any, grad: Any) -> Any:
    """Return a recorded copy of a gradient Tensor, with the strides of a dense leaf."""
    strides = leaf.stride() if is_dense(leaf._array) else grad.contiguous().stride()
    return grad.new_empty_strided(leaf._array.shape, strides).copy_(grad)


def add_to(current: Any, grad: Array) -> None:
    """Add an array to a `.grad`, a Tensor, in place, and count the write."""
    array = current._array
    if array.base is not None and overlaps_itself(array):
        raise RuntimeError(OVERLAP)
    current._bump()  # first, for Ctrl-C may come after any call
    try:
        if array.dtype == grad.dtype:
            array += grad
        else:
            array[...] = array + grad
    except ValueError:
        check_fit(array.shape, grad.shape)
        raise


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
