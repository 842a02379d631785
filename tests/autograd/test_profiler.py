"""The profiler: which events there are, how they nest and add up, and what is made of them."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

import minigrad as torch
from minigrad import _state, nn
from minigrad.autograd.profiler import emit as emitting
from minigrad.autograd.profiler import emit_nvtx, profile, record_function
from minigrad.autograd.profiler.nvtx import NvtxRecorder
from minigrad.autograd.profiler.op_names import op_name
from minigrad.autograd.profiler_util import (
    EventList,
    FunctionEvent,
    FunctionEventAvg,
    _format_memory,
    _format_time,
    _format_time_share,
)
from minigrad.op.declaration import REGISTRY


@pytest.fixture(autouse=True)
def switched_off():
    """See that a test leaves no profiler on."""
    before = _state.observers.count
    yield
    assert _state.observers.count == before and not _state.observers.on_node
    assert not torch.autograd._profiler_enabled()


def names(record):
    return [event.name for event in record.function_events]


def made(id, thread, start, end, name="", **options):
    return FunctionEvent(id=id, name=name, thread=thread, start_us=start, end_us=end, **options)


def squares(x):
    return (x * x).sum()


# --- Which events there are ----------------------------------------------------------------------


#: Ops whose work PyTorch does within others, so that it has no name for them.
OWN_NAMES = {"_histogramdd_from_bin", "largest_difference", "linear_scan", "no_slope_at_zero",
             "resample", "resample_input", "restride", "rnn_layer", "row_order", "several_zeros"}


def test_ops_have_the_names_that_pytorch_has():
    theirs = pytest.importorskip("torch", reason="PyTorch's names").ops.aten
    found = {op_name(op).removeprefix("aten::") for op in REGISTRY.values()
             if op.__module__.startswith("minigrad.ops.")}
    assert {name for name in found if not hasattr(theirs, name)} == OWN_NAMES


def test_forward_and_backward_are_recorded_in_order():
    x = torch.ones(3, requires_grad=True)
    with profile() as record:
        squares(x).backward()
    assert names(record) == ["aten::mul", "aten::sum", "torch::autograd::GraphRoot", "SumBackward0",
                             "aten::expand", "MulBackward0", "torch::autograd::AccumulateGrad"]


def test_profiling_changes_no_result():
    x = torch.ones(3, requires_grad=True)
    with profile(record_shapes=True, with_stack=True, profile_memory=True):
        squares(x).backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    assert names_outside() == []


def names_outside():
    with profile() as record:
        pass
    torch.ones(2) * 2
    return names(record)


def test_in_place_variants_and_families_carry_pytorchs_names():
    x = torch.ones(3)
    with profile() as record:
        x.add_(1)
        x += 1
        x**2
        2**x
        x.clamp(min=0)
        x.clamp_min_(0)
        torch.nn.functional.relu(x, inplace=True)
    assert names(record) == ["aten::add_", "aten::add_", "aten::pow", "aten::pow", "aten::clamp",
                             "aten::clamp_min_", "aten::relu_"]


def test_functions_made_of_ops_hold_these():
    image, weight = torch.ones(1, 1, 4, 4), torch.ones(1, 1, 3, 3)
    with profile() as record:
        torch.conv2d(image, weight)
    outer, inner = record.function_events
    assert (outer.name, inner.name) == ("aten::conv2d", "aten::convolution")
    assert inner.cpu_parent is outer and outer.cpu_children == [inner]


def test_custom_functions_are_events_too():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.ones(2, requires_grad=True)
    with profile() as record:
        y = Twice.apply(x)
        y.backward(torch.ones(2))
    by_name = {event.name: event for event in record.function_events}
    assert [c.name for c in by_name["Twice"].cpu_children] == ["aten::mul"]
    assert [c.name for c in by_name["TwiceBackward"].cpu_children] == ["aten::mul"]
    assert by_name["Twice"].sequence_nr == by_name["TwiceBackward"].sequence_nr >= 0


#: What the network's structure fixes in one forward and backward, under the documents' names.
STRUCTURE = {
    "torch::autograd::AccumulateGrad": 63, "torch::autograd::GraphRoot": 1,
    "NativeBatchNormBackward": 20, "AddBackward0": 8, "MaxPool2DWithIndicesBackward": 1,
    "ReluBackward1": 17, "SumBackward0": 1, "AddmmBackward": 1,
    "TBackward": 1, "aten::conv2d": 20, "aten::convolution": 20, "aten::batch_norm": 20,
    "aten::native_batch_norm": 20, "aten::relu_": 17, "aten::max_pool2d": 1,
    "aten::max_pool2d_with_indices": 1, "aten::addmm": 1, "aten::flatten": 1,
}


@pytest.mark.parametrize("rounds", [2, pytest.param(100, marks=pytest.mark.slow)])
def test_the_documents_resnet_has_the_documents_counts(rounds):
    image, network = torch.randn((1, 3, 64, 64), requires_grad=True), nn.models.resnet18()
    with profile() as record:
        for _ in range(rounds):
            torch.sum(network(image)).backward()
    calls = {event.key: event.count for event in record.key_averages()}
    for name, count in STRUCTURE.items():
        assert calls[name] == rounds * count, name
    assert not [name for name in calls if "mkldnn" in name]
    if rounds == 100:  # as printed there
        assert calls["torch::autograd::AccumulateGrad"] == 6300
        assert calls["NativeBatchNormBackward"] == 2000 and calls["AddBackward0"] == 800
        assert calls["MaxPool2DWithIndicesBackward"] == 100
        assert calls["torch::autograd::GraphRoot"] == 100


# --- Nesting and time ----------------------------------------------------------------------------


def test_children_are_found_by_their_times():
    events = EventList([
        made(1, 1, 0, 1), made(2, 1, 1, 2),
        made(3, 0, 0, 2), made(4, 0, 1, 2), made(5, 0, 1, 3),
    ])
    events._populate_cpu_children()
    # The last one only overlaps with the one before, which it therefore is not within.
    assert [[c.id for c in e.cpu_children] for e in events] == [[], [], [], [], [4]]
    assert [e.cpu_parent and e.cpu_parent.id for e in events] == [None, None, None, 5, None]


def test_self_time_excludes_children_and_everything_adds_up():
    x = torch.ones(50, 50, requires_grad=True)
    with profile() as record:
        with record_function("outer"):
            squares(x.relu() @ x).backward()
        squares(x)
    events = record.function_events
    for event in events:
        inside = sum(child.cpu_time_total for child in event.cpu_children)
        assert event.self_cpu_time_total == pytest.approx(event.cpu_time_total - inside)
        assert 0 <= inside <= event.cpu_time_total
        for child in event.cpu_children:
            assert event.time_range.start <= child.time_range.start
            assert child.time_range.end <= event.time_range.end
    tops = sum(e.cpu_time_total for e in events if e.cpu_parent is None)
    assert events.self_cpu_time_total == pytest.approx(tops)
    averages = record.key_averages()
    assert averages.self_cpu_time_total == pytest.approx(tops)
    assert record.self_cpu_time_total == pytest.approx(tops)
    assert sum(a.count for a in averages) == len(events) == record.total_average().count
    assert {e.name for e in events if e.cpu_parent is None} == {"outer", "aten::mul", "aten::sum"}


def test_backward_nodes_hold_the_ops_of_their_formulas():
    x = torch.ones(2, 2, requires_grad=True)
    with profile() as record:
        x.relu().sum().backward()
    (node,) = [e for e in record.function_events if e.name == "ReluBackward0"]
    assert {child.name for child in node.cpu_children} == {"aten::le", "aten::where"}


def test_double_backward_is_recorded():
    x = torch.ones(2, requires_grad=True)
    with profile() as record:
        (slope,) = torch.autograd.grad(squares(x * x), x, create_graph=True)
        torch.autograd.grad(slope.sum(), x)
    calls = Counter(names(record))
    assert calls["torch::autograd::GraphRoot"] == 2 and calls["MulBackward0"] > 2
    (first, *_) = [e for e in record.function_events if e.name == "MulBackward0"]
    assert {child.name for child in first.cpu_children} == {"aten::mul"}


def test_another_threads_work_is_not_recorded():
    with profile() as record:
        thread = threading.Thread(target=lambda: torch.ones(2).exp())
        thread.start()
        thread.join()
        torch.ones(2).exp()
    assert names(record) == ["aten::ones", "aten::exp"]


def test_backward_within_backward_is_recorded_however_deep():
    class Again(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            if ctx.depth:
                with torch.enable_grad():
                    x = torch.ones(1, requires_grad=True)
                    Again.apply(x, ctx.depth - 1).sum().backward()
            return g, None

    depth = 50  # beyond what one thread runs within itself
    x = torch.ones(1, requires_grad=True)
    with profile() as record:
        Again.apply(x, depth).sum().backward()
    calls = Counter(names(record))
    assert calls["AgainBackward"] == calls["torch::autograd::GraphRoot"] == depth + 1
    assert len({e.thread for e in record.function_events}) > 1


def test_an_error_closes_its_events():
    x = torch.ones(2, 3)
    with profile() as record:
        with pytest.raises(RuntimeError), record_function("block"):
            x @ x
        x * 2
    outer = [e for e in record.function_events if e.cpu_parent is None]
    assert [e.name for e in outer] == ["block", "aten::mul"]


def test_events_are_made_when_somebody_asks():
    with profile() as record:
        squares(torch.ones(3, requires_grad=True)).backward()
    assert record._events is None
    assert len(record.function_events) == 8 and record.function_events is record.function_events


def everything(x):
    """Run what closures serve and what they leave to the generic functions."""
    y = (x * 2.0 + x).relu() @ x.t()
    y = torch.cat([y.exp().tanh(), y.int() * y, y.reshape(4, 1).expand(4, 4)[:2, :2]])
    y.mul_(2).clamp_(max=3.0)
    return y.std() + y.max() + torch.nn.functional.softmax(y, 0).sum()


@pytest.mark.parametrize("options", [{"record_shapes": True}, {"with_stack": True},
                                     {"profile_memory": True}], ids=str)
def test_what_else_is_recorded_changes_no_event(options):
    seen = []
    for more in ({}, options):
        x = torch.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
        with profile(**more) as record:
            everything(x).backward()
        first = min(e.sequence_nr for e in record.function_events if e.sequence_nr >= 0)
        seen.append([(e.name, e.cpu_parent and e.cpu_parent.id, e.scope,
                      e.sequence_nr - first if e.sequence_nr >= 0 else None)
                     for e in record.function_events])
    assert seen[0] == seen[1]


def test_another_observer_changes_no_event():
    seen = []
    for several in (False, True):
        x = torch.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
        with profile() as record:
            if several:  # the closures and the engine's fast path are left alone then
                with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                    everything(x).backward()
            else:
                everything(x).backward()
        seen.append([(e.name, e.cpu_parent and e.cpu_parent.name) for e in record.function_events])
    assert seen[0] == seen[1]


def test_the_other_operands_turn_is_no_event():
    class Other:
        def __rmul__(self, left):
            return "theirs"

    with profile() as record:
        assert torch.ones(2) * Other() == "theirs"
    assert names(record) == ["aten::ones"]


def test_an_op_that_fails_is_an_event():
    x = torch.ones(2, 3)
    with profile() as record:
        with pytest.raises(RuntimeError):
            x + torch.ones(4)
        with pytest.raises(IndexError):
            x.sum(5)
    assert names(record) == ["aten::ones", "aten::add", "aten::sum"]


# --- Sequence numbers ----------------------------------------------------------------------------


def test_forward_and_backward_share_their_sequence_number():
    x, y = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2, requires_grad=True)
    with profile() as record:
        (x + y).sum().backward()
        x.detach() * 2
    numbers = {event.name: event.sequence_nr for event in record.function_events}
    assert numbers["aten::add"] == numbers["AddBackward0"] >= 0
    assert numbers["aten::sum"] == numbers["SumBackward0"] == numbers["aten::add"] + 1
    for name in ("aten::mul", "aten::expand", "torch::autograd::AccumulateGrad",
                 "torch::autograd::GraphRoot"):
        assert numbers[name] == -1


# --- record_function -----------------------------------------------------------------------------


def test_named_blocks_nest_with_ops():
    x = torch.ones(2)
    with profile() as record:
        with record_function("outer"):
            y = x * 2 + 4
            with record_function("inner", args="some"):
                y = y - 1
        y / 1
    shown = [(e.name, e.cpu_parent and e.cpu_parent.name) for e in record.function_events]
    assert shown == [("outer", None), ("aten::mul", "outer"), ("aten::add", "outer"),
                     ("inner (some)", "outer"), ("aten::sub", "inner (some)"), ("aten::div", None)]


def test_record_function_as_a_decorator():
    @record_function("halved")
    def halve(x, times):
        """Halve it."""
        return halve(x, times - 1) / 2 if times else x

    assert halve.__doc__ == "Halve it."
    assert halve(torch.ones(1), 1).tolist() == [0.5]  # nothing is recorded without a profiler
    with profile() as record:
        halve(torch.ones(1), 2)
    assert names(record) == ["aten::ones", "halved", "halved", "halved", "aten::div", "aten::div"]
    inner = record.function_events[3]
    assert inner.cpu_parent.cpu_parent is record.function_events[1]


def test_blocks_need_not_nest():
    block = record_function("outer")
    with profile() as record:
        block.__enter__()
        with record_function("inner"):
            block.__exit__(None, None, None)
        with record_function("later"):
            block.__enter__()
        block.__exit__(None, None, None)
        torch.ones(1) * 2
    assert names(record) == ["outer", "inner", "later", "outer", "aten::ones", "aten::mul"]
    assert record.function_events[-1].cpu_parent is None
    with record_function("across"):
        pass


# --- The context manager -------------------------------------------------------------------------


def test_an_unfinished_profile_says_so():
    record = profile()
    assert str(record) == repr(record) == "<unfinished torch.autograd.profile>"
    for ask in (record.table, record.key_averages, record.total_average):
        with pytest.raises(RuntimeError, match=r"^Profiler didn't finish running$"):
            ask()


def test_profiles_are_neither_reused_nor_nested():
    with profile() as record:
        with (
            pytest.raises(RuntimeError, match=r"^Profiler is already enabled on this thread$"),
            profile(),
        ):
            pass
        torch.ones(1) * 2
    assert names(record) == ["aten::ones", "aten::mul"]
    with pytest.raises(RuntimeError, match=r"^Profiler context manager is not reentrant$"), record:
        pass


def test_a_profile_that_is_not_enabled_records_nothing():
    with profile(enabled=False) as record:
        assert not torch.autograd._profiler_enabled()
        torch.ones(1) * 2
    assert str(record) == "<unfinished torch.autograd.profile>"


def test_profiler_enabled_is_told():
    with profile():
        assert torch.autograd._profiler_enabled()
    assert not torch.autograd.kineto_available()


def test_an_empty_profile_has_an_empty_table():
    with profile() as record:
        pass
    assert str(record) == record.table() == "" and record.total_average().count == 0


def test_cuda_is_not_timed_and_says_so():
    with pytest.warns(UserWarning, match="disabling CUDA profiling") as caught:
        record = profile(use_cuda=True)
    assert caught[0].filename == __file__
    with record:
        torch.ones(1) * 2
    assert "cuda" not in str(record).lower() and "cpu" in str(record).lower()
    assert record.function_events[0].cuda_time_total == 0


# --- Shapes, stacks, memory ----------------------------------------------------------------------


def test_input_shapes():
    first, second = nn.Linear(20, 30), nn.Linear(30, 40)
    with profile(record_shapes=True) as record:
        second(first(torch.ones(128, 20)))
        torch.cat([torch.ones(2), torch.ones(3)])
        torch.ones(2, 2) * 3.0
    shapes = {}
    for event in record.function_events:
        shapes.setdefault(event.name, []).append(event.input_shapes)
    assert shapes["aten::linear"] == [[[128, 20], [30, 20], [30]], [[128, 30], [40, 30], [40]]]
    assert shapes["aten::mul"] == [[[2, 2], []]]
    assert shapes["aten::cat"][0][0] == [[2], [3]]


def test_averages_by_shape():
    with profile(record_shapes=True) as record:
        for size in (2, 2, 3):
            torch.ones(size).exp()
    exps = [a for a in record.key_averages(group_by_input_shape=True) if a.key == "aten::exp"]
    assert [(a.count, a.input_shapes) for a in exps] == [(2, [[2]]), (1, [[3]])]
    assert record.key_averages(group_by_input_shape=True).table().splitlines()[1].split()[-2:] == [
        "Input", "Shapes"]
    assert all(a.input_shapes is None for a in record.key_averages())
    assert "Input Shapes" not in record.key_averages().table()


def test_stacks_lead_to_the_users_line_in_backward_too():
    x = torch.ones(2, requires_grad=True)
    with profile(with_stack=True) as record:
        y = squares(x)
        y.backward()
    here = re.escape(__file__)
    by_name = {event.name: event for event in record.function_events}
    for name in ("aten::mul", "MulBackward0"):
        assert re.fullmatch(rf"{here}\(\d+\): squares", by_name[name].stack[0]), name
        assert re.fullmatch(rf"{here}\(\d+\): test_stacks_lead.*", by_name[name].stack[1])
    assert by_name["torch::autograd::AccumulateGrad"].stack[0].endswith(": test_stacks_lead_to_the"
                                                                        "_users_line_in_backward_too")


def test_averages_by_stack(tmp_path):
    x = torch.ones(300, 300)
    with profile(with_stack=True) as record:
        x @ x
        for _ in range(2):
            x @ x
    both = [a for a in record.key_averages(group_by_stack_n=1) if a.key == "aten::mm"]
    assert sorted(a.count for a in both) == [1, 2]
    assert all(len(a.stack) == 1 for a in both)
    table = record.key_averages(group_by_stack_n=2).table(max_src_column_width=30)
    assert "Source Location" in table and "..." in table and "test_averages_by_stack" in table
    assert len({len(line) for line in table.splitlines()[:-1]}) == 1
    record.export_stacks(tmp_path / "stacks")
    lines = (tmp_path / "stacks").read_text().splitlines()
    assert all(re.fullmatch(r"\S+;\S+test_averages_by_stack\S* \d+", line) for line in lines)
    assert lines
    with pytest.raises(ValueError, match="metric should be one of"):
        record.export_stacks(tmp_path / "stacks", "count")


def test_export_stacks_needs_stacks(tmp_path):
    with profile() as record:
        pass
    with pytest.raises(AssertionError, match="requires with_stack=True"):
        record.export_stacks(tmp_path / "stacks")


def test_memory_counts_what_an_op_makes_and_no_view():
    x = torch.ones(100, requires_grad=True)
    with profile(profile_memory=True) as record:
        with record_function("block"):
            y = x.exp()  # 400 bytes
            z = y.view(10, 10).t()  # none
            z.detach().add_(1)  # none
            torch.conv1d(torch.ones(1, 1, 10), torch.ones(1, 1, 1))  # 40, 4, and 40
        (x * 2.0).backward(torch.ones(100))
    used = {event.name: (event.cpu_memory_usage, event.self_cpu_memory_usage)
            for event in record.function_events if event.name != "aten::ones"}
    assert used["aten::exp"] == (400, 400)
    assert used["aten::view"] == used["aten::t"] == used["aten::add_"] == (0, 0)
    assert used["aten::conv1d"] == (40, 0) and used["aten::convolution"] == (40, 40)
    assert used["block"] == (484, 0)
    assert used["MulBackward0"] == (400, 400)
    assert "CPU Mem" in str(record) and "400 B" in str(record)
    top = sum(e.cpu_memory_usage for e in record.function_events if e.cpu_parent is None)
    assert top == sum(e.self_cpu_memory_usage for e in record.function_events)


def test_a_nodes_result_that_an_op_within_made_counts_once():
    x = torch.ones(10, 10, requires_grad=True)
    with profile(profile_memory=True) as record:
        x.relu().sum().backward()
    (node,) = [e for e in record.function_events if e.name == "ReluBackward0"]
    assert node.self_cpu_memory_usage == 0
    assert node.cpu_memory_usage == 400 + 100  # the gradient, and the mask before it


def test_without_profile_memory_there_are_no_columns():
    with profile() as record:
        torch.ones(10) * 2
    assert "CPU Mem" not in str(record)
    assert all(event.cpu_memory_usage == 0 for event in record.function_events)


# --- Averages and the table ----------------------------------------------------------------------


def test_averages_add_up():
    average = FunctionEventAvg()
    average.add(made(0, 0, 10, 15, "foo"))
    average.add(made(1, 0, 20, 30, "foo"))
    average.add(average)
    assert (average.key, average.count) == ("foo", 4)
    assert average.cpu_time_total == average.self_cpu_time_total == 30
    assert average.cpu_time == 7.5 and average.cuda_time_total == 0
    with pytest.raises(AssertionError):
        average.add(made(2, 0, 0, 1, "bar"))


def test_formats():
    assert [_format_time(t) for t in (0.583, 999.0, 1000.0, 1722000.0)] == [
        "0.583us", "999.000us", "1.000ms", "1.722s"]
    assert _format_time_share(1, 3) == "33.33%" and _format_time_share(1, 0) == "NaN"
    assert [_format_memory(n) for n in (0, 1023, 1024, -(2**21), 3 * 2**30)] == [
        "0 B", "1023 B", "1.00 KB", "-2.00 MB", "3.00 GB"]


def sample():
    """Return events whose table can be written down: b within a, and another b."""
    events = EventList([made(0, 1, 0, 3000, "aten::first"), made(1, 1, 500, 1500, "aten::second"),
                        made(2, 1, 4000, 5000, "aten::second")])
    events._populate_cpu_children()
    return events


def test_the_table_reads_as_the_documents():
    assert sample().key_averages().table(sort_by="self_cpu_time_total") == (
        "----------------  ------------  ------------  ------------  ------------  ------------  "
        "------------  \n"
        "            Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg  "
        "  # of Calls  \n"
        "----------------  ------------  ------------  ------------  ------------  ------------  "
        "------------  \n"
        "     aten::first        50.00%       2.000ms        75.00%       3.000ms       3.000ms  "
        "           1  \n"
        "    aten::second        50.00%       2.000ms        50.00%       2.000ms       1.000ms  "
        "           2  \n"
        "----------------  ------------  ------------  ------------  ------------  ------------  "
        "------------  \n"
        "Self CPU time total: 4.000ms\n")


def rows(table):
    return [line.split()[0] for line in table.splitlines() if "aten::" in line]


def test_table_options():
    events = sample()
    averages = events.key_averages()
    assert rows(averages.table(sort_by="count")) == ["aten::second", "aten::first"]
    assert rows(averages.table(sort_by="cpu_time_total")) == ["aten::first", "aten::second"]
    assert rows(averages.table(sort_by="count", row_limit=1)) == ["aten::second"]
    assert len(rows(events.table(row_limit=-1))) == 3
    assert len(rows(events.table(top_level_events_only=True))) == 2
    assert "only display top-level" in events.table(top_level_events_only=True)
    assert rows(averages.table(max_name_column_width=10)) == ["aten::f...", "aten::s..."]
    assert averages.table(header="A header").splitlines()[1] == "A header"
    assert "3000.000us" in averages.table(time_unit="us")
    with pytest.raises(AttributeError):
        averages.table(sort_by="beauty")


def test_the_total_is_of_all_events():
    total = sample().total_average()
    assert (total.key, total.count) == ("Total", 3)
    assert total.self_cpu_time_total == 4000 and total.cpu_time_total == 5000


def test_str_of_a_profile_is_its_table():
    with profile() as record:
        torch.einsum("i->", torch.ones(3))
    assert str(record) == record.table() == record.function_events.table()
    assert "aten::sum" in str(record)


# --- Exports -------------------------------------------------------------------------------------


def test_the_chrome_trace_links_forward_and_backward(tmp_path):
    x = torch.ones(2, requires_grad=True)
    with profile(record_shapes=True, with_stack=True) as record:
        y = squares(x)
        y.backward(retain_graph=True)
        y.backward()
    record.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    slices = [r for r in trace if r["ph"] == "X"]
    assert [s["name"] for s in slices] == names(record)
    for piece in slices:
        assert piece["dur"] >= 0 and piece["ts"] >= 0
        assert {"pid", "tid", "cat", "args"} <= set(piece)
    starts = {r["id"]: r for r in trace if r["ph"] == "s"}
    ends = {r["id"]: r for r in trace if r["ph"] == "f"}
    assert starts.keys() == ends.keys() and len(starts) == 4  # two ops, each run back twice
    arrows = Counter()
    for id, start in starts.items():
        (source,) = [s for s in slices if s["ts"] == start["ts"] and s["tid"] == start["tid"]]
        (target,) = [s for s in slices if s["ts"] == ends[id]["ts"]]
        assert ends[id]["bp"] == "e" and start["cat"] == ends[id]["cat"]
        assert source["args"]["Sequence number"] == target["args"]["Sequence number"]
        arrows[source["name"], target["name"]] += 1
    assert arrows == {("aten::mul", "MulBackward0"): 2, ("aten::sum", "SumBackward0"): 2}


class Page(HTMLParser):
    """Collects what a page is made of."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.script, self.cells, self.inside = [], [], "", [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.inside = tag
        self.links += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside == "script":
            self.script += data
        elif self.inside == "td":
            self.cells.append(data)


