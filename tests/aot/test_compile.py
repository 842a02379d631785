"""`torch.compile`: guards, refusals, and everything else that a function can do."""

from __future__ import annotations

import copy
import enum
import warnings
from collections import namedtuple

import numpy as np
import pytest

import minigrad as torch
from minigrad.aot.compiled import LIMIT, CompiledFunction, forget_all
from minigrad.aot.node import Again
from minigrad.aot.partition import at_level, partition
from minigrad.aot.trace.record import record
from minigrad.nn import functional as F


@pytest.fixture(autouse=True)
def nothing_said_before():
    forget_all()


def compiled(function, **options):
    return torch.compile(function, fullgraph=True, **options)


def net():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))


# ------------------------------------------------------------------ arguments


def test_a_program_prints_as_a_python_function():
    program = record(lambda x: (x * 2).sum(), (torch.ones(3),)).program
    assert str(program).splitlines() == [
        "def program(x):", "    mul = F.mul(x, 2.0)", "    sum = F.sum(mul, None)",
        "    return (sum,)"]


def test_compile_is_a_function_and_a_decorator():
    @torch.compile
    def double(x):
        return 2 * x

    @torch.compile(fullgraph=True, mode="reduce-overhead", dynamic=False)
    def triple(x):
        return 3 * x

    assert double(torch.ones(2)).tolist() == [2, 2] and double.__name__ == "double"
    assert triple(torch.ones(2)).tolist() == [3, 3]


def test_models_run_eagerly_with_disable_or_a_backend_that_does_not_compile():
    for options in ({"disable": True}, {"backend": "eager"}, {"backend": "eager_debug"}):
        assert torch.compile(torch.exp, **options) is torch.exp
    for backend in ("inductor", "minigrad"):
        assert isinstance(torch.compile(torch.exp, backend=backend), CompiledFunction)


@pytest.mark.parametrize(("options", "error", "match"), [
    ({"backend": "tvm"}, RuntimeError, "Invalid backend: 'tvm'; minigrad has 'inductor'"),
    ({"mode": "fast"}, RuntimeError, "Unrecognized mode=fast, should be one of: default, lite"),
    ({"mode": "default", "options": {}}, RuntimeError, "Either mode or options can be specified"),
])
def test_wrong_options_are_named(options, error, match):
    with pytest.raises(error, match=match):
        torch.compile(torch.exp, **options)


def test_only_callables_can_be_compiled():
    with pytest.raises(TypeError, match="a callable function is expected, but int is provided"):
        torch.compile(3)


# ------------------------------------------------------------------ guards


@pytest.mark.parametrize("another", [
    (torch.ones(2, 3),), (torch.ones(3, 2, dtype=torch.float64),), (torch.ones(2, 3).t(),),
    (torch.ones(3, 2).requires_grad_(),), (torch.ones(3, 2), 3.0), (torch.ones(3, 2), True),
], ids=["shape", "dtype", "strides", "requires_grad", "number", "bool"])
def test_another_signature_is_recorded_again(another):
    function = compiled(lambda x, k=2.0: x * k)
    x = torch.ones(3, 2)
    assert function(x).equal(x * 2) and function(x + 1).equal(x * 4) and function.count == 1
    wanted = another[0] * (another[1] if len(another) > 1 else 2.0)
    assert function(*another).equal(wanted) and function.count == 2
    assert function(x).equal(x * 2) and function.count == 2


def test_modes_are_part_of_the_signature():
    function = compiled(lambda x: x * 2)
    x = torch.ones(2, requires_grad=True)
    assert function(x).requires_grad
    with torch.no_grad():
        assert not function(x).requires_grad
    assert function.count == 2


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))
        self.scale, self.options = 2.0, {"shift": [1.0]}

    def forward(self, x):
        return x * self.weight * self.scale + self.options["shift"][0] + (not self.training)


def scale(module): module.scale = 3.0
def shift(module): module.options["shift"][0] = 5.0
def evaluation(module): module.eval()
def another_parameter(module): module.weight = torch.nn.Parameter(torch.full((2,), 7.0))
def another_dtype(module): module.double()
def frozen(module): module.weight.requires_grad_(False)
def hook(module): module.register_forward_hook(lambda m, args, out: out * 10)
def method(module): module.forward = lambda x: x * 100


