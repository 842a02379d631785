# Stage 11, The profiler: the exercise for minigrad/autograd/profiling/trace.py.
# Made by `minigrad dev build`. The lesson is lessons/11_profiler.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 11
# Names of the package's inside are explained in docs/en/glossary.md.

"""Profiles as traces for Perfetto (https://ui.perfetto.dev) and `chrome://tracing`.

Source: the Trace Event Format,
https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .recorder import BACKWARD, USER

PROCESS = 1  # all events are of one process
_KINDS = {BACKWARD: "backward", USER: "user_annotation"}


def trace(events: Sequence[Any]) -> dict[str, Any]:
    """Return events as a trace to be written as JSON: slices, and arrows from op to backward."""
    # 11.5 The trace (about 33 lines)
    # `linked` returns a list of pairs (op, backward): for each event of scope BACKWARD,
    # in order, the op's event that made its node, where there is one. That is the last
    # event before it in the order given which has the same `sequence_nr` and another
    # scope. Events with a negative number belong to nobody. `trace` returns
    # {"traceEvents": records, "displayTimeUnit": "ms"}. The records are, in order:
    # `_named("process_name", 0, "minigrad")`; `_named("thread_name", t, f"thread {t}")`
    # for each thread among the events, in ascending order; for each event a slice; for
    # each pair of `linked` an arrow of two records. A slice has "ph": "X", "name", "cat"
    # (`_KINDS` by the event's scope, "cpu_op" for all others), "pid": PROCESS, "tid": the
    # thread, "ts": the start, "dur": how long it took, and "args": a dictionary with
    # "id", the event's, and, only where there is something to say, "Sequence number" (not
    # negative), "Input dims" (input_shapes), "Call stack" (the stack's lines joined by
    # ";") and "Bytes" (cpu_memory_usage). Both records of an arrow have "name" and "cat":
    # "fwdbwd", "pid": PROCESS, and as "id" the number of the pair, from 0; the first has
    # "ph": "s" with "tid" and "ts" (the start) of the op, the second "ph": "f" and "bp":
    # "e" with those of the backward.
    raise NotImplementedError("11.5 The trace is yours to write")


def _named(what: str, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": PROCESS, "tid": thread, "ts": 0, "args": {"name": name}}


def linked(events: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Return each backward event with the op that made its node, if both are in the profile.

    The events have to be in the order in which they began.
    """
    # 11.5 The trace: see the task at `trace`.
    raise NotImplementedError("11.5 The trace is yours to write")
