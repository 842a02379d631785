"""Recording: one call of a function, forward and backward, as a program of steps on arrays.

The function runs once on tensors with traced arrays, so that each op becomes a step.  Then the
engine itself runs the backward pass on traced arrays, and the ops in the formulas become steps of
the same program, the joint program.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...func.tree import mapped
from ...tensor.tensor import Tensor
from ..guards.signature import PLAIN
from ..guards.surroundings import Surroundings
from ..program import Program, Step, Value, live_steps, replace_values, shared_steps
from .arrays import TracedArray
from .joint import backward
from .recording import Recording


@dataclass(slots=True)
class Recorded:
    """A recorded call: the joint program, and what its inputs and outputs are."""

    arguments: list[Value]  # one for each tensor among the arguments
    captured: list[tuple[Tensor, Value]]  # tensors that the function found elsewhere
    forward: list[Step]
    backward: list[Step]
    results: list[Any]  # one for each tensor in the result, see `Result`
    tree: Any  # the result, with the tensors replaced by `Leaf`s
    written: list[Write]
    tangents: list[Value]  # the gradients of the differentiable results, or of some of them
    sources: list[int]  # inputs that require grad
    required: list[bool]  # for each argument, whether it required grad before
    gradients: list[Value | None]  # their gradients
    read: set[int]  # the ids of the Values that the backward pass of eager mode reads

    @property
    def inputs(self) -> list[Value]:
        """All inputs: the arguments, and then the captured tensors."""
        return [*self.arguments, *(value for _, value in self.captured)]

    @property
    def program(self) -> Program:
        """The forward pass as a program."""
        outputs = [r.value for r in self.results if r.value is not None]
        outputs += [write.value for write in self.written]
        return Program(self.inputs, live_steps(self.forward, outputs), list(outputs))

    @property
    def joint(self) -> Program:
        """The forward and the backward pass as one program."""
        outputs = [*self.program.outputs, *self.gradients]
        return Program([*self.inputs, *self.tangents],
                       live_steps([*self.forward, *self.backward], outputs), outputs)


@dataclass(slots=True)
class Write:
    """An input that the function writes to, by number, and its new value."""

    input: int
    value: Value
    result: int | None  # the number of the result that has the new value, if it has a history


@dataclass(slots=True)
class Result:
    """One tensor of the result: a value, an input, or a view of an input or of another result."""

    value: Value | None = None
    differentiable: bool = False
    input: int | None = None
    of: int | None = None
    views: tuple[Any, ...] = ()  # the view ops that make it from the input


class Leaf:
    """The place of tensor number `index` in a result."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


