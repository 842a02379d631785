"""Function: an operation with a forward and a backward that the user writes.

The context that `forward` and `backward` get as `ctx` is the node itself, so `backward` finds the
attributes that `forward` set on it; see NOTE [Names that both want] in functions/context.py.

Source: https://docs.pytorch.org/docs/stable/autograd.html#function
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from .. import _state
from ..batching import level_of
from ..graph.node import assign_sequence_nr, through_tensors
from ..graph.saved_tensor import SavedTensor
from ..graph.version import version_of
from ..op.error_nodes import poison_history
from ..tensor.tensor import Tensor
from .functions.arguments import by_position, with_defaults
from .functions.context import ContextNode
from .functions.once_differentiable import DelayedError, once_differentiable
from .functions.outputs import join_outputs
from .functions.vmap import run_on_batches
from .grad_mode import no_grad

#: Attributes of a node; reading one from an instance of a Function is an error that explains it.
_OF_NODES = {"_do_backward", "_raw_saved_tensors", "metadata", "name", "next_functions",
             "register_hook", "register_prehook", "saved_tensors", "saved_variables"}

__all__ = ["DelayedError", "Function", "FunctionCtx", "FunctionNode", "InplaceFunction",
           "once_differentiable"]


class FunctionCtx:
    """The methods of a context that `forward` may call."""

    to_save: tuple[Tensor | None, ...]
    saved_for_forward: tuple[Tensor | None, ...] | None
    dirty_tensors: tuple[Tensor, ...]
    non_differentiable: tuple[Tensor, ...]
    materialize_grads: bool

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save inputs or outputs for `backward`, which finds them in `ctx.saved_tensors`.

        Values that are not tensors can be set on `ctx` as attributes.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Save inputs or outputs for `jvp`, which finds them in `ctx.saved_tensors`."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Declare inputs that `forward` wrote to; they have to be returned as well."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Declare outputs that have no gradient; `backward` gets zeros for them."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """With False, `backward` gets None, not zeros, for outputs without a gradient."""
        self.materialize_grads = value

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Warn: PyTorch deprecated it, since there is nothing to declare any more."""
        warnings.warn("`mark_shared_storage` is deprecated. Tensors with shared storages are "
                      "automatically tracked. Note that calls to `set_()` are not tracked",
                      FutureWarning, stacklevel=2)


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
        """The saved tensors, checked for writes since; in `jvp` those of `save_for_forward`."""
        if self.saved_for_forward is not None:
            return self.saved_for_forward
        return tuple(None if s is None else s.unpack(self) for s in self._saved)

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The old name of `saved_tensors`."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning,
                      stacklevel=2)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        return tuple(self._saved)

    @property
    def takes_batches(self) -> bool:  # type: ignore[override]  # asked of few nodes
        """Whether the Function says that it can be given batches of gradients."""
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

    def apply(self, *grads: Any) -> Any:
        """Return the result of the user's `backward`, or `vjp`, unchecked."""
        cls = self.function
        if cls.vjp is Function.vjp:
            return cls.backward(self.context(), *grads)
        if cls.backward is not Function.backward:
            raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is "
                               "not allowed. You should only implement one of them.")
        return cls.vjp(self.context(), *grads)

    def _zeros(self, index: int) -> Tensor | None:
        shape, like = self._blanks[index]
        if like is None:
            return None
        return Tensor._plain(like.zeros(shape, self.metadata_of(index)[1]))

    def _checked(self, results: tuple[Any, ...]) -> list[Any]:
        """Return the gradients of the tensors among the inputs; the others must have none."""
        expected, name = len(self._are_tensors), self.name()
        if all(result is None for result in results[expected:]):
            results = results[:expected]
        if len(results) != expected:
            raise RuntimeError(f"function {name} returned an incorrect number of gradients "
                               f"(expected {expected}, got {len(results)})")
        kept = []
        for position, (result, is_tensor) in enumerate(
                zip(results, self._are_tensors, strict=True), 1):
            if not is_tensor:
                if result is not None:
                    raise RuntimeError(
                        f"function {name} returned a gradient different than None at position "
                        f"{position}, but the corresponding forward input was not a Variable")
            elif result is None or isinstance(result, Tensor):
                kept.append(result)
            else:
                raise RuntimeError(f"expected Variable or None (got {type(result).__name__})")
        return kept


