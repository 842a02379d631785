"""Hooks on tensors, on nodes and after accumulation."""

from __future__ import annotations

import gc

import pytest

from tests.autograd.test_function import function
from tests.support.engines import leaf, on_each_engine

pytestmark = on_each_engine


# --- Tensor hooks --------------------------------------------------------------------------------


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_hook_sees_and_replaces(torch, create_graph):
    x, seen = leaf(torch, [1.0, 2.0]), []
    middle = x * x
    middle.register_hook(lambda g: seen.append(g.tolist()))
    middle.register_hook(lambda g: g * 10)
    middle.register_hook(lambda g: seen.append(g.tolist()))
    (by_x,) = torch.autograd.grad(middle * 3, x, torch.ones(2), create_graph=create_graph)
    assert seen == [[3.0, 3.0], [30.0, 30.0]]
    assert by_x.tolist() == [60.0, 120.0]


def test_the_hooks_of_a_leaf_outlive_the_graph(torch):
    """The node of a leaf is freed with the graph; hooks from before it and after it stay."""
    x, seen = leaf(torch, 2.0), []
    x.register_hook(lambda g: seen.append(g.item()))
    node = (x * 3).grad_fn.next_functions[0][0]
    del node
    gc.collect()
    x.register_hook(lambda g: seen.append(-g.item()))
    (x * 5).backward()
    assert seen == [5.0, -5.0]


def test_a_hook_gets_the_whole_gradient_once(torch):
    x, seen = leaf(torch, 2.0), []
    x.register_hook(lambda g: seen.append(g.item()))
    y = x * 3
    y.register_hook(lambda g: seen.append(g.item()))
    (y * 5 + y * 7 + x).backward()
    assert seen == [12.0, 37.0]
    assert x.grad.item() == 37.0


def test_hooks_on_leaves_replace_what_accumulates(torch):
    x = leaf(torch, 2.0)
    x.grad = torch.tensor(100.0)
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: g * 2)
    (x * 3).backward()
    assert x.grad.item() == 100.0 + 8.0


def test_a_hook_registered_after_the_forward_counts(torch):
    x = leaf(torch, 2.0)
    y = x * 3
    x.register_hook(lambda g: g * 2)
    y.register_hook(lambda g: g * 5)
    y.backward()
    assert x.grad.item() == 30.0


def test_hooks_stay_for_the_next_pass_and_the_next_graph(torch):
    x, calls = leaf(torch, 2.0), []
    x.register_hook(calls.append)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    (x * 3).backward()
    assert len(calls) == 3


def test_hooks_work_on_captured_gradients(torch):
    x = leaf(torch, 2.0)
    x.register_hook(lambda g: g * 10)
    y = x * 3
    y.register_hook(lambda g: g * 100)
    assert torch.autograd.grad(y, y)[0].item() == 100.0
    assert torch.autograd.grad(y, x)[0].item() == 3000.0
    assert x.grad is None


def test_removal(torch):
    x, seen = leaf(torch, 2.0), []
    first = x.register_hook(lambda g: seen.append("first"))
    with x.register_hook(lambda g: seen.append("second")):
        (x * 1).backward()
        first.remove()
        (x * 1).backward()
    (x * 1).backward()
    first.remove()
    assert seen == ["first", "second", "second"]


def test_removal_inside_a_hook(torch):
    x, seen, handles = leaf(torch, 2.0), [], []

    def once(g):
        seen.append("once")
        handles[0].remove()

    handles.append(x.register_hook(once))
    x.register_hook(lambda g: seen.append("always"))
    (x * 1).backward()
    (x * 1).backward()
    assert seen == ["once", "always", "always"]


def test_registration_inside_a_hook(torch):
    x, seen = leaf(torch, 2.0), []

    def first(g):
        seen.append("first")
        x.register_hook(lambda g: seen.append("late"))

    handle = x.register_hook(first)
    (x * 1).backward()
    assert seen[0] == "first"
    handle.remove()
    del seen[:]
    (x * 1).backward()
    assert seen == ["late"]


def test_one_hook_twice(torch):
    def double(g):
        return g * 2

    x = leaf(torch, 1.0)
    handle = x.register_hook(double)
    x.register_hook(double)
    (x * 3).backward()
    handle.remove()
    (x * 3).backward()
    assert x.grad.item() == 12.0 + 6.0