@pytest.mark.parametrize("change", [scale, shift, evaluation, another_parameter, another_dtype,
                                    frozen, hook, method], ids=lambda f: f.__name__)
def test_changes_of_a_module_are_seen(change):
    module = Scaled()
    function, x = torch.compile(module, fullgraph=True), torch.ones(2)
    assert function(x).equal(module(x))
    change(module)
    result = function(x)
    assert result.equal(module(x)) and result.requires_grad == module(x).requires_grad


def test_attributes_that_appear_and_disappear_are_seen():
    class Options:
        pass

    one, other = Options(), Options()
    one.shift = 1.0
    fast = compiled(lambda x: x + getattr(one, "shift", 0) + getattr(other, "shift", 0))
    assert fast(torch.zeros(2)).tolist() == [1, 1] and fast(torch.ones(2)).tolist() == [2, 2]
    other.shift = 2.0  # in a dict that was empty
    assert fast(torch.zeros(2)).tolist() == [3, 3]
    del one.shift, other.shift
    assert fast(torch.zeros(2)).tolist() == [0, 0] and fast.count == 3


def test_values_of_parameters_are_read_at_each_call():
    module = Scaled()
    function = compiled(module)
    x = torch.ones(2)
    function(x)
    with torch.no_grad():
        module.weight.mul_(5)
    module.weight.data = torch.full((2,), 4.0)
    assert function(x).equal(module(x)) and function._compiled.count == 1


FACTOR, TABLE = 2.0, torch.ones(2)


def test_changes_of_globals_and_of_enclosing_variables_are_seen(monkeypatch):
    factor, table = 3.0, torch.ones(2)

    def inner(x):
        return x * FACTOR * TABLE

    def function(x):
        return inner(x) * factor + table

    fast, x = compiled(function), torch.ones(2)
    assert fast(x).tolist() == [7, 7]
    factor = 4.0
    assert fast(x).tolist() == [9, 9]
    table = torch.full((2,), 10.0)
    assert fast(x).tolist() == [18, 18]
    monkeypatch.setitem(globals(), "FACTOR", 1.0)
    assert fast(x).tolist() == [14, 14]
    monkeypatch.setitem(globals(), "TABLE", torch.zeros(2))
    assert fast(x).tolist() == [10, 10]
    table.add_(1)
    assert fast(x).tolist() == [11, 11]


def test_arrays_that_a_function_can_reach_are_compared():
    table = np.ones(2, np.float32)
    fast = compiled(lambda x: x * torch.from_numpy(table))
    assert fast(torch.ones(2)).tolist() == [1, 1]
    table[0] = 5
    assert fast(torch.ones(2)).tolist() == [5, 1]


def test_the_same_tensor_twice_is_another_signature():
    def function(x, y):
        x.add_(1)
        return x * y

    fast = compiled(function)
    assert fast(torch.ones(2), torch.ones(2)).tolist() == [2, 2]
    x = torch.ones(2)
    assert fast(x, x).tolist() == [4, 4]


def test_a_function_with_too_many_signatures_runs_eagerly():
    function = compiled(lambda x: x * 2)
    with pytest.warns(UserWarning, match=f"was recorded {LIMIT} times.*it runs eagerly"):
        for size in range(1, 20):
            assert function(torch.ones(size)).tolist() == [2] * size
    assert function.count == LIMIT


# ------------------------------------------------------------------ what cannot be recorded


def branch(x):
    return x if x.sum() > 0 else -x


def reads(x):
    return x * x.max().item()


def as_array(x):
    return torch.from_numpy(np.asarray(x.detach()) * 2)


def sized(x):
    return x[x > 0].sum()


def leaves_grad(x):
    y = (x * 1).detach().requires_grad_()
    (y * y).sum().backward()
    return y.grad


def excluded(x):
    return torch.compiler.disable(torch.exp)(x)


def in_an_object(x):
    return [x, object()]


