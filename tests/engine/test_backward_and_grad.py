"""`backward` and `grad`: values, options, errors, and what an error leaves behind."""

from __future__ import annotations

import pytest

from tests.support.engines import leaf, on_each_engine

pytestmark = [
    on_each_engine,
    # PyTorch says once in a process that `.grad` and its history hold each other.
    pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True"),
]


# --- What is accumulated and what is returned ----------------------------------------------------


def test_several_roots_add_up(torch):
    x = leaf(torch, [1.0, 2.0])
    squares, triple = (x * x).sum(), 3 * x
    torch.autograd.backward([squares, triple], [None, torch.tensor([1.0, 10.0])])
    assert x.grad.tolist() == [2.0 + 3.0, 4.0 + 30.0]


def test_root_behind_another_root(torch):
    x = leaf(torch, 3.0)
    square = x * x
    cube = square * x
    torch.autograd.backward([square, cube])  # d(x² + x³)/dx = 2x + 3x²
    assert x.grad.item() == 6.0 + 27.0


def test_the_same_root_twice(torch):
    x = leaf(torch, 3.0)
    square = x * x
    torch.autograd.backward([square, square], [torch.tensor(1.0), torch.tensor(10.0)])
    assert x.grad.item() == 66.0
    (by_root,) = torch.autograd.grad([square, square], square)
    assert by_root.item() == 2.0


def test_leaf_as_root(torch):
    x = leaf(torch, 3.0)
    x.backward()
    x.backward(torch.tensor(2.0))
    assert x.grad.item() == 3.0
    assert torch.autograd.grad(x, x)[0].item() == 1.0
    assert x.grad.item() == 3.0


def test_one_element_needs_no_gradient_whatever_its_rank(torch):
    x = leaf(torch, [[2.0]])
    (x * x).backward()
    assert x.grad.tolist() == [[4.0]]


def test_grad_touches_no_grad_attribute(torch):
    x, w = leaf(torch, 3.0), leaf(torch, 5.0)
    (by_x,) = torch.autograd.grad(x * w, x)
    assert by_x.item() == 5.0
    assert x.grad is None and w.grad is None
    assert not by_x.requires_grad and by_x.grad_fn is None


def test_grad_of_intermediates_and_repeated_inputs(torch):
    x = leaf(torch, 3.0)
    square = x * x
    fourth = square * square
    found = torch.autograd.grad(fourth, [square, x, square, fourth], retain_graph=True)
    assert [g.item() for g in found] == [18.0, 108.0, 18.0, 1.0]
    assert torch.autograd.grad(fourth, square)[0].item() == 18.0


def test_grad_by_one_of_two_outputs_of_a_node(torch):
    x = leaf(torch, [1.0, 2.0, 3.0, 4.0])
    low, high = x.split(2)
    value = (low * high).sum()
    by_high, by_x = torch.autograd.grad(value, [high, x])
    assert by_high.tolist() == [1.0, 2.0]
    assert by_x.tolist() == [3.0, 4.0, 1.0, 2.0]


def test_grad_takes_single_tensors_lists_and_tuples(torch):
    x = leaf(torch, [1.0, 2.0])
    weights = torch.tensor([1.0, 10.0])
    for outputs, inputs, grads in ((x * x, x, weights), ([x * x], (x,), [weights])):
        result = torch.autograd.grad(outputs, inputs, grads)
        assert isinstance(result, tuple)
        assert result[0].tolist() == [2.0, 40.0]


def test_a_branch_without_gradient_is_left_alone(torch):
    x, fixed = leaf(torch, 2.0), torch.tensor(5.0)
    (x * fixed + fixed * fixed + x.detach() * x).backward()
    assert x.grad.item() == 7.0
    assert fixed.grad is None


def test_gradient_is_cast_to_the_type_of_the_output(torch):
    x = leaf(torch, [1.0, 2.0])
    (x * x).backward(torch.tensor([1.0, 2.0], dtype=torch.float64))
    assert x.grad.tolist() == [2.0, 8.0]
    assert x.grad.dtype == torch.float32


