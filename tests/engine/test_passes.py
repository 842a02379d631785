"""Backward passes: batches, writes, hooks, missing gradients, and graphs that meet again."""

from __future__ import annotations

import gc
import warnings
import weakref

import numpy as np
import pytest

import minigrad
from minigrad.batching import BatchedArray, NotBatchable
from minigrad.op.declaration import REGISTRY, Op
from minigrad.shapes import same
from tests.support.engines import function_of, leaf, on_each_engine

Function = minigrad.autograd.Function


def refusing_batches(given):
    if any(isinstance(getattr(t, "_array", t), BatchedArray) for t in given):
        raise NotBatchable("one at a time")


@pytest.fixture
def one_by_one():
    """Return an op of two outputs whose formulas take no batch; the second has no tangent."""
    class OneByOne(Op):
        outputs = ("double", "rest")
        method = public = False
        shape = same

        def forward(xp, self):
            return self * 2, self * 1

        def grad_self(g_double, g_rest):
            refusing_batches([g_double, g_rest])
            return g_double * 2

        def jvp(op, values, outputs, tangents):
            refusing_batches(tangents.values())
            assert [output.shape for output in outputs] == [values[0].shape] * 2
            return [tangents[0] * 2, None]

    yield OneByOne
    del REGISTRY["OneByOne"]


# The op without a rule for batches warns.
@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_what_was_saved_is_there_when_a_batch_has_to_go_row_by_row(one_by_one):
    x = leaf(minigrad, [1.0, 3.0])
    out = one_by_one(x)[0].exp()  # exp runs first, on a batch, and the other not so
    (rows,) = minigrad.autograd.grad(out, x, minigrad.eye(2), is_grads_batched=True)
    slopes = (2 * out).tolist()
    assert rows.tolist() == [[slopes[0], 0.0], [0.0, slopes[1]]]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        minigrad.autograd.grad(out, x, minigrad.eye(2), is_grads_batched=True)


# As above.
@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_an_output_may_have_no_tangent_in_any_row(one_by_one):
    x = minigrad.tensor([1.0, 3.0])
    with pytest.warns(UserWarning, match="performance drop"):
        found = minigrad.autograd.functional.jacobian(
            lambda t: tuple(one_by_one(t)), x, vectorize=True, strategy="forward-mode")
    assert found[0].tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert found[1].tolist() == [[0.0, 0.0], [0.0, 0.0]]


@on_each_engine
@pytest.mark.parametrize("order", ["narrow first", "wide first"])
def test_each_gradient_has_the_dtype_of_its_place(torch, order):
    seen = []

    class Look(torch.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            ctx.of_input = t.dtype
            return t * 1

        @staticmethod
        def backward(ctx, g):
            seen.append((ctx.of_input, g.dtype))
            return g

    def three(a, b):
        return torch.addcmul(a, b, a)

    for apply in (torch.add, torch.sub, torch.mul, torch.div, torch.atan2, three):
        pair = [leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0], dtype=torch.float64)]
        apply(*map(Look.apply, pair if order == "narrow first" else pair[::-1])).sum().backward()
    assert len(seen) == 12 and all(wanted == got for wanted, got in seen)


@on_each_engine
def test_the_hooks_of_a_lone_root_run_where_no_input_lies_behind_it(torch):
    x, other = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0])
    out = (x * 2).sum()
    seen = []
    out.register_hook(lambda g: seen.append("tensor"))
    assert torch.autograd.grad(out, other, allow_unused=True, retain_graph=True) == (None,)
    assert seen == ["tensor"]
    assert torch.autograd.grad([out, out * 1], other, [torch.tensor(1.0)] * 2,
                               allow_unused=True) == (None,)
    assert seen == ["tensor"]