@pytest.mark.parametrize(("function", "reason"), [
    (branch, "a branch depends on a value"), (reads, "a value is read"),
    (as_array, "values are read as a NumPy array"),
    (sized, "the size of a result depends on values"),
    (excluded, "exp is excluded by torch.compiler.disable"),
    (in_an_object, "the result contains an object of type object"),
], ids=lambda f: getattr(f, "__name__", ""))
def test_what_cannot_be_recorded_is_named_with_its_line(function, reason):
    x = torch.tensor([1.0, -3.0])
    with pytest.raises(RuntimeError, match=reason) as caught:
        compiled(function)(x)
    assert "test_compile.py:" in str(caught.value)
    with pytest.warns(UserWarning, match="so this call runs eagerly"):
        fast = torch.compile(function)
        result = fast(x)
    if isinstance(result, torch.Tensor):
        assert result.equal(function(x))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fast(x)  # warned once


def test_errors_of_the_function_are_its_own():
    with pytest.raises(RuntimeError, match="size of tensor a"):
        compiled(lambda x: x + torch.ones(3))(torch.ones(2))
    parameter = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        compiled(lambda: parameter.add_(1))()
    assert parameter.tolist() == [1, 1] and parameter.is_leaf


def test_a_failed_recording_changes_nothing():
    buffer, counter = torch.zeros(2), []

    def function(x):
        buffer.add_(1)
        counter.append(1)
        torch.rand(1)
        return buffer * x.sum().item()

    torch.manual_seed(0)
    with pytest.raises(RuntimeError, match="item"):
        compiled(function)(torch.ones(2))
    assert buffer.tolist() == [0, 0] and buffer._version == 0
    drawn = torch.rand(1)
    torch.manual_seed(0)
    assert drawn.equal(torch.rand(1))


# ------------------------------------------------------------------ an ordinary function


def trained(function, model, steps=4):
    optimizer = torch.optim.Adam(model.parameters(), 0.05)
    torch.manual_seed(3)
    losses = []
    for _ in range(steps):
        x, y = torch.randn(6, 4), torch.randn(6, 2)
        optimizer.zero_grad()
        loss = F.mse_loss(function(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_compiled_network_trains_as_the_network_does():
    one, other = net(), net()
    assert trained(torch.compile(one, fullgraph=True), one) == trained(other, other)
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        assert a.equal(b)


def test_an_optimized_module_has_the_module_inside():
    model = net()
    fast = torch.compile(model)
    assert fast._orig_mod is model and isinstance(fast, torch.nn.Module)
    assert list(fast.state_dict()) == [f"_orig_mod.{key}" for key in model.state_dict()]
    assert all(a is b for a, b in zip(fast.parameters(), model.parameters(), strict=True))
    fast.eval()
    assert not model.training and fast.training is False
    other = torch.compile(net())
    other.load_state_dict(fast.state_dict())
    assert other(torch.ones(1, 4)).equal(fast(torch.ones(1, 4)))


def test_module_compile_works_in_place():
    model = net()
    x = torch.ones(2, 4)
    wanted = model(x)
    assert model.compile(fullgraph=True) is None
    assert model(x).equal(wanted) and model(x).grad_fn.name() == "CompiledFunctionBackward"
    other = copy.deepcopy(model)
    with torch.no_grad():
        other[0].weight.zero_()
    assert model(x).equal(wanted) and not other(x).equal(wanted)


def test_batch_norm_and_dropout_keep_their_state_and_their_numbers():
    def model():
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.BatchNorm1d(5),
                                   torch.nn.Dropout(0.4), torch.nn.Linear(5, 2))

    one, other = model(), model()
    assert trained(torch.compile(one, fullgraph=True), one) == trained(other, other)
    for (key, a), (_, b) in zip(one.state_dict().items(), other.state_dict().items(), strict=True):
        assert a.equal(b), key


def test_hooks_run_on_inputs_and_results():
    fast, seen = compiled(lambda x: x * x), []
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: seen.append(g.tolist()))
    y = fast(x)
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    assert x.grad.tolist() == [20, 40] and seen == [[20, 40]]


def test_the_graph_is_freed_and_can_be_retained():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = compiled(lambda x: (x * x).sum())(x)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4, 8]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


@pytest.mark.parametrize("which", ["input", "result"])
def test_a_write_to_a_saved_tensor_is_an_error(which):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a = x * 1
    y = compiled(lambda a: a * a if which == "input" else a.exp())(a)
    (a if which == "input" else y).mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_results_without_a_gradient_run_again_for_the_others():
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    fast = compiled(lambda x: (x * 2, x.sqrt() + torch.rand(2), x + 1))
    doubled, _, _ = fast(x)
    doubled.sum().backward()
    assert x.grad.tolist() == [2, 2]  # not nan, which 0 times the infinite slope of sqrt is


