"""Corners of profiles, tables, texts and checks that mutation testing found no test for."""

from __future__ import annotations

import inspect
import json
import warnings
from types import SimpleNamespace

import pytest

import minigrad
from minigrad.autograd.profiler_util import FunctionEventAvg
from minigrad.autograd.profiling.device import DeviceRecorder
from minigrad.autograd.profiling.html import flames
from minigrad.autograd.profiling.nvtx import NvtxRecorder
from minigrad.autograd.profiling.table import build_table, in_unit, shortened
from tests.support.engines import function_of, leaf, on_each_engine, with_jvp

profiler = minigrad.autograd.profiler


# --- tables --------------------------------------------------------------------------------------


def test_times_in_each_unit():
    assert in_unit(2.5e9, "s") == "2500.000s"
    assert in_unit(2.5e9, "ms") == "2500000.000ms"
    assert in_unit(2.5e9, "us") == "2500000000.000us"
    assert in_unit(2.5e9, None) == "2500.000s"


@pytest.mark.parametrize(("length", "cut"), [(5, False), (6, False), (7, True), (8, True)])
def test_at_which_length_a_name_is_cut(length, cut):
    assert shortened("n" * length, 10) == ("n" * 7 + "..." if cut else "n" * length)
    assert shortened("n" * length, None) == "n" * length


def profiled(**options):
    with profiler.profile(**options) as prof, profiler.record_function("block"):
        x = leaf(minigrad, [1.0, 2.0])
        minigrad.cat([x * 2, x]).sum().backward()
    return prof


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


def test_what_a_trace_says_of_its_threads(tmp_path):
    profiled().export_chrome_trace(str(tmp_path / "trace"))
    events = json.loads((tmp_path / "trace").read_text())["traceEvents"]
    named = [event for event in events if event["ph"] == "M"]
    assert named and all(set(event) == {"ph", "name", "pid", "tid", "ts", "args"}
                         and event["pid"] and event["ts"] == 0 for event in named)
    assert {event["pid"] for event in events} == {named[0]["pid"]}


class Box:
    """An event as `flames` looks at it."""

    scope, sequence_nr, input_shapes, cpu_memory_usage = 0, -1, None, 0

    def __init__(self, name, thread, parent=None):
        self.name, self.thread, self.cpu_parent = name, thread, parent
        self.time_range = SimpleNamespace(start=0.0, elapsed_us=lambda: 1.0)


def test_each_thread_has_as_many_rows_as_it_is_deep():
    outer = Box("outer", 1)
    inner = Box("inner", 1, outer)
    drawn = flames([outer, inner, Box("innermost", 1, inner), Box("after", 1), Box("other", 2)])
    assert [box[3] for box in drawn["boxes"]] == [0, 1, 2, 0, 4]
    assert drawn["rows"] == 5


# --- recorders -----------------------------------------------------------------------------------


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


class Clock:
    """An event of a GPU that keeps no time."""

    def record(self):
        pass


def test_a_recorder_for_a_gpu_notes_the_shapes_of_gradients():
    made = DeviceRecorder(Clock, shapes=True)
    node = (leaf(minigrad, [1.0, 2.0]) * 2).grad_fn
    made.node(node, [minigrad.ones(2)], lambda: [minigrad.ones(2)])
    assert made.rows[-1].shapes == [(2,)]


# --- texts ---------------------------------------------------------------------------------------


def warned(call):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    return [(w.category, str(w.message), w.filename) for w in seen]


@on_each_engine
def test_shared_storage_needs_no_mark(torch):
    def forward(ctx, x):
        ctx.mark_shared_storage((x, x))
        return x * 1

    made = type("Made", (torch.autograd.Function,), {"forward": staticmethod(forward)})
    assert warned(lambda: made.apply(torch.ones(1))) == [
        (FutureWarning, "`mark_shared_storage` is deprecated. Tensors with shared storages are "
         "automatically tracked. Note that calls to `set_()` are not tracked", __file__)]


