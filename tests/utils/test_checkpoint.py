"""`utils.checkpoint`: both variants give the gradients of the plain function, in less memory."""

from __future__ import annotations

import gc
import importlib
import threading
import warnings
import weakref
from contextlib import contextmanager, nullcontext

import pytest

from tests.support.engines import ENGINES, function_of, leaf, on_each_engine

minigrad = ENGINES[0]
both_variants = pytest.mark.parametrize("reentrant", [True, False], ids=["reentrant", "saved"])


def of(torch):
    """Return the module `utils.checkpoint` of an engine."""
    return importlib.import_module(torch.__name__ + ".utils.checkpoint")


def deep(x):
    return x.exp().sin().exp() * x


def slope_of_deep(torch, value=0.5):
    x = leaf(torch, value)
    deep(x).backward()
    return x.grad.item()


# -------------------------------------------------------------------- the same gradients


@on_each_engine
@both_variants
def test_gradients_are_those_of_the_function(torch, reentrant):
    x = leaf(torch, 0.5)
    y = of(torch).checkpoint(deep, x, use_reentrant=reentrant)
    assert y.item() == deep(x).item()
    assert y.requires_grad
    y.backward()
    assert x.grad.item() == slope_of_deep(torch)


@on_each_engine
@both_variants
def test_the_function_runs_again_in_backward_only(torch, reentrant):
    runs = []

    def function(x):
        runs.append(torch.is_grad_enabled())
        return deep(x)

    x = leaf(torch, 0.5)
    y = of(torch).checkpoint(function, x, use_reentrant=reentrant)
    assert runs == [not reentrant]
    y.backward()
    assert runs == [not reentrant, True]


@on_each_engine
@both_variants
def test_parameters_of_a_module_get_their_gradients(torch, reentrant):
    def make():
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))

    x = leaf(torch, [[1.0, 2.0, 3.0]])
    plain, net = make(), make()
    plain(x).sum().backward()
    expected, x.grad = x.grad, None
    of(torch).checkpoint(net, x, use_reentrant=reentrant).sum().backward()
    assert x.grad.tolist() == expected.tolist()
    for p, q in zip(net.parameters(), plain.parameters(), strict=True):
        assert p.grad.tolist() == q.grad.tolist()


@on_each_engine
@both_variants
def test_several_inputs_and_outputs(torch, reentrant):
    def function(a, n, b, text):
        assert text == "text"
        return a * b * n, "kept", a.exp()

    a, b = leaf(torch, 2.0), torch.tensor(3.0)
    product, kept, power = of(torch).checkpoint(function, a, 5, b, "text", use_reentrant=reentrant)
    assert kept == "kept"
    (product + power).backward()
    assert a.grad.item() == pytest.approx(15.0 + 7.389056)
    assert b.grad is None


@on_each_engine
@both_variants
def test_checkpoints_one_after_the_other(torch, reentrant):
    x = leaf(torch, 0.5)
    y = x
    for _ in range(5):
        y = of(torch).checkpoint(torch.sin, y, use_reentrant=reentrant)
    y.backward()
    z = leaf(torch, 0.5)
    torch.sin(torch.sin(torch.sin(torch.sin(torch.sin(z))))).backward()
    assert x.grad.item() == z.grad.item()


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")  # run without a graph
@on_each_engine
@both_variants
def test_checkpoints_in_checkpoints(torch, reentrant):
    checkpoint = of(torch).checkpoint
    runs = []

    def nested(depth):
        def function(x):
            runs.append(depth)
            if depth == 0:
                return deep(x)
            return checkpoint(nested(depth - 1), x.sin(), use_reentrant=reentrant).exp()

        return function

    def plain(depth, x):
        return deep(x) if depth == 0 else plain(depth - 1, x.sin()).exp()

    x, z = leaf(torch, 0.5), leaf(torch, 0.5)
    checkpoint(nested(3), x, use_reentrant=reentrant).backward()
    plain(3, z).backward()
    assert x.grad.item() == pytest.approx(z.grad.item(), rel=1e-6)
    assert runs[:4] == [3, 2, 1, 0]
    assert runs.count(0) >= 2


