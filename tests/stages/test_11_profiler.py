"""Stage 11: the profiler.

Events with times chosen by hand come first; what the engine records is looked at by names, counts,
nesting and numbers, never by how long something takes.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from threading import Event, get_ident
from time import perf_counter_ns

import pytest

import minigrad as torch
from minigrad import _state
from minigrad.autograd.profiler import contexts, profile, record_function
from minigrad.autograd.profiler.collect import events_of
from minigrad.autograd.profiler.recorder import (
    BACKWARD,
    FUNCTION,
    USER,
    DetailedRecorder,
    Recorder,
    name_of,
)
from minigrad.autograd.profiler.table import (
    rows_shown,
)
from minigrad.autograd.profiler.trace import linked
from minigrad.autograd.profiler_util import (
    EventList,
    FunctionEvent,
    FunctionEventAvg,
    within,
)
from minigrad.graph.node import NaryNode


@pytest.fixture(autouse=True)
def switched_off():
    """No profiler is on before a test and after it, whatever the code under test does."""
    before = _state.observers.count, _state.observers.on_node
    yield
    _state.recorder.set(None)
    _state.observers.count, _state.observers.on_node = before


def event(id, start, end, name="", thread=1, **options):
    return FunctionEvent(id, name or f"e{id}", thread, float(start), float(end), **options)


def children(events):
    return {e.id: [c.id for c in e.cpu_children] for e in events if e.cpu_children}


def parents(events):
    return {e.id: e.cpu_parent.id for e in events if e.cpu_parent is not None}


# ------------------------------------------------------------------------------------ 11.1


def nested(*events):
    """The same events as a list, nested."""
    made = EventList(events)
    made._populate_cpu_children()
    return made


def opened(*events):
    """Hand events to `within` one by one; return the list of those that are open then."""
    around = []
    for each in events:
        within(around, each)
    return [e.id for e in around]


@pytest.mark.hole("11.1")
def test_within_puts_the_event_at_the_end():
    assert opened(event(0, 0, 10)) == [0]
    assert opened(event(0, 0, 10), event(1, 1, 5), event(2, 2, 3)) == [0, 1, 2]


@pytest.mark.hole("11.1")
def test_within_links_the_innermost_event():
    outer, inner, deep = events = event(0, 0, 10), event(1, 1, 5), event(2, 2, 3)
    opened(*events)
    assert deep.cpu_parent is inner and inner.cpu_parent is outer and outer.cpu_parent is None


@pytest.mark.hole("11.1")
def test_within_tells_the_parent_of_its_child():
    events = event(0, 0, 10), event(1, 1, 5), event(2, 2, 3)
    opened(*events)
    assert children(events) == {0: [1], 1: [2]}


@pytest.mark.hole("11.1")
def test_within_takes_away_what_is_over():
    assert opened(event(0, 0, 10), event(1, 1, 5), event(2, 6, 7)) == [0, 2]


@pytest.mark.hole("11.1")
def test_within_takes_away_all_that_are_over():
    events = event(0, 0, 10), event(1, 1, 5), event(2, 2, 3), event(3, 6, 7)
    assert opened(*events) == [0, 3]
    assert children(events) == {0: [1, 3], 1: [2]}
    assert opened(event(0, 0, 2), event(1, 3, 4)) == [1]


@pytest.mark.hole("11.1")
def test_within_takes_away_what_ends_at_the_start():
    assert opened(event(0, 0, 5), event(1, 5, 10)) == [1]
    assert opened(event(0, 0, 5), event(1, 5, 5)) == [1]


@pytest.mark.hole("11.1")
def test_within_takes_away_what_ends_before_the_event_does():
    assert opened(event(0, 0, 10), event(1, 1, 5), event(2, 3, 8)) == [0, 2]


@pytest.mark.hole("11.1")
def test_within_keeps_what_ends_together_with_the_event():
    assert opened(event(0, 0, 5), event(1, 3, 5)) == [0, 1]


@pytest.mark.hole("11.1")
def test_nesting_of_the_lessons_picture():
    events = nested(event(0, 0, 10), event(1, 1, 4), event(2, 1.5, 3.5), event(3, 4.5, 9))
    assert children(events) == {0: [1, 3], 1: [2]}
    assert parents(events) == {1: 0, 2: 1, 3: 0}


@pytest.mark.hole("11.1")
def test_the_order_of_the_list_does_not_matter():
    events = nested(event(3, 4.5, 9), event(2, 1.5, 3.5), event(0, 0, 10), event(1, 1, 4))
    assert children(events) == {0: [1, 3], 1: [2]}


@pytest.mark.hole("11.1")
def test_the_list_keeps_its_order():
    events = nested(event(3, 4.5, 9), event(2, 1.5, 3.5), event(0, 0, 10), event(1, 1, 4))
    assert [e.id for e in events] == [3, 2, 0, 1], "the list itself is in another order now"


@pytest.mark.hole("11.1")
def test_of_equal_starts_the_longer_one_is_outer():
    assert parents(nested(event(0, 0, 5), event(1, 0, 10))) == {0: 1}
    assert parents(nested(event(0, 0, 10), event(1, 0, 5), event(2, 0, 2))) == {1: 0, 2: 1}


@pytest.mark.hole("11.1")
def test_one_after_the_other_is_not_within():
    assert parents(nested(event(0, 0, 5), event(1, 5, 10))) == {}
    assert parents(nested(event(0, 0, 10), event(1, 1, 5), event(2, 5, 9))) == {1: 0, 2: 0}
    assert parents(nested(event(0, 0, 5), event(1, 5, 5))) == {}


@pytest.mark.hole("11.1")
def test_overlapping_is_not_within():
    assert parents(nested(event(0, 0, 5), event(1, 3, 8))) == {}
    assert parents(nested(event(0, 0, 10), event(1, 1, 5), event(2, 3, 8))) == {1: 0, 2: 0}
    assert parents(nested(event(0, 0, 5), event(1, 3, 5))) == {1: 0}


@pytest.mark.hole("11.1")
def test_threads_nest_by_themselves():
    events = nested(event(0, 0, 10), event(1, 1, 9, thread=2), event(2, 2, 3),
                    event(3, 2, 8, thread=2))
    assert parents(events) == {2: 0, 3: 1}


@pytest.mark.hole("11.1")
def test_asynchronous_events_take_no_part():
    events = nested(event(0, 0, 10), event(1, 1, 9, is_async=True), event(2, 2, 3))
    assert parents(events) == {2: 0}


# ------------------------------------------------------------------------------------ 11.2


def family(**options):
    """An outer event of 10, with two within it of 3 and 4.5, and one of 2 in the first of these."""
    outer, first, deep, second = (
        event(0, 0, 10, cpu_memory_usage=100, **options),
        event(1, 1, 4, cpu_memory_usage=30), event(2, 1.5, 3.5, cpu_memory_usage=20),
        event(3, 4.5, 9, cpu_memory_usage=50))
    for parent, child in ((outer, first), (first, deep), (outer, second)):
        parent.append_cpu_child(child)
        child.set_cpu_parent(parent)
    return EventList([outer, first, deep, second])


@pytest.mark.hole("11.2")
def test_the_total_is_from_start_to_end():
    assert [e.cpu_time_total for e in family()] == [10.0, 3.0, 2.0, 4.5]


@pytest.mark.hole("11.2")
def test_self_time_leaves_out_what_is_directly_within():
    found = [e.self_cpu_time_total for e in family()]
    assert found == [2.5, 1.0, 2.0, 4.5], f"expected [2.5, 1.0, 2.0, 4.5], got {found}"


@pytest.mark.hole("11.2")
def test_self_times_add_up_to_what_passed():
    assert family().self_cpu_time_total == 10.0
    assert EventList(family()[1:]).self_cpu_time_total == 7.5, "expected 1 + 2 + 4.5"


@pytest.mark.hole("11.2")
@pytest.mark.parametrize("name", ["cpu_time_total", "self_cpu_time_total",
                                  "self_cpu_memory_usage"])
def test_asynchronous_events_have_none(name):
    assert getattr(family(is_async=True)[0], name) == 0


@pytest.mark.hole("11.2")
def test_asynchronous_events_within_take_no_time_away():
    outer = event(0, 0, 10)
    outer.append_cpu_child(event(1, 1, 4, is_async=True))
    assert outer.self_cpu_time_total == 10.0


@pytest.mark.hole("11.2")
def test_self_memory_leaves_out_what_is_directly_within():
    assert [e.self_cpu_memory_usage for e in family()] == [20, 10, 20, 50]


@pytest.mark.hole("11.2")
def test_the_time_of_one_call():
    average = FunctionEventAvg()
    average.cpu_time_total, average.count = 12.0, 4
    assert average.cpu_time == 3.0
    assert event(0, 1, 4).cpu_time == 3.0


@pytest.mark.hole("11.2")
def test_the_time_of_no_call():
    found = FunctionEventAvg().cpu_time
    assert found == 0.0 and isinstance(found, float), f"expected 0.0, got {found!r}"


# ------------------------------------------------------------------------------------ 11.3


def average_of(*events):
    average = FunctionEventAvg()
    for each in events:
        average.add(each)
    return average


@pytest.mark.hole("11.3")
def test_add_returns_the_average_itself():
    average = FunctionEventAvg()
    assert average.add(event(0, 0, 4)) is average, "expected the average itself"


@pytest.mark.hole("11.3")
@pytest.mark.parametrize(("name", "expected"), [
    ("count", 3), ("cpu_time_total", 17.5), ("self_cpu_time_total", 8.0),
    ("cpu_memory_usage", 180), ("self_cpu_memory_usage", 80), ("device_time_total", 6.0),
    ("self_device_time_total", 3.0), ("cpu_time", 17.5 / 3)], ids=[
    "count", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage",
    "self_cpu_memory_usage", "device_time_total", "self_device_time_total", "cpu_time"])
def test_an_average_adds_up(name, expected):
    outer, first, _, second = family()
    for each in (outer, first, second):
        each.name, each.device_time_total, each.self_device_time_total = "one", 2.0, 1.0
    assert getattr(average_of(outer, first, second), name) == pytest.approx(expected)


@pytest.mark.hole("11.3")
def test_averages_of_averages():
    two = average_of(event(0, 0, 4, "one"), event(1, 4, 10, "one"))
    three = average_of(*(event(i, 0, 1, "one") for i in range(3)))
    two += three
    assert two.count == 5, f"expected a count of 5, got {two.count}"
    assert two.cpu_time_total == 13.0


@pytest.mark.hole("11.3")
def test_key_averages_are_a_list_of_averages():
    events = EventList([event(0, 0, 1, "mul"), event(1, 1, 3, "add"), event(2, 3, 6, "mul")])
    averages = events.key_averages()
    assert isinstance(averages, EventList), f"expected an EventList, got {type(averages)}"
    assert all(isinstance(a, FunctionEventAvg) for a in averages)
    assert len(events) == 3 and events[0].count == 1, "the events themselves have changed"


@pytest.mark.hole("11.3")
def test_key_averages_add_up_what_has_one_name():
    events = EventList([event(0, 0, 1, "mul"), event(1, 1, 3, "add"), event(2, 3, 6, "mul")])
    assert sorted((a.key, a.count, a.cpu_time_total) for a in events.key_averages()) == [
        ("add", 1, 2.0), ("mul", 2, 4.0)]


@pytest.mark.hole("11.3")
def test_key_averages_are_in_the_order_of_first_events():
    events = EventList([event(0, 0, 1, "mul"), event(1, 1, 9, "add"), event(2, 3, 6, "mul"),
                        event(3, 3, 4, "exp")])
    assert [a.key for a in events.key_averages()] == ["mul", "add", "exp"]


@pytest.mark.hole("11.3")
def test_averages_are_averaged_again():
    events = EventList([event(0, 0, 1, "mul"), event(1, 1, 3, "add"), event(2, 3, 6, "mul")])
    found = events.key_averages().key_averages()
    assert [(a.key, a.count, a.cpu_time_total) for a in found] == [("mul", 2, 4.0),
                                                                   ("add", 1, 2.0)]


@pytest.mark.hole("11.3")
def test_key_averages_tell_the_sizes_of_shapes_apart():
    sizes = [event(i, 0, 1, "mul", input_shapes=s) for i, s in enumerate((
        [[2, 3]], [[3, 2]], [[2, 3], []], [[2], [3]], None))]
    assert len(EventList(sizes).key_averages(group_by_input_shapes=True)) == 5


SHAPED = [event(i, 0, 1, "mul", input_shapes=s) for i, s in enumerate(([[2, 3]], [[4]], [[2, 3]]))]
STACKED = [event(i, 0, 1, "mul", stack=s) for i, s in enumerate((
    ["a", "b", "c"], ["a", "b", "d"], ["a", "e"]))]


@pytest.mark.hole("11.3")
def test_key_averages_have_no_shapes_unless_asked():
    found = EventList(SHAPED).key_averages()
    assert [(a.count, a.input_shapes) for a in found] == [(3, None)]


@pytest.mark.hole("11.3")
def test_key_averages_tell_shapes_apart_when_asked():
    found = EventList(SHAPED).key_averages(group_by_input_shapes=True)
    assert [(a.count, a.input_shapes) for a in found] == [(2, [[2, 3]]), (1, [[4]])]


@pytest.mark.hole("11.3")
def test_key_averages_have_an_empty_stack_unless_asked():
    found = EventList(STACKED).key_averages()
    assert [(a.count, a.stack) for a in found] == [(3, [])]


@pytest.mark.hole("11.3")
@pytest.mark.parametrize(("lines", "expected"), [
    (1, [(3, ["a"])]), (2, [(2, ["a", "b"]), (1, ["a", "e"])]),
    (3, [(1, ["a", "b", "c"]), (1, ["a", "b", "d"]), (1, ["a", "e"])])], ids=["1", "2", "3"])
def test_key_averages_tell_stacks_apart_when_asked(lines, expected):
    found = EventList(STACKED).key_averages(group_by_stack_n=lines)
    assert [(a.count, a.stack) for a in found] == expected


@pytest.mark.hole("11.3")
def test_key_averages_leave_the_events_stacks_alone():
    EventList(STACKED).key_averages(group_by_stack_n=1)
    assert STACKED[0].stack == ["a", "b", "c"] and SHAPED[0].input_shapes == [[2, 3]]


@pytest.mark.hole("11.3")
@pytest.mark.parametrize("memory", [False, True])
def test_key_averages_have_memory_as_the_events_do(memory):
    events = EventList([event(0, 0, 1, "mul")], profile_memory=memory)
    assert events.key_averages()._profile_memory is memory


# ------------------------------------------------------------------------------------ 11.4


@pytest.mark.hole("11.4")
def test_rows_are_a_list_in_the_order_of_the_events():
    events = family()
    shown = rows_shown(events, None, 100, False)
    assert isinstance(shown, list) and [e.id for e in shown] == [0, 1, 2, 3]


@pytest.mark.hole("11.4")
def test_rows_are_sorted_from_the_largest():
    assert [e.id for e in rows_shown(family(), "cpu_time_total", 100, False)] == [0, 3, 1, 2]


@pytest.mark.hole("11.4")
def test_rows_are_sorted_by_the_attribute_that_is_named():
    assert [e.id for e in rows_shown(family(), "self_cpu_time_total", 100, False)] == [3, 0, 2, 1]


@pytest.mark.hole("11.4")
@pytest.mark.parametrize(("limit", "expected"), [(3, [0, 1, 2]), (1, [0]), (0, []),
                                                 (100, [0, 1, 2, 3])], ids=["3", "1", "0", "100"])
def test_rows_are_cut_at_the_limit(limit, expected):
    assert [e.id for e in rows_shown(family(), None, limit, False)] == expected


@pytest.mark.hole("11.4")
@pytest.mark.parametrize("limit", [-1, -2])
def test_no_limit_shows_all_rows(limit):
    assert [e.id for e in rows_shown(family(), None, limit, False)] == [0, 1, 2, 3]
    assert [e.id for e in rows_shown(family(), "cpu_time_total", limit, False)] == [0, 3, 1, 2]


@pytest.mark.hole("11.4")
def test_rows_are_sorted_before_they_are_cut():
    shown = [e.id for e in rows_shown(family(), "self_cpu_time_total", 2, False)]
    assert shown == [3, 0], f"expected events 3 and 0, got {shown}"


@pytest.mark.hole("11.4")
def test_the_events_keep_their_order():
    events = family()
    rows_shown(events, "self_cpu_time_total", 2, False)
    assert [e.id for e in events] == [0, 1, 2, 3], "the list itself is in another order now"


@pytest.mark.hole("11.4")
def test_rows_of_equal_values_keep_their_order():
    assert [e.id for e in rows_shown(family(), "count", 100, False)] == [0, 1, 2, 3]
    assert [e.id for e in rows_shown(family(), "cuda_time_total", 100, False)] == [0, 1, 2, 3]


@pytest.mark.hole("11.4")
def test_top_level_events_are_those_without_a_parent():
    events = EventList([*family(), event(7, 20, 21)])
    assert [e.id for e in rows_shown(events, None, 100, True)] == [0, 7]


@pytest.mark.hole("11.4")
def test_an_event_whose_parent_is_not_in_the_list():
    events = family()
    assert rows_shown(list(events)[1:3], None, 100, True) == []


@pytest.mark.hole("11.4")
def test_top_level_events_are_sorted_and_cut_too():
    events = EventList([event(7, 20, 21), *family()])
    assert [e.id for e in rows_shown(events, "cpu_time_total", 100, True)] == [0, 7]
    assert [e.id for e in rows_shown(events, "cpu_time_total", 1, True)] == [0]


@pytest.mark.hole("11.4")
def test_inner_events_take_no_place_in_a_short_table():
    events = EventList([*family(), event(7, 20, 21)])
    shown = [e.id for e in rows_shown(events, "self_cpu_time_total", 2, True)]
    assert shown == [0, 7], f"expected the events 0 and 7, the top level ones, got {shown}"


@pytest.mark.hole("11.4")
def test_the_whole_table():
    lines = family().table(sort_by="self_cpu_time_total", row_limit=2).splitlines()
    cells = [line.split() for line in lines]
    assert cells[3] == ["e3", "45.00%", "4.500us", "45.00%", "4.500us", "4.500us", "1"]
    assert cells[4] == ["e0", "25.00%", "2.500us", "100.00%", "10.000us", "10.000us", "1"]
    assert lines[-1] == "Self CPU time total: 10.000us"


# ------------------------------------------------------------------------------------ 11.5


def trained():
    """Two ops, their backwards in the other order, and a node that belongs to no op."""
    return EventList([
        event(0, 0, 2, "aten::mul", sequence_nr=4),
        event(1, 2, 5, "aten::sum", sequence_nr=5),
        event(2, 6, 7, "SumBackward0", thread=2, scope=BACKWARD, sequence_nr=5),
        event(3, 7, 9, "MulBackward0", thread=2, scope=BACKWARD, sequence_nr=4),
        event(4, 9, 10, "torch::autograd::AccumulateGrad", thread=2, scope=BACKWARD),
    ])


@pytest.mark.hole("11.5")
def test_ops_are_linked_with_their_backwards():
    assert [(a.id, b.id) for a, b in linked(trained())] == [(1, 2), (0, 3)]


@pytest.mark.hole("11.5")
def test_events_without_a_number_are_not_linked():
    events = [event(0, 0, 1), event(1, 1, 2, scope=BACKWARD)]
    assert list(linked(events)) == []


@pytest.mark.hole("11.5")
def test_the_number_zero_is_linked():
    zero = [event(0, 0, 1, sequence_nr=0), event(1, 1, 2, scope=BACKWARD, sequence_nr=0)]
    assert len(linked(zero)) == 1, "0 is a number too"


@pytest.mark.hole("11.5")
@pytest.mark.parametrize("options", [{}, {"scope": BACKWARD}], ids=["an op", "a backward"])
def test_what_is_alone_is_not_linked(options):
    assert list(linked([event(0, 0, 1, sequence_nr=3, **options)])) == []


@pytest.mark.hole("11.5")
def test_a_graph_that_runs_twice_is_linked_twice():
    events = [event(0, 0, 1, sequence_nr=3), event(1, 1, 2, scope=BACKWARD, sequence_nr=3),
              event(2, 2, 3, scope=BACKWARD, sequence_nr=3)]
    assert [(a.id, b.id) for a, b in linked(events)] == [(0, 1), (0, 2)]


@pytest.mark.hole("11.5")
def test_the_last_op_of_a_number_is_linked():
    events = [event(0, 0, 9, sequence_nr=3), event(1, 1, 2, sequence_nr=3),
              event(2, 10, 11, scope=BACKWARD, sequence_nr=3)]
    assert [(a.id, b.id) for a, b in linked(events)] == [(1, 2)]


@pytest.mark.hole("11.5")
def test_an_op_after_the_backward_is_not_linked():
    late = event(3, 12, 13, sequence_nr=3)
    backward = event(2, 10, 11, scope=BACKWARD, sequence_nr=3)
    assert list(linked([backward, late])) == []
    assert [(a.id, b.id) for a, b in linked([event(0, 0, 9, sequence_nr=3), backward, late])] == [
        (0, 2)]


@pytest.mark.hole("11.5")
def test_an_op_that_is_running_when_its_backward_begins():
    events = [event(0, 0, 20, sequence_nr=3), event(1, 10, 11, scope=BACKWARD, sequence_nr=3)]
    assert [(a.id, b.id) for a, b in linked(events)] == [(0, 1)]


@pytest.mark.hole("11.5")
def test_events_may_come_from_an_iterator():
    assert [(a.id, b.id) for a, b in linked(iter(trained()))] == [(1, 2), (0, 3)]


@pytest.mark.hole("11.5")
def test_the_trace_is_written_as_json(tmp_path):
    file = tmp_path / "trace.json"
    trained().export_chrome_trace(file)
    found = json.loads(file.read_text(encoding="utf-8"))
    assert [r["ph"] for r in found["traceEvents"]] == [*"MMM", *"XXXXX", *"sfsf"]


@pytest.mark.hole("11.5")
def test_a_named_block_is_linked_like_an_op():
    events = [event(0, 0, 9, scope=USER, sequence_nr=3),
              event(1, 10, 11, scope=BACKWARD, sequence_nr=3)]
    assert [(a.id, b.id) for a, b in linked(events)] == [(0, 1)]


# ------------------------------------------------------------------------------------ 11.6


@contextmanager
def written_by(recorder):
    """Have a recorder written to, without a profile."""
    _state.recorder.set(recorder)
    _state.observers.enter(recorder.made)
    try:
        yield recorder
    finally:
        _state.observers.leave(recorder.made)
        _state.recorder.set(None)


def rows(recorder):
    """The recorder's rows: what, scope, start, end, sequence, thread, details."""
    assert len(recorder.rows) % 7 == 0, "expected seven items for each event"
    return list(zip(*[iter(recorder.rows)] * 7))


