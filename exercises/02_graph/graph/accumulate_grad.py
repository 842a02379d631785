# Stage 02, The graph: nodes, edges and leaves: the exercise for minigrad/graph/accumulate_grad.py.
# Made by `minigrad dev build`. The lesson is lessons/02_graph.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 02
# docs/en/glossary.md explains the names used inside the package.

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
    """Return the lock that guards a tensor's `.grad`; all tensors share 64 locks."""
    return _leaf_locks[(id(tensor) >> 4) & 63]


class AccumulateGrad(Node):
    """The node at a leaf, which adds incoming gradients to `variable.grad`."""

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
        """Add `grad` to `variable.grad`; a first gradient becomes `.grad` itself if `owned`.

        NOTE [Who owns a gradient]
            The engine writes to an array, or stores it as `.grad`, only if it owns the array: it
            allocated the array, and no other code holds a reference to it.  An array that a
            formula passed through, a hook saw, a Function returned or the caller supplied is
            borrowed, so the engine copies it before the first write.  An owned array is not a
            view, unless it covers all of an array without other references, such as the
            transpose that `t` returns.  A new `.grad` takes the strides of the leaf if the leaf
            is dense; otherwise it is row-major.
        """
        # 02.5 Accumulating gradients (about 12 lines)
        # A gradient has reached its leaf, `self.variable`. Add it to `variable._grad`:
        # `new_grad` makes the array for the first one, and every later gradient is added in
        # place.
        #   end.accumulate(array([3.0, 4.0]), False)    -> x.grad [3., 4.], in its own memory
        #   end.accumulate(array([10.0, 20.0]), False)  -> x.grad [13., 24.], the same Tensor
        # Mind:
        # - `new_grad` may return `grad` itself if it is `owned`, has the leaf's strides, and
        #   either isn't a view (`grad.base is None`) or `holds_alone(grad)`.
        # - A variable that no longer requires grad gets no `.grad`. For any other, call
        #   `self.check_is_leaf()` first.
        # - Look and add under `lock_of(variable)`, because several threads may arrive.
        # Use: `copy_for` and `add_to`, given below; `variable._plain(array)` makes a Tensor.
        raise NotImplementedError("02.5 Accumulating gradients is yours to write")

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        if grads[0] is not None:
            self.accumulate(grads[0], owned=False)
        return ()

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        """Add a gradient tensor to `.grad`, with its history if grad mode is on.

        With grad mode on, the sum is a new tensor, because an in-place addition would change a
        `.grad` that an earlier graph may need.
        """
        # 02.6 Gradients with a history (about 17 lines)
        # If a pass is recorded, its gradient arrives as a Tensor. Keep its history in
        # `variable._grad`. `grads` holds only this Tensor, or a None that leaves `.grad`
        # unchanged. A leaf has no edges, so return ().
        #   w = 5., w * 2 arrives   -> x.grad is 10., a copy with a history that leads to w
        #   then w * 3 arrives      -> x.grad is 25., a new Tensor with both histories
        # Mind:
        # - If `_state.grad_enabled.get()` is False, `self.accumulate(grad._array,
        #   owned=False)` does the work.
        # - Don't write to the gradient or the earlier `.grad`.
        # - The checks, and the lock after them, are the same as in 02.5. `accumulate` takes
        #   the lock too.
        # - A sum keeps the strides of the earlier `.grad`.
        # Use: `differentiable_copy` and `laid_out_as`.
        raise NotImplementedError("02.6 Gradients with a history is yours to write")

    def check_is_leaf(self) -> None:
        """Raise if the variable is no longer a leaf, as after an in-place write."""
        if self.variable.grad_fn is not None:
            raise RuntimeError("leaf variable has been moved into the graph interior")


def new_grad(leaf: Array, grad: Array, owned: bool) -> Array:
    """Return the array for a new `.grad`: `grad` itself if the leaf may keep it, else a copy."""
    # 02.5 Accumulating gradients: see the task at `AccumulateGrad.accumulate`.
    raise NotImplementedError("02.5 Accumulating gradients is yours to write")


def copy_for(leaf: Array, grad: Array) -> Array:
    """Return a copy of a gradient: with the leaf's strides if it is dense, else row-major."""
    if not is_dense(leaf):
        return grad.copy("C")
    if grad.shape != leaf.shape:  # the leaf's `.data` was replaced since the forward pass
        check_fit(leaf.shape, grad.shape)
    fresh = backend_of(leaf).empty_like(leaf, dtype=grad.dtype)
    fresh[...] = grad
    return fresh


def differentiable_copy(leaf: Any, grad: Any) -> Any:
    """Return a recorded copy of a gradient Tensor, with the strides of a dense leaf."""
    strides = leaf.stride() if is_dense(leaf._array) else grad.contiguous().stride()
    return grad.new_empty_strided(leaf._array.shape, strides).copy_(grad)


def add_to(current: Any, grad: Array) -> None:
    """Add an array to a `.grad` tensor in place, and count the write."""
    array = current._array
    if array.base is not None and overlaps_itself(array):
        raise RuntimeError(OVERLAP)
    current._bump()  # first, because Ctrl-C may interrupt after any call
    try:
        if array.dtype == grad.dtype:
            array += grad
        else:
            array[...] = array + grad
    except ValueError:
        check_fit(array.shape, grad.shape)
        raise


def check_fit(shape: tuple[int, ...], arriving: tuple[int, ...]) -> None:
    """Raise unless a gradient of shape `arriving` can be added to a `.grad` of this shape."""
    whole = broadcast(shape, arriving)  # raises if the shapes don't broadcast at all
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
