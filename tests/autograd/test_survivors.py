"""Corners of the engine that mutation testing found no test for, by module."""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from functools import reduce

import numpy as np
import pytest

import minigrad
from minigrad.op.declaration import F, Op
from tests.support.engines import function_of, leaf, on_each_engine

Function = minigrad.autograd.Function
profiler_util = importlib.import_module("minigrad.autograd.profiler_util")


# --- op.py ---------------------------------------------------------------------------------------


def test_an_operation_that_is_not_there_is_named():
    with pytest.raises(AttributeError, match=r"^there is no operation named 'nothing_like_it'$"):
        F.nothing_like_it


def test_no_two_ops_have_one_name():
    with pytest.raises(TypeError, match=r"^an op named Mul is registered already$"):
        class Mul(Op):
            """A second one."""

            nondifferentiable = True

            def forward(xp, self):
                return self


@on_each_engine
def test_how_several_outputs_are_shown(torch):
    both = torch.tensor([[1.0, 3.0], [2.0, 0.0]]).max(1)
    assert repr(both) == ("torch.return_types.max(\nvalues=tensor([3., 2.]),\n"
                          "indices=tensor([1, 0]))")
    assert type(both).__module__ == f"{torch.__name__}.return_types"
    assert type(both).__qualname__ == "max"


# --- grad_mode.py --------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [True, False])
def test_how_set_grad_enabled_is_shown(mode):
    made = minigrad.set_grad_enabled(mode)
    minigrad.set_grad_enabled(True)
    assert repr(made) == str(made) == f"set_grad_enabled(mode={mode})"


# --- function.py, function_outputs.py, function_jvp.py -------------------------------------------


def test_what_an_instance_of_a_function_refuses():
    with warnings.catch_warnings():
        # It warns that a Function should not be instantiated.
        warnings.simplefilter("ignore", DeprecationWarning)
        made = function_of(minigrad, lambda ctx, x: x)()
    for name in ("metadata", "name", "next_functions"):
        with pytest.raises(RuntimeError) as caught:
            getattr(made, name)
        assert str(caught.value) == (
            f"Attribute '{name}' is invalid for this instance of _C._FunctionBase. Accessing this "
            "attribute directly on an instance of autograd.Function is a legacy access pattern "
            "that is no longer supported. For examples on how to use new-style autograd functions, "
            "see https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function ")
    with pytest.raises(AttributeError, match=r"^'Made' object has no attribute 'nothing'$"):
        made.nothing


@on_each_engine
def test_an_in_place_function_remembers_how_it_was_made(torch):
    base = torch.autograd.function.InplaceFunction
    with warnings.catch_warnings():
        # It warns that a Function should not be instantiated.
        warnings.simplefilter("ignore", DeprecationWarning)
        assert base().inplace is False
        assert base(True).inplace is True and base(inplace=False).inplace is False


@on_each_engine
def test_a_leaf_that_needs_no_gradient_may_be_written_by_a_function(torch):
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        return x.mul_(y)

    x, y = torch.tensor([1.0, 2.0]), leaf(torch, [3.0, 4.0])
    out = function_of(torch, forward, lambda ctx, g: (None, g)).apply(x, y)
    assert out is x and x.requires_grad and not x.is_leaf
    assert x.grad_fn.name() == "MadeBackward" and x._version == 2
    x.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]


@on_each_engine
@pytest.mark.filterwarnings("ignore:.*jit.script.*:DeprecationWarning")  # PyTorch's own
def test_a_jvp_has_to_return_a_view_where_forward_does(torch):
    fwd = torch.autograd.forward_ad

    def run(jvp, tangent):
        with fwd.dual_level():
            made = function_of(torch, lambda ctx, x: x.view(2, 1), jvp=staticmethod(jvp))
            return fwd.unpack_dual(made.apply(fwd.make_dual(torch.ones(2), tangent))).tangent

    assert run(lambda ctx, t: t.view(2, 1), torch.ones(2)).tolist() == [[1.0], [1.0]]
    with pytest.raises(RuntimeError, match=r"^A custom Function's forward is returning a view \(or "
                       r"an input as-is\) but the jvp is not returning a view\.$"):
        run(lambda ctx, t: torch.ones(2, 1), torch.ones(2))
    with pytest.raises(RuntimeError, match=r"^A custom Function is returning a view but the jvp is "
                       r"not returning a view of the given grad input\.$"):
        run(lambda ctx, t: torch.ones(2).view(2, 1), torch.ones(2))