def numbered(recorder):
    """Names and sequence numbers of the rows, counted from the first node that was made."""
    found = [(name_of(what, scope), number) for what, scope, _, _, number, *_ in rows(recorder)]
    first = min((n for _, n in found if 0 <= n < 1 << 60), default=0)
    return [(name, n - first if 0 <= n < 1 << 60 else None) for name, n in found]


@pytest.mark.hole("11.6")
def test_a_call_gives_what_the_function_gives():
    found = Recorder().call("name", [1], lambda *args, **kwargs: (args, kwargs), 1, 2, third=3)
    assert found == ((1, 2), {"third": 3}), f"got {found}"


@pytest.mark.hole("11.6")
def test_a_call_is_written_down():
    recorder = Recorder()
    recorder.call("name", [1], lambda: None)
    assert len(rows(recorder)) == 1, "expected one event"
    ((what, scope, _, _, sequence, thread, details),) = rows(recorder)
    assert (what, scope, sequence, details) == ("name", FUNCTION, -1, None)
    assert thread == get_ident(), "expected this thread's get_ident()"


@pytest.mark.hole("11.6")
def test_the_times_of_a_call_are_around_the_function():
    recorder, seen = Recorder(), []
    before = perf_counter_ns()
    recorder.call("name", (), lambda: seen.append(perf_counter_ns()))
    ((_, _, start, end, *_),) = rows(recorder)
    assert before <= start <= seen[0] <= end <= perf_counter_ns()


