"""The methods of a Function that its author overrides."""

from __future__ import annotations

from typing import Any

from .legacy import LegacyFunction


class UserMethods(LegacyFunction):
    """The methods that a Function may define; the others raise an error that names the method."""

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; the first argument is `ctx` unless `setup_context` is defined."""
        raise NotImplementedError("You must implement the forward function for custom "
                                  "autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Fill `ctx`, if `forward` does not take it.

        >>> from minigrad import tensor
        >>> from minigrad.autograd import Function
        >>> class Square(Function):
        ...     forward = staticmethod(lambda x: x * x)
        ...     setup_context = staticmethod(lambda ctx, given, out: ctx.save_for_backward(*given))
        ...     backward = staticmethod(lambda ctx, grad: grad * 2 * ctx.saved_tensors[0])
        >>> x = tensor(3.0, requires_grad=True); Square.apply(x).backward(); x.grad
        tensor(6.)
        """
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return the gradient of each argument of `forward`; `None` means no gradient."""
        raise NotImplementedError("You must implement either the backward or vjp method for your "
                                  "custom autograd.Function to use it with backward mode AD.")

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Return the tangent of each output, given the tangents of the arguments of `forward`.

        >>> from minigrad import func, tensor
        >>> from minigrad.autograd import Function
        >>> class Triple(Function):
        ...     forward = staticmethod(lambda x: x * 3)
        ...     setup_context = staticmethod(lambda ctx, inputs, output: None)
        ...     jvp = staticmethod(lambda ctx, tangent: tangent * 3)
        >>> func.jvp(Triple.apply, (tensor(2.0),), (tensor(1.0),))
        (tensor(6.), tensor(3.))
        """
        raise NotImplementedError("You must implement the jvp function for custom "
                                  "autograd.Function to use it with forward mode AD.")

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[Any, Any]:
        """Return the outputs and the batch dimension of each, given batched arguments.

        >>> from minigrad import func, tensor
        >>> from minigrad.autograd import Function
        >>> class Sort(Function):
        ...     forward = staticmethod(lambda x: x.sort().values)
        ...     setup_context = staticmethod(lambda ctx, inputs, output: None)
        ...     vmap = staticmethod(lambda info, dims, x: (Sort.apply(x.movedim(dims[0], 0)), 0))
        >>> func.vmap(Sort.apply, in_dims=1)(tensor([[3.0, 1.0], [2.0, 4.0]]))
        tensor([[2., 3.],
                [1., 4.]])
        """
        raise NotImplementedError("To use autograd.Function with vmap, you must either override "
                                  "the vmap staticmethod or set generate_vmap_rule=True.")

    vjp = backward
