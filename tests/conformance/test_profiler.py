"""The profiler: which events there are, how they nest, and how they are summed up."""

from __future__ import annotations

import json
import time

import pytest

# PyTorch's profiler says a few things of itself that are none of this folder's business.


@pytest.fixture
def profiler(torch):
    return torch.autograd.profiler


def names(prof):
    return [event.name for event in prof.function_events]


def test_ops_are_events(torch, profiler):
    with profiler.profile() as prof:
        torch.ones(2) + 1
    assert {"aten::ones", "aten::add"} <= set(names(prof))


def test_nothing_is_recorded_outside(torch, profiler):
    with profiler.profile() as prof:
        pass
    torch.ones(2) + 1
    assert "aten::add" not in names(prof)


def test_a_profile_can_be_switched_off(torch, profiler):
    with profiler.profile(enabled=False):
        assert not torch.autograd._profiler_enabled()


def test_a_profile_runs_once(profiler):
    prof = profiler.profile()
    with prof:
        pass
    with pytest.raises(RuntimeError, match="not reentrant"), prof:
        pass


def test_it_can_be_asked_whether_one_runs(torch, profiler):
    assert not torch.autograd._profiler_enabled()
    with profiler.profile():
        assert torch.autograd._profiler_enabled()
    assert not torch.autograd._profiler_enabled()


def test_backward_nodes_are_events(torch, leaf, profiler):
    x = leaf(1.0, 2.0)
    with profiler.profile() as prof:
        (x * x).sum().backward()
    found = " ".join(names(prof))
    assert "MulBackward0" in found
    assert "SumBackward0" in found
    assert "AccumulateGrad" in found


def test_a_named_block_is_an_event_with_children(torch, profiler):
    with profiler.profile() as prof, profiler.record_function("my block"):
        time.sleep(0.002)
        torch.ones(2) + 1
    (block,) = [e for e in prof.function_events if e.name == "my block"]
    assert "aten::add" in [child.name for child in block.cpu_children]
    assert block.cpu_time_total > 2000 > 0
    assert block.self_cpu_time_total <= block.cpu_time_total


def test_a_named_block_is_a_decorator(torch, profiler):
    @profiler.record_function("work")
    def work():
        return torch.ones(2) + 1

    with profiler.profile() as prof:
        work()
        work()
    assert names(prof).count("work") == 2


def test_a_named_block_outside_a_profile_does_nothing(torch, profiler):
    with profiler.record_function("nobody looks"):
        assert (torch.ones(1) + 1).item() == 2


def test_key_averages_count_equal_names(torch, profiler):
    with profiler.profile() as prof:
        for _ in range(5):
            torch.ones(2) + 1
    rows = {row.key: row.count for row in prof.key_averages()}
    assert rows["aten::add"] == 5


def test_key_averages_may_tell_shapes_apart(torch, profiler):
    with profiler.profile(record_shapes=True) as prof:
        torch.ones(2) + torch.ones(2)
        torch.ones(3) + torch.ones(3)
        torch.ones(3) + torch.ones(3)
    rows = {str(row.input_shapes): row.count
            for row in prof.key_averages(group_by_input_shape=True) if row.key == "aten::add"}
    assert sorted(rows.values()) == [1, 2]
    assert any("[3], [3]" in shapes for shapes in rows)


def test_a_table_has_a_row_for_each_name(torch, profiler):
    with profiler.profile() as prof:
        torch.ones(2) + 1
    table = prof.key_averages().table(sort_by="self_cpu_time_total")
    assert "aten::add" in table
    assert "Self CPU %" in table
    assert "# of Calls" in table
    assert "Self CPU time total" in table


def test_a_table_can_be_cut(torch, profiler):
    with profiler.profile() as prof:
        torch.ones(2).exp().sin().cos()
    whole, cut = prof.key_averages().table(), prof.key_averages().table(row_limit=1)
    assert len(cut.splitlines()) < len(whole.splitlines())


def test_an_unknown_column_is_refused(torch, profiler):
    with profiler.profile() as prof:
        torch.ones(2) + 1
    with pytest.raises(AttributeError):
        prof.key_averages().table(sort_by="nothing")


def test_the_trace_is_json(torch, profiler, tmp_path):
    with profiler.profile() as prof:
        torch.ones(2) + 1
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    trace = json.loads(path.read_text())
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    assert "aten::add" in {event.get("name") for event in events}


def test_the_total_is_the_sum_of_the_own_times(torch, profiler):
    with profiler.profile() as prof:
        torch.ones(2).exp().sum()
    total = sum(event.self_cpu_time_total for event in prof.function_events)
    assert prof.self_cpu_time_total == pytest.approx(total)
    assert prof.total_average().count == len(prof.function_events)


def test_events_have_an_order_in_time(torch, profiler):
    with profiler.profile() as prof:
        torch.ones(2).exp().sin()
    start = {event.name: event.time_range.start for event in prof.function_events}
    assert start["aten::ones"] < start["aten::exp"] < start["aten::sin"]


def test_forward_and_backward_share_a_sequence_number(torch, leaf, profiler):
    x = leaf(1.0, 2.0)
    with profiler.profile() as prof:
        (x * x).sum().backward()
    forward = [e.sequence_nr for e in prof.function_events if e.name == "aten::mul"
               and e.sequence_nr >= 0]
    backward = [e.sequence_nr for e in prof.function_events if "MulBackward0" in e.name]
    assert set(forward) & set(backward)


def test_memory_is_counted_on_request(torch, profiler):
    with profiler.profile(profile_memory=True) as prof:
        kept = torch.zeros(1000)
    rows = {row.key: row for row in prof.key_averages()}
    assert kept.numel() == 1000
    assert max(row.cpu_memory_usage if hasattr(row, "cpu_memory_usage") else 0
               for row in rows.values()) >= 4000


def test_children_are_found_by_their_times(torch):
    util = torch.autograd.profiler_util

    def event(number, start, end, thread=0):
        return util.FunctionEvent(id=number, name=str(number), node_id=0, thread=thread,
                                  start_us=start, end_us=end)

    events = util.EventList([event(0, 0, 100), event(1, 10, 50), event(2, 20, 30), event(3, 60, 70),
                             event(4, 20, 30, thread=1)])
    events._populate_cpu_children()
    assert [[child.id for child in e.cpu_children] for e in events] == [[1, 3], [2], [], [], []]


def test_times_are_written_in_a_fitting_unit(torch):
    text = torch.autograd.profiler_util._format_time
    assert [text(0.5), text(1500), text(2.5e6)] == ["0.500us", "1.500ms", "2.500s"]


def test_an_event_counts_its_own_time(torch):
    util = torch.autograd.profiler_util
    outer = util.FunctionEvent(id=0, name="a", node_id=0, thread=0, start_us=0, end_us=10)
    inner = util.FunctionEvent(id=1, name="b", node_id=0, thread=0, start_us=2, end_us=5)
    outer.append_cpu_child(inner)
    assert (outer.cpu_time_total, outer.self_cpu_time_total) == (10, 7)
