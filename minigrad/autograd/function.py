"""Function: an operation whose forward and backward the user writes.

The context that `forward` and `backward` get as `ctx` is the node itself: what `forward` leaves on
it, `backward` finds there.

Source: https://docs.pytorch.org/docs/stable/autograd.html#function
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from .. import _state
from .._state import number
from ..backend import backend_of
from ..graph import NaryNode, through_tensors
from ..saved import SavedTensor
from ..tensor import Tensor
from ..views import IN_CUSTOM_FUNCTION, MULTI_OUTPUT, mark_view, rebase_history
from .grad_mode import no_grad


class FunctionCtx:
    """What `forward` may call on its context."""

    to_save: tuple[Tensor | None, ...]
    saved_for_forward: tuple[Tensor | None, ...] | None
    dirty_tensors: tuple[Tensor, ...]
    non_differentiable: tuple[Tensor, ...]
    materialize_grads: bool

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs for `backward`, which finds them in `ctx.saved_tensors`.

        Everything that is no tensor can be set on `ctx` as an attribute.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs for `jvp`, which finds them in `ctx.saved_tensors`."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Declare inputs that `forward` wrote to; they have to be returned as well."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Declare outputs that have no gradient; `backward` gets zeros for them."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Have `backward` get None, and not zeros, for outputs without a gradient (False)."""
        self.materialize_grads = value

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Raise: PyTorch deprecated it, for there is nothing to declare any more."""
        warnings.warn("mark_shared_storage is deprecated. Tensors with shared storages are "
                      "automatically tracked. Note that calls to `set_()` are not tracked",
                      FutureWarning, stacklevel=2)


class FunctionNode(FunctionCtx, NaryNode):
    """The node of a Function, and its context."""

    function: type[Function]
    needs_input_grad: tuple[bool, ...]

    def __init__(self) -> None:
        super().__init__()
        self.extras = None
        self.shape, self.dtype = (), None
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
        """What `save_for_backward` kept, checked against writes since; in `jvp` the other ones."""
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

    def release(self) -> None:
        for saved in self._saved:
            if saved is not None:
                saved.release()

    def apply_arrays(self, grads: Sequence[Any], needed: Any) -> Sequence[Any]:
        return through_tensors(self, Tensor._plain, grads)

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        if self.materialize_grads:
            grads = [self._zeros(i) if g is None else g for i, g in enumerate(grads)]
        results = self.function.backward(self, *grads)
        return self._checked(results if isinstance(results, tuple) else (results,))

    def _zeros(self, index: int) -> Tensor | None:
        shape, like = self._blanks[index]
        if like is None:
            return None
        return Tensor._plain(like.zeros(shape, self.metadata_of(index)[1]))

    def _checked(self, results: tuple[Any, ...]) -> list[Any]:
        """Return the gradients of the tensors among the inputs; the others must have none."""
        expected, name = len(self._are_tensors), self.name()
        while len(results) > expected and results[-1] is None:
            results = results[:-1]
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
    """The base of custom operations: write `forward(ctx, ...)` and `backward(ctx, *grads)`, call
    `apply`.

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

    node_type: type[FunctionNode]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(f"{type(self)} should not be instantiated. Methods on autograd functions are "
                      "all static, so you should invoke them on the class itself. Instantiating an "
                      "autograd function will raise an error in a future version of PyTorch.",
                      DeprecationWarning, stacklevel=2)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        body = {"function": cls, "__module__": cls.__module__, "__doc__": cls.__doc__}
        cls.node_type = type(cls.__name__ + "Backward", (FunctionNode,), body)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. "
                           "Please use new-style autograd function with static forward method. "
                           "(Example: https://pytorch.org/docs/stable/autograd.html"
                           "#torch.autograd.Function)")

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; the first argument is `ctx` unless `setup_context` is defined."""
        raise NotImplementedError("You must implement the forward function for custom "
                                  "autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Fill `ctx`, where `forward` was written without it."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return the gradient of each argument of `forward`; None where there is none."""
        raise NotImplementedError("You must implement either the backward or vjp method for your "
                                  "custom autograd.Function to use it with backward mode AD.")

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Return the tangent of each output for those of the arguments of `forward`."""
        raise NotImplementedError("You must implement the jvp function for custom "
                                  "autograd.Function to use it with forward mode AD.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` without recording and join what it returns to the graph."""
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
        """Return the context as well as the results, which forward mode needs both."""
        if _state.observers.count and (transform := _state.transform.get()) is not None:
            return transform.function(cls, args, kwargs)
        node = cls.node_type()
        tensors = [a for a in args if isinstance(a, Tensor)]
        recorded = (_state.grad_enabled.get() and not _state.inference_enabled.get()
                    and any(t.requires_grad for t in tensors))
        node._are_tensors = tuple(isinstance(a, Tensor) for a in args)
        node.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        if recorded:
            number(node)
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


