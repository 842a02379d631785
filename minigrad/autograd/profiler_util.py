"""The events of a profile, their nesting, and their averages.

Source: https://docs.pytorch.org/docs/stable/autograd.html#profiler
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from weakref import ref

from .profiler.device_times import DeviceTimes
from .profiler.html import page
from .profiler.recorder import FUNCTION
from .profiler.table import _format_memory, _format_time, _format_time_share, build_table
from .profiler.trace import linked, trace

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "Interval", "_format_memory",
           "_format_time", "_format_time_share"]


class Interval:
    """Start and end, in microseconds since the profile began."""

    __slots__ = ("end", "start")

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def elapsed_us(self) -> float:
        """Return the duration.

        >>> Interval(1.5, 4.0).elapsed_us()
        2.5
        """
        return self.end - self.start


class _Times(DeviceTimes):
    """Base of events and averages: formats their times as text."""

    cpu_time_total: float
    self_cpu_time_total: float

    @property
    def cpu_time(self) -> float:
        """The average time of a call in microseconds, or 0.0 without calls.

        >>> twice = FunctionEventAvg().add(FunctionEvent(0, "aten::mul", 1, 0.0, 2.0))
        >>> twice.add(FunctionEvent(1, "aten::mul", 1, 2.0, 6.0)).cpu_time
        3.0
        """
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        """`cpu_time` with its unit.

        >>> FunctionEvent(0, "aten::mul", 1, 0.0, 1500.0).cpu_time_str
        '1.500ms'
        """
        return _format_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """`cpu_time_total` with its unit."""
        return _format_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """`self_cpu_time_total` with its unit."""
        return _format_time(self.self_cpu_time_total)


class FunctionEvent(_Times):
    """One call of an op, one run of a node, or one named block; times are in microseconds.

    >>> outer = FunctionEvent(0, "aten::linear", 1, 0.0, 5000.0, cpu_memory_usage=24)
    >>> inner = FunctionEvent(1, "aten::addmm", 1, 1000.0, 4000.0, cpu_memory_usage=16)
    >>> outer.append_cpu_child(inner); inner.set_cpu_parent(outer)
    >>> inner.key, inner.cpu_parent.key
    ('aten::addmm', 'aten::linear')
    >>> outer.cpu_time_total, outer.self_cpu_time_total, outer.self_cpu_memory_usage
    (5000.0, 2000.0, 8)
    >>> outer.cpu_time_total_str, outer.self_cpu_time_total_str
    ('5.000ms', '2.000ms')
    """

    count = 1

    def __init__(self, id: int, name: str, thread: int, start_us: float, end_us: float,
                 fwd_thread: int | None = None, input_shapes: list[Any] | None = None,
                 stack: list[str] | None = None, scope: int = FUNCTION,
                 cpu_memory_usage: int = 0, is_async: bool = False, is_remote: bool = False,
                 sequence_nr: int = -1, node_id: int = -1) -> None:
        self.id = id
        self.node_id = node_id
        self.name = self.trace_name = name
        self.thread = thread
        self.fwd_thread = fwd_thread  # thread of the op that created the node
        self.time_range = Interval(start_us, end_us)
        self.input_shapes = input_shapes
        self.stack = stack if stack is not None else []
        self.scope = scope
        self.cpu_memory_usage = cpu_memory_usage
        self.is_async = is_async
        self.is_remote = is_remote
        self.sequence_nr = sequence_nr
        self.is_legacy = False
        self.cpu_children: list[FunctionEvent] = []
        self._cpu_parent: ref[FunctionEvent] | None = None  # weak: the parent holds this event

    @property
    def cpu_parent(self) -> FunctionEvent | None:
        """The event that directly contains this one, as long as it is alive."""
        return None if self._cpu_parent is None else self._cpu_parent()

    @property
    def key(self) -> str:
        """The key that groups events: the name."""
        return self.name

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]  # computed here
        """Total time, including nested events; 0.0 for an asynchronous event."""
        return 0.0 if self.is_async else self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]  # computed here
        """Time without nested events; 0.0 for an asynchronous event."""
        if self.is_async:
            return 0.0
        return self.cpu_time_total - sum(c.cpu_time_total for c in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        """The bytes allocated here, without nested events; 0 for an asynchronous event."""
        if self.is_async:
            return 0
        return self.cpu_memory_usage - sum(c.cpu_memory_usage for c in self.cpu_children)

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Add a directly nested event."""
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """Set the event that directly contains this one."""
        self._cpu_parent = ref(parent)

    def __repr__(self) -> str:
        return (f"<FunctionEvent id={self.id} name={self.name} node_id={self.node_id} "
                f"cpu_time={self.cpu_time_str} start_us={self.time_range.start} "
                f"end_us={self.time_range.end} cpu_children={[c.id for c in self.cpu_children]} "
                f"thread={self.thread} input_shapes={self.input_shapes} "
                f"cpu_memory_usage={self.cpu_memory_usage} is_async={self.is_async} "
                f"is_remote={self.is_remote} seq_nr={self.sequence_nr}>")


