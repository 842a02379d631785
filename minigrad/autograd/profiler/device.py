"""A recorder that also measures GPU times, with events in its stream around each op and node.

When an op returns, its work is only queued. Therefore the recorder queues a GPU event before the
op's kernels and one after them, and reads both when the profile has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...graph.node import Node
from ...op.declaration import Op
from .recorder import DetailedRecorder

Marks = list[Any]


class DeviceRecorder(DetailedRecorder):
    """Records a pair of GPU events for each op, node and function; see `Recorder`."""

    quick = False  # an event must be queued before its work

    def __init__(self, new_event: Callable[[], Any], shapes: bool = False, stack: bool = False,
                 memory: bool = False) -> None:
        super().__init__(shapes, stack, memory)
        self.new_event = new_event
        self.marks: dict[int, Marks] = {}  # by the id of an event's `Details`

    def mark(self) -> Any:
        """Queue an event and return it."""
        event = self.new_event()
        event.record()
        return event

    def call(self, what: Any, inputs: Sequence[Any], function: Callable[..., Any], *args: Any,
             **kwargs: Any) -> Any:
        before = self.mark()
        try:
            return super().call(what, inputs, function, *args, **kwargs)
        finally:
            self.marks[id(self.rows[-1])] = [before, self.mark()]

    def op(self, op: type[Op], values: list[Any], proceed: Callable[..., Any]) -> Any:
        return self.call((op, ""), values, proceed, op, values)

    def node(self, node: Node, grads: Sequence[Any], apply: Callable[..., Any], *args: Any) -> Any:
        before = self.mark()
        try:
            return super().node(node, grads, apply, *args)
        finally:
            self.marks[id(self.rows[-1])] = [before, self.mark()]

    def microseconds(self, details: Any) -> float:
        """Return an event's time on the GPU, or 0 without marks."""
        marks = self.marks.get(id(details))
        if marks is None:
            return 0.0
        marks[1].synchronize()
        return float(marks[0].elapsed_time(marks[1])) * 1000.0