# --- delayed_error.py ----------------------------------------------------------------------------


@on_each_engine
def test_once_differentiable_lets_gradients_without_history_be(torch):
    def backward(ctx, g):
        return g * 2

    made = function_of(torch, lambda ctx, x: x * 2,
                    torch.autograd.function.once_differentiable(backward))
    x = leaf(torch, [1.0, 2.0])
    (first,) = torch.autograd.grad(made.apply(x).sum(), x, create_graph=True)
    assert first.tolist() == [2.0, 2.0] and not first.requires_grad
    (first,) = torch.autograd.grad((made.apply(x) * x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"^trying to differentiate twice a function that was "
                       r"marked with @once_differentiable$"):
        first.sum().backward()


# --- functional_passes.py ------------------------------------------------------------------------


@on_each_engine
@pytest.mark.parametrize("options", [{}, {"vectorize": True}])
def test_a_jacobian_of_outputs_of_which_some_are_constant(torch, options):
    found = torch.autograd.functional.jacobian(
        lambda x: (torch.ones(3), x * 2, torch.ones(2)), torch.tensor([1.0, 2.0]), **options)
    assert [f.tolist() for f in found] == [
        [[0.0, 0.0]] * 3, [[2.0, 0.0], [0.0, 2.0]], [[0.0, 0.0]] * 2]


def test_a_jacobian_of_nothing_has_the_shape_of_the_input():
    found = minigrad.autograd.functional.jacobian(lambda x: x[:0], minigrad.ones(3))
    assert tuple(found.shape) == (0, 3)


# --- gradcheck_parts.py, jacobians.py ------------------------------------------------------------


@on_each_engine
@pytest.mark.filterwarnings("ignore:There is a performance drop")  # of PyTorch's fallback
def test_a_function_in_a_batch_of_gradients(torch):
    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    made = function_of(torch, lambda ctx, t: t * 1, lambda ctx, g: g * 1)
    assert torch.autograd.gradcheck(made.apply, x, check_batched_grad=True,
                                    check_undefined_grad=False)


@on_each_engine
def test_gradcheck_takes_no_gradient_of_another_dtype(torch):
    made = function_of(torch, lambda ctx, t: (t * 1).to(torch.float64), lambda ctx, g: g)
    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    assert torch.autograd.gradcheck(made.apply, x, check_grad_dtypes=True)


# --- nested_io.py --------------------------------------------------------------------------------


# The old interface asks for it.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_a_nested_function_marks_what_it_writes_and_what_has_no_gradient():
    class Nested(minigrad.autograd.NestedIOFunction):
        def forward_extended(self, pair):
            whole = (pair[0] * 3).to(minigrad.int64).to(minigrad.float32)
            self.mark_dirty(pair[1])
            self.mark_non_differentiable([whole])
            return whole, pair[1].add_(1)

        def backward_extended(self, whole, written):
            return whole, written

    x, y = leaf(minigrad, [1.0]), leaf(minigrad, [2.0]) * 1
    whole, written = Nested()((x, y))
    assert not whole.requires_grad and whole.tolist() == [3.0]
    assert written is y and y._version == 2 and written.requires_grad
    written.sum().backward()
    assert x.grad.tolist() == [0.0]


# --- variable.py ---------------------------------------------------------------------------------


def test_run_backward_accumulates_on_request():
    torch = minigrad
    engine = torch.autograd.Variable._execution_engine
    x = leaf(torch, [1.0, 2.0])
    mid = x * 2
    y = (mid * mid).sum()
    one = torch.tensor(1.0)
    assert engine.run_backward((y,), (one,), True, False, (mid,), accumulate_grad=True) == ()
    assert mid.grad.tolist() == [4.0, 8.0] and x.grad is None
    (found,) = engine.run_backward((y,), (one,), True, False, (x,))
    assert found.tolist() == [8.0, 16.0] and x.grad is None
    assert engine.run_backward((y,), (one,), False, False, ()) == ()
    assert x.grad.tolist() == [8.0, 16.0]
    assert engine.is_checkpoint_valid() is True


def test_run_backward_wants_a_tuple_of_inputs():
    engine = minigrad.autograd.Variable._execution_engine
    x = leaf(minigrad, [1.0, 2.0])
    with pytest.raises(RuntimeError, match=r"^inputs to run_backward must be a tuple$"):
        engine.run_backward((x.sum(),), (minigrad.tensor(1.0),), False, False, [x])


def test_a_variable_may_be_given_a_function():
    node = function_of(minigrad, lambda ctx, t: t * 1, lambda ctx, g: g).apply(
        leaf(minigrad, [1.0])).grad_fn
    made = minigrad.autograd.Variable(minigrad.ones(1), _grad_fn=node, name="made")
    assert made.grad_fn is node and made.requires_grad and made.name == "made"
    empty = minigrad.autograd.Variable(requires_grad=True)
    assert tuple(empty.shape) == (0,) and empty.requires_grad and empty.is_leaf


# --- graph_task.py, sorted_pass.py ---------------------------------------------------------------


@on_each_engine
def test_callbacks_run_at_the_end_in_their_order(torch):
    said = []
    x = leaf(torch, [1.0, 2.0])
    engine = torch.autograd.Variable._execution_engine

    def hook(g):
        engine.queue_callback(lambda: said.append(x.grad.tolist()))
        engine.queue_callback(lambda: said.append("second"))

    mid = x * 2
    mid.register_hook(hook)
    mid.sum().backward()
    assert said == [[2.0, 2.0], "second"]


@on_each_engine
@pytest.mark.parametrize("strategy", ["rows", "vectorize"])
def test_a_jacobian_whose_graph_meets_again(torch, strategy):
    def double(x):
        a = x.exp()
        return a * a.sum() + x[0]

    x = torch.tensor([0.0, 1.0], dtype=torch.float64)
    found = torch.autograd.functional.jacobian(double, x, vectorize=strategy == "vectorize")
    e = np.exp([0.0, 1.0])
    expected = np.diag(e) * e.sum() + np.outer(e, e) + np.array([[1.0, 0.0], [1.0, 0.0]])
    assert np.allclose(found.numpy(), expected)


# --- profiler_util.py, profiler_html.py, profiler_table.py, profiler_trace.py --------------------


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


# --- what the first sample left alive ------------------------------------------------------------


@on_each_engine
def test_unpack_dual_outside_of_every_level(torch):
    fwd = torch.autograd.forward_ad
    x = torch.ones(2)
    primal, tangent = fwd.unpack_dual(x)
    assert primal.tolist() == [1.0, 1.0] and tangent is None
    assert tuple(fwd.unpack_dual(3)) == (3, None)
    with fwd.dual_level():
        primal, tangent = fwd.unpack_dual(x)
        assert tangent is None
        dual = fwd.make_dual(x, torch.zeros(2))
        assert fwd.unpack_dual(dual, level=0).tangent.tolist() == [0.0, 0.0]


@on_each_engine
def test_a_function_that_writes_leaves_no_gradient_behind(torch):
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        return x.mul_(y)

    x = torch.tensor([1.0, 2.0])
    function_of(torch, forward, lambda ctx, g: (None, g)).apply(x, leaf(torch, [3.0, 4.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # x is no leaf now
        assert x.grad is None


@on_each_engine
@pytest.mark.filterwarnings("ignore:Backwards compatibility")  # the old flag is meant
def test_gradgradcheck_looks_at_missing_gradients_unless_told_not_to(torch):
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2

    def slope(ctx, g):
        return torch.ones(2, dtype=torch.float64) if g is None else g * 2

    twice = function_of(torch, forward, slope)
    made = function_of(torch, forward, lambda ctx, g: twice.apply(g))
    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    assert torch.autograd.gradgradcheck(made.apply, x, check_undefined_grad=False)
    with pytest.raises(RuntimeError, match="undefined"):
        torch.autograd.gradgradcheck(made.apply, x)


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


def test_a_function_in_a_batch_says_that_it_runs_row_by_row():
    x = leaf(minigrad, [1.0, 2.0])
    y = function_of(minigrad, lambda ctx, t: t * 1, lambda ctx, g: g * 3).apply(x)
    with pytest.warns(UserWarning, match=r"^There is a performance drop because MadeBackward runs "
                      r"once for each row of the batch: set generate_vmap_rule = True"):
        (found,) = minigrad.autograd.grad(y, x, minigrad.eye(2), is_grads_batched=True)
    assert found.tolist() == [[3.0, 0.0], [0.0, 3.0]]


def in_batches(g):
    return type(g._array).__name__ == "BatchedArray"


def batch_checked(backward, inputs=1):
    made = function_of(minigrad, lambda ctx, *t: t[0] * 1, backward, generate_vmap_rule=True)
    given = tuple(leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64) for _ in range(inputs))
    return minigrad.autograd.gradcheck(made.apply, given, check_batched_grad=True,
                                       check_undefined_grad=False)


def test_gradcheck_compares_a_batch_with_its_rows():
    assert batch_checked(lambda ctx, g: g * 1)
    with pytest.raises(RuntimeError, match="For output 0 and input 0:\n\n"):
        batch_checked(lambda ctx, g: g * (2 if in_batches(g) else 1))
    with pytest.raises(RuntimeError, match="For output 0 and input 1:\n\n"):
        minigrad.autograd.gradcheck(
            lambda x, y: y * 1 + function_of(
                minigrad, lambda ctx, t: t * 1,
                lambda ctx, g: g * (2 if in_batches(g) else 1),
                generate_vmap_rule=True).apply(y) + x, tuple(
                    leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64) for _ in range(2)),
            check_batched_grad=True, check_undefined_grad=False)


def test_gradcheck_in_batches_allows_inputs_without_a_gradient():
    assert batch_checked(lambda ctx, g, *more: (g * 1, None), inputs=2)
    x, y = (leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64) for _ in range(2))
    assert minigrad.autograd.gradcheck(lambda x, y: x * 2, (x, y), check_batched_grad=True)


def test_gradcheck_in_batches_tells_of_an_error():
    def backward(ctx, g):
        if in_batches(g):
            raise RuntimeError("not in a batch")
        return g * 1

    with pytest.raises(RuntimeError, match=r"^While computing batched gradients, got: not in a "
                       r"batch\n\n"):
        batch_checked(backward)


# A float32 input is what is tested.
@pytest.mark.filterwarnings("ignore:Input #0 requires gradient and is not a double")
def test_gradcheck_forward_keeps_the_dtype_of_its_input():
    x = leaf(minigrad, [1.0, 2.0])
    assert minigrad.autograd.gradcheck(lambda x: x * 2, x, eps=1e-2, atol=1e-1,
                                       check_forward_ad=True, check_grad_dtypes=True)


def warned_at(call):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    assert len(seen) == 1
    first = call.__code__.co_firstlineno
    return seen[0].filename, first <= seen[0].lineno <= first + 1


def test_warnings_point_to_the_user():
    x = leaf(minigrad, [1.0, 2.0])
    here = (__file__, True)
    assert warned_at(lambda: x.sum().backward(create_graph=True)) == here
    assert warned_at(lambda: minigrad.autograd.Variable(x, volatile=True)) == here
    assert warned_at(lambda: x.volatile) == here
    assert warned_at(lambda: setattr(x, "volatile", True)) == here
    assert warned_at(lambda: minigrad.autograd.grad(x.sum(), x, only_inputs=False)) == here
    assert warned_at(lambda: minigrad.autograd.backward(
        x.sum(), grad_variables=minigrad.tensor(1.0))) == here


def test_setting_volatile_says_that_nothing_happens():
    with pytest.warns(UserWarning, match=r"^volatile was removed and now has no effect. Use `with "
                      r"torch.no_grad\(\):` instead.$"):
        leaf(minigrad, [1.0]).volatile = True


@pytest.mark.filterwarnings("ignore:Using backward")  # the cycle is meant
def test_a_profile_names_the_accumulation_of_gradients_that_have_a_graph():
    x = leaf(minigrad, [1.0, 2.0])
    with minigrad.autograd.profiler.profile() as prof:
        (x * x).sum().backward(create_graph=True)
    names = [event.name for event in prof.function_events]
    assert any("AccumulateGrad" in name for name in names)
    x.grad = None


@on_each_engine
def test_a_hook_that_comes_later_is_shown_the_version(torch):
    y = leaf(torch, [1.0, 2.0]) * 1
    y.mul_(2)
    z = y.square()
    seen = []
    z.grad_fn._raw_saved_self.register_hooks(lambda t: (seen.append(t._version), t)[1],
                                             lambda t: t)
    assert seen == [1]


def test_summing_over_nothing_keeps_what_is_there():
    from minigrad.engine.validate import sum_to

    array = np.ones((2, 3))
    assert sum_to(array, (2, 3)).shape == (2, 3)
    assert tuple(sum_to(minigrad.ones(2, 3), (2, 3)).shape) == (2, 3)
    assert tuple(sum_to(minigrad.ones(1, 2, 3), (2, 3)).shape) == (2, 3)
    assert tuple(sum_to(minigrad.ones(4, 2, 3), (2, 1)).shape) == (2, 1)


# --- the profiler's pages ------------------------------------------------------------------------


class Event:
    """What the pages ask of an event."""

    def __init__(self, name, start, end, thread=1, parent=None, **more):
        self.name, self.thread, self.cpu_parent, self.scope = name, thread, parent, 0
        self.time_range = profiler_util.Interval(start, end)
        self.sequence_nr, self.input_shapes, self.cpu_memory_usage = -1, [], 0
        self.self_cpu_time_total, self.cpu_time_total = end - start - 1.0, end - start
        self.__dict__.update(more)


def test_the_flames_of_two_threads():
    from minigrad.autograd.profiling.html import averages_table, flames

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


# --- the rest of the first sample ----------------------------------------------------------------


@on_each_engine
@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_delayed_error_of_several_tensors(torch, which):
    given = [leaf(torch, [1.0, 2.0]), leaf(torch, [[1.0], [2.0], [3.0]], dtype=torch.float64),
             leaf(torch, 1.0)]
    home = torch._C._functions if torch.__name__ == "torch" else importlib.import_module(
        "minigrad.autograd.functions.once_differentiable")
    outputs = home.DelayedError("not again", 3)(*given)
    assert isinstance(outputs, (tuple, list)) and len(outputs) == 3
    assert [o.tolist() for o in outputs] == [g.tolist() for g in given]
    if torch is minigrad:
        node = outputs[0].grad_fn
        assert [node.metadata_of(i) for i in range(3)] == [
            (tuple(g.shape), g.numpy(force=True).dtype) for g in given]
    with pytest.raises(RuntimeError, match="^not again$"):
        outputs[which].sum().backward()


@on_each_engine
def test_vjp_makes_a_graph_on_request_in_every_mode(torch):
    x = leaf(torch, [1.0, 2.0])
    for mode in True, False:
        with torch.set_grad_enabled(mode):
            out, found = torch.autograd.functional.vjp(
                lambda x: x * x, x, torch.ones(2), create_graph=True)
        assert out.requires_grad and found.requires_grad and found.tolist() == [2.0, 4.0]
        with torch.set_grad_enabled(mode):
            out, found = torch.autograd.functional.vjp(lambda x: x * x, x, torch.ones(2))
        assert not out.requires_grad and not found.requires_grad


@on_each_engine
def test_a_decorated_generator_takes_keywords(torch):
    @torch.no_grad()
    def count(start, *, step=1):
        yield start
        yield start + step, torch.is_grad_enabled()

    assert list(count(1, step=4)) == [1, (5, False)]
    assert list(count(start=2)) == [2, (3, False)]


@on_each_engine
def test_gradcheck_forward_passes_on_what_has_no_gradient(torch):
    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    plain = torch.tensor([3.0, 4.0], dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x, n, t: x * n * t, (x, 3, plain),
                                    check_forward_ad=True)


@on_each_engine
@pytest.mark.filterwarnings("ignore:Backwards compatibility")  # the old flag is meant
def test_gradcheck_says_what_is_expected_of_missing_gradients(torch):
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2

    def backward(ctx, g):
        return torch.ones(2, dtype=torch.float64) if g is None else g * 2

    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    with pytest.raises(RuntimeError, match=r"^Expected all input grads to be undefined or zero when"
                       r" all output grads are undefined or zero\. Please look at \"Notes about "
                       r"undefined output gradients\" in"):
        torch.autograd.gradcheck(function_of(torch, forward, backward).apply, x)


@pytest.mark.skipif(minigrad.cuda.is_available(), reason="says that there is no GPU")
def test_nvtx_without_a_gpu():
    with pytest.raises(RuntimeError, match=r"^emit_nvtx needs an NVIDIA GPU and CuPy, and there is "
                       r"none here\. profile\(\) measures the CPU\.$"):
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


def test_the_memory_of_an_array_on_borrowed_memory():
    from minigrad.autograd.profiling.recorder import memory_of

    borrowed = np.frombuffer(memoryview(bytearray(16)), dtype=np.float32)
    assert memory_of(borrowed[1:])


def test_how_a_node_is_shown():
    node = (leaf(minigrad, [1.0]) * 2).grad_fn
    assert repr(node) == f"<MulBackward0 object at {id(node):#x}>"


# --- the end of the first sample -----------------------------------------------------------------

SIGNATURES = ["autograd.gradcheck", "autograd.gradgradcheck",
              "autograd.functional.vjp", "autograd.functional.jvp",
              "autograd.functional.jacobian", "autograd.functional.hessian",
              "autograd.functional.vhp", "autograd.functional.hvp", "autograd.backward",
              "autograd.grad", "autograd.graph.save_on_cpu.__init__",
              "autograd.forward_ad.make_dual", "autograd.forward_ad.unpack_dual"]


@pytest.mark.parametrize("name", SIGNATURES)
def test_defaults_are_pytorchs(name):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    ours, theirs = (inspect.signature(reduce(getattr, name.split("."), engine)).parameters
                    for engine in (minigrad, torch))
    assert [p for p in ours if p in theirs] == list(theirs)
    for parameter in theirs:
        assert ours[parameter].default == theirs[parameter].default, parameter
    # Run here, so that mutation testing counts this test among theirs.
    x = leaf(minigrad, [1.0], dtype=minigrad.float64)
    with minigrad.autograd.graph.save_on_cpu():
        assert minigrad.autograd.gradgradcheck(lambda t: t * t, x)


def test_rows_of_a_batch_without_a_gradient_count_as_zeros():
    made = function_of(minigrad, lambda ctx, t: t * 1,
                       lambda ctx, g: g * 3 if float(g[0]) else None)
    x = leaf(minigrad, [1.0, 2.0])
    with pytest.warns(UserWarning, match="performance drop"):
        (rows,) = minigrad.autograd.grad(made.apply(x), x, minigrad.eye(2), is_grads_batched=True)
    assert rows.tolist() == [[3.0, 0.0], [0.0, 0.0]]


@on_each_engine
def test_once_differentiable_and_missing_gradients(torch):
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x * 2, y * 3

    def backward(ctx, g, h):
        return None if g is None else g * 2, None if h is None else h * 3

    made = function_of(torch, forward, torch.autograd.function.once_differentiable(backward))
    x, y = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0])
    one, _ = made.apply(x, y)
    first, none = torch.autograd.grad(one.sum(), (x, y), create_graph=True, allow_unused=True)
    assert first.tolist() == [2.0, 2.0] and none is None