class Function:
    """Base of custom operations: define `forward(ctx, ...)` and `backward(ctx, *grads)`.

    Call it by `apply`.

    >>> from minigrad import tensor
    >>> class Exp(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         result = x.exp()
    ...         ctx.save_for_backward(result)
    ...         return result
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         result, = ctx.saved_tensors
    ...         return grad_output * result
    >>> Exp.apply(tensor([1.0], requires_grad=True))
    tensor([2.7183], grad_fn=<ExpBackward>)
    """

    _backward_cls: type[FunctionNode] = FunctionNode  # the class of the nodes

    #: True: `vmap` runs the class's methods on batched tensors.
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(f"{type(self)} should not be instantiated. Methods on autograd functions are "
                      "all static, so you should invoke them on the class itself. Instantiating an "
                      "autograd function will raise an error in a future version of PyTorch.",
                      DeprecationWarning, stacklevel=2)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        body = {"function": cls, "__module__": cls.__module__, "__doc__": cls.__doc__}
        cls._backward_cls = type(cls.__name__ + "Backward", (FunctionNode,), body)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. "
                           "Please use new-style autograd function with static forward method. "
                           "(Example: https://pytorch.org/docs/stable/autograd.html"
                           "#torch.autograd.Function)")

    def __getattr__(self, name: str) -> Any:
        if name in _OF_NODES:
            raise RuntimeError(
                f"Attribute '{name}' is invalid for this instance of _C._FunctionBase. Accessing "
                "this attribute directly on an instance of autograd.Function is a legacy access "
                "pattern that is no longer supported. For examples on how to use new-style "
                "autograd functions, see "
                "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function ")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; the first argument is `ctx` unless `setup_context` is defined."""
        raise NotImplementedError("You must implement the forward function for custom "
                                  "autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Fill `ctx`, for a `forward` without a `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return the gradient of each argument of `forward`; None for no gradient."""
        raise NotImplementedError("You must implement either the backward or vjp method for your "
                                  "custom autograd.Function to use it with backward mode AD.")

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Return the tangent of each output, from those of the arguments of `forward`."""
        raise NotImplementedError("You must implement the jvp function for custom "
                                  "autograd.Function to use it with forward mode AD.")

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[Any, Any]:
        """Return outputs and the batch dimension of each, given batched arguments."""
        raise NotImplementedError("To use autograd.Function with vmap, you must either override "
                                  "the vmap staticmethod or set generate_vmap_rule=True.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` without recording and add its outputs to the graph."""
        if cls.setup_context is not Function.setup_context:
            args, kwargs = with_defaults(cls.forward, args, kwargs)
        if kwargs:
            args, kwargs = by_position(cls.forward, args, kwargs), {}
        if _state.observers.count and (recorder := _state.recorder.get()) is not None:
            return recorder.call(cls.__name__, args, cls._apply, *args, **kwargs)
        return cls._apply(*args, **kwargs)

    @classmethod
    def _apply(cls, *args: Any, **kwargs: Any) -> Any:
        node, results = cls._run(*args, **kwargs)
        node.saved_for_forward = None
        return results

    @classmethod
    def _run(cls, *args: Any, **kwargs: Any) -> tuple[FunctionNode, Any]:
        """Return the context and the results: forward mode needs both."""
        level = max(map(level_of, args), default=0)
        if _state.observers.count and (transform := _state.transform.get()) is not None and (
                not level or transform.any_tangent([a for a in args if level_of(a)])):
            return transform.function(cls, args, kwargs)
        if level:
            return run_on_batches(Function, cls, args, level)
        recording = _state.grad_enabled.get()
        before = []
        if recording:
            for a in args:
                if isinstance(a, Tensor) and (a._node is not None or a._view is not None):
                    before.append((a, version_of(a)))
        try:
            return cls._record(args, kwargs)
        except BaseException as error:
            _state.grad_enabled.set(recording)  # Ctrl-C may come while the mode is being restored
            for tensor, version in before:
                if version_of(tensor) != version and tensor.requires_grad:
                    poison_history(tensor, True, (), f"{cls.__name__}.forward", error, counted=True)
            raise

    @classmethod
    def _record(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[FunctionNode, Any]:
        """Make the context, run `forward` with it and add its outputs to the graph."""
        node = cls._backward_cls()
        tensors = [a for a in args if isinstance(a, Tensor)]
        recorded = _state.grad_enabled.get() and any(t.requires_grad for t in tensors)
        node._are_tensors = tuple(isinstance(a, Tensor) for a in args)
        node.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        if recorded:
            assign_sequence_nr(node)
            node.set_edges([t._edge() for t in tensors])
        with no_grad():
            if cls.setup_context is Function.setup_context:
                outputs = cls.forward(node, *args, **kwargs)
            else:
                outputs = cls.forward(*args, **kwargs)
                cls.setup_context(node, args, outputs)
        bare = not isinstance(outputs, tuple)
        results = join_outputs(node, tensors, (outputs,) if bare else outputs, recorded)
        return node, results[0] if bare else tuple(results)

    vjp = backward


class InplaceFunction(Function):
    """A Function with a `forward` that may write to its input; kept for code that names it."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
