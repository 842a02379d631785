# Stage 11, The profiler: the exercise for minigrad/autograd/profiler/recorder.py.
# Made by `minigrad dev build`. The lesson is lessons/11_profiler.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 11
# docs/en/glossary.md explains the names used inside the package.

"""Recorders of a profile, with one event for each op, node and named block.

`apply`, the engine and the composed functions pass their work to the recorder of their thread, if
there is one, and the recorder runs it.

NOTE [What an event costs while it happens]
    A recorder must not slow down the program that it measures, so it only appends the bare facts
    of an event to one flat list: it creates no objects, looks up no names and sorts no rows.
    Nesting is not stored either, because events of one thread nest, so it follows from their times.
    `events_of` in profiler_util.py creates events from the list when they are needed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from threading import get_ident, local
from time import perf_counter_ns
from types import CodeType, FrameType
from typing import Any

from ...frames import is_ours
from ...graph.accumulate_grad import AccumulateGrad
from ...graph.copy_slices import CopySlices
from ...graph.node import GraphRoot, Node
from ...op.declaration import Op
from ...tensor.tensor import Parameter, Tensor
from .op_names import op_name

#: Scopes of events, numbered like PyTorch's record scopes.
FUNCTION, BACKWARD, USER = 0, 1, 7

#: Nodes without an op, which PyTorch shows with the namespace of their class.
_PLUMBING = (AccumulateGrad, GraphRoot, CopySlices)

#: Nodes with a sequence number from this one on are outside the order of creation.
UNNUMBERED = 1 << 60


class _Here(local):
    """Thread state: the innermost open event."""

    sequence = -1  # sequence number of the last node created directly in that event


class Details:
    """Optional facts of an event."""

    __slots__ = ("made", "shapes", "stack")

    def __init__(self, shapes: list[Any] | None, stack: list[Any] | None) -> None:
        self.shapes = shapes
        self.stack = stack  # as returned by `calls`
        self.made: dict[int, int] = {}  # bytes of each new array by its id


class Block:
    """A named block from its beginning on; `end` is 0 while it is open."""

    __slots__ = ("details", "end", "name", "start", "thread")

    def __init__(self, name: str, details: Details | None) -> None:
        self.name = name
        self.details = details
        self.thread = get_ident()
        self.end = 0
        self.start = perf_counter_ns()


class Recorder:
    """Stores the bare facts of one profile's events.

    `rows` holds seven items for each finished event, in the order in which they ended: what ran (an
    op, an op with the suffix of its variant, the class of a node, or a name), its scope, start and
    end in nanoseconds, the sequence number of the node that was created or that ran (-1 or a number
    from `UNNUMBERED` on if there is none), the thread, and `Details` or `None`.
    """

    #: If True, events may be recorded after their work; `_stop` sets it to False.
    quick = True
    memory = False  # whether bytes are counted
    #: `microseconds(details)`: an event's time on a GPU, if measured
    microseconds: Callable[[Any], float] | None = None

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self.blocks: list[Block] = []
        self._note = self.rows.extend
        self._here = _Here()

    def details(self, inputs: Sequence[Any]) -> Details | None:
        """Return the optional facts of an event."""
        return None

    def begin(self, name: str) -> Block:
        """Open a named block."""
        self.blocks.append(block := Block(name, self.details(())))
        return block

    def finish(self, block: Block) -> None:
        """Close a named block."""
        block.end = perf_counter_ns()

    def call(self, what: Any, inputs: Sequence[Any], function: Callable[..., Any], *args: Any,
             **kwargs: Any) -> Any:
        """Return `function(*args, **kwargs)` and record the call, even if it raises."""
        # 11.6 Recording calls (about 18 lines)
        # `call` returns `function(*args, **kwargs)`, `node` returns `apply(*args)`, and both
        # record what they ran. `made` receives each new node; the node's number belongs to
        # the innermost call that is running.
        #   call("mul", (x, 3), f, x, 3)         -> f(x, 3), recorded by call_ran(...)
        #   node(n, grads, apply, g)             -> apply(g), recorded by node_ran(...)
        #   outer: made(5), then inner: made(6)  -> outer has 5, inner 6
        #   outer: made(5), inner: no node       -> outer has 5, inner -1
        # Mind:
        # - If the function raises, the error propagates, and the event has the result None.
        # - `self.details(inputs)` describes the inputs before the call, and its time isn't
        #   measured.
        raise NotImplementedError("11.6 Recording calls is yours to write")

    def call_ran(self, what: Any, start: int, end: int, details: Details | None,
                 inputs: Sequence[Any], result: Any) -> None:
        """Record a function that ran from `start` to `end` and returned `result`.

        Its sequence number is `self._here.sequence`, from the last node created directly in it.
        """
        if self.memory and details is not None:
            details.made = new_arrays(inputs, result)
        self._note((what, FUNCTION, start, end, self._here.sequence, get_ident(), details))

    def op(self, op: type[Op], values: list[Any], proceed: Callable[..., Any]) -> Any:
        """Apply an op and record it."""
        return self.call((op, ""), values, proceed, op, values)

    def inplace(self, op: type[Op], values: list[Any], before: Any,
                proceed: Callable[..., Any]) -> Any:
        """Apply an op in place and record it."""
        return self.call((op, "_"), values, proceed, op, values, before)

    def node(self, node: Node, grads: Sequence[Any], apply: Callable[..., Any], *args: Any) -> Any:
        """Return `apply(*args)`, which runs a node of the graph, and record it."""
        # 11.6 Recording calls: see the task at `Recorder.call`.
        raise NotImplementedError("11.6 Recording calls is yours to write")

    def node_ran(self, node: Node, start: int, grads: Sequence[Any], results: Any) -> None:
        """Record a node that ran since `start` and returned `results`."""
        self._note((type(node), BACKWARD, start, perf_counter_ns(), node.sequence, get_ident(),
                    None))

    def made(self, node: Node) -> None:
        """Store the sequence number of a node created in the open event."""
        # 11.6 Recording calls: see the task at `Recorder.call`.
        raise NotImplementedError("11.6 Recording calls is yours to write")


class DetailedRecorder(Recorder):
    """Also records input shapes, call stacks or memory, at a cost in time."""

    def __init__(self, shapes: bool = False, stack: bool = False, memory: bool = False) -> None:
        super().__init__()
        self.shapes, self.stack, self.memory = shapes, stack, memory

    def details(self, inputs: Sequence[Any]) -> Details:
        return Details([shape_of(value) for value in inputs] if self.shapes else None,
                       calls() if self.stack else None)

    def node_ran(self, node: Node, start: int, grads: Sequence[Any], results: Any) -> None:
        self._note_in_full(type(node), BACKWARD, start, perf_counter_ns(), node.sequence, grads,
                           None if type(node) is GraphRoot else results)

    def _note_in_full(self, what: Any, scope: int, start: int, end: int, sequence: int,
                      inputs: Sequence[Any], result: Any) -> None:
        details = self.details(inputs)
        if self.memory:
            details.made = new_arrays(inputs, result)
        self._note((what, scope, start, end, sequence, get_ident(), details))


def node_name(node_type: type[Node]) -> str:
    """Return the name that profiles show for a class of nodes."""
    name = node_type.__name__
    return "torch::autograd::" + name if node_type in _PLUMBING else name


@cache
def name_of(what: Any, scope: int) -> str:
    """Return the name of an event from the recorded item; see `Recorder`."""
    if isinstance(what, str):
        return what
    if scope == BACKWARD:
        return node_name(what)
    return op_name(what[0]) + what[1] if isinstance(what, tuple) else op_name(what)


def shape_of(value: Any) -> Any:
    """Return the shape of a tensor or array, the shapes of a list, or () for other values."""
    value_type = type(value)
    if value_type is Tensor or value_type is Parameter:
        return value._array.shape
    if value_type is float or value_type is int:
        return ()
    if isinstance(value, (list, tuple)):
        return [list(v.shape) for v in value if hasattr(v, "shape")]
    return getattr(value, "shape", ())


def calls() -> list[Any]:
    """Return the call stack, innermost call first, as three items each: code, offset and globals.

    `stack_lines` turns them into text later.
    """
    found: list[Any] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        found += (frame.f_code, frame.f_lasti, frame.f_globals)
        frame = frame.f_back
    return found


def stack_lines(found: list[Any]) -> list[str]:
    """Return a call stack as `file(line): function`, without the package's innermost calls."""
    frames = list(zip(*[iter(found)] * 3))
    users = [i for i, (_, _, names) in enumerate(frames) if not is_ours(names)]
    return [line_of(code, place) for code, place, _ in frames[users[0] if users else 0:]]


@cache
def line_of(code: CodeType, place: int) -> str:
    """Return the location of an instruction as `file(line): function`."""
    line = next((n for first, end, n in code.co_lines() if first <= place < end), None)
    return f"{code.co_filename}({line or code.co_firstlineno}): {code.co_name}"


def new_arrays(inputs: Sequence[Any], result: Any) -> dict[int, int]:
    """Return the bytes of each new array in a result by its id; inputs' arrays are not new."""
    found: dict[int, int] = {}
    for value in result if isinstance(result, (list, tuple)) else (result,):
        array = memory_of(value)
        if array is not None and not any(memory_of(i) is array for i in inputs):
            found[id(array)] = array.nbytes
    return found


def memory_of(value: Any) -> Any:
    """Return the array that owns the memory of a tensor or array, or `None` for other values."""
    is_tensor = type(value) is Tensor or type(value) is Parameter
    array = value._array if is_tensor else getattr(value, "_array", value)
    if not hasattr(array, "nbytes"):
        return None
    while hasattr(base := getattr(array, "base", None), "nbytes"):
        array = base
    return array
