"""Small names of PyTorch's that are loaded when a program asks for them, beside PyTorch."""

from __future__ import annotations

import importlib
import operator
import re
import subprocess
import sys
import typing
import warnings

import pytest

import minigrad
from minigrad._names import NAMES
from minigrad.compat.found import LATER, WITH
from minigrad.on_demand import rows
from tests.support.parity import outcome

#: Modules that load when a program first uses them, and names that load with a module.
MODULES = [*LATER, "accelerator", "compiler", "distributions", "functional", "futures", "jit"]
HOMES = {**WITH, **{name: module for name, module, original in rows(NAMES[""])
                    if module in ("compat.settings", "compiler", "ops.shape.storages")
                    and original != "."}}


def theirs():
    return pytest.importorskip("torch", reason="compares with PyTorch")


def test_they_are_not_loaded_before_a_program_asks():
    code = f"""
import sys, minigrad
later = {sorted(name for name in {*MODULES, *HOMES.values()} if name[:4] != "ops.")}
assert not [name for name in later if f"minigrad.{{name}}" in sys.modules]
assert not hasattr(minigrad.jit, "no_such_name")
import minigrad.futures, minigrad.nn.parallel
from minigrad.utils import swap_tensors, hooks
from minigrad.compiler import disable
print(minigrad.futures.__name__, minigrad.nn.parallel.DataParallel is minigrad.nn.DataParallel)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "minigrad.futures True\n", done.stderr


@pytest.mark.parametrize("path", [*MODULES, *HOMES])
def test_pytorch_has_them_too(path):
    torch = theirs()
    if path == "utils.tensorboard":
        pytest.importorskip("torch.utils.tensorboard", reason="PyTorch's needs tensorboard")
    importlib.import_module("torch.utils.benchmark")
    for root in (torch, minigrad):
        for part in path.split("."):
            root = getattr(root, part)
    if path in MODULES:
        assert importlib.import_module(f"minigrad.{path}") is root
        place = importlib.import_module(f"torch.{path}")
        assert [name for name in root.__all__ if not hasattr(place, name)] == []


SETTINGS = [
    "torch.get_float32_matmul_precision()", "torch.set_float32_matmul_precision('high')",
    "torch.set_float32_matmul_precision('nope')", "torch.get_float32_matmul_precision()",
    "torch.set_float32_matmul_precision('highest')",
    "torch.use_deterministic_algorithms(True, warn_only=True)",
    "torch.are_deterministic_algorithms_enabled()", "torch.get_deterministic_debug_mode()",
    "torch.is_deterministic_algorithms_warn_only_enabled()",
    "torch.set_deterministic_debug_mode('error')", "torch.get_deterministic_debug_mode()",
    "torch.is_deterministic_algorithms_warn_only_enabled()",
    "torch.set_deterministic_debug_mode('x')", "torch.set_deterministic_debug_mode(3)",
    "torch.use_deterministic_algorithms(False)", "torch.get_deterministic_debug_mode()",
    "torch.set_warn_always(True)", "torch.is_warn_always_enabled()", "torch.set_warn_always(False)",
    "torch.set_num_interop_threads(0)", "torch.set_default_tensor_type(torch.LongTensor)",
    "torch.set_default_tensor_type(3)", "torch.set_default_tensor_type('torch.DoubleTensor')",
    "torch.get_default_dtype()", "torch.set_default_tensor_type(torch.FloatTensor)",
    "torch.get_default_dtype()",
    "torch.backends.cuda.matmul.allow_tf32", "torch.backends.cuda.matmul.no_such",
]


def test_settings_are_kept_as_pytorch_keeps_them():
    torch = theirs()
    told = []
    for one in (minigrad, torch):
        told.append([outcome(one, line).replace("set_default_tensor_type() is dep", "")
                     for line in SETTINGS])
    for line, mine, other in zip(SETTINGS, *told, strict=True):
        if "default_tensor_type" in line:  # PyTorch warns that this function is deprecated
            other = other.partition("\nUserWarning: ")[0]
        if "no_such" in line:
            assert mine.partition(":")[0] == other.partition(":")[0] == "AttributeError"
        else:
            assert mine == other, line


def test_a_number_of_threads_for_operations_is_kept(monkeypatch):
    settings = importlib.import_module("minigrad.compat.settings")
    monkeypatch.setitem(settings._set, "interop", 0)
    assert minigrad.get_num_interop_threads() == minigrad.get_num_threads()
    minigrad.set_num_interop_threads(3)
    assert minigrad.get_num_interop_threads() == 3
    assert minigrad.set_flush_denormal(True) is False


# ------------------------------------------------------------------ compile and jit


def test_marks_for_the_compiler_change_nothing():
    marks = minigrad.compiler
    assert marks.disable(len)([1]) == 1 and marks.disable(recursive=False)(len)([1]) == 1
    assert marks.allow_in_graph(len) is len and marks.assume_constant_result(len) is len
    assert marks.nested_compile_region(len) is len and marks.nested_compile_region()(len) is len
    assert marks.substitute_in_graph(len)(abs) is abs
    with marks.set_stance("force_eager"):
        marks.reset(), marks.cudagraph_mark_step_begin()
    assert not (marks.is_compiling() or marks.is_dynamo_compiling() or marks.is_exporting())
    marks.config.some_switch = True
    with pytest.raises(NotImplementedError, match=r"torch.compiler.wrap_numpy is left out"):
        marks.wrap_numpy(len)


def test_marks_for_scripts_change_nothing():
    jit = minigrad.jit
    with pytest.warns(UserWarning, match="minigrad does not compile"):
        assert jit.script(len) is len
    for mark in (jit.script_if_tracing, jit.ignore, jit.unused, jit.export, jit.interface,
                 jit.script_method, jit.ignore(drop=True)):
        assert mark(len) is len
    with pytest.raises(RuntimeError, match="must be a bool or a function but got 3"):
        jit.ignore(3)
    assert not jit.is_scripting() and not jit.is_tracing() and jit.annotate(int, "a") == "a"
    assert jit.wait(jit.fork(max, 1, 2)) == 2 and jit.Final is typing.Final
    assert not isinstance(len, jit.ScriptModule)
    with pytest.raises(NotImplementedError, match=r"torch.jit.trace is left out"):
        jit.trace(len, (1,))


KINDS = [
    "[], list[int]", "[1], list[int]", "[1.0], list[int]", "[[1]], list[list[int]]",
    "[['a']], list[list[int]]", "{'a': 1}, dict[str, int]", "{'a': 1}, dict[str, str]",
    "{}, dict[str, str]", "(1, 'a'), tuple[int, str]", "(1,), tuple[int, str]", "(), tuple[int]",
    "None, typing.Optional[int]", "1, typing.Optional[int]", "'a', typing.Optional[int]",
    "1, int | str", "1.5, int | str", "1, (list[int], int)", "[1], (list[str], list[int])",
    "1, int", "1, list", "1, typing.List", "1, typing.Dict", "1, 3", "(1,), list[int]",
    "[1], typing.List[int]",
]


@pytest.mark.parametrize("arguments", KINDS)
def test_isinstance_looks_into_containers(arguments):
    line = f"torch.jit.isinstance({arguments})"
    assert outcome(minigrad, line, typing=typing) == outcome(theirs(), line, typing=typing)


# ------------------------------------------------------------------ futures


FUTURES = {
    "value": "f.set_result(1) or (f.value(), f.wait(), f.done())",
    "not done": "f.done()",
    "twice": "f.set_result(1) or f.set_result(2)",
    "no exception": "f.set_exception(3)",
    "error": "f.set_exception(ValueError('x')) or f.wait()",
    "then, later": "[f.then(lambda d: d.value() + 1), f.set_result(1)][0].wait()",
    "then, done": "f.set_result(1) or f.then(lambda d: d.value() + 1).wait()",
    "then, twice": "f.set_result(1) or f.then(lambda d: 2).then(lambda d: d.value() + 1).wait()",
    "callbacks": "[f.add_done_callback(lambda d: seen.append(d.value())), f.set_result(1), seen]",
    "all": "[torch.futures.collect_all([f, g]), f.set_result(1), g.set_result(2)][0].wait()[1]"
           ".value()",
    "none": "torch.futures.collect_all([]).wait()",
    "wait all": "[f.set_result(1), g.set_result(2), torch.futures.wait_all([f, g])][2]",
}


@pytest.mark.parametrize("line", FUTURES.values(), ids=FUTURES)
def test_futures_do_what_those_of_pytorch_do(line):
    torch = theirs()
    told = [outcome(one, line, f=one.futures.Future(), g=one.futures.Future(), seen=[])
            for one in (minigrad, torch)]
    assert told[0] == told[1]


def test_a_callback_that_raises_is_told_where_one_waits():
    future = minigrad.futures.Future()
    following = future.then(lambda done: 1 / 0)
    future.set_result(1)
    with pytest.raises(RuntimeError, match="when running the callback: ZeroDivisionError"):
        following.wait()
    with pytest.raises(RuntimeError, match="has not been completed"):
        minigrad.futures.Future().value()


# ------------------------------------------------------------------ devices and modules


ACCELERATOR = ["is_available()", "device_count()", "current_accelerator()",
               "current_device_index()", "current_device_idx()", "synchronize()",
               "current_stream()", "set_device_index(0)", "device_index(0).__enter__()"]


@pytest.mark.parametrize("call", ACCELERATOR)
def test_an_accelerator_is_a_gpu_or_none(call):
    torch = theirs()
    if minigrad.cuda.is_available() or torch.accelerator.is_available():
        pytest.skip("needs a machine without a CUDA device")
    line = f"torch.accelerator.{call}"
    mine, other = (outcome(one, line).partition("\nFutureWarning")[0] for one in (minigrad, torch))
    if "device_index(0)" not in call:
        assert mine == other
    else:
        assert mine.partition(":")[0] == "RuntimeError"


def test_data_parallel_calls_its_module_and_keeps_its_names():
    seen = []
    for one in (minigrad, theirs()):
        one.manual_seed(0)
        net = one.nn.DataParallel(one.nn.Linear(2, 1))
        y = net(one.ones(3, 2))
        y.sum().backward()
        seen.append((list(net.state_dict()), net.device_ids, y.tolist(), repr(net),
                     net.module.weight.grad.tolist(),
                     outcome(one, "torch.nn.parallel.data_parallel(net, None)", net=net)))
    assert seen[0] == seen[1]


# ------------------------------------------------------------------ utilities


def test_swapped_tensors_keep_their_names_and_exchange_the_rest():
    for torch in (minigrad, theirs()):
        x, y = torch.ones(2), torch.nn.Parameter(torch.zeros(3))
        y.grad, y.mark = torch.ones(3), "mine"
        first = x
        torch.utils.swap_tensors(x, y)
        assert first is x and type(x) is torch.nn.Parameter and x.mark == "mine"
        assert x.tolist() == [0, 0, 0] and x.grad.tolist() == [1, 1, 1] and x.requires_grad
        assert type(y) is torch.Tensor and y.tolist() == [1, 1] and not y.requires_grad
        (x * 2).sum().backward()
        assert x.grad.tolist() == [3, 3, 3]


@pytest.mark.parametrize("used", ["x * 2", "x.view(1, 2)", "[(x * 2), x.data]", "ref(x)"])
def test_tensors_that_others_point_at_are_not_swapped_in_silence(used):
    from weakref import ref

    for torch in (minigrad, theirs()):
        x, y = torch.ones(2, requires_grad=True), torch.zeros(2)
        kept = eval(used, {"x": x, "ref": ref})
        if "view" in used or "ref" in used:
            with pytest.raises(RuntimeError, match="Cannot swap t1|Expected use_count of t1"):
                torch.utils.swap_tensors(x, y)
            continue
        torch.utils.swap_tensors(x, y)
        result = kept[0] if isinstance(kept, list) else kept
        with pytest.raises(RuntimeError, match="poisoned by swap_tensors"):
            result.sum().backward()


def test_hooks_have_marks_and_handles():
    hooks = minigrad.utils.hooks
    x = minigrad.ones(1, requires_grad=True)
    handle = x.register_hook(lambda g: g)
    assert isinstance(handle, hooks.RemovableHandle)
    with pytest.warns(UserWarning, match="will not be serialized"):
        hooks.warn_if_has_hooks(x)
    handle.remove()
    x.register_hook(hooks.unserializable_hook(lambda g: g))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hooks.warn_if_has_hooks(x)


def test_capsules_of_dlpack_go_both_ways():
    dlpack, x = minigrad.utils.dlpack, minigrad.arange(3)
    y = dlpack.from_dlpack(dlpack.to_dlpack(x))
    y[0] = 7
    assert x.tolist() == [7, 1, 2] and y.dtype is x.dtype
    torch = theirs()
    assert dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(torch.ones(2))).tolist() == [1, 1]
    assert torch.utils.dlpack.from_dlpack(dlpack.to_dlpack(x)).tolist() == [7, 1, 2]


# ------------------------------------------------------------------ benchmark


def test_measurements_are_told_as_pytorch_tells_them():
    ours = minigrad.utils.benchmark
    theirs()
    other = importlib.import_module("torch.utils.benchmark")
    told = []
    for bench in (ours, other):
        specs = [bench.TaskSpec("x + x", "pass", label="add", sub_label=f"size {n}",
                                description=name) for name in ("here", "there") for n in (1, 20)]
        raw = [[2e-3, 3e-3, 4e-3, 6e-3], [1.0], [5e-2, 6e-2], [2e-2] * 5]
        all_of = [bench.Measurement(10, *both) for both in zip(raw, specs, strict=True)]
        merged = bench.Measurement.merge([*all_of, all_of[0]])
        numbers = [n for m in all_of for n in (*m.times, m.median, m.mean, m.iqr)]
        numbers += [n for m in merged for n in (m.number_per_run, *sorted(m.raw_times))]
        told.append((numbers, [(m.title, m.as_row_name, m.meets_confidence(), m.has_warnings,
                                m.meets_confidence(2.0), repr(m).partition("\n")[2])
                               for m in all_of]))
    assert told[0][0] == pytest.approx(told[1][0])
    assert told[0][1] == told[1][1]


def test_a_timer_measures_what_it_is_told_to():
    bench, seen, blocks = minigrad.utils.benchmark, [], []
    timer = bench.Timer("seen.append(1)", setup="x = 1", globals={"seen": seen},
                        timer=lambda: float(len(seen)), label="count")  # a second for each run
    measured = timer.timeit(50)
    assert len(seen) == 52 and measured.number_per_run == 50 and measured.raw_times == [50.0]
    measured = timer.blocked_autorange(lambda *block: blocks.append(block), min_run_time=3.0)
    assert measured.raw_times == [1.0] * 3 and blocks == [(1, 1.0)] * 3
    assert timer.adaptive_autorange(max_run_time=20.0).raw_times == [1.0] * 4
    with pytest.raises(NotImplementedError, match="cannot compile C"):
        bench.Timer("x", language="cpp")
    with pytest.raises(ValueError, match="only a `str` stmt"):
        bench.Timer(len)


def test_a_table_has_a_row_for_each_label_and_a_column_for_each_description():
    bench = minigrad.utils.benchmark
    table = bench.Compare([bench.Measurement(1, [0.001234], bench.TaskSpec(
        "f()", "pass", label="f", sub_label="one", description="here"))])
    table.extend_results([bench.Measurement(1, [0.5], bench.TaskSpec(
        "f()", "pass", label="f", sub_label="two", description="there", num_threads=2))])
    table.trim_significant_figures(), table.colorize(), table.highlight_warnings()
    lines = str(table).splitlines()
    assert lines[0].startswith("[") and " f " in lines[0]
    assert lines[1].split() == ["here", "there"]
    assert lines[3].split() == ["one", "1.2"] and lines[5].split() == ["two", "500"]
    assert lines[-1] == "Times are in milliseconds (ms)."
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`"):
        table.extend_results([1])


@pytest.mark.parametrize(("written", "meant"), [
    ("tensro", "tensor"), ("nn.Lienar", "Linear"), ("optim.Adaam", "Adam"), ("lnspace", "linspace"),
    ("requires_gradient", None), ("nn.functional.sofmtax", "softmax")])
def test_python_proposes_the_name_that_was_meant(written, meant, capsys):
    with pytest.raises(AttributeError) as caught:
        operator.attrgetter(written)(minigrad)
    error = caught.value
    assert "Did you mean" not in str(error)  # the text is PyTorch's
    sys.__excepthook__(type(error), error, None)
    proposed = re.search(r"Did you mean: '(\w+)'", capsys.readouterr().err)
    assert (proposed and proposed[1]) == meant
