# Stage 11, The profiler: the exercise for minigrad/autograd/profiler/table.py.
# Made by `minigrad dev build`. The lesson is lessons/11_profiler.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 11
# docs/en/glossary.md explains the names used inside the package.

"""A profile as a table: times, shares and bytes with their units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

WIDTH = 12  # width of a number column
GAP = "  "

#: A column's title, its width, and its text for an event.
Column = tuple[str, int, Callable[[Any], str]]


def _format_time(time_us: float) -> str:
    """Return a time in a suitable unit.

    >>> _format_time(7.356), _format_time(8738.0), _format_time(9217000.0)
    ('7.356us', '8.738ms', '9.217s')
    """
    if time_us >= 1e6:
        return f"{time_us / 1e6:.3f}s"
    if time_us >= 1e3:
        return f"{time_us / 1e3:.3f}ms"
    return f"{time_us:.3f}us"


def _format_time_share(time_us: float, total_time_us: float) -> str:
    """Return a time as a percentage of the total, or NaN if the total is zero."""
    if total_time_us == 0:
        return "NaN"
    return f"{time_us * 100.0 / total_time_us:.2f}%"


def _format_memory(nbytes: float) -> str:
    """Return a number of bytes in a suitable unit.

    >>> _format_memory(400), _format_memory(1536), _format_memory(-3 * 2**20)
    ('400 B', '1.50 KB', '-3.00 MB')
    """
    for unit, size in (("GB", 2**30), ("MB", 2**20), ("KB", 2**10)):
        if abs(nbytes) >= size:
            return f"{nbytes / size:.2f} {unit}"
    return f"{nbytes} B"


def in_unit(time_us: float, unit: str | None) -> str:
    """Return a time in a unit: "s", "ms", "us", or a suitable one for `None`."""
    if unit is None:
        return _format_time(time_us)
    return f"{time_us / {'s': 1e6, 'ms': 1e3, 'us': 1.0}[unit]:.3f}{unit}"


def shortened(name: str, width: int | None) -> str:
    """Return a name that fits into a column, cut at the end if necessary."""
    return name[: width - 3] + "..." if width is not None and len(name) >= width - 3 else name


def ending(path: str, width: int) -> str:
    """Return a path that fits into a column, cut at the beginning if necessary."""
    return path if len(path) <= width else "..." + path[len(path) - width + 3 :]


def width_of(texts: Sequence[str], limit: int | None) -> int:
    """Return the width of a column of texts."""
    width = max(map(len, texts), default=0) + 4
    return width if limit is None else min(width, limit)


def rows_shown(events: Sequence[Any], sort_by: str | None, row_limit: int,
               top_level_events_only: bool) -> list[Any]:
    """Return the first `row_limit` events of a table, largest first; all if it is negative.

    `sort_by` names an attribute; with `None`, the order of `events` stays.
    """
    # 11.4 The rows of the table (about 4 lines)
    # Return the rows that a table shows, in the order in which it shows them.
    #   conv 0-10 contains pad 1-4 and mul 4.5-9, and pad contains copy 1.5-3.5; then exp 20-21
    #   sort_by "self_cpu_time_total", row_limit 2       -> [mul, conv]
    #   the same, top_level_events_only                  -> [conv, exp]
    #   sort_by "cpu_time_total", top_level_events_only  -> [conv, exp]
    #   sort_by None, row_limit -1                       -> all five, in the list's order
    # Mind:
    # - Events with equal values keep their order.
    # - The list that you receive doesn't change.
    # Use: `event.cpu_parent`, `getattr(event, name)`.
    raise NotImplementedError("11.4 The rows of the table is yours to write")


def columns_of(events: Sequence[Any], profile_memory: bool, max_name_column_width: int | None,
               max_shapes_column_width: int | None, time_unit: str | None) -> list[Column]:
    """Return the columns of a table of these events; shares refer to the sum of all self times."""
    total = sum(event.self_cpu_time_total for event in events)
    columns: list[Column] = [
        ("Name", width_of([e.key for e in events], max_name_column_width),
         lambda e: shortened(e.key, max_name_column_width)),
        ("Self CPU %", WIDTH, lambda e: _format_time_share(e.self_cpu_time_total, total)),
        ("Self CPU", WIDTH, lambda e: in_unit(e.self_cpu_time_total, time_unit)),
        ("CPU total %", WIDTH, lambda e: _format_time_share(e.cpu_time_total, total)),
        ("CPU total", WIDTH, lambda e: in_unit(e.cpu_time_total, time_unit)),
        ("CPU time avg", WIDTH, lambda e: in_unit(e.cpu_time, time_unit)),
    ]
    on_device = sum(event.self_device_time_total for event in events)
    if on_device:
        columns += [
            ("Self CUDA", WIDTH, lambda e: in_unit(e.self_device_time_total, time_unit)),
            ("Self CUDA %", WIDTH,
             lambda e: _format_time_share(e.self_device_time_total, on_device)),
            ("CUDA total", WIDTH, lambda e: in_unit(e.device_time_total, time_unit)),
            ("CUDA time avg", WIDTH, lambda e: in_unit(e.device_time, time_unit)),
        ]
    if profile_memory:
        columns += [("CPU Mem", WIDTH, lambda e: _format_memory(e.cpu_memory_usage)),
                    ("Self CPU Mem", WIDTH, lambda e: _format_memory(e.self_cpu_memory_usage))]
    columns.append(("# of Calls", WIDTH, lambda e: str(e.count)))
    if any(e.node_id != -1 for e in events):
        columns.append(("Node ID", WIDTH, lambda e: str(e.node_id)))
    if any(e.input_shapes for e in events):
        width = width_of([str(e.input_shapes) for e in events], max_shapes_column_width)
        columns.append(("Input Shapes", width, lambda e: str(e.input_shapes)[:width]))
    return columns


def build_table(
    events: Sequence[Any],
    sort_by: str | None = None,
    header: str | None = None,
    row_limit: int = 100,
    max_src_column_width: int | None = 75,
    max_name_column_width: int | None = 55,
    max_shapes_column_width: int | None = 80,
    profile_memory: bool = False,
    top_level_events_only: bool = False,
    time_unit: str | None = None,
) -> str:
    """Return a table with a row for each event; an empty profile gives an empty text.

    `sort_by` names an attribute of the events, which are sorted with the largest first. `row_limit`
    is the maximum number of rows; -1 shows all.
    """
    if not events:
        return ""
    columns = columns_of(events, profile_memory, max_name_column_width, max_shapes_column_width,
                         time_unit)
    by = None if sort_by is None else sort_by.replace("cuda", "device")  # the older names
    shown = rows_shown(events, by, row_limit, top_level_events_only)
    rule = GAP.join("-" * width for _, width, _ in columns) + GAP
    head = GAP.join(title.rjust(width) for title, width, _ in columns) + GAP
    rows = [(GAP.join(cell(e).rjust(width) for _, width, cell in columns) + GAP, e) for e in shown]

    if any(e.stack for e in events):
        width = width_of([line for e in events for line in e.stack or ()], max_src_column_width)
        blank = " " * (len(head) - len(GAP)) + GAP
        head, rule = head + "Source Location".ljust(width) + GAP, rule + "-" * width + GAP
        body = []
        for row, event in rows:
            for number, line in enumerate([*(event.stack or [""]), ""]):
                body.append((blank if number else row) + ending(line, width).ljust(width) + GAP)
    else:
        body = [row for row, _ in rows]

    above = [] if header is None else ["=" * (len(rule) - len(GAP)), header]
    if top_level_events_only:
        above += ["=" * (len(rule) - len(GAP)), "This report only display top-level ops statistics"]
    total = sum(event.self_cpu_time_total for event in events)
    below = f"Self CPU time total: {in_unit(total, time_unit)}"
    return "\n".join([*above, rule, head, rule, *body, rule, below]) + "\n"
