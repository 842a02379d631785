"""How the rows of a recorder become events: nested, named, and with their bytes."""

from __future__ import annotations

from operator import itemgetter

from ..profiler_util import EventList, FunctionEvent, within
from .recorder import FUNCTION, UNNUMBERED, USER, Recorder, name_of, stack_lines


def events_of(recorder: Recorder, began: int, ended: int) -> EventList:
    """Return the events of a recorder, nested, with times since `began`.

    An op inside a function of the same name is not a separate event.
    """
    rows = list(zip(*[iter(recorder.rows)] * 7))
    rows += [(b.name, USER, b.start, b.end or ended, -1, b.thread, b.details)
             for b in recorder.blocks]
    rows.reverse()  # if times are equal, the event that ended later is outside
    rows.sort(key=itemgetter(3), reverse=True)
    rows.sort(key=itemgetter(2))
    threads: dict[int, int] = {}
    open_events: dict[int, list[FunctionEvent]] = {}  # open events by thread, outermost first
    arrays: dict[FunctionEvent, dict[int, int]] = {}  # arrays that an event allocated
    made = EventList(profile_memory=recorder.memory)
    for what, scope, start, end, sequence, thread, details in rows:
        event = FunctionEvent(
            len(made), name_of(what, scope), threads.setdefault(thread, len(threads) + 1),
            (start - began) / 1000, (end - began) / 1000, scope=scope,
            sequence_nr=sequence if sequence < UNNUMBERED else -1)
        around = open_events.setdefault(thread, [])
        within(around, event)
        outer = event.cpu_parent
        if (scope == FUNCTION and type(what) is not str and outer is not None
                and outer.scope == FUNCTION and outer.name == event.name):
            around.pop()
            outer.cpu_children.pop()
            outer.sequence_nr = max(sequence, outer.sequence_nr)
            if details is not None:
                arrays[outer].update(details.made)
            continue
        if details is not None:
            arrays[event] = details.made
            if details.shapes is not None:
                event.input_shapes = list(map(list, details.shapes))
            if details.stack is not None:
                event.stack = stack_lines(details.stack)
        made.append(event)
        if recorder.microseconds is not None:
            event.device_time_total = recorder.microseconds(details)
    for event in made:
        within_it = sum(child.device_time_total for child in event.cpu_children)
        event.self_device_time_total = max(0.0, event.device_time_total - within_it)
    if recorder.memory:
        count_bytes(made, arrays)
    made._set_backward_stacktraces()
    return made


def count_bytes(events: EventList, arrays: dict[FunctionEvent, dict[int, int]]) -> None:
    """Set the bytes allocated in each event; an array returned by nested events counts once."""
    for event in reversed(events):  # nested events follow their parents in the list
        found = {array for child in event.cpu_children for array in arrays[child]}
        own = sum(size for array, size in arrays[event].items() if array not in found)
        event.cpu_memory_usage = own + sum(c.cpu_memory_usage for c in event.cpu_children)
