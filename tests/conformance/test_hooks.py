"""Hooks of tensors, of nodes and of leaves: when they run, what they see, what they may change."""

from __future__ import annotations

import pytest


def test_a_hook_sees_the_gradient(torch, leaf):
    x, seen = leaf(2.0), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * 3).backward()
    assert seen == [3.0]


def test_a_hook_of_a_non_leaf_may_change_the_gradient(leaf):
    x = leaf(2.0)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    y.backward()
    assert x.grad.tolist() == 30.0


def test_hooks_run_in_the_order_of_registration(leaf):
    x = leaf(2.0)
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: g * 10)
    (x * 3).backward()
    assert x.grad.tolist() == 40.0


def test_a_hook_that_returns_nothing_changes_nothing(leaf):
    x = leaf(2.0)
    x.register_hook(lambda g: None)
    (x * 3).backward()
    assert x.grad.tolist() == 3.0


def test_a_hook_can_be_removed(leaf):
    x, calls = leaf(2.0), []
    handle = x.register_hook(calls.append)
    handle.remove()
    handle.remove()
    (x * 3).backward()
    assert calls == []


def test_a_handle_is_a_context(leaf):
    x, calls = leaf(2.0), []
    with x.register_hook(lambda g: calls.append(1)):
        (x * 3).backward()
    (x * 3).backward()
    assert calls == [1]


def test_a_hook_may_remove_itself(leaf):
    x, calls = leaf(2.0), []

    def once(grad):
        calls.append(1)
        handle.remove()

    handle = x.register_hook(once)
    (x * 3).backward()
    (x * 3).backward()
    assert calls == [1]


def test_a_hook_runs_once_for_the_sum_of_all_uses(leaf):
    x, seen = leaf(2.0), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * 3 + x * 4).backward()
    assert seen == [7.0]


def test_a_leaf_hook_runs_once_a_pass_and_its_gradients_add_up(leaf):
    x = leaf(2.0)
    x.register_hook(lambda g: g * 2)
    (x * 3).backward()
    (x * 3).backward()
    assert x.grad.tolist() == 12.0


def test_any_callable_is_a_hook(leaf):
    class Halve:
        def __call__(self, grad):
            return grad / 2

    x = leaf(2.0)
    x.register_hook(Halve())
    (x * 3).backward()
    assert x.grad.tolist() == 1.5


def test_hooks_need_a_tensor_that_requires_grad(torch):
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't"):
        torch.ones(1).register_hook(print)


@pytest.mark.parametrize(("hook", "error", "match"), [
    (lambda g: 1.0, TypeError, "expected Variable, but hook returned 'float'"),
    (lambda g: g.new_ones(3), RuntimeError, "has changed the size of value"),
    (lambda g: g.float(), RuntimeError, "has changed the type of value"),
])
def test_what_a_hook_returns_has_to_fit(leaf, hook, error, match):
    x = leaf(1.0, 2.0)
    y = x * 2
    y.register_hook(hook)
    with pytest.raises(error, match=match):
        y.sum().backward()


def test_an_error_in_a_hook_reaches_the_caller(leaf):
    def fail(grad):
        raise ValueError("mine")

    x = leaf(1.0)
    x.register_hook(fail)
    with pytest.raises(ValueError, match="mine"):
        (x * 2).backward()


def test_a_hook_does_not_run_where_no_gradient_goes(torch, leaf):
    x, y, calls = leaf(1.0), leaf(2.0), []
    z = x * 2
    z.register_hook(calls.append)
    torch.autograd.grad(z + y, y)
    assert calls == []


def test_grad_returns_what_the_hook_of_an_input_made(torch, leaf):
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    assert torch.autograd.grad(y * 3, y)[0].tolist() == 30.0


def test_the_hook_of_a_leaf_runs_for_grad_too(torch, leaf):
    x = leaf(1.0)
    x.register_hook(lambda g: g * 10)
    assert torch.autograd.grad(x * 3, x)[0].tolist() == 30.0


def test_a_hook_stays_with_the_value_it_was_put_on(torch, leaf):
    x, seen = leaf(1.0), []
    y = x * 2
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.mul_(5)
    y.backward()
    assert seen == [5.0]


def test_backward_hooks_of_a_tensor_can_be_seen(leaf):
    x = leaf(1.0)
    assert x._backward_hooks is None
    x.register_hook(print)
    assert list(x._backward_hooks.values()) == [print]


def test_a_hook_may_run_backward_again(torch, leaf):
    x, seen = leaf(2.0), []

    def hook(grad):
        with torch.enable_grad():
            inner = grad.detach().requires_grad_()
            (inner * inner).backward()
        seen.append(inner.grad.tolist())

    (x * 3).backward()
    x.register_hook(hook)
    (x * 3).backward()
    assert seen == [6.0]


def test_retain_grad_fills_dot_grad_of_a_non_leaf(leaf):
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    y.retain_grad()
    (y * y).backward()
    assert (y.grad.tolist(), y.retains_grad, x.retains_grad) == (12.0, True, False)


