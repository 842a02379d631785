"""Symptoms of stage 11: what a mistake in the profiler does, seen from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import _state
from minigrad.autograd import profiler, profiler_util
from minigrad.autograd.profiler import contexts, recorder
from minigrad.autograd.profiler import table as profiler_table
from minigrad.autograd.profiler import trace as profiler_trace
from minigrad.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg

BACKWARD = 1
X = torch.tensor([1.0, 2.0])


def event(id: int, start: float, end: float, name: str = "", thread: int = 1,
          **options: Any) -> FunctionEvent:
    return FunctionEvent(id, name or f"e{id}", thread, float(start), float(end), **options)


def error_of(run: Callable[..., Any], *args: Any, **options: Any) -> str:
    """What a call raises, as text; "" for none, and for a body that is not written yet."""
    try:
        run(*args, **options)
    except NotImplementedError:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def left_as_it_was(check: Callable[[], bool]) -> bool:
    """The answer of a check, with the profiler off afterwards, whatever the code does."""
    before = _state.observers.count, _state.observers.on_node
    try:
        return check() is True
    finally:
        _state.recorder.set(None)
        _state.observers.count, _state.observers.on_node = before


# ------------------------------------------------------------------------------------ 11.1


def parents(*events: FunctionEvent) -> dict[int, int]:
    made = EventList(events)
    made._populate_cpu_children()
    return {e.id: e.cpu_parent.id for e in made if e.cpu_parent is not None}


def simple() -> bool:
    """Whether two events nest at all."""
    return parents(event(0, 0, 10), event(1, 1, 2)) == {1: 0}


def symptom_11_1_order_of_within() -> bool:
    around: list[FunctionEvent] = []
    profiler_util.within(around, event(0, 0, 1))
    return around == []


def symptom_11_1_threads_are_mixed() -> bool:
    return simple() and parents(event(0, 0, 10), event(1, 1, 2, thread=2)) == {1: 0}


def symptom_11_1_same_end_is_outside() -> bool:
    return simple() and parents(event(0, 0, 5), event(1, 3, 5)) == {}


def symptom_11_1_the_order_of_the_list_counts() -> bool:
    return simple() and parents(event(1, 1, 2), event(0, 0, 10)) == {}


def symptom_11_1_of_equal_starts_the_shorter_is_outer() -> bool:
    return (simple() and parents(event(0, 0, 5), event(1, 0, 10)) == {}
            and parents(event(1, 1, 2), event(0, 0, 10)) == {1: 0})


def symptom_11_1_what_is_over_stays_open() -> bool:
    if not simple():
        return False
    found = parents(event(0, 0, 20), event(1, 1, 10), event(2, 2, 3), event(3, 12, 13))
    return found.get(3) in (1, 2)


def symptom_11_1_too_much_is_taken_away() -> bool:
    found = parents(event(0, 0, 20), event(1, 1, 10), event(2, 2, 3), event(3, 12, 13))
    return found == {1: 0, 2: 1}


def symptom_11_1_the_outermost_is_the_parent() -> bool:
    events = event(0, 0, 10), event(1, 1, 5), event(2, 2, 3)
    return parents(*events).get(2) == 0 and [c.id for c in events[1].cpu_children] == []


def symptom_11_1_everything_above_is_a_parent() -> bool:
    events = event(0, 0, 10), event(1, 1, 5), event(2, 2, 3)
    parents(*events)
    return [c.id for c in events[0].cpu_children] == [1, 2] and [
        c.id for c in events[1].cpu_children] == [2]


def symptom_11_1_touching_is_within() -> bool:
    return simple() and (parents(event(0, 0, 5), event(1, 5, 10)) == {1: 0}
                         or parents(event(0, 0, 5), event(1, 5, 5)) == {1: 0})


def symptom_11_1_overlapping_is_within() -> bool:
    return (parents(event(0, 0, 5), event(1, 3, 8)) == {1: 0}
            and parents(event(0, 0, 5), event(1, 6, 8)) == {})


def symptom_11_1_asynchronous_ones_take_part() -> bool:
    return simple() and bool(parents(event(0, 0, 10), event(1, 1, 9, is_async=True))
                             or parents(event(0, 0, 10, is_async=True), event(1, 1, 9)))


def symptom_11_1_only_one_side_is_noted() -> bool:
    outer, inner = event(0, 0, 10), event(1, 1, 2)
    parents(outer, inner)
    return (inner.cpu_parent is outer) != (outer.cpu_children == [inner])


# ------------------------------------------------------------------------------------ 11.2


def family(**options: Any) -> EventList:
    """10 with 3 (which holds 2) and 4.5 within."""
    outer, first, deep, second = (
        event(0, 0, 10, cpu_memory_usage=100, **options),
        event(1, 1, 4, cpu_memory_usage=30), event(2, 1.5, 3.5, cpu_memory_usage=20),
        event(3, 4.5, 9, cpu_memory_usage=50))
    for parent, child in ((outer, first), (first, deep), (outer, second)):
        parent.append_cpu_child(child)
        child.set_cpu_parent(parent)
    return EventList([outer, first, deep, second])


def symptom_11_2_asynchronous_ones_have_time() -> bool:
    outer = family(is_async=True)[0]
    return bool(family()[0].cpu_time_total == 10.0 and (
        outer.cpu_time_total == 10.0 or outer.self_cpu_time_total not in (0.0, -7.5)))


def symptom_11_2_self_time_is_the_total() -> bool:
    return bool(family()[0].self_cpu_time_total == 10.0)


def symptom_11_2_all_within_is_subtracted() -> bool:
    return bool(family()[0].self_cpu_time_total == 0.5)


def symptom_11_2_self_times_are_subtracted() -> bool:
    outer = family()[0]
    return outer.self_cpu_time_total == 4.5 or outer.self_cpu_memory_usage == 40


def symptom_11_2_one_child_is_subtracted() -> bool:
    return family()[0].self_cpu_time_total in (7.0, 5.5)


def symptom_11_2_asynchronous_ones_have_bytes() -> bool:
    outer = family(is_async=True)[0]
    return outer.self_cpu_memory_usage != 0 and outer.self_cpu_time_total == 0.0


def symptom_11_2_the_list_adds_totals() -> bool:
    return bool(family().self_cpu_time_total == 19.5 and family()[0].self_cpu_time_total == 2.5)


def symptom_11_2_the_list_leaves_inner_events_out() -> bool:
    return EventList(family()[1:]).self_cpu_time_total in (0.0, -7.5)


def symptom_11_2_the_average_of_nothing_fails() -> bool:
    return "ZeroDivisionError" in error_of(lambda: FunctionEventAvg().cpu_time)


def symptom_11_2_the_time_of_a_call_is_the_total() -> bool:
    average = FunctionEventAvg()
    average.cpu_time_total, average.count = 12.0, 4
    return bool(average.cpu_time == 12.0)


def symptom_11_2_all_bytes_within_are_subtracted() -> bool:
    return bool([event.self_cpu_memory_usage for event in family()] == [0, 10, 20, 50])


def symptom_11_2_self_memory_is_the_total() -> bool:
    return bool(family()[0].self_cpu_memory_usage == 100)


# ------------------------------------------------------------------------------------ 11.3


def average_of(*events: Any) -> FunctionEventAvg:
    average = FunctionEventAvg()
    for each in events:
        average.add(each)
    return average


def named(*names: str, **options: Any) -> EventList:
    return EventList([event(i, 0, 1, name, **options) for i, name in enumerate(names)])


def symptom_11_3_nothing_is_returned() -> bool:
    return FunctionEventAvg().add(event(0, 0, 1)) is None


def symptom_11_3_the_first_is_not_added() -> bool:
    return average_of(event(0, 0, 4, "one")).cpu_time_total == 0.0


def symptom_11_3_every_addition_counts_one() -> bool:
    two = average_of(event(0, 0, 1, "one"), event(1, 0, 1, "one"))
    return two.count == 2 and average_of(two).count == 1 and average_of(two).cpu_time_total == 2.0


def average_of_one() -> FunctionEventAvg:
    """An average of one event none of whose numbers is 0."""
    outer = family()[0]
    outer.device_time_total = outer.self_device_time_total = 3.0
    return average_of(outer)


def symptom_11_3_the_self_time_does_not_grow() -> bool:
    found = average_of_one()
    return found.cpu_time_total == 10.0 and found.self_cpu_time_total == 0


def symptom_11_3_device_times_do_not_grow() -> bool:
    found = average_of_one()
    return (found.cpu_time_total == 10.0
            and 0 in (found.device_time_total, found.self_device_time_total))


def symptom_11_3_bytes_do_not_grow() -> bool:
    found = average_of_one()
    return (found.cpu_time_total == 10.0
            and 0 in (found.cpu_memory_usage, found.self_cpu_memory_usage))


def symptom_11_3_shapes_cannot_be_keys() -> bool:
    return "unhashable" in error_of(shaped().key_averages, True)


def symptom_11_3_a_plain_list() -> bool:
    return not isinstance(named("mul").key_averages(), EventList)


def symptom_11_3_stacks_are_not_cut() -> bool:
    (found,) = stacked(["a", "b"]).key_averages(group_by_stack_n=1)
    return found.stack == ["a", "b"]


def symptom_11_3_the_last_one_overwrites() -> bool:
    found = average_of(event(0, 0, 4, "one"), event(1, 0, 1, "one"))
    return found.cpu_time_total == 1.0 or found.self_cpu_time_total == 1.0


def symptom_11_3_self_times_are_totals() -> bool:
    outer = family()[0]
    return outer.self_cpu_time_total == 2.5 and average_of(outer).self_cpu_time_total == 10.0


def symptom_11_3_groups_are_not_made() -> bool:
    return len(named("mul", "mul").key_averages()) == 2


def shaped() -> EventList:
    return EventList([event(0, 0, 1, "mul", input_shapes=[[2]]),
                      event(1, 0, 1, "mul", input_shapes=[[3]])])


def stacked(*stacks: list[str]) -> EventList:
    return EventList([event(i, 0, 1, "mul", stack=s) for i, s in enumerate(stacks)])


def symptom_11_3_shapes_are_not_told_apart() -> bool:
    return len(shaped().key_averages(group_by_input_shapes=True)) == 1


def symptom_11_3_shapes_are_always_told_apart() -> bool:
    return len(shaped().key_averages()) == 2 and len(named("mul", "mul").key_averages()) == 1


def symptom_11_3_stacks_are_not_told_apart() -> bool:
    return len(stacked(["a"], ["b"]).key_averages(group_by_stack_n=1)) == 1


def symptom_11_3_the_last_lines_tell_apart() -> bool:
    other_ends = stacked(["a", "b"], ["a", "c"]).key_averages(group_by_stack_n=1)
    other_starts = stacked(["a", "b"], ["c", "b"]).key_averages(group_by_stack_n=1)
    return (len(other_ends), len(other_starts)) == (2, 1)


def symptom_11_3_whole_stacks_are_told_apart() -> bool:
    events = stacked(["a", "b"], ["a", "c"])
    return (len(events.key_averages(group_by_stack_n=1)) == 2
            and len(named("mul", "mul").key_averages()) == 1)


def symptom_11_3_shapes_of_the_first_stay() -> bool:
    (found,) = shaped().key_averages()
    return found.input_shapes is not None


def symptom_11_3_another_order() -> bool:
    found = [a.key for a in named("b", "a", "c", "b").key_averages()]
    return len(found) == 3 and found != ["b", "a", "c"]


def symptom_11_3_memory_is_not_passed_on() -> bool:
    events = EventList([event(0, 0, 1)], profile_memory=True)
    return not events.key_averages()._profile_memory


# ------------------------------------------------------------------------------------ 11.4


def shown(*args: Any) -> list[int]:
    return [e.id for e in profiler_table.rows_shown(*args)]


def symptom_11_4_cut_before_sorting() -> bool:
    return (shown(family(), "self_cpu_time_total", 2, False) == [0, 1]
            and shown(family(), "self_cpu_time_total", 9, False) == [3, 0, 2, 1])


def symptom_11_4_another_number_of_rows() -> bool:
    return (len(shown(family(), None, 3, False)) != 3
            and len(shown(family(), None, 9, False)) == len(shown(family(), None, -1, False)) == 4)


def symptom_11_4_cut_before_leaving_out() -> bool:
    events = EventList(reversed(family()))
    return (shown(events, None, 1, True) == [] and shown(events, None, 9, True) == [0]
            and shown(events, None, 1, False) == [3])


def symptom_11_4_never_sorted() -> bool:
    return shown(family(), "self_cpu_time_total", 9, False) == [0, 1, 2, 3]


def symptom_11_4_equal_ones_change_places() -> bool:
    return (shown(family(), "count", 9, False) == [3, 2, 1, 0]
            and shown(family(), "cpu_time_total", 9, False) == [0, 3, 1, 2])


def symptom_11_4_smallest_first() -> bool:
    return shown(family(), "cpu_time_total", 9, False) == [2, 1, 3, 0]


def symptom_11_4_no_limit_cuts() -> bool:
    return len(shown(family(), None, -1, False)) < 4 and shown(family(), None, 9, False) == [
        0, 1, 2, 3]


def symptom_11_4_outer_and_inner_mixed_up() -> bool:
    return shown(family(), None, 9, True) == [1, 2, 3]


def symptom_11_4_inner_events_stay() -> bool:
    return shown(family(), None, 9, True) == [0, 1, 2, 3]


def symptom_11_4_the_list_itself_is_sorted() -> bool:
    events = family()
    shown(events, "self_cpu_time_total", 9, False)
    return [e.id for e in events] != [0, 1, 2, 3]


def symptom_11_4_unsorted_without_a_limit() -> bool:
    found = [[e.id for e in profiler_table.rows_shown(family(), "cpu_time_total", limit, False)]
             for limit in (100, -1)]
    return found == [[0, 3, 1, 2], [0, 1, 2, 3]]


def symptom_11_4_no_row_shows_all() -> bool:
    return len(profiler_table.rows_shown(family(), None, 0, False)) > 0


# ------------------------------------------------------------------------------------ 11.5


def trained() -> EventList:
    return EventList([
        event(0, 0, 2, "mul", sequence_nr=4), event(1, 2, 5, "sum", sequence_nr=5),
        event(2, 6, 7, "SumBackward0", thread=2, scope=BACKWARD, sequence_nr=5),
        event(3, 7, 9, "MulBackward0", thread=2, scope=BACKWARD, sequence_nr=4)])


def pairs(*events: FunctionEvent) -> list[tuple[int, int]]:
    return [(a.id, b.id) for a, b in profiler_trace.linked(list(events))]


def records(kind: str) -> list[dict[str, Any]]:
    return [r for r in profiler_trace.trace(trained())["traceEvents"] if r["ph"] == kind]


def symptom_11_5_events_without_a_number_are_linked() -> bool:
    return pairs(event(0, 0, 1), event(1, 1, 2, scope=BACKWARD)) == [(0, 1)]


def symptom_11_5_zero_is_a_number() -> bool:
    def pair(number: int) -> list[tuple[int, int]]:
        return pairs(event(0, 0, 1, sequence_nr=number),
                     event(1, 1, 2, scope=BACKWARD, sequence_nr=number))

    return pair(3) == [(0, 1)] and pair(0) == []


def symptom_11_5_backward_comes_first() -> bool:
    return pairs(*trained()) in ([(2, 1), (3, 0)], [(3, 0), (2, 1)])


def symptom_11_5_the_first_op_of_a_number() -> bool:
    return pairs(event(0, 0, 1, sequence_nr=3), event(1, 1, 2, sequence_nr=3),
                 event(2, 2, 3, scope=BACKWARD, sequence_nr=3)) == [(0, 2)]


def symptom_11_5_one_pair_for_each_op() -> bool:
    twice = (event(0, 0, 1, sequence_nr=3), event(1, 1, 2, scope=BACKWARD, sequence_nr=3),
             event(2, 2, 3, scope=BACKWARD, sequence_nr=3))
    if pairs(*twice[:2]) != [(0, 1)]:
        return False
    return "KeyError" in error_of(pairs, *twice) or len(pairs(*twice)) == 1


def symptom_11_5_a_backward_alone_fails() -> bool:
    return "KeyError" in error_of(pairs, event(0, 0, 1, scope=BACKWARD, sequence_nr=3))


def symptom_11_5_ops_after_the_backward() -> bool:
    return pairs(event(0, 0, 1, sequence_nr=3), event(1, 1, 2, scope=BACKWARD, sequence_nr=3),
                 event(2, 2, 3, sequence_nr=3)) == [(2, 1)]


def symptom_11_5_nothing_is_linked() -> bool:
    alone = event(0, 0, 1, sequence_nr=3), event(1, 1, 2, scope=BACKWARD, sequence_nr=3)
    return pairs(*trained()) == [] and pairs(*alone) == []


def symptom_11_5_threads_are_told_apart() -> bool:
    op = event(0, 0, 1, sequence_nr=3)
    near, far = (event(1, 1, 2, thread=thread, scope=BACKWARD, sequence_nr=3)
                 for thread in (op.thread, op.thread + 1))
    return pairs(op, near) == [(0, 1)] and pairs(op, far) == []


def symptom_11_5_ops_are_linked_with_ops() -> bool:
    return (0, 1) in pairs(event(0, 0, 1, sequence_nr=3), event(1, 1, 2, sequence_nr=3))


# ------------------------------------------------------------------------------------ 11.6


def noted(program: Callable[[Any], Any], made: Any = None) -> list[Any]:
    """The rows that a recorder has written after a program that it was on for."""
    made = recorder.Recorder() if made is None else made
    before = _state.observers.count, _state.observers.on_node
    _state.recorder.set(made)
    _state.observers.enter(made.made)
    try:
        program(made)
    except NotImplementedError:
        raise
    except (ZeroDivisionError, ValueError):
        pass
    finally:
        _state.recorder.set(None)
        _state.observers.count, _state.observers.on_node = before
    return list(zip(*[iter(made.rows)] * 7))


class Fails(torch.autograd.Function):
    """A function whose backward raises."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        raise ValueError("from backward")