@on_each_engine
def test_gradcheck_in_fast_mode_says_what_to_do(torch):
    made = function_of(torch, lambda ctx, t: t * 2, lambda ctx, g: g * 3)
    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.gradcheck(made.apply, x, fast_mode=True)
    text = re.sub(r"[-+]?\d+\.\d+(e[-+]\d+)?", "#", " ".join(str(caught.value).split()))
    assert ("in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more"
            in text), text
    assert "XX" not in text


def test_gradcheck_shows_both_sides_of_a_batch():
    with pytest.raises(RuntimeError, match=r"Got:\ntensor\(\[\[(.|\n)*Expected:\ntensor\(\[\["):
        batch_checked(lambda ctx, g: g * (2 if in_batches(g) else 1))


def test_gradcheck_compares_a_batch_of_tangents_with_its_rows():
    made = function_of(minigrad, lambda ctx, t: t * 1, lambda ctx, g: g * 1,
                    jvp=staticmethod(lambda ctx, t: t * (2 if in_batches(t) else 1)),
                    generate_vmap_rule=True)
    x = leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64)
    options = {"check_forward_ad": True, "check_undefined_grad": False}
    assert minigrad.autograd.gradcheck(made.apply, x, **options)
    with pytest.raises(RuntimeError, match=r"^For output 0 and input 0:\n\n(.|\n)*Got:\ntensor\((.|"
                       r"\n)*Expected:\ntensor\("):
        minigrad.autograd.gradcheck(made.apply, x, check_batched_forward_grad=True, **options)