@pytest.mark.hole("11.6")
def test_calls_lie_within_calls():
    recorder = Recorder()
    recorder.call("outer", (), recorder.call, "inner", (), lambda: None)
    inner, outer = rows(recorder)
    assert (inner[0], outer[0]) == ("inner", "outer")
    assert outer[2] <= inner[2] <= inner[3] <= outer[3]


@pytest.mark.hole("11.6")
def test_a_call_that_fails_is_written_down():
    recorder = Recorder()
    with pytest.raises(ZeroDivisionError):
        recorder.call("outer", (), recorder.call, "inner", (), lambda: 1 / 0)
    assert [row[0] for row in rows(recorder)] == ["inner", "outer"]


class Harsh(BaseException):
    """Raised on purpose; no Exception."""


def fails_harshly():
    raise Harsh


@pytest.mark.hole("11.6")
def test_whatever_is_raised_is_written_down():
    recorder = Recorder()
    for run in (recorder.call, recorder.node):
        what = "call" if run == recorder.call else numbered_node(3)
        with pytest.raises(Harsh):
            run(what, (), fails_harshly)
    assert len(rows(recorder)) == 2, f"expected two events, got {len(rows(recorder))}"
    recorder.call("later", (), lambda: None)
    assert rows(recorder)[2][4] == -1, "the later event has a number"


