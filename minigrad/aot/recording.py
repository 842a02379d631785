"""A recording in progress: an interceptor that turns each op into a step of a program."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any

import numpy as np

from .. import _state
from ..backend import numpy_backend
from ..frames import user_frame
from ..op import inplace
from ..op.apply import Prepared, as_arrays, explain, narrowed, wrap
from ..op.apply import record as record_node
from ..op.arguments import shapes_of
from ..op.node import OpNode
from ..tensor.tensor import Tensor
from .program import Step, Value, values_among
from .traced import (
    Memory,
    TracedArray,
    Unrecordable,
    geometry,
    owner_of,
    part_of,
    stored,
    with_part,
)

Array = Any

#: Errors of forwards that are explained in PyTorch's words.
ERRORS = (ValueError, TypeError, LookupError, OverflowError, RuntimeError)

#: The reason, in an op's `no_batching`, that a program cannot contain it.
SIZE_BY_VALUES = "the size of the result depends on the values"

#: Ops that one pass over memory computes, about as fast as the processor reads and writes.
ARITHMETIC = {"Add", "Sub", "Mul", "Div", "Neg", "Where", "Relu", "Threshold", "Clone", "Copy",
              "MaskedScale", "Maximum", "Minimum", "Eq", "Ne", "Lt", "Le", "Gt", "Ge", "Abs"}
#: Ops that take a few passes over their input, besides elementwise ones and reductions.
FEW_PASSES = {"NativeLayerNorm", "NativeGroupNorm", "Softmax", "LogSoftmax", "Cat", "Stack"}

#: The slots of a captured tensor that are changed for the time of a recording.
SLOTS = ("_array", "_node", "_index", "_counter", "_view", "_grad", "_extras")

#: One recording at a time: while it runs, captured tensors hold traced arrays.
_lock = RLock()


class Recording:
    """A recording in progress: an interceptor that adopts tensors, and the steps so far."""

    below = None  # it is always the last interceptor

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.captured: list[tuple[Tensor, Value]] = []  # tensors that the function found elsewhere
        self.memories: dict[int, Memory] = {}  # by the id of the array that owns the memory
        self.written: list[Memory] = []  # inputs that were written to, in this order
        self.fresh: dict[int, Tensor] = {}  # tensors that were created during the recording
        self.originals: list[tuple[Tensor, list[Any]]] = []
        self.generators: dict[int, tuple[Any, Any]] = {}  # with their states before the recording
        self.read_again: list[tuple[TracedArray, Value, int]] = []  # with the Values before that
        self.counts: dict[str, int] = {}
        self.refused: Unrecordable | None = None
        self.in_call = self.drew = False

    def refuse(self, what: str) -> Unrecordable:
        """Return the error for something that a program cannot do; it names the user's line."""
        error = Unrecordable(f"torch.compile: {what}, at {user_line()}")
        self.refused = self.refused or error
        return error

    # ---------------------------------------------------------------- names and values

    def name(self, wanted: str) -> str:
        """Return a name that no other value has, such as mul, mul_1 and mul_2."""
        wanted = re.sub(r"\W", "_", wanted) or "value"
        if keyword.iskeyword(wanted) or wanted[0].isdigit():
            wanted = "_" + wanted
        count = self.counts.get(wanted, 0)
        self.counts[wanted] = count + 1
        return self.name(f"{wanted}_{count}") if count else wanted

    def value(self, name: str, array: Array, constant: bool = False) -> Value:
        """Return a new Value for an array."""
        made = Value(self.name(name), tuple(array.shape), array.dtype, tuple(array.strides))
        if constant:
            made.array = array
        return made

    def read(self, array: TracedArray) -> Value:
        """Return the Value of a traced array, after the writes to its memory so far."""
        memory = array.memory
        if array.version != memory.version:
            place = geometry(array.inner, memory.array)
            if place == geometry(memory.array, memory.array):
                value = memory.whole
            else:
                (value,) = self.add("part_of", part_of, [memory.whole, *place], [array.inner],
                                    view=True, cost=0)
            self.read_again.append((array, array.value, array.version))
            array.value, array.version = value, memory.version
        return array.value

    def read_all(self, arguments: Sequence[Any]) -> list[Any]:
        """Return arguments with Values in place of arrays; a bare array becomes a constant."""
        return [self.read(a) if type(a) is TracedArray
                else self.value("constant", a.copy("K"), constant=True) if type(a) is np.ndarray
                else self.read_all(a) if type(a) is list else a for a in arguments]

    def traced(self, array: Array, value: Value) -> TracedArray:
        """Return the traced array of a new value, in the memory that its array shares."""
        owner = owner_of(array)
        memory = self.memories.get(id(owner))
        if memory is None:
            memory = self.memories[id(owner)] = Memory(owner, value)
            if owner is not array and geometry(owner, owner) != geometry(array, owner):
                memory.array = array  # the rest of the memory cannot be reached
        return TracedArray(array, memory, value)

    # ---------------------------------------------------------------- steps

    def add(self, name: str, call: Callable[..., Any], arguments: list[Any],
            results: list[Array], **facts: Any) -> list[Value]:
        """Append a step; return a Value for each result, if possible a constant."""
        operands = list(values_among(arguments))
        if not facts.get("random") and operands and all(v.array is not None for v in operands):
            return [self.value(name, each, constant=True) for each in results]
        outputs = [self.value(name, each) for each in results]
        self.steps.append(Step(name, call, arguments, outputs, **facts))
        return outputs

    def call(self, name: str, function: Callable[..., Any], arguments: list[Any]) -> TracedArray:
        """Call a function of one result on arrays, and record that."""
        array = function(numpy_backend, *map(inner, arguments))
        (value,) = self.add(name, function, self.read_all(arguments), [array])
        return self.traced(array, value)

    def forward(self, op: Any, call: Prepared) -> Any:
        """Run an op's forward and record the step; return a traced array, or a list of them."""
        if SIZE_BY_VALUES in op.no_batching:
            raise self.refuse(f"the size of the result of {op.name} depends on values")
        arguments = self.read_all(call.arrays)
        arrays = [inner(each) for each in call.arrays]
        before = [a.copy() if type(a) is np.ndarray else None for a in arrays]
        self.in_call, self.drew = True, False
        try:
            raw = op.run_forward(numpy_backend, *arrays)
        except ERRORS as error:
            explain(op, Prepared(call.values, arrays, call.promoted, True, numpy_backend), error)
            raise
        finally:
            self.in_call = False
        result = raw if type(raw) is np.ndarray else as_arrays(numpy_backend, raw)
        several = type(result) is list
        results = list(result) if several else [result]
        sharing = [any(share(r, a) for a in arrays) for r in results]
        if (mixed := any(sharing) and not all(sharing)):
            results = [r.copy("K") if s else r for r, s in zip(results, sharing, strict=True)]
        changed = [i for i, old in enumerate(before) if old is not None
                   and old.tobytes() != arrays[i].tobytes()]
        run = without_effects(op.run_forward, tuple(changed)) if changed else op.run_forward
        if mixed:
            run = with_copies(run, tuple(i for i, s in enumerate(sharing) if s))
        values = self.add(op.name, run, arguments, [*results, *(arrays[i] for i in changed)],
                          op="" if changed or mixed else op.__name__,
                          several=several or bool(changed), random=self.drew,
                          scalar=result is not raw and not (changed or mixed),
                          view=(view := all(sharing) and bool(sharing)),
                          cost=9 if changed or self.drew else 0 if view else cost_of(op))
        for i, value in zip(changed, values[len(results):], strict=True):
            self.changed_inside(call.values[i], value)
        made = [self.traced(*pair) for pair in zip(results, values, strict=False)]
        return made if several else made[0]

    def changed_inside(self, tensor: Any, value: Value) -> None:
        """Store a value that an op's forward wrote, such as a running mean, in its tensor."""
        array = tensor._array
        if geometry(array.inner, array.memory.array) != geometry(array.memory.array,
                                                                 array.memory.array):
            raise self.refuse("an op writes to a part of a tensor")
        self.replace(array.memory, value)

    def replace(self, memory: Memory, value: Value) -> None:
        """Give a memory a new value, and note that it was written to if it is an input."""
        if memory.is_input:
            if memory.is_part:
                raise self.refuse("an input that is a part of another tensor is written to")
            if memory not in self.written:
                self.written.append(memory)
        memory.whole = value
        memory.version += 1

    def go_back(self, steps: int, read: int, refused: Unrecordable | None) -> None:
        """Forget the steps after the first `steps`, and the arrays that were read again in them."""
        for array, value, version in reversed(self.read_again[read:]):
            array.value, array.version = value, version
        del self.steps[steps:], self.read_again[read:]
        self.refused = refused

    def formulas(self, node: Any, grads: Sequence[Any], needed: Any) -> list[Any]:
        """Record all formulas of a node as a single step; return the gradients of its inputs."""
        known = node.named_values(grads, True)
        wanted = tuple(end is not None and (needed is None or end in needed)
                       for end, _ in node.edges)
        if known is None:
            return [None] * len(wanted)
        run = RunFormulas(node.op, wanted, tuple(name for name in known if name != "shared"))
        arguments = list(map(known.__getitem__, run.names))
        found = run(numpy_backend, *map(inner, arguments))
        values = iter(self.add(type(node).__name__, run, self.read_all(arguments), found,
                               several=True))
        arrays = iter(found)
        return [self.traced(next(arrays), next(values)) if position in run.present else None
                for position in range(len(wanted))]

    def run_op(self, op: Any, call: Prepared) -> Any:
        """Record an op: its step in the program, and its node in the graph if one is recorded."""
        result = self.forward(op, call)
        if call.promoted and op.float32_scalars and type(result) is not list:
            result = narrowed(op, call, result)
        if op.view:
            several = type(result) is list
            for index, each in enumerate(result if several else [result]):
                each.views = (*call.arrays[0].views,
                              (op, call.values[1:], index if several else None))
        if op.__name__ == "AsStrided" and call.arrays[0].memory.is_part:
            raise self.refuse("as_strided reaches beyond an input that is a part of a tensor")
        if not call.on_tensors:
            return result
        return wrap(op, record_node(op, call), call.values, result)

    def run_inplace(self, op: Any, call: Prepared) -> Tensor:
        """Record an in-place write: its result becomes the new value of the target's memory."""
        target = call.values[0]
        live = (_state.grad_enabled.get() and not _state.inference_enabled.get()
                and not op.no_history and target._array.dtype.kind == "f"
                and any(isinstance(v, Tensor) and v.requires_grad for v in call.values))
        inplace.check_apart(op, target._array, call.values)
        node = inplace.record_write(op, call, None) if live else None
        result = self.forward(op, call)
        inplace.check_result(op, target, result)
        if op.inplace_shape is not None:
            op.inplace_shape(*shapes_of(op, call.arrays))
        if op.view:
            target._array = result
        else:
            self.write(target._array, result)
        inplace.finish_write(op, target, node)
        return target

    def write(self, target: TracedArray, result: TracedArray) -> None:
        """Make a result the value of the target, and of every array that shares its memory."""
        memory, value = target.memory, self.read(result)
        target.inner[...] = result.inner
        place, array = geometry(target.inner, memory.array), memory.array
        if place != geometry(array, array):
            (value,) = self.add("with_part", with_part, [memory.whole, value, *place], [array])
        elif (value.shape, value.dtype, value.strides) != (array.shape, array.dtype, array.strides):
            (value,) = self.add("stored", stored, [memory.whole, value], [array])
        self.replace(memory, value)

    def check(self, function: Callable[..., Any], tensors: Sequence[Any]) -> None:
        """Record a function that only checks values, so that every run calls it."""
        self.adopt_all(tensors)
        arrays = [getattr(t, "_array", t) for t in tensors]

        def call(xp: Any, *values: Any) -> tuple[()]:
            function(*(Tensor._plain(v) if type(v) is np.ndarray else v for v in values))
            return ()

        with _state.having(_state.program, None):
            call(numpy_backend, *map(inner, arrays))
        self.add(function.__name__, call, self.read_all(arrays), [], random=True)

    # ---------------------------------------------------------------- random numbers, new tensors

    def draws_from(self, generator: Any) -> None:
        """Note that random numbers are about to be drawn, and keep the generator's state."""
        if not self.in_call:
            raise self.refuse("random numbers are drawn outside of an op")
        self.drew = True
        if id(generator) not in self.generators:
            self.generators[id(generator)] = generator, generator.get_state()

    def created(self, name: str, make: Callable[[], Array]) -> Tensor:
        """Return a new tensor; if its numbers are random, every call of the program draws them."""
        self.in_call, self.drew = True, False
        try:
            array = inner(make())
        finally:
            self.in_call = False
        if not self.drew:
            return Tensor._plain_as(Tensor, array)
        (value,) = self.add(name, lambda xp: inner(make()), [], [array], random=True)
        return Tensor._plain_as(Tensor, self.traced(array, value))

    # ---------------------------------------------------------------- tensors

    def op(self, op: Any, values: list[Any], proceed: Callable[..., Any]) -> Any:
        """Adopt the tensors among an op's arguments, and run the op."""
        self.adopt_all(values)
        return proceed(op, values)

    def inplace(self, op: Any, values: list[Any], before: Any, proceed: Callable[..., Any]) -> Any:
        """Adopt the tensors among the arguments of an in-place write, and run it."""
        self.adopt_all(values)
        return proceed(op, values, before)

    def function(self, name: str, args: Any, kwargs: Any) -> Any:
        """Return the arguments of a composed function as they are."""
        return args, kwargs

    def adopt_all(self, values: Sequence[Any]) -> None:
        """Adopt the tensors among values, and in the lists among them."""
        for each in values:
            if isinstance(each, Tensor):
                if type(each._array) is not TracedArray:
                    self.adopt(each)
            elif isinstance(each, (list, tuple)):
                self.adopt_all(each)

    def adopt(self, tensor: Tensor, name: str = "captured") -> None:
        """Give a tensor a traced array: a constant if it is new, else an input of the program."""
        array = tensor._array
        if type(array) is not np.ndarray:
            raise self.refuse(f"a tensor on {tensor.device} or inside a transform is used")
        if id(tensor) in self.fresh:
            copy, _ = private_copy(array)
            value = self.value("constant", copy, constant=True)
            memory = self.memories[id(owner_of(copy))] = Memory(copy, value)
            tensor._array = TracedArray(copy, memory, value)
            return
        self.originals.append((tensor, [getattr(tensor, slot) for slot in SLOTS]))
        traced = self.input(array, name)
        self.captured.append((tensor, traced.value))
        tensor._array, tensor._index = traced, 0
        tensor._node = tensor._counter = tensor._view = tensor._grad = tensor._extras = None

    def input(self, array: Array, name: str) -> TracedArray:
        """Return the traced array of an input, with its shape and strides but in other memory."""
        private, is_part = private_copy(array)
        value = self.value(name, private)
        memory = self.memories[id(owner_of(private))] = Memory(private, value, True, is_part)
        return TracedArray(private, memory, value)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Record on this thread; afterwards, restore tensors and random generators."""
        outer = _state.program.get()
        _lock.acquire()
        _state.observers.enter(intercepts=True)
        try:
            _state.program.set(self)
            yield
        finally:
            _state.program.set(outer)
            _state.observers.leave(intercepts=True)
            self.restore()
            _lock.release()
        if self.refused is not None:
            raise self.refused

    def restore(self) -> None:
        """Restore captured tensors and the states of random generators."""
        for tensor, before in self.originals:
            if tensor._grad is not None:
                self.refuse("a backward pass inside the function fills .grad")
            if type(tensor._array) is not TracedArray:
                self.refuse("the data of a tensor that the function did not create is replaced")
            for slot, value in zip(SLOTS, before, strict=True):
                setattr(tensor, slot, value)
        for generator, state in self.generators.values():
            generator.set_state(state)


def inner(value: Any) -> Any:
    """Return the real array of a traced one; do the same inside a list."""
    if type(value) is TracedArray:
        return value.inner
    return [inner(each) for each in value] if type(value) is list else value


def share(result: Array, argument: Any) -> bool:
    """Return whether a result is in the memory of an argument, or of one in a list."""
    if type(argument) is list:
        return any(share(result, each) for each in argument)
    return type(argument) is np.ndarray and owner_of(result) is owner_of(argument)


def user_line() -> str:
    """Return the user's innermost line, such as `train.py:12`."""
    frame, _ = user_frame()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def private_copy(array: Array) -> tuple[Array, bool]:
    """Return a copy with the same strides, and whether the array is a part of other memory."""
    copy = array.copy("K")
    if array.size and any(n > 1 and a != b for n, a, b in zip(
            array.shape, array.strides, copy.strides, strict=True)):
        span = sum((n - 1) * abs(s) for n, s in zip(array.shape, array.strides)) + array.itemsize
        room = np.empty(-(-span // array.itemsize), array.dtype)
        copy = np.lib.stride_tricks.as_strided(room, array.shape, array.strides)
        copy[...] = array
        return copy, True
    return copy, owner_of(array).nbytes != array.nbytes


def cost_of(op: Any) -> int:
    """Return the cost of computing an op again; see `Step.cost`."""
    if op.__name__ in ARITHMETIC:
        return 1
    if op.kinds & {"elementwise", "reduction"} or op.__name__ in FEW_PASSES:
        return 2
    return 3 if op.__name__ == "ScaledDotProduct" else 9


def without_effects(run: Callable[..., Any], positions: tuple[int, ...]) -> Callable[..., Any]:
    """Return a forward that returns new arrays instead of writing to some of its arguments."""

    def call(xp: Any, *arrays: Any) -> list[Array]:
        copies = [a.copy("K") if i in positions else a for i, a in enumerate(arrays)]
        results = run(xp, *copies)
        results = results if isinstance(results, (list, tuple)) else [results]
        return [*map(xp.as_array, results), *(copies[i] for i in positions)]

    return call


def with_copies(run: Callable[..., Any], positions: tuple[int, ...]) -> Callable[..., Any]:
    """Return a forward that copies the results that share memory with an argument."""

    def call(xp: Any, *arrays: Any) -> list[Array]:
        results = list(map(xp.as_array, run(xp, *arrays)))
        return [r.copy("K") if i in positions else r for i, r in enumerate(results)]

    return call


class RunFormulas:
    """The formulas of a node as one function from arrays to the wanted gradients."""

    def __init__(self, op: Any, wanted: tuple[bool, ...], names: tuple[str, ...]) -> None:
        self.op = op
        self.wanted = wanted  # for each edge
        self.names = names  # of the arguments
        self.present: list[int] = []  # the edges for which a formula returned a gradient

    def __call__(self, xp: Any, *values: Any) -> list[Array]:
        node = KnownNode(self.op, self.wanted, dict(zip(self.names, values, strict=True)))
        results = node.run((), None, arrays=True)
        self.present = [i for i, (r, w) in enumerate(zip(results, self.wanted, strict=True))
                        if w and r is not None]
        return [xp.as_array(results[i]) for i in self.present]


class KnownNode(OpNode):
    """A node whose formulas run on given values, instead of the ones that a node saves."""

    def __init__(self, op: Any, wanted: Sequence[bool], known: dict[str, Any]) -> None:
        self.op = op
        self.edges = [(self if each else None, 0) for each in wanted]
        self.known = known

    def named_values(self, grads: Sequence[Any], arrays: bool) -> dict[str, Any]:
        """Return the given values."""
        return self.known
