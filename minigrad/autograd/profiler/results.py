"""Tables, averages and exports of a finished profile."""

from __future__ import annotations

from pathlib import Path

from ..profiler_util import EventList, FunctionEventAvg


class Results:
    """Base of `profile` that passes each method on to `function_events`."""

    with_stack: bool

    @property
    def function_events(self) -> EventList:
        """The events in the order of their starts."""
        raise NotImplementedError

    def table(self, sort_by: str | None = None, row_limit: int = 100,
              max_src_column_width: int | None = 75, max_name_column_width: int | None = 55,
              max_shapes_column_width: int | None = 80, header: str | None = None,
              top_level_events_only: bool = False) -> str:
        """Return a table with a row for each event; see `EventList.table`."""
        return self.function_events.table(
            sort_by, row_limit, max_src_column_width, max_name_column_width,
            max_shapes_column_width, header, top_level_events_only)

    def key_averages(self, group_by_input_shape: bool = False,
                     group_by_stack_n: int = 0) -> EventList:
        """Return the averages of the events by name; see `EventList.key_averages`."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> FunctionEventAvg:
        """Return the sum of all events."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of the self times of all events, in microseconds."""
        return self.function_events.self_cpu_time_total

    def export_chrome_trace(self, path: str | Path) -> None:
        """Write a trace that https://ui.perfetto.dev and chrome://tracing open.

        >>> import os, tempfile
        >>> from minigrad import ones
        >>> from minigrad.autograd.profiler import profile
        >>> with profile() as prof:
        ...     x = ones(2) * 3
        >>> path = os.path.join(tempfile.mkdtemp(), "trace.json")
        >>> prof.export_chrome_trace(path); os.path.getsize(path) > 100
        True
        """
        self.function_events.export_chrome_trace(path)

    def export_stacks(self, path: str | Path, metric: str = "self_cpu_time_total") -> None:
        """Write stacks with their times; requires `with_stack`.

        >>> import os, tempfile
        >>> from minigrad import ones
        >>> from minigrad.autograd.profiler import profile
        >>> path = os.path.join(tempfile.mkdtemp(), "stacks.txt")
        >>> with profile(with_stack=True) as prof:
        ...     x = ones(1000).sum()
        >>> prof.export_stacks(path); os.path.exists(path)
        True
        """
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.function_events.export_stacks(path, metric)

    def export_html(self, path: str | Path, title: str = "Profile") -> None:
        """Write a page with a flame graph of the events; it needs only a browser.

        >>> import os, tempfile
        >>> from minigrad import ones
        >>> from minigrad.autograd.profiler import profile
        >>> path = os.path.join(tempfile.mkdtemp(), "profile.html")
        >>> with profile() as prof:
        ...     x = ones(1000).sum()
        >>> prof.export_html(path, title="A sum"); "A sum" in Path(path).read_text(encoding="utf-8")
        True
        """
        self.function_events.export_html(path, title)