@on_each_engine
def test_a_gradient_is_retained_at_any_output(torch):
    x = leaf(torch, [1.0, 2.0, 3.0])
    _, second, third = (x * 1).unbind()
    third.retain_grad()
    (second * 2 + third * 5).backward()
    assert third.grad.item() == 5.0 and second.grad_fn is not None


def test_ranges_of_nvtx_are_named():
    from minigrad.autograd.profiling.nvtx import NvtxRecorder

    said = []

    class Fake:
        RangePush, RangePop = said.append, staticmethod(lambda: said.append("end"))

    NvtxRecorder(Fake).begin("a", [minigrad.ones(2)], 0)
    NvtxRecorder(Fake, shapes=True).begin("b", [minigrad.ones(2)])
    assert said == ["a, seq = 0", "b, sizes = [[2]]"]


def test_recorders_note_nothing_that_was_not_asked_for():
    from minigrad.autograd.profiling.recorder import DetailedRecorder

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


@on_each_engine
def test_gradients_of_many_inputs_keep_their_dtypes(torch):
    x = leaf(torch, [1.0, 2.0])
    y = leaf(torch, [3.0, 4.0], dtype=torch.float64)
    z = leaf(torch, [5.0])
    torch.cat([x, y, z, x]).sum().backward()
    assert [t.grad.dtype for t in (x, y, z)] == [torch.float32, torch.float64, torch.float32]
    assert [t.grad.tolist() for t in (x, y, z)] == [[2.0, 2.0], [1.0, 1.0], [1.0]]


