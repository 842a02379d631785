"""The profiler's output: tables, traces, stacks, flame graphs, and the notes of recorders."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from types import SimpleNamespace

import pytest

import minigrad
from minigrad.autograd.profiler.device import DeviceRecorder
from minigrad.autograd.profiler.html import flames
from minigrad.autograd.profiler.nvtx import NvtxRecorder
from minigrad.autograd.profiler.table import build_table, in_unit, shortened
from minigrad.autograd.profiler_util import FunctionEventAvg
from tests.support.engines import function_of, leaf

profiler_util = importlib.import_module("minigrad.autograd.profiler_util")
profiler = minigrad.autograd.profiler


class Event:
    """What the pages ask of an event."""

    def __init__(self, name, start, end, thread=1, parent=None, **more):
        self.name, self.thread, self.cpu_parent, self.scope = name, thread, parent, 0
        self.time_range = profiler_util.Interval(start, end)
        self.sequence_nr, self.input_shapes, self.cpu_memory_usage = -1, [], 0
        self.self_cpu_time_total, self.cpu_time_total = end - start - 1.0, end - start
        self.__dict__.update(more)


def profiled(**options):
    with profiler.profile(**options) as prof, profiler.record_function("block"):
        x = leaf(minigrad, [1.0, 2.0])
        minigrad.cat([x * 2, x]).sum().backward()
    return prof


class Box:
    """An event as `flames` looks at it."""

    scope, sequence_nr, input_shapes, cpu_memory_usage = 0, -1, None, 0

    def __init__(self, name, thread, parent=None):
        self.name, self.thread, self.cpu_parent = name, thread, parent
        self.time_range = SimpleNamespace(start=0.0, elapsed_us=lambda: 1.0)


class Clock:
    """An event of a GPU that keeps no time."""

    def record(self):
        pass

    def synchronize(self):
        pass

    def elapsed_time(self, other):
        return 0.5


def test_times_of_events_in_every_name():
    with minigrad.autograd.profiler.profile(record_shapes=True, profile_memory=True) as prof:
        x = leaf(minigrad, [[1.0, 2.0], [3.0, 4.0]])
        (x @ x).sum().backward()
    average = next(one for one in prof.key_averages() if one.key == "mm" or "mm" in one.key)
    text = repr(average)
    assert text == (f"<FunctionEventAvg key={average.key} "
                    f"self_cpu_time={average.self_cpu_time_total_str} "
                    f"cpu_time={average.cpu_time_str} input_shapes={average.input_shapes} "
                    f"cpu_memory_usage={average.cpu_memory_usage}>")
    assert average.cpu_time_total_str == profiler_util._format_time(average.cpu_time_total)
    assert average.self_cpu_time_total_str == profiler_util._format_time(
        average.self_cpu_time_total)
    assert average.cpu_time == average.cpu_time_total / average.count
    assert (average.device_time, average.cuda_time, average.cuda_time_total,
            average.self_cuda_time_total) == (0.0, 0.0, 0.0, 0.0)
    average.device_time_total, average.self_device_time_total, average.count = 12.0, 7.0, 4
    assert (average.device_time, average.cuda_time, average.cuda_time_total,
            average.self_cuda_time_total) == (3.0, 3.0, 12.0, 7.0)
    average.count = 0
    assert average.device_time == average.cpu_time == 0.0


def test_an_event_of_another_thread_that_was_not_waited_for():
    event = minigrad.autograd.profiler.profile()
    with event as prof:
        minigrad.ones(2) * 2
    one = prof.function_events[0]
    one.is_async, one.cpu_memory_usage = True, 64
    assert one.cpu_time_total == one.self_cpu_time_total == 0.0
    assert one.self_cpu_memory_usage == 0
    one.is_async = False
    assert one.self_cpu_memory_usage == 64 and one.cpu_time_total > 0


def test_a_table_with_times_of_a_gpu_and_with_nodes(tmp_path):
    with minigrad.autograd.profiler.profile(record_shapes=True, profile_memory=True) as prof:
        minigrad.ones(2, 3) * 2
    for event in prof.function_events:
        event.device_time_total = event.self_device_time_total = 30.0
    heads = prof.table().splitlines()[1].split("  ")
    heads = [head.strip() for head in heads if head.strip()]
    for name in ("Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg"):
        assert name in heads
    assert "Node ID" not in heads
    assert "30.000us" in prof.table()


def test_a_trace_names_its_threads_and_counts_bytes(tmp_path):
    import json

    with minigrad.autograd.profiler.profile(profile_memory=True) as prof:
        minigrad.ones(2, 3) * 2
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    text = json.loads((tmp_path / "trace.json").read_text())
    events = text["traceEvents"] if isinstance(text, dict) else text
    names = [e for e in events if e.get("name") == "thread_name"]
    thread = prof.function_events[0].thread
    assert [(e["tid"], e["args"]["name"]) for e in names] == [(thread, f"thread {thread}")]
    process = next(e for e in events if e.get("name") == "process_name")
    assert process["args"]["name"] == "minigrad"
    made = [e for e in events if e.get("args", {}).get("Bytes")]
    assert {e["args"]["Bytes"] for e in made} == {24}


def test_a_table_cuts_names_at_its_width():
    name = "n" * 80
    with minigrad.autograd.profiler.profile() as prof, minigrad.autograd.profiler.record_function(
            name):
        pass
    row = next(line for line in prof.table().splitlines() if "nnn" in line)
    assert row.split()[0] == "n" * 52 + "..."
    row = next(line for line in prof.table(max_name_column_width=20).splitlines() if "nnn" in line)
    assert row.split()[0] == "n" * 17 + "..."


@pytest.mark.filterwarnings("ignore:Using backward")  # the cycle is meant
def test_a_profile_names_the_accumulation_of_gradients_that_have_a_graph():
    x = leaf(minigrad, [1.0, 2.0])
    with minigrad.autograd.profiler.profile() as prof:
        (x * x).sum().backward(create_graph=True)
    names = [event.name for event in prof.function_events]
    assert any("AccumulateGrad" in name for name in names)
    x.grad = None


def test_the_flames_of_two_threads():
    from minigrad.autograd.profiler.html import averages_table, flames

    outer = Event("outer", 0.0, 10.123456, sequence_nr=0, input_shapes=[[2, 3]])
    inner = Event("inner", 1.98765, 5.0, parent=outer, cpu_memory_usage=24)
    other = Event("outer", 3.0, 4.0, thread=2)
    assert flames([outer, inner, other]) == {
        "names": ["outer", "inner"], "rows": 4, "boxes": [
            [0, 0.0, 10.123, 0, 0, "thread 1, sequence number 0, shapes [[2, 3]]"],
            [1, 1.988, 3.012, 1, 0, "thread 1, 24 bytes"],
            [0, 3.0, 1.0, 3, 0, "thread 2"]]}
    assert flames([other]) == {"names": ["outer"], "rows": 1,
                               "boxes": [[0, 3.0, 1.0, 0, 0, "thread 2"]]}
    assert flames([]) == {"names": [], "boxes": [], "rows": 0}
    assert averages_table([inner, outer, other]) == (
        "<tr><td>outer</td><td>9.1</td><td>11.1</td><td>2</td></tr>\n"
        "<tr><td>inner</td><td>2.0</td><td>3.0</td><td>1</td></tr>\n")


def test_a_table_shows_nodes_and_cuts_shapes():
    with minigrad.autograd.profiler.profile(record_shapes=True) as prof:
        minigrad.ones(*[1] * 30) * 2
    events = prof.function_events
    shapes = next(str(event.input_shapes) for event in events if "mul" in event.name)
    for table in prof.table(), events.table():
        row = next(line for line in table.splitlines() if "mul" in line)
        assert shapes[:79] in row and shapes[:81] not in row
    assert "Node ID" not in prof.table()
    events[0].node_id = 3
    assert "Node ID" in re.split("  +", prof.table().splitlines()[1])
    total = prof.total_average()
    assert total.key == "Total" and total.input_shapes is None and total.stack is None


def test_a_table_of_events_cuts_names_at_its_width():
    with minigrad.autograd.profiler.profile() as prof, minigrad.autograd.profiler.record_function(
            "n" * 80):
        pass
    row = next(line for line in prof.function_events.table().splitlines() if "nnn" in line)
    assert row.split()[0] == "n" * 52 + "..."


@pytest.mark.skipif(minigrad.cuda.is_available(), reason="says that there is no GPU")
def test_nvtx_without_a_gpu():
    with pytest.raises(RuntimeError, match=r"^emit_nvtx needs an NVIDIA GPU and CuPy, which are "
                       r"missing; profile\(\) measures the CPU\.$"):
        minigrad.autograd.profiler.emit_nvtx().__enter__()


def test_averages_add_times_of_a_gpu():
    with minigrad.autograd.profiler.profile(with_stack=True) as prof:
        x = minigrad.ones(2)
        x * 2
        x * 3
    for event in prof.function_events:
        event.device_time_total = event.self_device_time_total = 3.0
    average = next(one for one in prof.key_averages() if one.key.endswith("mul"))
    assert (average.count, average.device_time_total, average.self_device_time_total) == (2, 6, 6)
    assert "  Source Location" in prof.function_events.table()
    assert "XX" not in prof.function_events.table()


def test_ranges_of_nvtx_are_named():
    from minigrad.autograd.profiler.nvtx import NvtxRecorder

    said = []

    class Fake:
        RangePush, RangePop = said.append, staticmethod(lambda: said.append("end"))

    NvtxRecorder(Fake).begin("a", [minigrad.ones(2)], 0)
    NvtxRecorder(Fake, shapes=True).begin("b", [minigrad.ones(2)])
    assert said == ["a, seq = 0", "b, sizes = [[2]]"]


def test_recorders_note_nothing_that_was_not_asked_for():
    from minigrad.autograd.profiler.recorder import DetailedRecorder

    made = DetailedRecorder()
    assert (made.shapes, made.stack, made.memory) == (False, False, False)


def test_arrows_and_stacks_and_bytes_of_a_profile(tmp_path):
    import json

    with minigrad.autograd.profiler.profile(profile_memory=True) as prof:
        x = leaf(minigrad, [1.0, 2.0])
        (x * 2).sum().backward()
    assert all(event.stack == [] for event in prof.function_events)
    total = sum(event.self_cpu_memory_usage for event in prof.function_events)
    assert sum(one.self_cpu_memory_usage for one in prof.key_averages()) == total
    for one in prof.key_averages():
        events = [event for event in prof.function_events if event.key == one.key]
        assert one.cpu_memory_usage == sum(event.cpu_memory_usage for event in events)
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    text = json.loads((tmp_path / "trace.json").read_text())
    events = text["traceEvents"] if isinstance(text, dict) else text
    arrows = [event for event in events if event.get("cat") == "fwdbwd"]
    assert arrows and all(arrow["name"] == "fwdbwd" for arrow in arrows)


def test_a_table_cuts_sources_at_their_width():
    with minigrad.autograd.profiler.profile(with_stack=True) as prof:
        minigrad.ones(2) * 2
    events = prof.function_events
    for event in events:
        event.stack = ["x" * 100]
    for table in events.table(), prof.table():
        assert "-" * 75 in table.splitlines()[0].split()
        assert table.splitlines()[1].split()[-2:] == ["Source", "Location"]


def test_a_table_in_a_unit_of_ones_choice():
    with minigrad.autograd.profiler.profile() as prof:
        minigrad.ones(2) * 2
    for unit in ("us", "ms", "s"):
        last = prof.function_events.table(time_unit=unit).strip().splitlines()[-1]
        assert re.fullmatch(rf"Self CPU time total: [\d.]+{unit}", last)


def test_times_in_each_unit():
    assert in_unit(2.5e9, "s") == "2500.000s"
    assert in_unit(2.5e9, "ms") == "2500000.000ms"
    assert in_unit(2.5e9, "us") == "2500000000.000us"
    assert in_unit(2.5e9, None) == "2500.000s"


@pytest.mark.parametrize(("length", "cut"), [(5, False), (6, False), (7, True), (8, True)])
def test_at_which_length_a_name_is_cut(length, cut):
    assert shortened("n" * length, 10) == ("n" * 7 + "..." if cut else "n" * length)
    assert shortened("n" * length, None) == "n" * length


def test_the_lines_above_a_table():
    prof = profiled()
    rule = prof.table().splitlines()[0]
    titled = prof.table(header="THE TITLE", top_level_events_only=True).splitlines()
    length = len(rule) - 2
    assert titled[:2] == ["=" * length, "THE TITLE"]
    assert titled[2:4] == ["=" * length, "This report only display top-level ops statistics"]
    assert "THE TITLE" not in prof.table()
    assert prof.function_events.table(header="H").splitlines()[1] == "H"


def test_the_lines_of_a_stack_stand_below_each_other():
    prof = profiled()
    events = prof.function_events
    for event in events:
        event.stack = ["first line", "second line"]
    table = build_table(events).splitlines()
    at = next(i for i, line in enumerate(table) if "first line" in line)
    assert table[at].strip() != "first line"
    assert table[at + 1].strip() == "second line" and table[at + 2].strip() == ""
    assert {len(line) for line in table[:at + 3]} == {len(table[0])}


def test_stacks_are_written_from_the_outside_in(tmp_path):
    prof = profiled(with_stack=True)
    for event in prof.function_events:
        event.stack = ["inner; one", "outer"]
    prof.export_stacks(str(tmp_path / "stacks"), "self_cpu_time_total")
    lines = (tmp_path / "stacks").read_text().splitlines()
    assert lines and all(line.rpartition(" ")[0] == "outer;inner__one" for line in lines)


def test_averages_start_empty():
    made = FunctionEventAvg()
    for name in ("count", "node_id", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage"):
        assert getattr(made, name) == 0, name


def test_a_block_has_no_sequence_number():
    events = {event.name: event for event in profiled().function_events}
    assert events["block"].sequence_nr == -1
    assert events["aten::mul"].sequence_nr >= 0


def test_threads_in_a_trace(tmp_path):
    profiled().export_chrome_trace(str(tmp_path / "trace"))
    events = json.loads((tmp_path / "trace").read_text())["traceEvents"]
    named = [event for event in events if event["ph"] == "M"]
    assert named and all(set(event) == {"ph", "name", "pid", "tid", "ts", "args"}
                         and event["pid"] and event["ts"] == 0 for event in named)
    assert {event["pid"] for event in events} == {named[0]["pid"]}


def test_each_thread_has_as_many_rows_as_it_is_deep():
    outer = Box("outer", 1)
    inner = Box("inner", 1, outer)
    drawn = flames([outer, inner, Box("innermost", 1, inner), Box("after", 1), Box("other", 2)])
    assert [box[3] for box in drawn["boxes"]] == [0, 1, 2, 0, 4]
    assert drawn["rows"] == 5


def test_a_profile_is_asked_for_nothing_more_by_default():
    wanted = {"enabled": True, "use_cuda": False, "record_shapes": False, "with_flops": False,
              "profile_memory": False, "with_stack": False, "with_modules": False,
              "use_kineto": False, "use_cpu": True}
    with profiler.profile():
        parameters = inspect.signature(profiler.profile.__init__).parameters
    for name, default in wanted.items():
        if name in parameters:
            assert parameters[name].default == default, name


def test_a_function_shows_the_shapes_of_its_inputs():
    double = function_of(minigrad, lambda ctx, x: x * 2, lambda ctx, g: g * 2)
    with profiler.profile(record_shapes=True) as prof:
        double.apply(leaf(minigrad, [[1.0, 2.0]])).sum().backward()
    shapes = {event.name: event.input_shapes for event in prof.function_events}
    assert shapes["Made"] == [[1, 2]]
    assert shapes["MadeBackward"] == [[1, 2]]


def test_memory_of_a_node_with_many_results():
    with profiler.profile(profile_memory=True) as prof:
        x, y, z = (leaf(minigrad, [1.0, 2.0]) * n for n in (1, 2, 3))
        minigrad.addcmul(x, y, z).backward(minigrad.ones(2))
    bytes_of = {event.name: event.cpu_memory_usage for event in prof.function_events}
    assert bytes_of["AddcmulBackward"] == 16  # the first gets what came


def test_what_has_no_tangent_is_recorded_once():
    fwd = minigrad.autograd.forward_ad
    x = minigrad.ones(2)
    with fwd.dual_level():
        with profiler.profile() as prof:
            x * 2
            x.add_(1)
        names = [event.name for event in prof.function_events]
    assert names == ["aten::mul", "aten::add_"]


def test_a_range_shows_the_number_of_its_node():
    said = []

    class Fake:
        RangePush, RangePop = said.append, staticmethod(lambda: None)

    made = NvtxRecorder(Fake)
    x = leaf(minigrad, [1.0])
    node = (x * 2).grad_fn
    made.node(node, [None], lambda: None)
    made.node(x._edge()[0], [None], lambda: None)
    assert said[0].endswith(f", seq = {node.sequence}")
    assert "seq" not in said[1]


def test_a_recorder_for_a_gpu_notes_the_shapes_of_gradients():
    made = DeviceRecorder(Clock, shapes=True)
    node = (leaf(minigrad, [1.0, 2.0]) * 2).grad_fn
    made.node(node, [minigrad.ones(2)], lambda: [minigrad.ones(2)])
    assert made.rows[-1].shapes == [(2,)]


def test_metrics_that_stacks_may_be_exported_by(tmp_path):
    with pytest.raises(ValueError, match=r"^metric should be one of: \['self_cpu_time_total'\]$"):
        profiled(with_stack=True).export_stacks(str(tmp_path / "stacks"), "bytes")


def test_an_event_of_elsewhere_says_so():
    for remote in (False, True):
        event = minigrad.autograd.profiler_util.FunctionEvent(
            1, "name", 0, 0.0, 1.0, is_remote=remote)
        assert event.is_remote is remote


@pytest.mark.parametrize("wanted", ["shapes", "stack", "memory", ""])
def test_a_recorder_for_a_gpu_notes_what_was_asked_for(wanted):
    made = DeviceRecorder(Clock, **{wanted: True} if wanted else {})
    assert [bool(getattr(made, name)) for name in ("shapes", "stack", "memory")] == [
        name == wanted for name in ("shapes", "stack", "memory")]
    assert made.call("what", [minigrad.ones(2)], lambda: 5) == 5
    details = made.rows[-1]
    assert (details.shapes is not None) == (wanted == "shapes")
    assert (details.stack is not None) == (wanted == "stack")
    assert made.microseconds(details) == 500.0
    assert made.microseconds(None) == 0.0
