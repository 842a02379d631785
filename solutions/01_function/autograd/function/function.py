# Stage 01, Function: the solution for minigrad/autograd/function/function.py.
# Made by `minigrad dev build`. The lesson is lessons/01_function.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""Function: an operation with a user-defined forward and backward.

The `ctx` that `forward` and `backward` get is the node itself, so `backward` finds the attributes
that `forward` set on it; see NOTE [Names that both want] in context.py.

Source: https://docs.pytorch.org/docs/stable/autograd.html#function
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import _state
from ...backend.float_errors import under_callers_settings
from ...frames import type_in_error
from ...graph.node import assign_sequence_nr, through_tensors
from ...graph.saved_tensor import SavedTensor
from ...tensor.tensor import Tensor
from ..grad_mode import no_grad
from .apply import apply_function, run_function
from .context import ContextNode
from .context_methods import FunctionCtx
from .delayed_error import DelayedError, once_differentiable
from .outputs import join_outputs
from .saved import unpacked
from .user_methods import UserMethods

__all__ = ["DelayedError", "Function", "FunctionCtx", "FunctionNode", "InplaceFunction",
           "once_differentiable"]

#: Errors for wrong results of `backward`; `.format` fills in the fields.
WRONG_COUNT = ("function {name} returned an incorrect number of gradients (expected {expected}, "
               "got {got})")
NOT_A_TENSOR = "expected Variable or None (got {type_name})"
NO_GRADIENT = ("function {name} returned a gradient different than None at position {position}, "
               "but the corresponding forward input was not a Variable")


def without_extra_nones(results: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """Drop Nones beyond `count`, since `backward` may return one for each optional argument."""
    return results[:count] if all(result is None for result in results[count:]) else results


class FunctionNode(FunctionCtx, ContextNode):
    """The node of a Function, and its context."""

    function: type[Function]
    needs_input_grad: tuple[bool, ...]

    def __init__(self) -> None:
        super().__init__()
        self.extras = None
        self.sequence = -1
        self.to_save = self.dirty_tensors = self.non_differentiable = ()
        self.materialize_grads = True
        self.saved_for_forward = None
        self._differentiable: tuple[bool, ...] = ()  # for each output
        self._saved: list[SavedTensor | None] = []
        self._are_tensors: tuple[bool, ...] = ()
        self._blanks: list[tuple[tuple[int, ...], Any]] = []  # shape and backend of each output

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The saved tensors, checked for later writes; in `jvp`, those from `save_for_forward`."""
        return unpacked(self) if self.saved_for_forward is None else self.saved_for_forward

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        return tuple(self._saved)

    @property
    def takes_batches(self) -> bool:  # type: ignore[override]  # asked of few nodes
        """Whether the Function declares that it can handle batches of gradients."""
        cls = self.function
        return bool(cls.generate_vmap_rule or cls.vmap is not Function.vmap)

    def release(self) -> None:
        for saved in self._saved:
            if saved is not None:
                saved.release()

    def apply_arrays(self, grads: Sequence[Any], needed: Any) -> Sequence[Any]:
        return through_tensors(self, Tensor._plain, grads)

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        if self.materialize_grads:
            grads = [self._zeros(i) if g is None else g for i, g in enumerate(grads)]
        results = self.apply(*grads)
        return self._checked(results if isinstance(results, tuple) else (results,))

    @under_callers_settings
    def apply(self, *grads: Any) -> Any:
        """Return the result of the user's `backward` or `vjp`, unchecked."""
        cls = self.function
        if cls.vjp is Function.vjp:
            return cls.backward(self.context(), *grads)
        if cls.backward is not Function.backward:
            raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is "
                               "not allowed. You should only implement one of them.")
        return cls.vjp(self.context(), *grads)

    def _zeros(self, index: int) -> Tensor | None:
        """Return zeros like output number `index`, or `None` if it was not a tensor."""
        shape, like = self._blanks[index]
        if like is None:
            return None
        return Tensor._plain(like.zeros(shape, self.metadata_of(index)[1]))

    def _checked(self, results: tuple[Any, ...]) -> list[Any]:
        """Return the gradients of the tensor inputs; raise if another input has a gradient."""
        name, expected = self.name(), len(self._are_tensors)
        results = without_extra_nones(results, expected)
        if len(results) != expected:
            raise RuntimeError(WRONG_COUNT.format(name=name, expected=expected, got=len(results)))
        kept = []
        for position, (result, is_tensor) in enumerate(
                zip(results, self._are_tensors, strict=True), 1):
            if not is_tensor:
                if result is not None:
                    raise RuntimeError(NO_GRADIENT.format(name=name, position=position))
            elif result is None or isinstance(result, Tensor):
                kept.append(result)
            else:
                raise RuntimeError(NOT_A_TENSOR.format(type_name=type_in_error(result)))
        return kept


class Function(UserMethods):
    """Base of custom operations: define `forward(ctx, ...)` and `backward(ctx, *grads)`.

    Call the operation with `apply`.

    >>> from minigrad import tensor
    >>> class Square(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         x, = ctx.saved_tensors
    ...         return grad_output * 2 * x
    >>> x = tensor(3.0, requires_grad=True)
    >>> y = Square.apply(x); y
    tensor(9., grad_fn=<SquareBackward>)
    >>> y.backward(); x.grad
    tensor(6.)
    """

    _backward_cls: type[FunctionNode] = FunctionNode  # the class of the nodes

    #: If True, `vmap` runs the class's methods on batched tensors.
    generate_vmap_rule = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        body = {"function": cls, "__module__": cls.__module__, "__doc__": cls.__doc__}
        cls._backward_cls = type(cls.__name__ + "Backward", (FunctionNode,), body)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` without recording and add its outputs to the graph."""
        return apply_function(Function, cls, args, kwargs)

    @classmethod
    def _run(cls, *args: Any, **kwargs: Any) -> tuple[FunctionNode, Any]:
        """Return the context and the results, since forward mode needs both."""
        return run_function(Function, cls, args, kwargs)

    @classmethod
    def _record(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[FunctionNode, Any]:
        """Create the context, run `forward` with it and add its outputs to the graph."""
        node = cls._backward_cls()
        tensors = [a for a in args if isinstance(a, Tensor)]
        node._are_tensors = tuple(isinstance(a, Tensor) for a in args)
        node.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        recorded = _state.grad_enabled.get() and any(node.needs_input_grad)
        if recorded:
            assign_sequence_nr(node)
            node.set_edges([t._edge() for t in tensors])
        with no_grad():
            outputs = cls._call_forward(node, args, kwargs)
        return node, cls._joined(node, tensors, outputs, recorded)

    @classmethod
    def _call_forward(cls, node: FunctionNode, args: tuple[Any, ...],
                      kwargs: dict[str, Any]) -> Any:
        """Call the user's `forward` with the context, or without it and then `setup_context`."""
        if cls.setup_context is Function.setup_context:
            return cls.forward(node, *args, **kwargs)
        outputs = cls.forward(*args, **kwargs)
        cls.setup_context(node, args, outputs)
        return outputs

    @classmethod
    def _joined(cls, node: FunctionNode, tensors: list[Tensor], outputs: Any,
                recorded: bool) -> Any:
        """Add the tensors that `forward` returned to the graph and return them.

        `tensors` are the tensors among the arguments, in order; only a tuple counts as several
        outputs.
        """
        bare = not isinstance(outputs, tuple)
        results = join_outputs(node, tensors, (outputs,) if bare else outputs, recorded)
        return results[0] if bare else tuple(results)


class InplaceFunction(Function):
    """A Function whose `forward` may write to its input; kept for code that refers to it."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