def join_outputs(node: FunctionNode, inputs: list[Tensor], outputs: Sequence[Any],
                 recorded: bool) -> list[Any]:
    """Give each output its place in the graph, then save what `forward` asked to keep."""
    dirty = {id(t) for t in node.dirty_tensors}
    if not dirty <= {id(o) for o in outputs}:
        raise RuntimeError("Some elements marked as dirty during the forward method were not "
                           "returned as output. The inputs that are modified inplace must all be "
                           "outputs of the Function.")
    fixed = {id(t) for t in node.non_differentiable}
    node._differentiable = tuple(isinstance(o, Tensor) and o.is_floating_point()
                                 and id(o) not in fixed for o in outputs)
    live = sum(node._differentiable)
    positions = {id(t): i for i, t in enumerate(inputs)}
    node.num_inputs = len(outputs)
    results: list[Any] = []
    seen: dict[int, Any] = {}
    for index, (output, sloped) in enumerate(zip(outputs, node._differentiable, strict=True)):
        if not isinstance(output, Tensor):
            results.append(output)
            continue
        result = join_output(node, output, index, recorded and sloped, id(output) in dirty,
                             positions.get(id(output)), live)
        seen[id(output)] = result
        results.append(result)
    describe_outputs(node, results)
    if recorded:
        kept: list[SavedTensor | None] = []
        for t in node.to_save:
            if t is not None and not isinstance(t, Tensor):
                raise TypeError("save_for_backward can only save variables, but argument "
                                f"{len(kept)} is of type {type(t).__name__}")
            if t is not None and id(t) in seen and id(t) not in positions:
                t = seen[id(t)]
            kept.append(None if t is None else SavedTensor(t, is_output=t._node is node))
        node._saved = kept
    node.to_save = node.dirty_tensors = node.non_differentiable = ()
    return results


def join_output(node: FunctionNode, output: Tensor, index: int, differentiable: bool, dirty: bool,
                position: int | None, live: int) -> Tensor:
    """Give one output its place in the graph; one that was returned as it came gets an alias."""
    if dirty:
        output._bump()
    elif not differentiable and output.requires_grad:
        return output.detach()
    if not differentiable:
        return alias(output) if position is not None and not dirty else output
    if dirty:
        if output.requires_grad and output.is_leaf:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place "
                               "operation.")
        if output._view is not None:
            if live > 1:
                raise RuntimeError(
                    "If your Function modifies inplace an input that is a view of another Tensor, "
                    "your Function cannot return more than one Tensor. This is not supported by "
                    "the current autograd engine. You should either make sure the input is not a "
                    "view (using .clone() for example) or make your Function only return one "
                    "Tensor (potentially splitting it into two Functions: one doing the inplace "
                    "that returns a single Tensor and a second one that does the other operations)."
                    " You can ask on the forum https://discuss.pytorch.org/ if you need help to do "
                    "this change.")
            output._view.refuse(output)
            node.shape, node.dtype = output._array.shape, output._array.dtype
        if position is not None:
            rebase_history(output, node, index, position)
            return output
    elif position is not None or output._node is not None:
        output = alias(output)
    output._node, output._index, output._requires_grad = node, index, True
    if output._view is not None and not dirty:
        output._view.creation = MULTI_OUTPUT if live > 1 else IN_CUSTOM_FUNCTION
        output._view.version = output._version
    return output


def alias(tensor: Tensor) -> Tensor:
    """Return a view of the whole tensor, made outside the graph."""
    result = Tensor._plain(tensor._array)
    mark_view(result, tensor, creation=IN_CUSTOM_FUNCTION)
    return result


def describe_outputs(node: FunctionNode, results: Sequence[Any]) -> None:
    """Note shapes and dtypes, which incoming gradients are checked against."""
    arrays = [r._array if isinstance(r, Tensor) else None for r in results]
    described = [((), None) if a is None else (a.shape, a.dtype) for a in arrays]
    if described:
        (node.shape, node.dtype), node.others = described[0], described[1:]
    node._blanks = [((), None) if a is None else (a.shape, backend_of(a)) for a in arrays]


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` that cannot be differentiated again: trying to raises.

    >>> from minigrad import tensor
    >>> from minigrad.autograd import grad
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
        bare = not isinstance(outputs, tuple)
        delayed = DelayedError("trying to differentiate twice a function that was marked with "
                               "@once_differentiable")
        guarded = delayed(*((outputs,) if bare else outputs))
        return guarded[0] if bare else guarded

    return wrapper


class DelayedError(NaryNode):
    """A node that raises when a gradient reaches it."""

    def __init__(self, message: str) -> None:
        super().__init__()
        self.message = message
        self.extras = None
        number(self)

    def __call__(self, *tensors: Any) -> Any:
        """Return the tensors as outputs of this node."""
        results: list[Any] = []
        self.num_inputs = len(tensors)
        for index, tensor in enumerate(tensors):
            if tensor is not None:
                tensor = Tensor._plain(tensor._array)
                tensor._node, tensor._index, tensor._requires_grad = self, index, True
            results.append(tensor)
        arrays = [((), None) if t is None else (t._array.shape, t._array.dtype) for t in results]
        (self.shape, self.dtype), self.others = arrays[0], arrays[1:]
        return tuple(results)

    def apply_arrays(self, grads: Sequence[Any], needed: Any) -> Sequence[Any]:
        raise RuntimeError(self.message)

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        raise RuntimeError(self.message)


class InplaceFunction(Function):
    """A Function whose `forward` may write to its input; kept for code that names it."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