def leaf() -> torch.Tensor:
    return torch.tensor([1.0, 2.0], requires_grad=True)


def numbers(program: Callable[[Any], Any]) -> dict[str, int]:
    return {recorder.name_of(row[0], row[1]): row[4] for row in noted(program)}


def symptom_11_6_results_are_lost() -> bool:
    class Made:
        sequence = 5

    node: Any = Made()
    return (recorder.Recorder().call("name", (), lambda: 3) is None
            or recorder.Recorder().node(node, (), lambda: 3) is None)


def symptom_11_6_keywords_are_lost() -> bool:
    seen: dict[str, int] = {}
    error = error_of(recorder.Recorder().call, "name", (), seen.update, three=3)
    return "three" in error or (not error and seen == {})


def symptom_11_6_a_call_that_fails_is_lost() -> bool:
    return (noted(lambda r: r.call("name", (), lambda: 1 / 0)) == []
            and len(noted(lambda r: r.call("name", (), lambda: 1))) == 1)


def symptom_11_6_a_node_that_fails_is_lost() -> bool:
    def names(program: Callable[[Any], Any]) -> list[str]:
        return [recorder.name_of(row[0], row[1]) for row in noted(program)]

    return ("FailsBackward" not in names(lambda r: Fails.apply(leaf()).sum().backward())
            and "ExpBackward" in names(lambda r: leaf().exp().sum().backward()))