def record(function: Callable[..., Any], args: tuple[Any, ...],
           kwargs: dict[str, Any] | None = None,
           known: Sequence[tuple[str, Tensor]] | None = None,
           used: Sequence[bool] | None = None) -> Recorded:
    """Record one call of a function.

    `known` names tensors that the function may find elsewhere, such as parameters; by default, it
    has what `Surroundings` finds.  `used` says for each differentiable result whether the backward
    pass gets a gradient for it; by default, it gets one for each.  Raises `Unrecordable` if the
    call cannot become a program, and every error of the function.

    >>> from minigrad import ones
    >>> print(record(lambda x: x.exp().sum(), (ones(3, requires_grad=True),)).joint)
    def program(x, tangent):
        exp = F.exp(x)
        sum = F.sum(exp, None)
        expand = F.expand(tangent, (3,))
        mul = F.mul(expand, exp)
        return (sum, mul)
    """
    recording, names = Recording(), names_of(function, args, kwargs or {})
    if known is None:
        known = Surroundings(function).tensors
    with recording.active():
        twins: dict[int, Tensor] = {}
        leaves: list[tuple[Tensor, TracedArray]] = []
        arguments: list[Value] = []

        def twin(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            if id(value) not in twins:
                leaf, twins[id(value)] = traced_argument(recording, value,
                                                         names.get(id(value), "x"))
                leaves.append((leaf, leaf._array))
                arguments.append(leaf._array.value)
            return twins[id(value)]

        given = mapped(twin, (list(args), dict(kwargs or {})))
        for name, tensor in known:
            if type(tensor._array) is not TracedArray:
                recording.adopt(tensor, name)
        untouched = {None, *(t._node for t in twins.values())}
        required = [bool(t._requires_grad) for t, _ in leaves]
        outcome = function(*given[0], **given[1])
        tensors: list[Tensor] = []
        tree = mapped(lambda leaf: as_leaf(recording, leaf, tensors), outcome)
        recording.adopt_all([t for t in tensors if id(t) in recording.fresh])
        recording.check_made()
        inputs = [*leaves, *((t, t._array) for t, _ in recording.captured)]
        results = results_of(recording, tensors, inputs, twins)
        given = [*twins.values(), *(t for t, _ in recording.captured)]
        places = {id(array.memory): i for i, (_, array) in enumerate(inputs)}
        written = []
        for memory in recording.written:
            number = places[id(memory)]
            position = None
            if given[number].requires_grad and given[number]._node not in untouched:
                position = len(tensors)
                tensors.append(given[number])
                results.append(Result(memory.whole, True))
            written.append(Write(number, memory.whole, position))
        count = len(recording.steps)
        roots = [t for t, r in zip(tensors, results, strict=True) if r.differentiable]
        if used is not None:
            roots = [t for t, is_used in zip(roots, used, strict=True) if is_used]
        sources = [i for i, (t, a) in enumerate(inputs) if t._requires_grad and not t._node]
        tangents, gradients = backward(recording, roots, [inputs[i][0] for i in sources])
        recorded = Recorded(
            arguments, list(recording.captured), recording.steps[:count], recording.steps[count:],
            results, tree, written, tangents, sources, required, gradients, set())
    simplify(recorded)
    recorded.read = {id(v) for step in recorded.backward for v in step.inputs()}
    recorded.read.update(map(id, recorded.gradients))
    return recorded


def names_of(function: Callable[..., Any], args: Any, kwargs: Any) -> dict[int, str]:
    """Return the names of the parameters that get a tensor, by the tensor's id."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return {}
    return {id(value): name for name, value in bound.items() if isinstance(value, Tensor)}


def traced_argument(recording: Recording, tensor: Tensor, name: str) -> tuple[Tensor, Tensor]:
    """Return the leaf of an argument in the recording, and the tensor that the function gets."""
    if type(tensor._array) is not np.ndarray:
        raise recording.refuse(f"an argument is on {tensor.device} or inside a transform")
    leaf = Tensor._plain(recording.input(tensor._array, name))
    leaf._requires_grad = tensor.requires_grad
    if not leaf._requires_grad or tensor.is_leaf:
        return leaf, leaf
    node_holder = leaf.clone()  # not a leaf, so that it may be written to
    node_holder._array = leaf._array
    return leaf, node_holder


def as_leaf(recording: Recording, value: Any, tensors: list[Tensor]) -> Any:
    """Return a value of the result, with its tensors noted and replaced by `Leaf`s."""
    if isinstance(value, Tensor):
        tensors.append(value)
        return Leaf(len(tensors) - 1)
    if isinstance(value, PLAIN):
        return value
    raise recording.refuse(f"the result contains an object of type {type(value).__name__}")


def results_of(recording: Recording, tensors: list[Tensor], inputs: Sequence[Any],
               twins: dict[int, Tensor]) -> list[Result]:
    """Classify each tensor of the result as a value, an input or a view.

    If several are views of one tensor, that tensor is appended to `tensors`.
    """
    own = {id(t): i for i, (t, _) in enumerate(inputs)}
    own.update((id(twin), position) for position, twin in enumerate(twins.values()))
    of_memory = {id(array.memory): i for i, (_, array) in enumerate(inputs)}
    results: list[Result] = []
    seen: set[int] = set()
    shared = Counter(id(t._array.memory) for t in tensors if type(t._array) is TracedArray)
    bases = {id(t): position for position, t in enumerate(tensors)}
    for tensor in tensors:  # grows by the bases of views that share memory
        array = tensor._array
        if type(array) is not TracedArray:  # captured, and never used
            recording.adopt(tensor)
            raise recording.refuse("a tensor is returned that was not used")
        if id(tensor) in own:
            results.append(Result(input=own[id(tensor)]))
            continue
        try:
            tensor.grad_fn  # noqa: B018  # a view that must no longer be used raises
        except RuntimeError as error:
            raise recording.refuse(str(error)) from error
        number = of_memory.get(id(array.memory))
        if number is not None and (array.views or array.inner is array.memory.array):
            results.append(Result(input=number, views=array.views))
            if not array.views or tensor.requires_grad != inputs[number][0].requires_grad:
                raise recording.refuse("an input is returned without its history")
            continue
        base = tensor._base
        if base is not None and type(base._array) is TracedArray and (
                base._array.memory is array.memory and not base._array.views
                and shared[id(array.memory)] > 1):
            position = bases.get(id(base))
            if position is None:
                position = bases[id(base)] = len(tensors)
                tensors.append(base)
            results.append(Result(of=position, views=array.views))
            continue
        if id(array.memory) in seen:
            raise recording.refuse("two tensors that share memory are returned")
        seen.add(id(array.memory))
        results.append(Result(recording.read(array), bool(tensor.requires_grad)))
    return results


def simplify(recorded: Recorded) -> None:
    """Share equal steps, and drop the steps that no output needs."""
    kept, replaced = shared_steps([*recorded.forward, *recorded.backward])
    forward = set(map(id, recorded.forward))
    for result in recorded.results:
        result.value = replace_values(result.value, replaced)
    for write in recorded.written:
        write.value = replace_values(write.value, replaced)
    recorded.gradients = [replace_values(v, replaced) for v in recorded.gradients]
    outputs = [*(r.value for r in recorded.results), *(w.value for w in recorded.written)]
    live = live_steps(kept, [*outputs, *recorded.gradients])
    recorded.forward = [step for step in live if id(step) in forward]
    recorded.backward = [step for step in live if id(step) not in forward]
