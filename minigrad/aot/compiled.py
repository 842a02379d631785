"""A compiled function: it records a program at its first call, and runs that in later ones."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from operator import is_
from typing import Any
from weakref import WeakSet

import numpy as np

from .. import _state
from ..backend.float_errors import ignoring_float_errors
from ..func.tree import mapped
from ..graph.node import assign_sequence_nr
from ..ops.random.generator import get_rng_state
from ..tensor.tensor import Tensor
from .buffers import roots_of
from .emit import emit
from .guards.signature import modes, signature
from .guards.surroundings import Surroundings
from .lowering.lower import lower
from .node import Again, Call, CompiledNode, OneResultNode, forget_what_was_said, say_once
from .partition import partition
from .program import Step, Value
from .results import apart, copy_of, owned_gradients, viewed
from .trace.record import Leaf, Recorded, record
from .trace.refusal import Unrecordable

Array = Any

#: The number of programs that one function may have before it runs eagerly.
LIMIT = 8

TOO_MANY = ("torch.compile: {} was recorded {} times, with other arguments or surroundings each "
            "time; from now on it runs eagerly")


class Compiled:
    """One recorded program, as two functions of arrays, and how to call them with tensors."""

    def __init__(self, recorded: Recorded, budget: float = 1.0,
                 used: Sequence[bool] | None = None) -> None:
        lower(recorded)
        self.recorded = recorded
        #: Everything that the function can reach, if a call of the function leaves it as it is.
        self.surroundings: Surroundings | None = None
        self.ends = [r.value for r in recorded.results if r.differentiable]
        self.used = [True] * len(self.ends) if used is None else list(used)
        #: For which results a backward pass got gradients, if it got some but not all.
        self.found_used: list[bool] | None = None
        self.captured = [tensor for tensor, _ in recorded.captured]
        self.arrays = [tensor._array for tensor in self.captured]  # when they were last checked
        self.requires_grad = [tensor.requires_grad for tensor in self.captured]
        cut = partition(recorded, budget)
        self.saved = cut.saved
        inputs = {id(value) for value in recorded.inputs}
        forward = list(cut.forward)
        kept: list[Value | None] = []
        for value in cut.saved:  # a write to an input that is not free must not change it
            copies = id(value) in inputs and id(value) not in cut.free
            kept.append(copy_of(value, forward) if copies else value)
        self.results = [r for r in recorded.results if r.value is not None]
        outputs: list[Value | None] = [r.value for r in self.results]
        outputs = apart(outputs, forward, [v for v in cut.saved if id(v) not in recorded.read])
        outputs += [write.value for write in recorded.written if write.result is None]
        self.counts = len(self.results), len(outputs)
        self.is_single = (type(recorded.tree) is Leaf and len(recorded.results) == 1
                          and outputs == [recorded.results[0].value])
        self.shapes = [v.shape for v in outputs if v is not None]
        self.forward = emit("forward", recorded.inputs, forward, [*outputs, *kept])
        backward = list(cut.backward)
        gradients = owned_gradients(recorded, backward)
        self.backward = emit("backward", [*cut.saved, *recorded.tangents], backward, gradients)
        self.random = any(step.random for step in cut.forward)
        self.note_versions(cut.forward, outputs, cut.free)

    def note_versions(self, steps: Sequence[Step], outputs: Sequence[Value | None],
                      free: set[int]) -> None:
        """Find the inputs and results whose memory is saved, so that a later write is an error."""
        inputs = {id(v): i for i, v in enumerate(self.recorded.inputs)}
        roots = roots_of(steps)
        results = {id(roots.get(id(v), v)): k for k, v in enumerate(outputs[:len(self.results)])}
        self.saved_inputs, self.saved_results = [], []
        for value in self.saved:
            if id(value) in free:
                self.saved_inputs.append(inputs[id(value)])
            elif id(value) in results:
                self.saved_results.append(results[id(value)])

    @ignoring_float_errors
    def run(self, tensors: Sequence[Tensor], call: Call) -> Any:
        """Run the program on the tensors among the arguments of a call."""
        recorded = self.recorded
        inputs = [*tensors, *self.captured]
        differentiable = bool(self.ends) and bool(recorded.sources)
        state = get_rng_state() if self.random and differentiable else None
        before = [inputs[w.input]._array.copy("K") for w in recorded.written] if (
            differentiable) else []
        given = [t._array for t in inputs]
        arrays = self.forward(*given)
        ends, saved_from = self.counts
        for array, shape in zip(arrays, self.shapes):
            if array.shape != shape:
                raise RuntimeError(f"torch.compile: a result has the shape {array.shape}, but had "
                                   f"{shape} when the function was recorded")
        node = self.new_node(inputs, arrays[saved_from:]) if differentiable else None
        made, index = [], 0
        for result, array in zip(self.results, arrays[:ends]):
            tensor = Tensor._plain(array)
            if result.differentiable:
                tensor._node, tensor._index, tensor._requires_grad = node, index, True
                index += 1
            made.append(tensor)
        if node is not None:
            for i in self.saved_inputs:
                node.check(inputs[i], arrays[0])
            for k in self.saved_results:
                node.check(made[k], arrays[k])
            node.again = Again(self, inputs, given, call, state, before)
        if self.is_single:
            return made[0]
        values = iter(made)
        found: list[Any] = [None if r.value is None else next(values) for r in recorded.results]
        self.write_back(inputs, found, arrays[ends:saved_from])
        return self.result(inputs, found)

    def result(self, inputs: Sequence[Tensor], tensors: list[Any]) -> Any:
        """Return the function's result, put together from the tensors that the program made."""
        recorded = self.recorded
        for position, result in enumerate(recorded.results):
            if result.value is None:
                base = tensors[result.of] if result.input is None else inputs[result.input]
                tensors[position] = viewed(base, result.views)
        return mapped(lambda leaf: tensors[leaf.index] if type(leaf) is Leaf else leaf,
                      recorded.tree)

    def overlaps(self, tensors: Sequence[Tensor]) -> bool:
        """Return whether an input that the function writes to may share memory with another one.

        A program treats its inputs as separate, so such a call has to run eagerly.
        """
        arrays = [t._array for t in (*tensors, *self.captured)]
        return any(i != write.input and np.may_share_memory(array, arrays[write.input])
                   for write in self.recorded.written for i, array in enumerate(arrays))

    def new_node(self, inputs: Sequence[Tensor], saved: Sequence[Array]) -> CompiledNode:
        """Return the node of a call."""
        ends = self.ends
        node_type = OneResultNode if len(ends) == 1 else CompiledNode
        node = node_type([inputs[i]._edge() for i in self.recorded.sources])
        assign_sequence_nr(node)
        node.compiled, node.saved, node.versions, node.again = self, saved, [], None
        node.shape, node.dtype = ends[0].shape, ends[0].dtype
        if len(ends) > 1:
            node.num_inputs = len(ends)
            node.others = [(end.shape, end.dtype) for end in ends[1:]]
        return node

    def note_used(self, used: list[bool]) -> None:
        """Note for which results a backward pass gets gradients, so that a later call may renew."""
        if all(self.used) and any(used):
            self.found_used = used

    def write_back(self, inputs: Sequence[Tensor], tensors: Sequence[Any],
                   arrays: Sequence[Array]) -> None:
        """Write the new values to the inputs that the function wrote to."""
        plain = iter(arrays)
        for write in self.recorded.written:
            if write.result is not None:
                inputs[write.input].copy_(tensors[write.result])
            else:
                with _state.having(_state.grad_enabled, False):
                    inputs[write.input].copy_(Tensor._plain(next(plain)))


