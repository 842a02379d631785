"""Backward hooks of modules, built on identity nodes around the inputs and the outputs.

The gradients of a module's inputs and outputs pass through these nodes, and the full hooks are
attached to them. The older, deprecated hooks are attached to the last node of forward, so they
see only that node's gradients.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from .. import _state
from ..autograd.function import Function
from ..frames import warn_user
from ..tensor.tensor import Tensor

Hook = Callable[..., Any]


class Identity(Function):
    """A function that returns tensors and gradients unchanged."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:
        return grads


class BackwardHook:
    """The backward hooks of one module call.

    The nodes refer to this object but it does not refer to them, so the graph has no cycles.
    """

    def __init__(self, module: Any, hooks: Iterable[Hook], pre_hooks: Iterable[Hook]) -> None:
        self.module = module
        self.hooks = list(hooks)
        self.pre_hooks = list(pre_hooks)
        self.grad_outputs: tuple[Any, ...] | None = None
        self.input_places: list[int] | None = None  # `None` if no tensor needs a grad
        self.output_places: list[int] = []
        self.inputs = self.outputs = 0

    def watch_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Pass the tensors among the module's arguments through the identity node."""
        self.inputs = len(args)
        watched, places, node = through_identity(args)
        if node is not None:
            self.input_places = places
            def hook(grads: tuple[Any, ...], _: Any) -> tuple[Any, ...] | None:  # errors name it
                return self.inputs_done(grads)

            node.register_hook(hook)
        return watched

    def watch_outputs(self, result: Any) -> Any:
        """Pass the tensors of the module's result through the identity node."""
        single = isinstance(result, Tensor)
        if not single and not isinstance(result, tuple):
            warn_user("For backward hooks to be called, module output should be a Tensor or a "
                      f"tuple of Tensors but received {type(result)}")
            return result
        outputs = (result,) if single else result
        self.outputs = len(outputs)
        watched, self.output_places, node = through_identity(outputs)
        if node is not None:
            def hook(_: Any, grads: tuple[Any, ...]) -> tuple[Any, ...]:  # errors name it
                return self.outputs_arrived(grads)

            node.register_hook(hook)
        return watched[0] if single else watched

    def outputs_arrived(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run the pre-hooks on the gradients of the outputs and store the result.

        Hooks get `None` for an unused output, while the identity node itself gets zeros.
        """
        self.grad_outputs = placed(grads, self.output_places, self.outputs)
        for hook in self.pre_hooks:
            new = hook(self.module, self.grad_outputs)
            if new is not None:
                if len(new) != self.outputs:
                    raise RuntimeError("Backward pre hook returned an invalid number of grad_output"
                                       f", got {len(new)}, but expected {self.outputs}")
                self.grad_outputs = new
        handed = tuple(self.grad_outputs[i] for i in self.output_places)
        if self.input_places is None:
            warn_user(
                "Full backward hook is firing when gradients are computed with respect to module "
                "outputs since no inputs require gradients. See https://docs.pytorch.org/docs/main/"
                "generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook for "
                "more details.")
            for hook in self.hooks:
                new = hook(self.module, (None,) * self.inputs, self.grad_outputs)
                if new is not None and not (isinstance(new, tuple) and all(n is None for n in new)):
                    raise RuntimeError("Backward hook for Modules where no input requires gradient "
                                       "should always return None or None for all gradients.")
            self.grad_outputs = None
        return handed

    def inputs_done(self, grads: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Run the hooks on the gradients of the inputs; they may replace these."""
        if self.grad_outputs is None or self.input_places is None:
            return None
        grad_inputs = placed(grads, self.input_places, self.inputs)
        for hook in self.hooks:
            new = hook(self.module, grad_inputs, self.grad_outputs)
            if new is not None:
                if len(new) != len(grad_inputs):
                    raise RuntimeError("Backward hook returned an invalid number of grad_input, "
                                       f"got {len(new)}, but expected {len(grad_inputs)}")
                grad_inputs = new
        self.grad_outputs = None
        return tuple(grad_inputs[i] for i in self.input_places)


def through_identity(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[int], Any]:
    """Pass tensors through an identity node; return the values, tensor positions and the node."""
    places = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
    recorded = _state.grad_enabled.get() and any(values[i].requires_grad for i in places)
    if not recorded:
        return values, places, None
    passed = Identity.apply(*[values[i] for i in places])
    passed = passed if isinstance(passed, tuple) else (passed,)
    result = list(values)
    for place, tensor in zip(places, passed, strict=True):
        result[place] = tensor
    node = next(t.grad_fn for t in passed if t.grad_fn is not None)
    kept = tuple(result)
    if type(values) is not tuple and hasattr(values, "_fields"):
        kept = type(values)(*result)
    return kept, places, node


def placed(grads: tuple[Any, ...], places: list[int], count: int) -> tuple[Any, ...]:
    """Put the gradients at their tensors' positions and `None` everywhere else."""
    result: list[Any] = [None] * count
    for place, grad in zip(places, grads, strict=True):
        result[place] = grad
    return tuple(result)


# -------------------------------------------------------------------- the older kind


def hook_last_node(module: Any, hooks: Iterable[Hook], args: tuple[Any, ...], result: Any) -> None:
    """Register deprecated hooks on the node of the result, and warn if they miss gradients."""
    first = result
    while not isinstance(first, Tensor):
        first = (next(v for v in first.values() if isinstance(v, Tensor))
                 if isinstance(first, dict) else first[0])
    node = first.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(functools.partial(hook, module))
    missed = what_is_missed(args, result, node)
    if missed is not None:
        warn_user(f"Using {missed}", FutureWarning)


def what_is_missed(args: Any, result: Any, node: Any) -> str | None:
    """Return why hooks on one node miss gradients of the module, or `None` if they see all."""
    deprecated = "is deprecated and will be removed in future versions. This hook will be missing"
    instead = "Please use register_full_backward_hook to get the documented behavior."
    outputs = (result,) if isinstance(result, Tensor) else result
    for values, of_what, does in ((outputs, "grad_output", "return"),
                                  (args, "grad_input", "take as input")):
        if not (isinstance(values, tuple) and all(isinstance(v, Tensor) for v in values)):
            return (f"non-full backward hooks on a Module that does not {does} a single Tensor or "
                    f"a tuple of Tensors {deprecated} some of the {of_what}. {instead}")
    nodes = {output.grad_fn for output in outputs} - {None}
    if len(nodes) > 1:
        return ("a non-full backward hook when outputs are generated by different autograd Nodes "
                f"{deprecated} some grad_output. {instead}")
    if node not in nodes:
        return ("a non-full backward hook when outputs are nested in python data structure "
                f"{deprecated} some grad_output.")
    behind = {value.grad_fn for value in args} - {None}
    if behind != {edge[0] for edge in node.next_functions}:
        return ("a non-full backward hook when the forward contains multiple autograd Nodes "
                f"{deprecated} some grad_input. {instead}")
    return None