def test_the_flame_page_stands_alone(tmp_path):
    with profile() as record, record_function("</script><b>&'\""):
        torch.ones(2) * 2
    record.export_html(tmp_path / "flames.html", title="a < b")
    text = (tmp_path / "flames.html").read_text()
    page = Page(text)
    assert page.links == [] and "http" not in text and "<title>a &lt; b</title>" in text
    assert page.tags.count("script") == 1 and "b" not in page.tags
    data = json.loads(re.search(r"= (\{.*\});$", page.script, re.MULTILINE)[1])
    assert data["names"] == ["</script><b>&'\"", "aten::ones", "aten::mul"]
    assert [box[3] for box in data["boxes"]] == [0, 1, 1] and data["rows"] == 2
    assert page.cells[-4::4][0] in data["names"]


# --- NVTX ----------------------------------------------------------------------------------------


def test_emit_nvtx_needs_a_gpu():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(RuntimeError, match="needs an NVIDIA GPU and CuPy"), emit_nvtx():
        pass
    with emit_nvtx(enabled=False):
        torch.ones(1) * 2


@pytest.fixture
def ranges(monkeypatch):
    """Pretend that there is a GPU, and return the list that its ranges are written to."""
    opened = []
    nvtx = SimpleNamespace(RangePush=opened.append, RangePop=lambda: opened.append("end"))
    monkeypatch.setattr(emitting.cuda, "is_available", lambda: True)
    fake = SimpleNamespace(cuda=SimpleNamespace(nvtx=nvtx))
    monkeypatch.setattr(emitting, "backend_for", lambda device: fake)
    return opened