#: All compiled functions, for `forget_all`.
_all: WeakSet[CompiledFunction] = WeakSet()

STANCES = ("default", "force_eager", "eager_on_recompile", "fail_on_recompile")

#: How compiled functions run on this thread; see `torch.compiler.set_stance`.
stance: ContextVar[str] = ContextVar("stance", default="default")


def forget_all() -> None:
    """Forget the programs of all compiled functions."""
    for each in list(_all):
        each.programs.clear()
        each.count, each.is_full = 0, False
    forget_what_was_said()


class CompiledFunction:
    """A function that is recorded for each signature, and then runs as a program."""

    def __init__(self, function: Callable[..., Any], fullgraph: bool = False,
                 budget: float = 1.0) -> None:
        _all.add(self)
        self.function = function
        self.fullgraph = fullgraph
        self.budget = budget  # of memory, see `partition`
        self.programs: dict[Any, list[tuple[Surroundings, Compiled | None]]] = {}
        self.count = 0  # of recordings
        self.is_full = False  # whether it may not be recorded any more
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.function
        if self.is_full or (_state.observers.count and runs_eagerly()) or (
                stance.get() == "force_eager"):
            return function(*args, **kwargs)
        tensors: list[Tensor] = []
        others: list[Any] = []
        key = (modes(), signature(args, tensors, others),
               signature(kwargs, tensors, others) if kwargs else None)
        for tensor in tensors:
            if type(tensor._array) is not np.ndarray:  # a batch, or on a GPU
                return function(*args, **kwargs)
        for surroundings, compiled in self.programs.get(key, ()):
            if surroundings.unchanged() and (compiled is None or fits(compiled)):
                if compiled is not None and compiled.found_used is not None:
                    compiled = self.renewed(key, surroundings, compiled, args, kwargs)
                break
        else:
            compiled = self.recorded(key, args, kwargs, others)
        if compiled is None or (compiled.recorded.written and compiled.overlaps(tensors)):
            return function(*args, **kwargs)
        call = Call(function, args, kwargs)
        if _state.observers.count and (recorder := _state.recorder.get()) is not None:
            return recorder.call("CompiledFunction", tuple(tensors), compiled.run, tensors, call)
        return compiled.run(tensors, call)

    def recorded(self, key: Any, args: Any, kwargs: Any, others: list[Any]) -> Compiled | None:
        """Record a program for a signature; return `None` if the call has to run eagerly."""
        if stance.get() == "fail_on_recompile" and self.count:
            raise RuntimeError("Detected recompile when torch.compile stance is "
                               "'fail_on_recompile'.")
        if stance.get() == "eager_on_recompile":
            return None
        if self.count == LIMIT:
            self.is_full = True
            name = getattr(self.function, "__name__", type(self.function).__name__)
            say_once(TOO_MANY.format(name, LIMIT))
            return None
        self.count += 1
        surroundings = None
        try:
            surroundings = Surroundings(self.function, *others)
            compiled = Compiled(record(self.function, args, kwargs, surroundings.tensors),
                                self.budget)
            if surroundings.unchanged():
                compiled.surroundings = surroundings
        except Exception as error:
            if self.fullgraph:
                raise
            if not isinstance(error, Unrecordable):
                return None  # the function itself will raise it, or this was about recording
            say_once(f"{error}, so this call runs eagerly")
            compiled = None
            if surroundings is None:  # nothing to compare in later calls
                self.is_full = True
                return None
        self.programs.setdefault(key, []).append((surroundings, compiled))
        return compiled

    def renewed(self, key: Any, surroundings: Surroundings, compiled: Compiled, args: Any,
                kwargs: Any) -> Compiled:
        """Replace a program by one whose backward pass expects the gradients that one pass got.

        This happens once.  If another backward pass gets different ones, it runs the function
        again, as that one did.
        """
        used, compiled.found_used = compiled.found_used, None
        try:
            new = Compiled(record(self.function, args, kwargs, surroundings.tensors, used),
                           self.budget, used)
        except Unrecordable:  # such as a function that asks how often it ran
            return compiled
        new.surroundings = compiled.surroundings
        programs = self.programs[key]
        programs[programs.index((surroundings, compiled))] = surroundings, new
        return new

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledFunction:
        return CompiledFunction(copy.deepcopy(self.function, memo), self.fullgraph, self.budget)

    def __reduce__(self) -> tuple[Any, ...]:
        return CompiledFunction, (self.function, self.fullgraph, self.budget)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


def runs_eagerly() -> bool:
    """Return whether a mode is on that has to see each op."""
    return bool(_state.transform.get() or _state.autocast.get() or _state.program.get()
                or _state.saved_tensors_hooks.get() or _state.randomness.get()
                or _state.inference_enabled.get())


def fits(compiled: Compiled) -> bool:
    """Return whether the captured tensors still look as they did when they were recorded."""
    captured = compiled.captured
    if compiled.requires_grad != [t.requires_grad for t in captured]:
        return False
    arrays = [t._array for t in captured]
    if all(map(is_, arrays, compiled.arrays)):
        return True
    for array, (_, value) in zip(arrays, compiled.recorded.captured, strict=True):
        if type(array) is not np.ndarray or array.shape != value.shape or (
                array.dtype != value.dtype or array.strides != value.strides):
            return False
    compiled.arrays = arrays
    return True