def test_second_derivatives_run_eagerly():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    fast = compiled(lambda x: (x**3).sum())
    with pytest.warns(UserWarning, match="a second derivative runs the function again"):
        (g,) = torch.autograd.grad(fast(x), x, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), x)
    assert gg.tolist() == [6, 12]


def test_gradcheck_accepts_a_compiled_function():
    x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    w = torch.rand(3, dtype=torch.float64, requires_grad=True)
    fast = compiled(lambda x: (x * w).sin().cumsum(0))
    assert torch.autograd.gradcheck(fast, (x,))


def test_transforms_and_modes_around_a_compiled_function():
    fast, x = compiled(lambda x: (x * x).sin()), torch.arange(6.0).reshape(3, 2)
    assert torch.func.vmap(fast)(x).equal((x * x).sin())
    assert torch.func.grad(lambda x: fast(x).sum())(x).equal(2 * x * (x * x).cos())
    _, tangent = torch.func.jvp(fast, (x,), (torch.ones(3, 2),))
    assert torch.allclose(tangent, 2 * x * (x * x).cos())
    x.requires_grad_()
    with torch.autograd.set_detect_anomaly(True):
        fast(x).sum().backward()
    assert torch.allclose(x.grad, 2 * x * (x * x).cos())
    with torch.autograd.profiler.profile() as profile:
        fast(x).sum().backward()
    assert any("Compiled" in event.name for event in profile.function_events)
    with torch.inference_mode():
        assert fast(x).is_inference()


def test_writes_reach_the_arguments_and_their_history():
    def function(x, y):
        x.mul_(y)
        return x.sum()

    x, y = torch.ones(2), torch.tensor([2.0, 3.0], requires_grad=True)
    compiled(function)(x, y).backward(retain_graph=True)
    assert x.tolist() == [2, 3] and x.requires_grad and y.grad.tolist() == [1, 1]
    x.sum().backward()
    assert y.grad.tolist() == [2, 2]


def test_views_of_arguments_are_views():
    fast = compiled(lambda x: (x.t()[1], x))
    x = torch.zeros(2, 3)
    view, same = fast(x)
    view.add_(1)
    assert same is x and x[:, 1].tolist() == [1, 1] and view._base is x


def test_random_numbers_are_drawn_in_the_order_of_eager_mode():
    def function(x):
        dead = torch.rand(3)
        return F.dropout(x) + torch.randn_like(x), dead.shape[0]

    fast, x = compiled(function), torch.ones(5)
    for _ in range(2):
        torch.manual_seed(1)
        wanted = [function(x)[0], torch.rand(1)]
        torch.manual_seed(1)
        got = [fast(x)[0], torch.rand(1)]
        assert all(a.equal(b) for a, b in zip(wanted, got, strict=True))


def test_stances_decide_how_functions_run():
    function = compiled(lambda x: x * 2)
    with torch.compiler.set_stance("force_eager"):
        function(torch.ones(2))
    assert not function.count
    function(torch.ones(2))
    with torch.compiler.set_stance("eager_on_recompile"):
        assert function(torch.ones(3)).tolist() == [2, 2, 2]
    with torch.compiler.set_stance("fail_on_recompile"), pytest.raises(
            RuntimeError, match="Detected recompile"):
        function(torch.ones(3))
    assert function.count == 1
    torch.compiler.reset()
    assert function.count == 0 and function(torch.ones(2)).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="invalid torch.compile stance 'fast'"):
        torch.compiler.set_stance("fast")

    @torch.compiler.set_stance("force_eager")
    def eagerly():
        return function(torch.ones(4))

    assert eagerly().tolist() == [2] * 4 and function.count == 1


def test_compiled_functions_inside_a_recording_are_inlined():
    inner = compiled(lambda x: x * 2)
    outer = compiled(lambda x: inner(x) + 1)
    assert outer(torch.ones(2)).tolist() == [3, 3] and not inner.programs


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x


