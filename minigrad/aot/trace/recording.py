"""A recording in progress: an interceptor that turns each op into a step of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any

import numpy as np

from ... import _state
from ...backend import BACKENDS, numpy_backend
from ...op import inplace
from ...op.apply import Prepared, as_arrays, explain, narrowed, wrap
from ...op.apply import record as record_node
from ...op.arguments import shapes_of
from ...tensor.tensor import Tensor
from ..program import Value, values_among
from .arrays import TracedArray
from .backend import TracingBackend
from .formulas import RunFormulas, with_copies, without_effects
from .memory import Memory, geometry, owner_of, private_copy
from .steps import Steps, inner

Array = Any

#: Errors of forwards that are explained in PyTorch's words.
ERRORS = (ValueError, TypeError, LookupError, OverflowError, RuntimeError)

#: The reason, in an op's `no_batching`, that a program cannot contain it.
SIZE_BY_VALUES = "the size of the result depends on the values"

#: The positions of the arguments that such a size depends on, if it does not depend on all.
SIZED_BY = {"Bincount": (0,), "MaskedSelect": (1,)}

#: Ops that one pass over memory computes, about as fast as the processor reads and writes.
ARITHMETIC = {"Add", "Sub", "Mul", "Div", "Neg", "Where", "Relu", "Threshold", "Clone", "Copy",
              "MaskedScale", "Maximum", "Minimum", "Eq", "Ne", "Lt", "Le", "Gt", "Ge", "Abs"}
#: Ops that take a few passes over their input, besides elementwise ones and reductions.
FEW_PASSES = {"NativeLayerNorm", "NativeGroupNorm", "Softmax", "LogSoftmax", "Cat", "Stack"}

#: Products of matrices whose last operand is a matrix or a batch of matrices.
PRODUCTS = {"Mm", "Addmm", "Bmm"}
#: The cost of these. It is above every level of a partition, since a budget chooses single ones.
PRODUCT = 4

#: The slots of a captured tensor that are changed for the time of a recording.
SLOTS = ("_array", "_node", "_index", "_counter", "_view", "_grad", "_extras")

#: One recording at a time: while it runs, captured tensors hold traced arrays.
_lock = RLock()

BACKENDS[TracedArray] = TracingBackend()  # type: ignore[assignment]  # methods in place of values


class Recording(Steps):
    """A recording in progress: an interceptor that adopts tensors and records their ops."""

    below = None  # it is always the last interceptor

    def __init__(self) -> None:
        super().__init__()
        self.captured: list[tuple[Tensor, Value]] = []  # tensors that the function found elsewhere
        self.fresh: dict[int, Tensor] = {}  # tensors that were created during the recording
        #: The memory of these tensors by the id of the array that owns it: that array, its values
        #: when a tensor in it was first used, and its `Memory`.
        self.made: dict[int, tuple[Array, Array, Memory]] = {}
        self.originals: list[tuple[Tensor, list[Any]]] = []
        self.generators: dict[int, tuple[Any, Any]] = {}  # with their states before the recording
        self.in_call = self.drew = self.in_write = False

    # ---------------------------------------------------------------- steps

    def forward(self, op: Any, call: Prepared) -> Any:
        """Run an op's forward and record the step; return a traced array, or a list of them."""
        arguments = self.read_all(call.arrays)
        if SIZE_BY_VALUES in op.no_batching and not size_is_known(op, arguments):
            raise self.refuse(f"the size of the result of {op.name} depends on values")
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
        several = type(result) is list
        made = result if several else [result]
        if op.view or (made and shares_input(call.arrays[0], made)):
            for index, each in enumerate(made):
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
        self.in_write = True
        try:
            inplace.finish_write(op, target, node)
        finally:
            self.in_write = False
        return target

    def at_each_run(self, function: Callable[..., Any], args: Sequence[Any]) -> Any:
        """Record a call of a function that reads values as one step; see `ops.checks.at_each_run`.

        The step runs exactly once, because it may raise an error or draw random numbers.
        """
        self.adopt_all(args)
        arrays = arrays_of(args)
        values = self.read_all(arrays)

        def call(*given: Any) -> list[Array]:
            made = function(*map(as_tensors, given))
            made = made if isinstance(made, tuple) else () if made is None else (made,)
            return [tensor._array for tensor in made]

        self.in_call, self.drew = True, False
        try:
            with _state.having(_state.program, Unrecorded(self)):
                found = call(*map(inner, arrays))
        finally:
            self.in_call = False
        if any(share(each, inner(a)) for each in found for a in arrays):
            raise self.refuse(f"{function.__name__} returns the memory of an argument")
        kinds = [(each.shape, each.dtype) for each in found]

        def run(xp: Any, *given: Any) -> list[Array]:
            made = call(*given)
            if [(each.shape, each.dtype) for each in made] != kinds:
                raise RuntimeError(f"torch.compile: {function.__name__} returns another shape or "
                                   "dtype than when it was recorded")
            return made

        operands = list(values_among(values))
        fixed = found and operands and all(v.array is not None for v in operands)
        results = self.add(function.__name__, run, values, found, several=True,
                           random=self.drew or not fixed)
        made = tuple(Tensor._plain_as(Tensor, self.traced(*pair))
                     for pair in zip(found, results, strict=True))
        return made if len(made) > 1 else made[0] if made else None

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
            tensor._array = self.made_array(array, owner_of(array))
            return
        if self.is_made(owner_of(array)):
            raise self.refuse("a tensor shares memory with one that the function created")
        self.originals.append((tensor, [getattr(tensor, slot) for slot in SLOTS]))
        traced = self.input(array, name)
        self.captured.append((tensor, traced.value))
        tensor._array, tensor._index = traced, 0
        tensor._node = tensor._counter = tensor._view = tensor._grad = tensor._extras = None

    def is_made(self, owner: Array) -> bool:
        """Return whether a tensor that the function created is in this memory."""
        return id(owner) in self.made or any(
            owner_of(t._array) is owner for t in self.fresh.values()
            if type(t._array) is np.ndarray)

    def made_array(self, array: Array, owner: Array) -> TracedArray:
        """Return the traced array of a tensor that the function created.

        All tensors in the memory of `owner` share one `Memory`, which begins as a constant.
        """
        if id(owner) not in self.made:
            copy, _ = private_copy(owner)
            value = self.value("constant", owner, constant=True)
            memory = self.memories[id(owner_of(copy))] = Memory(copy, value)
            self.made[id(owner)] = owner, value.array, memory
        memory = self.made[id(owner)][2]
        if array.dtype != owner.dtype:
            raise self.refuse("a tensor shares memory with one of another dtype")
        place = geometry(array, owner)
        if place == geometry(owner, owner):
            return TracedArray(memory.array, memory, memory.whole)
        part = numpy_backend.as_strided(memory.array, *place)
        return TracedArray(part, memory, self.part(memory, part))

    def exports(self, tensor: Tensor) -> None:
        """Refuse to return the memory of a tensor as a NumPy array that writes could go to."""
        raise self.refuse("values are read as a NumPy array")

    def check_made(self) -> None:
        """Refuse if the memory of a tensor was written to as a NumPy array."""
        for owner, before, _ in self.made.values():
            if owner.tobytes() != before.tobytes():
                raise self.refuse("the memory of a tensor is written to outside of an op")

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