def test_hooks_on_one_output_of_several(torch):
    x = leaf(torch, [1.0, 2.0, 3.0])
    a, b, c = x.unbind()
    seen = []
    b.register_hook(lambda g: seen.append(g.item()) or g * 10)
    c.register_hook(lambda g: seen.append(g))
    (a * 2 + b * 3).backward()
    assert seen == [3.0, None]  # nothing came to c
    assert x.grad.tolist() == [2.0, 30.0, 0.0]


def test_a_missing_gradient_reaches_hooks_as_none_and_cannot_be_replaced(torch):
    x, seen = leaf(torch, 2.0), []
    Nothing = function(torch, lambda ctx, x: x * 1, lambda ctx, g: None)
    handle = x.register_hook(seen.append)
    x.register_post_accumulate_grad_hook(lambda x: seen.append("after"))
    Nothing.apply(x).backward()
    assert seen == [None, "after"] and x.grad is None
    handle.remove()
    x.register_hook(lambda g: torch.tensor(1.0))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        Nothing.apply(x).backward()


BAD_HOOKS = {
    "number": (lambda t: lambda g: 1.0, TypeError, "expected Variable, but hook returned 'float'"),
    "shape": (lambda t: lambda g: t.ones(3), RuntimeError,
              "hook '<lambda>' has changed the size of value"),
    "dtype": (lambda t: lambda g: g.double(), RuntimeError,
              "hook '<lambda>' has changed the type of value .was torch.FloatTensor got "
              "torch.DoubleTensor."),
}


@pytest.mark.parametrize("case", BAD_HOOKS)
@pytest.mark.parametrize("on_leaf", [False, True])
def test_bad_hooks(torch, case, on_leaf):
    make, error, text = BAD_HOOKS[case]
    x = leaf(torch, [1.0, 2.0])
    y = x * 2
    handle = (x if on_leaf else y).register_hook(make(torch))
    with pytest.raises(error, match=text):
        y.sum().backward(retain_graph=True)
    handle.remove()
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_the_hooks_name_is_told(torch):
    def clumsy(g):
        return torch.ones(7)

    x = leaf(torch, 1.0)
    x.register_hook(clumsy)
    with pytest.raises(RuntimeError, match="hook 'clumsy' has changed the size of value"):
        (x * 1).backward()


def test_tensors_without_grad_refuse_hooks(torch):
    fixed = torch.tensor(1.0)
    text = "cannot register a hook on a tensor that doesn't require gradient"
    with pytest.raises(RuntimeError, match=text):
        fixed.register_hook(print)
    with pytest.raises(RuntimeError, match=text):
        fixed.register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match="post accumulate grad hooks cannot be registered on "
                       "non-leaf tensors"):
        (leaf(torch, 1.0) * 1).register_post_accumulate_grad_hook(print)


def test_hooks_stay_with_the_value_they_were_put_on(torch):
    x, seen = leaf(torch, 2.0), []
    y = x * 3
    y.register_hook(lambda g: seen.append(("before", g.item())))
    y.mul_(5)
    y.register_hook(lambda g: seen.append(("after", g.item())))
    (y * 7).backward()
    assert seen == [("after", 7.0), ("before", 35.0)]


def test_gradients_in_hooks_have_history_only_under_create_graph(torch):
    seen = []
    x = leaf(torch, 3.0)
    y = x * x
    x.register_hook(lambda g: seen.append((g.requires_grad, torch.is_grad_enabled())))
    torch.autograd.grad(y * y, x, retain_graph=True)
    torch.autograd.grad(y * y, x, create_graph=True)
    assert seen == [(False, False), (True, True)]


def test_a_hook_under_create_graph_takes_part_in_the_derivative(torch):
    x = leaf(torch, 3.0)
    x.register_hook(lambda g: g * g)
    (slope,) = torch.autograd.grad(x * x, x, create_graph=True)  # (2x)²
    assert slope.item() == 36.0
    x._backward_hooks.clear()
    assert torch.autograd.grad(slope, x)[0].item() == 24.0


# --- retain_grad ---------------------------------------------------------------------------------