def test_the_old_jacobians_say_that_they_are_private():
    from minigrad.autograd.gradcheck import get_analytical_jacobian, get_numerical_jacobian

    x = leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64)
    for name, call in (
            ("get_numerical_jacobian",
             lambda **more: get_numerical_jacobian(lambda t: t[0] * 2, (x,), **more)),
            ("get_analytical_jacobian",
             lambda **more: get_analytical_jacobian((x,), x * 2, **more))):
        assert warned(call) == [(FutureWarning, (
            f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are "
            "deprecating it and it will be removed in a future version of PyTorch. If you have a "
            "specific use for this or feature request for this to be a stable API, please file us "
            "an issue at https://github.com/pytorch/pytorch/issues/new"), __file__)]
        with pytest.warns(FutureWarning), pytest.raises(ValueError) as caught:
            call(grad_out=2.0)
        assert str(caught.value) == (f"Expected grad_out to be 1.0. {name} no longer supports "
                                     "values of grad_out != 1.0.")


@on_each_engine
@pytest.mark.filterwarnings("ignore:Backwards compatibility")  # that this is checked at all
def test_what_gradcheck_says_of_missing_gradients(torch):
    made = type("Made", (torch.autograd.Function,), {
        "forward": staticmethod(lambda ctx, x: (ctx.set_materialize_grads(False), x * 1)[1]),
        "backward": staticmethod(lambda ctx, g: torch.ones(2, dtype=torch.float64) if g is None
                                 else g)})
    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    with pytest.raises(torch.autograd.gradcheck.GradcheckError if hasattr(
            torch.autograd.gradcheck, "GradcheckError") else RuntimeError) as caught:
        torch.autograd.gradcheck(made.apply, x)
    assert str(caught.value).endswith('Please look at "Notes about undefined output gradients" in '
                                      '"tools/autograd/derivatives.yaml"')


def test_the_words_for_an_output_of_another_type():
    with pytest.raises(TypeError, match="^The outputs given to jacobian must be either a Tensor or "
                       "a tuple of Tensors but the given outputs has type <class 'float'>"):
        minigrad.autograd.functional.jacobian(
            lambda x: 3.0, minigrad.ones(2), vectorize=True, strategy="forward-mode")


def test_a_jacobian_by_forward_mode_has_no_graph():
    x = leaf(minigrad, [1.0, 2.0])
    found = minigrad.autograd.functional.jacobian(
        lambda t: t * t, x, vectorize=True, strategy="forward-mode")
    assert found.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert not found.requires_grad and found.grad_fn is None


@on_each_engine
def test_strict_products_want_outputs_that_depend(torch):
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.functional.jvp(lambda x: torch.zeros(2), torch.ones(2), torch.ones(2),
                                      strict=True)
    assert str(caught.value) == ("Output 0 of the user-provided function does not require "
                                 "gradients. The outputs must be computed in a differentiable "
                                 "manner from the input when running in strict mode.")


@on_each_engine
def test_strict_products_want_gradients_that_depend(torch):
    made = type("Made", (torch.autograd.Function,), {
        "forward": staticmethod(lambda ctx, x: x * 1),
        "backward": staticmethod(lambda ctx, g: torch.ones(2))})
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.functional.jvp(made.apply, torch.ones(2), torch.ones(2), strict=True)
    assert str(caught.value) == (
        "The gradient with respect to input 0 is independent of the inputs of the user-provided "
        "function. This is not allowed in strict mode.")


def test_which_output_a_batch_of_gradients_does_not_fit():
    x = leaf(minigrad, [1.0, 2.0])
    with pytest.raises(RuntimeError) as caught:
        minigrad.autograd.grad((x * 2, x * 3), x, (minigrad.ones(3, 2), minigrad.ones(3, 4)),
                               is_grads_batched=True)
    assert ("a mismatch was detected: grad_output[1] has a shape of torch.Size([3, 4]) and "
            "output[1] has a shape of torch.Size([2])") in str(caught.value)


# --- checks --------------------------------------------------------------------------------------