def custom(x): return Cube.apply(x).sin()
def checkpointed(x): return torch.utils.checkpoint.checkpoint(custom, x, use_reentrant=False)
def gradient_inside(x):
    y = x.detach().requires_grad_()
    (g,) = torch.autograd.grad((y**3).sum(), y, create_graph=True)
    return g * x


@pytest.mark.parametrize("function", [custom, checkpointed, gradient_inside],
                         ids=lambda f: f.__name__)
def test_functions_that_differentiate_by_themselves_can_be_recorded(function):
    x = torch.tensor([0.5, -1.0], requires_grad=True)
    fast = compiled(function)
    for _ in range(2):
        wanted, got = function(x), fast(x)
        assert wanted.equal(got)
        assert torch.autograd.grad(wanted.sum(), x)[0].equal(torch.autograd.grad(got.sum(), x)[0])


def test_an_iterator_is_not_recorded():
    batches = iter([torch.ones(2), torch.zeros(2), torch.ones(2)])

    def function(x):
        return x * next(batches)

    with pytest.raises(RuntimeError, match="an iterator"):
        compiled(function)(torch.ones(2))
    with pytest.warns(UserWarning, match="an iterator"):
        fast = torch.compile(function)
        assert fast(torch.ones(2)).tolist() == [1, 1]
    assert fast(torch.ones(2)).tolist() == [0, 0]


def test_arguments_that_are_objects_are_compared():
    class Options:
        factor = 2.0

    options, more = Options(), np.ones(2, np.float32)
    fast = compiled(lambda x, o, m, names: x * o.factor * torch.from_numpy(m) + names["shift"])
    x, names = torch.ones(2), {"shift": 1.0}
    assert fast(x, options, more, names).tolist() == [3, 3]
    options.factor = 3.0
    assert fast(x, options, more, names).tolist() == [4, 4]
    more[1] = 0
    assert fast(x, options, more, names).tolist() == [4, 1]
    names["shift"] = 0.0
    assert fast(x, options, more, names).tolist() == [3, 0]


@pytest.mark.parametrize("budget", [1.0, 0.5, 0.0])
def test_a_transformer_trains_the_same_with_any_budget(budget):
    def model():
        torch.manual_seed(0)
        return torch.nn.TransformerEncoderLayer(8, 2, 16, 0.1, "gelu", batch_first=True)

    def losses(function, parameters):
        torch.manual_seed(1)
        optimizer = torch.optim.AdamW(parameters, 0.01)
        found = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = function(torch.randn(2, 5, 8)).square().mean()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    one, other = model(), model()
    fast = torch.compile(one, fullgraph=True, options={"activation_memory_budget": budget})
    assert losses(fast, one.parameters()) == losses(other, other.parameters())


@pytest.mark.parametrize(("options", "match"), [
    ({"fast": True}, "Unexpected optimization option fast"),
    ({"activation_memory_budget": 2}, "must be a number from 0 to 1, but got 2"),
    ({"activation_memory_budget": True}, "must be a number from 0 to 1, but got True"),
])
def test_unknown_options_are_named(options, match):
    with pytest.raises(RuntimeError, match=match):
        torch.compile(torch.exp, options=options)


def test_less_is_saved_with_a_smaller_budget():
    recorded = record(lambda x: F.gelu(F.gelu(x @ x.t()).exp()).sum(),
                      (torch.rand(9, 9, requires_grad=True),))
    saved = [partition(recorded, budget) for budget in (1.0, 0.5, 0.0)]
    sizes = [each.saved_bytes for each in saved]
    assert sizes == sorted({*sizes}, reverse=True)
    assert sizes[-1] == 0  # even the product is computed again
    assert len(saved[0].backward) < len(saved[1].backward) < len(saved[2].backward)


def test_products_with_a_short_inner_dimension_are_computed_again_first():
    def function(x):
        return ((x @ short).exp() + (x @ narrow @ long).exp()).sum()

    short, narrow, long = (torch.rand(*s, requires_grad=True) for s in ((4, 64), (4, 32), (32, 64)))
    recorded = record(function, (torch.rand(9, 4),))
    products = [step for step in recorded.forward if step.op == "Mm"]  # short, narrow, long

    def again(budget):
        backward = partition(recorded, budget).backward
        return [i for i, step in enumerate(products) if any(step is each for each in backward)]

    assert [again(budget) for budget in (1.0, 0.9, 0.7, 0.3)] == [[], [1], [0, 1], [0, 1, 2]]