def test_gradient_flows_through_a_change_of_type(torch):
    x = leaf(torch, [1.0, 2.0])
    (x.to(torch.float64) * 3).sum().backward()
    assert x.grad.dtype == torch.float32
    assert x.grad.tolist() == [3.0, 3.0]
    y = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    (x * y).sum().backward()
    assert (x.grad.dtype, y.grad.dtype) == (torch.float32, torch.float64)


def test_broadcast_inputs_get_sums(torch):
    column, row = leaf(torch, [[1.0], [2.0]]), leaf(torch, [1.0, 10.0, 100.0])
    scalar = leaf(torch, 2.0)
    (column * row * scalar).sum().backward()
    assert column.grad.tolist() == [[222.0], [222.0]]
    assert row.grad.tolist() == [6.0, 6.0, 6.0]
    assert scalar.grad.item() == 333.0


# --- inputs=, unused inputs, materialized and batched gradients ----------------------------------


def test_backward_with_inputs_fills_only_these(torch):
    x, w = leaf(torch, 3.0), leaf(torch, 5.0)
    middle = x * w
    value = middle * middle
    value.backward(inputs=[w], retain_graph=True)
    assert x.grad is None
    assert w.grad.item() == 90.0  # 2 x² w
    value.backward(inputs=x, retain_graph=True)
    value.backward(inputs=[x, x])
    assert x.grad.item() == 150.0 * 2
    assert w.grad.item() == 90.0


def test_backward_with_inputs_takes_non_leaves(torch):
    x = leaf(torch, 3.0)
    middle = x * x
    (middle * middle).backward(inputs=[middle], retain_graph=True)
    assert middle.grad.item() == 18.0
    assert x.grad is None
    middle.backward()
    assert (middle.grad.item(), x.grad.item()) == (19.0, 6.0)


def test_only_what_leads_to_the_inputs_runs(torch):
    ran = []
    x, w = leaf(torch, 3.0), leaf(torch, 5.0)
    toward_x, toward_w = x * 2, w * 2
    toward_x.grad_fn.register_hook(lambda *_: ran.append("x"))
    toward_w.grad_fn.register_hook(lambda *_: ran.append("w"))
    total = toward_x + toward_w
    torch.autograd.grad(total, x, retain_graph=True)
    assert ran == ["x"]
    total.backward(inputs=[w])
    assert ran == ["x", "w"]


def test_unused_inputs(torch):
    x, other = leaf(torch, [1.0, 2.0]), leaf(torch, [[1.0]], dtype=torch.float64)

    def ask(**options):
        return torch.autograd.grad((x * x).sum(), [x, other], **options)

    with pytest.raises(RuntimeError, match=r"^The differentiated Tensor at index 1 appears to not "
                       r"have been used in the graph. Set allow_unused=True if this is "):
        ask()
    assert ask(allow_unused=True)[1] is None
    for create_graph in (False, True):
        zeros = ask(materialize_grads=True, create_graph=create_graph)[1]
        assert zeros.tolist() == [[0.0]]
        assert zeros.dtype == torch.float64
        assert zeros.requires_grad is create_graph
    with pytest.raises(ValueError, match=r"Expected allow_unused to be True or not passed when "
                       r"materialize_grads=True, but got: allow_unused=False."):
        ask(materialize_grads=True, allow_unused=False)


def test_batched_gradients_are_rows_of_the_jacobian(torch):
    x = leaf(torch, [1.0, 2.0, 3.0])
    y = x * x
    (jacobian,) = torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)
    assert jacobian.tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]


def test_batched_gradients_can_be_differentiated(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * x * x
    (jacobian,) = torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True, create_graph=True)
    jacobian.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


# --- Keeping and building graphs -----------------------------------------------------------------

SECOND_TIME = ("Trying to backward through the graph a second time .or directly access saved "
               "tensors after they have already been freed.")