def test_retain_grad(torch):
    x = leaf(torch, 2.0)
    y = x * 3
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad and not x.retains_grad
    z = y * y
    z.backward(retain_graph=True)
    assert y.grad.item() == 12.0
    z.backward()
    assert (y.grad.item(), x.grad.item()) == (24.0, 72.0)


def test_retain_grad_of_a_leaf_does_nothing_and_of_a_constant_raises(torch):
    x = leaf(torch, 2.0)
    x.retain_grad()
    (x * 3).backward()
    assert x.grad.item() == 3.0 and not x.retains_grad
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has "
                       "requires_grad=False"):
        torch.tensor(1.0).retain_grad()


@pytest.mark.parametrize("retain_first", [True, False])
def test_hooks_come_before_the_retained_gradient(torch, retain_first):
    x = leaf(torch, 2.0)
    y = x * 3
    if retain_first:
        y.retain_grad()
    y.register_hook(lambda g: g * 10)
    if not retain_first:
        y.retain_grad()
    (y * 1).backward()
    assert (y.grad.item(), x.grad.item()) == (10.0, 30.0)


def test_retain_grad_follows_a_write(torch):
    x = leaf(torch, 2.0)
    y = x * 3
    y.retain_grad()
    y.mul_(5)
    (y * 7).backward()
    assert (y.grad.item(), x.grad.item()) == (7.0, 105.0)


def test_retain_grad_follows_a_view_whose_base_was_written_to(torch):
    x = leaf(torch, [1.0, 2.0])
    base = x * 3
    view = base[:1]
    view.retain_grad()
    early = view * 5
    base.mul_(7)
    (early + view * 2).sum().backward()
    assert view.grad.tolist() == [2.0]  # of the value that it has now
    assert x.grad.tolist() == [15.0 + 42.0, 0.0]


def test_retain_grad_of_a_tensor_that_is_gone(torch):
    x = leaf(torch, 2.0)
    y = x * 3
    y.retain_grad()
    z = y + 1
    del y
    z.backward()
    assert x.grad.item() == 3.0


def test_retain_grad_with_create_graph(torch):
    x = leaf(torch, 2.0)
    y = x * x
    y.retain_grad()
    torch.autograd.grad(y * y, x, create_graph=True)
    assert y.grad.item() == 8.0 and y.grad.requires_grad
    y.grad = None


# --- After accumulation --------------------------------------------------------------------------


def test_post_accumulate_hooks(torch):
    x, seen = leaf(torch, 2.0), []

    def first(tensor):
        assert tensor is x
        seen.append(tensor.grad.item())

    def step(tensor):
        with torch.no_grad():
            tensor -= tensor.grad
        tensor.grad = None

    x.register_post_accumulate_grad_hook(first)
    handle = x.register_post_accumulate_grad_hook(step)
    (x * 3).backward()
    assert x.item() == -1.0 and x.grad is None
    handle.remove()
    (x * 3).backward()
    (x * 3).backward()
    assert seen == [3.0, 3.0, 6.0]


def test_post_accumulate_hooks_do_not_run_for_grad(torch):
    x, seen = leaf(torch, 2.0), []
    x.register_post_accumulate_grad_hook(seen.append)
    torch.autograd.grad(x * 3, x)
    assert not seen
    (x * 3 + x).backward(inputs=[x])
    assert len(seen) == 1


# --- Node hooks ----------------------------------------------------------------------------------


def test_node_hooks_see_inputs_and_outputs(torch):
    x, w, seen = leaf(torch, 2.0), leaf(torch, 3.0), []
    node = (x * w).grad_fn
    node.register_hook(lambda inputs, outputs: seen.append(
        ([g.item() for g in inputs], [g.item() for g in outputs])))
    node.register_prehook(lambda outputs: seen.append([g.item() for g in outputs]))
    (x * w * 0).backward()  # another node
    assert not seen
    y = x * w
    node = y.grad_fn
    node.register_hook(lambda inputs, outputs: seen.append(
        ([g.item() for g in inputs], [g.item() for g in outputs])))
    node.register_prehook(lambda outputs: seen.append([g.item() for g in outputs]))
    (y * 5).backward()
    assert seen == [[5.0], ([15.0, 10.0], [5.0])]