@pytest.mark.hole("11.6")
def test_ops_have_the_numbers_of_their_nodes():
    x = torch.ones(2, requires_grad=True)
    recorder = Recorder()
    with written_by(recorder):
        y = x * 3
        x.detach()
        y.exp()
        torch.tensor([1.0]) + 1
    assert numbered(recorder) == [("aten::mul", 0), ("aten::detach", None), ("aten::exp", 1),
                                  ("aten::add", None)]


@pytest.mark.hole("11.6")
def test_an_outer_event_does_not_take_an_inner_number():
    x = torch.ones(2, requires_grad=True)
    recorder = Recorder()
    with written_by(recorder):
        recorder.call("outer", (), lambda: (x * 3).exp())
        recorder.call("nothing", (), lambda: None)
    assert numbered(recorder) == [("aten::mul", 0), ("aten::exp", 1), ("outer", None),
                                  ("nothing", None)]


def numbered_node(sequence):
    """A node with this sequence number."""
    node = NaryNode()
    node.sequence = sequence
    return node


def sequences(work):
    """Have work done within a call; return what was written down and its numbers."""
    recorder = Recorder()
    recorder.call("outer", (), work, recorder)
    return [(row[0], row[4]) for row in rows(recorder)]


@pytest.mark.hole("11.6")
def test_an_event_has_the_number_of_its_node():
    assert sequences(lambda recorder: recorder.made(numbered_node(5))) == [("outer", 5)]