def symptom_11_6_errors_are_swallowed() -> bool:
    made = recorder.Recorder()
    return not error_of(made.call, "name", (), lambda: 1 / 0) and len(made.rows) == 7


def symptom_11_6_the_outer_number_comes_back_early() -> bool:
    class Made:
        def __init__(self, sequence: int) -> None:
            self.sequence = sequence

    alone: Any = recorder.Recorder()
    alone.made(Made(7))
    made: Any = recorder.Recorder()

    def work() -> None:
        made.made(Made(5))
        made.call("inner", (), lambda: made.made(Made(6)))

    made.call("outer", (), work)
    return (alone._here.sequence == 7
            and (made.rows[0], made.rows[4]) == ("inner", 5)
            and (made.rows[7], made.rows[11]) == ("outer", -1))


def symptom_11_6_no_numbers() -> bool:
    return numbers(lambda r: leaf() * 3) == {"aten::mul": -1}


def symptom_11_6_the_number_of_the_one_around() -> bool:
    class Made:
        sequence = 5

    made: Any = recorder.Recorder()

    def work() -> None:
        made.made(Made())
        made.call("inner", (), lambda: None)

    made.call("outer", (), work)
    return made.rows[0] == "inner" and made.rows[4] == 5


def symptom_11_6_the_outer_one_has_the_inner_number() -> bool:
    found = numbers(lambda r: r.call("around", (), lambda: leaf() * 3))
    return found["aten::mul"] >= 0 and found["around"] == found["aten::mul"]