@on_each_engine
@pytest.mark.parametrize("outer", [True, False])
def test_the_variants_nest_in_each_other(torch, outer):
    checkpoint = of(torch).checkpoint
    x, z = leaf(torch, 0.5), leaf(torch, 0.5)
    checkpoint(lambda x: checkpoint(deep, x.sin(), use_reentrant=not outer).exp(), x,
               use_reentrant=outer).backward()
    deep(z.sin()).exp().backward()
    assert x.grad.item() == pytest.approx(z.grad.item(), rel=1e-6)


@on_each_engine
def test_grad_and_inputs_work_without_reentrance(torch):
    checkpoint = of(torch).checkpoint
    x, w = leaf(torch, 0.5), leaf(torch, 2.0)

    def function(x):
        return deep(x) * w

    (slope,) = torch.autograd.grad(checkpoint(function, x, use_reentrant=False), x)
    assert slope.item() == pytest.approx(2 * slope_of_deep(torch), rel=1e-6)
    checkpoint(function, x, use_reentrant=False).backward(inputs=[w])
    assert x.grad is None
    assert w.grad.item() == deep(x).item()


@on_each_engine
@pytest.mark.parametrize("call", [
    lambda torch, y, x: torch.autograd.grad(y, x), lambda torch, y, x: y.backward(inputs=[x])])
def test_grad_and_inputs_do_not_work_with_reentrance(torch, call):
    x = leaf(torch, 0.5)
    with pytest.raises(RuntimeError, match="^When use_reentrant=True, torch.utils.checkpoint is "
                                           r"incompatible with .grad\(\) or passing an `inputs`"):
        call(torch, of(torch).checkpoint(deep, x, use_reentrant=True), x)
    of(torch).checkpoint(deep, x, use_reentrant=True).backward()
    assert x.grad.item() == slope_of_deep(torch)


@on_each_engine
def test_double_backward_without_reentrance(torch):
    x, z = leaf(torch, 0.5), leaf(torch, 0.5)
    y = of(torch).checkpoint(deep, x, use_reentrant=False)
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    (curve,) = torch.autograd.grad(slope, x)
    (plain,) = torch.autograd.grad(deep(z), z, create_graph=True)
    (expected,) = torch.autograd.grad(plain, z)
    assert curve.item() == pytest.approx(expected.item(), rel=1e-5)


@on_each_engine
@both_variants
def test_a_retained_graph_runs_again_each_time(torch, reentrant):
    runs = []

    def function(x):
        runs.append(1)
        return deep(x)

    x = leaf(torch, 0.5)
    y = of(torch).checkpoint(function, x, use_reentrant=reentrant)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == pytest.approx(2 * slope_of_deep(torch), rel=1e-6)
    assert len(runs) == 3
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


@on_each_engine
def test_a_partial_backward_leaves_the_rest(torch):
    x = leaf(torch, 0.5)
    y, z = of(torch).checkpoint(lambda x: (x.exp().exp(), x.sin().sin()), x, use_reentrant=False)
    y.backward()
    first = x.grad.item()
    z.backward()
    w = leaf(torch, 0.5)
    w.exp().exp().backward()
    assert first == w.grad.item()
    w.sin().sin().backward()
    assert x.grad.item() == pytest.approx(w.grad.item(), rel=1e-6)


@on_each_engine
def test_keyword_arguments_without_reentrance(torch):
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    of(torch).checkpoint(lambda x, *, y: x.exp() * y, x, y=y, use_reentrant=False).backward()
    assert y.grad.item() == pytest.approx(7.389056)


@on_each_engine
def test_inputs_need_no_gradient_without_reentrance(torch):
    w = leaf(torch, 2.0)
    of(torch).checkpoint(lambda x: (x * w).exp(), torch.tensor(1.0), use_reentrant=False).backward()
    assert w.grad.item() == pytest.approx(7.389056)


@on_each_engine
def test_inputs_without_gradient_warn_with_reentrance(torch):
    w = leaf(torch, 2.0)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True. Gradients "
                                         "will be None"):
        y = of(torch).checkpoint(lambda x: x * w, torch.tensor(1.0), use_reentrant=True)
    assert not y.requires_grad


