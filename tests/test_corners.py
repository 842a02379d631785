"""Corners of the engine that mutation testing found no test for, by module."""

from __future__ import annotations

import importlib
import warnings

import numpy as np
import pytest
from _engines import leaf, on_each_engine

import minigrad
from minigrad.op import F, Op

Function = minigrad.autograd.Function
profiler_util = importlib.import_module("minigrad.autograd.profiler_util")


def function(torch, forward, backward=None, **more):
    body = {"forward": staticmethod(forward), **more}
    if backward is not None:
        body["backward"] = staticmethod(backward)
    return type("Made", (torch.autograd.Function,), body)


# --- op.py ---------------------------------------------------------------------------------------


def test_an_operation_that_is_not_there_is_named():
    with pytest.raises(AttributeError, match=r"^there is no operation named 'nothing_like_it'$"):
        F.nothing_like_it  # noqa: B018


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


@on_each_engine
@pytest.mark.parametrize("mode", [True, False])
def test_how_set_grad_enabled_is_shown(torch, mode):
    made = torch.set_grad_enabled(mode)
    torch.set_grad_enabled(True)
    assert repr(made) == str(made) == f"set_grad_enabled(mode={mode})"


# --- function.py, function_outputs.py, function_jvp.py -------------------------------------------


@on_each_engine
def test_what_an_instance_of_a_function_refuses(torch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        made = function(torch, lambda ctx, x: x)()
    for name in ("metadata", "name", "next_functions"):
        with pytest.raises(RuntimeError) as caught:
            getattr(made, name)
        assert str(caught.value) == (
            f"Attribute '{name}' is invalid for this instance of _C._FunctionBase. Accessing this "
            "attribute directly on an instance of autograd.Function is a legacy access pattern "
            "that is no longer supported. For examples on how to use new-style autograd functions, "
            "see https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function ")
    with pytest.raises(AttributeError, match=r"^'Made' object has no attribute 'nothing'$"):
        made.nothing  # noqa: B018


@on_each_engine
def test_an_in_place_function_remembers_how_it_was_made(torch):
    base = torch.autograd.function.InplaceFunction
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        assert base().inplace is False
        assert base(True).inplace is True and base(inplace=False).inplace is False


@on_each_engine
def test_a_leaf_that_needs_no_gradient_may_be_written_by_a_function(torch):
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        return x.mul_(y)

    x, y = torch.tensor([1.0, 2.0]), leaf(torch, [3.0, 4.0])
    out = function(torch, forward, lambda ctx, g: (None, g)).apply(x, y)
    assert out is x and x.requires_grad and not x.is_leaf
    assert x.grad_fn.name() == "MadeBackward" and x._version == 1
    x.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]


@on_each_engine
def test_a_jvp_has_to_return_a_view_where_forward_does(torch):
    fwd = torch.autograd.forward_ad

    def run(jvp, tangent):
        with fwd.dual_level():
            made = function(torch, lambda ctx, x: x.view(2, 1), jvp=staticmethod(jvp))
            return fwd.unpack_dual(made.apply(fwd.make_dual(torch.ones(2), tangent))).tangent

    assert run(lambda ctx, t: t.view(2, 1), torch.ones(2)).tolist() == [[1.0], [1.0]]
    with pytest.raises(RuntimeError, match=r"^A custom Function's forward is returning a view \(or "
                       r"an input as-is\) but the jvp is not returning a view\.$"):
        run(lambda ctx, t: torch.ones(2, 1), torch.ones(2))
    with pytest.raises(RuntimeError, match=r"^A custom Function is returning a view but the jvp is "
                       r"not returning a view of the given grad input\.$"):
        run(lambda ctx, t: torch.ones(2).view(2, 1), torch.ones(2))
    with pytest.raises(RuntimeError, match=r"^A custom Function is returning a view but the jvp is "
                       r"not returning a view of the same base as the given grad input\.$"):
        run(lambda ctx, t: torch.ones(2).view(2, 1), torch.ones(4)[:2])