@on_each_engine
# It says that it is slow, and where the forward was.
@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled", "ignore:Error detected in")
def test_anomaly_mode_looks_at_a_pass_to_given_inputs(torch):
    x = leaf(torch, [-1.0, 4.0])
    out = x.sqrt()[1:]
    with torch.autograd.detect_anomaly(check_nan=True), pytest.raises(
            RuntimeError, match="^Function 'SqrtBackward0?' returned nan values in its 0th"):
        torch.autograd.grad((x.sqrt() * 0).sum(), x)
    assert torch.autograd.grad(out, x, torch.ones(1))[0][1].item() == 0.25


@pytest.mark.parametrize("kind", ["result", "view of a result"])
def test_a_failing_forward_poisons_the_history_of_its_writes(kind):
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            raise ValueError("after the write")

    x = leaf(minigrad, [1.0, 2.0])
    made = x * 1 if kind == "result" else (x * 1).view(2)
    with pytest.raises(ValueError, match="^after the write$"):
        Fails.apply(made)
    with pytest.raises(RuntimeError, match=r"by Fails\.forward was interrupted by ValueError"):
        made.sum().backward()


# It says that such a graph holds itself.
@pytest.mark.filterwarnings("ignore:Using backward\\(\\) with create_graph=True")
@on_each_engine
def test_backward_to_inputs_makes_a_graph_on_request(torch):
    x = leaf(torch, [2.0, 3.0])
    (x**3).sum().backward(inputs=[x], create_graph=True)
    assert x.grad.requires_grad
    (slope,) = torch.autograd.grad(x.grad.sum(), x)
    assert slope.tolist() == [12.0, 18.0]
    x.grad = None
    (x**3).sum().backward(inputs=[x])
    assert not x.grad.requires_grad


def test_an_old_engine_call_makes_a_graph_on_request():
    from minigrad.autograd.variable import Variable

    for graph in (True, False):
        x = leaf(minigrad, [2.0, 3.0])
        y = (x**3).sum()
        Variable._execution_engine.run_backward(
            (y,), (minigrad.tensor(1.0),), True, graph, (), True, True)
        assert x.grad.requires_grad == graph