@on_each_engine
def test_a_detached_output_is_no_use_with_reentrance(torch):
    x = leaf(torch, 2.0)
    y = of(torch).checkpoint(lambda x: x.detach() * 2, x, use_reentrant=True)
    with pytest.raises(RuntimeError, match=r"^none of output has requires_grad=True, this "
                                           r"checkpoint\(\) is not necessary$"):
        y.backward()


@on_each_engine
@both_variants
def test_one_detached_output_does_no_harm(torch, reentrant):
    x = leaf(torch, 2.0)
    y, z = of(torch).checkpoint(lambda x: (x.exp(), x.detach()), x, use_reentrant=reentrant)
    (y * z).backward()
    assert x.grad is not None


@on_each_engine
@both_variants
def test_without_grad_mode_nothing_is_recorded(torch, reentrant):
    x = leaf(torch, 2.0)
    with torch.no_grad():
        y = of(torch).checkpoint(deep, x, use_reentrant=reentrant)
    assert not y.requires_grad


@on_each_engine
def test_a_custom_function_inside(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * g * x

    x = leaf(torch, 3.0)
    of(torch).checkpoint(lambda x: Square.apply(x.exp()), x, use_reentrant=False).backward()
    assert x.grad.item() == pytest.approx(2 * 403.42879, rel=1e-6)


@on_each_engine
@both_variants
def test_backward_inside_the_function(torch, reentrant):
    def function(x):
        with torch.enable_grad():
            inner = x.detach().requires_grad_() if reentrant else x
            y = inner.sin()
            (slope,) = torch.autograd.grad(y.exp(), inner)
        return x.cos() * slope

    x, z = leaf(torch, 0.5), leaf(torch, 0.5)
    of(torch).checkpoint(function, x, use_reentrant=reentrant).backward()
    function(z).backward()
    assert x.grad.item() == pytest.approx(z.grad.item(), rel=1e-6)


@on_each_engine
@pytest.mark.parametrize("early_stop", [True, False])
def test_backward_inside_with_a_retained_graph(torch, early_stop):
    def function(x):
        y = x.sin()
        z = y.cos()
        (slope,) = torch.autograd.grad(z, x, retain_graph=True)
        return slope * z.exp()

    x, z = leaf(torch, 0.5), leaf(torch, 0.5)
    with of(torch).set_checkpoint_early_stop(early_stop):
        y = of(torch).checkpoint(function, x, use_reentrant=False)
    y.backward()
    function(z).backward()
    assert x.grad.item() == pytest.approx(z.grad.item(), rel=1e-6)


@on_each_engine
@both_variants
def test_an_error_in_the_second_run_comes_out(torch, reentrant):
    runs = []

    def function(x):
        runs.append(1)
        if len(runs) == 2:
            raise ValueError("the second time")
        return deep(x)

    x = leaf(torch, 0.5)
    y = of(torch).checkpoint(function, x, use_reentrant=reentrant)
    with pytest.raises(ValueError, match="the second time"):
        y.backward(retain_graph=True)
    assert torch.is_grad_enabled()
    y.backward()
    assert x.grad.item() == pytest.approx(slope_of_deep(torch), rel=1e-6)


@on_each_engine
def test_hooks_of_the_user_do_not_see_a_region(torch):
    seen = []
    x = leaf(torch, 0.5)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(1) or t, lambda t: t):
        y = of(torch).checkpoint(lambda x: x.sin().sin().sin(), x, use_reentrant=False)
    assert seen == [1]  # the region's input
    y.backward()
    assert seen == [1]