@pytest.mark.parametrize("free", [True, False])
def test_inputs_that_no_eager_pass_saves_may_change_before_the_backward_pass(free):
    bias = torch.rand(3, requires_grad=True)

    def function(x):
        return torch.exp(x + bias if free else x * bias)

    gradients = []
    for each in (function, compiled(function, options={"activation_memory_budget": 0})):
        x = torch.arange(3.0).requires_grad_()
        result = each(x)
        with torch.no_grad():
            saved = bias.clone()
            bias.add_(1)
        if free:
            result.sum().backward()
            gradients.append(x.grad.tolist())
        else:
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                result.sum().backward()
        bias.data.copy_(saved)
    assert not free or gradients[0] == gradients[1]


def test_the_cheapest_cut_is_cheaper_than_both_ends():
    def function(x):
        small = x.sum(1, keepdim=True)  # saving this is cheapest: all else follows from it
        wide = (small * torch.ones(6)).exp()
        return (wide * wide.sin()).sum()

    recorded = record(function, (torch.rand(5, 40, requires_grad=True),))
    assert at_level(recorded, 0).saved_bytes > at_level(recorded, 2).saved_bytes
    assert [v.name for v in at_level(recorded, 2).saved] == ["sum"]


@pytest.mark.parametrize(("one", "other"), [
    ({1: 2.0}, {True: 2.0}), ({0.0: 2.0}, {-0.0: 2.0}), (np.float32(0.0), np.float32(-0.0)),
    (complex(0.0, 0.0), complex(0.0, -0.0))], ids=repr)
def test_arguments_that_python_finds_equal_are_different(one, other):
    fast, x = compiled(lambda x, value: (x * 2, repr(value))), torch.ones(2)
    assert [fast(x, each)[1] for each in (one, other, one)] == [repr(one), repr(other), repr(one)]
    assert fast.count == 2


class Tag(str):
    """A str with an attribute."""


class Level(int, enum.Enum):
    """Ints with names."""

    LOW = 1
    HIGH = 2


@pytest.mark.parametrize("kind", [str, int, float, bytes, complex])
def test_an_instance_of_a_subclass_may_have_attributes(kind):
    one, other = [type("Marked", (kind,), {})() for _ in range(2)]
    again = type(one)()
    one.factor, other.factor, again.factor = 1, 2, 3
    fast, x = compiled(lambda x, value: x * value.factor), torch.ones(2)
    assert [fast(x, each).tolist() for each in (one, other, again, one)] == [
        [1.0] * 2, [2.0] * 2, [3.0] * 2, [1.0] * 2]
    one.factor = 5
    assert fast(x, one).tolist() == [5.0] * 2


def test_a_subclass_of_str_is_another_argument():
    fast, x = compiled(lambda x, value: x * (1 if type(value) is str else 2)), torch.ones(2)
    assert [fast(x, each)[0].item() for each in ("a", Tag("a"), "a")] == [1.0, 2.0, 1.0]
    same = [type(name, (str,), {"__slots__": (), "factor": factor})("a")
            for name, factor in (("Same", 1), ("Same", 2))]
    fast = compiled(lambda x, value: x * value.factor)
    assert [fast(x, each)[0].item() for each in same] == [1.0, 2.0]


def test_two_types_of_one_name_are_different_arguments():
    one, other = (namedtuple("Sides", names)(2.0, 3.0) for names in ("width height",
                                                                     "height width"))
    fast, x = compiled(lambda x, sides: x * sides.width), torch.ones(2)
    assert [fast(x, each)[0].item() for each in (one, other, one)] == [2.0, 3.0, 2.0]
    assert fast.count == 2


def test_a_member_of_an_enum_is_the_same_argument_in_each_call():
    fast, x = compiled(lambda x, level: x * level.value), torch.ones(2)
    found = [fast(x, level)[0].item() for level in (Level.LOW, Level.HIGH, Level.LOW, Level(2))]
    assert found == [1.0, 2.0, 1.0, 2.0] and fast.count == 2