def symptom_11_6_the_outer_one_loses_its_number() -> bool:
    class Made:
        sequence = 5

    made: Any = recorder.Recorder()

    def work() -> None:
        made.made(Made())
        made.call("inner", (), lambda: None)

    made.call("outer", (), work)
    return made.rows[7] == "outer" and made.rows[11] == -1 and not symptom_11_6_no_numbers()


def symptom_11_6_the_clock_is_read_late() -> bool:
    from time import perf_counter_ns

    seen: list[int] = []
    (row,) = noted(lambda r: r.call("name", (), lambda: seen.append(perf_counter_ns())))
    return row[2] > seen[0]


def symptom_11_6_another_number() -> bool:
    class Made:
        sequence = 5

    made: Any = recorder.Recorder()
    made.call("name", (), lambda: made.made(Made()))
    return made.rows[4] not in (5, -1)


def symptom_11_6_the_arguments_are_the_inputs() -> bool:
    made = recorder.DetailedRecorder(shapes=True)
    made.call("name", (torch.ones(2, 3),), lambda x: x, torch.ones(5))
    return [tuple(shape) for shape in made.rows[6].shapes] == [(5,)]


def of_nodes() -> list[Any]:
    return [row for row in noted(lambda r: leaf().exp().sum().backward())
            if "ExpBackward" in str(row[0])]