@pytest.mark.hole("11.6")
def test_of_two_nodes_the_last_one_counts():
    def work(recorder):
        recorder.made(numbered_node(5))
        recorder.made(numbered_node(6))

    assert sequences(work) == [("outer", 6)]


@pytest.mark.hole("11.6")
def test_an_inner_event_begins_without_a_number():
    def work(recorder):
        recorder.made(numbered_node(5))
        recorder.call("nothing", (), lambda: None)

    assert sequences(work)[0] == ("nothing", -1)


@pytest.mark.hole("11.6")
@pytest.mark.parametrize("fails", [False, True], ids=["returns", "raises"])
def test_after_an_inner_event_the_number_is_what_it_was(fails):
    def inner(recorder):
        recorder.made(numbered_node(6))
        if fails:
            raise KeyError

    def work(recorder):
        recorder.made(numbered_node(5))
        with suppress(KeyError):
            recorder.call("inner", (), inner, recorder)

    assert sequences(work) == [("inner", 6), ("outer", 5)]


@pytest.mark.hole("11.6")
def test_a_node_gives_what_apply_gives():
    found = Recorder().node(numbered_node(3), (), lambda *args: args, 1, 2)
    assert found == (1, 2), f"got {found}"


@pytest.mark.hole("11.6")
def test_a_node_is_written_down():
    recorder, node = Recorder(), numbered_node(3)
    before = perf_counter_ns()
    recorder.node(node, (), lambda: None)
    ((what, scope, start, end, sequence, thread, details),) = rows(recorder)
    assert (what, scope, sequence, details) == (NaryNode, BACKWARD, 3, None)
    assert before <= start <= end <= perf_counter_ns() and thread == get_ident()


@pytest.mark.hole("11.6")
@pytest.mark.parametrize("fails", [False, True], ids=["returns", "raises"])
def test_node_ran_is_told_of_it(fails, monkeypatch):
    told, node = [], numbered_node(3)
    monkeypatch.setattr(Recorder, "node_ran", lambda self, *given: told.append(given))
    with suppress(ZeroDivisionError):
        Recorder().node(node, "grads", lambda x: 1 / 0 if fails else "results", 1)
    assert len(told) == 1, f"node_ran was called {len(told)} times"
    ((which, start, grads, results),) = told
    assert which is node and 0 < start <= perf_counter_ns()
    assert (grads, results) == ("grads", None if fails else "results")


@pytest.mark.hole("11.6")
def test_backward_is_written_down_too():
    x = torch.ones(2, requires_grad=True)
    recorder = Recorder()
    with written_by(recorder):
        (x * x).exp().sum().backward()
    found = numbered(recorder)
    names = [name for name, _ in found]
    assert names[:3] == ["aten::mul", "aten::exp", "aten::sum"]
    for name, number in (("SumBackward0", 2), ("ExpBackward", 1), ("MulBackward0", 0)):
        assert (name, number) in found, f"expected {name} with number {number}, got {found}"
    scopes = {name_of(what, scope): scope for what, scope, *_ in rows(recorder)}
    assert scopes["aten::mul"] == FUNCTION and scopes["MulBackward0"] == BACKWARD
    assert "torch::autograd::AccumulateGrad" in names