def test_nan_is_the_same_argument_in_each_call():
    fast, x = compiled(lambda x, value: x * value), torch.ones(2)
    for make in (float, np.float32, np.float64):
        count = fast.count
        for _ in range(3):
            assert fast(x, make("nan")).isnan().all()
        assert fast.count == count + 1


def test_a_write_reaches_other_arguments_in_the_same_memory():
    def function(x, y):
        x.mul_(2)
        return y + 1

    fast = torch.compile(function)
    apart = torch.ones(4), torch.ones(2)
    assert fast(*apart).tolist() == [2, 2] and apart[0].tolist() == [2, 2, 2, 2]
    whole = torch.ones(4)
    assert fast(whole, whole[:2]).tolist() == [3, 3] and whole.tolist() == [2, 2, 2, 2]
    fast = torch.compile(function)  # the same in the recorded call
    whole = torch.ones(4)
    assert fast(whole, whole[2:]).tolist() == [3, 3]
    assert fast(torch.ones(4), torch.zeros(2)).tolist() == [1, 1]
    buffer = torch.ones(4)

    def captured(x):
        buffer.add_(x)
        return buffer.sum()

    fast = torch.compile(captured)
    assert fast(torch.ones(4)).item() == 8 and fast(buffer).item() == 16


def test_devices_dtypes_and_distributions_may_be_arguments():
    def function(x, place, kind, noise):
        return x.to(kind).to(device=place) * noise.scale, kind, place

    fast, x = compiled(function), torch.ones(2)
    noise = torch.distributions.Normal(torch.zeros(2), torch.ones(2))
    for _ in range(3):
        result, kind, place = fast(x, torch.device("cpu"), torch.float64, noise)
        assert result.dtype is kind is torch.float64 and place == torch.device("cpu")
    assert fast.count == 1
    noise.scale = torch.full((2,), 3.0)
    assert fast(x, torch.device("cpu"), torch.float64, noise)[0].tolist() == [3, 3]
    assert fast(x, torch.device("cpu"), torch.float32, noise)[0].dtype is torch.float32


def test_a_loss_beside_other_results_gets_a_program_of_its_own(monkeypatch):
    model, x, again = torch.nn.Linear(3, 2), torch.randn(4, 3), []
    gradients = Again.gradients
    monkeypatch.setattr(Again, "gradients", lambda self, *given: (
        again.append(use), gradients(self, *given))[1])

    def function(x):
        rows = model(x)
        return rows, rows.square().mean(), rows.exp()

    fast = compiled(function)
    for use in (1, 1, 1, 0, 2, 1):
        found = []
        for each in (function, fast):
            each(x)[use].sum().backward()
            found.append([p.grad.tolist() for p in model.parameters()])
            model.zero_grad()
        assert found[0] == found[1]
    assert again == [1, 0, 2]  # the first time, and for the gradients of other results
    assert fast.count == 1


@pytest.mark.parametrize("change", ["write", "data", "value"])
def test_what_a_second_derivative_reads_again_may_not_change(change):
    bias, scale = torch.rand(3), [2.0]
    x = torch.rand(3, requires_grad=True)
    y = compiled(lambda x: ((x + bias) * scale[0]).sin().sum())(x)
    if change == "write":
        bias.add_(1)
    elif change == "data":
        bias.data = torch.ones(3)
    else:
        scale[0] = 3.0
    with pytest.raises(RuntimeError, match="was changed after the call"):
        torch.autograd.grad(y, x, create_graph=True)


@pytest.mark.parametrize("view", [lambda t: t[::2], lambda t: t[:, 1], lambda t: t.t()[1:],
                                  lambda t: t[:1].expand(4, 3)])
def test_copied_results_keep_their_strides(view):
    def function(x):
        return view(torch.eye(4, 3)), view(x * 2), view(x * 2)

    x = torch.rand(4, 3)
    for one, other in zip(compiled(function)(x), function(x)):
        assert (one == other).all() and one.stride() == other.stride()


@pytest.mark.filterwarnings("ignore:.*a second derivative runs")  # says it once
def test_inference_tensors_are_read_again_for_a_second_derivative():
    with torch.inference_mode():
        constant = torch.ones(3)
    x = torch.rand(3, requires_grad=True)
    y = compiled(lambda x: (x + constant).sin().sum())(x)
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    assert first.tolist() == (x + 1).cos().tolist()