@on_each_engine
@both_variants
def test_an_input_that_was_written_to_is_noticed(torch, reentrant):
    a = leaf(torch, [0.5])
    x = a * 1
    y = of(torch).checkpoint(deep, x, use_reentrant=reentrant)
    with torch.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_both_variants_in_two_threads():
    x = leaf(minigrad, 0.5)
    y = of(minigrad).checkpoint(deep, x, use_reentrant=False)
    z = of(minigrad).checkpoint(deep, x, use_reentrant=True)
    threads = [threading.Thread(target=lambda out=out: out.backward(retain_graph=True))
               for out in (y, z, y, z)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.item() == pytest.approx(4 * slope_of_deep(minigrad), rel=1e-6)


# -------------------------------------------------------------------- memory


@on_each_engine
@both_variants
def test_what_lies_inside_is_not_kept(torch, reentrant):
    inner = []

    def function(x):
        y = x.exp()
        inner.append(weakref.ref(y))
        return y.exp().exp()

    y = of(torch).checkpoint(function, leaf(torch, 0.5), use_reentrant=reentrant)
    assert inner[0]() is None
    y.backward()
    assert all(tensor() is None for tensor in inner)


def saves(torch, opened):
    """Return an operation that saves its input and shows what it finds in a backward pass."""
    return function_of(torch, lambda ctx, x: ctx.save_for_backward(x) or x * 2,
                       lambda ctx, grad: opened(ctx) or grad * 2).apply


@on_each_engine
def test_each_recomputed_tensor_lives_until_its_node_is_over(torch):
    kept = []

    def opened(ctx):
        assert all(earlier() is None for earlier in kept)
        kept.append(weakref.ref(ctx.saved_tensors[0]))

    save = saves(torch, opened)
    x = leaf(torch, [0.5])
    y = of(torch).checkpoint(lambda x: save(save(save(x.exp()))), x, use_reentrant=False)
    y.sum().backward(retain_graph=True)
    assert len(kept) == 3 and kept[-1]() is None


@on_each_engine
def test_a_recomputed_tensor_is_opened_once_in_a_pass(torch):
    def opened(ctx):
        assert ctx.saved_tensors
        assert ctx.saved_tensors

    save = saves(torch, opened)
    y = of(torch).checkpoint(save, leaf(torch, [0.5]), use_reentrant=False)
    with pytest.raises(of(torch).CheckpointError, match="already unpacked once"):
        y.sum().backward()


def test_graphs_with_regions_hold_no_cycles():
    x = leaf(minigrad, [0.5])
    y = of(minigrad).checkpoint(deep, x, use_reentrant=False)
    node = weakref.ref(y.grad_fn)
    gc.disable()
    try:
        y.sum().backward()
        del y
        assert node() is None
    finally:
        gc.enable()


# -------------------------------------------------------------------- random numbers


@on_each_engine
@both_variants
def test_the_second_run_draws_the_same_numbers(torch, reentrant):
    drawn = []

    def function(x):
        noise = torch.rand(3)
        drawn.append(noise.tolist())
        return (x * noise).exp()

    torch.manual_seed(0)
    x = leaf(torch, [1.0, 1.0, 1.0])
    y = of(torch).checkpoint(function, x, use_reentrant=reentrant, early_stop=False)
    state = torch.get_rng_state()
    torch.rand(5)
    after = torch.get_rng_state()
    y.sum().backward()
    assert drawn[0] == drawn[1]
    assert torch.equal(torch.get_rng_state(), after)
    assert not torch.equal(state, after)


@on_each_engine
@both_variants
def test_random_numbers_may_go_on(torch, reentrant):
    drawn = []

    def function(x):
        noise = torch.rand(3)
        drawn.append(noise.tolist())
        return (x * noise).exp()

    x = leaf(torch, [1.0, 1.0, 1.0])
    y = of(torch).checkpoint(function, x, use_reentrant=reentrant, preserve_rng_state=False)
    y.sum().backward()
    assert drawn[0] != drawn[1]


@on_each_engine
@both_variants
def test_dropout_drops_the_same(torch, reentrant):
    torch.manual_seed(1)
    x = leaf(torch, [1.0] * 100)
    y = of(torch).checkpoint(lambda x: torch.nn.functional.dropout(x, 0.5, True) * x, x,
                             use_reentrant=reentrant)
    dropped = (y == 0).tolist()
    y.sum().backward()
    assert (x.grad == 0).tolist() == dropped
    assert 0 < sum(dropped) < 100


# -------------------------------------------------------------------- options and errors


@on_each_engine
@pytest.mark.parametrize("stop", [True, False])
def test_the_second_run_ends_early(torch, stop):
    reached = []

    def function(x):
        y = x.exp().exp()
        reached.append(1)
        return y + 1

    x = leaf(torch, 0.5)
    of(torch).checkpoint(function, x, use_reentrant=False, early_stop=stop).backward()
    assert len(reached) == (1 if stop else 2)
    with of(torch).set_checkpoint_early_stop(not stop):
        y = of(torch).checkpoint(function, x, use_reentrant=False, early_stop=stop)
    reached.clear()
    y.backward()
    assert len(reached) == (1 if stop else 0)


@on_each_engine
def test_an_early_end_passes_the_user_s_handlers(torch):
    def function(x):
        y = x.exp()
        try:
            z = y.exp()
        finally:
            done.append(1)
        return z

    done = []
    x = leaf(torch, 0.5)
    of(torch).checkpoint(function, x, use_reentrant=False).backward()
    assert done == [1, 1]


@on_each_engine
def test_contexts_of_both_runs(torch):
    log = []

    @contextmanager
    def noting(name):
        log.append(f"enter {name}")
        try:
            yield
        finally:
            log.append(f"leave {name}")

    x = leaf(torch, 0.5)
    y = of(torch).checkpoint(deep, x, use_reentrant=False,
                             context_fn=lambda: (noting("first"), noting("second")))
    assert log == ["enter first", "leave first"]
    y.backward()
    assert log[2:] == ["enter second", "leave second"]


@on_each_engine
def test_a_context_must_not_swallow_errors(torch):
    @contextmanager
    def swallowing():
        try:
            yield
        except ZeroDivisionError:
            pass

    with pytest.raises(RuntimeError, match="suppressed an exception raised during the"):
        of(torch).checkpoint(lambda x: 1 / 0, leaf(torch, 1.0), use_reentrant=False,
                             context_fn=lambda: (swallowing(), nullcontext()))
    seen = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(1) or t, lambda t: t):
        leaf(torch, 1.0).exp()
    assert seen == [1]


