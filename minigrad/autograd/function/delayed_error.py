"""`once_differentiable`, for a backward that raises when it is differentiated again."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ... import _state
from ...graph.node import NaryNode, assign_sequence_nr, gradient_edges
from ...tensor.tensor import Tensor
from ..grad_mode import no_grad

TWICE = "trying to differentiate twice a function that was marked with @once_differentiable"


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` so that differentiating its results raises.

    >>> from minigrad import tensor
    >>> from minigrad.autograd import Function, grad
    >>> class Square(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     @once_differentiable
    ...     def backward(ctx, g):
    ...         return 2 * g * ctx.saved_tensors[0]
    >>> x = tensor(3.0, requires_grad=True)
    >>> (slope,) = grad(Square.apply(x) * x, x, create_graph=True)
    >>> slope.backward()
    Traceback (most recent call last):
        ...
    RuntimeError: trying to differentiate twice a function that was marked with @once_differentiable
    """

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args)
        if not _state.grad_enabled.get():
            return outputs
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return outputs
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        delayed = DelayedError(TWICE, len(outputs))
        return delayed(*(None if o is None else o.detach().requires_grad_() for o in outputs))

    return wrapper


class DelayedError:
    """Pass tensors through, and raise with `message` when a gradient flows back to one of them.

    >>> from minigrad import ones
    >>> x = DelayedError("not again", 1)(ones(2, requires_grad=True))
    >>> x.sum().backward()
    Traceback (most recent call last):
        ...
    RuntimeError: not again
    """

    def __init__(self, message: str, num_inputs: int) -> None:
        self.message = message
        self.num_inputs = num_inputs

    def __call__(self, *tensors: Tensor | None) -> Any:
        """Return the tensors as outputs of an `Error` node, if one of them requires grad.

        One tensor is returned as a tensor, several as a tuple.
        """
        results = [None if t is None else Tensor._plain(t._array) for t in tensors]
        if _state.grad_enabled.get() and any(t is not None and t.requires_grad for t in tensors):
            node = Error(self.message)
            node.set_edges(gradient_edges(tensors))
            node.num_inputs = len(results)
            looks = [((), None) if t is None else (t._array.shape, t._array.dtype) for t in results]
            (node.shape, node.dtype), node.others = looks[0], looks[1:]
            for index, result in enumerate(results):
                if result is not None:
                    result._node, result._index, result._requires_grad = node, index, True
        return results[0] if len(results) == 1 else tuple(results)


class Error(NaryNode):
    """A node that raises when a gradient reaches it."""

    def __init__(self, message: str) -> None:
        super().__init__()
        self.message = message
        self.extras = None
        assign_sequence_nr(self)

    def apply_arrays(self, grads: Sequence[Any], needed: Any) -> Sequence[Any]:
        raise RuntimeError(self.message)

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        raise RuntimeError(self.message)
