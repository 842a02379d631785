"""The node of a compiled call, and the way back to the function itself.

The backward pass of a node is one function of arrays.  Two cases have no program: a second
derivative, and a pass that gets gradients for other results than the program expects.  For these
the function runs again, eagerly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _state
from ..autograd.backward import grad
from ..frames import warn_user
from ..func.tree import mapped
from ..graph.node import NaryNode
from ..graph.saved_errors import FREED_MESSAGE, modified_error
from ..graph.special_versions import is_inference
from ..graph.version import Version, version_of
from ..ops.random.generator import get_rng_state, set_rng_state
from ..tensor.tensor import Tensor

if TYPE_CHECKING:
    from .compiled import Compiled

Array = Any

NOT_AGAIN = ("torch.compile: a second derivative through a function that writes to an input that "
             "requires grad is not supported")

CHANGED = ("torch.compile: {} was changed after the call, but a second derivative, or the gradient "
           "of only some of the results, runs the function again and needs it as it was")


class Call(NamedTuple):
    """A call of the function itself."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class CompiledNode(NaryNode):
    """The node of a compiled call: its backward pass is one function of arrays."""

    __slots__ = ("again", "compiled", "saved", "versions")
    borrows_results = False

    compiled: Compiled
    saved: Sequence[Array] | None  # `None` once they are freed
    versions: list[tuple[Any, int, Array]]  # of the inputs and results among them
    again: Again | None

    def check(self, tensor: Tensor, array: Array) -> None:
        """Let a later write to a saved tensor be an error."""
        counter = tensor._shared_counter()
        if not is_inference(counter):
            self.versions.append((counter, counter.value, array))

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        compiled = self.compiled
        used = [g is not None for g in grads]
        if used == compiled.used:
            return self.run_program([g for g in grads if g is not None])
        compiled.note_used(used)
        found = self.run_again([None if g is None else Tensor._plain(g) for g in grads], False)
        return [None if g is None else g._array for g in found]

    def run_program(self, grads: Sequence[Array]) -> Sequence[Array | None]:
        """Run the backward program on the gradients that it expects."""
        saved = self.unpacked()
        for g in grads:
            if not g.flags.c_contiguous:  # the recorded ones were
                grads = [np.ascontiguousarray(each) for each in grads]
        gradients: Sequence[Array | None] = self.compiled.backward(*saved, *grads)
        return gradients

    def unpacked(self) -> Sequence[Array]:
        """Return the saved values; raise if they are freed or were written to."""
        if self.saved is None:
            raise RuntimeError(FREED_MESSAGE)
        for counter, version, array in self.versions:
            if counter.value != version:
                raise modified_error(array, 0, self, counter.value, version)
        return self.saved

    def apply_tensors(self, grads: Sequence[Any]) -> Sequence[Any]:
        if not _state.grad_enabled.get():
            found = self.apply_arrays([None if g is None else g._array for g in grads], None)
            return [None if g is None else Tensor._plain(g) for g in found]
        return self.run_again(grads, True)

    def run_again(self, grads: Sequence[Any], create_graph: bool) -> Sequence[Any]:
        """Run the function eagerly and differentiate it, since there is no program for this."""
        self.unpacked()
        assert self.again is not None
        return self.again.gradients(grads, create_graph)

    def name(self) -> str:
        return "CompiledFunctionBackward"

    def release(self) -> None:
        self.saved = self.again = None
        self.versions = []


class OneResultNode(CompiledNode):
    """The node of a compiled call with one differentiable result: planned passes run it fast."""

    __slots__ = ()
    is_written = True

    def step_on_arrays(self, task: Any, g: Any) -> None:
        """Turn the gradient that arrived into the inputs' gradients, and pass them on."""
        if type(g) is not np.ndarray or self.saved is None:
            task.hand_back(self, g)
            return
        results = self.run_program((g,))
        if not task.retain_graph:
            self.release()
        needed, buffers = task.nodes_to_execute, task.buffers
        for position, (end, _) in enumerate(self.edges):
            if end is None or (needed is not None and end not in needed):
                continue
            result = results[position]
            if result is None:
                task.add(end, None, False)
            elif end in buffers or end.num_inputs > 1 or result.shape != end.shape or (
                    result.dtype is not end.dtype):
                task.route(self, position, result, g)
            else:
                buffers[end] = result

    def step_on_tensors(self, task: Any, g: Any) -> None:
        """Leave a pass on tensors to `GraphTask`."""
        task.hand_back(self, g)