@on_each_engine
@pytest.mark.parametrize(("options", "error"), [
    ({"use_reentrant": True, "more": 1, "most": 2}, "Unexpected keyword arguments: more,most"),
    ({"use_reentrant": True, "debug": True}, "Passing `context_fn` or `debug` is only supported"),
    ({"use_reentrant": True, "context_fn": nullcontext}, "Passing `context_fn` or `debug` is only"),
    ({"use_reentrant": False, "debug": True, "context_fn": nullcontext},
     "debug=True is incompatible with non-default context_fn"),
    ({"use_reentrant": False, "determinism_check": "yes"},
     r"determinism_check should be one of \['default', 'none'\], but got yes"),
])
def test_wrong_options(torch, options, error):
    with pytest.raises(ValueError, match=error):
        of(torch).checkpoint(deep, leaf(torch, 1.0), **options)


@on_each_engine
def test_leaving_the_variant_out_warns(torch):
    x = leaf(torch, 0.5)
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicit"):
        y = of(torch).checkpoint(deep, x)
    assert y.grad_fn.name() == "CheckpointFunctionBackward"
    with pytest.warns(UserWarning, match="checkpoint_sequential: the use_reentrant parameter"):
        of(torch).checkpoint_sequential([torch.sin], 1, x)


def test_the_warnings_are_pytorch_s():
    if len(ENGINES) == 1:
        pytest.skip("PyTorch is not installed")
    texts = []
    for torch in ENGINES:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            of(torch).checkpoint(deep, leaf(torch, 0.5))
            of(torch).checkpoint_sequential([torch.sin], 1, leaf(torch, 0.5))
        texts.append([(w.category, str(w.message)) for w in caught])
        if torch is minigrad:
            assert {w.filename for w in caught} == {__file__}
    assert texts[0] == texts[1]


def changing(*functions):
    """Return a function that is another one each time it is called."""
    left = list(functions)
    return lambda x: left.pop(0)(x)