@pytest.mark.hole("11.6")
def test_backward_gives_the_same_while_it_is_written_down():
    x = torch.ones(2, requires_grad=True)
    with written_by(Recorder()):
        (x * x).exp().sum().backward()
    assert x.grad.tolist() == pytest.approx([2 * 2.718281828] * 2)


@pytest.mark.hole("11.6")
def test_a_node_that_fails_is_written_down():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ValueError("from backward")

    x = torch.ones(2, requires_grad=True)
    recorder = Recorder()
    with written_by(recorder), pytest.raises(ValueError, match="from backward"):
        Fails.apply(x).sum().backward()
    found = [(name_of(what, scope), start <= end) for what, scope, start, end, *_ in rows(recorder)]
    assert ("FailsBackward", True) in found


@pytest.mark.hole("11.6")
def test_what_was_asked_for_is_written_down():
    recorder = DetailedRecorder(shapes=True)
    with written_by(recorder):
        torch.nn.functional.linear(torch.ones(2, 3), torch.ones(4, 3))
    by_name = {name_of(row[0], row[1]): row[6] for row in rows(recorder)}
    assert [tuple(s) for s in by_name["aten::linear"].shapes] == [(2, 3), (4, 3)]


@pytest.mark.hole("11.6")
def test_new_arrays_are_written_down_with_memory():
    recorder = DetailedRecorder(memory=True)
    recorder.call("name", (torch.ones(2),), lambda: torch.ones(3, dtype=torch.float64))
    assert sum(rows(recorder)[0][6].made.values()) == 3 * 8  # bytes of the result


@pytest.mark.hole("11.6")
def test_the_inputs_are_no_new_arrays():
    recorder, x = DetailedRecorder(memory=True), torch.ones(3)
    recorder.call("name", (x,), lambda: x)
    assert not rows(recorder)[0][6].made, "the result is the input"


@pytest.mark.hole("11.6")
def test_a_call_that_fails_has_made_nothing():
    recorder = DetailedRecorder(memory=True)
    with pytest.raises(ZeroDivisionError):
        recorder.call("name", (), lambda: 1 / 0)
    assert not rows(recorder)[0][6].made


@pytest.mark.hole("11.6")
def test_the_inputs_are_those_that_were_named():
    recorder = DetailedRecorder(shapes=True)
    recorder.call("name", (torch.ones(2, 3),), lambda x: x, torch.ones(5))
    shapes = [tuple(s) for s in rows(recorder)[0][6].shapes]
    assert shapes == [(2, 3)], f"expected the shapes of `inputs`, [(2, 3)], got {shapes}"


def until_the_clock_moves():
    """Take some time, also where the clock is as coarse as a browser's."""
    began = perf_counter_ns()
    while perf_counter_ns() == began:
        pass


@pytest.mark.hole("11.6")
def test_events_are_made_of_rows():
    recorder = Recorder()
    began = perf_counter_ns()
    block = recorder.begin("block")
    recorder.call("outer", (), recorder.call, "inner", (), until_the_clock_moves)
    recorder.finish(block)
    events = events_of(recorder, began, perf_counter_ns())
    assert [(e.name, e.cpu_parent and e.cpu_parent.name) for e in events] == [
        ("block", None), ("outer", "block"), ("inner", "outer")]


@pytest.mark.hole("11.6")
def test_a_node_that_runs_leaves_the_number_of_the_open_call():
    def work(recorder):
        recorder.made(numbered_node(5))
        recorder.node(numbered_node(7), (), lambda: None)

    assert sequences(work)[-1] == ("outer", 5)


@pytest.mark.hole("11.6")
def test_the_details_are_not_measured():
    noted = []

    class Noting(Recorder):
        def details(self, inputs):
            until_the_clock_moves()
            noted.append(perf_counter_ns())

    recorder = Noting()
    recorder.call("name", (), lambda: None)
    ((_, _, start, *_),) = rows(recorder)
    assert noted and noted[0] <= start, "the time of `details` counts as the function's"


# ------------------------------------------------------------------------------------ 11.7


def names(record):
    return [e.name for e in record.function_events]


@pytest.mark.hole("11.7")
def test_the_block_gets_the_profile():
    for record in (profile(enabled=False), profile()):
        assert record.__enter__() is record


@pytest.mark.hole("11.7")
def test_it_is_on_in_the_block():
    with profile():
        assert contexts._profiler_enabled(), "expected the profiler to be on in the block"
        assert _state.recorder.get() is not None


@pytest.mark.hole("11.7")
def test_it_is_off_after_the_block():
    with profile():
        pass
    assert not contexts._profiler_enabled(), "the profiler is on after its block"
    assert _state.recorder.get() is None


@pytest.mark.hole("11.7")
def test_a_profile_records_its_block_alone():
    x = torch.tensor([1.0, 2.0])
    x * 2
    with profile() as record:
        x + 1
    x - 1
    assert names(record) == ["aten::add"]


@pytest.mark.hole("11.7")
def test_forward_and_backward_are_recorded():
    x = torch.ones(3, requires_grad=True)
    with profile() as record:
        (x * x).sum().backward()
    assert names(record) == ["aten::mul", "aten::sum", "torch::autograd::GraphRoot", "SumBackward0",
                             "aten::expand", "MulBackward0", "torch::autograd::AccumulateGrad"]
    numbers = {e.name: e.sequence_nr for e in record.function_events}
    assert numbers["aten::mul"] == numbers["MulBackward0"] >= 0
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.hole("11.7")
def test_an_error_goes_on():
    with pytest.raises(ValueError, match="from the block"), profile():
        raise ValueError("from the block")