def test_retain_graph(torch):
    x = leaf(torch, 3.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 12.0
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        y.backward()
    assert x.grad.item() == 12.0


def test_nodes_that_save_nothing_can_run_again(torch):
    x = leaf(torch, 3.0)
    y = x + x
    y.backward()
    y.backward()
    assert x.grad.item() == 4.0


def test_a_shared_part_of_two_graphs_is_freed_with_the_first(torch):
    x = leaf(torch, 3.0)
    shared = x * x
    first, second = shared + 1, shared + 2
    first.backward()
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        second.backward()


def test_grad_frees_the_graph_too(torch):
    x = leaf(torch, 3.0)
    y = x.exp()
    torch.autograd.grad(y, x)
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        torch.autograd.grad(y, x)


def test_create_graph_keeps_the_graph_unless_told_otherwise(torch):
    x = leaf(torch, 3.0)
    y = x * x
    torch.autograd.grad(y, x, create_graph=True)
    torch.autograd.grad(y, x, create_graph=True, retain_graph=False)
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        y.backward()


def test_higher_derivatives(torch):
    x = leaf(torch, 2.0)
    value, found = x**5, []
    for _ in range(6):
        (value,) = torch.autograd.grad(value, x, create_graph=True)
        found.append(value.item())
        if not value.requires_grad:
            break
    assert found[:5] == [80.0, 160.0, 240.0, 240.0, 120.0]


def test_mixed_second_derivative(torch):
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    by_x, by_y = torch.autograd.grad(x * x * y * y * y, [x, y], create_graph=True)
    assert (by_x.item(), by_y.item()) == (108.0, 108.0)
    mixed = torch.autograd.grad(by_x, y, retain_graph=True)[0]
    assert mixed.item() == torch.autograd.grad(by_y, x)[0].item() == 6 * 2 * 9


def test_backward_through_a_gradient_adds_to_what_is_there(torch):
    x = leaf(torch, 3.0)
    (x * x * x).backward(create_graph=True)
    assert x.grad.item() == 27.0 and x.grad.requires_grad
    first = x.grad
    x.grad = None
    first.backward()
    assert x.grad.item() == 18.0


def test_second_derivative_by_the_gradient_itself(torch):
    x, g = leaf(torch, 3.0), leaf(torch, 1.0)
    (by_x,) = torch.autograd.grad(x * x, x, g, create_graph=True)
    assert torch.autograd.grad(by_x, g)[0].item() == 6.0


@pytest.mark.parametrize("mode", [True, False])
def test_the_callers_grad_mode_does_not_matter_and_stays(torch, mode):
    x = leaf(torch, 3.0)
    y, z = x * x, x * x
    with torch.set_grad_enabled(mode):
        (plain,) = torch.autograd.grad(y, x)
        (recorded,) = torch.autograd.grad(z, x, create_graph=True)
        assert torch.is_grad_enabled() is mode
    assert not plain.requires_grad
    assert recorded.requires_grad


# --- Errors --------------------------------------------------------------------------------------


def vector(torch):
    x = leaf(torch, [1.0, 2.0])
    return x * x


BAD_CALLS = {
    "non-scalar root": (
        RuntimeError, "^grad can be implicitly created only for scalar outputs$",
        lambda t: vector(t).backward()),
    "non-scalar root of grad": (
        RuntimeError, "^grad can be implicitly created only for scalar outputs$",
        lambda t: t.autograd.grad(*[vector(t)] * 2)),
    "empty root": (
        RuntimeError, "grad can be implicitly created only for scalar outputs",
        lambda t: leaf(t, []).backward()),
    "wrong shape": (
        RuntimeError, r"^Mismatch in shape: grad_output\[0\] has a shape of torch.Size\(\[3\]\) "
        r"and output\[0\] has a shape of torch.Size\(\[2\]\).$",
        lambda t: vector(t).backward(t.ones(3))),
    "broadcastable shape": (
        RuntimeError, r"grad_output\[0\] has a shape of torch.Size\(\[1, 2\]\)",
        lambda t: vector(t).backward(t.ones(1, 2))),
    "root without grad": (
        RuntimeError, "^element 0 of tensors does not require grad and does not have a grad_fn$",
        lambda t: t.tensor(1.0).backward()),
    "second root without grad": (
        RuntimeError, "^element 1 of tensors does not require grad and does not have a grad_fn$",
        lambda t: t.autograd.backward([vector(t).sum(), t.tensor(1.0)])),
    "root without grad, gradient given": (
        RuntimeError, "element 0 of tensors does not require grad",
        lambda t: t.ones(2).backward(t.ones(2))),
    "detached root": (
        RuntimeError, "element 0 of tensors does not require grad",
        lambda t: vector(t).detach().sum().backward()),
    "input without grad": (
        RuntimeError, "^One of the differentiated Tensors does not require grad$",
        lambda t: t.autograd.grad(vector(t).sum(), t.ones(2), allow_unused=True)),
    "input without grad of backward": (
        RuntimeError, "^can't retain_grad on Tensor that has requires_grad=False$",
        lambda t: vector(t).sum().backward(inputs=[t.ones(2)])),
    "input that is no tensor": (
        RuntimeError, "^all inputs have to be Tensors or GradientEdges, but got float$",
        lambda t: t.autograd.grad(vector(t).sum(), [1.0])),
    "input of backward that is no tensor": (
        RuntimeError, "^all inputs have to be Tensors or GradientEdges, but got float$",
        lambda t: vector(t).sum().backward(inputs=[1.0])),
    "no inputs": (
        RuntimeError, "`inputs` argument to `backward..` cannot be empty",
        lambda t: vector(t).sum().backward(inputs=[])),
    "no inputs of grad": (
        RuntimeError, "^`inputs` argument to `grad..` cannot be empty",
        lambda t: t.autograd.grad(vector(t).sum(), [])),
    "number as gradient": (
        TypeError, "^gradients can be either Tensors or None, but got int$",
        lambda t: t.autograd.backward([vector(t)], [1])),
    "too few gradients": (
        RuntimeError, "^got 2 tensors and 1 gradients$",
        lambda t: t.autograd.backward([vector(t), vector(t)], [t.ones(2)])),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_bad_calls(torch, case):
    error, text, call = BAD_CALLS[case]
    with pytest.raises(error, match=text):
        call(torch)
    assert torch.is_grad_enabled()


def test_a_refused_call_frees_nothing(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * x
    for bad in (lambda: y.backward(), lambda: y.backward(torch.ones(3))):
        with pytest.raises(RuntimeError):
            bad()
    y.backward(torch.ones(2))
    assert x.grad.tolist() == [2.0, 4.0]


# --- An exception in the middle ------------------------------------------------------------------


def interrupted(torch, where):
    """Return a leaf, a value over it, and a switch that makes a hook in the middle raise."""
    x = leaf(torch, 3.0)
    middle = x * x
    value = middle * 2 + x
    armed = [True]

    def hook(*_):
        if armed:
            raise KeyError("stop")

    {"tensor": lambda: middle.register_hook(hook),
     "node": lambda: middle.grad_fn.register_hook(hook),
     "prehook": lambda: middle.grad_fn.register_prehook(hook),
     "leaf": lambda: x.register_hook(hook),
     "after": lambda: x.register_post_accumulate_grad_hook(hook)}[where]()
    return x, value, armed


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("where", ["tensor", "node", "prehook", "leaf", "after"])
def test_an_exception_leaves_everything_usable(torch, where, create_graph):
    x, value, armed = interrupted(torch, where)
    for mode in (True, False):
        with torch.set_grad_enabled(mode):
            with pytest.raises(KeyError, match="stop"):
                value.backward(retain_graph=True, create_graph=create_graph)
            assert torch.is_grad_enabled() is mode
    armed.clear()
    x.grad = None
    value.backward()
    assert x.grad.item() == 2 * 6.0 + 1.0
    assert (x * 2).requires_grad


def test_an_exception_in_a_reentrant_pass_is_the_callers(torch):
    x, inner, armed = interrupted(torch, "tensor")
    y = leaf(torch, 2.0)
    outer = y * y
    outer.register_hook(lambda g: inner.backward(retain_graph=True))
    with pytest.raises(KeyError, match="stop"):
        outer.backward(retain_graph=True)
    armed.clear()
    x.grad = y.grad = None
    outer.backward()
    assert (x.grad.item(), y.grad.item()) == (13.0, 4.0)


def test_inputs_out_of_reach_give_none_and_run_nothing(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([3.0, 4.0], requires_grad=True)
    total = (x * x).sum()
    assert torch.autograd.grad(total, y, allow_unused=True, retain_graph=True) == (None,)
    total.backward()
    assert x.grad.tolist() == [2.0, 4.0] and y.grad is None