@on_each_engine
@pytest.mark.parametrize(("again", "text"), [
    (lambda x: x.exp(), "A different number of tensors was saved during the original forward and "
                        "recomputation.\nNumber of tensors saved during forward: 2\n"
                        "Number of tensors saved during recomputation: 1"),
    (lambda x: x.exp().exp().exp(), "trying to save more tensors during recomputation than during"),
    (lambda x: x.double().exp().exp(), "Recomputed values for the following tensors have different "
                                       "metadata than during the forward pass.\n"
                                       "tensor at position 0:\nsaved metadata: {'shape': "),
])
def test_runs_that_differ_are_noticed(torch, again, text):
    x = leaf(torch, 0.5)
    function = changing(lambda x: x.exp().exp(), again)
    y = of(torch).checkpoint(function, x, use_reentrant=False, early_stop=False)
    with pytest.raises(of(torch).CheckpointError) as caught:
        y.backward()
    assert text in str(caught.value)
    assert "Tip: To see a more detailed error message" in str(caught.value)


def test_debugging_names_the_lines():
    x = leaf(minigrad, 0.5)
    function = changing(lambda x: x.exp().exp(), lambda x: x.exp())
    with of(minigrad).set_checkpoint_debug_enabled(True):
        y = of(minigrad).checkpoint(function, x, use_reentrant=False)
    with pytest.raises(of(minigrad).CheckpointError) as caught:
        y.backward()
    before, after = str(caught.value).split("Tensors saved during recomputation:")
    assert before.count("float32[] at ") == 2
    assert after.count("float32[] at ") == 1
    assert "x.exp().exp()" in before
    assert f"{__file__}:" in before and f"{__file__}:" in after


@on_each_engine
def test_the_check_can_be_left_out(torch):
    x = leaf(torch, [0.5, 0.5])
    function = changing(torch.exp, lambda x: x.double().exp())
    y = of(torch).checkpoint(function, x, use_reentrant=False, determinism_check="none")
    y.sum().backward()
    assert x.grad is not None


# -------------------------------------------------------------------- sequential


@on_each_engine
@both_variants
@pytest.mark.parametrize("segments", [1, 2, 3, 4])
def test_sequential(torch, reentrant, segments):
    torch.manual_seed(0)
    layers = [torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 3), torch.nn.Tanh()]
    net = torch.nn.Sequential(*layers)
    x = leaf(torch, [[1.0, 2.0, 3.0]])
    net(x).sum().backward()
    expected = [x.grad.tolist()] + [p.grad.tolist() for p in net.parameters()]
    for functions in (net, layers):
        x.grad = None
        net.zero_grad()
        y = of(torch).checkpoint_sequential(functions, segments, x, use_reentrant=reentrant)
        y.sum().backward()
        assert [x.grad.tolist()] + [p.grad.tolist() for p in net.parameters()] == expected


@on_each_engine
@pytest.mark.parametrize(("count", "segments", "runs"),
                         [(4, 2, 2), (5, 2, 2), (6, 3, 4), (3, 1, 0)])
def test_sequential_cuts_into_equal_segments(torch, count, segments, runs):
    log = []

    def layer(i):
        return lambda x: (log.append(i), x.sin())[1]

    x = leaf(torch, 0.5)
    y = of(torch).checkpoint_sequential([layer(i) for i in range(count)], segments, x,
                                        use_reentrant=False)
    assert log == list(range(count))
    y.backward()
    assert sorted(log[count:]) == list(range(runs))


@on_each_engine
def test_sequential_takes_no_other_keywords(torch):
    with pytest.raises(ValueError, match=r"^Unexpected keyword arguments: debug$"):
        of(torch).checkpoint_sequential([torch.sin], 1, leaf(torch, 0.5), use_reentrant=False,
                                        debug=True)


@on_each_engine
def test_helpers(torch):
    a, b = leaf(torch, 1.0) * 2, torch.tensor(1.0)
    x, y, text = of(torch).detach_variable((a, b, "text"))
    assert x.is_leaf and x.requires_grad and not y.requires_grad and text == "text"
    with pytest.raises(RuntimeError, match=r"Only tuple of tensors is supported. Got Unsupported "
                                           r"input type: list"):
        of(torch).detach_variable([a])
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        of(torch).check_backward_validity([b])
    first, second = of(torch).noop_context_fn()
    with first, second:
        pass