class Again:
    """Everything that it takes to run a compiled call again, eagerly, on the same values."""

    __slots__ = ("arrays", "before", "call", "compiled", "inputs", "state", "versions")

    def __init__(self, compiled: Compiled, inputs: Sequence[Tensor], arrays: Sequence[Array],
                 call: Call, state: Any, before: Sequence[Array]) -> None:
        self.compiled, self.inputs, self.arrays, self.call = compiled, inputs, arrays, call
        self.state, self.before = state, before
        self.versions = [0 if (c := t._counter) is None
                         else c.value if type(c) is Version else seen_version(t) for t in inputs]

    def gradients(self, grads: Sequence[Any], create_graph: bool) -> list[Any]:
        """Return the gradients of the sources, with a history if `create_graph` is set."""
        recorded = self.compiled.recorded
        self.check()
        if create_graph:
            say_once("torch.compile: a second derivative runs the function again, eagerly")
        ends, given = list(self.inputs), list(self.inputs)
        args, kwargs = self.call.args, self.call.kwargs
        live = [w for w in recorded.written if ends[w.input].requires_grad]
        if live:
            if create_graph or any(w.input >= len(recorded.arguments) for w in live):
                raise RuntimeError(NOT_AGAIN)
            with _state.having(_state.grad_enabled, True):
                args, kwargs = self.with_stand_ins(ends, given)
        with Before(self), _state.having(_state.grad_enabled, True):
            outcome = self.call.function(*args, **kwargs)
            found: list[Any] = []
            mapped(lambda v: found.append(v) if isinstance(v, Tensor) else None, outcome)
            bases = {r.of: found[i]._base for i, r in enumerate(recorded.results)
                     if r.of is not None and i < len(found)}
            of_writes = {w.result: given[w.input] for w in recorded.written}
            found = [found[i] if i < len(found) else of_writes.get(i, bases.get(i))
                     for i in range(len(recorded.results))]
            pairs = [(t, g) for t, r, g in zip(found, recorded.results, self.by_result(grads))
                     if r.differentiable and g is not None]
            if not pairs:
                return [None] * len(recorded.sources)
            return list(grad([t for t, _ in pairs], [ends[i] for i in recorded.sources],
                             [g for _, g in pairs], create_graph=create_graph, allow_unused=True))

    def check(self) -> None:
        """Raise if something that the function reads has changed since the call."""
        recorded = self.compiled.recorded
        written = {write.input for write in recorded.written}  # `Before` gives these their values
        for i, (tensor, array, version) in enumerate(zip(self.inputs, self.arrays, self.versions)):
            if i not in written and (tensor._array is not array
                                     or seen_version(tensor) != version):
                raise RuntimeError(CHANGED.format(recorded.inputs[i].name))
        surroundings = self.compiled.surroundings
        if surroundings is not None and not surroundings.unchanged():
            raise RuntimeError(CHANGED.format("a value"))

    def by_result(self, grads: Sequence[Any]) -> list[Any]:
        """Return the gradients by the number of the result, with `None` for the others."""
        given = iter(grads)
        return [next(given) if r.differentiable else None for r in self.compiled.recorded.results]

    def with_stand_ins(self, ends: list[Tensor], given: list[Tensor]) -> Any:
        """Return the arguments with new tensors for the ones that were written to.

        The new tensors replace them in `given`, and the leaves that these begin with in `ends`.
        """
        new: dict[int, Tensor] = {}
        for write, array in zip(self.compiled.recorded.written, self.before, strict=True):
            if write.input >= len(self.compiled.recorded.required):
                continue  # `Before` gives a captured tensor its earlier values
            tensor = ends[write.input]
            leaf = Tensor._plain(array.copy("K"))
            leaf._requires_grad = self.compiled.recorded.required[write.input]
            ends[write.input] = leaf
            new[id(tensor)] = given[write.input] = leaf.clone() if leaf._requires_grad else leaf
        return mapped(lambda v: new.get(id(v), v), (list(self.call.args), self.call.kwargs))


def seen_version(tensor: Tensor) -> Any:
    """Return the version of a tensor, or the counter of an inference tensor."""
    return tensor._counter if is_inference(tensor._counter) else version_of(tensor)


class Before:
    """A block in which random generators and written inputs are as they were before a call."""

    def __init__(self, again: Again) -> None:
        self.again = again
        self.tensors = [again.inputs[w.input] for w in again.compiled.recorded.written]

    def __enter__(self) -> None:
        self.held = [(t._array, t._counter) for t in self.tensors]
        for tensor, array in zip(self.tensors, self.again.before, strict=True):
            tensor._array, tensor._counter = array.copy("K"), None
        self.now = None
        if self.again.state is not None:
            self.now = get_rng_state()
            set_rng_state(self.again.state)

    def __exit__(self, *error: object) -> None:
        for tensor, (array, counter) in zip(self.tensors, self.held, strict=True):
            tensor._array, tensor._counter = array, counter
        if self.now is not None:
            set_rng_state(self.now)


_said: set[str] = set()


def say_once(message: str) -> None:
    """Warn about something, but only the first time."""
    if message not in _said:
        _said.add(message)
        warn_user(message, UserWarning)


def forget_what_was_said() -> None:
    """Warn again about everything."""
    _said.clear()