def symptom_11_6_events_take_no_time() -> bool:
    (row,) = noted(lambda r: r.call("name", (), lambda: sum(range(1000))))
    return row[3] <= row[2]


def symptom_11_6_memory_is_not_counted() -> bool:
    rows = noted(lambda r: r.call("name", (X,), lambda: X * 2),
                 recorder.DetailedRecorder(memory=True))
    return rows[-1][0] == "name" and not rows[-1][6].made


# ------------------------------------------------------------------------------------ 11.7


def names(prof: Any) -> list[str]:
    return [e.name for e in prof.function_events]


def symptom_11_7_errors_are_swallowed() -> bool:
    def check() -> bool:
        with profiler.profile():
            raise ValueError
        return True

    return left_as_it_was(check)


def on_after(program: Callable[[], Any]) -> bool:
    """Whether the profiler is on after a profile of a program."""
    try:
        with profiler.profile():
            program()
    except ValueError:
        pass
    return contexts._profiler_enabled()


def fail() -> None:
    raise ValueError


def symptom_11_7_an_error_leaves_it_on() -> bool:
    return left_as_it_was(lambda: not on_after(lambda: None) and on_after(fail))


def symptom_11_7_it_stays_on() -> bool:
    return left_as_it_was(lambda: on_after(lambda: None))