class FunctionEventAvg(_Times):
    """The sum of the events with one name.

    >>> average = FunctionEventAvg()
    >>> for id, end in enumerate((2.0, 4.0)):
    ...     average += FunctionEvent(id, "aten::mul", 0, 1.0, end)
    >>> average.key, average.count, average.cpu_time_total, average.cpu_time
    ('aten::mul', 2, 4.0, 2.0)
    """

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.node_id = 0
        self.is_async = self.is_remote = False
        self.cpu_time_total = 0.0
        self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = 0
        self.self_cpu_memory_usage = 0
        self.input_shapes: list[Any] | None = None
        self.stack: list[str] | None = None
        self.scope: int | None = None
        self.cpu_parent: FunctionEvent | None = None
        self.is_legacy = False

    def add(self, other: Any) -> FunctionEventAvg:
        """Add an event, or another average with the same key, and return this average.

        It adds up the times on the CPU and on a device, the bytes (each also without nested events)
        and the count.

        >>> average = FunctionEventAvg()
        >>> average.add(FunctionEvent(0, "aten::mul", 1, 0.0, 2.0)).count
        1
        >>> average.add(average).count
        2
        """
        self._accept(other)
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.device_time_total += other.device_time_total
        self.self_device_time_total += other.self_device_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.count += other.count
        return self

    def _accept(self, other: Any) -> None:
        """Take key, shapes, stack etc. from the first event; `AssertionError` for another key."""
        if self.key is None:
            self.key, self.node_id = other.key, other.node_id
            self.is_async, self.is_remote = other.is_async, other.is_remote
            self.cpu_parent, self.scope = other.cpu_parent, other.scope
            self.input_shapes, self.stack = other.input_shapes, other.stack
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)) or other.key != self.key:
            raise AssertionError(f"an average of {self.key} cannot take in {other!r}")

    def __iadd__(self, other: Any) -> FunctionEventAvg:
        return self.add(other)

    def __repr__(self) -> str:
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
                f"cpu_time={self.cpu_time_str} input_shapes={self.input_shapes} "
                f"cpu_memory_usage={self.cpu_memory_usage}>")


