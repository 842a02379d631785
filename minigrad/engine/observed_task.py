"""Hook, profiler, anomaly and multi-device support for a backward pass.

The gradients need none of this, so `GraphTask` calls these methods only if a node has hooks, a
profiler or anomaly mode is on, or a device other than the CPU is in use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _state
from ..device import NO_PLACE, place_on
from ..graph.accumulate_grad import AccumulateGrad
from ..graph.hooks import Table
from ..graph.node import Node
from ..tensor.tensor import Tensor
from . import hooks
from .input_buffer import Gradient, InputBuffer, Value
from .places import at_place_of
from .validate import validate_outputs


class ObservedTask:
    """The methods of a backward pass for nodes that something observes."""

    on_tensors: bool
    nodes_to_execute: set[Node] | None
    recorder: Any = None  # a profiler
    several_devices = False  # whether a device other than the CPU is in use
    batched = False  # whether gradients are batches, see autograd/batched_grads.py

    def apply(self, node: Node, grads: Sequence[Value | None]) -> Sequence[Value | None]:
        """Run the formulas of a node."""
        raise NotImplementedError

    def run_tensor_hooks(self, node: Node, buffer: InputBuffer) -> None:
        """Run the hooks of the outputs, and then set `.grad` of outputs that retain it.

        The engine no longer owns a gradient that a hook has seen, because the hook may keep it.
        """
        extras = node.extras
        assert extras is not None
        if not (extras.tensor or extras.retained):
            return
        shown = list(self.as_tensors(buffer.grads))
        if extras.tensor:
            hooks.run_tensor_hooks(extras.tensor, shown)
            buffer.grads[:] = self.from_tensors(shown)
            buffer.owned = [False] * len(shown)
        if extras.retained:
            hooks.keep_retained(extras.retained, shown)

    def call_with_hooks(self, node: Node, grads: list[Value | None]) -> Sequence[Value | None]:
        """Do the same as `call`, with the node's hooks and as an event of the profiler.

        The node runs on the device of its forward, or else on the device of the gradients.
        """
        extras = node.extras
        with at_place_of(node, grads) if self.several_devices else NO_PLACE:
            if extras is not None and extras.pre:
                shown = hooks.run_pre_hooks(extras.pre, self.as_tensors(grads))
                grads[:] = self.from_tensors(shown)
            results = self.recorded(node, grads, self.apply, node, grads)
            if extras is not None and extras.post:
                results = self.run_post_hooks(node, extras.post, grads, results)
        return results

    def run_post_hooks(self, node: Node, table: Table, grads: Sequence[Value | None],
                       results: Sequence[Value | None]) -> Sequence[Value | None]:
        """Call a node's hooks with its validated results; return the results to route."""
        valid = validate_outputs(node, grads, results)
        shown = self.as_tensors([gradient and gradient.value for gradient in valid])
        needed = self.nodes_to_execute
        if needed is not None and not node.shows_all_results:
            shown = tuple(result if after in needed else None
                          for result, (after, _) in zip(shown, node.edges, strict=True))
        shown = hooks.run_post_hooks(table, shown, self.as_tensors(grads))
        return [None if r is None else borrowed(r) for r in self.from_tensors(shown)]

    def accumulate_with_hooks(self, node: AccumulateGrad, grad: Value | None,
                              owned: bool) -> None:
        """Do the same as `accumulate`, with the leaf's hooks and as an event of the profiler."""
        extras = node.extras
        if extras is not None and extras.pre:
            (grad,) = self.from_tensors(hooks.run_pre_hooks(extras.pre, self.as_tensors([grad])))
            owned = False
        with place_on(node.variable._array):
            if isinstance(grad, Tensor):
                self.recorded(node, (grad,), node.apply_tensors, (grad,))
            elif grad is not None:
                self.recorded(node, (grad,), node.accumulate, grad, owned)
        waiting = node.variable._extras.post_accumulate
        if waiting:
            hooks.run_after_accumulation(waiting, node.variable)
        if extras is not None and extras.post:
            hooks.run_post_hooks(extras.post, (), self.as_tensors([grad]))

    def recorded(self, node: Node, grads: Sequence[Value | None], apply: Callable[..., Any],
                 *args: Any) -> Any:
        """Return `apply(*args)`, the work of a node, recorded as an event if a profiler is on."""
        if self.recorder is None:
            return apply(*args)
        return self.recorder.node(node, grads, apply, *args)

    def as_tensors(self, grads: Sequence[Value | None]) -> tuple[Any, ...]:
        """Return gradients as users see them, as tensors."""
        return tuple(g if g is None or isinstance(g, Tensor) else Tensor._plain(g) for g in grads)

    def from_tensors(self, tensors: Sequence[Any]) -> list[Value | None]:
        """Return tensors from user code in the form that this pass uses."""
        if self.on_tensors:
            return list(tensors)
        return [t._array if isinstance(t, Tensor) else t for t in tensors]


def borrowed(grad: Value) -> Value:
    """Return a hook's gradient as a view, so that the engine never takes ownership of it."""
    return grad if isinstance(grad, Tensor) else grad[...]


def check_nan(node: Node, gradients: Sequence[Gradient | None]) -> None:
    """Raise if anomaly mode checks for NaN and a node's results contain one."""
    if _state.anomaly.check_nan:
        _state.anomaly.check_gradients(node, [g and g.value for g in gradients])