# --- delayed_error.py ----------------------------------------------------------------------------


@on_each_engine
def test_once_differentiable_lets_gradients_without_history_be(torch):
    def backward(ctx, g):
        return g * 2

    made = function(torch, lambda ctx, x: x * 2,
                    torch.autograd.function.once_differentiable(backward))
    x = leaf(torch, [1.0, 2.0])
    (first,) = torch.autograd.grad(made.apply(x).sum(), x, create_graph=True)
    assert first.tolist() == [2.0, 2.0] and not first.requires_grad
    (first,) = torch.autograd.grad((made.apply(x) * x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"^trying to differentiate twice a function that was "
                       r"marked with @once_differentiable$"):
        first.sum().backward()
    (first,) = torch.autograd.grad((made.apply(x) * x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"^trying to differentiate twice a function that was "
                       r"marked with @once_differentiable$"):
        torch.autograd.grad(first.sum(), x, create_graph=True)


# --- functional_passes.py ------------------------------------------------------------------------


@on_each_engine
@pytest.mark.parametrize("options", [{}, {"vectorize": True}])
def test_a_jacobian_of_outputs_of_which_some_are_constant(torch, options):
    found = torch.autograd.functional.jacobian(
        lambda x: (torch.ones(3), x * 2, torch.ones(2)), torch.tensor([1.0, 2.0]), **options)
    assert [f.tolist() for f in found] == [
        [[0.0, 0.0]] * 3, [[2.0, 0.0], [0.0, 2.0]], [[0.0, 0.0]] * 2]


@on_each_engine
def test_a_jacobian_of_nothing_has_the_shape_of_the_input(torch):
    found = torch.autograd.functional.jacobian(lambda x: x[:0], torch.tensor([1.0, 2.0, 3.0]))
    assert tuple(found.shape) == (0, 3)


# --- gradcheck_parts.py, jacobians.py ------------------------------------------------------------


@on_each_engine
def test_a_batch_that_gives_something_else_than_its_rows(torch):
    def backward(ctx, g):
        return g * 2 if g._is_batched() else g

    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    options = {"check_undefined_grad": False, "check_batched_grad": True}
    assert torch.autograd.gradcheck(lambda t: t * 2, x, **options)
    made = function(torch, lambda ctx, t: t * 1, lambda ctx, g: g.reshape(2) * 1)
    assert torch.autograd.gradcheck(made.apply, x, **options)


@on_each_engine
def test_gradcheck_takes_no_gradient_of_another_dtype(torch):
    made = function(torch, lambda ctx, t: (t * 1).to(torch.float64), lambda ctx, g: g)
    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    assert torch.autograd.gradcheck(made.apply, x, check_grad_dtypes=True)


# --- nested_io.py --------------------------------------------------------------------------------


def test_a_nested_function_marks_what_it_writes_and_what_has_no_gradient():
    class Nested(minigrad.autograd.function.NestedIOFunction):
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
    assert written is y and y._version == 1 and written.requires_grad
    written.sum().backward()
    assert x.grad.tolist() == [0.0]


# --- variable.py ---------------------------------------------------------------------------------


@on_each_engine
def test_run_backward_accumulates_on_request(torch):
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
    node = function(minigrad, lambda ctx, t: t * 1, lambda ctx, g: g).apply(
        leaf(minigrad, [1.0])).grad_fn
    made = minigrad.autograd.Variable(minigrad.ones(1), _grad_fn=node, name="made")
    assert made.grad_fn is node and made.requires_grad and made.name == "made"
    empty = minigrad.autograd.Variable(requires_grad=True)
    assert tuple(empty.shape) == (0,) and empty.requires_grad and empty.is_leaf


# --- graph_task.py, replay.py --------------------------------------------------------------------


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
        event.device_time_total = 30.0
    heads = prof.table().splitlines()[1].split("  ")
    heads = [head.strip() for head in heads if head.strip()]
    for name in ("Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg"):
        assert name in heads
    assert "Node ID" not in heads
    assert "30.000us" in prof.table()
