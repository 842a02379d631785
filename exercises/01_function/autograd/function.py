# Stage 01, Function: the exercise for minigrad/autograd/function.py.
# Made by `minigrad dev build`. The lesson is lessons/01_function.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 01
# Names of the package's inside are explained in docs/en/glossary.md.

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
        # 01.5 Saved tensors (about 15 lines)
        # `save_for_backward(*tensors)` keeps the tuple of what it was given as
        # `self.to_save`; a later call replaces it. `keep(node, joined_as)` turns
        # `node.to_save` into what the node holds: a list with, for each item in order, None
        # for None, and for a tensor a `SavedTensor(tensor, is_output=...)`. If the tensor is
        # an output that `forward` made, `joined_as` has under its `id` the tensor that stands
        # for it in the graph: save that one. `is_output` is whether the tensor's `_node` is
        # this node. Anything else raises a TypeError: "save_for_backward can only save
        # variables, but argument P is of type KIND", with P counted from 0 and KIND the name
        # of the type. `saved_tensors` returns a tuple of what comes back: None for None, and
        # `saved.unpack(self)` for the others, which are in `self._saved`; unpacking checks
        # for writes. In forward mode (`self.saved_for_forward` is not None) it returns that
        # instead.
        raise NotImplementedError("01.5 Saved tensors is yours to write")

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Save inputs or outputs for `jvp`, which finds them in `ctx.saved_tensors`."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Declare inputs that `forward` wrote to; they have to be returned as well."""
        # 01.6 Writing to inputs (about 13 lines)
        # `mark_dirty(*args)` keeps the tuple of inputs that `forward` wrote to in
        # `self.dirty_tensors`. `join_written(node, output, index, differentiable, position,
        # live)` gives such an input, which `forward` returned as output number `index`, its
        # new place in the graph, and returns the very same tensor. If the write is not
        # `differentiable`, count it with `output._bump()`, and that is all: what comes back
        # is the tensor itself, or, where it requires grad all the same (a leaf written to
        # under `no_grad`), `output.detach()`. Otherwise `refuse_write(output, live)` raises
        # where writing is not allowed. After that count the write with `output._bump()` too,
        # and set `output._grad` to None: a gradient that it had was that of the old value.
        # Set the node's `shape` and `dtype` to those of `output._array`. `position` is the
        # tensor's number among the tensors that went into `forward`: call
        # `rebase_history(output, node, index, position)`, which also takes care of the bases
        # of views. If `position` is None the tensor was no input: set its `_node`, `_index`
        # and `_requires_grad` to `node`, `index` and True.
        raise NotImplementedError("01.6 Writing to inputs is yours to write")

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Declare outputs that have no gradient; `backward` gets zeros for them."""
        # 01.4 Outputs that are not new (about 7 lines)
        # `mark_non_differentiable(*args)` keeps the tuple of outputs in
        # `self.non_differentiable`. `alias(tensor)` returns a new tensor on the same memory:
        # `Tensor._plain(tensor._array)`, noted as a view of `tensor` with `mark_view(result,
        # tensor, creation=IN_CUSTOM_FUNCTION)`. It has no place in the graph yet, and
        # `tensor` stays as it is. `constant(output)` returns what stands for an input, or for
        # a tensor that requires grad, where it is to have no gradient: `output.detach()` if
        # `output` requires grad, and an alias of it otherwise. The result never requires
        # grad, is never `output` itself, and shares its memory.
        raise NotImplementedError("01.4 Outputs that are not new is yours to write")

    def set_materialize_grads(self, value: bool) -> None:
        """With False, `backward` gets None, not zeros, for outputs without a gradient."""
        # 01.3 Outputs that nobody used (about 5 lines)
        # `set_materialize_grads(value)` notes the wish in `self.materialize_grads`.
        # `_zeros(index)` returns the gradient of an output that was not used: a tensor of
        # zeros of that output's shape and dtype, or None if the output was no tensor.
        # `self._blanks[index]` is the pair (shape, backend) of that output; the backend is
        # None if it was no tensor, and otherwise `backend.zeros(shape, dtype)` makes an
        # array. `self.metadata_of(index)` is (shape, array dtype). `Tensor._plain(array)`
        # makes a tensor of an array.
        raise NotImplementedError("01.3 Outputs that nobody used is yours to write")

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
        # 01.5 Saved tensors: see the task at `FunctionCtx.save_for_backward`.
        raise NotImplementedError("01.5 Saved tensors is yours to write")

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
        # 01.2 Backward: hand over and check (about 23 lines)
        # `apply_tensors(grads)` gets a sequence with the gradient of each output, or None
        # where an output was not used. If `self.materialize_grads` is true, `self._zeros(i)`
        # takes the place of each None (i is the output's number), in a new list: the engine
        # goes on with the one that it gave. Call the user's code with `self.apply(*grads)`.
        # Return `self._checked(results)`, where a result that is no tuple is made a tuple of
        # one first. `_checked(results)` returns a list with the gradients of those arguments
        # of `forward` that were tensors (`self._are_tensors` tells), in order; each is a
        # Tensor or None. Results beyond the number of arguments are dropped if all of them
        # are None. After that, a number of results that differs from the number of arguments
        # is a RuntimeError: "function NAME returned an incorrect number of gradients
        # (expected E, got G)", where NAME is `self.name()`. A result that is not None for an
        # argument that was no tensor is a RuntimeError: "function NAME returned a gradient
        # different than None at position P, but the corresponding forward input was not a
        # Variable", with P counted from 1. A result for a tensor that is neither a Tensor nor
        # None is a RuntimeError: "expected Variable or None (got KIND)", where KIND is the
        # name of its type.
        raise NotImplementedError("01.2 Backward: hand over and check is yours to write")

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
        # 01.3 Outputs that nobody used: see the task at `FunctionCtx.set_materialize_grads`.
        raise NotImplementedError("01.3 Outputs that nobody used is yours to write")

    def _checked(self, results: tuple[Any, ...]) -> list[Any]:
        """Return the gradients of the tensors among the inputs; the others must have none."""
        # 01.2 Backward: hand over and check: see the task at `FunctionNode.apply_tensors`.
        raise NotImplementedError("01.2 Backward: hand over and check is yours to write")


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
        # 01.1 Forward: the context and the graph (about 17 lines)
        # `apply(*args, **kwargs)` ends here; return the pair (context, results). Make a
        # context, `cls._backward_cls()`; it is the node of the graph at the same time. The
        # call is recorded if grad mode is on (`_state.grad_enabled.get()`) and at least one
        # tensor among `args` requires grad. Set on the context, before `forward` runs:
        # `_are_tensors`, a tuple that tells for each of `args` whether it is a Tensor;
        # `needs_input_grad`, a tuple that tells for each of `args` whether it is a Tensor
        # that requires grad. If the call is recorded, number the node with
        # `assign_sequence_nr(node)` and give it one edge for each tensor among `args`, in
        # order, with `node.set_edges(edges)`; a tensor's `_edge()` returns its edge, also
        # where it needs no gradient. Then, with recording off however `forward` ends, run
        # `cls.forward(context, *args, **kwargs)`; if the class has its own `setup_context`
        # (it is not `Function.setup_context`), run `cls.forward(*args, **kwargs)` and after
        # it `cls.setup_context(context, args, outputs)` with the outputs exactly as `forward`
        # returned them. Hand the outputs on as a tuple: `join_outputs(node, tensors, outputs,
        # recorded)` returns a list of what takes their place. If `forward` returned a tuple
        # the results are a tuple of the same length, also of length one; otherwise they are
        # the one result, bare.
        raise NotImplementedError("01.1 Forward: the context and the graph is yours to write")

    vjp = backward


class InplaceFunction(Function):
    """A Function with a `forward` that may write to its input; kept for code that names it."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