def symptom_11_7_observers_stay() -> bool:
    def check() -> bool:
        before = _state.observers.count
        return not on_after(lambda: None) and _state.observers.count > before

    return left_as_it_was(check)


def symptom_11_7_nothing_is_recorded() -> bool:
    def check() -> bool:
        with profiler.profile() as prof:
            X * 2
        return prof is not None and names(prof) == []

    return left_as_it_was(check)


def symptom_11_7_one_within_another() -> bool:
    def check() -> bool:
        with profiler.profile(), profiler.profile():
            return True

    return left_as_it_was(check)


def symptom_11_7_another_within_changes_the_outer() -> bool:
    def check() -> bool:
        with profiler.profile() as prof:
            try:
                with profiler.profile():
                    return False
            except RuntimeError as error:
                if "already enabled" not in str(error):
                    return False
            X * 2
        return names(prof) == []

    return left_as_it_was(check)


def symptom_11_7_a_refused_profile_loses_its_events() -> bool:
    def check() -> bool:
        prof = profiler.profile()
        with prof:
            X * 2
        try:
            prof.__enter__()
        except RuntimeError:
            return names(prof) == []
        return False

    return left_as_it_was(check)


def symptom_11_7_never_started() -> bool:
    def check() -> bool:
        with profiler.profile(enabled=True) as prof:
            on = contexts._profiler_enabled()
        return prof is not None and not on

    try:
        return left_as_it_was(check)
    except ValueError as error:  # the observer that leaves never came
        return "not in list" in str(error)