def test_emit_nvtx_opens_and_closes_ranges(ranges):
    x = torch.ones(2, requires_grad=True)
    with emit_nvtx(record_shapes=True) as emit:
        start = x.exp().grad_fn._sequence_nr()
        assert isinstance(_state.recorder.get(), NvtxRecorder)
        with record_function("block"):
            y = x * 2.0
        y.backward(torch.ones(2))
        with pytest.raises(RuntimeError):
            x @ torch.ones(3)
    number = start + 1
    assert ranges[2:8] == ["block", f"aten::mul, seq = {number}, sizes = [[2], []]", "end", "end",
                           f"aten::ones, seq = {number + 1}, sizes = [[]]", "end"]
    assert f"MulBackward0, seq = {number}, sizes = [[2]]" in ranges
    assert ranges.count("end") * 2 == len(ranges)
    message = r"^NVTX annotation context manager is not reentrant$"
    with pytest.raises(RuntimeError, match=message), emit:
        pass


# --- minigrad.profiler ---------------------------------------------------------------------------


def test_the_newer_interface():
    ready = []
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                                record_shapes=True, on_trace_ready=ready.append) as record:
        torch.ones(2).exp()
    assert ready == [record]
    assert [e.name for e in record.events()] == ["aten::ones", "aten::exp"]
    assert "Input Shapes" in record.key_averages(group_by_input_shape=True).table()