@on_each_engine
def test_gradgradcheck_forward_over_reverse_alone(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return Slope.apply(ctx.saved_tensors[0], g)

        @staticmethod
        def jvp(ctx, t):
            return t * 2 * ctx.saved_tensors[0]

    class Slope(torch.autograd.Function):
        @staticmethod
        def forward(x, g):
            return x * g * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, g):
            raise RuntimeError("no reverse over reverse")

        @staticmethod
        def jvp(ctx, tx, tg):
            x, g = ctx.saved_tensors
            return 2 * (tx * g + x * tg)

    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    assert torch.autograd.gradgradcheck(Square.apply, x, check_fwd_over_rev=True,
                                        check_rev_over_rev=False, check_undefined_grad=False)
    with pytest.raises(RuntimeError, match="^no reverse over reverse$"):
        torch.autograd.gradgradcheck(Square.apply, x, check_undefined_grad=False)


def test_a_tangent_is_in_memory_of_its_own():
    fwd = minigrad.autograd.forward_ad
    given = minigrad.ones(2)
    with fwd.dual_level():
        dual = fwd.make_dual(minigrad.tensor([3.0, 4.0]), given)
        for out in (dual + 1, dual.clone(), dual * 1):
            tangent = fwd.unpack_dual(out).tangent
            tangent.add_(5)
            assert given.tolist() == [1.0, 1.0]


@on_each_engine
@pytest.mark.parametrize("order", ["narrow first", "wide first"])
def test_gradients_of_two_inputs_keep_their_dtypes(torch, order):
    for apply in (torch.add, torch.sub, torch.mul, torch.div, torch.maximum, torch.atan2):
        pair = [leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0], dtype=torch.float64)]
        given = pair if order == "narrow first" else pair[::-1]
        apply(*given).sum().backward()
        assert [t.grad.dtype for t in pair] == [torch.float32, torch.float64]
        mid = [t * 1 for t in given]
        slopes = torch.autograd.grad(apply(*mid).sum(), mid)
        assert [s.dtype for s in slopes] == [t.dtype for t in given]


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