def symptom_11_7_the_span_is_no_pair() -> bool:
    def check() -> bool:
        with profiler.profile() as prof:
            pass
        return not isinstance(prof._span, tuple)

    return left_as_it_was(check)


def symptom_11_7_the_recorder_is_not_told() -> bool:
    def check() -> bool:
        with profiler.profile():
            made = _state.recorder.get()
            made.quick = True
        return not contexts._profiler_enabled() and made.quick

    return left_as_it_was(check)


def symptom_11_7_used_twice() -> bool:
    def check() -> bool:
        prof = profiler.profile()
        for _ in range(2):
            with prof:
                pass
        return True

    return left_as_it_was(check)


def symptom_11_7_enabled_is_not_looked_at() -> bool:
    def check() -> bool:
        with profiler.profile(enabled=False):
            return contexts._profiler_enabled()

    return left_as_it_was(check)


def symptom_11_7_nothing_is_handed_out() -> bool:
    def check() -> bool:
        with profiler.profile() as prof:
            pass
        return prof is None

    return left_as_it_was(check)


def detailed(**options: Any) -> Any:
    with profiler.profile(**options) as prof:
        X * 2
    return prof.function_events[0]


def symptom_11_7_details_are_not_written_down() -> bool:
    def check() -> bool:
        found = detailed(record_shapes=True)
        return not found.input_shapes and not found.stack and not found.cpu_memory_usage

    return left_as_it_was(check)


def symptom_11_7_the_span_is_the_wrong_way_round() -> bool:
    return left_as_it_was(lambda: detailed().time_range.start < 0)


# ------------------------------------------------------------------------------------ 11.8


def profiled(program: Callable[[], Any]) -> list[tuple[str, str | None]]:
    """The events of a program with the names of their parents."""
    with profiler.profile() as prof:
        try:
            program()
        except ValueError:
            pass
        X + 1
    return [(e.name, e.cpu_parent and e.cpu_parent.name) for e in prof.function_events]