def test_retain_grad_adds_up(leaf):
    y = leaf(2.0) * 3
    y.retain_grad()
    z = y * 5
    z.backward(retain_graph=True)
    z.backward()
    assert y.grad.tolist() == 10.0


def test_retain_grad_of_a_leaf_changes_nothing(leaf):
    x = leaf(2.0)
    x.retain_grad()
    (x * 3).backward()
    assert (x.retains_grad, x.grad.tolist()) == (False, 3.0)


def test_retain_grad_needs_requires_grad(torch):
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=Fa"):
        torch.ones(1).retain_grad()


def test_retain_grad_follows_a_tensor_written_to(leaf):
    y = leaf(2.0) * 3
    y.retain_grad()
    y.mul_(4)
    (y * 10).backward()
    assert y.grad.tolist() == 10.0


def test_retain_grad_comes_after_the_hooks(leaf):
    y = leaf(2.0) * 3
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.backward()
    assert y.grad.tolist() == 10.0


def test_retain_grad_of_a_view_whose_neighbour_is_written_to(torch, leaf):
    base = leaf(1.0, 2.0) * 1
    first, second = base[:], base[:]
    first.retain_grad()
    second.retain_grad()
    first.mul_(3)
    (first + second).sum().backward()
    assert first.grad.tolist() == second.grad.tolist() == [1.0, 1.0]


def test_a_node_hook_sees_both_sides(leaf):
    x, seen = leaf(2.0), []
    y = x * 3
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(
        ([None if g is None else g.tolist() for g in inputs], [g.tolist() for g in outputs])))
    (y * 10).backward()
    assert seen == [([30.0, None], [10.0])]


def test_a_node_hook_may_change_the_gradients_of_the_inputs(leaf):
    x = leaf(2.0)
    y = x * 3
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10, None))
    y.backward()
    assert x.grad.tolist() == 30.0


def test_a_node_hook_has_to_return_all_gradients(leaf):
    y = leaf(2.0) * 3
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0],))
    with pytest.raises(RuntimeError, match="incorrect number of values"):
        y.backward()


def test_a_prehook_changes_what_the_node_gets(leaf):
    x = leaf(2.0)
    y = x * 3
    handle = y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.backward(retain_graph=True)
    handle.remove()
    y.backward()
    assert x.grad.tolist() == 33.0


def test_hooks_of_tensor_and_node_have_an_order(leaf):
    x, order = leaf(2.0), []
    y = x * 3
    y.grad_fn.register_hook(lambda *_: order.append("after"))
    y.grad_fn.register_prehook(lambda *_: order.append("before"))
    y.register_hook(lambda _: order.append("tensor"))
    y.backward()
    assert order == ["tensor", "before", "after"]


def test_a_post_accumulate_hook_gets_the_leaf(leaf):
    x, seen = leaf(2.0), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, t.grad.tolist())))
    (x * 3).backward()
    assert seen == [(True, 3.0)]


def test_a_post_accumulate_hook_is_for_leaves(leaf):
    with pytest.raises(RuntimeError, match="cannot be registered on non-leaf"):
        (leaf(2.0) * 2).register_post_accumulate_grad_hook(print)


@pytest.mark.parametrize("mode", ["all", "any"])
def test_a_hook_for_several_tensors(torch, leaf, mode):
    x, y, seen = leaf(1.0), leaf(2.0), []
    hook = (lambda gs: seen.append([g.tolist() for g in gs])) if mode == "all" else (
        lambda g: seen.append(g.tolist()))
    handle = torch.autograd.graph.register_multi_grad_hook((x, y), hook, mode=mode)
    (x * 3 + y * 3).backward()
    assert seen == ([[3.0, 3.0]] if mode == "all" else [3.0])
    handle.remove()
    (x * y).backward()
    assert len(seen) == 1


def test_a_hook_for_several_tensors_gets_none_for_unused_ones(torch, leaf):
    x, y, seen = leaf(1.0), leaf(2.0), []
    torch.autograd.graph.register_multi_grad_hook((x, y), lambda gs: seen.append(gs[1]))
    (x * 3).backward()
    assert seen == [None]


def test_metadata_is_a_place_for_notes(leaf):
    y = leaf(1.0) * 2
    y.grad_fn.metadata["mine"] = 5
    assert y.grad_fn.metadata == {"mine": 5}


def test_next_functions_lead_to_the_leaves(torch, leaf):
    x = leaf(1.0)
    y = x * torch.ones((), dtype=torch.float64) + 1
    (mul, index), _ = y.grad_fn.next_functions
    assert (index, type(mul).__name__) == (0, "MulBackward0")
    accumulate, nothing = mul.next_functions
    assert accumulate[0].variable is x
    assert nothing == (None, 0)


def test_a_leaf_has_one_accumulator(leaf):
    x = leaf(1.0)
    y, z = x.exp(), x.sin()
    assert y.grad_fn.next_functions[0][0] is z.grad_fn.next_functions[0][0]