class Unrecorded:
    """An interceptor that runs ops without recording them, while a step calls a function of ours.

    The recording still learns of the random numbers that the function draws.
    """

    below = None

    def __init__(self, recording: Recording) -> None:
        self.draws_from = recording.draws_from
        self.fresh: dict[int, Tensor] = {}

    def op(self, op: Any, values: list[Any], proceed: Callable[..., Any]) -> Any:
        """Run an op."""
        return proceed(op, values)

    def inplace(self, op: Any, values: list[Any], before: Any, proceed: Callable[..., Any]) -> Any:
        """Run an in-place write."""
        return proceed(op, values, before)

    def function(self, name: str, args: Any, kwargs: Any) -> Any:
        """Return the arguments of a composed function as they are."""
        return args, kwargs

    def created(self, name: str, make: Callable[[], Array]) -> Tensor:
        """Return a new tensor."""
        return Tensor._plain_as(Tensor, make())

    def exports(self, tensor: Tensor) -> None:
        """Do nothing, because a function of ours may read values."""

    def at_each_run(self, function: Callable[..., Any], args: Sequence[Any]) -> Any:
        """Call a function that reads values."""
        return function(*args)


def arrays_of(value: Any) -> Any:
    """Return the array of a tensor, and do the same inside lists and tuples, which become lists."""
    if isinstance(value, (list, tuple)):
        return [arrays_of(each) for each in value]
    return value._array if isinstance(value, Tensor) else value


def as_tensors(value: Any) -> Any:
    """Return a tensor for an array, and do the same inside lists."""
    if type(value) is list:
        return [as_tensors(each) for each in value]
    return Tensor._plain(value) if type(value) is np.ndarray else value


def share(result: Array, argument: Any) -> bool:
    """Return whether a result is in the memory of an argument, or of one in a list."""
    if type(argument) is list:
        return any(share(result, each) for each in argument)
    return type(argument) is np.ndarray and owner_of(result) is owner_of(argument)


def shares_input(array: Any, results: Sequence[TracedArray]) -> bool:
    """Return whether all results are in the memory of an array, and that is an input's."""
    return type(array) is TracedArray and array.memory.is_input and all(
        each.memory is array.memory for each in results)


def size_is_known(op: Any, arguments: Sequence[Any]) -> bool:
    """Return whether the arguments that determine the size of a result are constants."""
    positions = SIZED_BY.get(op.__name__)
    chosen = arguments if positions is None else [arguments[i] for i in positions]
    return all(value.array is not None for value in values_among(chosen))


def cost_of(op: Any) -> int:
    """Return the cost of computing an op again; see `Step.cost`."""
    if op.__name__ in ARITHMETIC:
        return 1
    if op.kinds & {"elementwise", "reduction"} or op.__name__ in FEW_PASSES:
        return 2
    if op.__name__ in PRODUCTS:
        return PRODUCT
    return 3 if op.__name__ == "ScaledDotProduct" else 9
