"""NestedIOFunction, a Function on nested lists and tuples of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...tensor.tensor import Tensor
from .function import Function

__all__ = ["NestedIOFunction"]

_SLOT = object()  # takes the place of a tensor


class NestedIOFunction(Function):
    """Legacy Function: write `forward_extended` and `backward_extended`, then call an instance.

    Both take and return tensors in nested lists and tuples. The gradients that `backward_extended`
    returns are nested like the inputs, with `None` for no gradient.  New code should use
    `Function`.

    Source: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.function.NestedIOFunction

    >>> import warnings; warnings.filterwarnings("ignore", ".*should not be instantiated")
    >>> from minigrad import tensor
    >>> class Product(NestedIOFunction):
    ...     def forward_extended(self, pair):
    ...         self.save_for_backward(pair)
    ...         return pair[0] * pair[1]
    ...     def backward_extended(self, grad):
    ...         (a, b), = self.saved_tensors
    ...         return ([grad * b, grad * a],)
    >>> a, b = tensor(2.0, requires_grad=True), tensor(5.0, requires_grad=True)
    >>> Product()([a, b]).backward(); a.grad, b.grad
    (tensor(5.), tensor(2.))
    """

    _ctx: Any = None
    _output: Any = None
    _saved: Any = None

    def __call__(self, *nested: Any) -> Any:
        flat = list(tensors_of(nested))
        outputs = iter(_Flat.apply(self, without_tensors(nested), *flat))
        return filled(self._output, outputs)

    def forward_extended(self, *inputs: Any) -> Any:
        """Compute the outputs, a tensor or nested tensors.

        >>> import warnings; warnings.filterwarnings("ignore", ".*should not be instantiated")
        >>> from minigrad import tensor
        >>> class Swap(NestedIOFunction):
        ...     def forward_extended(self, pair):
        ...         return [pair[1] * 2, pair[0] * 3]
        >>> Swap()((tensor(1.0), tensor(5.0)))
        [tensor(10.), tensor(3.)]
        """
        raise NotImplementedError

    def backward_extended(self, *grad_outputs: Any) -> Any:
        """Return the gradients of the inputs, given one argument for each output.

        >>> import warnings; warnings.filterwarnings("ignore", ".*should not be instantiated")
        >>> from minigrad import tensor
        >>> class Sum(NestedIOFunction):
        ...     def forward_extended(self, pair):
        ...         return pair[0] + pair[1]
        ...     def backward_extended(self, grad):
        ...         return ((grad, None),)  # nothing for the second
        >>> a, b = tensor(1.0, requires_grad=True), tensor(5.0, requires_grad=True)
        >>> Sum()((a, b)).backward(); a.grad, b.grad
        (tensor(1.), None)
        """
        raise NotImplementedError

    def save_for_backward(self, *nested: Any) -> None:
        """Save tensors for `backward_extended`; it finds them in `saved_tensors`.

        >>> import warnings; warnings.filterwarnings("ignore", ".*should not be instantiated")
        >>> from minigrad import tensor
        >>> class Square(NestedIOFunction):
        ...     def forward_extended(self, x):
        ...         self.save_for_backward(x)
        ...         return x * x
        ...     def backward_extended(self, grad):
        ...         return grad * 2 * self.saved_tensors[0]
        >>> x = tensor(3.0, requires_grad=True); Square()(x).backward(); x.grad
        tensor(6.)
        """
        self._saved = without_tensors(nested)
        self._ctx.save_for_backward(*tensors_of(nested))

    @property
    def saved_tensors(self) -> Any:
        """The saved tensors, nested like they were when saved.

        >>> import warnings; warnings.filterwarnings("ignore", ".*should not be instantiated")
        >>> from minigrad import tensor
        >>> class Kept(NestedIOFunction):
        ...     def forward_extended(self, pair):
        ...         self.save_for_backward(pair, [pair[1]])
        ...         return pair[0] + pair[1]
        ...     def backward_extended(self, grad):
        ...         print(self.saved_tensors)
        ...         return ((grad, grad),)
        >>> Kept()((tensor(1.0, requires_grad=True), tensor(5.0))).backward()
        ((tensor(1., requires_grad=True), tensor(5.)), [tensor(5.)])
        """
        return filled(self._saved, iter(self._ctx.saved_tensors))

    def mark_dirty(self, *nested: Any) -> None:
        """Declare the inputs that were written to.

        >>> import warnings; warnings.filterwarnings("ignore", ".*should not be instantiated")
        >>> from minigrad import tensor
        >>> class Double(NestedIOFunction):
        ...     def forward_extended(self, x):
        ...         self.mark_dirty(x)
        ...         return x.mul_(2)
        >>> x = tensor(3.0, requires_grad=True) * 1; y = Double()(x); x
        tensor(6., grad_fn=<_FlatBackward>)
        """
        self._ctx.mark_dirty(*tensors_of(nested))

    def mark_non_differentiable(self, *nested: Any) -> None:
        """Declare outputs that have no gradient.

        >>> import warnings; warnings.filterwarnings("ignore", ".*should not be instantiated")
        >>> from minigrad import tensor
        >>> class Signs(NestedIOFunction):
        ...     def forward_extended(self, x):
        ...         signs = x > 0
        ...         self.mark_non_differentiable(signs)
        ...         return x * 1, signs
        >>> Signs()(tensor([-1.0, 2.0], requires_grad=True))
        (tensor([-1.,  2.], grad_fn=<_FlatBackward>), tensor([False,  True]))
        """
        self._ctx.mark_non_differentiable(*tensors_of(nested))


class _Flat(Function):
    """The Function that a NestedIOFunction runs on its flattened tensors."""

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
    """Yield the tensors in nested lists and tuples, in order."""
    if isinstance(nested, (list, tuple)):
        for item in nested:
            yield from tensors_of(item, keep_none)
    elif isinstance(nested, Tensor) or (keep_none and nested is None):
        yield nested


def without_tensors(nested: Any) -> Any:
    """Return the same nesting with a placeholder for each tensor."""
    if isinstance(nested, (list, tuple)):
        return type(nested)(without_tensors(item) for item in nested)
    return _SLOT if isinstance(nested, Tensor) else nested


def filled(shape: Any, tensors: Iterator[Any]) -> Any:
    """Return the same nesting with tensors in place of the placeholders."""
    if isinstance(shape, (list, tuple)):
        return type(shape)(filled(item, tensors) for item in shape)
    return next(tensors) if shape is _SLOT else shape
