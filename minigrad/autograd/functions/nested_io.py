"""NestedIOFunction: a Function of nested lists and tuples of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...tensor.tensor import Tensor
from ..function import Function

__all__ = ["NestedIOFunction"]

_SLOT = object()  # where a tensor was


class NestedIOFunction(Function):
    """Kept for old code: write `forward_extended` and `backward_extended`, then call an instance.

    Both take and return tensors in nested lists and tuples; the gradients of `backward_extended`
    are nested as the inputs were, with None for no gradient.  New code
    uses `Function`.

    Source: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.function.NestedIOFunction
    """

    _ctx: Any = None
    _output: Any = None
    _saved: Any = None

    def __call__(self, *nested: Any) -> Any:
        flat = list(tensors_of(nested))
        outputs = iter(_Flat.apply(self, without_tensors(nested), *flat))
        return filled(self._output, outputs)

    def forward_extended(self, *inputs: Any) -> Any:
        """Compute the outputs, a tensor or a nest of them."""
        raise NotImplementedError

    def backward_extended(self, *grad_outputs: Any) -> Any:
        """Return the gradients of the inputs; there is one argument for each output."""
        raise NotImplementedError

    def save_for_backward(self, *nested: Any) -> None:
        """Save tensors for `backward_extended`, which finds them in `saved_tensors`."""
        self._saved = without_tensors(nested)
        self._ctx.save_for_backward(*tensors_of(nested))

    @property
    def saved_tensors(self) -> Any:
        """The saved tensors, nested as they were saved."""
        return filled(self._saved, iter(self._ctx.saved_tensors))

    def mark_dirty(self, *nested: Any) -> None:
        """Declare inputs that were written to."""
        self._ctx.mark_dirty(*tensors_of(nested))

    def mark_non_differentiable(self, *nested: Any) -> None:
        """Declare outputs that have no gradient."""
        self._ctx.mark_non_differentiable(*tensors_of(nested))


class _Flat(Function):
    """The flat Function behind a NestedIOFunction: tensors in, tensors out."""

    @staticmethod
    def forward(ctx: Any, outer: NestedIOFunction, shape: Any, *flat: Tensor) -> Any:
        ctx.outer, outer._ctx = outer, ctx
        try:
            output = outer.forward_extended(*filled(shape, iter(flat)))
        finally:
            outer._ctx = None  # otherwise the two would keep each other alive
        outer._output = without_tensors(output)
        return tuple(tensors_of(output))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        outer = ctx.outer
        nested = filled(outer._output, iter(grads))
        outer._ctx = ctx
        try:
            found = outer.backward_extended(*nested if isinstance(nested, tuple) else (nested,))
        finally:
            outer._ctx = None
        return None, None, *tensors_of(found, keep_none=True)


def tensors_of(nested: Any, keep_none: bool = False) -> Iterator[Any]:
    """Yield the tensors of a nest of lists and tuples, in order."""
    if isinstance(nested, (list, tuple)):
        for item in nested:
            yield from tensors_of(item, keep_none)
    elif isinstance(nested, Tensor) or (keep_none and nested is None):
        yield nested


def without_tensors(nested: Any) -> Any:
    """Return the nest with a mark instead of each tensor."""
    if isinstance(nested, (list, tuple)):
        return type(nested)(without_tensors(item) for item in nested)
    return _SLOT if isinstance(nested, Tensor) else nested


def filled(shape: Any, tensors: Iterator[Any]) -> Any:
    """Return the nest with tensors in the marked places."""
    if isinstance(shape, (list, tuple)):
        return type(shape)(filled(item, tensors) for item in shape)
    return next(tensors) if shape is _SLOT else shape