@pytest.mark.hole("11.7")
def test_an_error_switches_it_off():
    observing = _state.observers.count
    with suppress(ValueError), profile() as record:
        torch.tensor([1.0]) * 2
        raise ValueError("from the block")
    assert not contexts._profiler_enabled(), "an error left the profiler on"
    assert _state.observers.count == observing and not _state.observers.on_node
    assert names(record) == ["aten::mul"]


@pytest.mark.hole("11.7")
def test_observers_are_told():
    observing = _state.observers.count
    with profile():
        assert _state.observers.count == observing + 1
        assert _state.recorder.get().made in _state.observers.on_node


@pytest.mark.hole("11.7")
def test_observers_leave():
    observing = _state.observers.count
    with profile():
        pass
    assert _state.observers.count == observing, "expected as many observers as before"
    assert not _state.observers.on_node


@pytest.mark.hole("11.7")
def test_profiles_do_not_nest():
    with profile():
        with pytest.raises(RuntimeError) as caught, profile():
            pass
        assert str(caught.value) == "Profiler is already enabled on this thread"


@pytest.mark.hole("11.7")
def test_the_outer_profile_goes_on_when_one_is_refused():
    x = torch.tensor([1.0])
    with profile() as record:
        x * 2
        with suppress(RuntimeError), profile():
            x - 1
        x + 1
    assert names(record) == ["aten::mul", "aten::add"], "the outer profile goes on"
    assert not contexts._profiler_enabled()


@pytest.mark.hole("11.7")
def test_a_profile_that_was_refused_may_be_entered_later():
    x, record = torch.tensor([1.0]), profile()
    with profile(), pytest.raises(RuntimeError, match="already enabled"):
        record.__enter__()
    with record:
        x * 2
    assert names(record) == ["aten::mul"]


@pytest.mark.hole("11.7")
def test_the_recorder_is_told_that_it_is_over():
    with profile():
        recorder = _state.recorder.get()
        recorder.quick = True
    assert recorder.quick is False, "`quick` is still on, and another thread may hold the recorder"


NOT_AGAIN = "Profiler context manager is not reentrant"


@pytest.mark.hole("11.7")
def test_a_profile_is_used_once():
    record = profile()
    with record:
        pass
    with pytest.raises(RuntimeError) as caught, record:
        pass
    assert str(caught.value) == NOT_AGAIN
    assert not contexts._profiler_enabled()


@pytest.mark.hole("11.7")
def test_a_profile_that_is_refused_keeps_its_events():
    record = profile()
    with record:
        torch.tensor([1.0]) * 2
    with pytest.raises(RuntimeError), record:
        pass
    assert names(record) == ["aten::mul"]


@pytest.mark.hole("11.7")
def test_a_profile_that_is_not_enabled_does_nothing():
    with profile(enabled=False) as record:
        torch.tensor([1.0]) * 2
        assert not contexts._profiler_enabled()
    with pytest.raises(RuntimeError, match="didn't finish"):
        record.function_events  # it raises


@pytest.mark.hole("11.7")
def test_another_profile_may_be_on_in_one_that_is_not_enabled():
    with profile(enabled=False), profile() as inner:
        torch.tensor([1.0]) + 2
    assert names(inner) == ["aten::add"]
    with profile() as outer:
        with profile(enabled=False):
            pass
        torch.tensor([1.0]) + 2
    assert names(outer) == ["aten::add"], "leaving it switched the other one off"


@pytest.mark.hole("11.7")
def test_times_count_from_the_beginning():
    with profile() as record:
        torch.tensor([1.0]) * 2
    assert len(record.function_events) == 1
    for each in record.function_events:
        assert 0.0 <= each.time_range.start <= each.time_range.end < 600e6


@pytest.mark.hole("11.7")
def test_what_else_is_asked_for_is_recorded():
    x = torch.ones(2, 3)
    with profile(record_shapes=True) as record:
        x * 2
    (found,) = record.function_events
    assert [list(shape) for shape in found.input_shapes] == [[2, 3], []]
    assert not found.stack and found.cpu_memory_usage == 0
    with profile(with_stack=True) as record:
        x * 2
    (found,) = record.function_events
    assert found.stack and not found.input_shapes
    with profile(profile_memory=True) as record:
        x * 2
    (found,) = record.function_events
    assert found.cpu_memory_usage == 24 and not found.stack and not found.input_shapes


@pytest.mark.hole("11.7")
def test_counts_are_fixed_by_structure():
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    x = torch.ones(5, 3)
    with profile() as record:
        for _ in range(10):
            model(x).sum().backward()
    counts = {a.key: a.count for a in record.key_averages()}
    assert counts["aten::addmm"] == counts["AddmmBackward"] == 20
    assert counts["aten::relu"] == 10 and counts["torch::autograd::GraphRoot"] == 10
    assert counts["torch::autograd::AccumulateGrad"] == 40


@pytest.mark.hole("11.7")
def test_what_switching_takes_is_not_measured(monkeypatch):
    noted = {}

    def slow(name, after):
        original = getattr(profile, name)

        def call(self, *given):
            if after:
                original(self, *given)
            until_the_clock_moves()
            noted[name] = perf_counter_ns()
            until_the_clock_moves()
            if not after:
                original(self, *given)

        monkeypatch.setattr(profile, name, call)

    slow("_start", after=True)
    slow("_stop", after=False)
    with profile() as record:
        pass
    begin, end = record._span
    assert begin > noted["_start"], "the time of `_start` is measured"
    assert end < noted["_stop"], "the time of `_stop` is measured"


# ------------------------------------------------------------------------------------ 11.8


def shown(record):
    return [(e.name, e.cpu_parent and e.cpu_parent.name) for e in record.function_events]


@pytest.mark.hole("11.8")
def test_a_block_hands_itself_out():
    block = record_function("block")
    with block as handed:
        assert handed is block, f"got {handed!r}"
    with profile(), block as handed:
        assert handed is block, f"got {handed!r}"


@pytest.mark.hole("11.8")
@pytest.mark.parametrize(("args", "name"), [
    (None, "block"), ("some", "block (some)"), ("", "block ()")], ids=["None", "some", "empty"])
def test_the_name_of_a_block(args, name):
    with profile() as record, record_function("block", args=args):
        pass
    assert shown(record) == [(name, None)]