@pytest.mark.parametrize("create_graph", [False, True])
def test_node_hooks_replace(torch, create_graph):
    x, w = leaf(torch, 2.0), leaf(torch, 3.0)
    y = x * w
    y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 10,))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] + 1, None))
    y.grad_fn.register_hook(lambda inputs, outputs: None)
    by_x, by_w = torch.autograd.grad(y, [x, w], create_graph=create_graph, allow_unused=True)
    assert by_x.item() == 31.0 and by_w is None


def test_tensor_hooks_come_before_node_hooks(torch):
    x, order = leaf(torch, 2.0), []
    y = x * 3
    y.grad_fn.register_prehook(lambda outputs: order.append(("prehook", outputs[0].item())))
    y.register_hook(lambda g: order.append("tensor") or g * 10)
    y.grad_fn.register_hook(lambda i, o: order.append(("hook", o[0].item())))
    y.backward()
    assert order == ["tensor", ("prehook", 10.0), ("hook", 10.0)]


BAD_NODE_HOOKS = {
    "too few": ("hook", lambda t: lambda i, o: (i[0],), RuntimeError,
                r"hook '<lambda>' has returned an incorrect number of values \(got 1, but exp"),
    "too many": ("prehook", lambda t: lambda o: (o[0], o[0]), RuntimeError,
                 r"hook '<lambda>' has returned an incorrect number of values \(got 2, but e"),
    "bare": ("hook", lambda t: lambda i, o: i[0], TypeError, "expected tuple, but hook returned"),
    "bare before": ("prehook", lambda t: lambda o: o[0], TypeError,
                    "expected tuple, but hook returned 'Tensor'"),
    "number": ("prehook", lambda t: lambda o: (1.0,), TypeError,
               "expected Variable, but hook returned 'float'"),
    "shape": ("hook", lambda t: lambda i, o: (t.ones(3), i[1]), RuntimeError,
              "hook '<lambda>' has changed the size of value"),
    "dtype": ("prehook", lambda t: lambda o: (o[0].double(),), RuntimeError,
              "hook '<lambda>' has changed the type of value"),
}


@pytest.mark.parametrize("case", BAD_NODE_HOOKS)
def test_bad_node_hooks(torch, case):
    kind, make, error, text = BAD_NODE_HOOKS[case]
    x = leaf(torch, 2.0)
    y = x * x
    handle = getattr(y.grad_fn, f"register_{kind}")(make(torch))
    with pytest.raises(error, match=text):
        y.backward(retain_graph=True)
    handle.remove()
    y.backward()
    assert x.grad.item() == 4.0


def test_a_node_hook_cannot_make_up_a_gradient(torch):
    x = leaf(torch, 2.0)
    y = x * 3
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0], torch.tensor(1.0)))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        y.backward()


def test_a_prehook_may_take_the_gradient_away(torch):
    x, seen = leaf(torch, 2.0), []
    y = x * x
    y.grad_fn.register_prehook(lambda outputs: (None,))
    y.grad_fn.register_hook(lambda *grads: seen.append(grads))
    y.backward()
    assert seen == [((None, None), (None,))]
    assert x.grad is None


def test_hooks_on_an_accumulator(torch):
    x, seen = leaf(torch, 2.0), []
    y = x * 3
    node = y.grad_fn.next_functions[0][0]
    node.register_prehook(lambda outputs: seen.append(("before", outputs[0].item(), x.grad)))
    node.register_hook(lambda inputs, outputs: seen.append(("after", inputs, outputs[0].item())))
    x.register_post_accumulate_grad_hook(lambda x: seen.append(("accumulated", x.grad.item())))
    y.backward()
    assert seen == [("before", 3.0, None), ("accumulated", 3.0), ("after", (), 3.0)]
    assert x.grad.item() == 3.0


def test_node_handles(torch):
    x, seen = leaf(torch, 2.0), []
    y = x * 3
    with y.grad_fn.register_hook(lambda *_: seen.append("hook")):
        y.backward(retain_graph=True)
    handle = y.grad_fn.register_prehook(lambda _: seen.append("prehook"))
    handle.remove()
    y.backward()
    assert seen == ["hook"]


def test_a_post_accumulate_hook_returns_nothing(torch):
    for answer, error in ((3, TypeError), (torch.ones(1), RuntimeError)):
        x = torch.zeros(1, requires_grad=True)
        x.register_post_accumulate_grad_hook(lambda t, answer=answer: answer)
        with pytest.raises(error):
            x.sum().backward()