def both_modes(func, *inputs, **options):
    for fast in (False, True):
        assert minigrad.autograd.gradcheck(func, inputs, fast_mode=fast, **options)


def test_gradcheck_takes_what_is_no_tensor():
    x = leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64)
    both_modes(lambda a, factor: a * factor, x, 3.0, check_forward_ad=True,
               check_batched_forward_grad=True, check_batched_grad=True)
    both_modes(lambda factor, a: a * factor, 3.0, x, check_forward_ad=True,
               check_batched_forward_grad=True)


def test_gradcheck_looks_behind_what_is_no_tensor():
    wrong = with_jvp(minigrad,
                     lambda t: t * (3 if type(t._array).__name__ == "BatchedArray" else 1))
    x = leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64)
    options = {"check_forward_ad": True, "check_undefined_grad": False}
    check = minigrad.autograd.gradcheck
    assert check(lambda _, a: wrong.apply(a), (3.0, x), **options)
    with pytest.raises(RuntimeError, match="^For output 0 and input 1:"):
        check(lambda _, a: wrong.apply(a), (3.0, x), check_batched_forward_grad=True, **options)


def test_gradcheck_takes_outputs_that_are_constant():
    x = leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64)
    y = leaf(minigrad, [3.0, 4.0], dtype=minigrad.float64)
    both_modes(lambda a, b: (a * 2, b * 3, (a * b)), x, y, check_forward_ad=True,
               check_batched_forward_grad=True, check_batched_grad=True)


def test_gradcheck_takes_outputs_of_something_else():
    x, w = (leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64) for _ in range(2))
    both_modes(lambda a: (a * 2, w * 3), x, check_forward_ad=True)


def test_what_gradcheck_shows_where_no_tangent_came():
    x, w = (leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64) for _ in range(2))
    with pytest.raises(RuntimeError, match="forward mode mismatch") as caught:
        minigrad.autograd.gradcheck(lambda a: a.detach() * w, x, fast_mode=True,
                                    check_forward_ad=True, check_backward_ad=False)
    assert "analytical:tensor([0., 0.], dtype=torch.float64)" in str(caught.value)


# A float32 input is what is tested.
@pytest.mark.filterwarnings("ignore:Input #0 requires gradient and is not a double")
def test_what_gradcheck_shows_has_the_dtype_of_the_result():
    wrong = with_jvp(minigrad, lambda t: t * 3)
    x = leaf(minigrad, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="forward mode mismatch") as caught:
        minigrad.autograd.gradcheck(wrong.apply, x, eps=1e-2, atol=1e-1, check_forward_ad=True,
                                    check_undefined_grad=False)
    assert "float64" not in str(caught.value).partition("analytical:")[2]


def test_gradgradcheck_passes_its_tolerances_on():
    def square(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def twice_the_product(ctx, x, g):
        ctx.save_for_backward(x, g)
        return 2 * x * g

    def nearly_its_slopes(ctx, h):
        x, g = ctx.saved_tensors
        return 2.01 * g * h, 2 * x * h

    slope = function_of(minigrad, twice_the_product, nearly_its_slopes)
    nearly = function_of(minigrad, square, lambda ctx, g: slope.apply(ctx.saved_tensors[0], g))
    x = leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64)
    check = minigrad.autograd.gradgradcheck
    assert check(nearly.apply, x, atol=0.1, rtol=0.0)
    assert check(nearly.apply, x, atol=0.0, rtol=0.1)
    assert not check(nearly.apply, x, raise_exception=False)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        check(nearly.apply, x, atol=1e-3, rtol=1e-3)


def test_by_what_stacks_may_be_weighed(tmp_path):
    with pytest.raises(ValueError, match=r"^metric should be one of: \['self_cpu_time_total'\]$"):
        profiled(with_stack=True).export_stacks(str(tmp_path / "stacks"), "bytes")


def test_an_event_of_elsewhere_says_so():
    for remote in (False, True):
        event = minigrad.autograd.profiler_util.FunctionEvent(
            1, "name", 0, 0.0, 1.0, is_remote=remote)
        assert event.is_remote is remote
