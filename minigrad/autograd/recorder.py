"""What writes a profile down while it is on: one event for each op, node and named block.

`apply`, the engine and the functions composed of ops call the recorder of their thread, if there
is one, and it calls them back.  Which event lies in which other one is not noted: events of one
thread nest, so their times say it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from threading import get_ident, local
from time import perf_counter_ns
from types import FrameType
from typing import Any

from ..graph import AccumulateGrad, CopySlices, GraphRoot, Node
from ..op import Op
from .frames import user_frame

#: Kinds of events, numbered as PyTorch's record scopes.
FUNCTION, BACKWARD, USER = 0, 1, 7

#: Nodes that are no op's and that PyTorch shows with the namespace of their class.
_PLUMBING = (AccumulateGrad, GraphRoot, CopySlices)


class Event:
    """One stretch of work while it is being measured; times are in nanoseconds."""

    __slots__ = ("end", "given", "memory", "name", "outer", "scope", "sequence", "shapes", "stack",
                 "start", "thread")

    def __init__(self, name: str, scope: int, outer: Event | None) -> None:
        self.name = name
        self.scope = scope
        self.outer = outer  # the event that was open when this one began, until it has ended
        self.thread = get_ident()
        self.sequence = -1  # of the node that was made here, or of the one that runs
        self.shapes: list[Any] | None = None
        self.stack: list[str] | None = None
        self.memory = 0  # bytes of arrays made here, in the events within too
        self.given: set[int] | None = None  # which arrays events within returned
        self.start = self.end = 0


class _Here(local):
    """The innermost event that is open on this thread."""

    current: Event | None = None


class Recorder:
    """Collects the events of one profile, in the order in which they began."""

    def __init__(self, shapes: bool = False, stack: bool = False, memory: bool = False) -> None:
        self.shapes, self.stack, self.memory = shapes, stack, memory
        self.events: list[Event] = []
        self._here = _Here()
        self._names: dict[tuple[type[Op], str], str] = {}

    def begin(self, name: str, scope: int = USER, inputs: Sequence[Any] = ()) -> Event:
        """Open an event within the one that is open on this thread."""
        here = self._here
        event = Event(name, scope, here.current)
        if self.shapes:
            event.shapes = [shape_of(value) for value in inputs]
        if self.stack:
            event.stack = stack_lines(user_frame()[0])
        here.current = event
        self.events.append(event)
        event.start = perf_counter_ns()
        return event

    def finish(self, event: Event) -> None:
        """Close an event; the one around it is open again."""
        event.end = perf_counter_ns()
        outer = self._here.current = event.outer
        if outer is not None and self.memory:
            outer.memory += event.memory
        event.outer = event.given = None

    def call(self, name: str, inputs: Sequence[Any], function: Callable[..., Any], *args: Any,
             **kwargs: Any) -> Any:
        """Return `function(*args, **kwargs)`, measured."""
        event = self.begin(name, FUNCTION, inputs)
        try:
            result = function(*args, **kwargs)
            if self.memory:
                weigh(event, inputs, result)
            return result
        finally:
            self.finish(event)

    def op(self, op: type[Op], values: list[Any], apply: Callable[..., Any],
           suffix: str = "") -> Any:
        """Apply an op, measured, unless the function that only wraps it is measured already."""
        name = self._names.get((op, suffix))
        if name is None:
            name = self._names[op, suffix] = op_name(op) + suffix
        current = self._here.current
        if current is not None and current.name == name and current.scope == FUNCTION:
            return apply(op, values, False)
        return self.call(name, values, apply, op, values, False)

    def node(self, node: Node, grads: Sequence[Any], apply: Callable[..., Any], *args: Any) -> Any:
        """Return `apply(*args)`, the work of a node of the graph, measured."""
        event = self.begin(node_name(node), BACKWARD, grads)
        if node.sequence < 1 << 60:
            event.sequence = node.sequence
        try:
            results = apply(*args)
            if self.memory and type(node) is not GraphRoot:
                weigh(event, grads, results)
            return results
        finally:
            self.finish(event)

    def made(self, node: Node) -> None:
        """Note, in the event that is open, the sequence number of the node made there."""
        current = self._here.current
        if current is not None and current.scope == FUNCTION:
            current.sequence = node.sequence


def op_name(op: type[Op]) -> str:
    """Return the name under which profiles show an op: that of its family, where it has one.

    >>> from minigrad.op import REGISTRY
    >>> op_name(REGISTRY["PowNumber"])
    'aten::pow'
    """
    return "aten::" + re.sub(r"(_of_number|_numbers?|_tensors?|_op|_in_place)$", "", op.name)


def node_name(node: Node) -> str:
    """Return the name under which profiles show a node."""
    return "torch::autograd::" + node.name() if type(node) in _PLUMBING else node.name()


def shape_of(value: Any) -> list[Any]:
    """Return the shape of a tensor or array, those of a list of them, and [] for all else."""
    if isinstance(value, (list, tuple)):
        return [list(v.shape) for v in value if hasattr(v, "shape")]
    return list(getattr(value, "shape", ()))


def stack_lines(frame: FrameType | None) -> list[str]:
    """Return the call stack, innermost call first, as `file(line): function`."""
    lines = []
    while frame is not None:
        code = frame.f_code
        lines.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return lines


def memory_of(value: Any) -> Any:
    """Return the array whose memory a tensor or array looks at; None for all else."""
    array = getattr(value, "_array", value)
    if not hasattr(array, "nbytes"):
        return None
    while getattr(array, "base", None) is not None and hasattr(array.base, "nbytes"):
        array = array.base
    return array


def weigh(event: Event, inputs: Sequence[Any], result: Any) -> None:
    """Add to an event the bytes of the arrays that it made: neither its inputs nor found within."""
    results = result if isinstance(result, (list, tuple)) else (result,)
    known = {id(memory_of(value)) for value in inputs}
    for array in map(memory_of, results):
        if array is None or id(array) in known:
            continue
        known.add(id(array))
        if event.given is None or id(array) not in event.given:
            event.memory += array.nbytes
        if event.outer is not None:
            event.outer.given = event.outer.given or set()
            event.outer.given.add(id(array))