@on_each_engine
def test_a_pass_to_a_result_frees_what_its_node_saved(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x.exp()
    y.sum().backward(inputs=[y])
    assert x.grad is None
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        torch.autograd.grad(y.sum(), x)
    z = x.exp()
    z.sum().backward(inputs=[z, x])
    assert x.grad.tolist() == z.detach().tolist()


@on_each_engine
@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled")  # it says that it is slow
def test_gradients_that_were_given_are_not_written(torch, watched):
    x = leaf(torch, [1.0, 2.0])
    y = x * 1
    first, second = torch.ones(2), torch.ones(2) * 2
    with torch.autograd.set_detect_anomaly(watched):
        torch.autograd.backward([y, y, y * 2], [first, second, second])
    assert first.tolist() == [1.0, 1.0] and second.tolist() == [2.0, 2.0]
    assert x.grad.tolist() == [7.0, 7.0]


@on_each_engine
@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("by", ["backward", "hook of the node", "hook of the tensor"])
@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled")  # it says that it is slow
def test_gradients_that_someone_keeps_are_not_written(torch, by, watched):
    kept = torch.ones(2)  # in memory of its own
    x = leaf(torch, [1.0, 2.0])
    mid = x * 1
    made = function_of(torch, lambda ctx, t: t * 1,
                   lambda ctx, g: kept if by == "backward" else g * 1)
    parts = [made.apply(mid), made.apply(mid), mid * 2, made.apply(mid)]
    if by == "hook of the node":
        parts = [mid * 2, mid * 3, mid * 2, mid * 4]
        for part in (parts[0], parts[1], parts[3]):
            part.grad_fn.register_hook(lambda inputs, outputs: (kept, *inputs[1:]))
    elif by == "hook of the tensor":
        parts = [t * 1 for t in parts]
        for part in (parts[0], parts[1], parts[3]):
            part.register_hook(lambda g: kept)
    with torch.autograd.set_detect_anomaly(watched):
        sum(parts).backward(torch.ones(2))
    assert kept.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [5.0, 5.0]


@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled")  # it says that it is slow
def test_one_array_for_several_inputs_is_not_written():
    class Alike(Op):
        method = public = False
        list_of_tensors = "items"
        shape = same

        def forward(xp, items):
            return items[0] * 1

        def grad_items(g, items):
            return [g * 2] * len(items)

    try:
        for watched in (False, True):
            x, y = leaf(minigrad, [1.0]), leaf(minigrad, [1.0])
            a, b = x * 1, y * 1
            out = a * 5 + b * 7 + Alike([a, b])  # whose gradients arrive first
            with minigrad.autograd.set_detect_anomaly(watched):
                out.backward()
            assert (x.grad.item(), y.grad.item()) == (7, 9)
    finally:
        del REGISTRY["Alike"]


@on_each_engine
def test_which_gradient_of_a_function_does_not_fit(torch):
    for hooked in (False, True):
        made = function_of(torch, lambda ctx, x, y: x + y, lambda ctx, g: (g, torch.ones(3)))
        x, y = leaf(torch, [1.0, 2.0]), leaf(torch, [1.0, 2.0])
        out = made.apply(x, y * 1)
        if hooked:
            out.register_hook(lambda g: None)
        with pytest.raises(RuntimeError, match=r"^Function MadeBackward returned an invalid "
                           r"gradient at index 1 - got \[3\] but expected shape compatible with "
                           r"\[2\]$"):
            out.sum().backward()


@on_each_engine
def test_missing_gradients_of_a_backward_that_is_differentiable_once(torch):
    once = torch.autograd.function.once_differentiable
    made = function_of(torch, lambda ctx, x, y: x * y, once(lambda ctx, g: (g * 2, None)))
    x, y = leaf(torch, [1.0]), leaf(torch, [2.0])
    first, second = torch.autograd.grad(made.apply(x, y) * y, (x, y), create_graph=True)
    assert first.tolist() == [4.0] and second.tolist() == [2.0]
    with pytest.raises(RuntimeError, match="differentiate twice a function"):
        first.sum().backward()


@on_each_engine
def test_an_input_that_is_saved_and_returned_keeps_its_place(torch):
    seen = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x

    def backward(ctx, g):
        seen.append(ctx.saved_tensors[0])
        return g * ctx.saved_tensors[0]

    x = leaf(torch, [3.0])
    mid = x * 2
    out = function_of(torch, forward, backward).apply(mid)
    (slope,) = torch.autograd.grad(out, x, create_graph=True)
    assert slope.tolist() == [12.0] and seen[0].grad_fn is mid.grad_fn
    assert torch.autograd.grad(slope, x)[0].tolist() == [4.0]


def test_a_leaf_that_a_forward_wrote_before_it_failed_goes_on():
    def forward(ctx, x):
        x.mul_(2)
        raise ValueError("after the write")

    x = leaf(minigrad, [1.0, 2.0])
    with pytest.raises(ValueError, match="^after the write$"):
        function_of(minigrad, forward).apply(x)
    (x * x).sum().backward()
    assert x.tolist() == [2.0, 4.0] and x.grad.tolist() == [4.0, 8.0]


def test_an_output_that_hooks_keep_does_not_hold_its_node():
    x = leaf(minigrad, [1.0, 2.0])
    with minigrad.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        y = x.exp()
    gone = weakref.ref(y.grad_fn)
    gc.disable()
    try:
        del y
        assert gone() is None
    finally:
        gc.enable()


@on_each_engine
def test_gradients_of_numbers_are_tensors_like_others(torch):
    for op in (torch.addcmul, torch.addcdiv, torch.lerp):
        for between in (False, True):
            given = [leaf(torch, n) for n in (2.0, 3.0, 4.0)]
            op(*[t * 1 for t in given] if between else given).backward()
            for t in given:
                t.grad.add_(1)
                assert t.grad.shape == t.shape and t.grad.dtype == torch.float32
                assert isinstance(t.grad.numpy(), np.ndarray)


def test_a_nest_may_have_gradients_that_are_missing():
    class Nested(minigrad.autograd.NestedIOFunction):
        def forward_extended(self, pair, z):
            return pair[0] * 2 + pair[1] + z

        def backward_extended(self, g):
            return (g * 2, None), g

    x, y, z = (leaf(minigrad, [1.0]) for _ in range(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the old interface asks for it
        Nested()((x, y), z).backward()
    assert x.grad.tolist() == [2.0] and y.grad is None and z.grad.tolist() == [1.0]


@on_each_engine
def test_marks_of_views_stand_at_every_gradient(torch):
    x, y, z = leaf(torch, [1.0, 2.0]), leaf(torch, [[1.0, 2.0]]), leaf(torch, [1.0])
    out = x.sum() + y.sum() + z * 3
    views = [g._is_view() for g in torch.autograd.grad(out, (x, z, y))]
    assert views == [True, False, True]


def test_a_gradient_without_rows_goes_on_through_a_batch():
    made = function_of(minigrad, lambda ctx, x: x * 1, lambda ctx, g: minigrad.ones(2),
                   generate_vmap_rule=True)
    x = leaf(minigrad, [1.0, 2.0])
    (rows,) = minigrad.autograd.grad(made.apply(x * x), x, minigrad.eye(2), is_grads_batched=True)
    assert rows.tolist() == [[2.0, 4.0], [2.0, 4.0]]


def test_a_pack_hook_sees_outputs_without_their_history():
    # Which PyTorch shows with it: a hook that keeps what it is shown then keeps the graph too.
    seen = []

    def pack(tensor):
        seen.append((tensor.requires_grad, tensor.grad_fn is None))
        return tensor

    x = leaf(minigrad, [1.0, 2.0])
    with minigrad.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        (x * 1).exp()
        (x * 1).sin()
    assert seen[-2:] == [(False, True), (True, False)]


@on_each_engine
def test_a_graph_that_meets_again_and_again_is_walked_once(torch):
    x = leaf(torch, [1.0])
    y = x
    for _ in range(60):
        y = y + y
    assert torch.autograd.grad(y.sum(), x)[0].item() == 2.0**60


@on_each_engine
def test_a_result_looks_at_what_was_saved_where_the_pass_ends(torch):
    x = leaf(torch, [1.0, 2.0])
    mid = x * 1
    out = mid * mid
    mid.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward(inputs=[out])


@pytest.mark.parametrize("run", [
    lambda torch, out, x: out.backward(inputs=[x]),
    lambda torch, out, x: torch.autograd.grad(out, x),
    lambda torch, out, x: torch.autograd.grad(out, x, create_graph=True),
], ids=["backward", "grad", "recorded"])
@on_each_engine
def test_a_node_looks_at_what_it_saved_for_a_formula_that_does_not_run(torch, run):
    x, y = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0])
    mid = x * 1
    out = (mid * (y * 1)).sum()
    mid.add_(1)  # of which the gradient of `y` alone has need
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        run(torch, out, x)


@on_each_engine
def test_a_context_without_a_place_in_the_graph_leads_nowhere(torch):
    seen = []

    def forward(ctx, x):
        seen.append(ctx.next_functions)
        return x * 1

    function_of(torch, forward).apply(torch.ones(2))
    assert seen == [()]


@on_each_engine
def test_a_leaf_that_hooks_keep_is_a_leaf_again(torch):
    x = leaf(torch, [2.0, 3.0])
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().numpy().copy(),
                                                  torch.from_numpy):
        y = x * x * x
    assert y.grad_fn._saved_other.is_leaf and y.grad_fn._saved_other.requires_grad
    (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert torch.autograd.grad(slope.sum(), x)[0].tolist() == [12.0, 18.0]