@pytest.mark.hole("11.8")
def test_blocks_hold_what_runs_in_them():
    x = torch.ones(2)
    with profile() as record:
        with record_function("block"):
            y = x * 2
        y / 2
    assert shown(record) == [("block", None), ("aten::mul", "block"), ("aten::div", None)]


@pytest.mark.hole("11.8")
def test_blocks_hold_blocks():
    x = torch.ones(2)
    with profile() as record, record_function("outer"):
        y = x * 2
        with record_function("inner"):
            y = y - 1
        y + 1
    assert shown(record) == [
        ("outer", None), ("aten::mul", "outer"), ("inner", "outer"), ("aten::sub", "inner"),
        ("aten::add", "outer")]


@pytest.mark.hole("11.8")
def test_a_block_without_a_profile_does_nothing():
    with record_function("block"):
        y = torch.ones(2) * 2
    assert y.tolist() == [2.0, 2.0]
    with pytest.raises(ValueError, match="inside"), record_function("block"):
        raise ValueError("inside")


@pytest.mark.hole("11.8")
def test_an_error_closes_the_block_and_goes_on():
    x = torch.ones(2)
    with profile() as record:
        with pytest.raises(ValueError, match="inside"), record_function("block"):
            x * 2
            raise ValueError("inside")
        x + 1
    assert shown(record) == [("block", None), ("aten::mul", "block"), ("aten::add", None)]


@pytest.mark.hole("11.8")
def test_a_block_may_be_used_again():
    x, block = torch.ones(2), record_function("block")
    with profile() as record:
        for _ in range(2):
            with block:
                x * 2
        x + 1
    assert shown(record) == [("block", None), ("aten::mul", "block"), ("block", None),
                             ("aten::mul", "block"), ("aten::add", None)]


@pytest.mark.hole("11.8")
def test_a_block_that_was_closed_holds_nothing():
    block = record_function("block")
    with profile():
        with block:
            pass
        recorder = _state.recorder.get()
    end = recorder.blocks[0].end
    with block:  # no profile is on: nothing is opened, and nothing closed again
        pass
    assert block._open is None
    assert recorder.blocks[0].end == end, "the event of before was closed again"


@pytest.mark.hole("11.8")
def test_a_block_may_outlive_its_profile():
    x, block = torch.ones(2), record_function("block")
    with profile() as record:
        block.__enter__()
        x * 2
    block.__exit__(None, None, None)
    assert shown(record) == [("block", None), ("aten::mul", "block")]


@pytest.mark.hole("11.8")
@pytest.mark.parametrize("other", [False, True], ids=["no profile", "another profile"])
def test_a_block_is_closed_by_the_recorder_that_opened_it(other):
    first, finished = Recorder(), []
    first.finish = finished.append
    with written_by(first):
        block = record_function("block")
        block.__enter__()
        event = first.blocks[0]
    with written_by(Recorder()) if other else nullcontext():
        block.__exit__(None, None, None)
    assert len(finished) == 1 and finished[0] is event, f"got {finished}"


def scaled():
    """Return a decorated function."""
    @record_function("scaled", args="twice")
    def scale(x, *, by):
        """Scale it."""
        return x * by

    return scale


@pytest.mark.hole("11.8")
def test_a_decorated_function_gives_what_the_function_gives():
    assert scaled()(torch.ones(2), by=4.0).tolist() == [4.0, 4.0]
    with profile():
        assert scaled()(torch.ones(2), by=3.0).tolist() == [3.0, 3.0]


@pytest.mark.hole("11.8")
def test_a_decorated_function_keeps_its_name_and_docstring():
    assert scaled().__name__ == "scale" and scaled().__doc__ == "Scale it."


@pytest.mark.hole("11.8")
def test_a_decorated_function_is_a_block_for_each_call():
    x, scale = torch.ones(2), scaled()
    with profile() as record:
        scale(x, by=2.0)
        scale(x, by=3.0)
        x + 1
    assert shown(record) == [
        ("scaled (twice)", None), ("aten::mul", "scaled (twice)"), ("scaled (twice)", None),
        ("aten::mul", "scaled (twice)"), ("aten::add", None)]


@pytest.mark.hole("11.8")
def test_a_call_is_a_block_and_no_op():
    with profile(record_shapes=True) as record:
        scaled()(torch.ones(2), by=2.0)
    block = next(e for e in record.function_events if e.name == "scaled (twice)")
    assert block.scope == USER, f"expected the scope {USER} of a named block, got {block.scope}"


@pytest.mark.hole("11.8")
def test_a_decorated_method():
    class Model:
        @record_function("predict")
        def predict(self, x):
            return self, x

    model = Model()
    assert model.predict(3) == (model, 3)


@pytest.mark.hole("11.8")
def test_any_exception_closes_the_block_of_a_call():
    with profile() as record:
        with pytest.raises(Harsh):
            record_function("fails")(fails_harshly)()
        torch.ones(1)
    assert shown(record) == [("fails", None), ("aten::ones", None)]


@pytest.mark.hole("11.8")
def test_calls_in_two_threads_at_once():
    started, may_end = Event(), Event()

    @record_function("work")
    def run(work):
        work()

    def in_another_thread():
        with profile():
            run(lambda: (started.set(), may_end.wait(10)))

    with ThreadPoolExecutor(1) as pool, profile() as record:
        try:
            run(lambda: (pool.submit(in_another_thread), started.wait(10)))
            torch.ones(1)  # the call in this thread has ended, the other one has not
        finally:
            may_end.set()
    assert shown(record) == [("work", None), ("aten::ones", None)]


@pytest.mark.hole("11.8")
def test_a_decorated_function_may_call_itself():
    @record_function("down")
    def down(n):
        return torch.ones(1) if n == 0 else down(n - 1) * 2

    with profile() as record:
        assert down(2).item() == 4.0
        torch.ones(1) + 1
    blocks = [e for e in record.function_events if e.name == "down"]
    assert [e.cpu_parent and e.cpu_parent.id for e in blocks] == [None, 0, 1]
    assert shown(record)[-1] == ("aten::add", None), "a block is still open after the calls"