def a_block(after: Callable[[], None] = lambda: None) -> None:
    with profiler.record_function("block"):
        X * 2
        after()


def symptom_11_8_errors_are_swallowed() -> bool:
    def check() -> bool:
        with profiler.profile(), profiler.record_function("block"):
            raise ValueError
        return True

    return left_as_it_was(check)


def symptom_11_8_fails_outside_a_profile() -> bool:
    return bool(error_of(a_block))


def symptom_11_8_nothing_is_opened() -> bool:
    return left_as_it_was(lambda: [name for name, _ in profiled(a_block)] == [
        "aten::mul", "aten::add"])


def symptom_11_8_missing_args_are_shown() -> bool:
    return left_as_it_was(lambda: "block (None)" in dict(profiled(a_block)))


def symptom_11_8_one_block_for_all_calls() -> bool:
    @profiler.record_function("block")
    def down(n: int) -> torch.Tensor:
        return X if n == 0 else down(n - 1) * 2

    def check() -> bool:
        return (("aten::add", "block") in profiled(lambda: down(2))
                and ("aten::add", None) in profiled(a_block))

    return left_as_it_was(check)


def after_its_profile() -> tuple[Any, Any]:
    """A block that was entered in a profile, and the profile, which has ended."""
    with profiler.profile() as prof:
        block = profiler.record_function("block")
        block.__enter__()
        made = prof._recorder.blocks[0]
    return block, made


def symptom_11_8_it_is_closed_again() -> bool:
    def check() -> bool:
        block, made = after_its_profile()
        block.__exit__(None, None, None)
        ended = made.end
        with block:
            pass
        return ended > 0 and made.end != ended

    return left_as_it_was(check)


def symptom_11_8_another_recorder_closes_it() -> bool:
    def check() -> bool:
        block, _ = after_its_profile()
        return error_of(block.__exit__, None, None, None).startswith("AttributeError")

    return left_as_it_was(check)


def symptom_11_8_the_block_stays_open() -> bool:
    return left_as_it_was(lambda: ("aten::add", "block") in profiled(a_block))


def symptom_11_8_an_error_leaves_it_open() -> bool:
    return left_as_it_was(lambda: ("aten::add", "block") in profiled(lambda: a_block(fail))
                          and ("aten::add", None) in profiled(a_block))


def with_args() -> None:
    with profiler.record_function("block", "some"):
        X * 2


def symptom_11_8_the_argument_is_not_shown() -> bool:
    return left_as_it_was(lambda: ("block", None) in profiled(with_args))


def symptom_11_8_nothing_is_handed_out() -> bool:
    def check() -> bool:
        with profiler.profile(), profiler.record_function("block") as inside:
            pass
        with profiler.record_function("block") as outside:
            pass
        return inside is None or outside is None

    return left_as_it_was(check)


def decorated() -> Any:
    @profiler.record_function("block")
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    return twice


def symptom_11_8_results_are_lost() -> bool:
    return decorated()(X) is None


def symptom_11_8_empty_args_are_not_shown() -> bool:
    def empty() -> None:
        with profiler.record_function("block", ""):
            X * 2

    return left_as_it_was(lambda: "block" in dict(profiled(empty))
                          and "block (some)" in dict(profiled(with_args)))


def symptom_11_8_args_are_lost_in_calls() -> bool:
    @profiler.record_function("block", "some")
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    def check() -> bool:
        return (("block", None) in profiled(lambda: twice(X))
                and ("block (some)", None) in profiled(with_args))

    return left_as_it_was(check)


def symptom_11_8_opened_when_decorated() -> bool:
    def check() -> bool:
        twice = decorated()
        if "block" not in dict(profiled(a_block)):
            return False
        found = profiled(lambda: twice(X))
        return ("aten::mul", None) in found and twice(X) is not None

    return left_as_it_was(check)


def symptom_11_8_the_functions_name_is_lost() -> bool:
    return decorated().__name__ != "twice"