class EventList(list[Any]):
    """A list of events or averages, with its sums, tables and exports.

    >>> mul, add = FunctionEvent(0, "mul", 1, 0.0, 3.0), FunctionEvent(1, "add", 1, 3.0, 4.0)
    >>> events = EventList([mul, add])
    >>> events.total_average().count, events.self_cpu_time_total
    (2, 4.0)
    >>> print(events.table(sort_by="self_cpu_time_total"))
    -------  ------------  ------------  ------------  ------------  ------------  ------------
       Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls
    -------  ------------  ------------  ------------  ------------  ------------  ------------
        mul        75.00%       3.000us        75.00%       3.000us       3.000us             1
        add        25.00%       1.000us        25.00%       1.000us       1.000us             1
    -------  ------------  ------------  ------------  ------------  ------------  ------------
    Self CPU time total: 4.000us
    """

    def __init__(self, events: Iterable[Any] = (), *, profile_memory: bool = False) -> None:
        super().__init__(events)
        self._profile_memory = profile_memory

    def __str__(self) -> str:
        return self.table()

    def _populate_cpu_children(self) -> None:
        """Set the parent of each event: the shortest event of its thread that contains it.

        An event that merely overlaps another is not nested in it, but may be nested in one further
        out. Asynchronous events have neither parent nor children. The order of the list does not
        change.
        """
        by_thread: dict[tuple[int, int], list[FunctionEvent]] = {}
        for event in self:
            if not event.is_async:
                by_thread.setdefault((event.thread, event.node_id), []).append(event)
        for events in by_thread.values():
            around: list[FunctionEvent] = []
            for event in sorted(events, key=lambda e: (e.time_range.start, -e.time_range.end)):
                within(around, event)

    def _set_backward_stacktraces(self) -> None:
        """Replace each node's stack with the stack of the op that created it."""
        for forward, backward in linked(self):
            backward.stack, backward.fwd_thread = forward.stack, forward.thread

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of the self times of all events, in microseconds."""
        return sum((event.self_cpu_time_total for event in self), 0.0)

    def table(self, sort_by: str | None = None, row_limit: int = 100,
              max_src_column_width: int | None = 75, max_name_column_width: int | None = 55,
              max_shapes_column_width: int | None = 80, header: str | None = None,
              top_level_events_only: bool = False, time_unit: str | None = None) -> str:
        """Return the list as a table with one event per row.

        `sort_by` is `"cpu_time"`, `"cpu_time_total"`, `"self_cpu_time_total"`,
        `"cpu_memory_usage"`, `"self_cpu_memory_usage"` or `"count"`; the largest values are listed
        first.
        """
        return build_table(self, sort_by, header, row_limit, max_src_column_width,
                           max_name_column_width, max_shapes_column_width, self._profile_memory,
                           top_level_events_only, time_unit)

    def export_chrome_trace(self, path: str | Path) -> None:
        """Write the events to a file that https://ui.perfetto.dev and chrome://tracing can open.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "trace.json")
        >>> EventList([FunctionEvent(0, "aten::mul", 1, 0.0, 3.0)]).export_chrome_trace(path)
        >>> json.loads(Path(path).read_text())["traceEvents"][-1]["name"]
        'aten::mul'
        """
        Path(path).write_text(json.dumps(trace(self)), encoding="utf-8")

    def export_html(self, path: str | Path, title: str = "Profile") -> None:
        """Write a page with a flame graph of the events; it needs only a browser.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "profile.html")
        >>> EventList([FunctionEvent(0, "aten::mul", 1, 0.0, 3.0)]).export_html(path, "One product")
        >>> "<title>One product</title>" in Path(path).read_text(encoding="utf-8")
        True
        """
        Path(path).write_text(page(self, title), encoding="utf-8")

    def supported_export_stacks_metrics(self) -> list[str]:
        """Return the metrics that `export_stacks` supports.

        >>> EventList().supported_export_stacks_metrics()
        ['self_cpu_time_total']
        """
        return ["self_cpu_time_total"]

    def export_stacks(self, path: str | Path, metric: str = "self_cpu_time_total") -> None:
        """Write stacks with their times, for Brendan Gregg's `flamegraph.pl` and similar tools.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "stacks.txt")
        >>> stack = ["model.py(7): forward", "train.py(3): main"]
        >>> EventList([FunctionEvent(0, "aten::mul", 1, 0.0, 3.0, stack=stack)]).export_stacks(path)
        >>> print(Path(path).read_text(), end="")
        train.py(3):_main;model.py(7):_forward 3
        """
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError("metric should be one of: "
                             + str(self.supported_export_stacks_metrics()))
        lines = []
        for event in self:
            if event.stack and int(getattr(event, metric)) > 0:
                calls = ";".join(c.translate(str.maketrans(" ;\t\n", "____"))
                                 for c in reversed(event.stack))
                lines.append(f"{calls} {int(getattr(event, metric))}\n")
        Path(path).write_text("".join(lines), encoding="utf-8")

    def key_averages(self, group_by_input_shapes: bool = False,
                     group_by_stack_n: int = 0) -> EventList:
        """Return the averages of the events by name, in the order of their first events.

        You can also group events by their input shapes, and by the first `group_by_stack_n` lines
        of their stacks, which are the innermost. An average then shows just these lines; its shapes
        are `None` unless you group by them.

        >>> from minigrad import ones
        >>> from minigrad.autograd.profiler import profile
        >>> with profile(record_shapes=True) as prof:
        ...     x, y = ones(2) * 3, ones(4) * 3
        >>> events = prof.function_events
        >>> [(average.key, average.count) for average in events.key_averages()]
        [('aten::ones', 2), ('aten::mul', 2)]
        >>> [(average.input_shapes, average.count) for average in events.key_averages(True)]
        [([[]], 2), ([[2], []], 1), ([[4], []], 1)]
        """
        groups: dict[tuple[Any, ...], FunctionEventAvg] = {}
        for event in self:
            key: tuple[Any, ...] = (event.key, event.node_id)
            if group_by_input_shapes:
                key += (str(event.input_shapes),)
            if group_by_stack_n > 0:
                key += tuple(event.stack[:group_by_stack_n])
            groups.setdefault(key, FunctionEventAvg()).add(event)
        for average in groups.values():
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = None
        return EventList(groups.values(), profile_memory=self._profile_memory)

    def total_average(self) -> FunctionEventAvg:
        """Return the sum of all events, including nested ones, under the key "Total"."""
        total = FunctionEventAvg()
        for event in self:
            total.key = None
            total += event
        total.key = "Total"
        total.input_shapes = total.stack = None
        return total


def within(around: list[FunctionEvent], event: FunctionEvent) -> None:
    """Set an event's parent, the last of `around` that contains it, and append it to `around`.

    `around` holds the open events, outermost first; the ones that do not contain the event are
    removed from its end. Call this in the order of the events' starts.
    """
    start, end = event.time_range.start, event.time_range.end
    while around and (start >= around[-1].time_range.end or end > around[-1].time_range.end):
        around.pop()
    if around:
        around[-1].append_cpu_child(event)
        event.set_cpu_parent(around[-1])
    around.append(event)
