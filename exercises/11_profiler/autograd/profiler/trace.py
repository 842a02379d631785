# Stage 11, The profiler: the exercise for minigrad/autograd/profiler/trace.py.
# Made by `minigrad dev build`. The lesson is lessons/11_profiler.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 11
# docs/en/glossary.md explains the names used inside the package.

"""Profiles as traces for Perfetto (https://ui.perfetto.dev) and `chrome://tracing`.

Source: the Trace Event Format,
https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .recorder import BACKWARD, USER

PROCESS = 1  # all events belong to one process
_KINDS = {BACKWARD: "backward", USER: "user_annotation"}


def trace(events: Sequence[Any]) -> dict[str, Any]:
    """Return events as a JSON-ready trace: slices, and arrows from each op to its backward."""
    records: list[dict[str, Any]] = [_named("process_name", 0, "minigrad")]
    records += [_named("thread_name", t, f"thread {t}") for t in sorted({e.thread for e in events})]
    for event in events:
        details: dict[str, Any] = {"id": event.id}
        if event.sequence_nr >= 0:
            details["Sequence number"] = event.sequence_nr
        if event.input_shapes:
            details["Input dims"] = event.input_shapes
        if event.stack:
            details["Call stack"] = ";".join(event.stack)
        if event.cpu_memory_usage:
            details["Bytes"] = event.cpu_memory_usage
        records.append({
            "ph": "X", "name": event.name, "cat": _KINDS.get(event.scope, "cpu_op"),
            "pid": PROCESS, "tid": event.thread, "ts": event.time_range.start,
            "dur": event.time_range.elapsed_us(), "args": details,
        })
    for number, (forward, backward) in enumerate(linked(events)):
        arrow = {"name": "fwdbwd", "cat": "fwdbwd", "id": number, "pid": PROCESS}
        records.append({**arrow, "ph": "s", "tid": forward.thread, "ts": forward.time_range.start})
        records.append({**arrow, "ph": "f", "bp": "e", "tid": backward.thread,
                        "ts": backward.time_range.start})
    return {"traceEvents": records, "displayTimeUnit": "ms"}


def _named(what: str, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": PROCESS, "tid": thread, "ts": 0, "args": {"name": name}}


def linked(events: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Return pairs (op, backward): each backward event with the op that created its node, if known.

    The events must be in the order in which they began.
    """
    # 11.5 From a backward event to its op (about 10 lines)
    # Return a pair for each backward event: the op that created its node, and the
    # backward event. Both have the same `sequence_nr`, and a negative number doesn't
    # belong to any node.
    #   mul 4, sum 5, SumBackward 5, MulBackward 4, AccumulateGrad -1
    #                                        -> [(sum, SumBackward), (mul, MulBackward)]
    #   mul 4, MulBackward 4, MulBackward 4  -> two pairs, because the graph ran twice
    #   conv 4, mul 4, Backward 4            -> [(mul, Backward)]
    #   mul 0, MulBackward 0, mul 0          -> [(mul, MulBackward)] with the first mul
    #   MulBackward 4, mul 4                 -> []
    # Use: `event.scope == BACKWARD` for a backward event; every other event counts as an
    # op.
    raise NotImplementedError("11.5 From a backward event to its op is yours to write")
